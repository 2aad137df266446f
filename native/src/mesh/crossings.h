// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether triangles of a surface cross or touch where they should not: what a mesher that keeps its surface
// cannot bear. On the safe side: what is too near to tell counts as crossing.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/hull.h"
#include "mesh/progress.h"

#include <stdbool.h>

/// Whether two triangles have more in common than the corners that they share. `corners` index `points`;
/// degenerate triangles cross whatever they meet.
bool srDoTrianglesCross(const srVec3* points, const int32_t a[3], const int32_t b[3]);

/// As above, by the places of the corners; those of equal name are the same.
bool srDoCornersCross(const srVec3 x[3], const int32_t a[3], const srVec3 y[3], const int32_t b[3]);

/// Triangles by the boxes of a regular grid that they reach into; more may be added. Lives in an arena.
typedef struct srTriangleGrid {
    srVec3 origin;
    double spacing;
    int32_t counts[3];
    int32_t* heads;
    int32_t (*entries)[2]; ///< Triangle, and the next entry of the box.
    int32_t entryCount;
    int32_t entryCapacity;
} srTriangleGrid;

/// Room for about as many triangles again.
SR_MUST_USE srResult srCreateTriangleGrid(const srHull* hull, srArena* arena, srTriangleGrid* outGrid);

/// False when there is no room for it any more.
bool srTriangleGrid_Add(srTriangleGrid* grid, const srVec3 corners[3], int32_t triangle);

/// The boxes from low to high, both inclusive, that a box in space reaches into.
void srTriangleGrid_FindBoxes(const srTriangleGrid* grid, srVec3 lower, srVec3 upper, int32_t outLow[3],
                              int32_t outHigh[3]);

static inline int32_t srTriangleGrid_Box(const srTriangleGrid* grid, int32_t x, int32_t y, int32_t z) {
    return (z * grid->counts[1] + y) * grid->counts[0] + x;
}

/// Pairs that cross, each once; stops counting at `most`.
SR_MUST_USE srResult srCountCrossings(const srHull* hull, int32_t most, srArena* arena,
                                      const srProgress* progress, int32_t* outCount);
