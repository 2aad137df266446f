// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/small.h"

#include "core/alloc.h"
#include "math/simd_path.h"
#include "matrices.h"

enum {
    most = 200
};

// A's lower triangle as srFactorSmall wants it, NaN everywhere else: nothing else may be read.
static void toSmall(const srCsc* A, double* out) {
    int32_t n = A->columnCount, stride = srSmallStride(n);
    for (size_t i = 0; i < srSmallCount(n); i++) {
        out[i] = (double)NAN;
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = j; i < n; i++) {
            out[j * stride + i] = 0.0;
        }
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            out[j * stride + A->rows[p]] = A->values[p];
        }
    }
}

static double* allocateSmall(int32_t n) {
    return srAlloc(srSmallCount(n) + 4 * (size_t)srSmallStride(n), sizeof(double));
}

static void freeSmall(double* block, int32_t n) {
    srFree(block, srSmallCount(n) + 4 * (size_t)srSmallStride(n), sizeof(double));
}

static void solve_agrees_with_elimination(void** state) {
    (void)state;
    for (int32_t n = 1; n <= most; n = n < 30 ? n + 1 : n + 57) {
        srCsc A = makeRandom(n, n, (uint64_t)n, NULL);
        double* L = allocateSmall(n);
        double* X = L + srSmallCount(n);
        double* expected = makeNumbers(4 * (size_t)n, 7);
        double* right = makeNumbers(4 * (size_t)n, 7);
        toSmall(&A, L);
        memcpy(X, expected, 4 * (size_t)n * sizeof(double));
        assert_int_equal(srFactorSmall(L, n), SR_NULL_INDEX);
        srSolveSmall(L, n, X);
        solveDensely(&A, expected, 4);
        for (int32_t i = 0; i < 4 * n; i++) {
            // condition below ten, solutions below one
            assert_near(X[i], expected[i], 1e-15);
        }
        for (int32_t i = 0; i < n; i++) {
            X[i] = right[4 * (size_t)i];
        }
        srSolveSmallOne(L, n, X);
        for (int32_t i = 0; i < srSmallStride(n); i++) {
            assert_near(X[i], i < n ? expected[4 * (size_t)i] : 0.0, 1e-15);
        }
        free(right);
        free(expected);
        freeSmall(L, n);
        srDestroyCsc(&A);
    }
}

static void every_path_gives_the_same_bits(void** state) {
    (void)state;
    enum {
        n = 75
    };
    srCsc A = makeRandom(n, n, 3, NULL);
    double *L = allocateSmall(n), *first = allocateSmall(n);
    size_t size = (srSmallCount(n) + 4 * (size_t)srSmallStride(n)) * sizeof(double);
    srSimdPath usual = srGetSimdPath();
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (!srForceSimdPath((srSimdPath)path)) {
            continue;
        }
        toSmall(&A, L);
        for (int32_t i = 0; i < 4 * n; i++) {
            L[srSmallCount(n) + (size_t)i] = i;
        }
        assert_int_equal(srFactorSmall(L, n), SR_NULL_INDEX);
        srSolveSmall(L, n, L + srSmallCount(n));
        srSolveSmallOne(L, n, L + srSmallCount(n));
        for (int32_t j = 0; j < n; j++) {
            memset(L + (size_t)j * (size_t)srSmallStride(n), 0,
                   (size_t)j * sizeof(double)); // above: anything
        }
        if (path == sr_simdScalar) {
            memcpy(first, L, size);
        }
        assert_memory_equal(L, first, size);
    }
    assert_true(srForceSimdPath(usual));
    freeSmall(L, n);
    freeSmall(first, n);
    srDestroyCsc(&A);
}

#define BLOCK 12
#define WIDER 20

// against the product written out, on every path with the same bits
static void a_turned_block_is_the_product_of_three_matrices(void** state) {
    (void)state;
    const double R[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0.0}, {0.48, 0.64, 0.6}};
    double* B = makeNumbers(BLOCK * BLOCK, 3);
    double* before = makeNumbers(WIDER * BLOCK, 5);
    double first[WIDER * BLOCK];
    srSimdPath usual = srGetSimdPath();
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (!srForceSimdPath((srSimdPath)path)) {
            continue;
        }
        double A[WIDER * BLOCK];
        memcpy(A, before, sizeof(A));
        srAddTurned(B, &R[0][0], A, WIDER);
        for (int k = 0; k < WIDER * BLOCK; k++) {
            int row = k % WIDER, column = k / WIDER;
            double expected = before[k];
            for (int m = 0; row < BLOCK && m < 9; m++) {
                int i = m / 3, j = m % 3;
                expected +=
                    R[row / 4][i] * R[column / 4][j] * B[BLOCK * (4 * j + column % 4) + 4 * i + row % 4];
            }
            assert_near(A[k], expected, row < BLOCK ? 1e-15 : 0.0);
        }
        if (path == sr_simdScalar) {
            memcpy(first, A, sizeof(A));
        }
        assert_memory_equal(A, first, sizeof(A));
    }
    assert_true(srForceSimdPath(usual));
    free(B);
    free(before);
}

// A diagonal matrix with one entry that cannot be a pivot.
static void namesBadColumn(int32_t n, int32_t bad, double value) {
    double L[16 * 16];
    srCsc A = makeRandom(n, 0, 1, NULL);
    toSmall(&A, L);
    for (int32_t j = 0; j < n; j++) {
        L[j * srSmallStride(n) + j] = j == bad ? value : 2.0;
    }
    assert_int_equal(srFactorSmall(L, n), bad);
    srDestroyCsc(&A);
}

static void first_bad_column_is_named(void** state) {
    (void)state;
    for (int32_t n = 1; n <= 13; n++) {
        for (int32_t bad = 0; bad < n; bad++) {
            namesBadColumn(n, bad, -1.0);
            namesBadColumn(n, bad, 0.0);
            namesBadColumn(n, bad, (double)NAN);
            namesBadColumn(n, bad, (double)INFINITY);
        }
    }
}

static void pivot_of_rounding_errors_is_bad(void** state) {
    (void)state;
    // a Laplacian: the last pivot is zero but for rounding errors
    srCsc A = makeGrid(4, 5, 6, 0.0, NULL);
    double* L = allocateSmall(120);
    toSmall(&A, L);
    assert_int_equal(srFactorSmall(L, 120), 119);
    freeSmall(L, 120);
    srDestroyCsc(&A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(solve_agrees_with_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_turned_block_is_the_product_of_three_matrices, srTestNothingLeaked),
        cmocka_unit_test_teardown(first_bad_column_is_named, srTestNothingLeaked),
        cmocka_unit_test_teardown(pivot_of_rounding_errors_is_bad, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/small", tests, NULL, NULL);
}
