// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dense matrices with many rows and few columns (a node's weights, a constraint's rows) and their products
// with points: what a frame does with them. The same bits on every path and every machine.

#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/// Rows come in slabs of eight (floats) or four (doubles), a slab column by column, the last one padded with
/// zeros. Owns its arrays.
typedef struct srThin {
    int32_t rowCount;
    int32_t columnCount;
    float* floatSlabs; ///< Null without the kind; likewise:
    double* doubleSlabs;
} srThin;

/// From rows of `columnCount` numbers. `kinds`: 1 float, 2 double, 3 both (srFactorKind). Neither count is
/// zero.
SR_MUST_USE srResult srCreateThin(const double* rows, int32_t rowCount, int32_t columnCount, int kinds,
                                  srThin* outThin);

/// Accepts a zeroed matrix.
void srDestroyThin(srThin* T);

/// y += T x: `x` has 3 numbers a column, `y` 3 numbers a row. The kind must be there.
void srThin_MulAddFloat(const srThin* T, const float* x, float* y);
void srThin_MulAddDouble(const srThin* T, const double* x, double* y);

#define SR_THIN_PIECE 768

/// Rows `begin` to `end` - 1 of the product in float; `begin` is a multiple of SR_THIN_PIECE, `end` one or
/// the number of rows.
void srThin_MulAddFloatRange(const srThin* T, const float* x, float* y, int32_t begin, int32_t end);

/// Elements of scratch for a transposed product.
size_t srThin_GetScratchCount(const srThin* T);

/// y += T' x: `x` has 3 numbers a row, `y` 3 numbers a column.
void srThin_MulAddTransposedFloat(const srThin* T, const float* x, float* y, float* scratch);
void srThin_MulAddTransposedDouble(const srThin* T, const double* x, double* y, double* scratch);
