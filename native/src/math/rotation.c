// SPDX-License-Identifier: GPL-3.0-or-later
//
// The choice of the path, and the same kernels compiled for plain numbers.

#include "math/rotation.h"

#include "math/rotation_table.h"
#include "math/simd.h"
#include "math/simd_path.h"

const srRotationTable* srGetRotationTable(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
    case sr_simdAvx512:
        return &srRotationTableAvx2;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srRotationTableNeon;
#endif
    default:
        return &srRotationTableScalar;
    }
}

void srFindRotations(const srMat3Block* F, srMat3Block* outR, int32_t blockCount) {
    srGetRotationTable()->findRotations(F, outR, blockCount);
}

void srFindRotationsF(const srMat3Blockf* F, srMat3Blockf* outR, int32_t blockCount) {
    srGetRotationTable()->findRotationsF(F, outR, blockCount);
}

int32_t srFindTurns(const srMat3Block* F, srMat3Block* outR, srTurnBlock* outT, int32_t blockCount) {
    return srGetRotationTable()->findTurns(F, outR, outT, blockCount);
}

int32_t srFindTurnsF(const srMat3Blockf* F, srMat3Blockf* outR, srTurnBlockf* outT, int32_t blockCount) {
    return srGetRotationTable()->findTurnsF(F, outR, outT, blockCount);
}

void srTurnRotations(const srMat3Block* R, const srTurnBlock* T, const srMat3Block* dF, srMat3Block* outDR,
                     int32_t blockCount) {
    srGetRotationTable()->turnRotations(R, T, dF, outDR, blockCount);
}

void srTurnRotationsF(const srMat3Blockf* R, const srTurnBlockf* T, const srMat3Blockf* dF,
                      srMat3Blockf* outDR, int32_t blockCount) {
    srGetRotationTable()->turnRotationsF(R, T, dF, outDR, blockCount);
}

void srDecomposeBlocks(const srMat3Block* F, srSvdBlock* outSvds, int32_t blockCount) {
    srGetRotationTable()->decompose(F, outSvds, blockCount);
}

void srDecomposeBlocksF(const srMat3Blockf* F, srSvdBlockf* outSvds, int32_t blockCount) {
    srGetRotationTable()->decomposeF(F, outSvds, blockCount);
}

void srFindTwistBlocks(const srSvdBlock* svds, srTwistBlock* outTwists, int32_t blockCount) {
    srGetRotationTable()->findTwists(svds, outTwists, blockCount);
}

void srFindTwistBlocksF(const srSvdBlockf* svds, srTwistBlockf* outTwists, int32_t blockCount) {
    srGetRotationTable()->findTwistsF(svds, outTwists, blockCount);
}

#define SR_WIDE 0

#define SR_DOUBLE 0
#include "math/rotation_plain.inl"
#undef SR_DOUBLE

#define SR_DOUBLE 1
#include "math/rotation_plain.inl"
#undef SR_DOUBLE
