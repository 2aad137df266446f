// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/factor.h"

#include "core/alloc.h"
#include "math/solve.h"
#include "matrices.h"

#include <float.h>

enum {
    bothKinds = sr_factorFloat | sr_factorDouble,
    maxSteep = 64
};

static void groups_hold_every_column_once(void** state) {
    (void)state;
    srCsc A = makeGrid(11, 10, 9, 0.1, NULL);
    srCholesky* cholesky;
    srFactor f;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateFactor(cholesky, bothKinds, &f));
    assert_int_equal(f.columnStarts[0], 0);
    assert_int_equal(f.columnStarts[f.groupCount], 990);
    for (int32_t g = 0; g < f.groupCount; g++) {
        const int32_t* rows = f.rows + SR_SLAB_ROWS * f.slabStarts[g];
        assert_true(f.columnStarts[g] < f.columnStarts[g + 1]);
        for (int32_t r = 0; r < f.columnStarts[g + 1] - f.columnStarts[g]; r++) {
            assert_int_equal(rows[r], f.columnStarts[g] + r);
        }
    }
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static void joining_makes_fewer_groups_and_little_more_to_read(void** state) {
    (void)state;
    srCsc A = makeGrid(14, 14, 14, 0.1, NULL);
    srCholesky* cholesky;
    srSupernodes s;
    srFactor f;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCholesky_GetSupernodes(cholesky, &s));
    assert_success(srCreateFactor(cholesky, sr_factorFloat, &f));
    int64_t entries = 0;
    for (int32_t n = 0; n < s.count; n++) {
        int64_t columns = s.columnStarts[n + 1] - s.columnStarts[n];
        entries += columns * (s.rowStarts[n + 1] - s.rowStarts[n]) - columns * (columns - 1) / 2;
    }
    assert_true(f.groupCount < s.count);
    assert_true((double)f.floatStarts[f.groupCount] < 1.3 * (double)entries);
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static void scales_make_the_diagonal_about_one(void** state) {
    (void)state;
    const double diagonal[] = {DBL_MIN, 1e-300, 1e-30, 0.5, 1.0, 2.0, 3.0, 4.0, 1e30, 1e300, DBL_MAX};
    srTriplet triplets[SR_ARRAY_COUNT(diagonal)];
    for (int32_t i = 0; i < (int32_t)SR_ARRAY_COUNT(diagonal); i++) {
        triplets[i] = (srTriplet){i, i, diagonal[i]};
    }
    srCsc A;
    srCholesky* cholesky;
    srFactor f;
    assert_success(srCreateCsc(11, 11, triplets, 11, &A));
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateFactor(cholesky, sr_factorFloat, &f));
    for (int32_t k = 0; k < 11; k++) {
        double scale = f.scales[k], scaled = scale * (scale * diagonal[f.order[k]]);
        int exponent;
        assert_true(frexp(scale, &exponent) == 0.5);
        // the square root that the diagonal is found from is rounded
        assert_true(scaled >= 0.5 - 1e-15 && scaled <= 2.0);
    }
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static void filling_again_gives_the_bits_of_a_new_factor(void** state) {
    (void)state;
    srCsc A = makeGrid(8, 9, 10, 0.1, NULL), B = makeGrid(8, 9, 10, 0.1, NULL);
    for (int32_t p = 0; p < B.columnStarts[B.columnCount]; p++) {
        B.values[p] *= 1.7;
    }
    srCholesky *cholesky, *fresh;
    srFactor f, g, first;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateCholesky(&B, &fresh));
    assert_success(srCreateFactor(cholesky, bothKinds, &f));
    assert_success(srCreateFactor(cholesky, bothKinds, &first));
    assert_success(srCreateFactor(fresh, bothKinds, &g));
    assert_int_equal(f.byteCount, g.byteCount);
    assert_memory_not_equal(f.bytes, g.bytes, f.byteCount);

    // other values, and the first ones again
    assert_success(srCholesky_Factor(cholesky, &B));
    assert_success(srFactor_Refill(&f, cholesky));
    assert_memory_equal(f.bytes, g.bytes, f.byteCount);
    assert_success(srCholesky_Factor(cholesky, &A));
    assert_success(srFactor_Refill(&f, cholesky));
    assert_memory_equal(f.bytes, first.bytes, f.byteCount);
    srDestroyFactor(&f);
    srDestroyFactor(&g);
    srDestroyFactor(&first);
    srDestroyCholesky(cholesky);
    srDestroyCholesky(fresh);
    srDestroyCsc(&A);
    srDestroyCsc(&B);
}

static void filling_from_another_analysis_is_refused(void** state) {
    (void)state;
    srCsc A = makeGrid(4, 5, 6, 0.1, NULL), B = makeGrid(6, 5, 4, 0.1, NULL),
          C = makeGrid(4, 4, 4, 0.1, NULL);
    srCholesky *a, *b, *c;
    srFactor f;
    assert_success(srCreateCholesky(&A, &a));
    assert_success(srCreateCholesky(&B, &b));
    assert_success(srCreateCholesky(&C, &c));
    assert_success(srCreateFactor(a, bothKinds, &f));
    assert_result(srFactor_Refill(&f, b), sr_errorInvalidValue);
    assert_result(srFactor_Refill(&f, c), sr_errorInvalidValue);
    assert_success(srFactor_Refill(&f, a));

    srDestroyFactor(&f);
    srDestroyCholesky(a);
    srDestroyCholesky(b);
    srDestroyCholesky(c);
    srDestroyCsc(&A);
    srDestroyCsc(&B);
    srDestroyCsc(&C);
}

// Small random patterns often share their order: then what is filled must be right, or refused.
static void filling_from_another_pattern_is_refused_or_right(void** state) {
    (void)state;
    enum {
        size = 4,
        trialCount = 3000
    };
    int filledCount = 0;
    for (uint64_t trial = 1; trial <= trialCount; trial++) {
        srCsc A = makeRandom(size, 1, trial, NULL), B = makeRandom(size, 1, trial * 7919, NULL);
        srCholesky *a, *b;
        srFactor f;
        assert_success(srCreateCholesky(&A, &a));
        assert_success(srCreateCholesky(&B, &b));
        assert_success(srCreateFactor(a, sr_factorDouble, &f));
        srResult result = srFactor_Refill(&f, b);
        if (result == sr_success) {
            filledCount++;
            double* x = makeNumbers(3 * size, trial);
            double* expected = makeNumbers(3 * size, trial);
            void* scratch = srAlloc(srFactor_GetScratchSize(&f), 1);
            assert_success(srFactor_SolveDouble(&f, x, x, scratch));
            solveDensely(&B, expected, 3);
            for (int i = 0; i < 3 * size; i++) {
                assert_near(x[i], expected[i], 1e-14); // solutions below one, condition below ten
            }
            srFree(scratch, srFactor_GetScratchSize(&f), 1);
            free(x);
            free(expected);
        } else {
            assert_int_equal(result, sr_errorInvalidValue);
        }
        srDestroyFactor(&f);
        srDestroyCholesky(a);
        srDestroyCholesky(b);
        srDestroyCsc(&A);
        srDestroyCsc(&B);
    }
    assert_in_range(filledCount, 1, trialCount - 1);
}

static void factor_without_values_or_of_unknown_kind_is_refused(void** state) {
    (void)state;
    srCsc A = makeGrid(4, 5, 6, 0.1, NULL);
    srCholesky* cholesky;
    srFactor f;
    assert_success(srAnalyzeCholesky(&A, NULL, &cholesky));
    assert_result(srCreateFactor(cholesky, bothKinds, &f), sr_errorNotReady);
    assert_success(srCholesky_Factor(cholesky, &A));
    assert_result(srCreateFactor(cholesky, 0, &f), sr_errorInvalidValue);
    assert_result(srCreateFactor(cholesky, 4, &f), sr_errorInvalidValue);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

// L has a unit row at the top, then rows of minus one and, on the diagonal, 2^-20: all exact, so that A = L
// L' and the factor of it are too, whatever rounds. The inverse of L grows by 2^20 a row. Rows are given in
// the order in which they are eliminated, so `order` undoes that; null for the plain one.
static srCsc makeSteep(int32_t size, const int32_t* order) {
    srTriplet triplets[maxSteep * maxSteep];
    int32_t count = 0;
    for (int32_t k = 0; k < size; k++) {
        for (int32_t j = 0; j <= k; j++) {
            // dense, so that one panel holds it
            double value = k == j      ? (k > 0 ? 1.0 + 0x1p-40 : 1.0)
                           : k > j + 1 ? 0.0
                           : j == 0    ? -1.0
                                       : -0x1p-20;
            int32_t r = order != NULL ? order[k] : k, c = order != NULL ? order[j] : j;
            triplets[count++] = (srTriplet){r > c ? r : c, r > c ? c : r, value};
        }
    }
    srCsc A;
    assert_success(srCreateCsc(size, size, triplets, count, &A));
    return A;
}

// The factor's result, of a steep matrix in the order of elimination.
static srResult createSteep(int32_t size, int kinds, srFactor* outFactor) {
    srCsc plain = makeSteep(size, NULL);
    for (int32_t j = 0; j < size; j++) {
        for (int32_t p = plain.columnStarts[j]; p < plain.columnStarts[j + 1]; p++) {
            plain.values[p] = plain.rows[p] == j ? 1.0 : 0.0;
        }
    }
    srCholesky* cholesky;
    srSupernodes s;
    assert_success(srCreateCholesky(&plain, &cholesky));
    assert_success(srCholesky_GetSupernodes(cholesky, &s));
    srCsc A = makeSteep(size, s.order);
    assert_success(srCholesky_Factor(cholesky, &A));
    srResult result = srCreateFactor(cholesky, kinds, outFactor);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&plain);
    srDestroyCsc(&A);
    return result;
}

static void values_beyond_float_are_refused_in_float_only(void** state) {
    (void)state;
    srFactor f;
    // 2^20, 2^40, ... in the first column
    assert_success(createSteep(7, bothKinds, &f)); // to 2^120
    srDestroyFactor(&f);
    assert_result(createSteep(8, sr_factorFloat, &f), sr_errorInvalidValue); // to 2^140
    assert_result(createSteep(8, bothKinds, &f), sr_errorInvalidValue);
    assert_success(createSteep(8, sr_factorDouble, &f));
    srDestroyFactor(&f);
    assert_success(createSteep(52, sr_factorDouble, &f)); // to 2^1020
    srDestroyFactor(&f);
    assert_result(createSteep(53, sr_factorDouble, &f), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "too large"));
}

// A chain whose links are weak: the inverse of its factor decays by 2^-4 a row, and passes all sizes.
static void entries_that_are_noise_in_float_are_zero(void** state) {
    (void)state;
    enum {
        size = 48
    };
    srTriplet triplets[size * size];
    int32_t count = 0;
    for (int32_t j = 0; j < size; j++) {
        for (int32_t i = j; i < size; i++) {
            triplets[count++] = (srTriplet){i, j, i == j ? 1.0 : i == j + 1 ? -0x1p-4 : 0.0};
        }
    }
    srCsc A;
    srCholesky* cholesky;
    srFactor f;
    assert_success(srCreateCsc(size, size, triplets, count, &A));
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateFactor(cholesky, bothKinds, &f));
    double least = 1.0, leastDouble = 1.0;
    for (int64_t i = 0; i < f.floatStarts[f.groupCount]; i++) {
        double value = fabs((double)f.floatPanels[i]);
        least = value > 0.0 && value < least ? value : least;
    }
    for (int64_t i = 0; i < f.doubleStarts[f.groupCount]; i++) {
        double value = fabs(f.doublePanels[i]);
        leastDouble = value > 0.0 && value < leastDouble ? value : leastDouble;
    }
    // a step of the chain is 2^-4 or a little more
    assert_true(least >= 0x1p-100 && least < 0x1p-95);
    assert_true(leastDouble < 0x1p-150);
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

static srResult createAndRefill(void* context) {
    srFactor f;
    SR_TRY(srCreateFactor(context, bothKinds, &f));
    srResult result = srFactor_Refill(&f, context);
    srDestroyFactor(&f);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCsc A = makeGrid(4, 5, 6, 0.1, NULL);
    srCholesky* cholesky;
    assert_success(srCreateCholesky(&A, &cholesky));
    srTestEveryAllocationFails(createAndRefill, cholesky);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(groups_hold_every_column_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(joining_makes_fewer_groups_and_little_more_to_read, srTestNothingLeaked),
        cmocka_unit_test_teardown(scales_make_the_diagonal_about_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(filling_again_gives_the_bits_of_a_new_factor, srTestNothingLeaked),
        cmocka_unit_test_teardown(filling_from_another_analysis_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(filling_from_another_pattern_is_refused_or_right, srTestNothingLeaked),
        cmocka_unit_test_teardown(factor_without_values_or_of_unknown_kind_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(values_beyond_float_are_refused_in_float_only, srTestNothingLeaked),
        cmocka_unit_test_teardown(entries_that_are_noise_in_float_are_zero, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/factor", tests, NULL, NULL);
}
