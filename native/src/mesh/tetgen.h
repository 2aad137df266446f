// SPDX-License-Identifier: GPL-3.0-or-later
//
// TetGen, asked through its helper program (native/helper) and never trusted: what comes back is checked, and
// whatever else happens is a fate that the caller answers with a mesher of our own. Knows the protocol; does
// not know where a surface comes from or how fine it should be (conform.h).

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "math/vec3.h"
#include "mesh/progress.h"

#include <stdint.h>

/// How it went. In the order of the sentences.
typedef enum srTetgenFate {
    sr_tetgenMade,
    sr_tetgenMissing, ///< The helper program is not there or cannot be started.
    sr_tetgenStalled, ///< It took too long and was ended.
    sr_tetgenStarved, ///< It needed more memory than it was given.
    sr_tetgenCrashed, ///< It was ended by a signal: a fault of TetGen's, or somebody killed it.
    sr_tetgenRefused, ///< It found a fault in the surface.
    sr_tetgenForeign, ///< It did not understand the order: it is of another version.
    sr_tetgenGarbled, ///< Its answer was none, or no cage of that surface.
    sr_tetgenFateCount
} srTetgenFate;

/// What happened, as a clause about TetGen's helper: "was missing". Never null; static.
const char* srDescribeTetgenFate(srTetgenFate fate);

/// Wanted lengths of edges on a grid of points, x fastest.
typedef struct srSizeGrid {
    srVec3 origin;
    double spacing;
    int32_t counts[3]; ///< Each at least 2; all 0: no sizes.
    const float* sizes;
} srSizeGrid;

typedef struct srTetgenInput {
    const srVec3* points;
    int32_t pointCount;
    const int32_t (*triangles)[3]; ///< A closed surface that does not cross itself, facing outwards.
    int32_t triangleCount;
    const srVec3* extras; ///< Points inside that become nodes.
    int32_t extraCount;
    const srVec3* holes; ///< A point in each hollow, which stays empty.
    int32_t holeCount;
    srSizeGrid sizes;
    double radiusEdge; ///< Of a cell's sphere by its shortest edge, at most: 1 to 100; 1.4 is fine.
    double minDihedralDegrees;
} srTetgenInput;

typedef struct srTetgenLimits {
    const char* program; ///< Path of softrig-tetgen; null or empty: missing.
    double seconds;
    double megabytes;
} srTetgenLimits;

/// Cells of positive volume that fill the surface. Arrays live in the arena.
typedef struct srTetgenMesh {
    srVec3* nodes;
    int32_t nodeCount;
    int32_t (*cells)[4];
    int32_t cellCount;
} srTetgenMesh;

/// `sr_success` with any fate; a mesh only with `sr_tetgenMade`. Fails with `sr_errorCancelled` when progress
/// said so, `sr_errorOutOfMemory` for want of our own memory. The same surface gives the same cells.
SR_MUST_USE srResult srRunTetgen(const srTetgenInput* input, const srTetgenLimits* limits,
                                 const srProgress* progress, srArena* arena, srTetgenFate* outFate,
                                 srTetgenMesh* outMesh);
