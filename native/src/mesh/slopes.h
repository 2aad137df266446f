// SPDX-License-Identifier: GPL-3.0-or-later
//
// The mean slope of vectors on the nodes of a cage, around each node: the gradients of the cells there,
// averaged by volume. Exact for affine motion; unlike a fit to the neighbours it never needs a well shaped
// cell. Inner to blend.c.

#pragma once

#include "mesh/adjacency.h"
#include "mesh/blend.h"

/// Half of the slope around node i is sum over e from starts[i] on of (u[entries[e].node] - u_i)
/// entries[e].gradient'. Owns its arrays.
typedef struct srSlopes {
    int32_t* starts; ///< nodeCount + 1
    srSlope* entries;
    int32_t nodeCount;
} srSlopes;

SR_MUST_USE srResult srCreateSlopes(const srCage* cage, const srAdjacency* adjacency, srSlopes* outSlopes);

/// Accepts zeroed ones.
void srDestroySlopes(srSlopes* slopes);

/// The sum of absolute weights of u_i + G_i d on the nodes. Thread-safe.
double srSumSlopeWeights(const srSlopes* slopes, int32_t node, srVec3 d);
