// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/thread: exclusion, waking, time-outs, signals.

#include "core/thread.h"

#include "support/support.h"

#include "core/alloc.h"

#include <pthread.h>
#include <signal.h>

typedef struct Shared {
    srMutex* mutex;
    srCondition* condition;
    int32_t count;
    bool couldLock;
    bool isSignalBlocked;
} Shared;

static int createShared(void** state) {
    static Shared shared;
    shared = (Shared){.mutex = srCreateMutex(), .condition = srCreateCondition()};
    *state = &shared;
    return shared.mutex == NULL || shared.condition == NULL;
}

static int destroyShared(void** state) {
    Shared* shared = *state;
    srDestroyCondition(shared->condition);
    srDestroyMutex(shared->mutex);
    return srTestNothingLeaked(state);
}

static void countUp(void* context) {
    Shared* shared = context;
    for (int32_t i = 0; i < 20000; i++) {
        srLock(shared->mutex);
        shared->count++;
        srUnlock(shared->mutex);
    }
}

static void a_locked_count_loses_nothing(void** state) {
    Shared* shared = *state;
    srThread* threads[3] = {NULL};
    for (int32_t i = 0; i < 3; i++) {
        assert_success(srStartThread(countUp, shared, &threads[i]));
    }
    countUp(shared);
    for (int32_t i = 0; i < 3; i++) {
        srJoinThread(threads[i]);
    }
    assert_int_equal(shared->count, 80000);
}

static void tryLock(void* context) {
    Shared* shared = context;
    shared->couldLock = srTryLock(shared->mutex);
    if (shared->couldLock) {
        srUnlock(shared->mutex);
    }
}

static void trying_succeeds_only_when_nobody_holds_the_lock(void** state) {
    Shared* shared = *state;
    for (int32_t isHeld = 0; isHeld < 2; isHeld++) {
        srThread* thread = NULL;
        if (isHeld) {
            srLock(shared->mutex);
        }
        assert_success(srStartThread(tryLock, shared, &thread));
        srJoinThread(thread);
        if (isHeld) {
            srUnlock(shared->mutex);
        }
        assert_int_equal(shared->couldLock, !isHeld);
    }
}

static void a_wait_ends_when_its_time_has_run_out(void** state) {
    Shared* shared = *state;
    double start = srGetSeconds();
    srLock(shared->mutex);
    // it may wake for nothing
    while (srWait(shared->condition, shared->mutex, 0.02) && srGetSeconds() - start < 10.0) {
    }
    srUnlock(shared->mutex);
    double waited = srGetSeconds() - start;
    assert_true(waited >= 0.02);
    // a loaded machine may be late, but not by seconds
    assert_true(waited < 5.0);
}

static void answer(void* context) {
    Shared* shared = context;
    srLock(shared->mutex);
    shared->count = 1;
    srWakeAll(shared->condition);
    srUnlock(shared->mutex);
}

static void waking_ends_a_wait_of_any_length(void** state) {
    Shared* shared = *state;
    const double waits[] = {-1.0, 1e300, 60.0};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(waits); i++) {
        shared->count = 0;
        srThread* thread = NULL;
        assert_success(srStartThread(answer, shared, &thread));
        srLock(shared->mutex);
        while (shared->count == 0) {
            assert_true(srWait(shared->condition, shared->mutex, waits[i]));
        }
        srUnlock(shared->mutex);
        srJoinThread(thread);
    }
}

static void lookAtSignals(void* context) {
    Shared* shared = context;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    shared->isSignalBlocked = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGALRM) == 1;
}

static void signals_stay_with_the_host(void** state) {
    Shared* shared = *state;
    srThread* thread = NULL;
    assert_success(srStartThread(lookAtSignals, shared, &thread));
    srJoinThread(thread);
    assert_true(shared->isSignalBlocked);
    lookAtSignals(shared);
    assert_false(shared->isSignalBlocked);
}

static void the_clock_never_goes_back(void** state) {
    (void)state;
    double last = srGetSeconds();
    for (int32_t i = 0; i < 1000; i++) {
        double now = srGetSeconds();
        assert_true(now >= last);
        last = now;
    }
    assert_true(srGetCoreCount() >= 1);
}

static srResult startAndJoin(void* context) {
    Shared shared = {.mutex = srCreateMutex(), .condition = srCreateCondition()};
    (void)context;
    srThread* thread = NULL;
    srResult result = sr_success;
    if (shared.mutex == NULL || shared.condition == NULL) {
        result = srFailOutOfMemory("a lock");
    } else {
        result = srStartThread(answer, &shared, &thread);
    }
    srJoinThread(thread);
    srDestroyCondition(shared.condition);
    srDestroyMutex(shared.mutex);
    return result;
}

static void memory_that_is_gone_leaks_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(startAndJoin, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_locked_count_loses_nothing, createShared, destroyShared),
        cmocka_unit_test_setup_teardown(trying_succeeds_only_when_nobody_holds_the_lock, createShared,
                                        destroyShared),
        cmocka_unit_test_setup_teardown(a_wait_ends_when_its_time_has_run_out, createShared, destroyShared),
        cmocka_unit_test_setup_teardown(waking_ends_a_wait_of_any_length, createShared, destroyShared),
        cmocka_unit_test_setup_teardown(signals_stay_with_the_host, createShared, destroyShared),
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test_teardown(memory_that_is_gone_leaks_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
