// SPDX-License-Identifier: GPL-3.0-or-later
//
// 3 x 3 matrices, one by one and in blocks of eight for wide kernels. Rows first: m[i][j] is row i, column j.

#pragma once

#include <stdalign.h>
#include <stdint.h>

#define SR_BLOCK_LANES 8

typedef struct srMat3 {
    double m[3][3];
} srMat3;

typedef struct srMat3f {
    float m[3][3];
} srMat3f;

/// Eight matrices, entry by entry: matrix i of an array is lane i % 8 of block i / 8. Lanes past the last
/// matrix are zero. What a kernel does to a lane does not depend on the others.
typedef struct srMat3Block {
    alignas(64) double m[3][3][SR_BLOCK_LANES];
} srMat3Block;

typedef struct srMat3Blockf {
    alignas(32) float m[3][3][SR_BLOCK_LANES];
} srMat3Blockf;

/// Blocks that hold `count` matrices.
static inline int32_t srGetBlockCount(int32_t count) {
    return count / SR_BLOCK_LANES + (count % SR_BLOCK_LANES != 0);
}

static inline srMat3 srGetLane(const srMat3Block* block, int32_t lane) {
    srMat3 A;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] = block->m[i][j][lane];
        }
    }
    return A;
}

static inline srMat3f srGetLaneF(const srMat3Blockf* block, int32_t lane) {
    srMat3f A;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A.m[i][j] = block->m[i][j][lane];
        }
    }
    return A;
}

static inline void srSetLane(srMat3Block* block, int32_t lane, const srMat3* A) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            block->m[i][j][lane] = A->m[i][j];
        }
    }
}

static inline void srSetLaneF(srMat3Blockf* block, int32_t lane, const srMat3f* A) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            block->m[i][j][lane] = A->m[i][j];
        }
    }
}

static inline srMat3 srIdentity3(void) {
    return (srMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

/// A B
static inline srMat3 srMul3(const srMat3* A, const srMat3* B) {
    srMat3 C;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
        }
    }
    return C;
}

static inline srMat3 srTranspose3(const srMat3* A) {
    srMat3 B;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B.m[i][j] = A->m[j][i];
        }
    }
    return B;
}

static inline double srDeterminant3(const srMat3* A) {
    return A->m[0][0] * (A->m[1][1] * A->m[2][2] - A->m[1][2] * A->m[2][1]) -
           A->m[0][1] * (A->m[1][0] * A->m[2][2] - A->m[1][2] * A->m[2][0]) +
           A->m[0][2] * (A->m[1][0] * A->m[2][1] - A->m[1][1] * A->m[2][0]);
}
