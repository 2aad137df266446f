// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small dense systems, against the three loops of the textbook, and products with thin matrices, whose
// measure is how fast they read the matrix.

#include "math_dense.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "math/factor.h"
#include "math/small.h"
#include "math/thin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    runCount = 200
};

static double since(double start) {
    return srGetSeconds() - start;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

// Baseline of srFactorSmall: the textbook's three loops.
static void factorPlainly(double* A, int32_t n, int32_t stride) {
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = 0; k < j; k++) {
            for (int32_t i = j; i < n; i++) {
                A[j * stride + i] -= A[k * stride + i] * A[k * stride + j];
            }
        }
        double inverse = 1.0 / sqrt(A[j * stride + j]);
        for (int32_t i = j; i < n; i++) {
            A[j * stride + i] *= inverse;
        }
    }
}

static void benchSmall(srBenchReport* report, int32_t n) {
    size_t count = srSmallCount(n);
    double *A = srAlloc(count, sizeof(double)), *L = srAlloc(count, sizeof(double)),
           *X = calloc(4 * count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        A[i] = i % ((size_t)srSmallStride(n) + 1) == 0 ? (double)n : 1.0 / (double)(1 + i % 17);
    }
    double plain = HUGE_VAL, own = HUGE_VAL, solve = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        memcpy(L, A, count * sizeof(double));
        double start = srGetSeconds();
        factorPlainly(L, n, srSmallStride(n));
        plain = lesser(plain, since(start));
        memcpy(L, A, count * sizeof(double));
        start = srGetSeconds();
        int32_t bad = srFactorSmall(L, n);
        own = lesser(own, bad == SR_NULL_INDEX ? since(start) : HUGE_VAL);
        X[0] = 1.0;
        start = srGetSeconds();
        srSolveSmall(L, n, X);
        solve = lesser(solve, since(start));
    }
    char caseName[64];
    snprintf(caseName, sizeof(caseName), "small dense, %d rows", n);
    srBench_Add(report, caseName, "factor, plain C", 1e6 * plain, "us", NULL);
    srBench_Add(report, caseName, "factor", 1e6 * own, "us", NULL);
    srBench_Add(report, caseName, "times faster", plain / own, "", NULL);
    srBench_Add(report, caseName, "solve, 4 right-hand sides", 1e6 * solve, "us", NULL);
    srFree(A, count, sizeof(double));
    srFree(L, count, sizeof(double));
    free(X);
}

static void benchThin(srBenchReport* report, int32_t rows, int32_t columns) {
    double* values = calloc((size_t)rows * (size_t)columns, sizeof(double));
    float *x = calloc(3 * (size_t)rows, sizeof(float)), *y = calloc(3 * (size_t)rows, sizeof(float));
    srThin T;
    if (srCreateThin(values, rows, columns, sr_factorFloat, &T) != sr_success) {
        fprintf(stderr, "%s\n", srGetErrorText());
        exit(1);
    }
    float* scratch = srAlloc(srThin_GetScratchCount(&T), sizeof(float));
    double product = HUGE_VAL, transposed = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        double start = srGetSeconds();
        srThin_MulAddFloat(&T, x, y);
        product = lesser(product, since(start));
        start = srGetSeconds();
        srThin_MulAddTransposedFloat(&T, x, y, scratch);
        transposed = lesser(transposed, since(start));
    }
    char caseName[64];
    snprintf(caseName, sizeof(caseName), "thin, %d x %d", rows, columns);
    double entries = (double)rows * columns;
    srBench_Add(report, caseName, "product", 1e6 * product, "us", NULL);
    srBench_Add(report, caseName, "product, read", 4e-9 * entries / product, "GB/s", NULL);
    srBench_Add(report, caseName, "transposed product", 1e6 * transposed, "us", NULL);
    srBench_Add(report, caseName, "transposed product, read", 4e-9 * entries / transposed, "GB/s", NULL);
    srFree(scratch, srThin_GetScratchCount(&T), sizeof(float));
    srDestroyThin(&T);
    free(values);
    free(x);
    free(y);
}

void srBenchMathDense(srBenchReport* report) {
    benchSmall(report, 24);
    benchSmall(report, 96);
    benchSmall(report, 192);
    benchThin(report, 6000, 96);
}
