// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/dense.h"

#include "core/thread.h"
#include "matrices.h"

static void blas_computes_correctly_here(void** state) {
    (void)state;
    assert_success(srCheckDense());
    assert_success(srCheckDense());
}

static void checkInThread(void* context) {
    *(srResult*)context = srCheckDense();
}

static void threads_may_check_at_once(void** state) {
    (void)state;
    enum {
        threadCount = 4
    };
    srThread* threads[threadCount];
    srResult results[threadCount];
    for (int t = 0; t < threadCount; t++) {
        results[t] = sr_errorInternal;
        assert_success(srStartThread(checkInThread, &results[t], &threads[t]));
    }
    for (int t = 0; t < threadCount; t++) {
        srJoinThread(threads[t]);
        assert_int_equal(results[t], sr_success);
    }
}

static void division_by_a_triangle_undoes_the_product(void** state) {
    (void)state;
    enum {
        rows = 23,
        columns = 17,
        stride = 29
    };
    double *L = makeNumbers(stride * columns, 3), *X = makeNumbers(stride * columns, 4);
    double B[stride * columns];
    for (int j = 0; j < columns; j++) {
        L[j + stride * j] += 4.0;
    }
    memcpy(B, X, sizeof(B));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            double sum = 0.0;
            for (int k = j; k < columns; k++) {
                sum += X[i + stride * k] * L[k + stride * j];
            }
            B[i + stride * j] = sum;
        }
    }
    srDivideByLower(B, rows, columns, stride, L, stride);
    for (int i = 0; i < stride * columns; i++) {
        // pivots of four and entries below one half: well conditioned; rows beyond are left alone
        assert_near(B[i], X[i], i % stride < rows ? 1e-14 : 0.0);
    }
    free(L);
    free(X);
}

// a plain product, division and factorisation, for matrices without gaps between columns

static void multiply(const char* transposeA, const char* transposeB, const int* m, const int* n, const int* k,
                     const double* alpha, const double* A, const int* lda, const double* B, const int* ldb,
                     const double* beta, double* C, const int* ldc) {
    assert_true(*transposeA == 'N' && *transposeB == 'N' && *alpha == 1.0 && *beta == 0.0);
    for (int j = 0; j < *n; j++) {
        for (int i = 0; i < *m; i++) {
            C[i + *ldc * j] = 0.0;
            for (int p = 0; p < *k; p++) {
                C[i + *ldc * j] += A[i + *lda * p] * B[p + *ldb * j];
            }
        }
    }
}

static void divide(const char* side, const char* triangle, const char* transposeA, const char* diagonal,
                   const int* m, const int* n, const double* alpha, const double* A, const int* lda,
                   double* B, const int* ldb) {
    assert_true(*side == 'R' && *triangle == 'L' && *transposeA == 'N' && *diagonal == 'N' && *alpha == 1.0);
    for (int j = *n - 1; j >= 0; j--) {
        for (int i = 0; i < *m; i++) {
            for (int p = j + 1; p < *n; p++) {
                B[i + *ldb * j] -= B[i + *ldb * p] * A[p + *lda * j];
            }
            B[i + *ldb * j] /= A[j + *lda * j];
        }
    }
}

static void factor(const char* triangle, const int* n, double* A, const int* lda, int* info) {
    assert_true(*triangle == 'L');
    for (int j = 0; j < *n; j++) {
        for (int i = j; i < *n; i++) {
            for (int p = 0; p < j; p++) {
                A[i + *lda * j] -= A[i + *lda * p] * A[j + *lda * p];
            }
            A[i + *lda * j] = i == j ? sqrt(A[i + *lda * j]) : A[i + *lda * j] / A[j + *lda * j];
        }
    }
    *info = 0;
}

// the same with one mistake each; the last entry is the one that needs all others

static void multiplyWrongly(const char* transposeA, const char* transposeB, const int* m, const int* n,
                            const int* k, const double* alpha, const double* A, const int* lda,
                            const double* B, const int* ldb, const double* beta, double* C, const int* ldc) {
    multiply(transposeA, transposeB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    C[*m * *n - 1] += 1e-9;
}

static void multiplyToNan(const char* transposeA, const char* transposeB, const int* m, const int* n,
                          const int* k, const double* alpha, const double* A, const int* lda, const double* B,
                          const int* ldb, const double* beta, double* C, const int* ldc) {
    multiply(transposeA, transposeB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    C[0] = (double)NAN;
}

static void divideWrongly(const char* side, const char* triangle, const char* transposeA,
                          const char* diagonal, const int* m, const int* n, const double* alpha,
                          const double* A, const int* lda, double* B, const int* ldb) {
    divide(side, triangle, transposeA, diagonal, m, n, alpha, A, lda, B, ldb);
    B[*m - 1] -= 1e-9;
}

static void divideNothing(const char* side, const char* triangle, const char* transposeA,
                          const char* diagonal, const int* m, const int* n, const double* alpha,
                          const double* A, const int* lda, double* B, const int* ldb) {
    (void)side, (void)triangle, (void)transposeA, (void)diagonal, (void)m, (void)n;
    (void)alpha, (void)A, (void)lda, (void)B, (void)ldb;
}

static void factorWrongly(const char* triangle, const int* n, double* A, const int* lda, int* info) {
    factor(triangle, n, A, lda, info);
    A[*n * *n - 1] += 1e-9;
}

static void factorWithComplaint(const char* triangle, const int* n, double* A, const int* lda, int* info) {
    factor(triangle, n, A, lda, info);
    *info = 3;
}

static void factorWithoutAnswer(const char* triangle, const int* n, double* A, const int* lda, int* info) {
    int ignored = 0;
    (void)info;
    factor(triangle, n, A, lda, &ignored);
}

static void wrong_answers_are_found_and_named(void** state) {
    (void)state;
    const srDenseCalls good = {multiply, factor, divide};
    assert_success(srCheckDenseCalls(&good));
    const struct {
        srDenseCalls calls;
        const char* name;
    } bad[] = {
        {{multiplyWrongly, factor, divide}, "dgemm"},
        {{multiplyToNan, factor, divide}, "dgemm"},
        {{multiply, factor, divideWrongly}, "dtrsm"},
        {{multiply, factor, divideNothing}, "dtrsm"},
        {{multiply, factorWrongly, divide}, "dpotrf"},
        {{multiply, factorWithComplaint, divide}, "dpotrf"},
        {{multiply, factorWithoutAnswer, divide}, "dpotrf"},
    };
    for (size_t k = 0; k < SR_ARRAY_COUNT(bad); k++) {
        assert_result(srCheckDenseCalls(&bad[k].calls), sr_errorDependency);
        assert_non_null(strstr(srGetErrorText(), bad[k].name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_may_check_at_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(division_by_a_triangle_undoes_the_product, srTestNothingLeaked),
        cmocka_unit_test_teardown(wrong_answers_are_found_and_named, srTestNothingLeaked),
        cmocka_unit_test_teardown(blas_computes_correctly_here, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/dense", tests, NULL, NULL);
}
