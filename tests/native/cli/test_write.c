// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing whole files or none.

#include "cli/folder.h"
#include "cli/memory.h"
#include "cli/write.h"

static void a_file_appears_when_it_is_whole(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliWriter writer;
    srCliError error;
    size_t size = 0;
    srTestFolder_Write(&folder, "some", "old");
    const char* path = srTestFolder_Path(&folder, "some");
    assert_true(srCliOpenWriter(path, &writer, &error));
    fputs("new text", writer.file);
    char* before = srTestFolder_Read(&folder, "some", &size);
    assert_string_equal(before, "old");
    free(before);
    assert_true(srCliWriter_Commit(&writer, &error));
    char* after = srTestFolder_Read(&folder, "some", &size);
    assert_string_equal(after, "new text");
    free(after);
    assert_int_equal(srTestFolder_CountFiles(&folder), 1);
    srTestFolder_Remove(&folder);
}

static void a_failure_leaves_nothing_new(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliWriter writer;
    srCliError error;
    assert_false(srCliOpenWriter(srTestFolder_Path(&folder, "none/some"), &writer, &error));
    assert_non_null(strstr(error.text, "none/some: The file could not be written: "));

    // a folder of the final name cannot be replaced
    const char* path = srTestFolder_Path(&folder, "folder");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_true(srCliOpenWriter(path, &writer, &error));
    fputs("text", writer.file);
    assert_false(srCliWriter_Commit(&writer, &error));
    assert_non_null(strstr(error.text, "could not be written"));
    assert_int_equal(srTestFolder_CountFiles(&folder), 1);

    srCliSetAllocationLimit(0);
    bool isOpen = srCliOpenWriter(path, &writer, &error);
    srCliSetAllocationLimit(-1);
    assert_false(isOpen);
    assert_int_equal(srTestFolder_CountFiles(&folder), 1);
    srTestFolder_Remove(&folder);
}

static void a_full_disk_is_said(void** state) {
    (void)state;
    FILE* full = fopen("/dev/full", "wb");
    if (full == NULL) {
        skip();
    }
    srTestFolder folder = srTestMakeFolder();
    srCliWriter writer;
    srCliError error;
    assert_true(srCliOpenWriter(srTestFolder_Path(&folder, "some"), &writer, &error));
    fclose(writer.file);
    writer.file = full;
    fputs("text", writer.file);
    assert_false(srCliWriter_Commit(&writer, &error));
    assert_non_null(strstr(error.text, "could not be written"));
    assert_int_equal(srTestFolder_CountFiles(&folder), 0);
    srTestFolder_Remove(&folder);
}

static void a_link_stays_and_permissions_too(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliWriter writer;
    srCliError error;
    struct stat info;
    size_t size = 0;
    srTestFolder_Write(&folder, "target", "old");
    const char* path = srTestFolder_Path(&folder, "link");
    assert_int_equal(chmod(srTestFolder_Path(&folder, "target"), 0640), 0);
    assert_int_equal(symlink("target", path), 0);
    assert_true(srCliOpenWriter(path, &writer, &error));
    fputs("new text", writer.file);
    assert_true(srCliWriter_Commit(&writer, &error));
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    char* after = srTestFolder_Read(&folder, "target", &size);
    assert_string_equal(after, "new text");
    free(after);
    assert_int_equal(srTestFolder_CountFiles(&folder), 2);
    srTestFolder_Remove(&folder);
}

static void what_stands_under_the_partial_name_is_not_followed(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliWriter writer;
    srCliError error;
    size_t size = 0;
    srTestFolder_Write(&folder, "other", "old");
    assert_int_equal(symlink("other", srTestFolder_Path(&folder, "some.partial")), 0);
    assert_int_equal(mkfifo(srTestFolder_Path(&folder, "more.partial"), 0666), 0);
    assert_false(srCliOpenWriter(srTestFolder_Path(&folder, "some"), &writer, &error));
    assert_false(srCliOpenWriter(srTestFolder_Path(&folder, "more"), &writer, &error));
    char* other = srTestFolder_Read(&folder, "other", &size);
    assert_string_equal(other, "old");
    free(other);
    assert_int_equal(srTestFolder_CountFiles(&folder), 3);
    srTestFolder_Remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_whole),
        cmocka_unit_test(a_failure_leaves_nothing_new),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(a_link_stays_and_permissions_too),
        cmocka_unit_test(what_stands_under_the_partial_name_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
