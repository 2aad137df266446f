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

/// Cosine between a triangle and an eye that it counts as facing.
#define SR_LEAST_FACING 0.1

/// Whether two triangles have more in common than the corners that they share. `corners` index `points`;
/// degenerate triangles cross whatever they meet.
bool srDoTrianglesCross(const srVec3* points, const int32_t a[3], const int32_t b[3]);

/// As above, by the places of the corners; those of equal name are the same.
bool srDoCornersCross(const srVec3 x[3], const int32_t a[3], const srVec3 y[3], const int32_t b[3]);

/// Whether the box around a triangle and another have a point in common.
bool srDoesTriangleReach(srVec3 lower, srVec3 upper, const srVec3 corners[3]);

/// Triangles by the boxes of a regular grid that they reach into; more may be added. Lives in an arena.
typedef struct srTriangleGrid {
    srVec3 origin;
    double spacing;
    int32_t counts[3];
    int32_t* heads;        ///< By box: its first entry, `SR_NULL_INDEX`, or `SR_UNKNOWN_BOX`.
    int32_t (*entries)[2]; ///< Triangle, and the next entry of the box.
    int32_t entryCount;
    int32_t entryCapacity;
} srTriangleGrid;

#define SR_UNKNOWN_BOX (-2)

/// Room for about as many triangles again. A triangle whose first corner is below zero is not there. With
/// `isWanted`, by point, only boxes around triangles with such a corner are filled, and all others unknown.
SR_MUST_USE srResult srCreateTriangleGrid(const srHull* hull, const uint8_t* isWanted, srArena* arena,
                                          srTriangleGrid* outGrid);

/// False when there is no room for it any more. Unknown boxes stay so.
bool srTriangleGrid_Add(srTriangleGrid* grid, const srVec3 corners[3], int32_t triangle);

/// The boxes from low to high, both inclusive, that a box in space reaches into.
void srTriangleGrid_FindBoxes(const srTriangleGrid* grid, srVec3 lower, srVec3 upper, int32_t outLow[3],
                              int32_t outHigh[3]);

static inline int32_t srTriangleGrid_Box(const srTriangleGrid* grid, int32_t x, int32_t y, int32_t z) {
    return (z * grid->counts[1] + y) * grid->counts[0] + x;
}

/// All of a surface, to ask what crosses a triangle. Lives in an arena.
typedef struct srCrossingSearch {
    const srHull* hull;
    srTriangleGrid grid;
    uint8_t* isPlain; ///< By point: the triangles around it do not cross one another.
    int32_t* seenBy;  ///< By triangle: the last question that it was compared for.
    int32_t queryCount;
    int32_t firstMoved; ///< Entries before it are the first ones, in the order of triangles.
} srCrossingSearch;

/// As in srCreateTriangleGrid triangles may be missing. Of a closed hull, as decimate.h wants it, most
/// neighbours need not be compared. `hull` stays the caller's.
SR_MUST_USE srResult srCreateCrossingSearch(const srHull* hull, bool isClosed, srArena* arena,
                                            srCrossingSearch* outSearch);

/// After a triangle has got other corners, or others have moved. False when there is no room for it any more.
bool srCrossingSearch_Move(srCrossingSearch* search, int32_t triangle);

/// What crosses `triangle` among those from `least` on, but for itself. Returns how many, `most` at most.
/// `outOthers` may be null.
int32_t srCrossingSearch_List(srCrossingSearch* search, int32_t triangle, int32_t least, int32_t most,
                              int32_t* outOthers);

/// Pairs that cross, each once; stops counting at `most`. `isClosed` as in srCreateCrossingSearch.
SR_MUST_USE srResult srCountCrossings(const srHull* hull, bool isClosed, int32_t most, srArena* arena,
                                      const srProgress* progress, int32_t* outCount);
