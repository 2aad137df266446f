// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job's state in the public shape: its sentence fits, whole characters only, and asking disturbs nothing.

#include "api/status.h"

#include "support/support.h"

#include <string.h>

#define ROOM ((int32_t)sizeof(((srJobStatus*)0)->message))

static srResult failWithText(srJob* job, void* context) {
    (void)job;
    return srFail(sr_errorFile, "%s", (const char*)context);
}

static srJobStatus statusOfFailing(char* text) {
    srJob* job = NULL;
    srJobStatus status;
    assert_success(srStartJob(failWithText, text, &job));
    assert_true(srJob_Wait(job, -1.0));
    srReadJobStatus(job, &status);
    assert_int_equal(status.phase, sr_phaseFailed);
    assert_int_equal(status.result, sr_errorFile);
    srDestroyJob(job);
    return status;
}

// characters of one to four bytes, pushed along byte by byte
static void a_sentence_is_cut_between_characters(void** state) {
    (void)state;
    static const char* const letters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9d\x84\x9e"};
    for (int32_t size = 1; size <= 4; ++size) {
        for (int32_t shift = 0; shift < 8; ++shift) {
            char text[SR_ERROR_TEXT_SIZE] = {0};
            memset(text, '-', (size_t)shift);
            while (strlen(text) < 400) {
                strcat(text, letters[size - 1]);
            }
            srJobStatus status = statusOfFailing(text);
            int32_t length = (int32_t)strlen(status.message);
            assert_memory_equal(status.message, text, (size_t)length);
            // as much as there is room for, and no half character
            assert_int_equal(length, shift + (ROOM - 1 - shift) / size * size);
        }
    }
}

static void a_sentence_that_just_fits_is_whole(void** state) {
    (void)state;
    for (int32_t length = ROOM - 2; length <= ROOM; ++length) {
        char text[SR_ERROR_TEXT_SIZE] = {0};
        memset(text, 'x', (size_t)length);
        srJobStatus status = statusOfFailing(text);
        assert_int_equal(strlen(status.message), length < ROOM ? length : ROOM - 1);
    }
}

static void asking_leaves_the_text_of_this_thread_alone(void** state) {
    (void)state;
    srResult result = srFail(sr_errorInternal, "said before");
    assert_int_equal(result, sr_errorInternal);
    srJobStatus status = statusOfFailing((char[]){"said by the job"});
    assert_string_equal(status.message, "said by the job");
    assert_string_equal(srGetErrorText(), "said before");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_cut_between_characters),
        cmocka_unit_test(a_sentence_that_just_fits_is_whole),
        cmocka_unit_test(asking_leaves_the_text_of_this_thread_alone),
    };
    return cmocka_run_group_tests_name("api/status", tests, NULL, srTestNothingLeaked);
}
