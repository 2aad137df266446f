// SPDX-License-Identifier: GPL-3.0-or-later
//
// The matrices of bounded biharmonic weights: from cells and what is given on nodes to a problem over the nodes
// that are free.

#pragma once

#include "weights/biharmonic_handles.h"
#include "weights/biharmonic_loop.h"

/// The stiffness K, row by row, both triangles, and the lumped masses M; lengths in units of the cube root of
/// the cage's volume. Owns its arrays.
typedef struct srStiffness {
    int32_t nodeCount;
    int32_t* starts; ///< nodeCount + 1
    int32_t* nodes;
    double* values;
    double* masses;
    double unit; ///< That length.
} srStiffness;

/// `sr_errorBadMesh` when a cell is too flat for numbers.
SR_MUST_USE srResult srCreateStiffness(const srCage* cage, srStiffness* outStiffness);

/// Accepts zeroed ones.
void srDestroyStiffness(srStiffness* stiffness);

/// A problem over the free nodes of pieces that have a bone. Owns its arrays.
typedef struct srBiharmonicSystem {
    srSimplexProblem problem;
    double* loads;
    double* metric;
    srVec3* places;
    int32_t* rowOfNode;   ///< `SR_NULL_INDEX` for fixed nodes and orphans.
    int32_t* pieceOfNode; ///< The lowest node of the piece.
    bool* isHeard;        ///< By that node: the piece has a bone.
    int32_t nodeCount;
    int32_t rowCount;
    int32_t orphanCount; ///< Pieces without a bone.
} srBiharmonicSystem;

SR_MUST_USE srResult srCreateBiharmonicSystem(const srCage* cage, const srStiffness* stiffness,
                                              const srHandleRows* rows, int32_t columnCount,
                                              srBiharmonicSystem* outSystem);

/// Accepts a zeroed system.
void srDestroyBiharmonicSystem(srBiharmonicSystem* system);
