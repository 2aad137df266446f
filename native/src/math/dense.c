// SPDX-License-Identifier: GPL-3.0-or-later
//
// The check of BLAS and LAPACK before their first use, and the switch to one thread. The only file that names
// a symbol of theirs: built with SR_BLAS_PREFIX=scipy_ it calls scipy_dgemm_ and so on.

#include "math/dense.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#if defined(SR_BLAS_PREFIX)
#define SR_BLAS_JOIN_TEXT(prefix, name) prefix##name
#define SR_BLAS_JOIN(prefix, name) SR_BLAS_JOIN_TEXT(prefix, name)
#define SR_BLAS(name) SR_BLAS_JOIN(SR_BLAS_PREFIX, name)
#else
#define SR_BLAS(name) name
#endif

// declared by hand: no header of BLAS knows the prefixed names; 32-bit integers
void SR_BLAS(openblas_set_num_threads)(int threadCount);
void SR_BLAS(dgemm_)(const char* transposeA, const char* transposeB, const int* m, const int* n, const int* k,
                     const double* alpha, const double* A, const int* lda, const double* B, const int* ldb,
                     const double* beta, double* C, const int* ldc);
void SR_BLAS(dpotrf_)(const char* triangle, const int* n, double* A, const int* lda, int* info);
void SR_BLAS(dtrsm_)(const char* side, const char* triangle, const char* transposeA, const char* diagonal,
                     const int* m, const int* n, const double* alpha, const double* A, const int* lda,
                     double* B, const int* ldb);

enum {
    matrixSize = 8,
    entryCount = matrixSize * matrixSize
};

// Small integers: sums and products are exact in any order, fused or not. Pivots are powers of two, so that a
// factorisation that multiplies by reciprocals is exact as well.
static void fillKnown(double A[entryCount], double L[entryCount]) {
    for (int j = 0; j < matrixSize; j++) {
        for (int i = 0; i < matrixSize; i++) {
            A[i + matrixSize * j] = (double)((i * 5 + j * 3) % 7 - 3);
            L[i + matrixSize * j] = i < j ? 0.0 : (double)((i + 2 * j) % 5 - 2);
        }
        L[j + matrixSize * j] = (double)(1 << (j % 3));
    }
}

// C = A B, or A B' when `transposed`
static void multiplyPlainly(const double* A, const double* B, bool transposed, double* C) {
    for (int j = 0; j < matrixSize; j++) {
        for (int i = 0; i < matrixSize; i++) {
            double sum = 0.0;
            for (int k = 0; k < matrixSize; k++) {
                sum += A[i + matrixSize * k] * (transposed ? B[j + matrixSize * k] : B[k + matrixSize * j]);
            }
            C[i + matrixSize * j] = sum;
        }
    }
}

// Whether no entry differs, in the lower triangle or everywhere. A NaN counts as a difference.
static bool areEqual(const double* A, const double* B, bool lowerOnly) {
    for (int j = 0; j < matrixSize; j++) {
        for (int i = lowerOnly ? j : 0; i < matrixSize; i++) {
            if (!(fabs(A[i + matrixSize * j] - B[i + matrixSize * j]) <= 1e-12)) {
                return false;
            }
        }
    }
    return true;
}

void srDivideByLower(double* X, int32_t rowCount, int32_t columnCount, int32_t strideX, const double* L,
                     int32_t strideL) {
    const double one = 1.0;
    const int m = rowCount, n = columnCount, ldx = strideX, ldl = strideL;
    SR_BLAS(dtrsm_)("R", "L", "N", "N", &m, &n, &one, L, &ldl, X, &ldx);
}

srResult srCheckDenseCalls(const srDenseCalls* calls) {
    const int n = matrixSize;
    const double one = 1.0, zero = 0.0;
    double A[entryCount], L[entryCount], product[entryCount], actual[entryCount];
    fillKnown(A, L);

    // the product
    multiplyPlainly(A, L, false, product);
    memset(actual, 0, sizeof(actual));
    calls->dgemm("N", "N", &n, &n, &n, &one, A, &n, L, &n, &zero, actual, &n);
    if (!areEqual(actual, product, false)) {
        return srFail(sr_errorDependency,
                      "BLAS multiplies two %d x %d matrices wrongly on this machine (dgemm).", n, n);
    }

    // the division, which undoes it
    calls->dtrsm("R", "L", "N", "N", &n, &n, &one, L, &n, product, &n);
    if (!areEqual(product, A, false)) {
        return srFail(sr_errorDependency,
                      "BLAS divides a %d x %d matrix by a triangle wrongly on this machine (dtrsm).", n, n);
    }

    // the factor
    int info = -1;
    multiplyPlainly(L, L, true, actual);
    calls->dpotrf("L", &n, actual, &n, &info);
    if (info != 0 || !areEqual(actual, L, true)) {
        return srFail(sr_errorDependency, "LAPACK factors a %d x %d matrix wrongly on this machine (dpotrf).",
                      n, n);
    }
    return sr_success;
}

static srResult checkOnce(void) {
    SR_BLAS(openblas_set_num_threads)(1);
    const srDenseCalls calls = {SR_BLAS(dgemm_), SR_BLAS(dpotrf_), SR_BLAS(dtrsm_)};
    return srCheckDenseCalls(&calls);
}

srResult srCheckDense(void) {
    enum {
        unknown,
        busy,
        good
    };
    static atomic_int state = unknown;
    int seen = atomic_load(&state);
    while (seen != good) {
        if (seen == unknown && atomic_compare_exchange_strong(&state, &seen, busy)) {
            srResult result = checkOnce();
            atomic_store(&state, result == sr_success ? good : unknown);
            return result;
        }
        // another thread is at it, for a few microseconds
        seen = atomic_load(&state);
    }
    return sr_success;
}
