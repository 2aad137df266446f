// SPDX-License-Identifier: GPL-3.0-or-later
//
// Momentum and angular momentum of flesh that nothing holds or pulls. Inner to flesh.h.

#pragma once

#include "solver/flesh.h"

/// Where a substep begins or ends.
typedef struct srSpinStep {
    const srFleshRest* rest;
    const srFleshTuning* tuning;
    const srPrimaryMotion* motion;
    const srVec3f* loads; ///< Or null.
    const float* starts;  ///< Rows: u,
    float* velocities;    ///< and w,
    const float* earlier; ///< and w a substep earlier, where the substep is one of BDF2 with a past; or null.
    float fraction;       ///< Of the frame, by now.
    float toRest;         ///< Rest units a world unit.
} srSpinStep;

/// In units of the tuning's masses, and less what the pose alone has, so that zero is rest.
typedef struct srMomenta {
    srVec3 straight;
    srVec3 spin; ///< About the centre of mass.
} srMomenta;

/// At the beginning of a substep: what the body will have at the end of it, by damping and by what pushes
/// from outside.
srMomenta srFlesh_ForeseeMomenta(const srSpinStep* step);

/// At the end of it: moves and turns velocities as a whole until the body has that.
void srFlesh_KeepMomenta(const srSpinStep* step, const srMomenta* foreseen);
