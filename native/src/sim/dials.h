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

/// Hz, about that of the slowest swing: of flesh that its pose pulls and its own stiffness holds.
double srFindSwingFrequency(const srBodySettings* settings);
