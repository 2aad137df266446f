// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/progress.h"

#include "support/support.h"

typedef struct Log {
    int calls;
    int callsLeft; // cancels when it gets to zero
    float last;
} Log;

static bool report(float fraction, void* context) {
    Log* log = context;
    assert_true(fraction >= log->last);
    log->last = fraction;
    log->calls++;
    return --log->callsLeft != 0;
}

static void mark(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    uint8_t* marks = context;
    for (int32_t i = begin; i < end; i++) {
        marks[i]++;
    }
}

static void every_index_is_done_once_between_reports(void** state) {
    (void)state;
    uint8_t marks[1000] = {0};
    Log log = {.callsLeft = -1};
    srProgress progress = {report, &log, 0.25f, 0.5f};
    assert_success(srParallelForWithProgress(mark, 1000, 7, 64, marks, &progress));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(marks[i], 1);
    }
    assert_int_equal(log.calls, 16);
    assert_true(log.last > 0.45f && log.last <= 0.5f);
}

static void a_stage_speaks_of_its_own_part(void** state) {
    (void)state;
    Log log = {.callsLeft = -1};
    srProgress progress = {report, &log, 0.25f, 0.5f};
    assert_success(srReportProgress(&progress, 0.5));
    assert_near((double)log.last, 0.375, 1e-6);
    srProgress part = srPartOfProgress(&progress, 0.5, 1.0);
    assert_success(srReportProgress(&part, 0.5));
    assert_near((double)log.last, 0.4375, 1e-6);
}

static void cancelling_stops_after_the_batch(void** state) {
    (void)state;
    uint8_t marks[1000] = {0};
    Log log = {.callsLeft = 3};
    srProgress progress = {report, &log, 0.0f, 1.0f};
    assert_result(srParallelForWithProgress(mark, 1000, 7, 64, marks, &progress), sr_errorCancelled);
    assert_int_equal(marks[127], 1);
    assert_int_equal(marks[128], 0);
}

static void nobody_needs_to_listen(void** state) {
    (void)state;
    uint8_t marks[10] = {0};
    srProgress progress = {0};
    assert_success(srParallelForWithProgress(mark, 10, 1, 4, marks, &progress));
    assert_int_equal(marks[9], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_index_is_done_once_between_reports, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_stage_speaks_of_its_own_part, srTestNothingLeaked),
        cmocka_unit_test_teardown(cancelling_stops_after_the_batch, srTestNothingLeaked),
        cmocka_unit_test_teardown(nobody_needs_to_listen, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/progress", tests, NULL, NULL);
}
