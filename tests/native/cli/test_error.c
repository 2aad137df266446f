// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sentences of failure.

#include "support/support.h"

#include "cli/error.h"

#include <string.h>

static void a_sentence_is_one_harmless_line(void** state) {
    (void)state;
    srCliError error;
    assert_false(srCliFail(&error, "%s is %d", "a\nb\x1B[31m\x7F\xC3\xA4", 7));
    assert_string_equal(error.text, "a?b?[31m?\xC3\xA4 is 7");
}

static void a_long_sentence_is_cut(void** state) {
    (void)state;
    char name[2000];
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = 0;
    srCliError error;
    assert_false(srCliFail(&error, "%s", name));
    assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_one_harmless_line),
        cmocka_unit_test(a_long_sentence_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
