// SPDX-License-Identifier: GPL-3.0-or-later
//
// The matrices of bounded biharmonic weights: from cells and what is given on nodes to a problem over the
// nodes that are free.

#pragma once

#include "weights/biharmonic_anchors.h"
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

/// Which nodes hang together, and who of them has a bone. Owns its arrays.
typedef struct srPieces {
    int32_t* pieceOfNode; ///< The lowest node of the piece.
    bool* isHeard;        ///< By that node: the piece has a bone.
    int32_t nodeCount;
    int32_t orphanCount; ///< Pieces without a bone.
} srPieces;

SR_MUST_USE srResult srCreatePieces(const srCage* cage, const srAnchorRows* rows, srPieces* outPieces);

/// Accepts zeroed ones.
void srDestroyPieces(srPieces* pieces);

/// A problem over the free nodes of one piece and the columns that are given in it: bones of other pieces
/// have nothing there, else they would serve as slack where weights are bound. Owns its arrays.
typedef struct srBiharmonicSystem {
    srSimplexProblem problem;
    double* loads;
    double* metric;
    srVec3* places;
    int32_t* rowOfNode;    ///< `SR_NULL_INDEX` for fixed nodes and those of other pieces.
    int32_t* columns;      ///< The columns that the problem's stand for.
    int32_t* columnNumber; ///< Of each column there is the problem's, or `SR_NULL_INDEX`.
    int32_t nodeCount;
    int32_t rowCount;
    int32_t columnCount; ///< There are.
} srBiharmonicSystem;

/// `piece` is heard. No rows: all of it is fixed.
SR_MUST_USE srResult srCreateBiharmonicSystem(const srCage* cage, const srStiffness* stiffness,
                                              const srAnchorRows* rows, const srPieces* pieces, int32_t piece,
                                              int32_t columnCount, srBiharmonicSystem* outSystem);

/// Fills `outNodes` with the nodes of all rows and lets `rowOfNode` go: each is as long as the cage, and
/// there may be many pieces.
void srTakeNodes(srBiharmonicSystem* system, int32_t* outNodes);

/// Accepts a zeroed system.
void srDestroyBiharmonicSystem(srBiharmonicSystem* system);
