// SPDX-License-Identifier: GPL-3.0-or-later
//
// What moves the skin moves the simulation, whatever it is: a shot whose skin is written goes with it.

#include "support/support.h"

#include "sim/simulation.h"
#include "sim/skin_follower.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 30
#define FIRST_FRAME 1

static srTestScene scene;
static srCharacter bar;
static float* still; // rows of a rig that does nothing
static float* skins; // FRAMES skins, which sway

static size_t floatCount(void) {
    return 3 * (size_t)bar.embedding.pointCount;
}

static int prepareAll(void** state) {
    (void)state;
    if (!srTestCreateBarScene(&scene) || !srTestPrepareScene(&scene, &bar)) {
        return -1;
    }
    still = malloc(sizeof(float) * (size_t)srTestScene_GetRowFloatCount(&scene) * FRAMES);
    skins = malloc(sizeof(float) * floatCount() * FRAMES);
    if (still == NULL || skins == NULL) {
        return -1;
    }
    srTestScene_WriteRows(&scene, srTestRest, 0, FRAMES, still);
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        float* skin = skins + (size_t)frame * floatCount();
        memcpy(skin, scene.def.skinPositions, sizeof(float) * floatCount());
        float sway = frame < 12 ? 0.3f * sinf(0.7f * (float)frame) : 0.0f;
        for (size_t i = 0; i < floatCount() && sway != 0.0f; i += 3) {
            skin[i + 1] += sway * skin[i] * skin[i];
        }
    }
    return 0;
}

static int forgetAll(void** state) {
    free(still);
    free(skins);
    srDestroyCharacterRest(&bar);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static srSimulation* startShot(void) {
    srShotDef def = {.firstFrame = FIRST_FRAME, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = srDefaultShotParams();
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(&bar, &def, &simulation));
    return simulation;
}

static uint64_t hashOfLast(srSimulation* simulation) {
    uint64_t hash = 0;
    assert_success(srSimulation_WaitFrame(simulation, FRAMES, -1.0));
    assert_success(srSimulation_GetHash(simulation, FRAMES, &hash));
    return hash;
}

static void writeTape(srSimulation* simulation) {
    assert_success(srSimulation_WriteTape(simulation, FIRST_FRAME, FRAMES, still, NULL));
}

static int32_t writeSkins(srSimulation* simulation, int32_t frame, int32_t count, const float* rows) {
    int32_t changed = 0;
    assert_success(srSimulation_WriteSkin(simulation, frame, count, rows, &changed));
    return changed;
}

static void a_skin_at_rest_has_its_nodes_at_rest_to_the_bit(void** state) {
    (void)state;
    srSkinFollower* follower = NULL;
    assert_success(srCreateSkinFollower(&bar, scene.def.skinPositions, &follower));
    const srVec3f* nodes = srSkinFollower_Place(follower, scene.def.skinPositions);
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        srVec3f rest = srToFloat(bar.cage.nodes[i]);
        assert_memory_equal(&nodes[i], &rest, sizeof(rest));
    }
    srDestroySkinFollower(follower);
}

static void a_moved_skin_moves_its_nodes_along(void** state) {
    (void)state;
    srSkinFollower* follower = NULL;
    assert_success(srCreateSkinFollower(&bar, scene.def.skinPositions, &follower));
    float* moved = malloc(sizeof(float) * floatCount());
    assert_non_null(moved);
    for (size_t i = 0; i < floatCount(); ++i) {
        moved[i] = scene.def.skinPositions[i] + (i % 3 == 1 ? 2.0f : 0.0f);
    }
    const srVec3f* nodes = srSkinFollower_Place(follower, moved);
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        assert_true(fabs((double)nodes[i].x - bar.cage.nodes[i].x) < 1e-5);
        assert_true(fabs((double)nodes[i].y - bar.cage.nodes[i].y - 2.0) < 1e-5);
    }
    free(moved);
    srDestroySkinFollower(follower);
}

static void a_skin_that_sways_over_a_still_rig_swings_and_comes_to_rest(void** state) {
    (void)state;
    srSimulation* simulation = startShot();
    assert_success(srSimulation_FollowSkin(simulation, scene.def.skinPositions));
    writeSkins(simulation, FIRST_FRAME, FRAMES, skins);
    writeTape(simulation);
    hashOfLast(simulation);
    float* offsets = malloc(sizeof(float) * floatCount());
    assert_non_null(offsets);
    float largest[FRAMES] = {0};
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        assert_success(srSimulation_ReadOffsets(simulation, FIRST_FRAME + frame, offsets));
        for (size_t i = 0; i < floatCount(); ++i) {
            largest[frame] = fmaxf(largest[frame], fabsf(offsets[i]));
        }
    }
    assert_true(largest[0] == 0.0f);
    // the skin stops at row 12: the flesh does not, and then it does; when it swings farthest is its own
    // matter
    float farthest = 0.0f;
    for (int32_t frame = 13; frame < FRAMES; ++frame) {
        farthest = fmaxf(farthest, largest[frame]);
    }
    assert_true(farthest > 0.015f);
    assert_true(largest[FRAMES - 1] < 0.5f * farthest);
    free(offsets);
    srDestroySimulation(simulation);
}

static void the_order_of_writing_and_repeats_change_no_bit(void** state) {
    (void)state;
    srSimulation* simulation = startShot();
    assert_success(srSimulation_FollowSkin(simulation, scene.def.skinPositions));
    assert_int_equal(writeSkins(simulation, FIRST_FRAME, FRAMES, skins), FIRST_FRAME);
    writeTape(simulation);
    uint64_t expected = hashOfLast(simulation);
    int32_t revision = srSimulation_GetRevision(simulation);
    assert_int_equal(writeSkins(simulation, FIRST_FRAME, FRAMES, skins), FIRST_FRAME + FRAMES);
    assert_int_equal(srSimulation_GetRevision(simulation), revision);
    assert_int_equal(writeSkins(simulation, 7, 1, skins), 7);
    assert_true(hashOfLast(simulation) != expected);
    assert_int_equal(writeSkins(simulation, 7, 1, skins + 6 * floatCount()), 7);
    assert_true(hashOfLast(simulation) == expected);
    srDestroySimulation(simulation);

    simulation = startShot();
    assert_success(srSimulation_FollowSkin(simulation, scene.def.skinPositions));
    writeTape(simulation);
    for (int32_t frame = FRAMES - 1; frame >= 0; --frame) {
        writeSkins(simulation, FIRST_FRAME + frame, 1, skins + (size_t)frame * floatCount());
    }
    assert_true(hashOfLast(simulation) == expected);
    srDestroySimulation(simulation);
}

static void nothing_is_written_before_somebody_follows(void** state) {
    (void)state;
    srSimulation* simulation = startShot();
    assert_result(srSimulation_WriteSkin(simulation, 1, 1, skins, NULL), sr_errorInvalidValue);
    srDestroySimulation(simulation);
}

static srResult followOnce(void* context) {
    (void)context;
    srShotDef def = {.firstFrame = FIRST_FRAME, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = srDefaultShotParams();
    srSimulation* simulation = NULL;
    SR_TRY(srCreateSimulation(&bar, &def, &simulation));
    srResult result = srSimulation_FollowSkin(simulation, scene.def.skinPositions);
    if (result == sr_success) {
        result = srSimulation_WriteSkin(simulation, FIRST_FRAME, 3, skins, NULL);
    }
    srDestroySimulation(simulation);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(followOnce, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skin_at_rest_has_its_nodes_at_rest_to_the_bit),
        cmocka_unit_test(a_moved_skin_moves_its_nodes_along),
        cmocka_unit_test(a_skin_that_sways_over_a_still_rig_swings_and_comes_to_rest),
        cmocka_unit_test(the_order_of_writing_and_repeats_change_no_bit),
        cmocka_unit_test(nothing_is_written_before_somebody_follows),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/skin_follower", tests, prepareAll, forgetAll);
}
