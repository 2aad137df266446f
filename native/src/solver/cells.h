// SPDX-License-Identifier: GPL-3.0-or-later
//
// The elastic energy of all cells of a cage, its gradient and products with its Hessian, by wide kernels over
// blocks of eight cells. Lives here: sums over cells. Does not: inertia, constraints, time.
//
// Points are rows of x, y, z, 0. A cell's energy is w / 2 |F - Q S|^2: F its deformation gradient, S the
// symmetric stretch that it is measured against (I for the modelled shape), Q the rotation that brings F S
// closest to it, w = 2 mu V. With S = I this is ARAP (Chao, Pinkall, Sanan, Schröder 2010). Its gradient is
// w (F - Q S), because a change of Q is of second order; its Hessian takes dF to w (dF - dQ S). Other
// materials (elastic/energies.inl) are measured against the modelled shape alone.
//
// Volumes are kept by patches, the cells of a block together: a volume that each cell keeps by itself locks a
// cage when it is nearly constant, as there are more cells than motions. A patch stores K / 2 (sum V det F -
// target)^2; its gradient is p V cof F with p = K (sum - target).

#pragma once

#include "elastic/material.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "solver/chunks.h"

#include <stdbool.h>

#define SR_POINT 4 // numbers of a row

typedef struct srCellCorners {
    int32_t nodes[4][SR_BLOCK_LANES];
} srCellCorners;

/// One number for each of eight cells.
typedef struct srCellNumbers {
    alignas(64) double x[SR_BLOCK_LANES];
} srCellNumbers;

typedef struct srCellNumbersf {
    alignas(32) float x[SR_BLOCK_LANES];
} srCellNumbersf;

/// Which cells, in an order made for several workers: blocks of chunk k are starts[k] .. starts[k + 1] - 1,
/// chunks of equal parity share no node. The cells of a block are neighbours: a patch. Lanes that are left
/// over repeat a cell of their chunk. Owns its arrays.
typedef struct srCellLayout {
    int32_t nodeCount;
    int32_t blockCount;
    int32_t chunkCount;
    int32_t* starts;        ///< chunkCount + 1
    srCellCorners* corners; ///< a block
    int32_t* cells;         ///< The caller's cell of each lane; SR_NULL_INDEX for one that is left over.
} srCellLayout;

SR_MUST_USE srResult srCreateCellLayout(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                                        int32_t cellCount, srCellLayout* outLayout);

/// Accepts a zeroed layout.
void srDestroyCellLayout(srCellLayout* layout);

/// Shapes and stiffnesses, in world units, one block each. Owns its arrays.
typedef struct srCellShapes {
    srMat3Block* inverses; ///< B = [X1 - X0, X2 - X0, X3 - X0]^-1, so that F = [x1 - x0, ..] B.
    srMat3Blockf* inversesF;
    srCellNumbers* weights; ///< w = 2 mu V; 0 for what is left over.
    srCellNumbersf* weightsF;
    srCellNumbers* bulkWeights; ///< lambda V; read by materials other than ARAP.
    srCellNumbersf* bulkWeightsF;
    srElasticModel model;
    srCellNumbers* masses;  ///< Of a corner: a quarter of the cell's.
    srCellNumbers* volumes; ///< V; 0 for what is left over.
    srCellNumbersf* volumesF;
    double* patchStiffnesses; ///< K of a block's volume; 0: it keeps none.
    double* patchVolumes;     ///< Of a block at rest.
    bool keepsVolumes;        ///< Any block does.
} srCellShapes;

SR_MUST_USE srResult srCreateCellShapes(const srCellLayout* layout, srCellShapes* outShapes);
void srDestroyCellShapes(const srCellLayout* layout, srCellShapes* shapes);

/// What cells are measured against. Of a posed cage the stretches S; null pointers stand for S = I.
typedef struct srCellStretches {
    srTurnBlock* stretches; ///< xx, yy, zz, xy, yz, zx
    srTurnBlockf* stretchesF;
    double* targets; ///< Of a block's volume; not null where volumes are kept.
    double swell;    ///< What other materials' volume term wants (srFindSwell); posing does not fill it.
} srCellStretches;

/// How to pose: S = (1 - c) S_p + c I with F_p = R_p S_p the posed cell; the target of a volume likewise,
/// between the posed and the modelled one.
typedef struct srCellPosing {
    double poseCorrection; ///< c
    double pressure;       ///< By how much of itself each target is larger.
    srVec3 gravity;        ///< Every corner is pulled by m (gravity - R_p restGravity),
    srVec3 restGravity;    ///< in the space of the modelled shape.
} srCellPosing;

/// Where each cell stands in a state of the cage: what products with the Hessian need.
typedef struct srCellTurns {
    srMat3Blockf* rotations; ///< Q; of materials that know no rotation F.
    srTurnBlockf* turns;     ///< How Q turns (rotation.h).
    srMat3Blockf* gradients; ///< F, where volumes are kept; null where `rotations` are F.
    float* pressures;        ///< p of a block, likewise.
} srCellTurns;

/// Fills the stretches and targets (unless null) and adds gravity's pull to `loads` (unless null). `points`
/// is p.
void srCells_Pose(const srCellLayout* layout, const srCellShapes* shapes, const srCellPosing* posing,
                  const double* points, const srCellStretches* outStretches, double* loads);

/// Adds the energy's gradient at `points` to `gradient` and returns the energy. Fills `outTurns`.
/// `partials` has room for a number a chunk.
double srCells_Evaluate(const srCellLayout* layout, const srCellShapes* shapes,
                        const srCellStretches* stretches, const double* points, double* gradient,
                        const srCellTurns* outTurns, double* partials);

/// products += Hessian times `directions`, in float. Rows beyond the last node are not read.
void srCells_MultiplyHessian(const srCellLayout* layout, const srCellShapes* shapes,
                             const srCellStretches* stretches, const srCellTurns* turns,
                             const float* directions, float* products);
