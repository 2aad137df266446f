// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points fixed in the cage: each an affine combination of the four nodes of one cell, exact for affine
// motion.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

/// Point i = sum over c of weights[i][c] * node[nodes[i][c]]; weights sum to one. Owns its arrays.
typedef struct srEmbedding {
    int32_t (*nodes)[4];
    float (*weights)[4];
    int32_t pointCount;
    int32_t outsideCount;    ///< Points outside of every cell; they follow the nearest cell.
    double largestWeightSum; ///< The largest sum of absolute weights; 1 when all points are inside.
} srEmbedding;

/// A point that is not finite gets weights (1, 0, 0, 0) on node 0, four times node 0, and counts as outside.
/// Weights of outside points are bounded: the sum of their absolute values is at most 4; beyond that the
/// point is pulled towards the cell. Affine motion is exact for all others. No points: an empty embedding.
SR_MUST_USE srResult srCreateEmbedding(const srCage* cage, const srVec3* points, int32_t pointCount,
                                       srEmbedding* outEmbedding);

/// Accepts a zeroed embedding.
void srDestroyEmbedding(srEmbedding* embedding);
