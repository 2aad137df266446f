// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/cholesky.h"

#include "matrices.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    maxSize = 160
};

// Plain Gaussian elimination without pivoting, for definite matrices: nothing in common with the factor under
// test.
static void eliminate(int n, double* A, double* x) {
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
    srSupernodes supernodes;
    assert_success(srCholesky_GetSupernodes(factor, &supernodes));
    assert_int_equal(srCholesky_CountEntries(factor), supernodes.valueStarts[supernodes.count]);
    for (int columns = 1; columns <= 3; columns++) {
        for (int i = 0; i < columns * n; i++) {
            X[i] = expected[i] = srTestRandom(&seed) - 0.5;
        }
        assert_success(srCholesky_Solve(factor, X, columns));
        for (int c = 0; c < columns; c++) {
            memcpy(scratch, dense, sizeof(scratch));
            eliminate(n, scratch, expected + c * n);
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

// So dense that the factor is one block, and BLAS does the work.
static void dense_block_agrees_with_dense_elimination(void** state) {
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
    refuse(0, 0, NULL, 0, sr_errorInvalidValue);
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

static void singular_matrix_names_its_bad_column(void** state) {
    (void)state;
    // without mass the last node of each part of the graph is left with a pivot of rounding errors only
    srCsc A = makeGrid(9, 8, 7, 0.0, NULL);
    srCholesky* factor = NULL;
    assert_result(srCreateCholesky(&A, &factor), sr_errorInvalidValue);
    assert_null(factor);
    assert_non_null(strstr(srGetErrorText(), "column "));
    srDestroyCsc(&A);

    // a mass that is well above rounding errors is enough
    A = makeGrid(9, 8, 7, 1e-9, NULL);
    assert_success(srCreateCholesky(&A, &factor));
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
}

// The pair [1 1; 1 1 + share] among `others` that stand alone: its second pivot is `share` of its diagonal.
static srResult factorPair(double share, int32_t others) {
    srTriplet triplets[maxSize];
    int32_t count = 0;
    triplets[count++] = (srTriplet){0, 0, 1.0};
    triplets[count++] = (srTriplet){1, 0, 1.0};
    triplets[count++] = (srTriplet){1, 1, 1.0 + share};
    for (int32_t i = 0; i < others; i++) {
        triplets[count++] = (srTriplet){2 + i, 2 + i, 1.0};
    }
    srCsc A;
    srCholesky* factor = NULL;
    assert_success(srCreateCsc(2 + others, 2 + others, triplets, count, &A));
    srResult result = srCreateCholesky(&A, &factor);
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
    return result;
}

// The line is drawn at 32 + 4 sqrt(n) roundings. All shares are exact.
static void pivot_of_rounding_errors_is_refused_and_one_above_is_not(void** state) {
    (void)state;
    assert_result(factorPair(-36 * DBL_EPSILON, 0), sr_errorInvalidValue);
    assert_result(factorPair(0.0, 0), sr_errorInvalidValue);
    assert_result(factorPair(36 * DBL_EPSILON, 0), sr_errorInvalidValue); // 37.7 roundings for two rows
    assert_success(factorPair(40 * DBL_EPSILON, 0));
    assert_result(factorPair(70 * DBL_EPSILON, 98), sr_errorInvalidValue); // 72 for a hundred
    assert_success(factorPair(74 * DBL_EPSILON, 98));
}

static void bad_column_is_in_the_callers_numbering(void** state) {
    (void)state;
    // a long chain of good rows; one row apart from it is singular, whatever the order
    for (int32_t bad = 0; bad < 50; bad += 7) {
        srTriplet triplets[150];
        int32_t count = 0;
        for (int32_t i = 0; i < 50; i++) {
            triplets[count++] = (srTriplet){i, i, i == bad ? 0.0 : 3.0};
            if (i > 0 && i != bad && i - 1 != bad) {
                triplets[count++] = (srTriplet){i, i - 1, -1.0};
            }
        }
        srCsc A;
        srCholesky* factor = NULL;
        assert_success(srCreateCsc(50, 50, triplets, count, &A));
        assert_result(srCreateCholesky(&A, &factor), sr_errorInvalidValue);
        char words[32];
        snprintf(words, sizeof(words), "column %d fails", bad);
        assert_non_null(strstr(srGetErrorText(), words));
        srDestroyCsc(&A);
    }
}

enum {
    mostPartSize = 40
};

// A singular graph of `ringSize` nodes without mass and a part of three nodes by itself, of which each holds
// `own` on its diagonal; these stand first where `seed` is odd. The chance edges come from it too.
static srCsc makeTwoParts(int32_t ringSize, double mass, double own, uint64_t seed) {
    srTriplet triplets[8 * mostPartSize];
    int32_t count = 0, size = ringSize + 3, shift = seed % 2 == 1 ? 3 : 0;
    for (int32_t i = 0; i < ringSize; i++) {
        int32_t chance = (i + 2 + (int32_t)((ringSize - 3) * srTestRandom(&seed))) % ringSize;
        const int32_t others[2] = {(i + 1) % ringSize, chance};
        for (int k = 0; k < 2; k++) {
            int32_t j = others[k];
            double weight = 0.3 + srTestRandom(&seed);
            triplets[count++] = (srTriplet){i, i, weight + mass};
            triplets[count++] = (srTriplet){j, j, weight};
            triplets[count++] = (srTriplet){i > j ? i : j, i > j ? j : i, -weight};
        }
    }
    for (int32_t i = ringSize; i < ringSize + 3; i++) {
        triplets[count++] = (srTriplet){i, i, own};
        for (int32_t j = ringSize; j < i; j++) {
            triplets[count++] = (srTriplet){i, j, 1.0};
        }
    }
    for (int32_t t = 0; t < count; t++) {
        int32_t row = (triplets[t].row + shift) % size, column = (triplets[t].column + shift) % size;
        triplets[t].row = row > column ? row : column;
        triplets[t].column = row > column ? column : row;
    }
    srCsc A;
    assert_success(srCreateCsc(size, size, triplets, count, &A));
    return A;
}

// The first column, in the order of elimination, whose pivot is no more than noise: by long double, dense.
static int32_t firstBadColumn(const srCsc* A, const int32_t* order) {
    static long double D[mostPartSize][mostPartSize];
    int32_t n = A->columnCount, places[mostPartSize];
    memset(D, 0, sizeof(D));
    for (int32_t k = 0; k < n; k++) {
        places[order[k]] = k;
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            int32_t r = places[A->rows[p]], c = places[j];
            D[r][c] = D[c][r] = (long double)A->values[p];
        }
    }
    for (int32_t k = 0; k < n; k++) {
        if (D[k][k] < 1e-12L) {
            return order[k];
        }
        for (int32_t i = k + 1; i < n; i++) {
            long double share = D[i][k] / D[k][k];
            for (int32_t j = k; j < n; j++) {
                D[i][j] -= share * D[k][j];
            }
        }
    }
    return -1;
}

static void first_of_two_bad_columns_is_named(void** state) {
    (void)state;
    int singularCount = 0;
    for (uint64_t trial = 1; trial <= 400; trial++) {
        int32_t ringSize = 6 + (int32_t)(trial * 7 % 30);
        srCsc good = makeTwoParts(ringSize, 1.0, 4.0, trial), bad = makeTwoParts(ringSize, 0.0, -4.0, trial);
        srCholesky* factor;
        srSupernodes s;
        assert_success(srCreateCholesky(&good, &factor));
        assert_success(srCholesky_GetSupernodes(factor, &s));
        int32_t expected = firstBadColumn(&bad, s.order);
        assert_result(srCholesky_Factor(factor, &bad), sr_errorInvalidValue);
        char words[32];
        snprintf(words, sizeof(words), "column %d fails", expected);
        assert_non_null(strstr(srGetErrorText(), words));
        singularCount += trial % 2 == 1 ? expected >= 3 : expected < ringSize;
        srDestroyCholesky(factor);
        srDestroyCsc(&good);
        srDestroyCsc(&bad);
    }
    assert_in_range(singularCount, 40, 360); // either part comes first often
}

static void new_values_on_the_old_pattern_equal_a_new_factor(void** state) {
    (void)state;
    srCsc A = makeGrid(6, 7, 8, 0.1, NULL), B = makeGrid(6, 7, 8, 0.1, NULL);
    for (int32_t p = 0; p < B.columnStarts[B.columnCount]; p++) {
        B.values[p] *= 3.5;
    }
    double *x = makeNumbers(336, 5), *y = makeNumbers(336, 5);
    srCholesky *again, *fresh;
    assert_success(srCreateCholesky(&A, &again));
    assert_success(srCholesky_Factor(again, &B));
    assert_success(srCreateCholesky(&B, &fresh));
    assert_success(srCholesky_Solve(again, x, 1));
    assert_success(srCholesky_Solve(fresh, y, 1));
    assert_memory_equal(x, y, 336 * sizeof(double));
    srDestroyCholesky(again);
    srDestroyCholesky(fresh);
    srDestroyCsc(&A);
    srDestroyCsc(&B);
    free(x);
    free(y);
}

static void failed_values_leave_the_analysis_to_be_used_again(void** state) {
    (void)state;
    srCsc A = makeGrid(5, 5, 5, 0.1, NULL);
    srCholesky* factor;
    srSupernodes supernodes;
    double* x = makeNumbers(125, 5);
    assert_success(srAnalyzeCholesky(&A, NULL, &factor));
    assert_result(srCholesky_Solve(factor, x, 1), sr_errorNotReady);
    assert_result(srCholesky_GetSupernodes(factor, &supernodes), sr_errorNotReady);
    assert_success(srCholesky_Factor(factor, &A));

    // a failure takes the old values away, too
    double first = A.values[0];
    A.values[0] = -first;
    assert_result(srCholesky_Factor(factor, &A), sr_errorInvalidValue);
    assert_result(srCholesky_Solve(factor, x, 1), sr_errorNotReady);
    A.values[0] = (double)INFINITY;
    assert_result(srCholesky_Factor(factor, &A), sr_errorNotFinite);
    A.values[0] = first;
    assert_success(srCholesky_Factor(factor, &A));
    assert_success(srCholesky_Solve(factor, x, 1));
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
    free(x);
}

static void other_pattern_is_refused(void** state) {
    (void)state;
    srCsc A = makeGrid(4, 5, 6, 0.1, NULL), B = makeGrid(5, 4, 6, 0.1, NULL),
          C = makeGrid(4, 5, 5, 0.1, NULL);
    srCholesky* factor;
    assert_success(srAnalyzeCholesky(&A, NULL, &factor));
    assert_result(srCholesky_Factor(factor, &B), sr_errorInvalidValue);
    assert_result(srCholesky_Factor(factor, &C), sr_errorInvalidValue);
    assert_success(srCholesky_Factor(factor, &A));
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
    srDestroyCsc(&B);
    srDestroyCsc(&C);
}

static void order_that_is_no_permutation_is_refused(void** state) {
    (void)state;
    srCsc A = makeGrid(2, 2, 1, 0.1, NULL);
    const int32_t twice[] = {0, 1, 1, 3}, beyond[] = {0, 1, 2, 4}, below[] = {0, -1, 2, 3};
    srCholesky* factor = NULL;
    assert_result(srAnalyzeCholesky(&A, twice, &factor), sr_errorInvalidValue);
    assert_result(srAnalyzeCholesky(&A, beyond, &factor), sr_errorInvalidValue);
    assert_result(srAnalyzeCholesky(&A, below, &factor), sr_errorInvalidValue);
    assert_null(factor);
    srDestroyCsc(&A);
}

static double steepScale(int32_t i) {
    return i % 3 == 0 ? 1e-6 : i % 3 == 1 ? 1.0 : 1e6;
}

static void rows_of_very_different_scale_are_not_taken_for_singular(void** state) {
    (void)state;
    // diagonals from 1e-12 to 1e12
    srCsc A = makeRandom(100, 4, 9, steepScale);
    srCholesky* factor;
    assert_success(srCreateCholesky(&A, &factor));
    double *x = makeNumbers(100, 5), *y = makeNumbers(100, 5);
    assert_success(srCholesky_Solve(factor, x, 1));
    solveDensely(&A, y, 1);
    for (int32_t i = 0; i < 100; i++) {
        // the scaled system has a condition below ten; solutions, times their scale, are below 1e6
        assert_near(steepScale(i) * x[i], steepScale(i) * y[i], 1e-8);
    }
    srDestroyCholesky(factor);
    srDestroyCsc(&A);
    free(x);
    free(y);
}

static srResult factorAndSolve(void* context) {
    srCholesky* factor;
    SR_TRY(srCreateCholesky(context, &factor));
    double X[2 * maxSize] = {1.0};
    srResult result = srCholesky_Solve(factor, X, 2);
    if (result == sr_success) {
        result = srCholesky_Factor(factor, context);
    }
    srDestroyCholesky(factor);
    return result;
}

static srResult analyzeWithOrder(void* context) {
    int32_t order[maxSize];
    for (int32_t i = 0; i < maxSize; i++) {
        order[i] = maxSize - 1 - i;
    }
    srCholesky* factor;
    SR_TRY(srAnalyzeCholesky(context, order, &factor));
    srDestroyCholesky(factor);
    return sr_success;
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
        srTestEveryAllocationFails(analyzeWithOrder, &A);
        srDestroyCsc(&A);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sparse_solve_agrees_with_dense_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(dense_block_agrees_with_dense_elimination, srTestNothingLeaked),
        cmocka_unit_test_teardown(indefinite_matrix_names_its_bad_column, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_cannot_be_factored_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(upper_triangle_is_not_read, srTestNothingLeaked),
        cmocka_unit_test_teardown(singular_matrix_names_its_bad_column, srTestNothingLeaked),
        cmocka_unit_test_teardown(pivot_of_rounding_errors_is_refused_and_one_above_is_not,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(bad_column_is_in_the_callers_numbering, srTestNothingLeaked),
        cmocka_unit_test_teardown(first_of_two_bad_columns_is_named, srTestNothingLeaked),
        cmocka_unit_test_teardown(new_values_on_the_old_pattern_equal_a_new_factor, srTestNothingLeaked),
        cmocka_unit_test_teardown(failed_values_leave_the_analysis_to_be_used_again, srTestNothingLeaked),
        cmocka_unit_test_teardown(other_pattern_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(order_that_is_no_permutation_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(rows_of_very_different_scale_are_not_taken_for_singular,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/cholesky", tests, NULL, NULL);
}
