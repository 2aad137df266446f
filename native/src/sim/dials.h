// SPDX-License-Identifier: GPL-3.0-or-later
//
// From the artist's dials to the solvers' units; the same for all solvers, so that a preset means the same in
// each.

#pragma once

#include "elastic/material.h"
#include "sim/body.h"

/// With Young's modulus as it was asked for, or from frequency and size.
srMaterial srFindMaterial(const srBodySettings* settings);

/// 1/s, such that a swing is below 2 % of its first peak after `settleFrames`.
double srFindDampingRate(const srBodySettings* settings);

/// Likewise of flesh that a stop sets swinging: quicker swings than the slowest, of `swingFrequency` Hz, make
/// a part of the first peak, and fade sooner.
double srFindStopDampingRate(const srBodySettings* settings, double swingFrequency);

/// Hz, about that of the slowest swing: of flesh that its pose pulls and its own stiffness holds, which make
/// so much of its square each, in parts of the dial's (and of the shear modulus that the dial alone would
/// choose at Poisson's ratio SR_USUAL_POISSON).
double srFindSwingFrequency(const srBodySettings* settings, double pullShare, double elasticShare);

/// How many steps the complementary solver makes of the substeps that are asked for: one of each five begun,
/// so two of the usual ten (docs/decisions/0018). None asked for is the usual.
int32_t srFindLongSubsteps(int32_t asked);

/// The residual that goes with so many: the usual (docs/decisions/0041) as far as two, and from there on
/// less, as what steps in time leave does.
double srFindTolerance(int32_t longSubsteps);

#define SR_USUAL_POISSON 0.45f
