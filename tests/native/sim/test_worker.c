// SPDX-License-Identifier: GPL-3.0-or-later
//
// The thread that works through rows: in order, never while it is paused, and never more than it may.

#include "support/support.h"

#include "core/thread.h"
#include "sim/worker.h"

#include <stdatomic.h>

#define ROWS 200

typedef struct Log {
    int32_t doneCount;  // written by the worker alone, while it is not paused
    int32_t last;       // likewise
    int32_t wrongCount; // rows that did not follow their predecessor
    atomic_bool isHeld; // the body waits
    atomic_int begunCount;
    srWorker* asked; // the body gives up when this worker wants it no more
} Log;

static bool workOn(int32_t row, void* context) {
    Log* log = context;
    atomic_fetch_add(&log->begunCount, 1);
    while (atomic_load(&log->isHeld)) {
        if (log->asked != NULL && !srWorker_IsWanted(log->asked)) {
            return false;
        }
        srYield();
    }
    log->wrongCount += row != log->last + 1;
    log->last = row;
    ++log->doneCount;
    return true;
}

static void start(Log* log, srWorker** worker) {
    *log = (Log){.last = -1};
    assert_success(srStartWorker(workOn, log, worker));
}

static void rows_are_worked_on_once_and_in_order(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    assert_false(srWorker_WaitRow(worker, 0, -1.0)); // there is none: no waiting
    for (int32_t count = 1; count <= ROWS; ++count) {
        srWorker_Extend(worker, count);
    }
    assert_true(srWorker_WaitRow(worker, ROWS - 1, -1.0));
    srWorkerStatus status = srWorker_GetStatus(worker);
    assert_int_equal(status.readyCount, ROWS);
    assert_int_equal(status.rowCount, ROWS);
    assert_int_equal(status.revision, 0);
    assert_int_equal(log.doneCount, ROWS);
    assert_int_equal(log.wrongCount, 0);
    srDestroyWorker(worker);
}

static void after_a_pause_it_goes_on_from_the_void_row(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    srWorker_Extend(worker, ROWS);
    int32_t revision = 0;
    for (int trial = 0; trial < 50; ++trial) {
        srWorker_Pause(worker);
        srWorkerStatus status = srWorker_GetStatus(worker);
        // nothing else touches the log now; ThreadSanitizer sees to it
        assert_int_equal(log.last + 1, status.readyCount);
        int32_t from = status.readyCount * trial % 7;
        from = from < status.readyCount ? from : status.readyCount;
        revision += from < status.readyCount;
        log.last = from - 1;
        srWorker_Resume(worker, from, ROWS);
    }
    assert_true(srWorker_WaitRow(worker, ROWS - 1, -1.0));
    assert_int_equal(log.wrongCount, 0);
    assert_int_equal(srWorker_GetStatus(worker).revision, revision);
    srDestroyWorker(worker);
}

static void rows_that_are_skipped_are_ready_and_none_is_lost(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    srWorker_Extend(worker, ROWS);
    srWorker_Pause(worker);
    int32_t readyCount = srWorker_GetStatus(worker).readyCount;
    // fewer than there are: nothing happens
    srWorker_Skip(worker, 0);
    srWorker_Pause(worker);
    assert_true(srWorker_GetStatus(worker).readyCount >= readyCount);
    log.last = ROWS - 3;
    srWorker_Skip(worker, ROWS - 2);
    assert_true(srWorker_WaitRow(worker, ROWS - 1, -1.0));
    assert_int_equal(log.wrongCount, 0);
    assert_int_equal(srWorker_GetStatus(worker).revision, 0);
    srDestroyWorker(worker);
}

static void letGoSoon(void* context) {
    Log* log = context;
    double end = srGetSeconds() + 0.02;
    while (srGetSeconds() < end) {
        srYield();
    }
    atomic_store(&log->isHeld, false);
}

static void a_pause_waits_for_the_row_under_way(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    atomic_store(&log.isHeld, true);
    srWorker_Extend(worker, ROWS);
    while (atomic_load(&log.begunCount) == 0) {
        srYield();
    }
    srThread* thread = NULL;
    assert_success(srStartThread(letGoSoon, &log, &thread));
    srWorker_Pause(worker);
    assert_false(atomic_load(&log.isHeld));
    assert_int_equal(log.doneCount, atomic_load(&log.begunCount));
    srWorker_Resume(worker, 0, 0);
    srJoinThread(thread);
    srDestroyWorker(worker);
}

static void waiting_ends_when_time_is_up(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    atomic_store(&log.isHeld, true);
    srWorker_Extend(worker, 2);
    double before = srGetSeconds();
    assert_false(srWorker_WaitRow(worker, 0, 0.02));
    assert_true(srGetSeconds() - before >= 0.02);
    assert_false(srWorker_WaitRow(worker, 0, 0.0));
    atomic_store(&log.isHeld, false);
    assert_true(srWorker_WaitRow(worker, 1, 1e300));
    srDestroyWorker(worker);
}

static void haltSoon(void* context) {
    double end = srGetSeconds() + 0.02;
    while (srGetSeconds() < end) {
        srYield();
    }
    srWorker_Halt(context);
}

static void a_halt_wakes_who_waits_and_begins_no_row(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    atomic_store(&log.isHeld, true);
    srWorker_Extend(worker, ROWS);
    while (atomic_load(&log.begunCount) == 0) {
        srYield();
    }
    srThread* thread = NULL;
    assert_success(srStartThread(haltSoon, worker, &thread));
    assert_false(srWorker_WaitRow(worker, ROWS - 1, -1.0));
    srJoinThread(thread);
    atomic_store(&log.isHeld, false);
    srDestroyWorker(worker);
    assert_int_equal(atomic_load(&log.begunCount), 1);
}

static srResult startAndStop(void* context) {
    srWorker* worker = NULL;
    srResult result = srStartWorker(workOn, context, &worker);
    srDestroyWorker(worker);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    Log log = {.last = -1};
    srTestEveryAllocationFails(startAndStop, &log);
}

static void a_row_that_was_given_up_is_done_anew(void** state) {
    (void)state;
    Log log;
    srWorker* worker;
    start(&log, &worker);
    log.asked = worker;
    atomic_store(&log.isHeld, true);
    srWorker_Extend(worker, 3);
    while (atomic_load(&log.begunCount) == 0) {
        srYield();
    }
    srWorker_Pause(worker); // would wait for ever if the body did not hear it
    assert_int_equal(srWorker_GetStatus(worker).readyCount, 0);
    assert_int_equal(log.doneCount, 0);
    atomic_store(&log.isHeld, false);
    srWorker_Resume(worker, 0, 3);
    assert_true(srWorker_WaitRow(worker, 2, -1.0));
    assert_int_equal(log.doneCount, 3);
    assert_int_equal(log.wrongCount, 0);
    srDestroyWorker(worker);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_was_given_up_is_done_anew),
        cmocka_unit_test(rows_are_worked_on_once_and_in_order),
        cmocka_unit_test(after_a_pause_it_goes_on_from_the_void_row),
        cmocka_unit_test(rows_that_are_skipped_are_ready_and_none_is_lost),
        cmocka_unit_test(a_pause_waits_for_the_row_under_way),
        cmocka_unit_test(waiting_ends_when_time_is_up),
        cmocka_unit_test(a_halt_wakes_who_waits_and_begins_no_row),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/worker", tests, NULL, srTestNothingLeaked);
}
