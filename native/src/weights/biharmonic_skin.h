// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a skin and its bones to weights of its vertices: cage, weights on the cage, skin, symmetry.

#pragma once

#include "softrig/weights.h"
#include "mesh/embedding.h"
#include "weights/biharmonic.h"

/// Fills `outValues` (skinVertexCount x columnCount) from a definition that was checked. A cage that nobody
/// can make is `sr_errorNoInside`, as from the mesher.
SR_MUST_USE srResult srWeighSkin(const srWeightsDef* def, const srProgress* progress, float* outValues,
                                 srWeightsReport* outReport);

/// Brings weights of nodes to points embedded in the cage, smoothly: in [0, 1], rows sum to one; zeros for a
/// point that is not finite.
SR_MUST_USE srResult srBringWeightsToPoints(const srCage* cage, const srEmbedding* embedding,
                                            const srVec3* points, const float* nodeWeights,
                                            int32_t columnCount, float* outValues);

/// Of each point its mirror image at x -> -x, `SR_NULL_INDEX` where there is none within `tolerance`; a point
/// in the middle is its own. Images of images are the points themselves. Returns how many have one.
SR_MUST_USE srResult srFindMirrorImages(const srVec3* points, int32_t pointCount, double tolerance,
                                        int32_t* outImages, int32_t* outCount);
