// SPDX-License-Identifier: GPL-3.0-or-later
//
// Few vectors of many: those that were put in are found, as few as do, with what they leave stated truly.

#include "support/support.h"

#include "core/parallel.h"
#include "math/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES 400
#define MODES 40
#define ROWS 150
#define PI 3.14159265358979323846
#define MOST_TRIES 40

// a motion of affine parts and of modes with heights of their own
typedef struct Motion {
    double masses[NODES];
    srVec3 rest[NODES];
    srVec3 modes[MODES][NODES];
    srVec3 rows[ROWS][NODES];
    int32_t modeCount;
} Motion;

static Motion motion;
static uint64_t seed;

static double someNumber(void) {
    return 2.0 * srTestRandom(&seed) - 1.0;
}

static void makeMotion(int32_t modeCount, double decay) {
    seed = 5;
    motion.modeCount = modeCount;
    for (int i = 0; i < NODES; ++i) {
        motion.masses[i] = 0.2 + srTestRandom(&seed);
        motion.rest[i] = (srVec3){someNumber(), 2.0 * someNumber(), someNumber() + 7.0};
    }
    for (int k = 0; k < modeCount; ++k) {
        srVec3 direction = {someNumber(), someNumber(), someNumber()};
        for (int i = 0; i < NODES; ++i) {
            motion.modes[k][i] = srScale(sin((k + 2.0) * motion.rest[i].x + k * motion.rest[i].y), direction);
        }
    }
    for (int r = 0; r < ROWS; ++r) {
        double A[4][3];
        for (int k = 0; k < 12; ++k) {
            A[k / 3][k % 3] = 3.0 * someNumber();
        }
        for (int i = 0; i < NODES; ++i) {
            srVec3 X = motion.rest[i];
            motion.rows[r][i] = (srVec3){A[0][0] * X.x + A[1][0] * X.y + A[2][0] * X.z + A[3][0],
                                         A[0][1] * X.x + A[1][1] * X.y + A[2][1] * X.z + A[3][1],
                                         A[0][2] * X.x + A[1][2] * X.y + A[2][2] * X.z + A[3][2]};
        }
        for (int k = 0; k < modeCount; ++k) {
            double height = someNumber() * pow(decay, k);
            for (int i = 0; i < NODES; ++i) {
                motion.rows[r][i] = srMulAdd(motion.rows[r][i], height, motion.modes[k][i]);
            }
        }
    }
}

static void addAll(srSpan* span, double part) {
    srSpan_Clear(span);
    srSpan_FixAffine(span, motion.rest);
    for (int r = 0; r < ROWS; ++r) {
        srSpan_AddPlaces(span, motion.rows[r], 0.0, 1e30);
    }
    srSpan_Finish(span, part);
}

static srSpan spanAll(double part) {
    srSpan span;
    assert_success(srCreateSpan(motion.masses, NODES, &span));
    addAll(&span, part);
    return span;
}

static double product(const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < NODES; ++i) {
        sum += motion.masses[i] * x[i] * y[i];
    }
    return sum;
}

// squared length of what the first `count` vectors do not span of a row
static double measureLeft(const srSpan* span, const srVec3* row, int32_t count) {
    double left = 0.0, x[NODES];
    for (int c = 0; c < 3; ++c) {
        for (int i = 0; i < NODES; ++i) {
            const double columns[3] = {row[i].x, row[i].y, row[i].z};
            x[i] = columns[c];
        }
        for (int32_t k = 0; k < count; ++k) {
            const double* vector = span->vectors + (size_t)k * NODES;
            double share = product(vector, x);
            for (int i = 0; i < NODES; ++i) {
                x[i] -= share * vector[i];
            }
        }
        left += product(x, x);
    }
    return left;
}

static double measureShareLeft(const srSpan* span) {
    double left = 0.0, whole = 0.0;
    for (int r = 0; r < ROWS; ++r) {
        left += measureLeft(span, motion.rows[r], span->vectorCount);
        whole += measureLeft(span, motion.rows[r], span->fixedCount);
    }
    return sqrt(left / whole);
}

static void what_was_put_in_is_found(void** state) {
    (void)state;
    makeMotion(5, 0.7);
    srSpan span = spanAll(1e-6);
    assert_int_equal(span.fixedCount, 4);
    assert_int_equal(srSpan_CountShapes(&span), 5);
    assert_near(measureShareLeft(&span), 0.0, srTestTolerance(1e-9));
    for (int32_t r = 0; r < span.vectorCount; ++r) {
        for (int32_t c = 0; c <= r; ++c) {
            double expected = r == c ? 1.0 : 0.0;
            assert_near(product(span.vectors + (size_t)r * NODES, span.vectors + (size_t)c * NODES), expected,
                        srTestTolerance(1e-11));
        }
    }
    srDestroySpan(&span);
}

static void as_few_vectors_as_leave_no_more_than_asked(void** state) {
    (void)state;
    makeMotion(MODES, 0.75);
    int32_t last = 0;
    const double parts[] = {0.3, 0.1, 0.03, 0.01};
    for (int p = 0; p < SR_ARRAY_COUNT(parts); ++p) {
        srSpan span = spanAll(parts[p]);
        double share = measureShareLeft(&span);
        print_message("%.2f: %d vectors leave %.5f, as stated %.5f\n", parts[p], srSpan_CountShapes(&span),
                      share, span.left);
        assert_true(share <= parts[p]);
        assert_near(span.left / share, 1.0, 0.02);
        assert_true(srSpan_CountShapes(&span) > last);
        last = srSpan_CountShapes(&span);
        span.vectorCount -= 1; // with one less it would not do
        assert_true(measureShareLeft(&span) > parts[p]);
        srDestroySpan(&span);
    }
}

static void there_are_never_more_than_the_largest_number(void** state) {
    (void)state;
    makeMotion(MODES, 1.0);
    srSpan span = spanAll(1e-6);
    double share = measureShareLeft(&span);
    assert_int_equal(srSpan_CountShapes(&span), SR_SPAN_LARGEST);
    assert_true(share > 0.01 && share < 0.5);
    assert_near(span.left / share, 1.0, 0.1);
    srDestroySpan(&span);
}

static void turning_space_changes_nothing(void** state) {
    (void)state;
    makeMotion(6, 0.15);
    srSpan span = spanAll(0.01);
    assert_true(span.left > 1e-3); // something is left out
    for (int r = 0; r < ROWS; ++r) {
        double c = cos(0.3 * r), s = sin(0.3 * r);
        for (int i = 0; i < NODES; ++i) {
            srVec3 x = motion.rows[r][i];
            motion.rows[r][i] = (srVec3){c * x.x - s * x.z, x.y, s * x.x + c * x.z};
        }
    }
    srSpan turned = spanAll(0.01);
    assert_int_equal(turned.vectorCount, span.vectorCount);
    assert_near(turned.left / span.left, 1.0, 1e-6);
    for (int32_t k = 0; k < span.vectorCount; ++k) {
        double shares = 0.0;
        for (int32_t j = 0; j < span.vectorCount; ++j) {
            double share = product(span.vectors + (size_t)k * NODES, turned.vectors + (size_t)j * NODES);
            shares += share * share;
        }
        assert_near(shares, 1.0, 1e-9);
    }
    srDestroySpan(&span);
    srDestroySpan(&turned);
}

static void broken_and_tiny_rows_count_for_nothing_and_huge_ones_for_little(void** state) {
    (void)state;
    makeMotion(3, 0.8);
    srSpan span;
    assert_success(srCreateSpan(motion.masses, NODES, &span));
    srSpan_FixAffine(&span, motion.rest);
    srVec3 broken[NODES];
    memcpy(broken, motion.rows[0], sizeof(broken));
    broken[7].y = NAN;
    srSpan_AddPlaces(&span, broken, 0.0, 1e30);
    broken[7].y = INFINITY;
    srSpan_AddPlaces(&span, broken, 0.0, 1e30);
    srSpan_AddPlaces(&span, motion.rows[1], 1e9, 1e30);
    srSpan_AddPlaces(&span, motion.rest, 1e-9, 1e30);
    assert_int_equal(span.columnCount, 0);
    srSpan_Finish(&span, 0.01);
    assert_int_equal(span.vectorCount, 4);
    assert_true(span.left == 0.0);

    // a row a million times as large as the others would drown them
    srSpan_Clear(&span);
    srSpan_FixAffine(&span, motion.rest);
    for (int r = 0; r < ROWS; ++r) {
        double factor = r == 3 ? 1e6 : 1.0;
        for (int i = 0; i < NODES; ++i) {
            broken[i] = srScale(factor, r == 3 ? (srVec3){motion.modes[0][i].x * motion.rest[i].y, 0.0, 0.0}
                                               : motion.rows[r][i]);
        }
        srSpan_AddPlaces(&span, broken, 0.0, 20.0);
    }
    srSpan_Finish(&span, 0.01);
    assert_int_equal(srSpan_CountShapes(&span), 4);
    srDestroySpan(&span);
}

static void flat_places_have_fewer_affine_functions(void** state) {
    (void)state;
    makeMotion(2, 0.8);
    for (int i = 0; i < NODES; ++i) {
        motion.rest[i].z = 2.0 * motion.rest[i].x;
        motion.masses[i] = i % 3 == 0 ? 0.0 : motion.masses[i];
    }
    srSpan span;
    assert_success(srCreateSpan(motion.masses, NODES, &span));
    srSpan_FixAffine(&span, motion.rest);
    srSpan_AddPlaces(&span, motion.rest, 1e-9, 1e30);
    srSpan_Finish(&span, 0.01);
    assert_int_equal(span.vectorCount, 3);
    for (int32_t k = 0; k < 3 * NODES; ++k) {
        assert_true(isfinite(span.vectors[k]));
    }
    srDestroySpan(&span);
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    makeMotion(MODES, 0.8);
    srSpan alone;
    assert_success(srCreateSpan(motion.masses, NODES, &alone));
    srParallel_SetWorkerCount(1);
    addAll(&alone, 0.01);
    srSpan span = spanAll(0.01);
    for (int32_t workerCount = 2; workerCount <= 8; ++workerCount) {
        int32_t busyCount = 0;
        for (int try = 0; try < MOST_TRIES && busyCount < 2; ++try) {
            uint64_t counts[64] = {0};
            srParallel_Stop();
            srParallel_SetWorkerCount(workerCount);
            addAll(&span, 0.01);
            assert_int_equal(span.vectorCount, alone.vectorCount);
            assert_memory_equal(span.vectors, alone.vectors,
                                sizeof(double) * NODES * (size_t)alone.vectorCount);
            busyCount = 0;
            for (int32_t w = 0; w < srParallel_GetBlockCounts(counts, 64); ++w) {
                busyCount += counts[w] > 0;
            }
        }
        assert_true(busyCount >= 2);
    }
    srDestroySpan(&span);
    srDestroySpan(&alone);
    srParallel_Stop();
    srParallel_SetWorkerCount(before);
}

static srResult createOnce(void* context) {
    (void)context;
    srSpan span;
    SR_TRY(srCreateSpan(motion.masses, NODES, &span));
    srDestroySpan(&span);
    return sr_success;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(createOnce, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_is_found),
        cmocka_unit_test(as_few_vectors_as_leave_no_more_than_asked),
        cmocka_unit_test(there_are_never_more_than_the_largest_number),
        cmocka_unit_test(turning_space_changes_nothing),
        cmocka_unit_test(broken_and_tiny_rows_count_for_nothing_and_huge_ones_for_little),
        cmocka_unit_test(flat_places_have_fewer_affine_functions),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("math/span", tests, NULL, srTestNothingLeaked);
}
