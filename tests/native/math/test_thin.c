// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/thin.h"

#include "core/alloc.h"
#include "math/simd_path.h"
#include "matrices.h"

enum {
    bothKinds = 3,
    most = 100
};

typedef struct Numbers {
    double* values;
    double x[3 * most], xRows[3 * most];
    float xFloat[3 * most], xRowsFloat[3 * most];
} Numbers;

static Numbers makeOperands(int32_t rows, int32_t columns) {
    Numbers n = {.values = makeNumbers((size_t)rows * (size_t)columns, 5)};
    uint64_t seed = 77;
    for (int i = 0; i < 3 * most; i++) {
        n.x[i] = (double)(n.xFloat[i] = (float)(srTestRandom(&seed) - 0.5));
        n.xRows[i] = (double)(n.xRowsFloat[i] = (float)(srTestRandom(&seed) - 0.5));
    }
    return n;
}

// On top of y = 1, in both kinds, against plain sums.
static void productsAgree(int32_t rows, int32_t columns) {
    Numbers n = makeOperands(rows, columns);
    srThin T;
    assert_success(srCreateThin(n.values, rows, columns, bothKinds, &T));
    double y[3 * most], yColumns[3 * most], scratch[24 * most];
    float yFloat[3 * most], yColumnsFloat[3 * most], scratchFloat[24 * most];
    assert_true(srThin_GetScratchCount(&T) <= SR_ARRAY_COUNT(scratch));
    for (int i = 0; i < 3 * most; i++) {
        y[i] = yColumns[i] = 1.0;
        yFloat[i] = yColumnsFloat[i] = 1.0f;
    }
    srThin_MulAddDouble(&T, n.x, y);
    srThin_MulAddFloat(&T, n.xFloat, yFloat);
    srThin_MulAddTransposedDouble(&T, n.xRows, yColumns, scratch);
    srThin_MulAddTransposedFloat(&T, n.xRowsFloat, yColumnsFloat, scratchFloat);
    for (int32_t r = 0; r < rows; r++) {
        for (int c = 0; c < 3; c++) {
            double sum = 1.0;
            for (int32_t k = 0; k < columns; k++) {
                sum += n.values[r * columns + k] * n.x[3 * k + c];
            }
            // at most a hundred products below 1/4
            assert_near(y[3 * r + c], sum, 1e-14);
            assert_near((double)yFloat[3 * r + c], sum, 5e-6);
        }
    }
    for (int32_t k = 0; k < columns; k++) {
        for (int c = 0; c < 3; c++) {
            double sum = 1.0;
            for (int32_t r = 0; r < rows; r++) {
                sum += n.values[r * columns + k] * n.xRows[3 * r + c];
            }
            assert_near(yColumns[3 * k + c], sum, 1e-14);
            assert_near((double)yColumnsFloat[3 * k + c], sum, 5e-6);
        }
    }
    // nothing is written beyond
    assert_true(y[3 * rows] == 1.0 && yFloat[3 * rows] == 1.0f);
    assert_true(yColumns[3 * columns] == 1.0 && yColumnsFloat[3 * columns] == 1.0f);
    srDestroyThin(&T);
    free(n.values);
}

static void products_agree_with_plain_sums(void** state) {
    (void)state;
    for (int32_t rows = 1; rows <= 50; rows++) {
        productsAgree(rows, 1);
        productsAgree(rows, 7);
    }
    productsAgree(99, 99);
    productsAgree(3, 99);
}

static void every_path_gives_the_same_bits(void** state) {
    (void)state;
    enum {
        rows = 91,
        columns = 23
    };
    Numbers n = makeOperands(rows, columns);
    srThin T;
    assert_success(srCreateThin(n.values, rows, columns, bothKinds, &T));
    double first[6 * most] = {0}, scratch[24 * most];
    float firstFloat[6 * most] = {0}, scratchFloat[24 * most];
    srSimdPath usual = srGetSimdPath();
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (!srForceSimdPath((srSimdPath)path)) {
            continue;
        }
        double y[6 * most] = {0};
        float yFloat[6 * most] = {0};
        srThin_MulAddDouble(&T, n.x, y);
        srThin_MulAddFloat(&T, n.xFloat, yFloat);
        srThin_MulAddTransposedDouble(&T, n.xRows, y + 3 * most, scratch);
        srThin_MulAddTransposedFloat(&T, n.xRowsFloat, yFloat + 3 * most, scratchFloat);
        if (path == sr_simdScalar) {
            memcpy(first, y, sizeof(y));
            memcpy(firstFloat, yFloat, sizeof(yFloat));
        }
        assert_memory_equal(y, first, sizeof(y));
        assert_memory_equal(yFloat, firstFloat, sizeof(yFloat));
    }
    assert_true(srForceSimdPath(usual));
    srDestroyThin(&T);
    free(n.values);
}

static void what_has_no_entries_is_refused(void** state) {
    (void)state;
    const double one = 1.0;
    srThin T;
    assert_result(srCreateThin(&one, 0, 1, 1, &T), sr_errorInvalidValue);
    assert_result(srCreateThin(&one, 1, 0, 1, &T), sr_errorInvalidValue);
    assert_result(srCreateThin(&one, 1, 1, 0, &T), sr_errorInvalidValue);
    assert_result(srCreateThin(&one, 1, 1, 4, &T), sr_errorInvalidValue);
}

static srResult createThin(void* context) {
    srThin T;
    SR_TRY(srCreateThin(context, 9, 3, bothKinds, &T));
    srDestroyThin(&T);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    double values[27] = {0};
    srTestEveryAllocationFails(createThin, values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(products_agree_with_plain_sums, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_has_no_entries_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/thin", tests, NULL, NULL);
}
