// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wide kernels of rotation.h and svd.h, a table for each path of simd_path.h. Inner to rotation.c and
// the files that make a table.

#pragma once

#include "math/rotation.h"
#include "math/svd.h"

typedef struct srRotationTable {
    void (*findRotations)(const srMat3Block* F, srMat3Block* outR, int32_t blockCount);
    void (*findRotationsF)(const srMat3Blockf* F, srMat3Blockf* outR, int32_t blockCount);
    int32_t (*findTurns)(const srMat3Block* F, srMat3Block* outR, srTurnBlock* outT, int32_t blockCount);
    int32_t (*findTurnsF)(const srMat3Blockf* F, srMat3Blockf* outR, srTurnBlockf* outT, int32_t blockCount);
    void (*turnRotations)(const srMat3Block* R, const srTurnBlock* T, const srMat3Block* dF,
                          srMat3Block* outDR, int32_t blockCount);
    void (*turnRotationsF)(const srMat3Blockf* R, const srTurnBlockf* T, const srMat3Blockf* dF,
                           srMat3Blockf* outDR, int32_t blockCount);
    void (*decompose)(const srMat3Block* F, srSvdBlock* outSvds, int32_t blockCount);
    void (*decomposeF)(const srMat3Blockf* F, srSvdBlockf* outSvds, int32_t blockCount);
    void (*findTwists)(const srSvdBlock* svds, srTwistBlock* outTwists, int32_t blockCount);
    void (*findTwistsF)(const srSvdBlockf* svds, srTwistBlockf* outTwists, int32_t blockCount);
} srRotationTable;

extern const srRotationTable srRotationTableScalar, srRotationTableAvx2, srRotationTableNeon;

/// The table of the path that srGetSimdPath tells.
const srRotationTable* srGetRotationTable(void);
