// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing is s = -rate / 2 + i sqrt(omega^2 - rate^2 / 4), a formula turns exp(h s) into z:
//   BDF2    (3 - 4 / z + 1 / z^2) / 2 = h s,   so z = 1 / (2 - sqrt(1 + 2 h s))
//   theta   z = (1 + (1 - theta) h s) / (1 - theta h s)
// Logarithm and exponential are series, so that they are the same on every platform.

#include "sim/swing.h"

static const srComplex ONE = {1.0, 0.0};

#define HALVINGS 8

// 2^8 log(z^(1 / 2^8)), log w = 2 artanh((w - 1) / (w + 1))
static srComplex logarithm(srComplex z) {
    for (int k = 0; k < HALVINGS; ++k) {
        z = srSquareRootComplex(z);
    }
    srComplex t = srDivideComplex((srComplex){z.re - 1.0, z.im}, (srComplex){z.re + 1.0, z.im});
    srComplex square = srMulComplex(t, t);
    srComplex sum = {0.0, 0.0};
    for (int k = 11; k > 0; k -= 2) {
        sum = srMulComplex(sum, square);
        sum.re += 1.0 / k;
    }
    sum = srMulComplex(sum, t);
    double scale = 2.0 * (1 << HALVINGS);
    return (srComplex){scale * sum.re, scale * sum.im};
}

// exp(a / 2^8) squared 8 times
static srComplex exponential(srComplex a) {
    double scale = 1.0 / (1 << HALVINGS);
    srComplex sum = ONE;
    for (int k = 9; k > 0; --k) {
        sum = srAddScaledComplex(ONE, srMulComplex(sum, a), scale / k);
    }
    for (int k = 0; k < HALVINGS; ++k) {
        sum = srMulComplex(sum, sum);
    }
    return sum;
}

static srComplex toComplex(srSwing swing) {
    double square = swing.omega * swing.omega - 0.25 * swing.rate * swing.rate;
    return square > 0.0 ? (srComplex){-0.5 * swing.rate, sqrt(square)} : (srComplex){-swing.omega, 0.0};
}

static srSwing toSwing(srComplex s) {
    return (srSwing){sqrt(s.re * s.re + s.im * s.im), -2.0 * s.re};
}

srSwing srReadSwing(srComplex z, double h) {
    srComplex s = logarithm(z);
    return toSwing((srComplex){s.re / h, s.im / h});
}

srSwing srShowByBdf2(srSwing swing, double h) {
    srComplex root = srSquareRootComplex(srAddScaledComplex(ONE, toComplex(swing), 2.0 * h));
    return srReadSwing(srDivideComplex(ONE, (srComplex){2.0 - root.re, -root.im}), h);
}

srSwing srFindShownByTheta(srSwing shown, double h, int32_t steps, double theta) {
    double step = h / steps;
    srComplex s = toComplex(shown);
    srComplex z = exponential((srComplex){step * s.re, step * s.im});
    srComplex below = {step * (theta * z.re + 1.0 - theta), step * theta * z.im};
    return toSwing(srDivideComplex((srComplex){z.re - 1.0, z.im}, below));
}

srSwing srFindShownByBdf2(srSwing shown, double h, int32_t steps) {
    double step = h / steps;
    srComplex s = toComplex(shown);
    srComplex back = srDivideComplex(ONE, exponential((srComplex){step * s.re, step * s.im})); // 1 / z
    srComplex twice = srAddScaledComplex(srMulComplex(back, back), back, -4.0); // 2 h s, less 3
    srSwing found = toSwing((srComplex){(3.0 + twice.re) / (2.0 * step), twice.im / (2.0 * step)});
    found.rate = found.rate > 0.0 ? found.rate : 0.0;
    return found;
}
