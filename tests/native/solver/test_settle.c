// SPDX-License-Identifier: GPL-3.0-or-later
//
// Swings settle when they shall, whatever the step; and formulas that are less late step the same motion.

#include "bone_bar.h"

#include "solver/settle.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;

// What is left of a released swing after some steps, of position and velocity together, stepped literally.
static double playSwing(srSettling settling, double omega, double h, int steps) {
    double t = settling.lateness, whole = 1.0 + 0.5 * t, early = 0.5 * (1.0 - t), late = 0.5 * (1.0 + t);
    double x[3] = {1.0, 1.0, 1.0}, w[2] = {0.0, 0.0}, before = 0.0, after = 0.0;
    double pull = -omega * omega;
    for (int n = 0; n < 2 * steps; ++n) {
        double force = -omega * omega * x[0];
        double damped = pull - settling.dampingRate * (1.5 * x[0] - 2.0 * x[1] + 0.5 * x[2]) / h;
        double k = h * late / whole, base = ((1.0 + t) * x[0] - 0.5 * t * x[1] + h * early * w[0]) / whole;
        double speed = ((1.0 + t) * w[0] - 0.5 * t * w[1] + h * early * (n == 0 ? force : damped)) / whole;
        double carried = (4.0 * x[0] - x[1]) / 3.0, drag = 1.5 * settling.dampingRate / h;
        double next = (base / (k * k) + speed / k + drag * carried) / (1.0 / (k * k) + omega * omega + drag);
        double velocity = (next - base) / k;
        x[2] = x[1], x[1] = x[0], x[0] = next;
        w[1] = w[0], w[0] = velocity;
        pull = -omega * omega * next;
        double now = x[0] * x[0] + w[0] * w[0] / (omega * omega);
        before += n >= steps / 2 && n < steps ? now : 0.0;
        after += n >= steps + steps / 2 ? now : 0.0;
    }
    return sqrt(after / before);
}

static void a_swing_shrinks_as_fast_as_it_was_asked_to(void** state) {
    (void)state;
    for (int k = 0; k < 60; ++k) {
        double omega = 2.0 * PI * (1.0 + 7.0 * (k % 5) / 4.0), h = FRAME_SECONDS / (1 + k / 15);
        double rate = 0.02 * omega * pow(2.0, k / 5 % 3 * 1.5); // damping ratios of 0.01 to 0.08
        srSettling settling = srFindSettling(sr_integratorBdf2, omega, rate, h);
        assert_true(settling.lateness > 0.0 && settling.lateness <= 1.0);
        int steps = (int)ceil(2.0 / (rate * h));
        double shrunk = -2.0 * log(playSwing(settling, omega, h, steps)) / (steps * h);
        assert_near(shrunk / rate, 1.0, 0.03); // swings are caught where they are
    }
}

static void formula_and_damping_stay_within_their_bounds_whatever_is_asked(void** state) {
    (void)state;
    static const double OMEGAS[] = {1e-6, 1.0, 50.0, 1e4, 1e12}, RATES[] = {0.0, 1e-9, 1.0, 100.0, 1e12};
    for (int k = 0; k < 50; ++k) {
        srIntegrator integrator = k < 25 ? sr_integratorBdf2 : sr_integratorBackwardEuler;
        double omega = OMEGAS[k % 5];
        srSettling found = srFindSettling(integrator, omega, RATES[k / 5 % 5], FRAME_SECONDS);
        assert_true(found.lateness >= 0.0 && found.lateness <= 1.0);
        assert_true(found.dampingRate >= 0.0 && found.dampingRate <= 2.0 * omega);
        assert_true(integrator == sr_integratorBdf2 || found.lateness == 1.0);
    }
}

static void slow_swings_are_left_to_the_plain_formula(void** state) {
    (void)state;
    srSettling found = srFindSettling(sr_integratorBdf2, 2.0 * PI, 2.0, FRAME_SECONDS / 8.0);
    assert_near(found.lateness, 1.0, 0.0);
    assert_near(found.dampingRate, 2.0, 0.02);
}

// frames after which a plucked node's swing is below a fiftieth for good
static double settleFrames(Flesh* f, srIntegrator integrator, int32_t substeps, double hertz, double dial) {
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(0.0, 0.0, 1000.0);
    dials.frequency = dials.swingFrequency = hertz;
    dials.integrator = integrator;
    dials.substeps = substeps;
    dials.dampingRate = 2.0 * log(50.0) * 24.0 / dial;
    dials.tolerance = 1e-10;
    tuneFlesh(f, &dials);
    resetFlesh(f);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        f->arrays[0][i].x = f->arrays[2][i].x = f->arrays[3][i].x = 0.1;
        f->arrays[5][i].x = -0.1 * (2.0 * PI * hertz) * (2.0 * PI * hertz);
    }
    double envelope = 0.1, settled = 0.0, omega = 2.0 * PI * hertz;
    for (int frame = 1; frame <= 4 * (int)dial; ++frame) {
        stepFlesh(f);
        double u = f->state.offsets[0].x, w = f->state.velocities[0].x / omega;
        double now = sqrt(u * u + w * w);
        if (now < 0.002 && envelope >= 0.002) {
            settled = frame - 1 + log(envelope / 0.002) / log(envelope / now);
        }
        envelope = now;
    }
    return settled;
}

// A damping that is more than critical makes flesh creep back, later and not sooner; of one near to it hardly
// a swing is left that one could count.
static double findAllowance(double hertz, double dial) {
    double ratio = log(50.0) / FRAME_SECONDS / dial / (2.0 * PI * hertz);
    return ratio > 1.0 ? HUGE_VAL : ratio > 0.6 ? 0.15 : 0.1;
}

static void a_swing_settles_when_it_shall_whatever_the_substeps(void** state) {
    (void)state;
    static const double HERTZ[] = {1.0, 2.0, 4.0, 6.0, 8.0}, DIALS[] = {12.0, 24.0, 48.0, 120.0};
    static const int32_t ONE[3] = {1, 1, 1};
    Flesh f;
    makeFlesh(&f, ONE, SPACING, 1, hold_none);
    for (int32_t substeps = 1; substeps <= 8; ++substeps) {
        double worst = 0.0;
        for (int k = 0; k < 20; ++k) {
            double hertz = HERTZ[k / 4], dial = DIALS[k % 4], allowance = findAllowance(hertz, dial);
            double away = settleFrames(&f, sr_integratorBdf2, substeps, hertz, dial) / dial - 1.0;
            worst = allowance <= 0.1 ? fmax(worst, fabs(away)) : worst;
            assert_true(fabs(away) < allowance);
            // where slow swings are asked for, the plain formula does
            assert_true(hertz > 1.0 || f.tuning.lateness == 1.0);
            // a formula may do by itself what it is asked for, but must be damped on top
            assert_true(f.tuning.dampingRate > 0.0);
            double euler = settleFrames(&f, sr_integratorBackwardEuler, substeps, hertz, dial) / dial - 1.0;
            // it damps by itself: never slower than asked, and right where that is not enough
            assert_true(euler < allowance && (euler > -allowance || f.tuning.dampingRate == 0.0));
        }
        print_message("%d substeps, 1 to 8 Hz, 12 to 120 frames: off by %.1f %% at most\n", substeps,
                      100.0 * worst);
    }
    freeFlesh(&f);
}

// A shaken bar after half a second. To be as late as is asked for, no matter how short the steps, it must be
// asked for a swing that is as quick for them, and the damping which belongs to it be undone.
static void playShaken(Flesh* f, int32_t substeps, double hertz, double rate, srVec3* out) {
    srComplementaryDials dials = fleshDials();
    dials.substeps = substeps;
    dials.tolerance = 1e-9;
    dials.swingFrequency = hertz * substeps;
    dials.dampingRate = rate * substeps;
    tuneFlesh(f, &dials);
    float* shares = malloc(sizeof(float) * (size_t)f->cage.nodeCount);
    assert_non_null(shares);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        shares[i] = (float)(3.0 / f->tuning.dampingRate);
    }
    dials.nodeDampings = shares;
    tuneFlesh(f, &dials);
    free(shares);
    resetFlesh(f);
    for (int frame = 1; frame <= 12; ++frame) {
        shakeFlesh(f, frame, 0.1, 0.3);
        stepFlesh(f);
    }
    memcpy(out, f->state.offsets, sizeof(srVec3) * (size_t)f->cage.nodeCount);
}

static double findDistance(const srVec3* x, const srVec3* y, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        sum += srDot(srSub(x[i], y[i]), srSub(x[i], y[i]));
    }
    return sqrt(sum);
}

static void formulas_of_any_lateness_step_the_same_motion_to_second_order(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    int32_t n = f.cage.nodeCount;
    srVec3* rows = calloc(4 * (size_t)n, sizeof(srVec3));
    assert_non_null(rows);
    srVec3* zero = rows + 3 * (size_t)n;
    playShaken(&f, 64, 0.5, 0.5, rows);
    assert_near(f.tuning.lateness, 1.0, 0.0);
    double size = findDistance(rows, zero, n);
    for (int k = 0; k < 2; ++k) {
        double hertz = k == 0 ? 6.0 : 3.0, rate = k == 0 ? 3.0 : 8.0;
        playShaken(&f, 8, hertz, rate, rows + n);
        double lateness = f.tuning.lateness;
        assert_true(lateness > 0.05 && lateness < 0.95);
        playShaken(&f, 16, hertz, rate, rows + 2 * (size_t)n);
        assert_near(f.tuning.lateness, lateness, 1e-6);
        double coarse = findDistance(rows, rows + n, n), fine = findDistance(rows, rows + 2 * (size_t)n, n);
        print_message("lateness %.2f: off by %.2e and %.2e of %.3f, order %.2f\n", lateness, coarse / size,
                      fine / size, size, log2(coarse / fine));
        assert_true(fine < 0.02 * size && log2(coarse / fine) > 1.5);
    }
    free(rows);
    freeFlesh(&f);
}

static void a_pull_alone_swings_as_fast_as_its_dial(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 1, hold_none);
    for (int k = 0; k < 2; ++k) {
        srComplementaryDials dials = fleshDials();
        dials.material = srMakeMaterial(0.0, 0.0, k == 0 ? 1000.0 : 30.0);
        dials.frequency = k == 0 ? 0.5 : 7.0;
        srComplementarySwing swing;
        assert_success(srFindComplementarySwing(&f.rest, f.cage.nodes, &dials, &f.tuning, &swing));
        assert_near(swing.pull, 1.0, 1e-4);
        assert_near(swing.elastic, 0.0, 1e-4);
    }
    freeFlesh(&f);
}

static void flesh_that_cannot_move_swings_at_no_impossible_pace(void** state) {
    (void)state;
    static const int32_t ONE[3] = {1, 1, 1};
    Flesh f;
    makeFlesh(&f, ONE, SPACING, 2, hold_all);
    srComplementaryDials dials = fleshDials();
    srComplementarySwing swing;
    assert_success(srFindComplementarySwing(&f.rest, f.cage.nodes, &dials, &f.tuning, &swing));
    assert_true(swing.pull >= 0.0 && swing.elastic >= 0.0 && isfinite(swing.pull + swing.elastic));
    freeFlesh(&f);
}

// By its swings after a stop, sideways: undamped, in fine steps, from one turning point to the fifth
static double findPlayedHertz(Flesh* f, double hertz) {
    srComplementaryDials dials = fleshDials();
    dials.frequency = hertz;
    dials.dampingRate = 0.0;
    dials.substeps = 8;
    tuneFlesh(f, &dials);
    resetFlesh(f);
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        f->jump[i].x = 1e-3;
    }
    double before = 0.0, first = 0.0;
    int32_t count = 0;
    for (int frame = 0; frame < 400; ++frame) {
        srComplementaryMotion motion = {f->places[0], f->places[0], f->jump, NULL, NULL, 0.0};
        srComplementary_StepFrame(&f->rest, &f->tuning, &motion, &f->state, &f->stats);
        memset(f->jump, 0, sizeof(srVec3) * (size_t)f->cage.nodeCount);
        double now = 0.0;
        for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
            now += f->tuning.masses[i] * f->state.offsets[i].x;
        }
        if (frame > 0 && before * now < 0.0) {
            double at = frame - now / (now - before);
            first = count == 0 ? at : first;
            if (++count == 11) {
                return 5.0 / ((at - first) * FRAME_SECONDS);
            }
        }
        before = now;
    }
    fail_msg("%g Hz: it does not swing", hertz);
    return 0.0;
}

static void flesh_swings_as_fast_as_was_measured(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (double hertz = 0.5; hertz < 2.5; hertz *= 2.0) {
        srComplementaryDials dials = fleshDials();
        dials.frequency = hertz;
        srComplementarySwing swing;
        assert_success(srFindComplementarySwing(&f.rest, f.cage.nodes, &dials, &f.tuning, &swing));
        double measured = hertz * sqrt(swing.pull + swing.elastic), played = findPlayedHertz(&f, hertz);
        print_message("%.3f Hz measured, %.3f played\n", measured, played);
        assert_near(measured / played, 1.0, 0.1);
    }
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swing_shrinks_as_fast_as_it_was_asked_to),
        cmocka_unit_test(formula_and_damping_stay_within_their_bounds_whatever_is_asked),
        cmocka_unit_test(slow_swings_are_left_to_the_plain_formula),
        cmocka_unit_test(a_swing_settles_when_it_shall_whatever_the_substeps),
        cmocka_unit_test(formulas_of_any_lateness_step_the_same_motion_to_second_order),
        cmocka_unit_test(a_pull_alone_swings_as_fast_as_its_dial),
        cmocka_unit_test(flesh_that_cannot_move_swings_at_no_impossible_pace),
        cmocka_unit_test(flesh_swings_as_fast_as_was_measured),
    };
    return cmocka_run_group_tests_name("solver/settle", tests, NULL, srTestNothingLeaked);
}
