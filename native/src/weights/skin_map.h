// SPDX-License-Identifier: GPL-3.0-or-later
//
// From where the skin is to where the cage is, for characters that something else than bones moves (dual
// quaternions, bendy bones, lattices, shape keys, caches): the primary places of the nodes at each frame.

#pragma once

#include "core/error.h"
#include "math/factor.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"

/// A vertex in the right-hand side of a node
typedef struct srSkinSource {
    int32_t vertex;
    float weight;
} srSkinSource;

/// Constant once it is made. Owns its arrays.
typedef struct srSkinMap {
    int32_t nodeCount;
    int32_t vertexCount;
    double size;           ///< Of the cage.
    srVec3* nodes;         ///< At rest; likewise
    srVec3* vertices;      ///< the skin.
    double* strengths;     ///< How much each vertex counts; zero for one that is nowhere.
    int32_t* sourceStarts; ///< nodeCount + 1
    srSkinSource* sources;
    srFactor factor;
} srSkinMap;

/// `vertices` are those that `embedding` was made for. The map is linear in the skin's places, and an affine
/// motion of the skin moves all nodes so. Vertices that are not finite are left out, also when they are all.
SR_MUST_USE srResult srCreateSkinMap(const srCage* cage, const srEmbedding* embedding, const srVec3* vertices,
                                     srSkinMap* outMap);

/// Accepts a zeroed map.
void srDestroySkinMap(srSkinMap* map);

/// Bytes of scratch, which starts at a multiple of 64.
size_t srSkinMap_GetScratchSize(const srSkinMap* map);

/// Places the nodes for a skin, 3 floats a vertex. The places q minimise sum_v a_v |B q - skin|_v^2 plus a
/// measure of how much slopes change from cell to cell, so nodes within and parts without skin continue what
/// is around them; a piece of the cage without any skin moves as the skin does on the whole. What the skin
/// does not tell (it is flat, straight, or one vertex) is completed by a rotation. A vertex whose place is
/// not finite says, this time, what the skin does on the whole; `outSkippedCount` (nullable) counts them, and
/// without any other vertex the nodes are at rest. No heap; the same bits on any number of workers and every
/// path.
void srSkinMap_PlaceNodes(const srSkinMap* map, const float* skin, void* scratch, srVec3* outNodes,
                          int32_t* outSkippedCount);
