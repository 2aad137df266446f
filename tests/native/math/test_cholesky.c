// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/cholesky.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

enum {
    maxSize = 160
};

// Plain Gaussian elimination without pivoting, for definite matrices: nothing in common with the factor under
// test.
static void solveDensely(int n, double* A, double* x) {
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= A[i * n + j] * x[j];
        }
        x[i] /= A[i * n + i];
    }
}

// A random symmetric matrix with dominant diagonal, lower triangle as triplets, whole as rows.
static int32_t makeMatrix(int n, int perColumn, srTriplet* triplets, double* dense) {
    uint64_t seed = 77;
    int32_t count = 0;
    memset(dense, 0, (size_t)(n * n) * sizeof(double));
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < perColumn; k++) {
            int i = (int)(n * srTestRandom(&seed));
            double value = srTestRandom(&seed) - 0.5;
            triplets[count++] = (srTriplet){i > j ? i : j, i > j ? j : i, value};
            dense[i * n + j] += value;
            dense[j * n + i] += i != j ? value : 0.0;
        }
        triplets[count++] = (srTriplet){j, j, 3.0 * perColumn};
        dense[j * n + j] += 3.0 * perColumn;
    }
    return count;
}

static void agreesWithDense(int n, int perColumn) {
    static srTriplet triplets[maxSize * (maxSize + 1)];
    static double dense[maxSize * maxSize], scratch[maxSize * maxSize];
    static double X[3 * maxSize], expected[3 * maxSize];
    uint64_t seed = 3;
    srCsc A;
    srCholesky* factor;
    assert_success(srCreateCsc(n, n, triplets, makeMatrix(n, perColumn, triplets, dense), &A));
    assert_success(srCreateCholesky(&A, &factor));
    for (int columns = 1; columns <= 3; columns++) {
        for (int i = 0; i < columns * n; i++) {
            X[i] = expected[i] = srTestRandom(&seed) - 0.5;
        }
        assert_success(srCholesky_Solve(factor, X, columns));
        for (int c = 0; c < columns; c++) {
            memcpy(scratch, dense, sizeof(scratch));
            solveDensely(n, scratch, expected + c * n);
        }
        for (int i = 0; i < columns * n; i++) {
            // condition below ten, solutions below one
            assert_near(X[i], expected[i], 1e-13);
        }
    }
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
}

static void sparse_solve_agrees_with_dense_elimination(void** state) {
    (void)state;
    agreesWithDense(1, 1);
    agreesWithDense(120, 3);
}

// Forty operations an entry of the factor is where CHOLMOD turns to blocks and BLAS.
static void supernodal_solve_agrees_with_dense_elimination(void** state) {
    (void)state;
    agreesWithDense(maxSize, maxSize / 2);
}

static void indefinite_matrix_names_its_bad_column(void** state) {
    (void)state;
    for (int32_t bad = 0; bad < 5; bad++) {
        srTriplet triplets[5];
        for (int32_t i = 0; i < 5; i++) {
            triplets[i] = (srTriplet){i, i, i == bad ? -1.0 : 2.0};
        }
        srCsc A;
        srCholesky* factor = NULL;
        assert_success(srCreateCsc(5, 5, triplets, 5, &A));
        assert_result(srCreateCholesky(&A, &factor), sr_errorInvalidValue);
        assert_null(factor);
        char words[32];
        snprintf(words, sizeof(words), "column %d fails", bad);
        assert_non_null(strstr(srGetErrorText(), words));
        srDestroyCsc(&A);
    }
}

static void refuse(int32_t rowCount, int32_t columnCount, const srTriplet* triplets, int32_t count,
                   srResult expected) {
    srCsc A;
    srCholesky* factor = NULL;
    assert_success(srCreateCsc(rowCount, columnCount, triplets, count, &A));
    assert_result(srCreateCholesky(&A, &factor), expected);
    assert_null(factor);
    srDestroyCsc(&A);
}

static void what_cannot_be_factored_is_refused(void** state) {
    (void)state;
    const srTriplet indefinite[] = {{0, 0, 1.0}, {1, 0, 2.0}, {1, 1, 1.0}};
    const srTriplet singular[] = {{0, 0, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}};
    const srTriplet empty[] = {{0, 0, 1.0}, {2, 2, 1.0}};
    const srTriplet notFinite[] = {{0, 0, 1.0}, {1, 0, (double)NAN}, {1, 1, 1.0}};
    refuse(2, 2, indefinite, 3, sr_errorInvalidValue);
    refuse(2, 2, singular, 3, sr_errorInvalidValue);
    refuse(3, 3, empty, 2, sr_errorInvalidValue);
    refuse(3, 3, NULL, 0, sr_errorInvalidValue);
    refuse(2, 2, notFinite, 3, sr_errorNotFinite);
    refuse(3, 2, indefinite, 3, sr_errorInvalidValue);
}

static void upper_triangle_is_not_read(void** state) {
    (void)state;
    const srTriplet triplets[] = {{0, 0, 2.0}, {1, 0, 1.0}, {1, 1, 2.0}, {0, 1, 1e9}};
    srCsc A;
    srCholesky* factor;
    assert_success(srCreateCsc(2, 2, triplets, 4, &A));
    assert_success(srCreateCholesky(&A, &factor));
    double x[2] = {3.0, 3.0};
    assert_success(srCholesky_Solve(factor, x, 1));
    assert_near(x[0], 1.0, 1e-15);
    assert_near(x[1], 1.0, 1e-15);
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
}

static srResult factorAndSolve(void* context) {
    srCholesky* factor;
    SR_TRY(srCreateCholesky(context, &factor));
    double X[2 * maxSize] = {1.0};
    srResult result = srCholesky_Solve(factor, X, 2);
    srDestroyCholesky(factor);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    static srTriplet triplets[maxSize * (maxSize + 1)];
    static double dense[maxSize * maxSize];
    srCsc A;
    const int perColumn[] = {2, maxSize / 2};
    for (int kind = 0; kind < 2; kind++) {
        assert_success(srCreateCsc(maxSize, maxSize, triplets,
                                   makeMatrix(maxSize, perColumn[kind], triplets, dense), &A));
        srTestEveryAllocationFails(factorAndSolve, &A);
        srDestroyCsc(&A);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sparse_solve_agrees_with_dense_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(supernodal_solve_agrees_with_dense_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(indefinite_matrix_names_its_bad_column, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_cannot_be_factored_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(upper_triangle_is_not_read, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/cholesky", tests, NULL, NULL);
}
