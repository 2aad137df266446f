// SPDX-License-Identifier: GPL-3.0-or-later
//
// BLAS and LAPACK, and the only room that names them: one thread, checked once before the first use. For
// preparing only.

#pragma once

#include "core/error.h"

#include <stdint.h>

/// Sets BLAS to one thread and compares a small product, factorisation and division with known answers;
/// `sr_errorDependency` says which was wrong. Cheap after the first call. Thread-safe.
SR_MUST_USE srResult srCheckDense(void);

/// What is called of BLAS and LAPACK, in Fortran's manner: everything by address, 32-bit integers.
typedef struct srDenseCalls {
    void (*dgemm)(const char* transposeA, const char* transposeB, const int* m, const int* n, const int* k,
                  const double* alpha, const double* A, const int* lda, const double* B, const int* ldb,
                  const double* beta, double* C, const int* ldc);
    void (*dpotrf)(const char* triangle, const int* n, double* A, const int* lda, int* info);
    void (*dtrsm)(const char* side, const char* triangle, const char* transposeA, const char* diagonal,
                  const int* m, const int* n, const double* alpha, const double* A, const int* lda, double* B,
                  const int* ldb);
} srDenseCalls;

/// The comparison of srCheckDense, of any calls.
SR_MUST_USE srResult srCheckDenseCalls(const srDenseCalls* calls);

/// X := X L^-1 for a dense lower triangle L (columnCount x columnCount, columns `strideL` apart) and X of
/// rowCount x columnCount (columns `strideX` apart). Pivots are not zero.
void srDivideByLower(double* X, int32_t rowCount, int32_t columnCount, int32_t strideX, const double* L,
                     int32_t strideL);
