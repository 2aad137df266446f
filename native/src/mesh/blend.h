// SPDX-License-Identifier: GPL-3.0-or-later
//
// What brings vectors on the nodes of a cage smoothly to points embedded in it. Straight interpolation bends
// at every face between cells, which a highlight shows; this does not (docs/decisions/0011). Lives here: the
// weights and their layout. Does not: their use (interpolation.h).

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"

#include <stddef.h>
#include <stdint.h>

/// Maps that a point may take a share of.
#define SR_MOST_SHARES 24

/// How a neighbour takes part in the slope of a map: half of the gradient of its weight.
typedef struct srSlope {
    float gradient[3];
    int32_t node;
} srSlope;

/// Points of equal count of shares, one after the other.
typedef struct srBlendRun {
    int32_t firstPoint;
    int32_t pointCount;
    int32_t shareCount; ///< Of each of its points.
    int32_t reserved;   ///< Zero: runs are stored as they are.
    int64_t firstShare;
} srBlendRun;

/// Every node c near the points has a map m_c( X ) = u_c + G_c (X - x_c), where G_c = sum_j (u_j - u_c) g_cj'
/// is half of the mean gradient of u around it. Point i takes sum_c share_c m_c( X_i ): its shares are
/// positive and sum to one. Lengths are in a unit of the size of the cage, so no size of it overflows. Owns
/// its arrays.
typedef struct srBlend {
    int32_t nodeCount; ///< Of the cage.
    int32_t mapCount;
    int32_t* mapNodes;     ///< Map m is of node mapNodes[m]; a node may have a second map, without slopes.
    float (*mapPlaces)[4]; ///< Where its node rests, from the cage's middle; the last number is zero.
    int32_t* slopeStarts;  ///< mapCount + 1
    srSlope* slopes;

    int32_t pointCount;
    srBlendRun runs[SR_MOST_SHARES + 1];
    int32_t runCount;
    int32_t* targets;   ///< The k-th point here is the caller's point targets[k].
    float (*places)[3]; ///< X of the k-th point, likewise.
    int64_t shareCount;
    float* shares;
    uint16_t* shortMaps; ///< The map of each share; null with more than 65,536 maps, then
    int32_t* longMaps;   ///< here.

    int32_t linearCount; ///< Points that are interpolated straight, because slopes would exceed the bound.
    double largestWeightSum; ///< A bound of the sums of absolute weights on nodes: at most 4.
} srBlend;

/// `points` are those that `embedding` was made for. The weights of each point on the nodes sum to one and
/// give affine motion exactly, to rounding; the sum of their absolute values is at most 4. Inside, points
/// move with the cage exactly so; a point outside takes value and slope of the nearest place of the cage, and
/// where that would exceed the bound it is pulled towards that place. They change smoothly from point to
/// point, and reach no farther than the cells around those within a quarter of a cell, from cell to cell
/// across faces. A point that is not finite gets no share: it takes the zero vector. No points: an empty
/// blend.
SR_MUST_USE srResult srCreateBlend(const srCage* cage, const srEmbedding* embedding, const srVec3* points,
                                   srBlend* outBlend);

/// As srCreateBlend, for a caller who may cancel.
SR_MUST_USE srResult srCreateBlendWithProgress(const srCage* cage, const srEmbedding* embedding,
                                               const srVec3* points, const srProgress* progress,
                                               srBlend* outBlend);

/// Accepts a zeroed blend.
void srDestroyBlend(srBlend* blend);
