// SPDX-License-Identifier: GPL-3.0-or-later
//
// Factor and solve of small dense symmetric positive definite matrices (up to a few hundred rows) in a frame.
// The same bits on every path and every machine; no heap.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// Columns of a small matrix are this far apart, so that each begins a whole number of wide loads.
static inline int32_t srSmallStride(int32_t size) {
    return (size + 3) / 4 * 4;
}

/// Numbers that a small matrix takes.
static inline size_t srSmallCount(int32_t size) {
    return (size_t)srSmallStride(size) * (size_t)srSmallStride(size);
}

/// A = L L' in place. `A` has srSmallCount(size) numbers, columns srSmallStride(size) apart; its lower
/// triangle is read, the rest is written over. SR_NULL_INDEX, or the first column whose pivot is not positive
/// or is lost in rounding errors: then L is not to be used.
int32_t srFactorSmall(double* A, int32_t size);

/// X := A^-1 X for the L of srFactorSmall. `X` has four numbers a row, so four right-hand sides, and
/// srSmallStride(size) rows, of which those beyond `size` are set to zero.
void srSolveSmall(const double* L, int32_t size, double* X);

/// One right-hand side: `x` has srSmallStride(size) numbers, those beyond `size` set to zero likewise.
void srSolveSmallOne(const double* L, int32_t size, double* x);

/// A += Q B Q' for blocks of 12 rows and columns, of which number 4 d + c is axis d of vector c, and Q turns
/// all four vectors by R. `B` is whole columns one after the other, `A` a part of a larger matrix, `stride`
/// of it; R has its nine numbers row by row.
void srAddTurned(const double* B, const double* R, double* A, int32_t stride);
