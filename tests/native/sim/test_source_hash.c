// SPDX-License-Identifier: GPL-3.0-or-later
//
// A hash of what rows come from: any input counts, and nothing but input.

#include "support/support.h"

#include "sim/source_hash.h"
#include "support/scenes.h"

#include <string.h>

#define FRAMES 5
#define ROW_FLOATS 48

static srTestScene scene;
static srCharacter character;
static srShotSource source;

static int prepareShot(void** state) {
    (void)state;
    srSource copy;
    if (!srTestCreateBarScene(&scene) || srCopySource(&scene.def, &copy) != sr_success) {
        return -1;
    }
    srResult result = srPrepareCharacter(&copy, NULL, &character);
    srDestroySource(&copy);
    source = (srShotSource){.character = &character, .def = {.frameCount = FRAMES, .frameRate = 24.0}};
    source.def.params.substeps = 10;
    if (result != sr_success || srCreateTape(FRAMES, ROW_FLOATS, &source.tape) != sr_success ||
        srCreateControlTrack(FRAMES, &source.controls) != sr_success) {
        return -1;
    }
    const float rows[FRAMES * ROW_FLOATS] = {1.0f};
    srTape_Write(&source.tape, 0, FRAMES, rows);
    return 0;
}

static int forgetShot(void** state) {
    srDestroyControlTrack(&source.controls);
    srDestroyTape(&source.tape);
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static uint64_t hashShot(void) {
    uint64_t hash = 0;
    assert_success(srHashShotSource(&source, &hash));
    return hash;
}

static void every_byte_of_the_dials_counts(void** state) {
    (void)state;
    uint64_t before = hashShot();
    assert_true(before == hashShot());
    unsigned char* bytes = (unsigned char*)&source.def.params;
    for (size_t i = offsetof(srShotParams, frequency); i < sizeof(srShotParams); ++i) {
        if (i >= offsetof(srShotParams, loop)) {
            continue; // a loop is another question
        }
        bytes[i] ^= 1;
        assert_true(before != hashShot());
        bytes[i] ^= 1;
    }
    source.def.frameRate = 25.0;
    assert_true(before != hashShot());
    source.def.frameRate = 24.0;
}

static void the_character_counts(void** state) {
    (void)state;
    uint64_t before = hashShot();
    double place = character.cage.nodes[0].x;
    character.cage.nodes[0].x += 1e-3;
    assert_true(before != hashShot());
    character.cage.nodes[0].x = place;
    assert_true(before == hashShot());
}

static void motion_counts_for_all_rows_only_in_a_loop(void** state) {
    (void)state;
    float* last = source.tape.rows + (size_t)(FRAMES - 1) * ROW_FLOATS;
    for (int32_t loop = sr_loopNone; loop <= sr_loopFirstFollowsLast; ++loop) {
        source.def.params.loop = loop;
        uint64_t before = hashShot();
        last[3] += 1.0f;
        assert_true((before != hashShot()) == (loop != sr_loopNone));
        last[3] -= 1.0f;
    }
    source.def.params.loop = sr_loopNone;
}

static void every_control_counts_and_no_hole(void** state) {
    (void)state;
    srFrameControls* controls = &source.controls.rows[2];
    uint64_t before = srHashSourceRow(7, &source, 2);
    assert_true(before != srHashSourceRow(8, &source, 2));
    unsigned char* bytes = (unsigned char*)controls;
    for (size_t i = offsetof(srFrameControls, gravity); i < offsetof(srFrameControls, isCut); ++i) {
        bytes[i] ^= 1;
        assert_true(before != srHashSourceRow(7, &source, 2));
        bytes[i] ^= 1;
    }
    controls->isCut = true;
    assert_true(before != srHashSourceRow(7, &source, 2));
    controls->isCut = false;
    for (size_t i = offsetof(srFrameControls, isCut) + sizeof(bool); i < sizeof(srFrameControls); ++i) {
        bytes[i] ^= 1;
        assert_true(before == srHashSourceRow(7, &source, 2));
    }
    source.tape.rows[2 * ROW_FLOATS] += 1.0f;
    assert_true(before != srHashSourceRow(7, &source, 2));
    source.tape.rows[2 * ROW_FLOATS] -= 1.0f;
}

static srResult hashAgain(void* context) {
    uint64_t hash = 0;
    (void)context;
    return srHashShotSource(&source, &hash);
}

static void every_failing_allocation_is_an_error(void** state) {
    (void)state;
    srTestEveryAllocationFails(hashAgain, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_the_dials_counts),
        cmocka_unit_test(the_character_counts),
        cmocka_unit_test(motion_counts_for_all_rows_only_in_a_loop),
        cmocka_unit_test(every_control_counts_and_no_hole),
        cmocka_unit_test(every_failing_allocation_is_an_error),
    };
    return cmocka_run_group_tests_name("sim/source_hash", tests, prepareShot, forgetShot);
}
