// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/csc.h"

#include "matrices.h"

#include <math.h>

static void entries_of_a_column_ascend_and_repeats_are_summed(void** state) {
    (void)state;
    const srTriplet triplets[] = {{2, 1, 1.0}, {0, 1, 2.0},  {2, 1, 4.0},
                                  {1, 0, 8.0}, {2, 1, 16.0}, {2, 3, 32.0}};
    srCsc A;
    assert_success(srCreateCsc(3, 4, triplets, SR_ARRAY_COUNT(triplets), &A));
    const int32_t starts[] = {0, 1, 3, 3, 4}, rows[] = {1, 0, 2, 2};
    const double values[] = {8.0, 2.0, 21.0, 32.0};
    assert_memory_equal(A.columnStarts, starts, sizeof(starts));
    assert_memory_equal(A.rows, rows, sizeof(rows));
    assert_memory_equal(A.values, values, sizeof(values));
    srDestroyCsc(&A);
}

static void repeats_are_summed_in_the_order_given(void** state) {
    (void)state;
    // only from left to right does the small one vanish in the large ones
    const srTriplet triplets[] = {{0, 0, 1e17}, {0, 0, 1.0}, {0, 0, -1e17}};
    srCsc A;
    assert_success(srCreateCsc(1, 1, triplets, 3, &A));
    assert_true(A.values[0] == 1e17 + 1.0 - 1e17);
    assert_true(A.values[0] == 0.0);
    srDestroyCsc(&A);
}

static void product_agrees_with_the_triplets(void** state) {
    (void)state;
    enum {
        rowCount = 17,
        columnCount = 23,
        tripletCount = 300
    };
    uint64_t seed = 5;
    srTriplet triplets[tripletCount];
    double x[columnCount], y[rowCount], expected[rowCount];
    for (int i = 0; i < columnCount; i++) {
        x[i] = srTestRandom(&seed) - 0.5;
    }
    for (int i = 0; i < rowCount; i++) {
        y[i] = expected[i] = srTestRandom(&seed);
    }
    for (int t = 0; t < tripletCount; t++) {
        triplets[t].row = (int32_t)(rowCount * srTestRandom(&seed));
        triplets[t].column = (int32_t)(columnCount * srTestRandom(&seed));
        triplets[t].value = srTestRandom(&seed) - 0.5;
        expected[triplets[t].row] += triplets[t].value * x[triplets[t].column];
    }
    srCsc A;
    assert_success(srCreateCsc(rowCount, columnCount, triplets, tripletCount, &A));
    srCsc_MulAdd(y, &A, x);
    for (int i = 0; i < rowCount; i++) {
        // other order of some twenty summands below one
        assert_near(y[i], expected[i], 1e-14);
    }
    srDestroyCsc(&A);
}

static void no_triplets_make_an_empty_matrix(void** state) {
    (void)state;
    srCsc A;
    assert_success(srCreateCsc(2, 3, NULL, 0, &A));
    assert_int_equal(A.columnStarts[3], 0);
    double y[2] = {1.0, 2.0};
    srCsc_MulAdd(y, &A, (const double[]){1.0, 1.0, 1.0});
    assert_true(y[0] == 1.0 && y[1] == 2.0);
    srDestroyCsc(&A);
    srDestroyCsc(&A);
}

static srResult createAndDestroy(void* context) {
    (void)context;
    const srTriplet triplets[] = {{0, 0, 1.0}, {1, 1, 1.0}, {1, 0, 1.0}};
    srCsc A;
    SR_TRY(srCreateCsc(2, 2, triplets, 3, &A));
    srDestroyCsc(&A);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(createAndDestroy, NULL);
}

static void symmetric_product_reads_the_lower_triangle_only(void** state) {
    (void)state;
    srTriplet triplets[] = {{0, 0, 2.0}, {2, 0, 3.0}, {1, 1, 5.0}, {2, 2, 7.0}, {0, 2, 1e9}, {0, 1, 1e9}};
    srCsc A;
    assert_success(srCreateCsc(3, 3, triplets, SR_ARRAY_COUNT(triplets), &A));
    const double X[9] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
    double Y[9] = {0};
    srCsc_SubSymmetric3(Y, &A, X);
    const double expected[9] = {-23.0, -28.0, -33.0, -20.0, -25.0, -30.0, -52.0, -62.0, -72.0};
    assert_memory_equal(Y, expected, sizeof(Y));
    srDestroyCsc(&A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(symmetric_product_reads_the_lower_triangle_only, srTestNothingLeaked),
        cmocka_unit_test_teardown(entries_of_a_column_ascend_and_repeats_are_summed, srTestNothingLeaked),
        cmocka_unit_test_teardown(repeats_are_summed_in_the_order_given, srTestNothingLeaked),
        cmocka_unit_test_teardown(product_agrees_with_the_triplets, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_triplets_make_an_empty_matrix, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/csc", tests, NULL, NULL);
}
