// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fast solver with BDF2: its order in time, what it damps by itself beside the other choices, and what a
// formula that remembers must keep: rest, bits, the motion it was stopped in, and the rig's turns of speed.

#include "flesh_judge.h"

static const int32_t BAR[3] = {2, 8, 2};
#define SPACING 0.125
#define START 0.02

typedef struct Choice {
    const char* name;
    srFleshIntegrator integrator;
    double viscosity;
    int32_t sweeps;
} Choice;

static const Choice CHOICES[] = {
    {"theta 0.7", sr_fleshTheta, 0.0, 1},
    {"theta 1", sr_fleshTheta, 1.0, 1},
    {"BDF2", sr_fleshBdf2, 0.0, 1},
};

static srFleshDials choose(const Choice* choice, double young, double poisson, int32_t substeps) {
    srFleshDials dials = fleshDials(young, poisson);
    dials.integrator = choice->integrator;
    dials.viscosity = choice->viscosity;
    dials.sweeps = choice->sweeps;
    dials.substeps = substeps;
    return dials;
}

#define YOUNG 4e5
#define FINEST 64

// How far along its shape the first swing is after half a second, each substep solved as far as floats go:
// what a bend stretches along with it trembles too quickly for any of these steps, and is left out.
static double playExactly(FleshBody* body, const Judge* judge, const Choice* choice, int32_t substeps) {
    srFleshDials dials = choose(choice, YOUNG, 0.3, substeps);
    dials.sweeps = 500;
    dials.frameSeconds = 1.0 / 6.0;
    dials.viscosity = 1.0;
    fleshTune(body, &dials);
    putAt(body, judge->mode, judge->scale);
    for (int frame = 0; frame < 3; ++frame) {
        fleshStep(body);
    }
    double along = 0.0, whole = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        const double* mode = judge->mode + 3 * (size_t)i;
        srVec3 shape = {mode[0], mode[1], mode[2]};
        along += judge->fem.masses[i] * srDot(shape, srToDouble(body->state.offsets[i]));
        whole += judge->fem.masses[i] * srDot(shape, srScale(judge->scale, shape));
    }
    return along / whole;
}

static void its_error_goes_with_the_square_of_the_substep(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, 0);
    Judge judge;
    createJudge(&body, YOUNG, 0.3, START, &judge);
    double exact = playExactly(&body, &judge, &CHOICES[2], FINEST);
    double orders[2];
    for (int c = 0; c < 2; ++c) {
        const Choice* choice = &CHOICES[2 - c]; // BDF2, implicit Euler
        double errors[3];
        for (int k = 0; k < 3; ++k) {
            errors[k] = fabs(playExactly(&body, &judge, choice, 2 << k) - exact);
        }
        orders[c] = log2(errors[1] / errors[2]);
        print_message("%s: 2, 4, 8 substeps %.2e %.2e %.2e of the swing, order %.2f\n", choice->name,
                      errors[0], errors[1], errors[2], orders[c]);
    }
    assert_true(orders[0] > 1.8 && orders[0] < 2.3);
    assert_true(orders[1] < 1.2);
    destroyJudge(&judge);
    fleshDestroy(&body);
}

typedef struct Swing {
    double hertz;
    double damping; // of critical
} Swing;

// of the tip, from the first mode on: crossings, and the logarithmic decrement of a half swing
static Swing measureSwing(FleshBody* body, int frameCount) {
    int32_t tip = fleshTip(body);
    double last = 1.0, first = 0.0, latest = 0.0, farthest = 0.0, before = 0.0, decrement = 0.0;
    int crossings = 0, halves = 0;
    for (int frame = 1; frame <= frameCount; ++frame) {
        fleshStep(body);
        double now = (double)body->state.offsets[tip].x;
        if ((now < 0.0) != (last < 0.0)) {
            if (crossings > 0 && farthest < 1e-3 * START) {
                break;
            }
            decrement += before > 0.0 ? log(before / farthest) : 0.0;
            halves += before > 0.0;
            before = crossings > 0 ? farthest : 0.0;
            farthest = 0.0;
            latest = frame - 1 + last / (last - now);
            first = crossings == 0 ? latest : first;
            ++crossings;
        }
        farthest = fmax(farthest, fabs(now));
        last = now;
    }
    assert_true(halves > 0);
    return (Swing){12.0 * (crossings - 1) / (latest - first), decrement / halves / 3.141592653589793};
}

// With handles, as artists get it. Theta 0.7 damps as a viscosity of 0.4 h, implicit Euler as one of h.
static void it_damps_a_swing_a_fifth_as_much_as_late_forces(void** state) {
    (void)state;
    static const double YOUNGS[] = {1e6, 1e7};
    static const int32_t SUBSTEPS[] = {3, 5, 10};
    static const int32_t BEAM[3] = {3, 12, 3};
    for (int row = 0; row < 2; ++row) {
        FleshBody body;
        fleshCreate(&body, BEAM, 1.0 / 12.0, 1.0f, SR_USUAL_HANDLES);
        Judge judge;
        createJudge(&body, YOUNGS[row], 0.3, START, &judge);
        double damping[3][3];
        for (int c = 0; c < 3; ++c) {
            print_message("E %.0e, %.2f Hz, %-9s:", YOUNGS[row], judge.frequency, CHOICES[c].name);
            for (int k = 0; k < 3; ++k) {
                srFleshDials dials = choose(&CHOICES[c], YOUNGS[row], 0.3, SUBSTEPS[k]);
                fleshTune(&body, &dials);
                putAt(&body, judge.mode, judge.scale);
                Swing swing = measureSwing(&body, 240);
                damping[c][k] = swing.damping;
                double away = swing.hertz / judge.frequency - 1.0;
                print_message("   %2d substeps %+5.1f %%, damped %7.4f", SUBSTEPS[k], 100.0 * away,
                              swing.damping);
                // damping slows a swing, and a step h by (1/3 - theta (1 - theta)) (h omega)^2, which is 1/3
                // of it with BDF2
                double step = 6.283185307179586 * judge.frequency / (24.0 * SUBSTEPS[k]);
                double theta = c == 0 ? 0.7 : 1.0;
                double own = sqrt(1.0 - swing.damping * swing.damping) -
                             (1.0 / 3.0 - theta * (1.0 - theta)) * step * step;
                assert_near((1.0 + away) / own, 1.0, 0.05);
            }
            print_message("\n");
        }
        for (int k = 0; k < 3; ++k) {
            assert_true(damping[0][k] < 0.6 * damping[1][k]);
            assert_true(damping[2][k] < 0.2 * damping[0][k]);
        }
        destroyJudge(&judge);
        fleshDestroy(&body);
    }
}

// 10,000 substeps in twenty parts: mean energy of the last part over that of the first, and the most that any
// part had.
static double findDrift(FleshBody* body, const Judge* judge, const srFleshDials* dials, double* outMost) {
    fleshTune(body, dials);
    putAt(body, judge->mode, judge->scale);
    double first = 0.0;
    double mean = 0.0;
    *outMost = 0.0;
    for (int part = 0; part < 20; ++part) {
        int frameCount = 500 / dials->substeps;
        mean = 0.0;
        for (int frame = 0; frame < frameCount; ++frame) {
            fleshStep(body);
            mean += fleshEnergy(body, &judge->fem) / frameCount;
        }
        first = part == 0 ? mean : first;
        *outMost = fmax(*outMost, mean / first);
    }
    return mean / first;
}

static void energy_over_ten_thousand_steps(void** state) {
    (void)state;
    static const Choice KINDS[] = {
        {"theta 1/2, 12 sweeps", sr_fleshTheta, 0.0, 12},
        {"BDF2, 12 sweeps", sr_fleshBdf2, 0.0, 12},
        {"theta 0.7", sr_fleshTheta, 0.0, 1},
        {"theta 1", sr_fleshTheta, 1.0, 1},
        {"BDF2", sr_fleshBdf2, 0.0, 1},
    };
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, SR_USUAL_HANDLES);
    Judge judge;
    createJudge(&body, 1e5, 0.3, START, &judge);
    double left[5];
    for (int k = 0; k < 5; ++k) {
        srFleshDials dials = choose(&KINDS[k], 1e5, 0.3, 5);
        double most;
        left[k] = findDrift(&body, &judge, &dials, &most);
        print_message("%-20s: %.4f of the energy left, at most %.4f\n", KINDS[k].name, left[k], most);
        // a part may end anywhere in a swing
        assert_true(most < 1.02);
    }
    assert_near(left[0], 1.0, 0.02);
    assert_true(left[1] > left[3] && left[4] > left[2] && left[2] > left[3]);

    // a third of the damping of the add-on's longest swing
    const double ratios[] = {0.0, 0.3, 0.45, 0.5};
    for (int k = 0; k < 8; ++k) {
        srFleshDials dials = choose(&CHOICES[2], k < 4 ? 1e5 : 1e6, ratios[k % 4], 3);
        dials.dampingRate = 1.0;
        double most;
        double share = findDrift(&body, &judge, &dials, &most);
        assert_true(share < 1e-3);
    }
    destroyJudge(&judge);
    fleshDestroy(&body);
}

static void rest_and_a_steady_rig_are_exactly_at_rest(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, 6);
    srFleshDials dials = choose(&CHOICES[2], 5e4, 0.5, 3);
    fleshTune(&body, &dials);
    for (int frame = 1; frame <= 6; ++frame) {
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 x = body.cage.nodes[i];
            body.from[i] = srToFloat((srVec3){x.x, x.y + 0.1 * frame * x.x, 0.4 * x.z});
            body.to[i] = srToFloat((srVec3){x.x, x.y + 0.1 * (frame + 1) * x.x, 0.4 * x.z});
        }
        assert_int_equal(fleshStep(&body), 0);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            assert_true(srDotF(body.state.offsets[i], body.state.offsets[i]) == 0.0f);
            assert_true(srDotF(body.state.velocities[i], body.state.velocities[i]) == 0.0f);
        }
    }
    fleshDestroy(&body);
}

// what neither cells nor pulls hold stays where it is in the world, however the rig moves
static void a_rig_that_shakes_leaves_what_is_loose_where_it_is(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 0.0f, 0);
    srFleshDials dials = choose(&CHOICES[2], 0.0, 0.3, 3);
    dials.largestOffset = 10.0;
    fleshTune(&body, &dials);
    for (int frame = 1; frame <= 24; ++frame) {
        fleshShake(&body, frame, 0.2);
        fleshStep(&body);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            // the rig's velocity was that of the sine's first step before it began; and rounding
            double start = 0.2 * sin(12.566370614359172 / 24.0 * -1.0) * frame;
            double x = (double)body.to[i].x + (double)body.state.offsets[i].x;
            assert_near(x - body.cage.nodes[i].x, -start, 2e-5 * frame);
        }
    }
    fleshDestroy(&body);
}

static void copyState(const FleshBody* from, FleshBody* to) {
    size_t bytes = (size_t)from->cage.nodeCount * sizeof(srVec3f);
    memcpy(to->state.offsets, from->state.offsets, bytes);
    memcpy(to->state.velocities, from->state.velocities, bytes);
    memcpy(to->state.earlierOffsets, from->state.earlierOffsets, bytes);
    memcpy(to->state.earlierVelocities, from->state.earlierVelocities, bytes);
    to->state.pastSeconds = from->state.pastSeconds;
}

static uint64_t goOn(FleshBody* body, int first, int last) {
    for (int frame = first; frame <= last; ++frame) {
        fleshShake(body, frame, 0.1);
        fleshStep(body);
    }
    return fleshHash(body);
}

static void a_state_is_all_it_goes_on_from(void** state) {
    (void)state;
    FleshBody bodies[2];
    for (int k = 0; k < 2; ++k) {
        fleshCreate(&bodies[k], BAR, SPACING, 1.0f, 6);
        srFleshDials dials = choose(&CHOICES[2], 1e5, 0.45, 3);
        fleshTune(&bodies[k], &dials);
    }
    goOn(&bodies[0], 1, 7);
    goOn(&bodies[1], 1, 3); // its scratch knows another past
    copyState(&bodies[0], &bodies[1]);
    assert_true(bodies[0].state.pastSeconds > 0.0);
    uint64_t whole = goOn(&bodies[0], 8, 15);
    assert_true(goOn(&bodies[1], 8, 15) == whole);

    // a cut: whatever was earlier is not looked at
    uint64_t hashes[2];
    for (int k = 0; k < 2; ++k) {
        copyState(&bodies[0], &bodies[1]);
        bodies[1].state.pastSeconds = 0.0;
        for (int32_t i = 0; k == 1 && i < bodies[1].cage.nodeCount; ++i) {
            bodies[1].state.earlierOffsets[i].x = (float)NAN;
            bodies[1].state.earlierVelocities[i].y = 1e30f;
        }
        hashes[k] = goOn(&bodies[1], 16, 16);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(goOn(&bodies[0], 16, 16) != hashes[0]);

    // another length of substep is one as well
    for (int k = 0; k < 2; ++k) {
        copyState(&bodies[0], &bodies[1]);
        srFleshDials dials = choose(&CHOICES[2], 1e5, 0.45, 4);
        fleshTune(&bodies[1], &dials);
        bodies[1].state.pastSeconds *= k;
        hashes[k] = goOn(&bodies[1], 17, 17);
    }
    assert_true(hashes[0] == hashes[1]);
    fleshDestroy(&bodies[0]);
    fleshDestroy(&bodies[1]);
}

static uint64_t shakeLarge(void) {
    static const int32_t LARGE[3] = {8, 24, 8};
    FleshBody body;
    fleshCreate(&body, LARGE, 0.1, 1.0f, 8);
    srFleshDials dials = choose(&CHOICES[2], 5e4, 0.48, 5);
    fleshTune(&body, &dials);
    uint64_t hash = goOn(&body, 1, 4);
    assert_true(fleshLargest(&body) > 1e-3);
    fleshDestroy(&body);
    return hash;
}

static void workers_and_vector_widths_do_not_change_a_bit(void** state) {
    (void)state;
    fleshAssertSameBits(shakeLarge);
}

static void torture_ends_at_rest(void** state) {
    (void)state;
    static const int32_t SMALL[3] = {1, 3, 1};
    static const float WILD[] = {0.0f, 1e30f, -1e30f, 1e-40f, 3.0f, (float)NAN, (float)INFINITY, 1e5f};
    FleshBody body;
    fleshCreate(&body, SMALL, 0.2, 1.0f, 3);
    uint64_t seed = 29;
    for (int frame = 0; frame < 10000; ++frame) {
        if (frame % 50 == 0) {
            srFleshDials dials = choose(&CHOICES[2], pow(10.0, 9.0 * srTestRandom(&seed)),
                                        0.5 * srTestRandom(&seed), 1 + (int32_t)(8.0 * srTestRandom(&seed)));
            dials.integrator = srTestRandom(&seed) < 0.8 ? sr_fleshBdf2 : sr_fleshTheta;
            dials.poseCorrection = srTestRandom(&seed) < 0.5 ? 0.0 : srTestRandom(&seed);
            fleshTune(&body, &dials);
        }
        bool isWild = srTestRandom(&seed) < 0.2;
        for (int32_t i = 0; isWild && i < body.cage.nodeCount; ++i) {
            float* numbers[4] = {&body.from[i].x, &body.to[i].x, &body.jump[i].x, &body.loads[i].x};
            for (int n = 0; n < 12; ++n) {
                float number = srTestRandom(&seed) < 0.2 ? WILD[(int)(8.0 * srTestRandom(&seed)) % 8]
                                                         : (float)srTestRandom(&seed);
                numbers[n / 3][n % 3] = srTestRandom(&seed) < 0.3 ? number : numbers[n / 3][n % 3];
            }
        }
        fleshStep(&body);
        assert_true(fleshIsFinite(&body));
        assert_true(fleshLargest(&body) <= 1.00001);
    }
    srFleshDials dials = choose(&CHOICES[2], 5e4, 0.3, 5);
    dials.dampingRate = 8.0;
    dials.frequency = 2.0;
    fleshTune(&body, &dials);
    memset(body.jump, 0, (size_t)body.cage.nodeCount * sizeof(srVec3f));
    memset(body.loads, 0, (size_t)body.cage.nodeCount * sizeof(srVec3f));
    fleshSetPose(body.from, &body);
    fleshSetPose(body.to, &body);
    for (int frame = 0; frame < 400; ++frame) {
        fleshStep(&body);
    }
    assert_true(fleshLargest(&body) == 0.0);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_error_goes_with_the_square_of_the_substep),
        cmocka_unit_test(it_damps_a_swing_a_fifth_as_much_as_late_forces),
        cmocka_unit_test(energy_over_ten_thousand_steps),
        cmocka_unit_test(rest_and_a_steady_rig_are_exactly_at_rest),
        cmocka_unit_test(a_rig_that_shakes_leaves_what_is_loose_where_it_is),
        cmocka_unit_test(a_state_is_all_it_goes_on_from),
        cmocka_unit_test(workers_and_vector_widths_do_not_change_a_bit),
        cmocka_unit_test(torture_ends_at_rest),
    };
    return cmocka_run_group_tests_name("solver/flesh_bdf2", tests, NULL, srTestNothingLeaked);
}
