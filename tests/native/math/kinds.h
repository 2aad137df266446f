// SPDX-License-Identifier: GPL-3.0-or-later
//
// 3 x 3 matrices of every kind that a rotation may be asked of, made from singular values and random
// rotations; the same bits on every machine. Lives here: inputs, and how far a matrix is from a rotation.
// Does not: what is expected.

#pragma once

#include "math/mat3.h"

#include <math.h>
#include <stdint.h>

typedef enum srKind {
    kind_random,
    kind_nearRotation,
    kind_inverted,
    kind_flat,
    kind_line,
    kind_zero,
    kind_equal,
    kind_huge,
    kind_tiny,
    kind_opposite,
    kind_wild,
    kind_count
} srKind;

static const char* const srKindNames[kind_count] = {
    "random", "near a rotation", "inverted",         "flat", "line", "zero", "equal singular values", "huge",
    "tiny",   "s2 ~ -s3",        "all sizes at once"};

// in [0, 1); not the one of the tests' support, because this also runs where that does not
static inline double srNextRandom(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

static inline double srNextSigned(uint64_t* state) {
    return 2.0 * srNextRandom(state) - 1.0;
}

// a power of ten times random bits, from 1e-10 to 1
static inline double srNextSmall(uint64_t* state) {
    static const double powers[10] = {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    double power = powers[(int)(10.0 * srNextRandom(state))];
    return power * (0.1 + 0.9 * srNextRandom(state));
}

// of a quaternion of length one
static inline srMat3 srRotationOf(const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (srMat3){{{w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                     {2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)},
                     {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z}}};
}

static inline srMat3 srRandomRotation(uint64_t* state) {
    double q[4];
    double size;
    do {
        size = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = srNextSigned(state);
            size += q[i] * q[i];
        }
    } while (size < 0.01 || size > 1.0);
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(size);
    }
    return srRotationOf(q);
}

static inline srMat3 srRandomEntries(double size, uint64_t* state) {
    srMat3 A;
    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] = size * srNextSigned(state);
    }
    return A;
}

// U diag(s) V' for random U and V
static inline srMat3 srFromSingularValues(double s1, double s2, double s3, uint64_t* state) {
    srMat3 U = srRandomRotation(state);
    srMat3 V = srRandomRotation(state);
    for (int i = 0; i < 3; i++) {
        U.m[i][0] *= s1;
        U.m[i][1] *= s2;
        U.m[i][2] *= s3;
    }
    V = srTranspose3(&V);
    return srMul3(&U, &V);
}

static inline srMat3 srNearRotation(double size, uint64_t* state) {
    srMat3 R = srRandomRotation(state);
    for (int i = 0; i < 9; i++) {
        R.m[i / 3][i % 3] += size * srNextSigned(state);
    }
    return R;
}

// entries of all sizes: about one, huge or tiny
static inline srMat3 srRandomWild(double choice, uint64_t* state) {
    double size = choice < 0.3 ? 1e9 : choice < 0.6 ? 1e-25 : 1.0;
    srMat3 A = srRandomEntries(size, state);
    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] *= srNextSmall(state);
    }
    return A;
}

// a power of ten that is no ordinary size: 1e12, 1e18, ... 1e36, with sums of squares beyond float
static inline double srNextExtreme(uint64_t* state) {
    static const double powers[5] = {1e12, 1e18, 1e24, 1e30, 1e36};
    return powers[(int)(5.0 * srNextRandom(state))];
}

static inline srMat3 srRandomOfKind(srKind kind, uint64_t* state) {
    double a = srNextRandom(state);
    double b = srNextRandom(state);
    double small = srNextSmall(state);
    double s1 = 1.0 + a;
    switch (kind) {
    case kind_nearRotation:
        return srNearRotation(0.5 * small, state);
    case kind_inverted:
        return srFromSingularValues(s1, 0.2 + 0.8 * b, -(0.2 + 0.8 * b) * srNextRandom(state), state);
    case kind_flat:
        return srFromSingularValues(s1, 0.1 + 0.9 * b, a < 0.5 ? 0.0 : 1e-9 * srNextSigned(state), state);
    case kind_line:
        return srFromSingularValues(s1, b < 0.3 ? 0.0 : 1e-4 * small * b, b < 0.6 ? 0.0 : 1e-4 * small * a,
                                    state);
    case kind_zero:
        return (srMat3){{{0.0, -0.0, 0.0}, {a < 0.5 ? 0.0 : -0.0, 0.0, 0.0}, {0.0, 0.0, -0.0}}};
    case kind_equal:
        return srFromSingularValues(s1, b < 0.5 ? s1 : 0.5, b < 0.5 ? s1 : b < 0.7 ? 0.5 : -0.5, state);
    case kind_huge:
        return srRandomEntries(srNextExtreme(state), state);
    case kind_tiny:
        return srRandomEntries(1.0 / srNextExtreme(state), state);
    case kind_opposite:
        return srFromSingularValues(s1, 0.1 + 0.9 * b, -(0.1 + 0.9 * b) * (1.0 - (a < 0.2 ? 0.0 : small)),
                                    state);
    case kind_wild:
        return srRandomWild(b, state);
    default:
        return srRandomEntries(1.0, state);
    }
}

// What is huge or tiny for a float, as much so for a double: exactly times 2^880 or its inverse.
static inline srMat3 srStretchToDouble(srKind kind, const srMat3* A) {
    double factor = kind == kind_huge ? 0x1p880 : kind == kind_tiny ? 0x1p-880 : 1.0;
    srMat3 B = *A;
    for (int i = 0; i < 9; i++) {
        B.m[i / 3][i % 3] *= factor;
    }
    return B;
}

static inline srMat3f srNarrow3(const srMat3* A) {
    srMat3f B;
    for (int i = 0; i < 9; i++) {
        B.m[i / 3][i % 3] = (float)A->m[i / 3][i % 3];
    }
    return B;
}

static inline srMat3 srWiden3(const srMat3f* A) {
    srMat3 B;
    for (int i = 0; i < 9; i++) {
        B.m[i / 3][i % 3] = (double)A->m[i / 3][i % 3];
    }
    return B;
}

// the larger of two errors; a NaN is larger than any
static inline double srWorse(double a, double b) {
    return b <= a ? a : b;
}

// the largest entry of A' A - I, and det A - 1
static inline double srErrorOfRotation(const srMat3* A) {
    double worst = fabs(srDeterminant3(A) - 1.0);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = A->m[0][i] * A->m[0][j] + A->m[1][i] * A->m[1][j] + A->m[2][i] * A->m[2][j];
            worst = srWorse(worst, fabs(dot - (i == j ? 1.0 : 0.0)));
        }
    }
    return worst;
}

// A : B
static inline double srProductOf(const srMat3* A, const srMat3* B) {
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        sum += A->m[i / 3][i % 3] * B->m[i / 3][i % 3];
    }
    return sum;
}

// the largest entry of A - B
static inline double srDistanceOf(const srMat3* A, const srMat3* B) {
    double worst = 0.0;
    for (int i = 0; i < 9; i++) {
        worst = srWorse(worst, fabs(A->m[i / 3][i % 3] - B->m[i / 3][i % 3]));
    }
    return worst;
}
