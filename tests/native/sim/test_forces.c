// SPDX-License-Identifier: GPL-3.0-or-later
//
// Outside forces on a cube of flesh, where areas, masses and pressures are known.

#include "support/support.h"

#include "sim/controls.h"
#include "sim/forces.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>

typedef struct Setting {
    srTestScene scene;
    srCharacter character;
    srForces forces;
    srVec3* places;
    srMat34* maps;
    srFrameControls controls;
    float restGravity[3];
} Setting;

static void makeSetting(Setting* s) {
    *s = (Setting){.controls = srMakeDefaultControls()};
    assert_true(srTestCreateBarScene(&s->scene));
    srSource source;
    assert_success(srCopySource(&s->scene.def, &source));
    assert_success(srPrepareCharacter(&source, NULL, &s->character));
    srDestroySource(&source);
    assert_success(srCreateForces(&s->character, &s->forces));
    s->places = calloc((size_t)s->character.cage.nodeCount, sizeof(srVec3));
    s->maps = calloc((size_t)s->character.rig.boneCount + 1, sizeof(srMat34));
    assert_true(s->places != NULL && s->maps != NULL);
    for (int32_t i = 0; i < s->character.cage.nodeCount; ++i) {
        s->places[i] = s->character.cage.nodes[i];
    }
    for (int32_t k = 0; k <= s->character.rig.boneCount; ++k) {
        s->maps[k] = srIdentity34();
    }
}

static void freeSetting(Setting* s) {
    free(s->places);
    free(s->maps);
    srDestroyForces(&s->forces);
    srDestroyCharacterRest(&s->character);
    srTestDestroyScene(&s->scene);
}

static const srVec3f* find(Setting* s, double seconds) {
    srForcesFrame frame = {
        .controls = &s->controls,
        .restGravity = s->restGravity,
        .maps = s->maps,
        .places = s->places,
        .seconds = seconds,
        .size = 1.0,
        .volumeScale = 1.0,
        .density = 1000.0,
    };
    return srForces_Find(&s->forces, &s->character, &frame);
}

// sum of m a over all nodes
static srVec3 sumForces(const Setting* s, const srVec3f* accelerations) {
    srVec3 sum = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < s->character.cage.nodeCount; ++i) {
        sum = srMulAdd(sum, 1000.0 * (double)s->character.body.nodeVolumes[i], srToDouble(accelerations[i]));
    }
    return sum;
}

static void without_controls_nothing_pushes(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    assert_null(find(&s, 0.0));
    freeSetting(&s);
}

static void gravity_is_the_same_everywhere(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    s.controls.gravity[2] = -9.81f;
    const srVec3f* a = find(&s, 0.0);
    assert_non_null(a);
    for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
        assert_true(a[i].x == 0.0f && a[i].y == 0.0f && a[i].z == -9.81f);
    }
    freeSetting(&s);
}

static void gravity_turns_with_the_shape_that_was_modelled_under_it(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    s.controls.gravity[2] = s.restGravity[2] = -9.81f;
    for (int32_t k = 0; k <= s.character.rig.boneCount; ++k) {
        s.maps[k] = (srMat34){{{1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}}}; // turned over about x
    }
    const srVec3f* a = find(&s, 0.0);
    for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
        assert_near((double)a[i].z, -2.0 * 9.81, 1e-5);
    }
    freeSetting(&s);
}

// the bar's side is 0.25 x 1: both the windward and the lee side push with 1/2 rho v^2
static void wind_pushes_with_the_pressure_of_air(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    s.controls.wind[0] = 10.0f;
    srVec3 force = sumForces(&s, find(&s, 3.0));
    assert_near(force.x, 2.0 * 0.5 * 1.2 * 100.0 * 0.25, 1e-4);
    assert_near(force.y, 0.0, 1e-4);
    assert_near(force.z, 0.0, 1e-4);
    s.controls.wind[0] = -20.0f;
    assert_near(sumForces(&s, find(&s, 3.0)).x, -4.0 * 2.0 * 0.5 * 1.2 * 100.0 * 0.25, 1e-3);
    freeSetting(&s);
}

static void gusts_swell_and_drop_and_are_the_same_each_time(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    s.controls.wind[0] = 10.0f;
    s.controls.windGusts = 0.8f;
    double least = INFINITY;
    double most = 0.0;
    for (int i = 0; i < 200; ++i) {
        double force = sumForces(&s, find(&s, 0.1 * i)).x;
        assert_true(force == sumForces(&s, find(&s, 0.1 * i)).x);
        least = fmin(least, force);
        most = fmax(most, force);
    }
    assert_true(least < 15.0 && most > 50.0); // steady: 30
    s.controls.windGusts = 0.0f;
    assert_true(sumForces(&s, find(&s, 1.0)).x == sumForces(&s, find(&s, 7.7)).x);
    freeSetting(&s);
}

static void no_pose_gives_anything_but_numbers(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    s.controls.wind[1] = 1e4f;
    s.controls.windGusts = 1.0f;
    s.controls.gravity[0] = 1e6f;
    s.restGravity[0] = -1e6f;
    uint64_t seed = 7;
    for (int round = 0; round < 50; ++round) {
        double scale = pow(10.0, 60.0 * srTestRandom(&seed) - 30.0);
        for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
            s.places[i] = (srVec3){scale * srTestRandom(&seed), scale, 0.0};
        }
        for (int32_t k = 0; k <= s.character.rig.boneCount; ++k) {
            s.maps[k].m[round % 3][k % 3] = scale * (srTestRandom(&seed) - 0.5);
        }
        const srVec3f* a = find(&s, 1e9);
        for (int32_t i = 0; i < s.character.cage.nodeCount; ++i) {
            assert_true(isfinite(a[i].x) && isfinite(a[i].y) && isfinite(a[i].z));
        }
    }
    freeSetting(&s);
}

static srResult makeForces(void* context) {
    srForces forces;
    SR_TRY(srCreateForces(context, &forces));
    srDestroyForces(&forces);
    return sr_success;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    Setting s;
    makeSetting(&s);
    srTestEveryAllocationFails(makeForces, &s.character);
    freeSetting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_controls_nothing_pushes),
        cmocka_unit_test(gravity_is_the_same_everywhere),
        cmocka_unit_test(gravity_turns_with_the_shape_that_was_modelled_under_it),
        cmocka_unit_test(wind_pushes_with_the_pressure_of_air),
        cmocka_unit_test(gusts_swell_and_drop_and_are_the_same_each_time),
        cmocka_unit_test(no_pose_gives_anything_but_numbers),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/forces", tests, NULL, srTestNothingLeaked);
}
