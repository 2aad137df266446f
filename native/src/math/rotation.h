// SPDX-License-Identifier: GPL-3.0-or-later
//
// The nearest rotation of a 3 x 3 matrix and how it turns when the matrix changes: for whole arrays by wide
// kernels, and one by one. Both give the same bits, on every machine. Nothing here allocates or fails; all is
// thread-safe.
//
// R(F) is the rotation (determinant +1 always, also where F is turned inside out) that makes tr(R' F) largest
// and |F - R| smallest. Where several do (the two small singular values are opposite, or F is zero or a line)
// it is one of them, the identity for zero. A matrix that holds an infinity or a NaN counts as zero. Errors,
// with s1 >= s2 >= |s3| the signed singular values and eps 2^-24 or 2^-53: R' R is within 32 eps of I, and R
// within 32 eps s1 / (s2 + s3) of the true one, which is what rounding F alone would do.
//
// Any size of F will do, but the fast way is for ordinary ones: |F| between 2^-10 and 2^10 in float, 2^-50
// and 2^50 in double. Others take some seven times as long, as do those with s2 near -s3.

#pragma once

#include "math/mat3.h"

#include <stdalign.h>
#include <stdbool.h>

srMat3 srFindRotation(const srMat3* F);
srMat3f srFindRotationF(const srMat3f* F);

/// The rotations of `blockCount` blocks; `outR` may be `F`.
void srFindRotations(const srMat3Block* F, srMat3Block* outR, int32_t blockCount);
void srFindRotationsF(const srMat3Blockf* F, srMat3Blockf* outR, int32_t blockCount);

/// How a rotation turns: when F changes by dF, R changes by dR = R [w]x with w = T axial(R' dF), axial(A) =
/// (A32 - A23, A13 - A31, A21 - A12). T is the inverse of tr(S) I - S, S = R' F; its eigenvalues are
/// 1 / (s2 + s3), 1 / (s3 + s1), 1 / (s1 + s2). These go to infinity where s2 is near -s3, so they are cut at
/// 1 / (SR_LEAST_TURN s1), and for the tiniest F at half the largest number; T of the zero matrix is zero. T
/// is symmetric: xx, yy, zz, xy, yz, zx.
typedef struct srTurn {
    double t[6];
} srTurn;

typedef struct srTurnf {
    float t[6];
} srTurnf;

typedef struct srTurnBlock {
    alignas(64) double t[6][SR_BLOCK_LANES];
} srTurnBlock;

typedef struct srTurnBlockf {
    alignas(32) float t[6][SR_BLOCK_LANES];
} srTurnBlockf;

#define SR_LEAST_TURN 0x1p-10

/// R and T at once. Returns whether an eigenvalue of T was cut.
bool srFindTurn(const srMat3* F, srMat3* outR, srTurn* outT);
bool srFindTurnF(const srMat3f* F, srMat3f* outR, srTurnf* outT);

/// Likewise for blocks. Returns how many matrices' T were cut.
int32_t srFindTurns(const srMat3Block* F, srMat3Block* outR, srTurnBlock* outT, int32_t blockCount);
int32_t srFindTurnsF(const srMat3Blockf* F, srMat3Blockf* outR, srTurnBlockf* outT, int32_t blockCount);

/// dR for a change dF. In blocks, `outDR` may be `dF`. Always finite: w is cut at a quarter of the largest
/// number, and where it, or something on the way to it, lies beyond, dR means nothing but "very large".
srMat3 srTurnRotation(const srMat3* R, const srTurn* T, const srMat3* dF);
srMat3f srTurnRotationF(const srMat3f* R, const srTurnf* T, const srMat3f* dF);
void srTurnRotations(const srMat3Block* R, const srTurnBlock* T, const srMat3Block* dF, srMat3Block* outDR,
                     int32_t blockCount);
void srTurnRotationsF(const srMat3Blockf* R, const srTurnBlockf* T, const srMat3Blockf* dF,
                      srMat3Blockf* outDR, int32_t blockCount);
