// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sparse matrices in compressed columns, and the way to make one from entries that may repeat. Knows no
// meshes.

#pragma once

#include "core/error.h"

#include <stdint.h>

/// Column j holds entries `columnStarts[j] .. columnStarts[j + 1] - 1`, rows strictly ascending. Owns its
/// arrays.
typedef struct srCsc {
    int32_t rowCount;
    int32_t columnCount;
    int32_t* columnStarts; ///< columnCount + 1
    int32_t* rows;
    double* values;
} srCsc;

typedef struct srTriplet {
    int32_t row;
    int32_t column;
    double value;
} srTriplet;

/// Sums entries of equal place in the order in which they are given. Rows and columns must be in range.
SR_MUST_USE srResult srCreateCsc(int32_t rowCount, int32_t columnCount, const srTriplet* triplets,
                                 int32_t tripletCount, srCsc* outA);

/// Accepts a zeroed matrix.
void srDestroyCsc(srCsc* A);

/// y += A x
void srCsc_MulAdd(double* y, const srCsc* A, const double* x);

/// Y -= A X for a symmetric A of which the lower triangle is read; X and Y are 3 numbers a row.
void srCsc_SubSymmetric3(double* Y, const srCsc* A, const double* X);
