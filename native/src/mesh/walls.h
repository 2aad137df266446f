// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which short ways within the flesh leave it: the skin's triangles in a grid of bins.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

/// Arrays live in the arena that made them.
typedef struct srWalls {
    srSurface surface; ///< By value, as whoever owns its arrays may move; they must outlive the walls.
    srVec3 lower;
    double binEdge;
    int32_t counts[3];
    int32_t* starts; ///< Of each bin's triangles; one more at the end.
    int32_t* triangles;
    const int32_t* pieces; ///< Which piece of the skin a triangle is of, for the first `piecedCount`; the
    int32_t piecedCount;   ///< rest is of all. Whoever made the walls sets both; they begin with none.
} srWalls;

/// `binEdge` should be about as long as the ways that will be asked for; it is made longer when there would
/// be too many bins, and shorter where the skin is far finer. `surface` faces away from the flesh; it may
/// have no triangles.
SR_MUST_USE srResult srCreateWalls(const srSurface* surface, double binEdge, srArena* arena,
                                   const srProgress* progress, srWalls* outWalls);

/// One end of a way: where it is, the nearest point of the skin, the direction out of the flesh there, and
/// the piece of skin that it is within, or `SR_NULL_INDEX`.
typedef struct srWayEnd {
    srVec3 place;
    srVec3 foot;
    srVec3 out;
    int32_t piece;
} srWayEnd;

/// Whether the way from a to b passes a triangle from within to without. A triangle of the very sheet of skin
/// that both ends are nearest to does not count: the way only cuts the corner of a hollow. Where both ends
/// are within one piece, triangles of others do not count: the way stays within that one. Thread-safe.
bool srWalls_Leaves(const srWalls* walls, const srWayEnd* a, const srWayEnd* b);

/// As above, from a to b and from b to a at once.
void srWalls_LeavesBothWays(const srWalls* walls, const srWayEnd* a, const srWayEnd* b, bool* outThere,
                            bool* outBack);
