// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flesh that resists stretch more along its fibres than across them.

#include "flesh_body.h"

static const int32_t BAR[3] = {2, 6, 2};
#define SPACING 0.125

static void createFibres(FleshBody* body, srVec3 fibre, float hold, int32_t handleCount) {
    fleshCreate(body, BAR, SPACING, hold, handleCount);
    srVec3* fibres = calloc((size_t)body->cage.cellCount, sizeof(srVec3));
    assert_non_null(fibres);
    for (int32_t cell = 0; cell < body->cage.cellCount; ++cell) {
        fibres[cell] = fibre;
    }
    srFleshShape shape = fleshShapeOf(body, handleCount);
    shape.fibres = fibres;
    fleshRemake(body, &shape);
    free(fibres);
}

static srFleshDials stiffDials(double poisson) {
    srFleshDials dials = fleshDials(1e5, poisson);
    dials.sweeps = 40;
    dials.viscosity = 1.0;
    dials.dampingRate = 20.0;
    return dials;
}

// how much a body held at its foot grows, pulled along or sheared aside
static double findGrowth(srVec3 fibre, double poisson, srVec3f load) {
    FleshBody body;
    createFibres(&body, fibre, 1.0f, 0);
    srFleshDials dials = stiffDials(poisson);
    fleshTune(&body, &dials);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        body.loads[i] = load;
    }
    for (int frame = 0; frame < 200; ++frame) {
        fleshStep(&body);
    }
    srVec3f u = body.state.offsets[fleshTip(&body)];
    double growth = (double)(load.y > 0.0f ? u.y : u.x);
    fleshDestroy(&body);
    return growth;
}

// Without Poisson's ratio a bar that is pulled along is a row of springs of the modulus along it.
static void fibres_make_a_bar_stiffer_along_them_by_their_length(void** state) {
    (void)state;
    const srVec3f along = {0.0f, 0.05f, 0.0f};
    double plain = findGrowth((srVec3){0.0, 0.0, 0.0}, 0.0, along);
    assert_near(findGrowth((srVec3){0.0, 4.0, 0.0}, 0.0, along) / plain, 0.25,
                5e-3); // its cells shear a little
    assert_near(findGrowth((srVec3){0.0, 0.25, 0.0}, 0.0, along) / plain, 4.0,
                6e-2); // as long a way is not yet all over
    assert_near(findGrowth((srVec3){4.0, 0.0, 0.0}, 0.0, along) / plain, 1.0, 5e-3);
    // bending is stretch along the bar, and shear, which is stiffer by 8 / 5 in the planes of fibres of 4
    const srVec3f aside = {0.2f, 0.0f, 0.0f};
    double bent = findGrowth((srVec3){0.0, 4.0, 0.0}, 0.3, aside);
    double plainBent = findGrowth((srVec3){0.0, 1.0, 0.0}, 0.3, aside);
    print_message("bent: fibres along leave %.3f\n", bent / plainBent);
    assert_true(bent < 0.5 * plainBent && bent > 0.2 * plainBent);
}

static void fibres_of_one_are_none(void** state) {
    (void)state;
    uint64_t hashes[2];
    for (int k = 0; k < 2; ++k) {
        FleshBody body;
        createFibres(&body, k == 0 ? (srVec3){0.0, 0.0, 0.0} : (srVec3){0.0, 1.0, 0.0}, 1.0f, 4);
        srFleshDials dials = fleshDials(5e4, 0.5);
        fleshTune(&body, &dials);
        for (int frame = 1; frame <= 12; ++frame) {
            fleshShake(&body, frame, 0.1);
            fleshStep(&body);
        }
        hashes[k] = fleshHash(&body);
        fleshDestroy(&body);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void turned_and_mirrored_shapes_with_fibres_are_exactly_at_rest(void** state) {
    (void)state;
    for (int turn = 0; turn < 8; ++turn) {
        FleshBody body;
        createFibres(&body, (srVec3){1.0, 2.0, 3.0}, 1.0f, turn < 4 ? 0 : 6);
        srFleshDials dials = fleshDials(5e4, turn % 4 < 2 ? 0.3 : 0.5);
        dials.poseCorrection = 1.0;
        dials.isMirrored = turn % 2 == 1;
        fleshTune(&body, &dials);
        double angle = 0.7 * turn;
        double side = dials.isMirrored ? -1.0 : 1.0;
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 x = body.cage.nodes[i];
            body.from[i] = srToFloat((srVec3){side * (x.x * cos(angle) - x.y * sin(angle)),
                                              x.x * sin(angle) + x.y * cos(angle), x.z});
            body.to[i] = body.from[i];
        }
        for (int frame = 0; frame < 5; ++frame) {
            fleshStep(&body);
        }
        assert_true(fleshLargest(&body) == 0.0);
        fleshDestroy(&body);
    }
}

// fibres turn with the flesh: a bar that was turned as a whole and let go does not move
static void a_whole_turn_stirs_no_force(void** state) {
    (void)state;
    FleshBody body;
    createFibres(&body, (srVec3){2.0, 5.0, 0.0}, 0.0f, 0);
    srFleshDials dials = fleshDials(5e4, 0.3);
    fleshTune(&body, &dials);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        srVec3 x = body.cage.nodes[i];
        srVec3 turned = {0.6 * x.x - 0.8 * x.y, 0.8 * x.x + 0.6 * x.y, x.z};
        body.state.offsets[i] = srToFloat(srSub(turned, x));
    }
    srVec3f before = body.state.offsets[fleshTip(&body)];
    for (int frame = 0; frame < 24; ++frame) {
        fleshStep(&body);
    }
    srVec3f after = body.state.offsets[fleshTip(&body)];
    assert_near((double)srLengthF(srSubF(after, before)), 0.0, 1e-4); // of a tip 0.6 away
    fleshDestroy(&body);
}

// the coarse correction, the patches and one sweep: the swing is about that of many sweeps
static void all_parts_agree_on_what_fibres_are(void** state) {
    (void)state;
    double swings[2];
    for (int k = 0; k < 2; ++k) {
        FleshBody body;
        createFibres(&body, (srVec3){0.0, 4.0, 0.0}, 1.0f, k == 0 ? 0 : 16);
        srFleshDials dials = fleshDials(1e5, 0.5);
        dials.sweeps = k == 0 ? 20 : 1;
        dials.viscosity = 0.02;
        dials.substeps = 20;
        fleshTune(&body, &dials);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            body.loads[i].x = 0.2f;
        }
        double sum = 0.0;
        for (int frame = 0; frame < 240; ++frame) {
            fleshStep(&body);
            sum += (double)body.state.offsets[fleshTip(&body)].x / 240.0;
        }
        swings[k] = sum;
        fleshDestroy(&body);
    }
    print_message("mean sag with fibres: %.5f converged, %.5f by one sweep and handles\n", swings[0],
                  swings[1]);
    assert_near(swings[1] / swings[0], 1.0, 0.05);
}

// Four times as stiff along a beam that bends: nearly twice as fast, but for the shear, and so in the
// handles, if there are enough of them to bend it.
static void handles_know_of_fibres(void** state) {
    (void)state;
    double hertz[3];
    const srVec3 fibres[3] = {{0.0, 1.0, 0.0}, {0.0, 4.0, 0.0}, {4.0, 0.0, 0.0}};
    for (int k = 0; k < 3; ++k) {
        FleshBody body;
        createFibres(&body, fibres[k], 1.0f, SR_USUAL_HANDLES);
        srFleshDials dials = fleshDials(1e5, 0.3);
        dials.frameSeconds = 2.0;
        dials.substeps = 1;
        fleshTune(&body, &dials);
        hertz[k] = srFleshTuning_FindFrequency(&body.tuning, &body.rest);
        fleshDestroy(&body);
    }
    print_message("slowest swing: %.3f Hz, %.3f with fibres along, %.3f across\n", hertz[0], hertz[1],
                  hertz[2]);
    assert_true(hertz[1] > 1.4 * hertz[0] && hertz[1] < 2.01 * hertz[0]);
    assert_true(hertz[2] > 0.99 * hertz[0] && hertz[2] < 1.3 * hertz[0]);
}

// F is stretched in the block, and J with it: its modulus must make up for that, or fibres would be pressure
static void fibres_do_not_change_what_resists_pressure(void** state) {
    (void)state;
    float moduli[2];
    for (int k = 0; k < 2; ++k) {
        FleshBody body;
        createFibres(&body, (srVec3){0.0, k == 0 ? 1.0 : 4.0, 0.0}, 1.0f, 0);
        srFleshDials dials = fleshDials(1e5, 0.3);
        fleshTune(&body, &dials);
        float root = body.rest.fibres[0].root[0];
        assert_near((double)root, k == 0 ? 1.0 : 2.0, 1e-6);
        moduli[k] = body.tuning.forceMaterials[0].volume[0] * root * root;
        fleshDestroy(&body);
    }
    assert_true(moduli[0] > 0.0f);
    assert_near((double)(moduli[1] / moduli[0]), 1.0, 1e-5);
}

static void broken_fibres_are_refused_in_words(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, 0);
    srVec3* fibres = calloc((size_t)body.cage.cellCount, sizeof(srVec3));
    assert_non_null(fibres);
    fibres[3].y = (double)NAN;
    srFleshShape shape = {.nodes = body.cage.nodes,
                          .nodeCount = body.cage.nodeCount,
                          .cells = (const int32_t (*)[4])body.cage.cells,
                          .cellCount = body.cage.cellCount,
                          .holds = body.holds,
                          .boneDistances = body.distances,
                          .fibres = fibres};
    srFleshRest rest;
    assert_int_equal(srCreateFleshRest(&shape, &rest), sr_errorBadMesh);
    free(fibres);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibres_make_a_bar_stiffer_along_them_by_their_length),
        cmocka_unit_test(fibres_of_one_are_none),
        cmocka_unit_test(turned_and_mirrored_shapes_with_fibres_are_exactly_at_rest),
        cmocka_unit_test(a_whole_turn_stirs_no_force),
        cmocka_unit_test(all_parts_agree_on_what_fibres_are),
        cmocka_unit_test(handles_know_of_fibres),
        cmocka_unit_test(fibres_do_not_change_what_resists_pressure),
        cmocka_unit_test(broken_fibres_are_refused_in_words),
    };
    return cmocka_run_group_tests_name("solver/flesh_fibres", tests, NULL, srTestNothingLeaked);
}
