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

static void sharing_that_loses_much_is_left_for_twenty_times_that(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    srPace pace = {0};
    assert_false(srPace_Begin(&pace)); // first it must know what one worker needs
    spend(1e-3);
    srPace_End(&pace);
    assert_true(srPace_Begin(&pace));
    spend(15e-3); // ten of them are forgiven
    srPace_End(&pace);
    double start = srGetSeconds();
    while (!srPace_Begin(&pace)) {
        spend(1e-3);
        srPace_End(&pace);
    }
    assert_true(srGetSeconds() - start > 0.06);
    srParallel_SetWorkerCount(before);
}

// the share of `count` parts that were shared, when each takes so many seconds
static double play(srPace* pace, int count, double aloneSeconds, double sharedSeconds) {
    int sharedCount = 0;
    for (int part = 0; part < count; ++part) {
        bool isShared = srPace_Begin(pace);
        spend(isShared ? sharedSeconds : aloneSeconds);
        srPace_End(pace);
        sharedCount += isShared;
    }
    return (double)sharedCount / count;
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

static void one_loss_is_paid_by_what_was_won(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    srPace pace = {.aloneSeconds = 1.0};
    assert_true(srPace_Begin(&pace));
    srPace_End(&pace);
    pace.aloneSeconds = 1e-4;
    assert_true(srPace_Begin(&pace));
    spend(2e-3);
    srPace_End(&pace);
    assert_true(srPace_Begin(&pace));
    srParallel_SetWorkerCount(before);
}

// the time of one worker is looked at again and again, or it would be forgotten
static void a_core_that_is_taken_after_a_long_time_is_noticed_at_once(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    srPace pace = {0};
    play(&pace, 2000, 2e-4, 1e-4);
    // ten milliseconds of credit are six such losses; the seventh is earned back for a while
    assert_true(play(&pace, 200, 2e-4, 2e-3) < 0.1);
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
        cmocka_unit_test(sharing_that_loses_much_is_left_for_twenty_times_that),
        cmocka_unit_test(sharing_that_wins_goes_on),
        cmocka_unit_test(one_loss_is_paid_by_what_was_won),
        cmocka_unit_test(a_core_that_is_taken_after_a_long_time_is_noticed_at_once),
        cmocka_unit_test(one_worker_is_always_alone),
    };
    return cmocka_run_group_tests_name("solver/pace", tests, NULL, srTestNothingLeaked);
}
