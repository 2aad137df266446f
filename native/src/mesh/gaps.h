// SPDX-License-Identifier: GPL-3.0-or-later
//
// What lies far apart is moved together before it is meshed, by what is empty between two planes across an
// axis: a lattice over all of it would be too coarse for either part. The cage is moved apart again.

#pragma once

#include "mesh/cage.h"
#include "mesh/surface.h"

#include <stdbool.h>

#define SR_MOST_GAPS 16

typedef struct srGap {
    int axis;
    double before; ///< What lies beyond this is moved ...
    double after;  ///< ... and lies beyond this then, ...
    double length; ///< ... nearer by so much.
} srGap;

/// Along each axis in ascending order.
typedef struct srGaps {
    srGap gaps[SR_MOST_GAPS];
    int count;
} srGaps;

/// Whether there is such empty space. As much of it stays as what is there is wide, and `least`.
bool srFindGaps(const srSurface* surface, double least, srGaps* outGaps);

/// A copy. Its size, by which settings are meant, stays that of the surface.
SR_MUST_USE srResult srCloseGaps(const srSurface* surface, const srGaps* gaps, srSurface* outSurface);

/// False, and nothing is moved, where a cell lies across a gap.
bool srOpenGaps(const srGaps* gaps, srCage* cage);
