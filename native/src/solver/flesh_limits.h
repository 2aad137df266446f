// SPDX-License-Identifier: GPL-3.0-or-later
//
// What flesh may do one way only: ties between nodes that grow no longer or no shorter, cells that shrink or
// swell no further, a floor with friction. Inner to flesh.h. A substep that asks for none does not come here.

#pragma once

#include "solver/flesh.h"

/// One substep after a sweep. Limits hold where the substep ends, at start + beyond (row - start).
typedef struct srLimitStep {
    const srFleshRest* rest;
    const srFleshTuning* tuning;
    const srPrimaryMotion* motion;
    const float* poseRows;
    const float* starts;
    float* rows;
    float* ends; ///< Rows to work in.
    float beyond;
    float beginFraction; ///< Of the frame, where the substep begins,
    float endFraction;   ///< and ends.
    float toRest;        ///< Rest units a world unit.
    bool isShared;
    int32_t parity;
} srLimitStep;

bool srFleshDials_HasLimits(const srFleshDials* dials);

/// Brings out of range numbers in: u = 0 is within every limit, but for the floor.
void srFleshDials_ClampLimits(srFleshDials* dials);

/// Moves rows by what the limits ask for, and leaves the others as they are, to the bit.
void srFlesh_KeepLimits(srLimitStep* step);
