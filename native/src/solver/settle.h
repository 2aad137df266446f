// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which steps let a swing settle when it shall. A formula damps by itself, quick swings more than slow ones,
// and shows a strong damping weaker than it is. Between the second-order backward formula (lateness 1) and
// the trapezoidal one (lateness 0), which takes nothing from a swing, lies
//   (1 + t/2) y2 - (1 + t) y1 + t/2 y0 = h ((1 + t)/2 y2' + (1 - t)/2 y1'),   t the lateness,
// of second order, and stable whatever the swing; of infinitely quick ones a step leaves (1 - t) / (1 + t).
// The velocity that damping acts on is that of the backward formula, whatever the lateness.

#pragma once

#include "math/complex.h"

typedef enum srIntegrator {
    sr_integratorBdf2, ///< Second order; damps what the dial says.
    sr_integratorBackwardEuler,
} srIntegrator;

typedef struct srSettling {
    double lateness;
    double dampingRate; ///< 1/s, that the formula is given.
} srSettling;

/// Steps of h under which a swing of omega (1/s, positive) shrinks as exp(-dampingRate t / 2), or as near to
/// it as there are. It is the latest formula that damps little by itself, and damping does the rest, so
/// that it is not the steps which decide when a swing ends. A rate beyond twice omega counts as that.
srSettling srFindSettling(srIntegrator integrator, double omega, double dampingRate, double h);

/// By what a step of h of such a formula (not of backward Euler) multiplies a swing of omega; of the upper
/// half plane.
srComplex srFindLateRoot(srSettling settling, double omega, double h);
