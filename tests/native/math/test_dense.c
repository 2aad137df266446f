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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_may_check_at_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(division_by_a_triangle_undoes_the_product, srTestNothingLeaked),
        cmocka_unit_test_teardown(blas_computes_correctly_here, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/dense", tests, NULL, NULL);
}
