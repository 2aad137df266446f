// SPDX-License-Identifier: GPL-3.0-or-later
//
// The primary motion: differences of where the rig puts the nodes, in any order of asking, anywhere in the
// world.

#include "support/support.h"

#include "sim/primary.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 20
#define FRAME_SECONDS (1.0 / SR_TEST_FRAME_RATE)

typedef struct Setting {
    srTestScene scene;
    srCharacter character;
    srTape tape;
    srPrimary primary;
} Setting;

static void makeSetting(srTestMotion motion, srVec3 place, Setting* s) {
    assert_true(srTestCreateBarScene(&s->scene));
    s->scene.placement[12] = (float)place.x;
    s->scene.placement[13] = (float)place.y;
    s->scene.placement[14] = (float)place.z;
    srSource source;
    assert_success(srCopySource(&s->scene.def, &source));
    assert_success(srPrepareCharacter(&source, NULL, &s->character));
    srDestroySource(&source);
    int32_t floatCount = srTestScene_GetRowFloatCount(&s->scene);
    float* rows = malloc(sizeof(float) * (size_t)floatCount * ROWS);
    assert_non_null(rows);
    srTestScene_WriteRows(&s->scene, motion, 0, ROWS, rows);
    assert_success(srCreateTape(ROWS, floatCount, &s->tape));
    srTape_Write(&s->tape, 0, ROWS, rows);
    free(rows);
    assert_success(srCreatePrimary(&s->character, &s->primary));
}

static void freeSetting(Setting* s) {
    srDestroyPrimary(&s->primary);
    srDestroyTape(&s->tape);
    srDestroyCharacterRest(&s->character);
    srTestDestroyScene(&s->scene);
}

static srPrimaryStep stepTo(int32_t row, double travelFelt) {
    return (srPrimaryStep){
        .before = row == 1 ? SR_NULL_INDEX : row - 2,
        .last = row - 1,
        .now = row,
        .seam = SR_NULL_INDEX,
        .frameSeconds = FRAME_SECONDS,
        .travelFelt = travelFelt,
    };
}

static srNodeMotion moveTo(Setting* s, int32_t row) {
    srPrimaryStep step = stepTo(row, 1.0);
    return srPrimary_Move(&s->primary, &s->character, &s->tape, &step);
}

static void the_jump_is_the_change_of_velocity(void** state) {
    (void)state;
    Setting s;
    makeSetting(srTestStop, (srVec3){0.0, 0.0, 0.0}, &s);
    for (int32_t row = 1; row < ROWS; ++row) {
        srNodeMotion motion = moveTo(&s, row);
        // one unit in 12 rows, then still: the only jump is that of the stop
        double speed = SR_TEST_FRAME_RATE / 12.0;
        for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
            srVec3 step = srSub(motion.to[i], motion.from[i]);
            // matrices are floats
            assert_near(step.x, row <= 12 ? 1.0 / 12.0 : 0.0, 2e-7);
            assert_near(motion.velocityJump[i].x, row == 13 ? -speed : 0.0, 1e-5);
            assert_near(motion.velocityJump[i].y, 0.0, 1e-5);
        }
    }
    freeSetting(&s);
}

static void a_shot_that_begins_in_motion_begins_without_a_jump(void** state) {
    (void)state;
    Setting s;
    makeSetting(srTestStop, (srVec3){0.0, 0.0, 0.0}, &s);
    srNodeMotion motion = moveTo(&s, 1);
    for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
        assert_true(srLength(motion.velocityJump[i]) == 0.0);
    }
    freeSetting(&s);
}

static void rows_asked_for_out_of_order_are_the_same_to_the_bit(void** state) {
    (void)state;
    Setting inOrder;
    Setting jumping;
    makeSetting(srTestBend, (srVec3){0.0, 0.0, 0.0}, &inOrder);
    makeSetting(srTestBend, (srVec3){0.0, 0.0, 0.0}, &jumping);
    size_t bytes = sizeof(srVec3) * (size_t)inOrder.character.cage.nodeCount;
    const int32_t detours[] = {1, 7, 19, 3, 2, 12};
    for (int32_t row = 1; row < ROWS; ++row) {
        srNodeMotion a = moveTo(&inOrder, row);
        for (int d = 0; d < row % 4; ++d) {
            moveTo(&jumping, detours[(row + d) % 6]);
        }
        srNodeMotion b = moveTo(&jumping, row);
        assert_memory_equal(a.from, b.from, bytes);
        assert_memory_equal(a.to, b.to, bytes);
        assert_memory_equal(a.velocityJump, b.velocityJump, bytes);
    }
    freeSetting(&inOrder);
    freeSetting(&jumping);
}

static void a_kilometre_away_the_motion_is_the_same(void** state) {
    (void)state;
    Setting near;
    Setting far;
    makeSetting(srTestBend, (srVec3){0.0, 0.0, 0.0}, &near);
    makeSetting(srTestBend, (srVec3){1024.0, -512.0, 2048.0}, &far);
    for (int32_t row = 1; row < ROWS; ++row) {
        srNodeMotion a = moveTo(&near, row);
        srNodeMotion b = moveTo(&far, row);
        for (int32_t i = 0; i < near.character.cage.nodeCount; ++i) {
            // places in double, 2000 * 2e-16 through a few products; then rounded to float, jumps of some
            // metres a second
            assert_near(srDistance(a.to[i], b.to[i]), 0.0, 3e-7);
            assert_near(srDistance(a.velocityJump[i], b.velocityJump[i]), 0.0, 5e-7);
        }
    }
    freeSetting(&near);
    freeSetting(&far);
}

// what the root's share leaves of the turn, and the share, are the turn
static void turns_of_a_step_are_those_across_it(void** state) {
    (void)state;
    Setting s;
    makeSetting(srTestBend, (srVec3){0.0, 0.0, 0.0}, &s);
    size_t bytes = sizeof(srMat3) * (size_t)s.character.cage.nodeCount;
    srMat3* across = malloc(bytes);
    srMat3* share = malloc(bytes);
    assert_true(across != NULL && share != NULL);
    double most = 0.0;
    for (int32_t row = 1; row < ROWS; ++row) {
        memcpy(across, srPrimary_TurnAcross(&s.primary, &s.character, &s.tape, row - 1, row), bytes);
        for (int felt = 0; felt < 3; ++felt) {
            srPrimaryStep step = stepTo(row, 0.5 * felt);
            (void)srPrimary_Move(&s.primary, &s.character, &s.tape, &step);
            memcpy(share, srPrimary_TurnWithRoot(&s.primary, step.travelFelt), bytes);
            const srMat3* turns = srPrimary_TurnStep(&s.primary, &s.character, &s.tape, &step);
            for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
                srMat3 whole = felt < 2 ? srMul3(&turns[i], &share[i]) : turns[i];
                for (int k = 0; k < 9; ++k) {
                    assert_near(whole.m[k / 3][k % 3] - across[i].m[k / 3][k % 3], 0.0, 1e-12);
                    most = fmax(most, fabs(turns[i].m[k / 3][k % 3] - (k % 4 == 0 ? 1.0 : 0.0)));
                }
            }
        }
    }
    assert_true(most > 0.05);
    free(across);
    free(share);
    freeSetting(&s);
}

static srResult makePrimary(void* context) {
    srPrimary primary;
    srResult result = srCreatePrimary(context, &primary);
    srDestroyPrimary(&primary);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    Setting s;
    makeSetting(srTestRest, (srVec3){0.0, 0.0, 0.0}, &s);
    srTestEveryAllocationFails(makePrimary, &s.character);
    freeSetting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_jump_is_the_change_of_velocity),
        cmocka_unit_test(a_shot_that_begins_in_motion_begins_without_a_jump),
        cmocka_unit_test(rows_asked_for_out_of_order_are_the_same_to_the_bit),
        cmocka_unit_test(a_kilometre_away_the_motion_is_the_same),
        cmocka_unit_test(turns_of_a_step_are_those_across_it),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/primary", tests, NULL, srTestNothingLeaked);
}
