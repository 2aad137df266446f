// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing in a thread: the result arrives, can be cancelled at any time, and leaves nothing behind.

#include "support/support.h"

#include "core/thread.h"
#include "sim/preparation.h"
#include "support/scenes.h"

#include <string.h>

static void the_character_is_there_when_the_job_has_ended(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    srPreparation* preparation = NULL;
    assert_success(srStartPreparation(&scene.def, &preparation));
    // the caller's arrays may go at once
    srTestDestroyScene(&scene);
    srCharacter* character = NULL;
    if (srPreparation_GetCharacter(preparation, &character) != sr_success) {
        assert_string_not_equal(srGetErrorText(), "");
    }
    assert_true(srJob_Wait(srPreparation_GetJob(preparation), -1.0));
    assert_success(srPreparation_GetCharacter(preparation, &character));
    assert_true(character->cage.nodeCount > 100);
    assert_true(srJob_GetProgress(srPreparation_GetJob(preparation)) == 1.0f);
    srDestroyPreparation(preparation);
}

static void a_failure_is_told_with_its_sentence(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    memset((void*)scene.def.skinPositions, 0, 12 * (size_t)scene.def.skinVertexCount);
    srPreparation* preparation = NULL;
    srCharacter* character = NULL;
    assert_success(srStartPreparation(&scene.def, &preparation));
    assert_true(srJob_Wait(srPreparation_GetJob(preparation), -1.0));
    assert_result(srPreparation_GetCharacter(preparation, &character), sr_errorBadMesh);
    assert_null(character);
    srDestroyPreparation(preparation);
    srTestDestroyScene(&scene);
}

static void destroying_it_at_any_time_cancels_and_leaks_nothing(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    for (int trial = 0; trial < 12; ++trial) {
        srPreparation* preparation = NULL;
        assert_success(srStartPreparation(&scene.def, &preparation));
        double end = srGetSeconds() + 0.004 * trial;
        while (srGetSeconds() < end) {
            srYield();
        }
        srDestroyPreparation(preparation);
    }
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_character_is_there_when_the_job_has_ended),
        cmocka_unit_test(a_failure_is_told_with_its_sentence),
        cmocka_unit_test(destroying_it_at_any_time_cancels_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("sim/preparation", tests, NULL, srTestNothingLeaked);
}
