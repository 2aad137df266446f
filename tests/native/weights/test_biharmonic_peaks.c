// SPDX-License-Identifier: GPL-3.0-or-later
//
// Weights that rise again off their bones: none is left above the limit, nothing else is touched, and what
// must hold of weights does.

#include "weights/biharmonic_peaks.h"

#include "core/alloc.h"
#include "support/scenes.h"
#include "support/support.h"
#include "weights/biharmonic.h"
#include "weights/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    boneCount = 4
};

#define LIMIT 0.0195

static const srProgress nobody = {0};

typedef struct Scene {
    srCage cage;
    srVec3 points[2 * boneCount];
    int32_t columns[2 * boneCount];
    int32_t elements[boneCount][3];
    srAnchors anchors;
    srAnchorRows rows;
    size_t count;
    float* weights;
    double* smooth;
    float* ceilings;
    float* past;
} Scene;

static double leastVolume(const srCage* cage, int32_t node) {
    double least = (double)INFINITY;
    for (int32_t c = 0; c < 4 * cage->cellCount; c++) {
        least = cage->cells[c / 4][c % 4] == node ? fmin(least, srCellVolume(cage, c / 4)) : least;
    }
    return least;
}

// Nodes are moved about as long as no cell loses more than most of its volume.
static void makeSlivers(srCage* cage, double reach, double least, uint64_t seed) {
    for (int32_t turn = 0; turn < 4 * cage->nodeCount; turn++) {
        srVec3 *x = &cage->nodes[turn % cage->nodeCount], before = *x;
        double length = reach;
        for (int attempt = 0; attempt < 8; attempt++, length *= 0.7) {
            double a = srTestRandom(&seed), b = srTestRandom(&seed), c = srTestRandom(&seed);
            *x = srAdd(before, srScale(length, (srVec3){a - 0.5, b - 0.5, c - 0.5}));
            if (leastVolume(cage, turn % cage->nodeCount) > least) {
                break;
            }
            *x = before;
        }
    }
}

// Adds bones and all that is about them to the cage of a bar.
static void addBones(Scene* s, double middle) {
    for (int32_t k = 0; k < boneCount; k++) {
        s->points[2 * k] = (srVec3){middle - 0.03 + 0.02 * k, 0.2 + 0.75 * k, middle + 0.02};
        s->points[2 * k + 1] = (srVec3){middle, 0.6 + 0.75 * k, middle - 0.02};
        s->columns[2 * k] = s->columns[2 * k + 1] = k;
        s->elements[k][0] = 2 * k;
        s->elements[k][1] = s->elements[k][2] = 2 * k + 1;
    }
    s->anchors = (srAnchors){.points = s->points,
                             .columns = s->columns,
                             .pointCount = 2 * boneCount,
                             .elements = (const int32_t (*)[3])s->elements,
                             .elementCount = boneCount,
                             .columnCount = boneCount};
    assert_success(srCreateAnchorRows(&s->cage, &s->anchors, &s->rows));
    s->count = (size_t)s->cage.nodeCount * boneCount;
    s->weights = calloc(s->count, sizeof(float));
    s->smooth = calloc(s->count, sizeof(double));
    s->ceilings = calloc(s->count, sizeof(float));
    s->past = calloc(2 * s->count, sizeof(float));
}

static void createScene(Scene* s, bool isInSlivers, uint64_t seed) {
    memset(s, 0, sizeof(*s));
    assert_success(srTestCreateBarCage((const int32_t[]){4, 12, 4}, 0.25, &s->cage));
    if (isInSlivers) {
        makeSlivers(&s->cage, 0.15, 5e-5, seed);
    }
    addBones(s, 0.5);
}

// One cell wide, and wilder.
static void createRope(Scene* s, uint64_t seed) {
    memset(s, 0, sizeof(*s));
    assert_success(srTestCreateBarCage((const int32_t[]){1, 24, 1}, 0.25, &s->cage));
    makeSlivers(&s->cage, 0.3, 1e-5, seed);
    addBones(s, 0.125);
}

static void destroyScene(Scene* s) {
    free(s->weights);
    free(s->smooth);
    free(s->ceilings);
    free(s->past);
    srDestroyAnchorRows(&s->rows);
    srDestroyCage(&s->cage);
}

static srBiharmonicAnswer answerOf(const Scene* s) {
    return (srBiharmonicAnswer){s->weights, s->smooth, s->ceilings};
}

static void solveScene(Scene* s, srBiharmonicReport* report) {
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    srBiharmonicAnswer answer = answerOf(s);
    assert_success(srSolveBiharmonic(&s->cage, &s->anchors, &settings, NULL, &answer, report));
}

static double heightOf(const Scene* s) {
    return findHighestPeak(&s->cage, &s->rows, boneCount, s->weights);
}

static void assert_rows(const Scene* s) {
    for (int32_t i = 0; i < s->cage.nodeCount; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < boneCount; j++) {
            float w = s->weights[boneCount * i + j];
            assert_true(w >= 0.0f && w <= 1.0f);
            sum += (double)w;
        }
        assert_near(sum, 1.0, 1e-6);
    }
}

// One bone alone against all others, in two columns or with a third that nobody hears.
static void solveAlone(const Scene* s, int32_t bone, int32_t columnCount, float* weights,
                       srBiharmonicReport* report) {
    int32_t sides[2 * boneCount];
    for (int32_t p = 0; p < 2 * boneCount; p++) {
        sides[p] = s->columns[p] != bone;
    }
    srAnchors alone = s->anchors;
    srSimplexSettings settings = {1e-6, 3000};
    alone.columns = sides;
    alone.columnCount = columnCount;
    assert_success(srSolveBiharmonic(&s->cage, &alone, &settings, NULL,
                                     &(srBiharmonicAnswer){.weights = weights}, report));
}

static void slivers_leave_no_peak_and_less_energy_than_dropping_sums(void** state) {
    (void)state;
    int32_t peaked = 0, bound = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        Scene s;
        srBiharmonicReport report;
        double dropped;
        createScene(&s, true, seed);
        solveScene(&s, &report);
        assert_rows(&s);
        assert_true(heightOf(&s) <= 0.02);
        peaked += report.boundCount > 0;
        double primal, dual;
        srBiharmonicAnswer answer = answerOf(&s);
        assert_success(measureReturned(&s.cage, &s.anchors, &answer, &primal, &dual));
        assert_int_equal(report.peaks.roundCount, 0);
        for (size_t k = 0; k < s.count; k++) {
            assert_true(s.weights[k] <= s.ceilings[k]);
            bound += s.ceilings[k] < 1.0f;
        }
        // each bone alone against all others, then rows divided by their sums
        float* pairs = calloc(2 * (size_t)s.cage.nodeCount, sizeof(float));
        for (int32_t j = 0; j < boneCount; j++) {
            srBiharmonicReport unused;
            solveAlone(&s, j, 2, pairs, &unused);
            for (int32_t i = 0; i < s.cage.nodeCount; i++) {
                s.weights[boneCount * i + j] = pairs[2 * i];
            }
        }
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            float* row = s.weights + (ptrdiff_t)boneCount * i;
            float sum = row[0] + row[1] + row[2] + row[3];
            for (int32_t j = 0; j < boneCount; j++) {
                row[j] /= sum;
            }
        }
        assert_success(srMeasureBiharmonicEnergy(&s.cage, &s.rows, s.weights, boneCount, &dropped));
        print_message("seed %d: %d peaks, %d rounds, energy %g, dropped %g; primal %.1e, dual %.1e\n",
                      (int)seed, report.boundCount, report.solveCount, report.energy, dropped, primal, dual);
        assert_true(primal <= 1e-4 && dual <= 1e-4);
        assert_true(report.energy < dropped);
        free(pairs);
        destroyScene(&s);
    }
    assert_true(peaked >= 10 && bound >= 10);
}

// It leaves no room to the ceilings of others. In these ropes those of two bones would else be below one
// together: from one bone to the other there is a dip and then a rise. In one of them bounds come to no end.
static void a_column_that_is_not_heard_changes_no_bit(void** state) {
    (void)state;
    const uint64_t seeds[] = {128, 168, 197, 211};
    int32_t bound = 0, levelled = 0;
    for (int32_t k = 0; k < SR_ARRAY_COUNT(seeds); k++) {
        Scene s;
        createRope(&s, seeds[k]);
        float* pairs = calloc(5 * (size_t)s.cage.nodeCount, sizeof(float));
        float* triples = pairs + 2 * (ptrdiff_t)s.cage.nodeCount;
        for (int32_t j = 0; j < boneCount; j++) {
            srBiharmonicReport report;
            solveAlone(&s, j, 2, pairs, &report);
            bound += report.boundCount > 0;
            levelled += report.peaks.roundCount > 0;
            solveAlone(&s, j, 3, triples, &report);
            for (int32_t i = 0; i < s.cage.nodeCount; i++) {
                assert_memory_equal(triples + 3 * (ptrdiff_t)i, pairs + 2 * (ptrdiff_t)i, 2 * sizeof(float));
                assert_near((double)pairs[2 * i] + (double)pairs[2 * i + 1], 1.0, 1e-6);
            }
        }
        free(pairs);
        destroyScene(&s);
    }
    assert_true(bound >= 8 && levelled >= 1);
}

static void where_no_peak_is_no_bit_changes(void** state) {
    (void)state;
    Scene s;
    srBiharmonicReport report;
    srPeakReport again;
    createScene(&s, false, 0);
    solveScene(&s, &report);
    assert_int_equal(report.boundCount + report.solveCount + report.peaks.roundCount, 0);
    float* before = malloc(s.count * sizeof(float));
    memcpy(before, s.weights, s.count * sizeof(float));
    double height = heightOf(&s);
    assert_success(srLevelPeaks(&s.cage, &s.rows, boneCount, fmax(height, 1e-3), &nobody, s.weights, &again));
    assert_int_equal(again.peakCount, 0);
    assert_memory_equal(before, s.weights, s.count * sizeof(float));
    free(before);
    destroyScene(&s);
}

// The last bone has as much of all nodes of the first one's end: that is one peak, and all of it is bound.
static void a_plateau_is_one_peak(void** state) {
    (void)state;
    Scene s;
    srBiharmonicReport report;
    int32_t peakCount, last = boneCount - 1, nodeCount = 0;
    createScene(&s, false, 0);
    solveScene(&s, &report);
    for (int32_t i = 0; i < s.cage.nodeCount; i++) {
        float* row = s.weights + (ptrdiff_t)boneCount * i;
        for (int32_t j = 0; j < boneCount && s.cage.nodes[i].y < 0.1; j++) {
            row[j] = j == last ? 0.3f : 0.7f * row[j] / (1.0f - row[last]);
        }
        nodeCount += s.cage.nodes[i].y < 0.1;
    }
    const srPeakBounds bounds = {LIMIT, 0.01, s.weights, s.ceilings, s.past};
    assert_success(srBoundPeaks(&s.cage, &s.rows, boneCount, &bounds, &nobody, &peakCount));
    assert_int_equal(nodeCount, 25);
    assert_int_equal(peakCount, 1);
    for (int32_t i = 0; i < s.cage.nodeCount; i++) {
        assert_true(s.cage.nodes[i].y >= 0.1 || s.ceilings[boneCount * i + last] < 0.1f);
    }
    destroyScene(&s);
}

// All that the last bone does not hold has `around` of it, and the first one's end more.
static void raiseEnd(const Scene* s, float end, float around) {
    bool* isHeld = calloc((size_t)s->cage.nodeCount, sizeof(bool));
    markAnchors(&s->rows, boneCount - 1, isHeld);
    for (int32_t i = 0; i < s->cage.nodeCount; i++) {
        float height = s->cage.nodes[i].y < 0.1 ? end : around;
        for (int32_t j = 0; j < boneCount; j++) {
            s->weights[boneCount * i + j] = j == 0 ? 1.0f - height : j == boneCount - 1 ? height : 0.0f;
            s->weights[boneCount * i + j] =
                isHeld[i] ? (float)(j == boneCount - 1) : s->weights[boneCount * i + j];
            s->ceilings[boneCount * i + j] = 1.0f;
        }
    }
    free(isHeld);
}

// Its foot fell by half of what the end did, so to be lower above it by 0.14 that has to fall by twice as
// much.
static void a_peak_is_bound_as_far_below_as_its_foot_goes_down_with_it(void** state) {
    (void)state;
    Scene s;
    int32_t peakCount;
    createScene(&s, false, 0);
    const srPeakBounds bounds = {LIMIT, 0.01, s.weights, s.ceilings, s.past};
    const float ends[] = {0.5f, 0.4f}, arounds[] = {0.3f, 0.25f}, expected[] = {0.5f - 0.19f / 0.6f, 0.12f};
    for (int k = 0; k < 2; k++) {
        raiseEnd(&s, ends[k], arounds[k]);
        assert_success(srBoundPeaks(&s.cage, &s.rows, boneCount, &bounds, &nobody, &peakCount));
        assert_int_equal(peakCount, 1);
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            float ceiling = s.ceilings[boneCount * i + boneCount - 1];
            if (s.cage.nodes[i].y < 0.3) {
                assert_near((double)ceiling, (double)expected[k], 1e-5);
            } else {
                assert_true(ceiling == 1.0f);
            }
        }
    }
    destroyScene(&s);
}

// The last bone has some of the first one's end, as one node or as a hill.
static void a_bump_is_cut_or_smoothed_to_the_limit_and_nothing_far_moves(void** state) {
    (void)state;
    const double widths[] = {0.1, 0.6};
    for (int k = 0; k < SR_ARRAY_COUNT(widths); k++) {
        Scene s;
        srBiharmonicReport report;
        srPeakReport level;
        createScene(&s, false, 0);
        solveScene(&s, &report);
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            double d = srDistance(s.cage.nodes[i], (srVec3){1.0, 0.5, 1.0});
            double share = 0.2 * exp(-d * d / (widths[k] * widths[k]));
            for (int32_t j = 0; j < boneCount && share > 1e-4; j++) {
                float* w = &s.weights[boneCount * i + j];
                *w = (float)((1.0 - share) * (double)*w + (j == 3 ? share : 0.0));
            }
        }
        assert_true(heightOf(&s) > 0.1);
        float* before = malloc(s.count * sizeof(float));
        memcpy(before, s.weights, s.count * sizeof(float));
        assert_success(srLevelPeaks(&s.cage, &s.rows, boneCount, LIMIT, &nobody, s.weights, &level));
        assert_true(level.peakCount >= 1 && level.peakCount <= 4); // where it dents the others as well
        assert_true(heightOf(&s) <= 0.02);
        assert_rows(&s);
        int32_t moved = 0;
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            bool isMoved = memcmp(before + boneCount * i, s.weights + boneCount * i, 4 * boneCount) != 0;
            assert_true(!isMoved || s.cage.nodes[i].y < 2.25);
            moved += isMoved;
        }
        assert_true(k == 0 ? moved <= 3 : moved > 3);
        free(before);
        destroyScene(&s);
    }
}

// Noise has peaks everywhere; so do plateaus and rows that have one column alone.
static void it_ends_for_any_rows(void** state) {
    (void)state;
    uint64_t seed = 88172645463325252ull;
    for (int trial = 0; trial < 6; trial++) {
        Scene s;
        srPeakReport level;
        createScene(&s, trial % 2 == 1, 3);
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            double row[boneCount], sum = 0.0;
            int32_t lone = (int32_t)(boneCount * srTestRandom(&seed)) % boneCount;
            for (int32_t j = 0; j < boneCount; j++) {
                row[j] = trial < 2 ? srTestRandom(&seed) : trial < 4 ? j == lone : j == (i / 7) % boneCount;
                sum += row[j];
            }
            for (int32_t j = 0; j < boneCount; j++) {
                s.weights[boneCount * i + j] = (float)(row[j] / sum);
            }
        }
        assert_true(heightOf(&s) > 0.2);
        assert_success(srLevelPeaks(&s.cage, &s.rows, boneCount, LIMIT, &nobody, s.weights, &level));
        print_message("trial %d: %d peaks, %d rounds\n", trial, level.peakCount, level.roundCount);
        assert_true(heightOf(&s) <= 0.02);
        assert_rows(&s);
        destroyScene(&s);
    }
}

static void nodes_that_are_given_stay(void** state) {
    (void)state;
    Scene s;
    srPeakReport level;
    uint64_t seed = 7;
    createScene(&s, false, 0);
    srDestroyAnchorRows(&s.rows);
    for (int32_t k = 0; k < 2 * boneCount; k++) {
        s.points[k].x = s.points[k].z = 0.5;
        s.points[k].y = 0.25 + 0.75 * (k / 2) + 0.25 * (k % 2);
    }
    assert_success(srCreateAnchorRows(&s.cage, &s.anchors, &s.rows));
    assert_int_equal(s.rows.fixedCount, 2 * boneCount);
    for (int32_t i = 0; i < s.cage.nodeCount; i++) {
        double share = srTestRandom(&seed);
        for (int32_t j = 0; j < boneCount; j++) {
            double w = j == i % boneCount ? share : (1.0 - share) / (boneCount - 1);
            s.weights[boneCount * i + j] =
                s.rows.isFixed[i] ? (float)(s.rows.fixedValues[i].columns[0] == j) : (float)w;
        }
    }
    assert_success(srLevelPeaks(&s.cage, &s.rows, boneCount, LIMIT, &nobody, s.weights, &level));
    assert_true(level.peakCount > 0 && heightOf(&s) <= 0.02);
    for (int32_t i = 0; i < s.cage.nodeCount; i++) {
        for (int32_t j = 0; j < boneCount && s.rows.isFixed[i]; j++) {
            assert_true(s.weights[boneCount * i + j] == (float)(s.rows.fixedValues[i].columns[0] == j));
        }
    }
    destroyScene(&s);
}

static bool refuse(float fraction, void* context) {
    (void)fraction;
    return --*(int32_t*)context > 0;
}

// By the first question, or a later one.
static void caller_may_cancel(void** state) {
    (void)state;
    for (int32_t patience = 1; patience <= 2; patience++) {
        Scene s;
        srPeakReport level;
        uint64_t seed = 5;
        int32_t left = patience;
        srProgress progress = {refuse, &left, 0.0f, 1.0f};
        createScene(&s, false, 0);
        for (size_t k = 0; k < s.count; k++) {
            s.weights[k] = (float)srTestRandom(&seed) / boneCount;
        }
        assert_result(srLevelPeaks(&s.cage, &s.rows, boneCount, LIMIT, &progress, s.weights, &level),
                      sr_errorCancelled);
        assert_int_equal(left, 0);
        destroyScene(&s);
    }
}

static srResult levelNoise(void* context) {
    Scene* s = context;
    srPeakReport level;
    return srLevelPeaks(&s->cage, &s->rows, boneCount, LIMIT, &nobody, s->weights, &level);
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    Scene s;
    createScene(&s, false, 0);
    for (size_t k = 0; k < s.count; k++) {
        s.weights[k] = 1.0f / boneCount;
    }
    srTestEveryAllocationFails(levelNoise, &s);
    destroyScene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(slivers_leave_no_peak_and_less_energy_than_dropping_sums,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_column_that_is_not_heard_changes_no_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(where_no_peak_is_no_bit_changes, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_peak_is_bound_as_far_below_as_its_foot_goes_down_with_it,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_plateau_is_one_peak, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bump_is_cut_or_smoothed_to_the_limit_and_nothing_far_moves,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(it_ends_for_any_rows, srTestNothingLeaked),
        cmocka_unit_test_teardown(nodes_that_are_given_stay, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/biharmonic_peaks", tests, NULL, NULL);
}
