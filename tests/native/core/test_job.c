// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/job: progress, cancel, results and their sentences, and destroying what still runs.

#include "core/job.h"

#include "support/support.h"

#include "core/alloc.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <string.h>

typedef struct Work {
    srResult result;
    const char* text;
    atomic_bool mayEnd;
    atomic_bool hasEnded;
    _Atomic double seenCancelAt;
} Work;

static srResult runUntilAllowed(srJob* job, void* context) {
    Work* work = context;
    srJob_SetProgress(job, 0.25f);
    while (!atomic_load(&work->mayEnd)) {
        if (srJob_IsCancelled(job)) {
            atomic_store(&work->seenCancelAt, srGetSeconds());
            atomic_store(&work->hasEnded, true);
            return srFail(sr_errorCancelled, "cancelled at a quarter");
        }
        srYield();
    }
    atomic_store(&work->hasEnded, true);
    return work->result == sr_success || work->text == NULL ? work->result
                                                            : srFail(work->result, "%s", work->text);
}

static void progress_is_seen_while_it_runs_and_is_whole_at_the_end(void** state) {
    (void)state;
    Work work = {.result = sr_success};
    srJob* job = NULL;
    assert_success(srStartJob(runUntilAllowed, &work, &job));
    double start = srGetSeconds();
    while (srJob_GetProgress(job) < 0.2f && srGetSeconds() - start < 10.0) {
        srYield();
    }
    assert_true(srJob_GetProgress(job) == 0.25f);
    assert_result(srJob_GetResult(job), sr_errorNotReady);
    assert_false(srJob_Wait(job, 0.0));
    assert_false(srJob_Wait(job, 0.005));
    atomic_store(&work.mayEnd, true);
    assert_true(srJob_Wait(job, -1.0));
    assert_true(srJob_GetProgress(job) == 1.0f);
    assert_success(srJob_GetResult(job));
    assert_true(srJob_Wait(job, 0.0));
    srDestroyJob(job);
}

static void cancel_is_acknowledged_within_50_ms(void** state) {
    (void)state;
    // a loaded machine may take a thread off its core for longer, but not every time
    double fastest = 1e9;
    for (int32_t round = 0; round < 20 && fastest > 0.05; round++) {
        Work work = {.result = sr_success};
        srJob* job = NULL;
        assert_success(srStartJob(runUntilAllowed, &work, &job));
        double start = srGetSeconds();
        srJob_Cancel(job);
        assert_true(srJob_Wait(job, -1.0));
        double waited = srGetSeconds() - start;
        fastest = waited < fastest ? waited : fastest;
        assert_result(srJob_GetResult(job), sr_errorCancelled);
        assert_true(atomic_load(&work.seenCancelAt) >= start);
        srDestroyJob(job);
    }
    assert_true(fastest <= 0.05);
}

static void the_works_sentence_reaches_whoever_asks(void** state) {
    (void)state;
    Work work = {.result = sr_errorBadMesh, .text = "triangle 7 has no area", .mayEnd = true};
    srJob* job = NULL;
    assert_success(srStartJob(runUntilAllowed, &work, &job));
    assert_true(srJob_Wait(job, -1.0));
    srSetErrorText("something else");
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(srJob_GetResult(job), sr_errorBadMesh);
        assert_string_equal(srGetErrorText(), "triangle 7 has no area");
        srSetErrorText("something else");
    }
    assert_true(srJob_GetProgress(job) < 1.0f);
    srDestroyJob(job);
}

static void work_without_a_sentence_gets_one(void** state) {
    (void)state;
    const srResult results[] = {sr_errorCancelled, sr_errorInternal};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(results); i++) {
        Work work = {.result = results[i], .mayEnd = true};
        srJob* job = NULL;
        assert_success(srStartJob(runUntilAllowed, &work, &job));
        assert_true(srJob_Wait(job, -1.0));
        srSetErrorText("");
        assert_result(srJob_GetResult(job), results[i]);
        srDestroyJob(job);
    }
}

static void success_leaves_the_askers_sentence_alone(void** state) {
    (void)state;
    Work work = {.result = sr_success, .mayEnd = true};
    srJob* job = NULL;
    assert_success(srStartJob(runUntilAllowed, &work, &job));
    assert_true(srJob_Wait(job, -1.0));
    srSetErrorText("from before");
    assert_success(srJob_GetResult(job));
    assert_string_equal(srGetErrorText(), "from before");
    srDestroyJob(job);
}

static void destroying_a_running_job_ends_its_work_first(void** state) {
    (void)state;
    for (int32_t round = 0; round < 20; round++) {
        Work work = {.result = sr_success};
        srJob* job = NULL;
        assert_success(srStartJob(runUntilAllowed, &work, &job));
        srDestroyJob(job);
        assert_true(atomic_load(&work.hasEnded));
    }
    srDestroyJob(NULL);
}

// Work that does not look whether it is cancelled before it may end, as within a library that cannot be
// asked.
typedef struct Deaf {
    atomic_bool* mayEnd;
    atomic_int* releaseCount;
} Deaf;

static srResult beDeaf(srJob* job, void* context) {
    const Deaf* work = context;
    while (!atomic_load(work->mayEnd)) {
        srYield();
    }
    return srJob_IsCancelled(job) ? sr_errorCancelled : sr_success;
}

static void releaseDeaf(void* context) {
    Deaf* work = context;
    atomic_fetch_add(work->releaseCount, 1);
    SR_FREE(work, 1);
}

static srJob* startDeaf(atomic_bool* mayEnd, atomic_int* releaseCount) {
    srJob* job = NULL;
    Deaf* work = SR_ALLOC(Deaf, 1);
    assert_non_null(work);
    *work = (Deaf){mayEnd, releaseCount};
    assert_success(srStartJob(beDeaf, work, &job));
    return job;
}

static void abandoning_waits_for_nothing_and_frees_everything(void** state) {
    (void)state;
    atomic_bool mayEnd = false;
    atomic_int releaseCount = 0;
    for (int32_t i = 0; i < 3; i++) {
        // would never return if it waited
        srAbandonJob(startDeaf(&mayEnd, &releaseCount), releaseDeaf);
        assert_false(srJoinAbandonedJobs(false));
    }
    assert_int_equal(atomic_load(&releaseCount), 0);
    atomic_store(&mayEnd, true);
    assert_true(srJoinAbandonedJobs(true));
    assert_int_equal(atomic_load(&releaseCount), 3);
    assert_true(srJoinAbandonedJobs(true));
}

static void what_has_ended_is_released_at_once(void** state) {
    (void)state;
    atomic_bool mayEnd = true;
    atomic_int releaseCount = 0;
    srJob* job = startDeaf(&mayEnd, &releaseCount);
    assert_true(srJob_Wait(job, -1.0));
    srAbandonJob(job, releaseDeaf);
    assert_int_equal(atomic_load(&releaseCount), 1);
    assert_true(srJoinAbandonedJobs(false));
}

static void abandoning_while_it_ends_releases_once(void** state) {
    (void)state;
    atomic_int releaseCount = 0;
    for (int32_t round = 0; round < 500; round++) {
        atomic_bool mayEnd = round % 2 == 0;
        srJob* job = startDeaf(&mayEnd, &releaseCount);
        atomic_store(&mayEnd, true);
        srAbandonJob(job, releaseDeaf);
        assert_true(srJoinAbandonedJobs(true));
        assert_int_equal(atomic_load(&releaseCount), round + 1);
    }
}

typedef struct Waiter {
    srJob* job;
    bool hasSeenEnd;
} Waiter;

static void waitForEnd(void* context) {
    Waiter* waiter = context;
    waiter->hasSeenEnd = srJob_Wait(waiter->job, 60.0);
}

static void many_may_wait_for_one_job(void** state) {
    (void)state;
    Work work = {.result = sr_success};
    srJob* job = NULL;
    assert_success(srStartJob(runUntilAllowed, &work, &job));
    Waiter waiters[3] = {{.job = job}, {.job = job}, {.job = job}};
    srThread* threads[3] = {NULL};
    for (int32_t i = 0; i < 3; i++) {
        assert_success(srStartThread(waitForEnd, &waiters[i], &threads[i]));
    }
    atomic_store(&work.mayEnd, true);
    for (int32_t i = 0; i < 3; i++) {
        srJoinThread(threads[i]);
        assert_true(waiters[i].hasSeenEnd);
    }
    srDestroyJob(job);
}

static srResult startAndDestroy(void* context) {
    (void)context;
    Work work = {.result = sr_success, .mayEnd = true};
    srJob* job = NULL;
    SR_TRY(srStartJob(runUntilAllowed, &work, &job));
    srDestroyJob(job);
    return sr_success;
}

static void memory_that_is_gone_leaks_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(startAndDestroy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(progress_is_seen_while_it_runs_and_is_whole_at_the_end,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(cancel_is_acknowledged_within_50_ms, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_works_sentence_reaches_whoever_asks, srTestNothingLeaked),
        cmocka_unit_test_teardown(work_without_a_sentence_gets_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(success_leaves_the_askers_sentence_alone, srTestNothingLeaked),
        cmocka_unit_test_teardown(destroying_a_running_job_ends_its_work_first, srTestNothingLeaked),
        cmocka_unit_test_teardown(abandoning_waits_for_nothing_and_frees_everything, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_has_ended_is_released_at_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(abandoning_while_it_ends_releases_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(many_may_wait_for_one_job, srTestNothingLeaked),
        cmocka_unit_test_teardown(memory_that_is_gone_leaks_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
