// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wide kernels of bounded biharmonic weights, a table for each path of simd_path.h: lanes are columns, a
// node's weights stand side by side, so one pass over a factor solves for all columns. Inner to
// biharmonic_loop.c and the files that make a table.

#pragma once

#include "math/factor.h"

/// Columns are padded to a multiple of this.
#define SR_BIHARMONIC_LANES 8

/// Steps that are mixed (Anderson's memory). Six need as many iterations as eight, four a tenth more.
#define SR_BIHARMONIC_MEMORY 6

/// Sums of a block of rows: |x - z|^2, |z|^2 and |s - z|^2 in the metric, then the products of all stored
/// differences with the residual, then those with the newest difference.
#define SR_BIHARMONIC_SUMS (3 + 2 * SR_BIHARMONIC_MEMORY)

/// What a loop works on, in float or in double: `width` numbers a row, rows in the factor's order. All arrays
/// start at a multiple of 64 bytes.
typedef struct srBiharmonicArrays {
    const srFactor* factor;
    int32_t width;        ///< A multiple of SR_BIHARMONIC_LANES.
    int32_t columnCount;  ///< Weights of a row; lanes beyond are zero.
    int32_t historyCount; ///< Differences that are stored.
    int32_t newest;       ///< Where the next difference goes; negative for nowhere.
    void* metric;         ///< rho D, one number a row.
    void* loads;          ///< b
    void* s;
    void* z;
    void* x; ///< One row more, where padding points.
    void* residual;
    void* target;
    void* residualSteps[SR_BIHARMONIC_MEMORY];
    void* targetSteps[SR_BIHARMONIC_MEMORY];
} srBiharmonicArrays;

typedef struct srBiharmonicKernels {
    /// z = the nearest point to s of the simplex, row by row; x = scales (rho D (2 z - s) + b).
    void (*reflect)(const srBiharmonicArrays* a, int32_t begin, int32_t end);
    /// Both sweeps of a solve in place, for lanes of columns from `firstLane` to `endLane` (multiples of
    /// SR_BIHARMONIC_LANES). `scratch` has room for (columns of the widest group or rows of the tallest)
    /// times 24 numbers.
    void (*sweep)(const srFactor* factor, int32_t width, int32_t firstLane, int32_t endLane, void* x,
                  void* scratch);
    /// x = scales x; residual = x - z; target = s + residual; stores how both differ from the last ones, and
    /// adds up SR_BIHARMONIC_SUMS numbers.
    void (*advance)(const srBiharmonicArrays* a, int32_t begin, int32_t end, double* outSums);
    /// s = target - sum of shares times targetSteps
    void (*mix)(const srBiharmonicArrays* a, const double* shares, int32_t begin, int32_t end);
} srBiharmonicKernels;

typedef struct srBiharmonicTable {
    srBiharmonicKernels inFloat;
    srBiharmonicKernels inDouble;
} srBiharmonicTable;

extern const srBiharmonicTable srBiharmonicTableScalar, srBiharmonicTableAvx2, srBiharmonicTableNeon;

/// The table of the path that srGetSimdPath tells.
const srBiharmonicTable* srGetBiharmonicTable(void);
