// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sharing is tried, kept while it wins, and left for a while when it loses.

#include "support/support.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "solver/pace.h"

static void spend(double seconds) {
    double end = srGetSeconds() + seconds;
    while (srGetSeconds() < end) {
        srPause();
    }
}

static void sharing_that_loses_is_left_for_twenty_times_what_it_lost(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    srPace pace = {0};
    assert_false(srPace_Begin(&pace)); // first it must know what one worker needs
    spend(1e-3);
    srPace_End(&pace);
    assert_true(srPace_Begin(&pace));
    spend(5e-3);
    srPace_End(&pace);
    double start = srGetSeconds();
    while (!srPace_Begin(&pace)) {
        spend(1e-3);
        srPace_End(&pace);
    }
    assert_true(srGetSeconds() - start > 0.06);
    srParallel_SetWorkerCount(before);
}

static void sharing_that_wins_goes_on(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    srPace pace = {.aloneSeconds = 1.0};
    for (int part = 0; part < 20; ++part) {
        assert_true(srPace_Begin(&pace));
        srPace_End(&pace);
    }
    srParallel_SetWorkerCount(before);
}

static void one_worker_is_always_alone(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(1);
    srPace pace = {.aloneSeconds = 1.0};
    assert_false(srPace_Begin(&pace));
    srPace_End(&pace);
    srParallel_SetWorkerCount(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharing_that_loses_is_left_for_twenty_times_what_it_lost),
        cmocka_unit_test(sharing_that_wins_goes_on),
        cmocka_unit_test(one_worker_is_always_alone),
    };
    return cmocka_run_group_tests_name("solver/pace", tests, NULL, srTestNothingLeaked);
}
