// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wide kernels of one path: include it with SR_PATH_TABLE, the name of the table to make, defined.

#include "math/rotation_table.h"
#include "math/simd.h"

#define SR_WIDE 1

#define SR_DOUBLE 0
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"
#include "math/rotation_blocks.inl"
#undef SR_DOUBLE

#define SR_DOUBLE 1
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"
#include "math/rotation_blocks.inl"
#undef SR_DOUBLE

const srRotationTable SR_PATH_TABLE = {
    .findRotations = findRotationsInBlocksDoubleW,
    .findRotationsF = findRotationsInBlocksFloatW,
    .findTurns = findTurnsInBlocksDoubleW,
    .findTurnsF = findTurnsInBlocksFloatW,
    .turnRotations = turnRotationsInBlocksDoubleW,
    .turnRotationsF = turnRotationsInBlocksFloatW,
    .decompose = decomposeBlocksDoubleW,
    .decomposeF = decomposeBlocksFloatW,
    .findTwists = findTwistsInBlocksDoubleW,
    .findTwistsF = findTwistsInBlocksFloatW,
};
