// SPDX-License-Identifier: GPL-3.0-or-later
//
// Damping of the complementary solver against the rig's turning: a turntable does not brake.

#include "bone_bar.h"

#include "core/alloc.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;
static const srVec3 PIVOT = {1.5, 0.6, 0.2};

static srMat3 turnOf(double angle) {
    return (srMat3){{{cos(angle), -sin(angle), 0.0}, {sin(angle), cos(angle), 0.0}, {0.0, 0.0, 1.0}}};
}

// Turns steadily about the pivot for some frames; the offsets at the end, turned back, a number of nodes.
static void playTurntable(Flesh* f, const srComplementaryDials* dials, double perFrame, bool knowsTurns,
                          srVec3* out) {
    size_t n = (size_t)f->cage.nodeCount;
    srMat3* turns = calloc(n, sizeof(srMat3));
    for (size_t i = 0; i < n; ++i) {
        turns[i] = turnOf(perFrame);
    }
    tuneFlesh(f, dials);
    resetFlesh(f);
    f->turns = knowsTurns ? turns : NULL;
    const int frames = 260;
    for (int frame = 1; frame <= frames; ++frame) {
        for (int32_t k = 0; k < f->boneCount; ++k) {
            f->maps[k] = bendAbout(PIVOT, perFrame * frame);
        }
        stepFlesh(f);
        assert_int_equal(f->stats.missedCount, 0);
    }
    srMat3 back = turnOf(-perFrame * frames);
    for (size_t i = 0; i < n; ++i) {
        srVec3 u = f->state.offsets[i];
        out[i] =
            (srVec3){back.m[0][0] * u.x + back.m[0][1] * u.y, back.m[1][0] * u.x + back.m[1][1] * u.y, u.z};
    }
    f->turns = NULL;
    free(turns);
}

static double longestOf(const srVec3* x, const srVec3* y, int32_t count) {
    double longest = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        longest = fmax(longest, srDistance(x[i], y[i]));
    }
    return longest;
}

static void a_steady_turntable_is_not_braked_by_damping(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    size_t n = (size_t)f.cage.nodeCount;
    srVec3* zero = calloc(n, sizeof(srVec3));
    srVec3* ends[4] = {calloc(n, sizeof(srVec3)), calloc(n, sizeof(srVec3)), calloc(n, sizeof(srVec3)),
                       calloc(n, sizeof(srVec3))};
    for (int kind = 0; kind < 6; ++kind) {
        srComplementaryDials dials = fleshDials();
        bool isLess = kind >= 4; // late
        dials.swingFrequency = isLess ? 6.0 : 0.0;
        dials.integrator = kind % 2 == 0 || isLess ? sr_integratorBdf2 : sr_integratorBackwardEuler;
        dials.substeps = isLess ? 1 + 2 * (kind - 4) : 1 + 2 * (kind / 2);
        dials.tolerance = 1e-8;
        for (int run = 0; run < 4; ++run) {
            dials.dampingRate = run % 2 == 0 ? 4.0 : 8.0;
            playTurntable(&f, &dials, 0.2, run < 2, ends[run]);
        }
        double size = longestOf(ends[0], zero, f.cage.nodeCount);
        double turned = longestOf(ends[0], ends[1], f.cage.nodeCount) / size;
        double fixed = longestOf(ends[2], ends[3], f.cage.nodeCount) / size;
        print_message("%s, %d substeps: swung out %.4f, twice the damping changes %.1e; in the world %.1e\n",
                      isLess          ? "less late"
                      : kind % 2 == 0 ? "BDF2"
                                      : "Euler",
                      dials.substeps, size, turned, fixed);
        assert_true(size > 1e-4);
        // where each frame is one step the motion is the same in every frame; in between, the rig's lines are
        // not arcs, and u goes to and fro within a frame
        assert_true(turned < (dials.substeps == 1 ? 1e-5 : 5e-3));
        assert_true(turned < 0.2 * fixed); // what the turns are for
    }
    for (int k = 0; k < 4; ++k) {
        free(ends[k]);
    }
    free(zero);
    freeFlesh(&f);
}

static void turns_that_are_none_change_no_bit_and_broken_ones_stay_finite(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    size_t n = (size_t)f.cage.nodeCount;
    srMat3* turns = calloc(n, sizeof(srMat3));
    srVec3* first = calloc(n, sizeof(srVec3));
    const double broken[] = {(double)NAN, (double)INFINITY, -1.0, 1e300};
    for (int kind = 0; kind < 6; ++kind) {
        resetFlesh(&f);
        for (size_t i = 0; i < n; ++i) {
            turns[i] = turnOf(0.0);
            for (int k = 0; kind >= 2 && k < 9; ++k) {
                turns[i].m[k / 3][k % 3] = broken[kind - 2];
            }
        }
        f.turns = kind == 0 ? NULL : turns;
        for (int frame = 1; frame <= 12; ++frame) {
            shakeFlesh(&f, frame, 0.1, 0.5);
            stepFlesh(&f);
        }
        assert_true(longestOffset(&f) < 10.0 + 1e-9);
        if (kind == 0) {
            memcpy(first, f.state.offsets, n * sizeof(srVec3));
        }
        assert_true(kind != 1 || memcmp(first, f.state.offsets, n * sizeof(srVec3)) == 0);
    }
    f.turns = NULL;
    free(turns);
    free(first);
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_steady_turntable_is_not_braked_by_damping, srTestNothingLeaked),
        cmocka_unit_test_teardown(turns_that_are_none_change_no_bit_and_broken_ones_stay_finite,
                                  srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("solver/complementary_damping", tests, NULL, NULL);
}
