// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is long and lies askew is turned into its own axes before it is meshed: a lattice along the axes of
// space would be empty nearly everywhere, and the finer the longer the shape is.

#pragma once

#include "mesh/surface.h"

#include <stdbool.h>

/// Three directions at right angles, along which the axes of the turned space lie.
typedef struct srAxes {
    srVec3 directions[3];
} srAxes;

/// Whether turning spares much. What is mirrored by a plane of two axes through the origin stays so.
bool srFindAxes(const srSurface* surface, srAxes* outAxes);

/// A copy. Its size, by which settings are meant, stays that of the surface.
SR_MUST_USE srResult srTurnIntoAxes(const srSurface* surface, const srAxes* own, srSurface* outSurface);

void srTurnOutOfAxes(const srAxes* own, srVec3* points, int32_t pointCount);
