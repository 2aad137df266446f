// SPDX-License-Identifier: GPL-3.0-or-later
//
// What may be written, and interrupts.

#include "cli/folder.h"
#include "cli/system.h"

#include <signal.h>

static void outputs_that_would_destroy_something_are_refused(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliError error;
    srTestFolder_Write(&folder, "input", "text");
    srTestFolder_Write(&folder, "other", "text");
    const char* input = srTestFolder_Path(&folder, "input");
    const char* inputs[] = {NULL, input};
    assert_int_equal(link(input, srTestFolder_Path(&folder, "alias")), 0);

    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "new"), inputs, 2, &error));
    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "other"), inputs, 2, &error));
    assert_false(srCliCheckOutput(input, inputs, 2, &error));
    assert_non_null(strstr(error.text, "also an input"));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "alias"), inputs, 2, &error));
    assert_false(srCliCheckOutput(folder.path, inputs, 2, &error));
    assert_non_null(strstr(error.text, "not a plain file"));
    assert_false(srCliCheckOutput("/dev/null", inputs, 2, &error));
    assert_false(srCliCheckOutput("", inputs, 2, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "new/"), inputs, 2, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "input/below"), inputs, 2, &error));
    srTestFolder_Remove(&folder);
}

static void a_folder_is_made_once(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliError error;
    srTestFolder_Write(&folder, "file", "text");
    assert_true(srCliMakeFolder(srTestFolder_Path(&folder, "new"), &error));
    assert_true(srCliMakeFolder(srTestFolder_Path(&folder, "new"), &error));
    assert_false(srCliMakeFolder(srTestFolder_Path(&folder, "file"), &error));
    assert_false(srCliMakeFolder(srTestFolder_Path(&folder, "none/new"), &error));
    assert_non_null(strstr(error.text, "none/new"));
    srTestFolder_Remove(&folder);
}

static void an_interrupt_raises_a_flag(void** state) {
    (void)state;
    srCliCatchInterrupts();
    assert_false(srCliWasInterrupted());
    raise(SIGINT);
    assert_true(srCliWasInterrupted());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_that_would_destroy_something_are_refused),
        cmocka_unit_test(a_folder_is_made_once),
        cmocka_unit_test(an_interrupt_raises_a_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
