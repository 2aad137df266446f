// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows around a ceiling: their energy falls, nothing rises above it, and what is given or far stays.

#include "weights/biharmonic_mend.h"

#include "core/alloc.h"
#include "support/scenes.h"
#include "support/support.h"
#include "weights/biharmonic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    boneCount = 3
};

typedef struct Scene {
    srCage cage;
    srVec3 points[2 * boneCount];
    int32_t columns[2 * boneCount];
    int32_t elements[boneCount][3];
    srAnchors anchors;
    srAnchorRows rows;
    srStiffness stiffness;
    srPieces pieces;
    size_t count;
    float *weights, *ceilings;
} Scene;

// A bar of 4 x 24 x 4 cubes. The last bone lies on nodes.
static void createScene(Scene* s) {
    memset(s, 0, sizeof(*s));
    assert_success(srTestCreateBarCage((const int32_t[]){4, 24, 4}, 0.25, &s->cage));
    for (int32_t k = 0; k < boneCount; k++) {
        s->points[2 * k] = (srVec3){k == 2 ? 0.5 : 0.47, 0.5 + 2.0 * k, 0.5};
        s->points[2 * k + 1] = (srVec3){0.5, 1.5 + 2.0 * k, 0.5};
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
    assert_success(srCreateStiffness(&s->cage, &s->stiffness));
    assert_success(srCreatePieces(&s->cage, &s->rows, &s->pieces));
    assert_true(s->rows.fixedCount > 0);
    s->count = (size_t)s->cage.nodeCount * boneCount;
    s->weights = calloc(s->count, sizeof(float));
    s->ceilings = calloc(s->count, sizeof(float));
    srSimplexSettings settings = {1e-7, 5000};
    srBiharmonicReport report;
    assert_success(srSolveBiharmonic(&s->cage, &s->anchors, &settings, NULL, s->weights, &report));
    assert_int_equal(report.peaks.roundCount, 0);
    for (size_t k = 0; k < s->count; k++) {
        s->ceilings[k] = 1.0f;
    }
}

static void destroyScene(Scene* s) {
    free(s->weights);
    free(s->ceilings);
    srDestroyPieces(&s->pieces);
    srDestroyStiffness(&s->stiffness);
    srDestroyAnchorRows(&s->rows);
    srDestroyCage(&s->cage);
}

static double energyOf(const Scene* s) {
    double energy;
    assert_success(srMeasureBiharmonicEnergy(&s->cage, &s->rows, s->weights, boneCount, &energy));
    return energy;
}

static srResult mend(Scene* s) {
    return srMendRows(&s->stiffness, &s->rows, &s->pieces, boneCount, s->ceilings, s->weights);
}

// Where no bone is near, so that no sample pulls.
static int32_t findNode(const Scene* s, srVec3 place) {
    int32_t best = 0;
    for (int32_t i = 1; i < s->cage.nodeCount; i++) {
        bool isNearer = srDistance(s->cage.nodes[i], place) < srDistance(s->cage.nodes[best], place);
        best = isNearer ? i : best;
    }
    return best;
}

static void dent(Scene* s, int32_t node, float height) {
    float* row = s->weights + (ptrdiff_t)boneCount * node;
    int32_t top = row[0] > row[1] ? (row[0] > row[2] ? 0 : 2) : (row[1] > row[2] ? 1 : 2);
    assert_true(row[top] > height);
    for (int32_t j = 0; j < boneCount; j++) {
        row[j] = j == top ? height : (1.0f - height) / (boneCount - 1);
    }
    s->ceilings[boneCount * node + top] = height;
}

static void energy_falls_and_nothing_rises_above_its_ceiling(void** state) {
    (void)state;
    const srVec3 PLACES[] = {{1.0, 2.0, 1.0}, {0.5, 0.75, 0.75}, {0.5, 6.0, 0.5}, {0.0, 3.25, 0.0}};
    for (int k = 0; k < SR_ARRAY_COUNT(PLACES); k++) {
        Scene s;
        createScene(&s);
        double least = energyOf(&s);
        int32_t node = findNode(&s, PLACES[k]);
        assert_false(s.rows.isFixed[node]);
        dent(&s, node, 0.4f);
        float* before = malloc(s.count * sizeof(float));
        memcpy(before, s.weights, s.count * sizeof(float));
        double dented = energyOf(&s);
        assert_success(mend(&s));
        double mended = energyOf(&s);
        print_message("least %g, dented %g, mended %g\n", least, dented, mended);
        assert_true(mended < 0.8 * (dented - least) + least && mended > least);
        for (int32_t i = 0; i < s.cage.nodeCount; i++) {
            double sum = 0.0;
            for (int32_t j = 0; j < boneCount; j++) {
                float w = s.weights[boneCount * i + j];
                assert_true(w >= 0.0f && w <= s.ceilings[boneCount * i + j]);
                sum += (double)w;
            }
            assert_near(sum, 1.0, 1e-6);
            bool isKept = s.rows.isFixed[i] || srDistance(s.cage.nodes[i], PLACES[k]) > 1.5;
            assert_true(!isKept || memcmp(before + boneCount * i, s.weights + boneCount * i,
                                          boneCount * sizeof(float)) == 0);
        }
        free(before);
        destroyScene(&s);
    }
}

// Below a ceiling that does not bind there is nothing better than what is there.
static void a_minimum_stays_one(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    float* before = malloc(s.count * sizeof(float));
    memcpy(before, s.weights, s.count * sizeof(float));
    double least = energyOf(&s);
    assert_success(mend(&s));
    assert_memory_equal(before, s.weights, s.count * sizeof(float)); // nothing has a ceiling
    for (size_t k = 0; k < s.count; k++) {
        s.ceilings[k] = fmaxf(s.weights[k], 0.999f);
    }
    assert_success(mend(&s));
    double most = 0.0;
    for (size_t k = 0; k < s.count; k++) {
        most = fmax(most, fabs((double)s.weights[k] - (double)before[k]));
    }
    print_message("moved by %g, energy by %g\n", most, energyOf(&s) / least - 1.0);
    assert_true(most < 1e-3 && fabs(energyOf(&s) / least - 1.0) < 1e-5);
    free(before);
    destroyScene(&s);
}

static srResult mendOnce(void* context) {
    return mend(context);
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    dent(&s, findNode(&s, (srVec3){1.0, 2.0, 1.0}), 0.4f);
    srTestEveryAllocationFails(mendOnce, &s);
    destroyScene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(energy_falls_and_nothing_rises_above_its_ceiling, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_minimum_stays_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/biharmonic_mend", tests, NULL, NULL);
}
