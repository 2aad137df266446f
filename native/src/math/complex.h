// SPDX-License-Identifier: GPL-3.0-or-later
//
// Complex numbers, of which a formula's roots are made. Without trigonometry: the same bits on every
// platform.

#pragma once

#include <math.h>

typedef struct srComplex {
    double re;
    double im;
} srComplex;

static inline srComplex srMulComplex(srComplex a, srComplex b) {
    return (srComplex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline srComplex srDivideComplex(srComplex a, srComplex b) {
    double square = b.re * b.re + b.im * b.im;
    srComplex c = srMulComplex(a, (srComplex){b.re, -b.im});
    return (srComplex){c.re / square, c.im / square};
}

/// a + b c, c a number.
static inline srComplex srAddScaledComplex(srComplex a, srComplex b, double c) {
    return (srComplex){a.re + c * b.re, a.im + c * b.im};
}

static inline double srSquaredLengthComplex(srComplex a) {
    return a.re * a.re + a.im * a.im;
}

/// The root with a real part of zero or more; its imaginary part has the sign of a's.
static inline srComplex srSquareRootComplex(srComplex a) {
    double length = sqrt(srSquaredLengthComplex(a));
    double larger = sqrt(0.5 * (length + fabs(a.re)));
    double smaller = larger > 0.0 ? 0.5 * fabs(a.im) / larger : 0.0;
    srComplex root = a.re >= 0.0 ? (srComplex){larger, smaller} : (srComplex){smaller, larger};
    return (srComplex){root.re, a.im < 0.0 ? -root.im : root.im};
}
