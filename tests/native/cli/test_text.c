// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tokens, lines and numbers of a text.

#include "cli/folder.h"
#include "cli/text.h"

#include <math.h>

static srCliText openString(const char* string) {
    srCliText text;
    srCliError error;
    assert_true(srCliOpenTextBytes("path", string, strlen(string), &text, &error));
    return text;
}

static void tokens_of_a_line_end_with_it(void** state) {
    (void)state;
    srCliText text = openString("  one\ttwo # three\nfour\n");
    srCliToken token;
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "one"));
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "two"));
    assert_false(srCliText_Next(&text, &token));
    assert_false(srCliText_Next(&text, &token));
    assert_true(srCliText_NextLine(&text));
    assert_int_equal(text.line, 2);
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "four"));
    assert_false(srCliToken_Is(token, "fou"));
    assert_false(srCliToken_Is(token, "fours"));
    assert_false(srCliText_NextLine(&text));
    srCliText_Close(&text);
}

static void a_stream_ignores_lines(void** state) {
    (void)state;
    srCliText text = openString("a\r\n# b\n\n c");
    text.isStream = true;
    srCliToken token;
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "a"));
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "c"));
    assert_int_equal(text.line, 4);
    assert_false(srCliText_Next(&text, &token));
    srCliText_Close(&text);
}

static void the_next_line_is_a_fresh_one(void** state) {
    (void)state;
    srCliText text = openString("\xEF\xBB\xBFone two three\n\n#\n  four five\nsix");
    srCliToken token;

    // asking twice does not lose a line, a begun one is left
    assert_true(srCliText_NextLine(&text) && srCliText_NextLine(&text));
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "one"));
    assert_true(srCliText_NextLine(&text) && srCliText_NextLine(&text));
    assert_int_equal(text.line, 4);
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "four"));
    assert_true(srCliText_NextLine(&text));
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "six"));
    assert_false(srCliText_NextLine(&text));
    srCliText_Rewind(&text);
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "one"));
    srCliText_Close(&text);
}

static void a_backslash_joins_lines_only_where_asked(void** state) {
    (void)state;
    srCliToken token;
    srCliText text = openString("a \\\n b\\\r\nc \\ d");
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "a"));
    assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, "\\"));
    assert_false(srCliText_Next(&text, &token));
    srCliText_Rewind(&text);
    text.joinsLines = true;
    static const char* const words[] = {"a", "b", "c", "\\", "d"};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(words); ++i) {
        assert_true(srCliText_Next(&text, &token) && srCliToken_Is(token, words[i]));
    }
    assert_int_equal(text.line, 3);
    srCliText_Close(&text);
}

static void whole_numbers_are_parsed_or_refused(void** state) {
    (void)state;
    static const struct {
        const char* string;
        int32_t used; // -1: refused
        int64_t value;
    } cases[] = {
        {"0", 1, 0},
        {"-17", 3, -17},
        {"+4x", 2, 4},
        {"12/3", 2, 12},
        {"999999999999999999", 18, INT64_C(999999999999999999)},
        {"1000000000000000000", -1, 0},
        {"", -1, 0},
        {"-", -1, 0},
        {"x", -1, 0},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(cases); ++i) {
        const char* start = cases[i].string;
        int64_t value = 0;
        const char* end = srCliParseInteger(start, start + strlen(start), &value);
        assert_int_equal(end == NULL ? -1 : end - start, cases[i].used);
        if (end != NULL) {
            assert_true(value == cases[i].value);
        }
    }
}

static void numbers_must_fill_their_token(void** state) {
    (void)state;
    static const char* const wrong[] = {"1,5", "1.5.2", "--1", "1e", "0x", "1f", "_", "1;"};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(wrong); ++i) {
        srCliText text = openString(wrong[i]);
        srCliError error;
        float value = 7.0f;
        double wide = 7.0;
        assert_false(srCliText_ReadFloat(&text, "a number", &value, &error));
        assert_non_null(strstr(error.text, wrong[i]));
        assert_true(value >= 7.0f && value <= 7.0f);
        srCliText_Rewind(&text);
        assert_false(srCliText_ReadFiniteDouble(&text, "a number", &wide, &error));
        srCliText_Close(&text);
    }
}

static void long_tokens_are_read_and_shown_short(void** state) {
    (void)state;
    char digits[5000];
    memset(digits, '0', sizeof(digits));
    memcpy(digits, "0.", 2);
    digits[sizeof(digits) - 1] = 0;
    srCliText text = openString(digits);
    srCliError error;
    float value = 7.0f;
    assert_true(srCliText_ReadFloat(&text, "a number", &value, &error));
    assert_true(value >= 0.0f && value <= 0.0f);
    srCliText_Close(&text);
    digits[sizeof(digits) - 2] = '\x1B';
    digits[3] = '\x1B';
    text = openString(digits);
    assert_false(srCliText_ReadFloat(&text, "a number", &value, &error));
    assert_true(strlen(error.text) < 120);
    assert_non_null(strstr(error.text, "'0.0?0"));
    srCliText_Close(&text);
}

static void files_that_cannot_be_read_are_said(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliText text;
    srCliError error;
    assert_false(srCliOpenText(srTestFolder_Path(&folder, "none"), &text, &error));
    assert_non_null(strstr(error.text, "none: The file could not be opened: "));
    srCliText_Close(&text);
    assert_false(srCliOpenText(folder.path, &text, &error));
    assert_non_null(strstr(error.text, folder.path));
    srCliText_Close(&text);
    srTestFolder_Write(&folder, "some", "a b");
    assert_true(srCliOpenText(srTestFolder_Path(&folder, "some"), &text, &error));
    assert_int_equal(text.size, 3);
    srCliText_Close(&text);
    srTestFolder_Remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_a_line_end_with_it),
        cmocka_unit_test(a_stream_ignores_lines),
        cmocka_unit_test(the_next_line_is_a_fresh_one),
        cmocka_unit_test(a_backslash_joins_lines_only_where_asked),
        cmocka_unit_test(whole_numbers_are_parsed_or_refused),
        cmocka_unit_test(numbers_must_fill_their_token),
        cmocka_unit_test(long_tokens_are_read_and_shown_short),
        cmocka_unit_test(files_that_cannot_be_read_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
