// SPDX-License-Identifier: GPL-3.0-or-later
//
// All kernels of one path and their table: include it with SR_TABLE (the table's name) defined.

#include "solver/solver_kernels.h"

#include "math/rotation.h"
#include "math/simd_rows.h"

#define SR_WIDE 1
#define SR_DOUBLE 0
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"

#include "solver/place_kernels.inl"

#include "solver/advance_kernels.inl"
#include "solver/cell_kernels.inl"
#include "solver/constraint_kernels.inl"
#include "solver/handle_kernels.inl"
#include "solver/patch_kernels.inl"

const srSolverKernels SR_TABLE = {
    .solveCells = solveCells,
    .addForces = addForces,
    .poseCells = poseCells,
    .posePatches = posePatches,
    .solvePatches = solvePatches,
    .solveDistances = solveDistances,
    .solveVolumes = solveVolumes,
    .finishNodes = finishNodes,
    .predictNodes = predictNodes,
    .restrictNodes = restrictNodes,
    .prolongNodes = prolongNodes,
};
