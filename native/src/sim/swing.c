// SPDX-License-Identifier: GPL-3.0-or-later
//
// A swing is s = -rate / 2 + i sqrt(omega^2 - rate^2 / 4), a formula turns exp(h s) into z:
//   BDF2    (3 - 4 / z + 1 / z^2) / 2 = h s,   so z = 1 / (2 - sqrt(1 + 2 h s))
//   theta   z = (1 + (1 - theta) h s) / (1 - theta h s)
// Logarithm and exponential are series, so that they are the same on every platform.

#include "sim/swing.h"

#include <math.h>

typedef struct Complex {
    double re;
    double im;
} Complex;

static Complex mul(Complex a, Complex b) {
    return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static Complex divide(Complex a, Complex b) {
    double square = b.re * b.re + b.im * b.im;
    Complex c = mul(a, (Complex){b.re, -b.im});
    return (Complex){c.re / square, c.im / square};
}

// a + b c, c a number
static Complex addScaled(Complex a, Complex b, double c) {
    return (Complex){a.re + c * b.re, a.im + c * b.im};
}

static const Complex ONE = {1.0, 0.0};

// of the upper half plane, into its first quarter
static Complex squareRoot(Complex a) {
    double length = sqrt(a.re * a.re + a.im * a.im);
    double larger = sqrt(0.5 * (length + fabs(a.re)));
    double smaller = larger > 0.0 ? 0.5 * a.im / larger : 0.0;
    return a.re >= 0.0 ? (Complex){larger, smaller} : (Complex){smaller, larger};
}

#define HALVINGS 8

// 2^8 log(z^(1 / 2^8)), log w = 2 artanh((w - 1) / (w + 1))
static Complex logarithm(Complex z) {
    for (int k = 0; k < HALVINGS; ++k) {
        z = squareRoot(z);
    }
    Complex t = divide((Complex){z.re - 1.0, z.im}, (Complex){z.re + 1.0, z.im});
    Complex square = mul(t, t);
    Complex sum = {0.0, 0.0};
    for (int k = 11; k > 0; k -= 2) {
        sum = mul(sum, square);
        sum.re += 1.0 / k;
    }
    sum = mul(sum, t);
    double scale = 2.0 * (1 << HALVINGS);
    return (Complex){scale * sum.re, scale * sum.im};
}

// exp(a / 2^8) squared 8 times
static Complex exponential(Complex a) {
    double scale = 1.0 / (1 << HALVINGS);
    Complex sum = ONE;
    for (int k = 9; k > 0; --k) {
        sum = addScaled(ONE, mul(sum, a), scale / k);
    }
    for (int k = 0; k < HALVINGS; ++k) {
        sum = mul(sum, sum);
    }
    return sum;
}

static Complex toComplex(srSwing swing) {
    double square = swing.omega * swing.omega - 0.25 * swing.rate * swing.rate;
    return square > 0.0 ? (Complex){-0.5 * swing.rate, sqrt(square)} : (Complex){-swing.omega, 0.0};
}

static srSwing toSwing(Complex s) {
    return (srSwing){sqrt(s.re * s.re + s.im * s.im), -2.0 * s.re};
}

srSwing srShowByBdf2(srSwing swing, double h) {
    Complex root = squareRoot(addScaled(ONE, toComplex(swing), 2.0 * h));
    Complex z = divide(ONE, (Complex){2.0 - root.re, -root.im});
    Complex s = logarithm(z);
    return toSwing((Complex){s.re / h, s.im / h});
}

static srSwing withoutGain(srSwing swing) {
    swing.rate = swing.rate > 0.0 ? swing.rate : 0.0;
    return swing;
}

srSwing srFindShownByTheta(srSwing shown, double h, int32_t steps, double theta) {
    double step = h / steps;
    Complex s = toComplex(shown);
    Complex z = exponential((Complex){step * s.re, step * s.im});
    Complex below = {step * (theta * z.re + 1.0 - theta), step * theta * z.im};
    return withoutGain(toSwing(divide((Complex){z.re - 1.0, z.im}, below)));
}

srSwing srFindShownByBdf2(srSwing shown, double h, int32_t steps) {
    double step = h / steps;
    Complex s = toComplex(shown);
    Complex back = divide(ONE, exponential((Complex){step * s.re, step * s.im})); // 1 / z
    Complex twice = addScaled(mul(back, back), back, -4.0);                       // 2 h s, less 3
    return withoutGain(toSwing((Complex){(3.0 + twice.re) / (2.0 * step), twice.im / (2.0 * step)}));
}
