// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of one path: include it with SR_NEWTON_TABLE, the name of the table to make, defined.

#include "solver/newton_kernels.h"

#include "math/simd_rows.h"

#define SR_WIDE 1

#define SR_DOUBLE 0
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"
#include "elastic/energies.inl"
#include "solver/cell_blocks.inl"
#include "solver/cell_hessian.inl"
#undef SR_DOUBLE

#define SR_DOUBLE 1
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"
#include "elastic/energies.inl"
#include "solver/cell_blocks.inl"
#include "solver/cell_gradient.inl"
#undef SR_DOUBLE

#include "solver/pointrows.inl"
#include "solver/rigrows.inl"

const srNewtonTable SR_NEWTON_TABLE = {
    .pose = poseCells,
    .evaluate = evaluateCells,
    .multiplyHessian = multiplyCells,
    .dotRows = dotRows,
    .dotPacked = dotPacked,
    .turnRows = turnRows,
    .advanceRows = advanceRows,
    .multiplyBones = multiplyBones,
    .multiplyBonesFloat = multiplyBonesFloat,
    .subtractBones = subtractBones,
};
