// SPDX-License-Identifier: GPL-3.0-or-later

// signals of the host, and its descriptors
#define _GNU_SOURCE

#include "core/process.h"

#include "core/thread.h"
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LARGE ((size_t)5 << 20)

// what a run must leave as it was
static int countDescriptors(void) {
    int count = 0;
    DIR* folder = opendir("/proc/self/fd");
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static void assertNoChildren(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static srProcessAnswer run(const srProcessOrder* order) {
    int before = countDescriptors();
    srProcessAnswer answer;
    assert_success(srRunProcess(order, &answer));
    assertNoChildren();
    assert_int_equal(countDescriptors(), before);
    return answer;
}

// a line of shell
static srProcessAnswer runLine(const char* line, double seconds) {
    const char* arguments[] = {"-c", line, NULL};
    srProcessOrder order = {
        .program = "/bin/sh", .arguments = arguments, .mostOutput = 1000, .mostSeconds = seconds};
    return run(&order);
}

static void assertSaid(const srProcessAnswer* answer, const char* text) {
    assert_int_equal(answer->byteCount, strlen(text));
    assert_memory_equal(answer->bytes, text, strlen(text));
}

static void what_goes_in_comes_back(void** state) {
    (void)state;
    const size_t sizes[] = {0, 1, 100000, LARGE};
    for (int i = 0; i < 4; i++) {
        uint8_t* bytes = malloc(sizes[i] + 1);
        for (size_t at = 0; at < sizes[i]; at++) {
            bytes[at] = (uint8_t)(at * 131 >> 3);
        }
        srProcessOrder order = {.program = "/bin/cat",
                                .input = bytes,
                                .inputSize = sizes[i],
                                .mostOutput = LARGE,
                                .mostSeconds = 30.0};
        srProcessAnswer answer = run(&order);
        assert_int_equal(answer.fate, sr_processEnded);
        assert_int_equal(answer.code, 0);
        assert_int_equal(answer.byteCount, sizes[i]);
        assert_true(sizes[i] == 0 || memcmp(answer.bytes, bytes, sizes[i]) == 0);
        srDestroyProcessAnswer(&answer);
        free(bytes);
    }
}

static void code_of_the_exit_is_told(void** state) {
    (void)state;
    srProcessAnswer answer = runLine("printf half; exit 21", 10.0);
    assert_int_equal(answer.fate, sr_processEnded);
    assert_int_equal(answer.code, 21);
    assertSaid(&answer, "half");
    srDestroyProcessAnswer(&answer);
}

static void missing_program_is_an_answer(void** state) {
    (void)state;
    const char* const paths[] = {"/no/such/program", "/etc/passwd", "/"};
    for (int i = 0; i < 3; i++) {
        srProcessOrder order = {.program = paths[i], .mostOutput = 10, .mostSeconds = 5.0};
        srProcessAnswer answer = run(&order);
        assert_int_equal(answer.fate, sr_processMissing);
        assert_int_not_equal(answer.code, 0);
        srDestroyProcessAnswer(&answer);
    }
}

static void stalled_program_is_ended(void** state) {
    (void)state;
    // asleep, stopped, deaf to polite signals, busy, with its pipes closed, with a child that holds them
    const char* const lines[] = {"sleep 60",
                                 "kill -STOP $$",
                                 "trap '' TERM INT HUP; sleep 60",
                                 "while :; do :; done",
                                 "exec <&- >&-; sleep 60",
                                 "sleep 60 | sleep 60"};
    for (int i = 0; i < 6; i++) {
        double begin = srGetSeconds();
        srProcessAnswer answer = runLine(lines[i], 0.3);
        assert_int_equal(answer.fate, sr_processStalled);
        assert_true(srGetSeconds() - begin < 10.0);
        srDestroyProcessAnswer(&answer);
    }
}

static void crash_is_told_by_its_signal(void** state) {
    (void)state;
    const int signals[] = {SIGSEGV, SIGKILL, SIGABRT, SIGTERM};
    for (int i = 0; i < 4; i++) {
        char line[40];
        snprintf(line, sizeof(line), "printf x; kill -%d $$; sleep 60", signals[i]);
        srProcessAnswer answer = runLine(line, 20.0);
        assert_int_equal(answer.fate, sr_processCrashed);
        assert_int_equal(answer.code, signals[i]);
        srDestroyProcessAnswer(&answer);
    }
}

static void flood_is_cut_off(void** state) {
    (void)state;
    srProcessAnswer answer = runLine("while :; do echo flood; done", 30.0);
    assert_int_equal(answer.fate, sr_processFlooded);
    assert_true(answer.seconds < 20.0);
    srDestroyProcessAnswer(&answer);
    // an answer that just fits is none
    answer = runLine("printf '%01000d' 0", 30.0);
    assert_int_equal(answer.fate, sr_processEnded);
    assert_int_equal(answer.byteCount, 1000);
    srDestroyProcessAnswer(&answer);
    answer = runLine("printf '%01001d' 0", 30.0);
    assert_int_equal(answer.fate, sr_processFlooded);
    srDestroyProcessAnswer(&answer);
}

static bool stopAtThird(double seconds, void* context) {
    (void)seconds;
    return ++*(int*)context < 3;
}

static void caller_may_cancel(void** state) {
    (void)state;
    int asked = 0;
    const char* arguments[] = {"60", NULL};
    srProcessOrder order = {"/bin/sleep", arguments, NULL, 0, 10, 60.0, stopAtThird, &asked};
    srProcessAnswer answer = run(&order);
    assert_int_equal(answer.fate, sr_processCancelled);
    assert_int_equal(asked, 3);
    assert_true(answer.seconds < 20.0);
    srDestroyProcessAnswer(&answer);
}

static void program_that_does_not_listen_raises_no_signal(void** state) {
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    uint8_t* bytes = calloc(LARGE, 1);
    const char* arguments[] = {"-c", "exec <&-; printf deaf; exit 7", NULL};
    srProcessOrder order = {"/bin/sh", arguments, bytes, LARGE, 1000, 20.0, NULL, NULL};
    srProcessAnswer answer = run(&order);
    assert_int_equal(answer.fate, sr_processEnded);
    assert_int_equal(answer.code, 7);
    srDestroyProcessAnswer(&answer);
    free(bytes);
}

static void child_inherits_nothing(void** state) {
    (void)state;
    // variables, blocked and ignored signals, descriptors beyond the standard ones
    setenv("SR_TEST_SECRET", "1", 1);
    sigset_t all, before;
    sigfillset(&all);
    signal(SIGTERM, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    srProcessOrder order = {.program = "/usr/bin/env", .mostOutput = 1000, .mostSeconds = 20.0};
    srProcessAnswer answer = run(&order);
    assert_int_equal(answer.byteCount, 0);
    srDestroyProcessAnswer(&answer);
    answer = runLine("kill -TERM $$; echo survived", 20.0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    signal(SIGTERM, SIG_DFL);
    assert_int_equal(answer.fate, sr_processCrashed);
    assert_int_equal(answer.code, SIGTERM);
    srDestroyProcessAnswer(&answer);
}

static void host_that_reaps_children_itself_is_borne(void** state) {
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    srProcessAnswer answer;
    const char* arguments[] = {"-c", "printf whole", NULL};
    srProcessOrder order = {"/bin/sh", arguments, NULL, 0, 1000, 20.0, NULL, NULL};
    assert_success(srRunProcess(&order, &answer));
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(answer.fate, sr_processEnded);
    assertSaid(&answer, "whole");
    srDestroyProcessAnswer(&answer);
}

static void orphan_that_holds_the_pipe_does_not_hold_us(void** state) {
    (void)state;
    double begin = srGetSeconds();
    srProcessAnswer answer = runLine("sleep 8 & printf done", 30.0);
    assert_int_equal(answer.fate, sr_processEnded);
    assertSaid(&answer, "done");
    assert_true(srGetSeconds() - begin < 6.0);
    srDestroyProcessAnswer(&answer);
}

static srResult runCat(void* context) {
    srProcessOrder order = {.program = "/bin/cat",
                            .input = context,
                            .inputSize = 300000,
                            .mostOutput = 300000,
                            .mostSeconds = 20.0};
    srProcessAnswer answer;
    srResult result = srRunProcess(&order, &answer);
    assertNoChildren();
    SR_TRY(result);
    assert_int_equal(answer.byteCount, 300000);
    srDestroyProcessAnswer(&answer);
    return sr_success;
}

static void failing_allocations_leave_no_child(void** state) {
    (void)state;
    uint8_t* bytes = calloc(300000, 1);
    int before = countDescriptors();
    srTestEveryAllocationFails(runCat, bytes);
    assert_int_equal(countDescriptors(), before);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_goes_in_comes_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(code_of_the_exit_is_told, srTestNothingLeaked),
        cmocka_unit_test_teardown(missing_program_is_an_answer, srTestNothingLeaked),
        cmocka_unit_test_teardown(stalled_program_is_ended, srTestNothingLeaked),
        cmocka_unit_test_teardown(crash_is_told_by_its_signal, srTestNothingLeaked),
        cmocka_unit_test_teardown(flood_is_cut_off, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel, srTestNothingLeaked),
        cmocka_unit_test_teardown(program_that_does_not_listen_raises_no_signal, srTestNothingLeaked),
        cmocka_unit_test_teardown(child_inherits_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(host_that_reaps_children_itself_is_borne, srTestNothingLeaked),
        cmocka_unit_test_teardown(orphan_that_holds_the_pipe_does_not_hold_us, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leave_no_child, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("core/process", tests, NULL, NULL);
}
