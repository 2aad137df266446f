// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/solve.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "math/dissect.h"
#include "math/simd_path.h"
#include "matrices.h"

enum {
    bothKinds = sr_factorFloat | sr_factorDouble
};

// A matrix with its factor and scratch.
typedef struct System {
    srCsc A;
    srFactor factor;
    void* scratch;
    size_t scratchSize;
    int32_t size;
} System;

static System makeSystem(srCsc A, int kinds, const int32_t* order) {
    System s = {.A = A, .size = A.columnCount};
    srCholesky* cholesky;
    assert_success(srAnalyzeCholesky(&A, order, &cholesky));
    assert_success(srCholesky_Factor(cholesky, &A));
    assert_success(srCreateFactor(cholesky, kinds, &s.factor));
    srDestroyCholesky(cholesky);
    s.scratchSize = srFactor_GetScratchSize(&s.factor);
    s.scratch = srAlloc(s.scratchSize, 1);
    assert_non_null(s.scratch);
    memset(s.scratch, 0xff, s.scratchSize); // NaNs, if anybody reads what was not written
    return s;
}

static void destroySystem(System* s) {
    srFree(s->scratch, s->scratchSize, 1);
    srDestroyFactor(&s->factor);
    srDestroyCsc(&s->A);
}

// Largest difference over the largest number.
static double relativeError(const double* x, const double* expected, size_t count) {
    double most = 0.0, worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        double error = fabs(x[i] - expected[i]);
        worst = error >= worst ? error : isnan(error) ? (double)INFINITY : worst;
        most = fabs(expected[i]) > most ? fabs(expected[i]) : most;
    }
    return worst / most;
}

static float* toFloats(const double* x, size_t count) {
    float* floats = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)x[i];
    }
    return floats;
}

static double* toDoubles(const float* x, size_t count) {
    double* doubles = malloc(count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        doubles[i] = (double)x[i];
    }
    return doubles;
}

// All solves against dense elimination; `condition` is what the scaled matrix's may be at most.
static void agreesWithDense(srCsc A, double condition) {
    System s = makeSystem(A, bothKinds, NULL);
    size_t count = 3 * (size_t)s.size;
    double *b = makeNumbers(count, 17), *expected = malloc(count * sizeof(double));
    double* x = malloc(count * sizeof(double));
    float *bFloat = toFloats(b, count), *xFloat = malloc(count * sizeof(float));
    memcpy(expected, b, count * sizeof(double));
    solveDensely(&s.A, expected, 3);

    // rounding errors grow with the condition; a few of them add up
    assert_success(srFactor_SolveDouble(&s.factor, b, x, s.scratch));
    assert_near(relativeError(x, expected, count), 0.0, 4e-16 * condition + 1e-15);
    assert_success(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch));
    double* widened = toDoubles(xFloat, count);
    assert_near(relativeError(widened, expected, count), 0.0, 2e-7 * condition + 2e-7);

    // each step divides the error by 1e6 or so, down to that of double
    assert_success(srFactor_SolveRefined(&s.factor, &s.A, b, x, 2, s.scratch));
    assert_near(relativeError(x, expected, count), 0.0, 1e-12);
    free(widened);
    free(bFloat);
    free(xFloat);
    free(b);
    free(x);
    free(expected);
    destroySystem(&s);
}

static void solves_agree_with_dense_elimination(void** state) {
    (void)state;
    agreesWithDense(makeRandom(1, 1, 1, NULL), 1.0);
    agreesWithDense(makeRandom(2, 2, 2, NULL), 10.0);
    agreesWithDense(makeRandom(7, 3, 3, NULL), 10.0);
    agreesWithDense(makeRandom(60, 4, 4, NULL), 10.0);
    agreesWithDense(makeRandom(150, 75, 5, NULL), 10.0); // one dense block
    agreesWithDense(makeGrid(9, 7, 5, 0.5, NULL), 25.0);
    agreesWithDense(makeGrid(200, 1, 1, 0.5, NULL), 10.0);
    agreesWithDense(makeGrid(20, 15, 1, 0.5, NULL), 17.0);
}

static void every_small_size_is_solved(void** state) {
    (void)state;
    // all remainders of columns and rows by the width of a slab, in one block and in many
    for (int32_t n = 1; n <= 40; n++) {
        agreesWithDense(makeRandom(n, n, (uint64_t)n, NULL), 10.0);
        agreesWithDense(makeRandom(n, 1, (uint64_t)n, NULL), 10.0);
    }
}

static void disconnected_parts_do_not_see_each_other(void** state) {
    (void)state;
    // two grids in one matrix, and a node of its own
    srCsc G = makeGrid(6, 5, 4, 0.3, NULL);
    int32_t n = 2 * G.columnCount + 1, count = 0;
    srTriplet* triplets = malloc(2 * (size_t)(G.columnStarts[G.columnCount] + 1) * sizeof(srTriplet));
    for (int32_t j = 0; j < G.columnCount; j++) {
        for (int32_t p = G.columnStarts[j]; p < G.columnStarts[j + 1]; p++) {
            triplets[count++] = (srTriplet){2 * G.rows[p], 2 * j, G.values[p]};
            triplets[count++] = (srTriplet){2 * G.rows[p] + 1, 2 * j + 1, G.values[p]};
        }
    }
    triplets[count++] = (srTriplet){n - 1, n - 1, 4.0};
    srCsc A;
    assert_success(srCreateCsc(n, n, triplets, count, &A));
    System s = makeSystem(A, sr_factorFloat, NULL);
    float* b = calloc(3 * (size_t)n, sizeof(float));
    for (int32_t i = 0; i < n; i += 2) {
        b[3 * i] = 1.0f;
    }
    assert_success(srFactor_SolveFloat(&s.factor, b, b, s.scratch));
    for (int32_t i = 1; i < n; i += 2) {
        assert_true(b[3 * i] == 0.0f && b[3 * i + 1] == 0.0f && b[3 * i + 2] == 0.0f);
    }
    assert_true(b[3 * (n - 1)] == 0.25f);
    free(b);
    free(triplets);
    destroySystem(&s);
    srDestroyCsc(&G);
}

static double tinyScale(int32_t i) {
    (void)i;
    return 1e-6;
}

static double hugeScale(int32_t i) {
    (void)i;
    return 1e6;
}

static double steepScale(int32_t i) {
    return i % 3 == 0 ? 1e-6 : i % 3 == 1 ? 1.0 : 1e6;
}

// With b of the size of its rows' scales, so that solutions, times them, are of the size of one; in float too
// unless the scales are beyond it.
static void solvesAtScale(double (*scale)(int32_t), bool fitsFloat) {
    System s = makeSystem(makeRandom(120, 5, 8, scale), bothKinds, NULL);
    size_t count = 3 * 120;
    double *b = makeNumbers(count, 11), *expected = malloc(count * sizeof(double));
    double* x = malloc(count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        b[i] *= scale((int32_t)(i / 3));
    }
    memcpy(expected, b, count * sizeof(double));
    solveDensely(&s.A, expected, 3);
    for (int kind = 0; kind < (fitsFloat ? 3 : 2); kind++) {
        if (kind == 0) {
            assert_success(srFactor_SolveDouble(&s.factor, b, x, s.scratch));
        } else if (kind == 1) {
            assert_success(srFactor_SolveRefined(&s.factor, &s.A, b, x, 2, s.scratch));
        } else {
            float* floats = toFloats(b, count);
            assert_success(srFactor_SolveFloat(&s.factor, floats, floats, s.scratch));
            for (size_t i = 0; i < count; i++) {
                x[i] = (double)floats[i];
            }
            free(floats);
        }
        for (size_t i = 0; i < count; i++) {
            double factor = scale((int32_t)(i / 3));
            // the condition of the scaled matrix is below ten, its solutions below one
            assert_near(factor * x[i], factor * expected[i], kind == 0 ? 1e-15 : kind == 1 ? 1e-13 : 1e-6);
        }
    }
    free(b);
    free(x);
    free(expected);
    destroySystem(&s);
}

static void scale_of_rows_does_not_matter(void** state) {
    (void)state;
    // diagonals of 1e-11, of 1e13, and both in one matrix
    solvesAtScale(tinyScale, true);
    solvesAtScale(hugeScale, true);
    solvesAtScale(steepScale, true);
}

// Powers of two.
typedef struct Sizes {
    int matrix, rightSide;
} Sizes;

// The matrix and the right-hand side times those, solved in all ways, against the x of A x = b.
static void solvesAtSizes(const srCsc* A, const double* b, const double* expected, Sizes sizes) {
    srCsc scaled;
    size_t count = 3 * (size_t)A->columnCount;
    int32_t entries = A->columnStarts[A->columnCount];
    srTriplet* triplets = malloc((size_t)entries * sizeof(srTriplet));
    for (int32_t j = 0; j < A->columnCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            triplets[p] = (srTriplet){A->rows[p], j, ldexp(A->values[p], sizes.matrix)};
        }
    }
    assert_success(srCreateCsc(A->rowCount, A->columnCount, triplets, entries, &scaled));
    free(triplets);
    System s = makeSystem(scaled, bothKinds, NULL);
    double *right = malloc(count * sizeof(double)), *x = malloc(count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        right[i] = ldexp(b[i], sizes.rightSide);
    }
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0) {
            assert_success(srFactor_SolveDouble(&s.factor, right, x, s.scratch));
        } else if (kind == 1) {
            assert_success(srFactor_SolveRefined(&s.factor, &s.A, right, x, 2, s.scratch));
        } else {
            // floats hold neither all right-hand sides nor all solutions
            int answer = sizes.rightSide - sizes.matrix;
            if (abs(sizes.rightSide) > 100 || abs(answer) > 100) {
                continue;
            }
            float* floats = toFloats(right, count);
            assert_success(srFactor_SolveFloat(&s.factor, floats, floats, s.scratch));
            for (size_t i = 0; i < count; i++) {
                x[i] = (double)floats[i];
            }
            free(floats);
        }
        for (size_t i = 0; i < count; i++) {
            x[i] = ldexp(x[i], sizes.matrix - sizes.rightSide);
        }
        // powers of two change no bit, so the errors are those of A x = b, whose condition is below ten
        assert_near(relativeError(x, expected, count), 0.0, kind == 0 ? 1e-15 : kind == 1 ? 1e-14 : 1e-6);
    }
    free(right);
    free(x);
    destroySystem(&s);
}

static void scale_of_the_whole_system_does_not_matter(void** state) {
    (void)state;
    // from 1e-300 to 1e300, where the solution is a number too
    const int exponents[] = {0,   1,    -1,  59,   -61, 99,   -99, 127, -133,
                             200, -200, 401, -399, 700, -700, 996, -996};
    srCsc A = makeRandom(40, 4, 8, NULL);
    double *b = makeNumbers(120, 11), *expected = makeNumbers(120, 11);
    solveDensely(&A, expected, 3);
    int triedCount = 0;
    for (size_t m = 0; m < SR_ARRAY_COUNT(exponents); m++) {
        for (size_t r = 0; r < SR_ARRAY_COUNT(exponents); r++) {
            Sizes sizes = {exponents[m], exponents[r]};
            if (abs(sizes.rightSide - sizes.matrix) < 1000) {
                solvesAtSizes(&A, b, expected, sizes);
                triedCount++;
            }
        }
    }
    assert_in_range(triedCount, 200, 289);
    free(b);
    free(expected);
    srDestroyCsc(&A);
}

static double steepestScale(int32_t i) {
    return i % 3 == 0 ? 1e-140 : i % 3 == 1 ? 1.0 : 1e140;
}

// Diagonals of 1e-280, of one and of 1e280 in one matrix: no float holds a row's scale.
static void scales_beyond_float_in_one_matrix_do_not_matter(void** state) {
    (void)state;
    solvesAtScale(steepestScale, false);
}

static void what_no_number_can_hold_is_refused(void** state) {
    (void)state;
    // solutions of 1e320, or in float of 1e40
    srCsc A = makeGrid(4, 4, 4, 1.0, NULL);
    for (int32_t p = 0; p < A.columnStarts[A.columnCount]; p++) {
        A.values[p] *= 1e-160;
    }
    System s = makeSystem(A, bothKinds, NULL);
    double b[192], x[192];
    float bFloat[192], xFloat[192];
    for (int i = 0; i < 192; i++) {
        b[i] = 1e160;
        bFloat[i] = 1.0f;
    }
    assert_result(srFactor_SolveDouble(&s.factor, b, x, s.scratch), sr_errorNotFinite);
    assert_true(x[0] == 0.0 && x[191] == 0.0);
    assert_result(srFactor_SolveRefined(&s.factor, &s.A, b, x, 1, s.scratch), sr_errorNotFinite);
    assert_true(x[0] == 0.0 && x[191] == 0.0);
    assert_result(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch), sr_errorNotFinite);
    assert_true(xFloat[0] == 0.0f && xFloat[191] == 0.0f);
    destroySystem(&s);
}

static void one_refinement_of_a_stiff_system_reaches_double(void** state) {
    (void)state;
    // condition about 1e4, like a cage's at 1/24 s
    System s = makeSystem(makeGrid(14, 13, 12, 1e-3, NULL), bothKinds, NULL);
    size_t count = 3 * (size_t)s.size;
    double *b = makeNumbers(count, 3), *x = malloc(count * sizeof(double));
    double* expected = malloc(count * sizeof(double));
    assert_success(srFactor_SolveDouble(&s.factor, b, expected, s.scratch));
    double error = 1.0;
    for (int32_t steps = 0; steps <= 3; steps++) {
        assert_success(srFactor_SolveRefined(&s.factor, &s.A, b, x, steps, s.scratch));
        double next = relativeError(x, expected, count);
        // a step leaves at most a thousandth, until rounding errors of double are reached
        assert_true(next < 1e-3 * error || next < 1e-12);
        error = next;
    }
    assert_near(error, 0.0, 1e-12);
    free(b);
    free(x);
    free(expected);
    destroySystem(&s);
}

static void refinement_with_double_panels_alone_works(void** state) {
    (void)state;
    System s = makeSystem(makeGrid(5, 6, 7, 1e-2, NULL), sr_factorDouble, NULL);
    size_t count = 3 * (size_t)s.size;
    double *b = makeNumbers(count, 3), *x = malloc(count * sizeof(double)),
           *y = malloc(count * sizeof(double));
    assert_success(srFactor_SolveRefined(&s.factor, &s.A, b, x, 1, s.scratch));
    assert_success(srFactor_SolveDouble(&s.factor, b, y, s.scratch));
    assert_near(relativeError(x, y, count), 0.0, 1e-13);

    // and float is refused
    float* floats = toFloats(b, count);
    assert_result(srFactor_SolveFloat(&s.factor, floats, floats, s.scratch), sr_errorInvalidValue);
    free(floats);
    free(b);
    free(x);
    free(y);
    destroySystem(&s);
}

static void every_path_gives_the_same_bits(void** state) {
    (void)state;
    srVec3* positions;
    srCsc A = makeGrid(15, 14, 13, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    assert_success(srDissect(&A, positions, order));
    System s = makeSystem(A, bothKinds, order);
    size_t count = 3 * (size_t)s.size;
    double *b = makeNumbers(count, 21), *x = malloc(count * sizeof(double)),
           *first = malloc(count * sizeof(double));
    float* bFloat = toFloats(b, count);
    float *xFloat = malloc(count * sizeof(float)), *firstFloat = malloc(count * sizeof(float));
    srSimdPath usual = srGetSimdPath();
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (!srForceSimdPath((srSimdPath)path)) {
            continue;
        }
        assert_success(srFactor_SolveDouble(&s.factor, b, x, s.scratch));
        assert_success(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch));
        if (path == sr_simdScalar) {
            memcpy(first, x, count * sizeof(double));
            memcpy(firstFloat, xFloat, count * sizeof(float));
        }
        assert_memory_equal(x, first, count * sizeof(double));
        assert_memory_equal(xFloat, firstFloat, count * sizeof(float));
    }
    assert_true(srForceSimdPath(usual));
    free(b);
    free(x);
    free(first);
    free(bFloat);
    free(xFloat);
    free(firstFloat);
    free(order);
    free(positions);
    destroySystem(&s);
}

// Of all loops so far; one that wakes late does nothing.
static bool hasSecondWorker(void) {
    uint64_t counts[8] = {0};
    return srParallel_GetBlockCounts(counts, 8) > 1 && counts[1] > 0;
}

static void workers_do_not_change_a_bit(void** state) {
    (void)state;
    srVec3* positions;
    srCsc A = makeGrid(16, 16, 16, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    assert_success(srDissect(&A, positions, order));
    System s = makeSystem(A, bothKinds, order);
    assert_true(s.factor.tasks.count > 3);
    size_t count = 3 * (size_t)s.size;
    double *b = makeNumbers(count, 5), *x = malloc(count * sizeof(double)),
           *first = malloc(count * sizeof(double));
    float* bFloat = toFloats(b, count);
    float *xFloat = malloc(count * sizeof(float)), *firstFloat = malloc(count * sizeof(float));
    for (int32_t workers = 1; workers <= 8; workers++) {
        srParallel_SetWorkerCount(workers);
        for (int tries = 0; tries < 2000 && (tries == 0 || (workers == 2 && !hasSecondWorker())); tries++) {
            assert_success(srFactor_SolveDouble(&s.factor, b, x, s.scratch));
            assert_success(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch));
            if (workers == 1) {
                memcpy(first, x, count * sizeof(double));
                memcpy(firstFloat, xFloat, count * sizeof(float));
            }
            assert_memory_equal(x, first, count * sizeof(double));
            assert_memory_equal(xFloat, firstFloat, count * sizeof(float));
        }
        assert_true(workers != 2 || hasSecondWorker());
    }
    srParallel_Stop();
    free(b);
    free(x);
    free(first);
    free(bFloat);
    free(xFloat);
    free(firstFloat);
    free(order);
    free(positions);
    destroySystem(&s);
}

typedef struct Sharing {
    const System* system;
    const float* b;
    float* x;
    void* scratch;
    bool isSolved;
} Sharing;

static void solveShared(void* context) {
    Sharing* sharing = context;
    sharing->isSolved = true;
    for (int run = 0; run < 10; run++) {
        srResult result =
            srFactor_SolveFloat(&sharing->system->factor, sharing->b, sharing->x, sharing->scratch);
        sharing->isSolved = sharing->isSolved && result == sr_success;
    }
}

static void threads_may_share_a_factor(void** state) {
    (void)state;
    enum {
        threadCount = 3
    };
    System s = makeSystem(makeGrid(16, 16, 16, 1e-2, NULL), sr_factorFloat, NULL);
    size_t count = 3 * (size_t)s.size;
    double* numbers = makeNumbers(count, 2);
    float* b = toFloats(numbers, count);
    Sharing sharings[threadCount];
    srThread* threads[threadCount];
    srParallel_SetWorkerCount(2);
    for (int t = 0; t < threadCount; t++) {
        sharings[t] = (Sharing){&s, b, calloc(count, sizeof(float)), srAlloc(s.scratchSize, 1), false};
        assert_success(srStartThread(solveShared, &sharings[t], &threads[t]));
    }
    for (int t = 0; t < threadCount; t++) {
        srJoinThread(threads[t]);
    }
    assert_success(srFactor_SolveFloat(&s.factor, b, b, s.scratch));
    for (int t = 0; t < threadCount; t++) {
        assert_true(sharings[t].isSolved);
        assert_memory_equal(sharings[t].x, b, count * sizeof(float));
        free(sharings[t].x);
        srFree(sharings[t].scratch, s.scratchSize, 1);
    }
    srParallel_Stop();
    free(b);
    free(numbers);
    destroySystem(&s);
}

static void what_is_not_finite_is_refused_and_leaves_zeros(void** state) {
    (void)state;
    System s = makeSystem(makeGrid(5, 5, 5, 1e-2, NULL), bothKinds, NULL);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1.7e308};
    for (size_t k = 0; k < SR_ARRAY_COUNT(bad); k++) {
        double b[375] = {0}, x[375];
        float bFloat[375] = {0}, xFloat[375];
        // the last is a number, but its solution, a hundred times as large, is none
        for (int i = 0; i < 375 && k == 3; i++) {
            b[i] = bad[k];
        }
        b[100] = bad[k];
        bFloat[100] = (float)bad[k];
        memset(x, 0xff, sizeof(x));
        memset(xFloat, 0xff, sizeof(xFloat));
        assert_result(srFactor_SolveDouble(&s.factor, b, x, s.scratch), sr_errorNotFinite);
        assert_result(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch), sr_errorNotFinite);
        for (int i = 0; i < 375; i++) {
            assert_true(x[i] == 0.0 && xFloat[i] == 0.0f);
        }
        memset(x, 0xff, sizeof(x));
        assert_result(srFactor_SolveRefined(&s.factor, &s.A, b, x, 1, s.scratch), sr_errorNotFinite);
        for (int i = 0; i < 375; i++) {
            assert_true(x[i] == 0.0);
        }
    }
    destroySystem(&s);
}

static void zeros_are_solved_by_zeros(void** state) {
    (void)state;
    System s = makeSystem(makeGrid(5, 5, 5, 1e-2, NULL), bothKinds, NULL);
    double b[375] = {0}, x[375];
    float bFloat[375] = {0}, xFloat[375];
    assert_success(srFactor_SolveDouble(&s.factor, b, x, s.scratch));
    assert_success(srFactor_SolveFloat(&s.factor, bFloat, xFloat, s.scratch));
    for (int i = 0; i < 375; i++) {
        assert_true(x[i] == 0.0 && xFloat[i] == 0.0f);
    }
    assert_success(srFactor_SolveRefined(&s.factor, &s.A, b, x, 3, s.scratch));
    for (int i = 0; i < 375; i++) {
        assert_true(x[i] == 0.0);
    }
    destroySystem(&s);
}

static void refinement_against_another_matrix_is_refused(void** state) {
    (void)state;
    System s = makeSystem(makeGrid(3, 3, 3, 1.0, NULL), sr_factorFloat, NULL);
    srCsc other = makeGrid(3, 3, 2, 1.0, NULL);
    double b[81] = {1.0}, x[81];
    assert_result(srFactor_SolveRefined(&s.factor, &other, b, x, 1, s.scratch), sr_errorInvalidValue);
    assert_result(srFactor_SolveRefined(&s.factor, &s.A, b, x, -1, s.scratch), sr_errorInvalidValue);
    srDestroyCsc(&other);
    destroySystem(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(solves_agree_with_dense_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_small_size_is_solved, srTestNothingLeaked),
        cmocka_unit_test_teardown(disconnected_parts_do_not_see_each_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(scale_of_rows_does_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(scale_of_the_whole_system_does_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(scales_beyond_float_in_one_matrix_do_not_matter, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_no_number_can_hold_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(one_refinement_of_a_stiff_system_reaches_double, srTestNothingLeaked),
        cmocka_unit_test_teardown(refinement_with_double_panels_alone_works, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(workers_do_not_change_a_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(threads_may_share_a_factor, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_not_finite_is_refused_and_leaves_zeros, srTestNothingLeaked),
        cmocka_unit_test_teardown(zeros_are_solved_by_zeros, srTestNothingLeaked),
        cmocka_unit_test_teardown(refinement_against_another_matrix_is_refused, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/solve", tests, NULL, NULL);
}
