// SPDX-License-Identifier: GPL-3.0-or-later
//
// The artist's dials in the solvers' units.

#include "support/support.h"

#include "sim/dials.h"

#include <math.h>

static srBodySettings makeSettings(float frequency, float settleFrames, double size) {
    return (srBodySettings){
        .params = {.frequency = frequency,
                   .settleFrames = settleFrames,
                   .poissonRatio = 0.3f,
                   .density = 1000.0f},
        .frameRate = 24.0,
        .scale = 1.0,
        .size = size,
    };
}

static void a_swing_is_below_two_per_cent_after_the_settle_frames(void** state) {
    (void)state;
    for (float frames = 20.0f; frames < 200.0f; frames *= 2.0f) {
        srBodySettings settings = makeSettings(4.0f, frames, 1.0);
        double rate = srFindDampingRate(&settings);
        assert_near(exp(-0.5 * rate * (double)frames / 24.0), 0.02, 1e-12);
    }
}

static void damping_never_creeps_back(void** state) {
    (void)state;
    srBodySettings settings = makeSettings(1.0f, 1.0f, 1.0);
    double omega = 2.0 * 3.14159265358979 * 1.0;
    assert_near(srFindDampingRate(&settings), 2.0 * omega, 1e-9);
}

static void one_softness_fits_a_mouse_and_a_dinosaur(void** state) {
    (void)state;
    srBodySettings mouse = makeSettings(2.0f, 24.0f, 0.1);
    srBodySettings dinosaur = makeSettings(2.0f, 24.0f, 10.0);
    srMaterial small = srFindMaterial(&mouse);
    srMaterial large = srFindMaterial(&dinosaur);
    // the speed of a wave, sqrt(E / density), goes with the size
    assert_near(large.youngModulus / small.youngModulus, 1e4, 1e-6);
    assert_near(small.density, 1000.0, 0.0);
}

static void a_modulus_that_was_asked_for_is_taken(void** state) {
    (void)state;
    srBodySettings settings = makeSettings(2.0f, 24.0f, 1.0);
    settings.params.youngModulus = 5e4f;
    assert_near(srFindMaterial(&settings).youngModulus, 5e4, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swing_is_below_two_per_cent_after_the_settle_frames),
        cmocka_unit_test(damping_never_creeps_back),
        cmocka_unit_test(one_softness_fits_a_mouse_and_a_dinosaur),
        cmocka_unit_test(a_modulus_that_was_asked_for_is_taken),
    };
    return cmocka_run_group_tests_name("sim/dials", tests, NULL, srTestNothingLeaked);
}
