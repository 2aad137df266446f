// SPDX-License-Identifier: GPL-3.0-or-later
//
// Affine maps of space as 3 x 4 matrices in double: three rows, the translation in the last column.

#pragma once

#include "math/vec3.h"

#include <stdbool.h>

typedef struct srMat34 {
    double m[3][4];
} srMat34;

static inline srMat34 srIdentity34(void) {
    return (srMat34){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

/// From 16 floats in column-major order; the fourth row is taken for 0 0 0 1.
static inline srMat34 srFromColumns16(const float* columns) {
    srMat34 A;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            A.m[i][j] = (double)columns[4 * j + i];
        }
    }
    return A;
}

/// A B: first B, then A.
static inline srMat34 srMul34(const srMat34* A, const srMat34* B) {
    srMat34 C;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            double sum = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
            C.m[i][j] = j == 3 ? sum + A->m[i][3] : sum;
        }
    }
    return C;
}

static inline srVec3 srMulPoint34(const srMat34* A, srVec3 x) {
    return (srVec3){
        A->m[0][0] * x.x + A->m[0][1] * x.y + A->m[0][2] * x.z + A->m[0][3],
        A->m[1][0] * x.x + A->m[1][1] * x.y + A->m[1][2] * x.z + A->m[1][3],
        A->m[2][0] * x.x + A->m[2][1] * x.y + A->m[2][2] * x.z + A->m[2][3],
    };
}

/// The linear part alone: for directions and offsets.
static inline srVec3 srMulVector34(const srMat34* A, srVec3 x) {
    return (srVec3){
        A->m[0][0] * x.x + A->m[0][1] * x.y + A->m[0][2] * x.z,
        A->m[1][0] * x.x + A->m[1][1] * x.y + A->m[1][2] * x.z,
        A->m[2][0] * x.x + A->m[2][1] * x.y + A->m[2][2] * x.z,
    };
}

static inline double srDeterminant34(const srMat34* A) {
    srVec3 a = {A->m[0][0], A->m[1][0], A->m[2][0]};
    srVec3 b = {A->m[0][1], A->m[1][1], A->m[2][1]};
    srVec3 c = {A->m[0][2], A->m[1][2], A->m[2][2]};
    return srDot(a, srCross(b, c));
}

/// The inverse map. False, and all zeros, when A squashes space flat (a bone or an object scaled to zero).
static inline bool srInvert34(const srMat34* A, srMat34* outInverse) {
    *outInverse = (srMat34){{{0}}};
    double determinant = srDeterminant34(A);
    double inverse = 1.0 / determinant;
    if (!(inverse - inverse == 0.0)) { // zero, NaN, or so small that its inverse is infinite
        return false;
    }

    // rows of the inverse are cross products of the columns
    srVec3 a = {A->m[0][0], A->m[1][0], A->m[2][0]};
    srVec3 b = {A->m[0][1], A->m[1][1], A->m[2][1]};
    srVec3 c = {A->m[0][2], A->m[1][2], A->m[2][2]};
    srVec3 rows[3] = {srScale(inverse, srCross(b, c)), srScale(inverse, srCross(c, a)),
                      srScale(inverse, srCross(a, b))};
    srVec3 translation = {A->m[0][3], A->m[1][3], A->m[2][3]};
    for (int i = 0; i < 3; ++i) {
        outInverse->m[i][0] = rows[i].x;
        outInverse->m[i][1] = rows[i].y;
        outInverse->m[i][2] = rows[i].z;
        outInverse->m[i][3] = -srDot(rows[i], translation);
    }
    return true;
}

/// The real cube root of a positive number, by Newton's method, so that it is the same on every platform.
static inline double srCubeRoot(double x) {
    if (!(x > 0.0)) {
        return 0.0;
    }
    int exponent;
    double mantissa = frexp(x, &exponent);
    int third = exponent / 3;
    mantissa = ldexp(mantissa, exponent - 3 * third); // in [1/8, 4)
    double root = 1.0;
    for (int i = 0; i < 12; ++i) {
        root = (2.0 * root + mantissa / (root * root)) / 3.0;
    }
    return ldexp(root, third);
}
