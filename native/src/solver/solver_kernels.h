// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the position-based solvers do to eight constraints at a time, one table for each path of
// math/simd_path.h. Inner to this room: callers use flesh.h and pbd.h. Blocks are in lanes: lane l of a block
// is one constraint; a lane that does nothing names a row that nothing else reads, with zeros in all else.
//
// Rows of nodes are x, y, z and the inverse mass; what moves is never the fourth.

#pragma once

#include "math/simd_path.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#define SR_LANES_PER_BLOCK 8
#define SR_ROW_FLOATS 4

/// Rest of eight cells: where the rows of the corners begin (4 floats a node, the fourth the inverse mass),
/// and the gradients of the shape functions of corners 1 to 3 (that of corner 0 is minus their sum), so that
/// F = sum over a of (x_a - x_0) g_a'.
typedef struct srCellBlock {
    alignas(32) int32_t places[4][SR_LANES_PER_BLOCK];
    float gradients[3][3][SR_LANES_PER_BLOCK]; ///< [corner - 1][axis]
} srCellBlock;

/// Material of eight cells, for one substep. With W = sum w_a g_a g_a', a and b the compliances of shape and
/// volume: gradients are given along axes in which W is diagonal, w its entries. What a cell is measured by
/// does not care for its axes at rest.
typedef struct srCellMaterial {
    alignas(32) float K[3][SR_LANES_PER_BLOCK]; ///< w / (w + a)
    float S[3][SR_LANES_PER_BLOCK];             ///< 1 / (w + a)
    float compliance[SR_LANES_PER_BLOCK];       ///< a
    float volumeCompliance[SR_LANES_PER_BLOCK]; ///< b / a
} srCellMaterial;

/// What forces need, without compensation: both moduli times volume and h^2.
typedef struct srCellForceMaterial {
    alignas(32) float shape[SR_LANES_PER_BLOCK];
    float volume[SR_LANES_PER_BLOCK];
} srCellForceMaterial;

/// What the shape of eight cells is measured against: the target G, column by column, and its determinant.
typedef struct srCellPose {
    alignas(32) float G[3][3][SR_LANES_PER_BLOCK]; ///< [column][row]
    float determinant[SR_LANES_PER_BLOCK];
    float squares[SR_LANES_PER_BLOCK]; ///< |G|^2
} srCellPose;

/// G - F of the pose where they differ, column by column.
typedef struct srCellPoseError {
    alignas(32) float A[3][3][SR_LANES_PER_BLOCK];
} srCellPoseError;

/// How eight cells are turned against G: quaternions w, x, y, z.
typedef struct srCellTurn {
    alignas(32) float q[4][SR_LANES_PER_BLOCK];
} srCellTurn;

/// Multipliers of eight cells, times their compliances.
typedef struct srCellMultiplier {
    alignas(32) float L[3][3][SR_LANES_PER_BLOCK];
    float volume[SR_LANES_PER_BLOCK];
} srCellMultiplier;

/// A run of blocks, and whatever a sweep over them needs.
typedef struct srCellSweep {
    const srCellBlock* blocks;
    const srCellMaterial* materials;
    const srCellForceMaterial* forceMaterials; ///< For forces only.
    const srCellPose* poses;
    const srCellPoseError* poseErrors; ///< Null where G is F.
    srCellTurn* turns;
    srCellMultiplier* multipliers; ///< Null for a single sweep a substep.
    float* rows;
    float* forces;  ///< Rows, for forces only: force times h^2 is added.
    bool hasFibres; ///< G is stretched at rest.
} srCellSweep;

/// One patch as kernels want it: its cells in lanes, its nodes once each.
typedef struct srPatch {
    srCellBlock cells;                       ///< Lanes without a cell name row 0 with zeros in all else.
    alignas(32) float V[SR_LANES_PER_BLOCK]; ///< Rest volumes.
    int32_t locals[4][SR_LANES_PER_BLOCK];   ///< The corner's place in `nodes`.
    int32_t nodes[4 * SR_LANES_PER_BLOCK];
    int32_t nodeCount;
    int32_t batches[SR_LANES_PER_BLOCK]; ///< Where the cell stands among the flesh's batches, and its lane;
    int32_t lanes[SR_LANES_PER_BLOCK];   ///< SR_NULL_INDEX where there is none.
} srPatch;

/// A patch in its pose: gradients column by column, their determinants, and by how much its volume should be
/// larger than there.
typedef struct srPatchPose {
    alignas(32) float F[3][3][SR_LANES_PER_BLOCK];
    float J[SR_LANES_PER_BLOCK];
    float wanted;
} srPatchPose;

/// A run of patches, and what a sweep over them needs.
typedef struct srPatchSweep {
    const srPatch* patches;
    const float* compliances; ///< For each patch, h^2 included; negative: it does not keep its volume.
    srPatchPose* poses;
    const float* poseRows; ///< To pose them.
    float* rows;           ///< To solve them.
    float poseCorrection;
    float side; ///< -1 in a mirror.
} srPatchSweep;

/// Eight distances between two nodes.
typedef struct srDistanceBlock {
    alignas(32) int32_t places[2][SR_LANES_PER_BLOCK]; ///< As a cell's.
    float lengths[SR_LANES_PER_BLOCK];
    float compliances[SR_LANES_PER_BLOCK]; ///< Over h^2.
    float multipliers[SR_LANES_PER_BLOCK]; ///< Of the step so far.
} srDistanceBlock;

/// Eight volumes of cells.
typedef struct srVolumeBlock {
    alignas(32) int32_t places[4][SR_LANES_PER_BLOCK];
    float sixVolumes[SR_LANES_PER_BLOCK];
    float compliances[SR_LANES_PER_BLOCK]; ///< Of six volumes, over h^2.
    float multipliers[SR_LANES_PER_BLOCK];
} srVolumeBlock;

typedef struct srConstraintSweep {
    float* rows;
    float* moves;    ///< Null moves the rows at once; else rows to which moves are added.
    float stiffness; ///< Share of each correction that is made.
    int32_t side;    ///< 1: pulls only, what is too long; -1: pushes only; 0: both.
} srConstraintSweep;

/// Nodes under smooth handles (coarse.h): handle j has the members starts[j] to starts[j + 1] - 1, each a
/// node and its weight; `places` and `centres` are rows.
typedef struct srHandleMember {
    int32_t node;
    float weight;
} srHandleMember;

typedef struct srHandleMap {
    const int32_t* starts;
    const srHandleMember* members;
    const float* places;
    const float* centres;
    int32_t handleCount;
} srHandleMap;

/// How nodes go on from one substep to the next (flesh.c). Rows; `carries`, `pulls` and `weights` a node.
typedef struct srAdvance {
    float* rows;
    float* starts;
    float* velocities;
    float* earlierStarts; ///< Null for a formula that knows no past; likewise:
    float* earlierVelocities;
    bool hasPast; ///< What is earlier is known, and the step is one of second order.
    const float* carries;
    const float* pulls;
    const float* weights;
    float* predicted; ///< Null, or gets the rows too.
    float ahead;
    float perSecond;
    float beyond;
} srAdvance;

#define SR_HANDLE_FLOATS 16 ///< Of a handle: a row for each of [X; 1].

typedef struct srSolverKernels {
    /// Blocks `begin` to `end` - 1, one after another: each cell takes `turnSteps` Newton steps of its
    /// rotation, then is solved.
    void (*solveCells)(const srCellSweep* sweep, int32_t begin, int32_t end, int32_t turnSteps);
    /// The cells only add their forces, each turned by one step, which is not kept.
    void (*addForces)(const srCellSweep* sweep, int32_t begin, int32_t end);
    /// F of each cell from the rows of a pose, and its determinant.
    void (*poseCells)(const srCellBlock* blocks, const float* rows, srCellPose* outPoses, int32_t begin,
                      int32_t end);
    /// Blocks `begin` to `end` - 1, one after another.
    void (*solveDistances)(const srConstraintSweep* sweep, srDistanceBlock* blocks, int32_t begin,
                           int32_t end);
    void (*solveVolumes)(const srConstraintSweep* sweep, srVolumeBlock* blocks, int32_t begin, int32_t end);
    /// What the pose makes of patches `begin` to `end` - 1.
    void (*posePatches)(const srPatchSweep* sweep, int32_t begin, int32_t end);
    /// These patches, one after another.
    void (*solvePatches)(const srPatchSweep* sweep, int32_t begin, int32_t end);
    /// The end of a substep: rows become starts, and velocities follow.
    void (*finishNodes)(const srAdvance* advance, int32_t begin, int32_t end);
    /// The beginning of the next: rows where nodes would go by themselves.
    void (*predictNodes)(const srAdvance* advance, int32_t begin, int32_t end);
    /// Turns the forces on nodes `begin` to `end` - 1 into residuals, (predicted - row) / inverse mass +
    /// force, and sums those of each handle's members, who must be among them.
    void (*restrictNodes)(const srHandleMap* map, const float* predicted, const float* rows, float* forces,
                          float* sums, int32_t begin, int32_t end);
    /// Moves members with their handles, but none without inverse mass.
    void (*prolongNodes)(const srHandleMap* map, const float* moves, float* rows);
} srSolverKernels;

extern const srSolverKernels srSolverScalar, srSolverAvx2, srSolverNeon;

/// Of the path that is taken now.
const srSolverKernels* srGetSolverKernels(void);
