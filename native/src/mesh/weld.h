// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangles that know their neighbours: points at the same place are one, triangles on the same corners are
// one unless they are of bodies in contact (parts.h), and each side of a triangle knows who is on the other
// side of the edge.

#pragma once

#include "mesh/buckets.h"
#include "mesh/surface.h"

/// Instead of a mate: the edge has this one triangle, or more than two.
#define SR_SIDE_ALONE (-1)
#define SR_SIDE_SHARED (-2)

/// Side s of triangle t is number 3 t + s and runs from corner s to corner s + 1.
typedef struct srWelded {
    int32_t (*triangles)[3]; ///< Corners at the same place have the same index, the lowest of theirs.
    int32_t triangleCount;
    int32_t triangleCapacity;
    int32_t* sources; ///< By triangle: that of the surface.
    int32_t* mates;   ///< By side: the one other side of the edge, or of its part at the edge; or as above.
    int32_t* places;  ///< By point of the surface: the lowest one at its place.
    int32_t pointCount;
    srBuckets edges; ///< Sides by the edge's lower corner; the key is its higher one.
    int32_t weldedCount;
    int32_t duplicateCount; ///< Left out: on the same corners as another one, facing either way.
    int32_t flatCount;      ///< Left out: two corners at the same place.
} srWelded;

/// `surface` has a triangle with three different places for corners.
SR_MUST_USE srResult srWeldSurface(const srSurface* surface, const srProgress* progress, srWelded* outWelded);

/// Accepts a zeroed one.
void srDestroyWelded(srWelded* welded);

/// Sides of the edge of `side`, `most` at most: items first .. first + count - 1 of what is returned.
const srKeyed* srFindSides(const srWelded* welded, int32_t side, int32_t most, int32_t* outFirst,
                           int32_t* outCount);
