// SPDX-License-Identifier: GPL-3.0-or-later
//
// The artist's vertex groups brought to the cage. Weights on the nodes are the smoothest (harmonic) ones that
// agree with the painted ones where the skin lies in the cage.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"
#include "mesh/progress.h"

#include <stdint.h>

/// Painted weights, sparse: vertex v owns entries `vertexStarts[v] .. vertexStarts[v + 1] - 1`. Weights of a
/// vertex that sum to more than zero are normalised; negative ones count as zero; a vertex without any says
/// nothing.
typedef struct srPaintedWeights {
    const int32_t* vertexStarts;
    const int32_t* bones;
    const float* weights;
    int32_t vertexCount;
    int32_t boneCount;
} srPaintedWeights;

/// Fills `outWeights`, node by node (nodeCount x boneCount): in [0, 1], each row sums to one.
/// Minimises `w' L w + sum_v a_v (B w - painted)_v^2` for every bone, L the cotangent Laplacian of the cage,
/// B the embedding, a_v large where skin is and independent of its resolution and of the unit of length. A
/// part of the cage that no painted vertex lies in takes the weights of the nearest node that has some. A
/// vertex embedded four times in one node (it is not finite) says nothing. `sr_errorInvalidValue` when no
/// vertex has a weight, a bone is out of range, starts descend or the counts of vertices differ;
/// `sr_errorNotFinite` when a weight is. `progress` may be null;
/// it is asked between the factor's phases and every few bones.
SR_MUST_USE srResult srTransferWeights(const srCage* cage, const srEmbedding* embedding,
                                       const srPaintedWeights* painted, const srProgress* progress,
                                       float* outWeights);
