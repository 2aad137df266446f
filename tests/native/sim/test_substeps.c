// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the artist's substeps do in the complementary solver: one step of each five that are asked for,
// towards one motion, of second order.

#include "support/support.h"

#include "sim/dials.h"
#include "softrig/softrig.h"
#include "solver/complementary.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60

static srTestScene scene;
static srCharacterId character;

static int begin(void** state) {
    (void)state;
    bool isReady = srTestCreateTailScene(&scene) && srCreateCharacter(&scene.def, &character) == sr_success &&
                   srCharacter_Wait(character, -1.0) == sr_success;
    return isReady ? 0 : -1;
}

static int end(void** state) {
    assert_success(srDestroyCharacter(character));
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static size_t floatCount(void) {
    return 3 * (size_t)scene.def.skinVertexCount;
}

// Offsets of all frames, to be freed; iterations of the last
static float* play(int32_t substeps, int32_t* outIterations) {
    srShotDef def = srDefaultShotDef();
    def.character = character;
    def.frameCount = FRAMES;
    def.params.frequency = 1.5f;
    def.params.substeps = substeps;
    srShotId shot;
    assert_success(srCreateShot(&def, &shot));
    int64_t count = (int64_t)FRAMES * srTestScene_GetRowFloatCount(&scene);
    float* rows = malloc(sizeof(float) * (size_t)count);
    float* offsets = malloc(sizeof(float) * floatCount() * FRAMES);
    assert_true(rows != NULL && offsets != NULL);
    srTestScene_WriteRows(&scene, srTestStop, 0, FRAMES, rows);
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, count, NULL));
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    *outIterations = 0;
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        float* out = offsets + floatCount() * (size_t)frame;
        srFrameStats stats;
        assert_success(srShot_ReadOffsets(shot, frame + 1, out, scene.def.skinVertexCount));
        assert_success(srShot_GetFrameStats(shot, frame + 1, &stats));
        *outIterations += stats.iterationCount;
    }
    free(rows);
    assert_success(srDestroyShot(shot));
    return offsets;
}

static void one_step_for_five_that_are_asked_for(void** state) {
    (void)state;
    static const int32_t ASKED[] = {0, 1, 5, 6, 10, 11, 16, 24, 100}, TAKEN[] = {2, 1, 1, 2, 2, 3, 4, 5, 20};
    for (int k = 0; k < SR_ARRAY_COUNT(ASKED); ++k) {
        assert_int_equal(srFindLongSubsteps(ASKED[k]), TAKEN[k]);
    }
    srComplementaryDials usual = srDefaultComplementaryDials();
    assert_int_equal(srFindLongSubsteps(srDefaultShotParams().substeps), usual.substeps);
    assert_true(srFindTolerance(1) == usual.tolerance && srFindTolerance(2) == usual.tolerance);
    assert_near(srFindTolerance(4), 0.25 * usual.tolerance, 1e-12);
}

static void more_substeps_lead_to_one_motion(void** state) {
    (void)state;
    static const int32_t ASKED[] = {5, 10, 20, 40};
    int32_t iterations[SR_ARRAY_COUNT(ASKED) + 1];
    double errors[SR_ARRAY_COUNT(ASKED)];
    float* truth = play(100, &iterations[SR_ARRAY_COUNT(ASKED)]);
    for (int k = 0; k < SR_ARRAY_COUNT(ASKED); ++k) {
        float* offsets = play(ASKED[k], &iterations[k]);
        double off = 0.0, whole = 0.0;
        for (size_t i = 0; i < floatCount() * FRAMES; ++i) {
            off += pow((double)offsets[i] - (double)truth[i], 2.0);
            whole += pow((double)truth[i], 2.0);
        }
        errors[k] = sqrt(off / whole);
        print_message("%d asked for: off by %.2f %% of the motion, %d products\n", ASKED[k],
                      100.0 * errors[k], iterations[k]);
        assert_true(k == 0 || (errors[k] < 0.6 * errors[k - 1] && iterations[k] > iterations[k - 1]));
        free(offsets);
    }
    assert_true(errors[3] < 0.05);
    free(truth);
}

static void few_are_the_usual_to_the_bit(void** state) {
    (void)state;
    int32_t iterations;
    float* usual = play(10, &iterations);
    float* draft = play(6, &iterations);
    float* more = play(11, &iterations);
    size_t size = sizeof(float) * floatCount() * FRAMES;
    assert_memory_equal(usual, draft, size);
    assert_true(memcmp(usual, more, size) != 0);
    free(usual);
    free(draft);
    free(more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_for_five_that_are_asked_for),
        cmocka_unit_test(more_substeps_lead_to_one_motion),
        cmocka_unit_test(few_are_the_usual_to_the_bit),
    };
    return cmocka_run_group_tests_name("sim/substeps", tests, begin, end);
}
