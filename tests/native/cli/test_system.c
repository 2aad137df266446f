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
    srCliKept kept = {0};
    srCliKeepInput(&kept, NULL);
    srCliKeepInput(&kept, input);
    assert_int_equal(link(input, srTestFolder_Path(&folder, "alias")), 0);
    assert_int_equal(symlink("input", srTestFolder_Path(&folder, "link")), 0);
    assert_int_equal(symlink("nothing", srTestFolder_Path(&folder, "dangling")), 0);

    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "new"), &kept, &error));
    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "other"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "input"), &kept, &error));
    assert_non_null(strstr(error.text, "also an input"));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "alias"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "link"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "dangling"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "none/new"), &kept, &error));
    assert_non_null(strstr(error.text, "no such folder"));
    assert_false(srCliCheckOutput(folder.path, &kept, &error));
    assert_non_null(strstr(error.text, "not a plain file"));
    assert_false(srCliCheckOutput("/dev/null", &kept, &error));
    assert_false(srCliCheckOutput("", &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "new/"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "input/below"), &kept, &error));
    srTestFolder_Remove(&folder);
}

static void a_partial_file_that_would_destroy_something_is_refused(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliError error;
    srCliKept kept = {0};
    srTestFolder_Write(&folder, "new.partial", "text");
    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "new"), &kept, &error));
    srCliKeepInput(&kept, srTestFolder_Path(&folder, "new.partial"));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "new"), &kept, &error));
    assert_non_null(strstr(error.text, "new.partial: It is also an input"));

    // through a link it stands beside what the link leads to
    srTestFolder_Write(&folder, "target", "text");
    srTestFolder_Write(&folder, "target.partial", "text");
    assert_int_equal(symlink("target", srTestFolder_Path(&folder, "link")), 0);
    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "link"), &kept, &error));
    srCliKeepInput(&kept, srTestFolder_Path(&folder, "target.partial"));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "link"), &kept, &error));

    assert_int_equal(symlink("target", srTestFolder_Path(&folder, "far.partial")), 0);
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "far"), &kept, &error));
    assert_non_null(strstr(error.text, "far.partial: It is there already and is not a plain file"));
    srTestFolder_Remove(&folder);
}

static void outputs_do_not_overwrite_one_another(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliError error;
    srCliKept kept = {0};
    char detour[600];
    srCliKeepOutput(&kept, srTestFolder_Path(&folder, "out"));
    assert_true(srCliCheckOutput(srTestFolder_Path(&folder, "other"), &kept, &error));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "out"), &kept, &error));
    assert_non_null(strstr(error.text, "another output"));
    assert_false(srCliCheckOutput(srTestFolder_Path(&folder, "out.partial"), &kept, &error));
    snprintf(detour, sizeof(detour), "%s/../%s/out", folder.path, folder.path);
    assert_false(srCliCheckOutput(detour, &kept, &error));
    srTestFolder_Remove(&folder);
}

static void a_folder_is_made_once(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliError error;
    srTestFolder_Write(&folder, "file", "text");
    bool isNew = false;
    assert_true(srCliMakeFolder(srTestFolder_Path(&folder, "new"), &isNew, &error));
    assert_true(isNew);
    assert_true(srCliMakeFolder(srTestFolder_Path(&folder, "new"), &isNew, &error));
    assert_false(isNew);
    assert_false(srCliMakeFolder(srTestFolder_Path(&folder, "file"), &isNew, &error));
    assert_false(srCliMakeFolder(srTestFolder_Path(&folder, "none/new"), &isNew, &error));
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
        cmocka_unit_test(a_partial_file_that_would_destroy_something_is_refused),
        cmocka_unit_test(outputs_do_not_overwrite_one_another),
        cmocka_unit_test(a_folder_is_made_once),
        cmocka_unit_test(an_interrupt_raises_a_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
