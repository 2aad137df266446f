// SPDX-License-Identifier: GPL-3.0-or-later
//
// Holes of a patch, and caps for the small ones.

#pragma once

#include "mesh/patches.h"

/// A cap may have this share of the area of the patch it closes: else the loop is the outline of a sheet
/// rather than a hole in something.
#define SR_LARGEST_CAP 0.3333

/// A hole is a closed run of open borders of one patch. It is closed, by a fan around the middle of its
/// corners, when the diagonal of its bounds is at most `largest` and the fan's area at most SR_LARGEST_CAP of
/// the patch's. Others stay as the winding number has them: their lid is about the surface from which the
/// rest fills half the view; for a flat rim it is the flat lid.
SR_MUST_USE srResult srCloseHoles(srPatches* patches, double largest, const srProgress* progress,
                                  int32_t* outClosedCount, int32_t* outOpenCount);
