// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two hundred damaged meshes get weights of three bones that were laid through them: every vertex that is a
// place has weights, which sum to one.

#include "corpus/corpus.h"
#include "native/support/support.h"
#include "softrig/weights.h"

#include <math.h>
#include <stdlib.h>

#define CASE_COUNT 200
#define NODE_COUNT 200
#define BONE_COUNT 3

typedef struct Tally {
    int32_t weighed;
    int32_t nothing;
} Tally;

static bool isPlace(const float* x) {
    float sum = x[0] + x[1] + x[2];
    return sum - sum == 0.0f;
}

// A chain along the longest side of the box, through its middle.
static void layBones(const srSoup* skin, float points[6 * BONE_COUNT]) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t v = 0; v < skin->pointCount; v++) {
        for (int k = 0; k < 3 && isPlace(skin->points + 3 * v); k++) {
            lower[k] = fminf(lower[k], skin->points[3 * v + k]);
            upper[k] = fmaxf(upper[k], skin->points[3 * v + k]);
        }
    }
    int longest = 0;
    for (int k = 1; k < 3; k++) {
        longest = upper[k] - lower[k] > upper[longest] - lower[longest] ? k : longest;
    }
    for (int end = 0; end < 2 * BONE_COUNT; end++) {
        float share = (float)((end + 1) / 2) / BONE_COUNT;
        for (int k = 0; k < 3; k++) {
            float t = k == longest ? share : 0.5f;
            points[3 * end + k] = lower[k] + t * (upper[k] - lower[k]);
        }
    }
}

static void checkWeights(const srCase* made, const float* values) {
    const srSoup* skin = &made->patient.skin;
    for (int32_t v = 0; v < skin->pointCount; v++) {
        double sum = 0.0;
        for (int j = 0; j < BONE_COUNT; j++) {
            float w = values[BONE_COUNT * v + j];
            if (!(w >= 0.0f && w <= 1.0f)) {
                fail_msg("%s: a weight of %g", made->name, (double)w);
            }
            sum += (double)w;
        }
        if (fabs(sum - (isPlace(skin->points + 3 * v) ? 1.0 : 0.0)) > 1e-6) {
            fail_msg("%s: weights of vertex %d sum to %g", made->name, v, sum);
        }
    }
}

static void tryCase(const srCase* made, Tally* tally) {
    const srSoup* skin = &made->patient.skin;
    float points[6 * BONE_COUNT];
    const int32_t columns[] = {0, 0, 1, 1, 2, 2}, elements[] = {0, 1, 1, 2, 3, 3, 4, 5, 5};
    layBones(skin, points);
    srWeightsDef def = srDefaultWeightsDef();
    def.skinPositions = skin->points;
    def.skinVertexCount = skin->pointCount;
    def.skinTriangles = skin->triangles;
    def.skinTriangleCount = skin->triangleCount;
    def.points = points;
    def.pointColumns = columns;
    def.pointCount = 2 * BONE_COUNT;
    def.elements = elements;
    def.elementCount = def.columnCount = BONE_COUNT;
    def.targetNodeCount = NODE_COUNT;
    srWeightsId id = {0};
    srResult result = srStartWeights(&def, &id);
    if (result == sr_success) {
        srJobStatus status;
        assert_success(srWeights_Wait(id, -1.0));
        assert_success(srWeights_GetStatus(id, &status));
        result = status.phase == sr_phaseDone ? sr_success : status.result;
    }
    if (result == sr_success) {
        float* values = malloc(BONE_COUNT * sizeof(float) * (size_t)skin->pointCount);
        assert_success(srWeights_Read(id, values, skin->pointCount, BONE_COUNT));
        checkWeights(made, values);
        free(values);
        tally->weighed++;
    } else if (made->expectation == sr_expectFit) {
        fail_msg("%s: %s", made->name, srGetErrorText());
    } else {
        tally->nothing++;
    }
    srResult freed = srDestroyWeights(id);
    assert_true(freed == sr_success || freed == sr_errorStaleId);
}

static void damaged_meshes_get_weights(void** state) {
    (void)state;
    int32_t all = srCountCases(), first = all;
    for (int32_t i = all - 1; i >= 0 && first == i + 1; i--) {
        srCase made = srMakeCase(i);
        first = made.family == sr_familyDamaged ? i : first;
        srDestroyCase(&made);
    }
    assert_true(all - first >= CASE_COUNT);
    Tally tally = {0, 0};
    for (int32_t i = 0; i < CASE_COUNT; i++) {
        srCase made = srMakeCase(first + (int32_t)((int64_t)i * (all - first) / CASE_COUNT));
        tryCase(&made, &tally);
        srDestroyCase(&made);
    }
    print_message("of %d: %d weighed, %d enclose nothing\n", CASE_COUNT, tally.weighed, tally.nothing);
    assert_true(tally.weighed > CASE_COUNT * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(damaged_meshes_get_weights, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("corpus/weights", tests, NULL, NULL);
}
