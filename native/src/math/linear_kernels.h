// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of linear algebra that a frame runs, one table for each path of simd_path.h. Inner to solve.c,
// thin.c and small.c: callers use those.

#pragma once

#include "math/factor.h"
#include "math/thin.h"

/// What the functions want of their arguments is said with those who call them.
typedef struct srLinearKernels {
    void (*forwardFloat)(const srFactor* f, const int32_t* rows, const int32_t* groups, int32_t count,
                         float* w, float* scratch);
    void (*forwardNarrow)(const srFactor* f, const int32_t* rows, const int32_t* groups, int32_t count,
                          float* w, float* scratch);
    void (*forwardDouble)(const srFactor* f, const int32_t* rows, const int32_t* groups, int32_t count,
                          double* w, double* scratch);
    void (*backwardFloat)(const srFactor* f, const int32_t* groups, int32_t count, float* w, float* scratch);
    void (*backwardNarrow)(const srFactor* f, const int32_t* groups, int32_t count, float* w, float* scratch);
    void (*backwardDouble)(const srFactor* f, const int32_t* groups, int32_t count, double* w,
                           double* scratch);
    void (*mulAddThinFloat)(const srThin* T, const float* x, float* y);
    void (*mulAddThinDouble)(const srThin* T, const double* x, double* y);
    void (*mulAddTransposedThinFloat)(const srThin* T, const float* x, float* y, float* scratch);
    void (*mulAddTransposedThinDouble)(const srThin* T, const double* x, double* y, double* scratch);
    int32_t (*factorSmall)(double* A, int32_t size, int32_t stride);
    void (*solveSmall)(const double* L, int32_t size, int32_t stride, double* X);
    void (*solveSmallOne)(const double* L, int32_t size, int32_t stride, double* x);
    void (*addTurned)(const double* B, const double* R, double* A, int32_t stride);
} srLinearKernels;

extern const srLinearKernels srLinearScalar, srLinearAvx2, srLinearAvx512, srLinearNeon;

/// Of the path that is taken now.
const srLinearKernels* srGetLinearKernels(void);
