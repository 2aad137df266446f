// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points fixed in the cage: each an affine combination of the four nodes of one cell, exact for affine
// motion.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/progress.h"

/// Point i = sum over c of weights[i][c] * node[nodes[i][c]]; weights sum to one. Owns its arrays.
typedef struct srEmbedding {
    int32_t (*nodes)[4];
    float (*weights)[4];
    int32_t* cells; ///< The cell whose nodes those are; `SR_NULL_INDEX` for a point that is not finite.
    int32_t pointCount;
    int32_t outsideCount;    ///< Points outside of every cell; they follow the nearest cell.
    int32_t farCount;        ///< Finite ones of them, farther out than the longest edge of that cell: about
                             ///< there the bound of weights begins to pull.
    double largestWeightSum; ///< The largest sum of absolute weights; 1 when all points are inside.
} srEmbedding;

/// `hints` (nullable) says for each point a cell that it belongs to or near, or `SR_NULL_INDEX`: such a point
/// is looked for around that cell alone (neighbourhood.h), so where cells overlap it never lands in a copy
/// that belongs to another part. Without a hint it goes to whichever cell holds it. Hints out of range count
/// as unknown.
///
/// A point that is not finite gets weights (1, 0, 0, 0) on node 0, four times node 0, and counts as outside.
/// Weights of outside points are bounded: the sum of their absolute values is at most 4; beyond that the
/// point is pulled towards the cell. Affine motion is exact for all others. No points: an empty embedding.
SR_MUST_USE srResult srCreateEmbedding(const srCage* cage, const srVec3* points, const int32_t* hints,
                                       int32_t pointCount, srEmbedding* outEmbedding);

/// As srCreateEmbedding, for a caller who may cancel.
SR_MUST_USE srResult srCreateEmbeddingWithProgress(const srCage* cage, const srVec3* points,
                                                   const int32_t* hints, int32_t pointCount,
                                                   const srProgress* progress, srEmbedding* outEmbedding);

/// Where points are taken as they are. Farther than a million sizes of the cage they are pulled in any case,
/// so they may be cut there, and no square of a coordinate overflows.
typedef struct srReach {
    srVec3 lower;
    srVec3 upper;
    srVec3 middle; ///< Of the cage's bounds,
    double size;   ///< and their diagonal.
} srReach;

srReach srFindReach(const srCage* cage);

static inline srVec3 srCutToReach(srReach reach, srVec3 point) {
    return srMin(srMax(point, reach.lower), reach.upper);
}

/// Accepts a zeroed embedding.
void srDestroyEmbedding(srEmbedding* embedding);
