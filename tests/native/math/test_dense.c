// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/dense.h"

#include "core/thread.h"
#include "support/support.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_may_check_at_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(blas_computes_correctly_here, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/dense", tests, NULL, NULL);
}
