// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing shrinks as its dial says, however few substeps a frame has and however quick it is.

#include "flesh_judge.h"

static const int32_t BAR[3] = {2, 8, 2};
#define SPACING 0.125
#define START 0.01
#define FRAMES 30

// of offsets, along the mode
static double findAlong(const FleshBody* body, const Judge* judge) {
    double along = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        const double* mode = judge->mode + 3 * (size_t)i;
        srVec3 shape = {mode[0], mode[1], mode[2]};
        along += judge->fem.masses[i] * srDot(shape, srToDouble(body->state.offsets[i]));
    }
    return along;
}

// 1/s, of amplitudes x of all frames: the two numbers with which x[n + 1] = c x[n] - d x[n - 1] holds best
static double fitRate(const double* x) {
    double aa = 0.0, ab = 0.0, bb = 0.0, ay = 0.0, by = 0.0;
    for (int n = 1; n + 1 < FRAMES; ++n) {
        aa += x[n] * x[n];
        ab -= x[n] * x[n - 1];
        bb += x[n - 1] * x[n - 1];
        ay += x[n] * x[n + 1];
        by -= x[n - 1] * x[n + 1];
    }
    double d = (aa * by - ab * ay) / (aa * bb - ab * ab);
    return -24.0 * log(d);
}

static double measureRate(FleshBody* body, const Judge* judge, const srFleshDials* dials) {
    fleshTune(body, dials);
    putAt(body, judge->mode, judge->scale);
    double x[FRAMES];
    for (int frame = 0; frame < FRAMES; ++frame) {
        fleshStep(body);
        x[frame] = findAlong(body, judge);
    }
    return fitRate(x);
}

static void a_swing_shrinks_as_its_dial_says_at_any_substeps(void** state) {
    (void)state;
    static const double HERTZ[] = {1.0, 2.0, 3.0, 4.5, 6.0};
    static const double RATES[] = {3.0, 7.8};
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, SR_USUAL_HANDLES);
    for (int row = 0; row < 8; ++row) {
        double nu = row % 2 == 0 ? 0.3 : 0.45;
        double rate = RATES[row / 2 % 2];
        srFleshIntegrator integrator = row < 4 ? sr_fleshTheta : sr_fleshBdf2;
        Judge judge;
        createJudge(&body, 1e6, nu, START, &judge);
        for (int k = 0; k < SR_ARRAY_COUNT(HERTZ); ++k) {
            // however few are asked for, artists get enough
            assert_true(10.0 * HERTZ[k] <= 24.0 * srFindSubstepsWithHandles(1, HERTZ[k], 1.0 / 24.0));
            print_message("%s, Poisson %.2f, rate %.1f, %.1f Hz:", row < 4 ? "theta" : "BDF2", nu, rate,
                          HERTZ[k]);
            for (int32_t substeps = 1; substeps <= 20; ++substeps) {
                srFleshDials dials =
                    fleshDials(1e6 * HERTZ[k] * HERTZ[k] / (judge.frequency * judge.frequency), nu);
                dials.integrator = integrator;
                dials.dampingRate = rate;
                dials.swing = HERTZ[k];
                dials.substeps = substeps;
                double share = measureRate(&body, &judge, &dials) / rate;
                print_message(" %.2f", share);
                // a substep longer than an eighth of the swing may damp it more, but not less
                double aSwing = 24.0 * substeps / HERTZ[k];
                double most = aSwing >= 10.0 ? 1.1 : aSwing >= 8.0 ? 1.12 : (double)INFINITY;
                assert_true(share > 0.9 && share < most);
            }
            print_message("\n");
        }
        destroyJudge(&judge);
    }
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swing_shrinks_as_its_dial_says_at_any_substeps),
    };
    return cmocka_run_group_tests_name("solver/flesh_damping", tests, NULL, srTestNothingLeaked);
}
