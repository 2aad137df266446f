// SPDX-License-Identifier: GPL-3.0-or-later
//
// How well shaped cells are.

#pragma once

#include "mesh/cage.h"

/// Smallest and largest angle between two faces of one cell, over all cells, in degrees; and the sum of
/// volumes.
void srMeasureCells(const srCage* cage, double* outMinDihedralDegrees, double* outMaxDihedralDegrees,
                    double* outVolume);

/// Counts those angles in `binCount` bins of equal width from 0 to 180 degrees.
void srCountDihedrals(const srCage* cage, int32_t* outCounts, int32_t binCount);

/// Counts cells in `binCount` bins by their aspect: three times the inner by the outer radius, 1 for a
/// regular one.
void srCountAspects(const srCage* cage, int32_t* outCounts, int32_t binCount);
