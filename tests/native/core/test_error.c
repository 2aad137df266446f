// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/error: the sentence of a thread, its length, and how results travel.

#include "core/error.h"

#include "support/support.h"

#include "core/thread.h"

#include <string.h>

static void a_failure_leaves_its_sentence_and_its_code(void** state) {
    (void)state;
    assert_int_equal(srFail(sr_errorInvalidValue, "%s is %d.", "stiffness", -3), sr_errorInvalidValue);
    assert_string_equal(srGetErrorText(), "stiffness is -3.");
    assert_int_equal(srFailOutOfMemory("the cage"), sr_errorOutOfMemory);
    assert_non_null(strstr(srGetErrorText(), "the cage"));
}

static void the_old_sentence_may_be_part_of_the_new(void** state) {
    (void)state;
    assert_int_equal(srFail(sr_errorFile, "disk full"), sr_errorFile);
    assert_int_equal(srFail(sr_errorFile, "frame 3: %s", srGetErrorText()), sr_errorFile);
    assert_string_equal(srGetErrorText(), "frame 3: disk full");
    srSetErrorText(srGetErrorText() + 9);
    assert_string_equal(srGetErrorText(), "disk full");
}

static bool isWholeUtf8(const char* text) {
    const unsigned char* byte = (const unsigned char*)text;
    while (*byte != 0) {
        int32_t more = *byte < 0x80 ? 0 : *byte >= 0xf0 ? 3 : *byte >= 0xe0 ? 2 : *byte >= 0xc0 ? 1 : -1;
        if (more < 0) {
            return false;
        }
        for (byte++; more > 0; more--, byte++) {
            if ((*byte & 0xc0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

static void a_long_sentence_is_cut_between_characters(void** state) {
    (void)state;
    const char* const characters[] = {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x87"};
    for (int32_t c = 0; c < SR_ARRAY_COUNT(characters); c++) {
        size_t length = strlen(characters[c]);
        for (size_t shift = 0; shift < 4; shift++) {
            char text[1000] = "....";
            for (size_t size = shift; size + length < sizeof(text); size += length) {
                memcpy(text + size, characters[c], length + 1);
            }
            assert_int_equal(srFail(sr_errorFile, "%s", text), sr_errorFile);
            size_t kept = strlen(srGetErrorText());
            assert_true(kept < SR_ERROR_TEXT_SIZE && kept + length >= SR_ERROR_TEXT_SIZE);
            assert_true(isWholeUtf8(srGetErrorText()));
            assert_memory_equal(srGetErrorText(), text, kept);
        }
    }
}

static void a_sentence_that_just_fits_is_whole(void** state) {
    (void)state;
    char text[SR_ERROR_TEXT_SIZE] = {0};
    memset(text, 'y', SR_ERROR_TEXT_SIZE - 1);
    assert_int_equal(srFail(sr_errorFile, "%s", text), sr_errorFile);
    assert_string_equal(srGetErrorText(), text);
}

static void failElsewhere(void* context) {
    bool* isEmptyAtFirst = context;
    *isEmptyAtFirst = srGetErrorText()[0] == '\0';
    (void)srFail(sr_errorFile, "elsewhere");
}

static void each_thread_has_its_own_sentence(void** state) {
    (void)state;
    assert_int_equal(srFail(sr_errorFile, "here"), sr_errorFile);
    bool isEmptyAtFirst = false;
    srThread* thread = NULL;
    assert_success(srStartThread(failElsewhere, &isEmptyAtFirst, &thread));
    srJoinThread(thread);
    assert_true(isEmptyAtFirst);
    assert_string_equal(srGetErrorText(), "here");
}

static void every_result_has_its_own_name(void** state) {
    (void)state;
    for (int i = sr_success; i <= sr_errorBadFile; i++) {
        const char* name = srGetResultName((srResult)i);
        assert_int_equal(strncmp(name, "sr_", 3), 0);
        for (int k = sr_success; k < i; k++) {
            assert_string_not_equal(name, srGetResultName((srResult)k));
        }
    }
    assert_string_equal(srGetResultName((srResult)12345), "unknown result");
}

static srResult countThree(int* count, int failing) {
    for (int i = 0; i < 3; i++) {
        SR_TRY(i == failing ? sr_errorNotReady : sr_success);
        (*count)++;
    }
    return sr_success;
}

static srResult countThreeAndCleanUp(int* count, int failing, bool* outIsClean) {
    srResult result = sr_success;
    for (int i = 0; i < 3; i++) {
        SR_TRY_CLEANUP(i == failing ? sr_errorNotReady : sr_success);
        (*count)++;
    }
cleanup:
    *outIsClean = true;
    return result;
}

static void the_first_failure_ends_the_function(void** state) {
    (void)state;
    int count = 0;
    assert_int_equal(countThree(&count, 1), sr_errorNotReady);
    assert_int_equal(count, 1);
    assert_int_equal(countThree(&count, 7), sr_success);
    assert_int_equal(count, 4);
    bool isClean = false;
    assert_int_equal(countThreeAndCleanUp(&count, 0, &isClean), sr_errorNotReady);
    assert_int_equal(count, 4);
    assert_true(isClean);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_leaves_its_sentence_and_its_code),
        cmocka_unit_test(the_old_sentence_may_be_part_of_the_new),
        cmocka_unit_test(a_long_sentence_is_cut_between_characters),
        cmocka_unit_test(a_sentence_that_just_fits_is_whole),
        cmocka_unit_test_teardown(each_thread_has_its_own_sentence, srTestNothingLeaked),
        cmocka_unit_test(every_result_has_its_own_name),
        cmocka_unit_test(the_first_failure_ends_the_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
