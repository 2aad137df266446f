// SPDX-License-Identifier: GPL-3.0-or-later
//
// What stepping does to a swing: a formula with step h shows x'' + rate x' + omega^2 x = 0 slower and more
// damped than it is. So that two solvers that step differently can be tuned to show the same.

#pragma once

#include "math/complex.h"

#include <stdint.h>

typedef struct srSwing {
    double omega; ///< 1/s
    double rate;  ///< 1/s; beyond twice omega it counts as that.
} srSwing;

/// The swing that a step of h multiplies by z, of the upper half plane.
srSwing srReadSwing(srComplex z, double h);

/// What the second-order backward formula shows of a swing, one step of h.
srSwing srShowByBdf2(srSwing swing, double h);

/// The swing of which `steps` steps of h / steps, each with forces taken at the share theta of it (1/2 to
/// 1), show `shown`; its rate is below zero where steps alone damp more.
srSwing srFindShownByTheta(srSwing shown, double h, int32_t steps, double theta);

/// Likewise of steps by the second-order backward formula; without damping where none is little enough.
srSwing srFindShownByBdf2(srSwing shown, double h, int32_t steps);
