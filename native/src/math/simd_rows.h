// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points of memory to lanes and back: rows of x, y, z, 0 become a wide x, a wide y and a wide z. The only
// place where lanes meet: sums over lanes are taken in one fixed order, whatever the path. For kernels, as
// simd.h.

#pragma once

#include "math/simd.h"

/// Elements of a row in memory.
#define SR_ROW 4

typedef float srRowFloat __attribute__((vector_size(16), aligned(16)));
typedef double srRowDouble __attribute__((vector_size(32), aligned(32)));

SR_KERNEL srRowFloat srLoadRowFloat(const float* x) {
    srRowFloat row;
    memcpy(&row, x, sizeof row);
    return row;
}

SR_KERNEL srRowDouble srLoadRowDouble(const double* x) {
    srRowDouble row;
    memcpy(&row, x, sizeof row);
    return row;
}

SR_KERNEL void srStoreRowFloat(float* out, srRowFloat row) {
    memcpy(out, &row, sizeof row);
}

SR_KERNEL void srStoreRowDouble(double* out, srRowDouble row) {
    memcpy(out, &row, sizeof row);
}

// two rows, one after the other
SR_KERNEL srFloatW srJoinRows(srRowFloat a, srRowFloat b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

#if defined(SR_SIMD_TWICE)

// sixteen floats, or words, as two times eight
typedef float srFloatTwice __attribute__((vector_size(64)));
typedef uint32_t srWordTwice __attribute__((vector_size(64)));

#define SR_LOWER_OF_TWICE(v) ((srFloatW)__builtin_shufflevector((v), (v), 0, 1, 2, 3, 4, 5, 6, 7))
#define SR_UPPER_OF_TWICE(v) ((srFloatW)__builtin_shufflevector((v), (v), 8, 9, 10, 11, 12, 13, 14, 15))

SR_KERNEL srFloatTwice srJoinFloats(srFloatW a, srFloatW b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

SR_KERNEL srWordTwice srLoadWordTwice(const uint32_t* words) {
    srWordTwice v;
    memcpy(&v, words, sizeof v);
    return v;
}

SR_KERNEL srWordTwice srJoinWords(const uint32_t* a, const uint32_t* b) {
    srWordW u, v;
    memcpy(&u, a, sizeof u);
    memcpy(&v, b, sizeof v);
    return __builtin_shufflevector(u, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

SR_KERNEL srFloatTwice srLowerHalvesTwice(srWordTwice words) {
    return (srFloatTwice)(words << 16);
}

SR_KERNEL srFloatTwice srUpperHalvesTwice(srWordTwice words) {
    return (srFloatTwice)(words & 0xffff0000u);
}

#endif

#define SR_LOWER_ROW(v) __builtin_shufflevector((v), (v), 0, 1, 2, 3)
#define SR_UPPER_ROW(v) __builtin_shufflevector((v), (v), 4, 5, 6, 7)

// within each half: 0 and 1 of both, alternating; 2 and 3 of both; pairs 0 1; pairs 2 3
#define SR_MIX_LOW(a, b) __builtin_shufflevector((a), (b), 0, 8, 1, 9, 4, 12, 5, 13)
#define SR_MIX_HIGH(a, b) __builtin_shufflevector((a), (b), 2, 10, 3, 11, 6, 14, 7, 15)
#define SR_PAIR_LOW(a, b) __builtin_shufflevector((a), (b), 0, 1, 8, 9, 4, 5, 12, 13)
#define SR_PAIR_HIGH(a, b) __builtin_shufflevector((a), (b), 2, 3, 10, 11, 6, 7, 14, 15)

#if SR_DOUBLE_LANES == 8
#define SR_MIX_LOW_DOUBLE(a, b) __builtin_shufflevector((a), (b), 0, 8, 2, 10, 4, 12, 6, 14)
#define SR_MIX_HIGH_DOUBLE(a, b) __builtin_shufflevector((a), (b), 1, 9, 3, 11, 5, 13, 7, 15)
#else
#define SR_MIX_LOW_DOUBLE(a, b) __builtin_shufflevector((a), (b), 0, 4, 2, 6)
#define SR_MIX_HIGH_DOUBLE(a, b) __builtin_shufflevector((a), (b), 1, 5, 3, 7)
#endif
#define SR_HALVES_LOW_DOUBLE(a, b) __builtin_shufflevector((a), (b), 0, 1, 4, 5)
#define SR_HALVES_HIGH_DOUBLE(a, b) __builtin_shufflevector((a), (b), 2, 3, 6, 7)

/// Lane i gets row `rows[i]` of `points`.
SR_KERNEL void srGatherRowsFloat(const float* points, const int32_t* rows, srFloatW out[3]) {
    srRowFloat r[8];
    for (int i = 0; i < 8; i++) {
        r[i] = srLoadRowFloat(points + SR_ROW * (int64_t)rows[i]);
    }
    srFloatW a = srJoinRows(r[0], r[4]), b = srJoinRows(r[1], r[5]);
    srFloatW c = srJoinRows(r[2], r[6]), d = srJoinRows(r[3], r[7]);
    srFloatW xyAB = SR_MIX_LOW(a, b), zAB = SR_MIX_HIGH(a, b);
    srFloatW xyCD = SR_MIX_LOW(c, d), zCD = SR_MIX_HIGH(c, d);
    out[0] = SR_PAIR_LOW(xyAB, xyCD);
    out[1] = SR_PAIR_HIGH(xyAB, xyCD);
    out[2] = SR_PAIR_LOW(zAB, zCD);
}

/// Likewise with the fourth element of each row.
SR_KERNEL void srGatherFullRowsFloat(const float* points, const int32_t* rows, srFloatW out[4]) {
    srRowFloat r[8];
    for (int i = 0; i < 8; i++) {
        r[i] = srLoadRowFloat(points + SR_ROW * (int64_t)rows[i]);
    }
    srFloatW a = srJoinRows(r[0], r[4]), b = srJoinRows(r[1], r[5]);
    srFloatW c = srJoinRows(r[2], r[6]), d = srJoinRows(r[3], r[7]);
    srFloatW xyAB = SR_MIX_LOW(a, b), zwAB = SR_MIX_HIGH(a, b);
    srFloatW xyCD = SR_MIX_LOW(c, d), zwCD = SR_MIX_HIGH(c, d);
    out[0] = SR_PAIR_LOW(xyAB, xyCD);
    out[1] = SR_PAIR_HIGH(xyAB, xyCD);
    out[2] = SR_PAIR_LOW(zwAB, zwCD);
    out[3] = SR_PAIR_HIGH(zwAB, zwCD);
}

#if SR_DOUBLE_LANES == 8

SR_KERNEL void srGatherRowsDouble(const double* points, const int32_t* rows, srDoubleW out[3]) {
    srDoubleW r[4]; // row i and row i + 4
    for (int i = 0; i < 4; i++) {
        r[i] = __builtin_shufflevector(srLoadRowDouble(points + SR_ROW * (int64_t)rows[i]),
                                       srLoadRowDouble(points + SR_ROW * (int64_t)rows[i + 4]), 0, 1, 2, 3, 4,
                                       5, 6, 7);
    }
    srDoubleW xzAB = SR_MIX_LOW_DOUBLE(r[0], r[1]), yAB = SR_MIX_HIGH_DOUBLE(r[0], r[1]);
    srDoubleW xzCD = SR_MIX_LOW_DOUBLE(r[2], r[3]), yCD = SR_MIX_HIGH_DOUBLE(r[2], r[3]);
    out[0] = SR_PAIR_LOW(xzAB, xzCD);
    out[1] = SR_PAIR_LOW(yAB, yCD);
    out[2] = SR_PAIR_HIGH(xzAB, xzCD);
}

/// Lanes as rows: row i and row i + 4 together.
SR_KERNEL void srToRowsDouble(const srDoubleW v[3], srDoubleW out[4]) {
    srDoubleW zero = {0};
    srDoubleW xy02 = SR_MIX_LOW_DOUBLE(v[0], v[1]), xy13 = SR_MIX_HIGH_DOUBLE(v[0], v[1]);
    srDoubleW z02 = SR_MIX_LOW_DOUBLE(v[2], zero), z13 = SR_MIX_HIGH_DOUBLE(v[2], zero);
    out[0] = SR_PAIR_LOW(xy02, z02);
    out[1] = SR_PAIR_LOW(xy13, z13);
    out[2] = SR_PAIR_HIGH(xy02, z02);
    out[3] = SR_PAIR_HIGH(xy13, z13);
}

#else

SR_KERNEL void srGatherRowsDouble(const double* points, const int32_t* rows, srDoubleW out[3]) {
    srDoubleW r[4];
    for (int i = 0; i < 4; i++) {
        r[i] = (srDoubleW)srLoadRowDouble(points + SR_ROW * (int64_t)rows[i]);
    }
    srDoubleW xAB = SR_MIX_LOW_DOUBLE(r[0], r[1]), yAB = SR_MIX_HIGH_DOUBLE(r[0], r[1]);
    srDoubleW xCD = SR_MIX_LOW_DOUBLE(r[2], r[3]), yCD = SR_MIX_HIGH_DOUBLE(r[2], r[3]);
    out[0] = SR_HALVES_LOW_DOUBLE(xAB, xCD);
    out[1] = SR_HALVES_LOW_DOUBLE(yAB, yCD);
    out[2] = SR_HALVES_HIGH_DOUBLE(xAB, xCD);
}

#endif

SR_KERNEL void srAddToRowFloat(float* points, int32_t row, srRowFloat x) {
    float* at = points + SR_ROW * (int64_t)row;
    srStoreRowFloat(at, srLoadRowFloat(at) + x);
}

SR_KERNEL void srAddToRowDouble(double* points, int32_t row, srRowDouble x) {
    double* at = points + SR_ROW * (int64_t)row;
    srStoreRowDouble(at, srLoadRowDouble(at) + x);
}

/// Adds lane i to row `rows[i]` of `points`, one row after the other.
SR_KERNEL void srScatterRowsFloat(float* points, const int32_t* rows, const srFloatW v[3]) {
    srFloatW zero = {0};
    srFloatW xyLow = SR_MIX_LOW(v[0], v[1]), xyHigh = SR_MIX_HIGH(v[0], v[1]);
    srFloatW zLow = SR_MIX_LOW(v[2], zero), zHigh = SR_MIX_HIGH(v[2], zero);
    srFloatW r04 = SR_PAIR_LOW(xyLow, zLow), r15 = SR_PAIR_HIGH(xyLow, zLow);
    srFloatW r26 = SR_PAIR_LOW(xyHigh, zHigh), r37 = SR_PAIR_HIGH(xyHigh, zHigh);
    srAddToRowFloat(points, rows[0], SR_LOWER_ROW(r04));
    srAddToRowFloat(points, rows[1], SR_LOWER_ROW(r15));
    srAddToRowFloat(points, rows[2], SR_LOWER_ROW(r26));
    srAddToRowFloat(points, rows[3], SR_LOWER_ROW(r37));
    srAddToRowFloat(points, rows[4], SR_UPPER_ROW(r04));
    srAddToRowFloat(points, rows[5], SR_UPPER_ROW(r15));
    srAddToRowFloat(points, rows[6], SR_UPPER_ROW(r26));
    srAddToRowFloat(points, rows[7], SR_UPPER_ROW(r37));
}

/// Writes lane i to row `rows[i]` of `points`, all four elements. Rows that differ.
SR_KERNEL void srStoreFullRowsFloat(float* points, const int32_t* rows, const srFloatW v[4]) {
    srFloatW xyLow = SR_MIX_LOW(v[0], v[1]), xyHigh = SR_MIX_HIGH(v[0], v[1]);
    srFloatW zwLow = SR_MIX_LOW(v[2], v[3]), zwHigh = SR_MIX_HIGH(v[2], v[3]);
    srFloatW r04 = SR_PAIR_LOW(xyLow, zwLow), r15 = SR_PAIR_HIGH(xyLow, zwLow);
    srFloatW r26 = SR_PAIR_LOW(xyHigh, zwHigh), r37 = SR_PAIR_HIGH(xyHigh, zwHigh);
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[0], SR_LOWER_ROW(r04));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[1], SR_LOWER_ROW(r15));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[2], SR_LOWER_ROW(r26));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[3], SR_LOWER_ROW(r37));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[4], SR_UPPER_ROW(r04));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[5], SR_UPPER_ROW(r15));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[6], SR_UPPER_ROW(r26));
    srStoreRowFloat(points + SR_ROW * (int64_t)rows[7], SR_UPPER_ROW(r37));
}

#if SR_DOUBLE_LANES == 4
SR_KERNEL void srScatterRowsDouble(double* points, const int32_t* rows, const srDoubleW v[3]) {
    srDoubleW zero = {0};
    srDoubleW xy02 = SR_MIX_LOW_DOUBLE(v[0], v[1]), xy13 = SR_MIX_HIGH_DOUBLE(v[0], v[1]);
    srDoubleW z02 = SR_MIX_LOW_DOUBLE(v[2], zero), z13 = SR_MIX_HIGH_DOUBLE(v[2], zero);
    srAddToRowDouble(points, rows[0], (srRowDouble)SR_HALVES_LOW_DOUBLE(xy02, z02));
    srAddToRowDouble(points, rows[1], (srRowDouble)SR_HALVES_LOW_DOUBLE(xy13, z13));
    srAddToRowDouble(points, rows[2], (srRowDouble)SR_HALVES_HIGH_DOUBLE(xy02, z02));
    srAddToRowDouble(points, rows[3], (srRowDouble)SR_HALVES_HIGH_DOUBLE(xy13, z13));
}
#endif

// the sums over the lanes of four vectors: ((0 + 2) + (1 + 3)) + ((4 + 6) + (5 + 7)) of each
SR_KERNEL srRowFloat srSumLanesFloat(srFloatW a, srFloatW b, srFloatW c, srFloatW d) {
    srFloatW ab = SR_MIX_LOW(a, b) + SR_MIX_HIGH(a, b);
    srFloatW cd = SR_MIX_LOW(c, d) + SR_MIX_HIGH(c, d);
    srFloatW abcd = SR_PAIR_LOW(ab, cd) + SR_PAIR_HIGH(ab, cd);
    return SR_LOWER_ROW(abcd) + SR_UPPER_ROW(abcd);
}

/// The sums over the lanes of four points' x, y and z, as four rows.
SR_KERNEL void srSumRowsFloat(const srFloatW v[4][3], srRowFloat out[4]) {
    srRowFloat x = srSumLanesFloat(v[0][0], v[1][0], v[2][0], v[3][0]);
    srRowFloat y = srSumLanesFloat(v[0][1], v[1][1], v[2][1], v[3][1]);
    srRowFloat z = srSumLanesFloat(v[0][2], v[1][2], v[2][2], v[3][2]);
    srRowFloat zero = {0};
    srRowFloat xy01 = __builtin_shufflevector(x, y, 0, 4, 1, 5),
               xy23 = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    srRowFloat z01 = __builtin_shufflevector(z, zero, 0, 4, 1, 5),
               z23 = __builtin_shufflevector(z, zero, 2, 6, 3, 7);
    out[0] = __builtin_shufflevector(xy01, z01, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(xy01, z01, 2, 3, 6, 7);
    out[2] = __builtin_shufflevector(xy23, z23, 0, 1, 4, 5);
    out[3] = __builtin_shufflevector(xy23, z23, 2, 3, 6, 7);
}

#if SR_DOUBLE_LANES == 4
// (0 + 1) + (2 + 3) of each
SR_KERNEL srRowDouble srSumLanesDouble(srDoubleW a, srDoubleW b, srDoubleW c, srDoubleW d) {
    srDoubleW ab = SR_MIX_LOW_DOUBLE(a, b) + SR_MIX_HIGH_DOUBLE(a, b);
    srDoubleW cd = SR_MIX_LOW_DOUBLE(c, d) + SR_MIX_HIGH_DOUBLE(c, d);
    return (srRowDouble)(SR_HALVES_LOW_DOUBLE(ab, cd) + SR_HALVES_HIGH_DOUBLE(ab, cd));
}

SR_KERNEL void srSumRowsDouble(const srDoubleW v[4][3], srRowDouble out[4]) {
    srDoubleW x = (srDoubleW)srSumLanesDouble(v[0][0], v[1][0], v[2][0], v[3][0]);
    srDoubleW y = (srDoubleW)srSumLanesDouble(v[0][1], v[1][1], v[2][1], v[3][1]);
    srDoubleW z = (srDoubleW)srSumLanesDouble(v[0][2], v[1][2], v[2][2], v[3][2]);
    srDoubleW zero = {0};
    srDoubleW xy02 = SR_MIX_LOW_DOUBLE(x, y), xy13 = SR_MIX_HIGH_DOUBLE(x, y);
    srDoubleW z02 = SR_MIX_LOW_DOUBLE(z, zero), z13 = SR_MIX_HIGH_DOUBLE(z, zero);
    out[0] = (srRowDouble)SR_HALVES_LOW_DOUBLE(xy02, z02);
    out[1] = (srRowDouble)SR_HALVES_LOW_DOUBLE(xy13, z13);
    out[2] = (srRowDouble)SR_HALVES_HIGH_DOUBLE(xy02, z02);
    out[3] = (srRowDouble)SR_HALVES_HIGH_DOUBLE(xy13, z13);
}
#endif
