// SPDX-License-Identifier: GPL-3.0-or-later
//
// Takes out of weights what came from the cage and is none of the skin's: what varies over less than a cell
// is the cell's shape, and is most of the roughness on a fine skin; what varies over less than a triangle is
// a bone's nearness to one vertex. Lives here: smoothing over triangles. Does not: weights
// (biharmonic_skin.h).

#pragma once

#include "core/error.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

/// Of a cube's edge: how far on skins finer than the cage.
#define SR_SMOOTH_CUBE_SHARE 0.14

/// How far what comes from a lattice of cubes of this size is to be spread on this skin: a share of a cube;
/// where triangles are larger than cubes a share of theirs; but never far on the whole skin.
double srFindSmoothLength(const srSurface* surface, double spacing);

/// Spreads values (pointCount x columnCount) over the triangles as heat does, twice, as far as about `length`
/// each time. Rows that sum to one still do, to 1e-4. A value hardly leaves the range of its column, and not
/// at all where no two obtuse angles face each other. Constants stay to the bit, and so do points without a
/// triangle. Points at one place whose values are alike count as one; those of parts that touch, whose values
/// are not, stay apart.
SR_MUST_USE srResult srSmoothOnSkin(const srSurface* surface, double length, int32_t columnCount,
                                    const srProgress* progress, float* values);
