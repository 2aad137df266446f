// SPDX-License-Identifier: GPL-3.0-or-later
//
// Takes the cage's cells out of weights that came from it: what varies over less than a cell is no weight but
// the cell's shape, and is most of the roughness on a fine skin. Lives here: smoothing over triangles. Does
// not: weights (biharmonic_skin.h).

#pragma once

#include "core/error.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

/// Spreads values (pointCount x columnCount) over the triangles as heat does, twice, as far as about `length`
/// each time. Rows that sum to one still do, to 1e-4. A value hardly leaves the range of its column, and not
/// at all where no two obtuse angles face each other. Constants stay to the bit, and so do points without a
/// triangle. Points at one place whose values are alike count as one; those of parts that touch, whose values
/// are not, stay apart.
SR_MUST_USE srResult srSmoothOnSkin(const srSurface* surface, double length, int32_t columnCount,
                                    const srProgress* progress, float* values);
