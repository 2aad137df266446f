// SPDX-License-Identifier: GPL-3.0-or-later
//
// The signed singular value decomposition F = U diag(s) V' of 3 x 3 matrices, U and V rotations, s[0] >= s[1]
// >= |s[2]|, the sign of det F in s[2]; and from it the three twists along which the rotation of F turns. For
// whole arrays by wide kernels, and one by one; the same bits, on every machine. Nothing here allocates or
// fails; all is thread-safe.
//
// Any F will do, from the smallest to the largest numbers: the matrix is scaled by a power of two first.
// Errors of U, V and of U diag(s) V' - F, relative to s[0], are below 24 eps (2^-24 or 2^-53). A matrix that
// holds an infinity or a NaN counts as zero, and zero has U = V = I. A singular value too large for its type
// is cut at the largest number.

#pragma once

#include "math/mat3.h"

#include <stdalign.h>

typedef struct srSvd {
    srMat3 U, V;
    double s[3];
} srSvd;

typedef struct srSvdf {
    srMat3f U, V;
    float s[3];
} srSvdf;

typedef struct srSvdBlock {
    srMat3Block U, V;
    alignas(64) double s[3][SR_BLOCK_LANES];
} srSvdBlock;

typedef struct srSvdBlockf {
    srMat3Blockf U, V;
    alignas(32) float s[3][SR_BLOCK_LANES];
} srSvdBlockf;

srSvd srDecompose(const srMat3* F);
srSvdf srDecomposeF(const srMat3f* F);
void srDecomposeBlocks(const srMat3Block* F, srSvdBlock* outSvds, int32_t blockCount);
void srDecomposeBlocksF(const srMat3Blockf* F, srSvdBlockf* outSvds, int32_t blockCount);

/// The change of the rotation R(F) (rotation.h) by its eigenvectors: dR = sum_i eigenvalues[i] (Q_i : dF)
/// Q_i, with Q_i : Q_j = 1 for i = j, else 0. Q_0 twists in the plane of the two small singular values, Q_1
/// in that of the third and first, Q_2 in that of the first and second; the eigenvalue is 2 over their sum,
/// cut as srTurn is, at the largest number for the tiniest F. So the energy mu |F - R|^2 has the Hessian 2 mu
/// (I - that), and its only eigenvalues that are not 2 mu are 2 mu (1 - eigenvalues[i]), along Q_i.
typedef struct srTwists {
    srMat3 Q[3];
    double eigenvalues[3];
} srTwists;

typedef struct srTwistsf {
    srMat3f Q[3];
    float eigenvalues[3];
} srTwistsf;

typedef struct srTwistBlock {
    srMat3Block Q[3];
    alignas(64) double eigenvalues[3][SR_BLOCK_LANES];
} srTwistBlock;

typedef struct srTwistBlockf {
    srMat3Blockf Q[3];
    alignas(32) float eigenvalues[3][SR_BLOCK_LANES];
} srTwistBlockf;

srTwists srFindTwists(const srSvd* svd);
srTwistsf srFindTwistsF(const srSvdf* svd);
void srFindTwistBlocks(const srSvdBlock* svds, srTwistBlock* outTwists, int32_t blockCount);
void srFindTwistBlocksF(const srSvdBlockf* svds, srTwistBlockf* outTwists, int32_t blockCount);
