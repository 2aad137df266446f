// SPDX-License-Identifier: GPL-3.0-or-later
//
// Nodes of the complementary solver that do not leave the pose: zeros to the bit, whatever is played, and to
// the rest of the flesh what a pull without end would be.

#include "bone_bar.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;
static const double LENGTH = 6 * 0.2;

// fixes what lies between two heights, and prepares
static bool* fixFlesh(Flesh* f, HoldKind kind, double low, double high) {
    shapeFlesh(f, BAR, SPACING, 2, kind);
    bool* isFixed = calloc((size_t)f->cage.nodeCount, sizeof(bool));
    assert_non_null(isFixed);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        isFixed[i] = f->cage.nodes[i].y >= low && f->cage.nodes[i].y <= high;
    }
    f->shape.isFixed = isFixed;
    prepareFlesh(f);
    return isFixed;
}

static bool areFixedZeros(const Flesh* f, const bool* isFixed) {
    const srVec3 zero = {0.0, 0.0, 0.0};
    bool areZeros = true;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        for (int k = 0; k < 6 && isFixed[i]; ++k) {
            areZeros = areZeros && memcmp(&f->arrays[k][i], &zero, sizeof(zero)) == 0;
        }
    }
    return areZeros;
}

static void fixed_nodes_stay_in_the_pose_to_the_bit(void** state) {
    (void)state;
    static const srElasticModel MODELS[] = {sr_elasticArap, sr_elasticCorotated, sr_elasticNeoHookean,
                                            sr_elasticStVenantKirchhoff};
    static const double PARTS[][2] = {{0.9, 2.0}, {0.5, 0.7}, {-1.0, 2.0}};
    for (int k = 0; k < 3 * 3 * 4; ++k) {
        Flesh f;
        bool* isFixed = fixFlesh(&f, (HoldKind)(k % 3), PARTS[k / 3 % 3][0], PARTS[k / 3 % 3][1]);
        srComplementaryDials dials = fleshDials();
        dials.model = MODELS[k / 9];
        dials.poseCorrection = dials.model == sr_elasticArap ? 0.0 : 1.0;
        dials.swingFrequency = k % 2 == 0 ? 1.0 : 0.0;
        dials.integrator = k % 4 == 3 ? sr_integratorBackwardEuler : sr_integratorBdf2;
        dials.substeps = 1 + k % 2;
        dials.gravity = (srVec3){0.0, 0.0, -9.81};
        dials.tolerance = 1e-3;
        tuneFlesh(&f, &dials);
        double longest = 0.0;
        for (int frame = 1; frame <= 30; ++frame) {
            shakeFlesh(&f, frame, 0.1, 0.6);
            stepFlesh(&f);
            assert_true(areFixedZeros(&f, isFixed));
            longest = fmax(longest, longestOffset(&f));
            assert_true(findOverlap(&f) < 1e-8 || f.rest.rows.rowCount == 0);
        }
        bool isAllFixed = f.rest.fixedCount == f.cage.nodeCount;
        bool isInert = k % 3 == (int)hold_all; // or nearly
        assert_true(isAllFixed ? longest == 0.0 : isInert || longest > 1e-3);
        freeFlesh(&f);
        free(isFixed);
    }
}

static void what_is_fixed_is_what_a_pull_without_end_would_hold(void** state) {
    (void)state;
    static const float PULLS[] = {1e2f, 1e4f, 1e6f};
    double apart[3] = {0.0}, longest = 0.0;
    for (int k = 0; k < 3; ++k) {
        Flesh f[2];
        bool* isFixed = fixFlesh(&f[0], hold_axis, 0.7 * LENGTH, LENGTH);
        makeFlesh(&f[1], BAR, SPACING, 2, hold_axis);
        float* pulls = calloc((size_t)f[1].cage.nodeCount, sizeof(float));
        assert_non_null(pulls);
        for (int32_t i = 0; i < f[1].cage.nodeCount; ++i) {
            pulls[i] = isFixed[i] ? PULLS[k] : 1.0f;
        }
        for (int s = 0; s < 2; ++s) {
            srComplementaryDials dials = fleshDials();
            dials.nodePulls = s == 1 ? pulls : NULL;
            dials.tolerance = 1e-8;
            dials.integrator = sr_integratorBackwardEuler;
            tuneFlesh(&f[s], &dials);
        }
        for (int frame = 1; frame <= 20; ++frame) {
            for (int s = 0; s < 2; ++s) {
                shakeFlesh(&f[s], frame, 0.1, 0.6);
                stepFlesh(&f[s]);
            }
            for (int32_t i = 0; i < f[0].cage.nodeCount; ++i) {
                apart[k] = fmax(apart[k], srDistance(f[0].state.offsets[i], f[1].state.offsets[i]));
            }
            longest = fmax(longest, longestOffset(&f[0]));
        }
        for (int s = 0; s < 2; ++s) {
            freeFlesh(&f[s]);
        }
        free(isFixed);
        free(pulls);
    }
    print_message("of %.3f m pulls of 1e2, 1e4, 1e6 leave %.1e, %.1e, %.1e\n", longest, apart[0], apart[1],
                  apart[2]);
    // as the inverse of the pull, and to nothing
    assert_true(longest > 0.01 && apart[1] < 0.05 * apart[0] && apart[2] < 0.05 * apart[1]);
    assert_true(apart[2] < 1e-3 * longest);
}

static void nothing_fixed_changes_no_bit(void** state) {
    (void)state;
    Flesh f[2];
    makeFlesh(&f[0], BAR, SPACING, 2, hold_axis);
    bool* isFixed = fixFlesh(&f[1], hold_axis, 5.0, 6.0);
    assert_int_equal(f[1].rest.fixedCount, 0);
    for (int frame = 1; frame <= 10; ++frame) {
        for (int s = 0; s < 2; ++s) {
            shakeFlesh(&f[s], frame, 0.1, 0.6);
            stepFlesh(&f[s]);
        }
        for (int k = 0; k < 6; ++k) {
            size_t size = sizeof(srVec3) * (size_t)f[0].cage.nodeCount;
            assert_memory_equal(f[0].arrays[k], f[1].arrays[k], size);
        }
    }
    assert_true(longestOffset(&f[0]) > 0.01);
    freeFlesh(&f[0]);
    freeFlesh(&f[1]);
    free(isFixed);
}

static srResult makeRest(void* context) {
    srComplementaryRest rest;
    const srComplementaryShape* shape = context;
    srResult result = srCreateComplementaryRest(shape, &rest);
    if (result == sr_success) {
        srDestroyComplementaryRest(&rest);
    }
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    Flesh f;
    bool* isFixed = fixFlesh(&f, hold_axis, 0.9, 2.0);
    srTestEveryAllocationFails(makeRest, &f.shape);
    freeFlesh(&f);
    free(isFixed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_nodes_stay_in_the_pose_to_the_bit),
        cmocka_unit_test(what_is_fixed_is_what_a_pull_without_end_would_hold),
        cmocka_unit_test(nothing_fixed_changes_no_bit),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/complementary_fixed", tests, NULL, srTestNothingLeaked);
}
