// SPDX-License-Identifier: GPL-3.0-or-later

#include "support/support.h"

#include "sim/swing.h"

#include <math.h>

#define FRAME (1.0 / 24.0)

// x and its velocity, stepped by both formulas literally; from there the swing that four rows in a line tell:
// x_n+1 = a x_n - b x_n-1
static srSwing readSwing(const double x[4], double h) {
    double determinant = x[1] * x[1] - x[0] * x[2];
    double a = (x[1] * x[2] - x[0] * x[3]) / determinant;
    double b = (x[2] * x[2] - x[1] * x[3]) / determinant;
    double sigma = -0.5 * log(b) / h;
    double omega = acos(0.5 * a / sqrt(b)) / h;
    return (srSwing){sqrt(sigma * sigma + omega * omega), 2.0 * sigma};
}

static srSwing playBdf2(srSwing swing, double h) {
    double x[3] = {1.0, 1.0, 1.0};
    double w[3] = {0.0, 0.0, 0.0};
    double seen[4] = {0.0};
    for (int n = 0; n < 40; ++n) {
        // (3 x - 4 x1 + x0) / 2h = w,  (3 w - 4 w1 + w0) / 2h = -omega^2 x - rate w
        double k = 2.0 * h / 3.0;
        double p = (4.0 * x[1] - x[0]) / 3.0;
        double q = (4.0 * w[1] - w[0]) / 3.0;
        w[2] = (q - k * swing.omega * swing.omega * p) /
               (1.0 + k * swing.rate + k * k * swing.omega * swing.omega);
        x[2] = p + k * w[2];
        for (int i = 0; i < 2; ++i) {
            x[i] = x[i + 1];
            w[i] = w[i + 1];
        }
        for (int i = 0; i < 3; ++i) {
            seen[i] = seen[i + 1];
        }
        seen[3] = x[2];
    }
    return readSwing(seen, h);
}

static srSwing playTheta(srSwing swing, int32_t steps, double theta) {
    double h = theta * FRAME / steps;
    double x = 1.0, w = 0.0, seen[4] = {0.0};
    for (int n = 0; n < 6 * steps; ++n) {
        double end = (w - h * swing.omega * swing.omega * x) /
                     (1.0 + h * swing.rate + h * h * swing.omega * swing.omega);
        x += h * end / theta;
        w += (end - w) / theta;
        if ((n + 1) % steps == 0) {
            for (int i = 0; i < 3; ++i) {
                seen[i] = seen[i + 1];
            }
            seen[3] = x;
        }
    }
    return readSwing(seen, FRAME);
}

static void a_frame_of_bdf2_shows_what_is_foretold(void** state) {
    (void)state;
    for (int k = 0; k < 12; ++k) {
        // 0.5 to 11 Hz, from none to half of critical damping; above 12 Hz a frame sees no swing
        double omega = 6.283185307179586 * (0.5 + k * 0.95);
        srSwing swing = {omega, 0.5 * omega * (k % 3)};
        srSwing shown = srShowByBdf2(swing, FRAME);
        srSwing played = playBdf2(swing, FRAME);
        // quick ones die within the rows that are read: the slowest of the formula's own roots is left
        if (k < 8) {
            assert_near(played.omega / shown.omega, 1.0, 1e-6);
            assert_near((played.rate - shown.rate) / shown.omega, 0.0, 1e-6);
        }
        assert_true(shown.omega > 0.0 && shown.rate > swing.rate * 0.3);
    }
}

static void slow_swings_are_shown_as_they_are(void** state) {
    (void)state;
    srSwing swing = {1.0, 0.2};
    srSwing shown = srShowByBdf2(swing, 1e-4);
    assert_near(shown.omega, 1.0, 1e-7);
    assert_near(shown.rate, 0.2, 1e-7);
    srSwing needed = srFindShownByTheta(swing, 1e-4, 4, 0.5);
    assert_near(needed.omega, 1.0, 1e-7);
    assert_near(needed.rate, 0.2, 1e-7);
}

static void what_is_found_shows_what_was_wanted(void** state) {
    (void)state;
    for (int k = 0; k < 24; ++k) {
        double omega = 6.283185307179586 * (0.5 + k / 6 * 1.7);
        srSwing wanted = {omega, omega * (0.3 + 0.2 * (k % 3))};
        int32_t steps = 1 + k;
        double theta = 0.5 + 0.1 * (k % 6);
        srSwing needed = srFindShownByTheta(wanted, FRAME, steps, theta);
        if (needed.rate > 0.0) {
            srSwing played = playTheta(needed, steps, theta);
            assert_near(played.omega / wanted.omega, 1.0, 1e-9);
            assert_near(played.rate / wanted.rate, 1.0, 1e-9);
        }
    }
}

static void what_is_found_for_bdf2_shows_what_was_wanted(void** state) {
    (void)state;
    for (int k = 0; k < 24; ++k) {
        double omega = 6.283185307179586 * (0.5 + k / 6 * 0.8);
        srSwing wanted = {omega, omega * (0.1 + 0.1 * (k % 3))};
        int32_t steps = 2 + k % 6;
        srSwing needed = srFindShownByBdf2(wanted, FRAME, steps);
        if (needed.rate > 0.0) {
            // of the formula's own roots the last has gone
            srSwing played = playBdf2(needed, FRAME / steps);
            assert_near(played.omega / wanted.omega, 1.0, 1e-6);
            assert_near(played.rate / wanted.rate, 1.0, 1e-5);
        }
        srSwing back = srShowByBdf2(needed, FRAME / steps);
        assert_near(back.omega / wanted.omega, 1.0, needed.rate > 0.0 ? 1e-9 : 0.1);
    }
}

static void what_a_formula_damps_too_much_is_told(void** state) {
    (void)state;
    srSwing needed = srFindShownByTheta((srSwing){12.0, 0.01}, FRAME, 2, 1.0);
    assert_true(needed.rate < 0.0);
    needed = srFindShownByBdf2((srSwing){12.0, 0.01}, FRAME, 1);
    assert_true(needed.rate == 0.0);
    assert_true(needed.omega > 11.0 && needed.omega < 14.0);
    // more than critical counts as critical
    srSwing slow = srShowByBdf2((srSwing){12.0, 100.0}, FRAME);
    srSwing critical = srShowByBdf2((srSwing){12.0, 24.0}, FRAME);
    assert_near(slow.omega / critical.omega, 1.0, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_of_bdf2_shows_what_is_foretold),
        cmocka_unit_test(slow_swings_are_shown_as_they_are),
        cmocka_unit_test(what_is_found_shows_what_was_wanted),
        cmocka_unit_test(what_is_found_for_bdf2_shows_what_was_wanted),
        cmocka_unit_test(what_a_formula_damps_too_much_is_told),
    };
    return cmocka_run_group_tests_name("sim/swing", tests, NULL, srTestNothingLeaked);
}
