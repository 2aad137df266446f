// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/file: a file under its final name is whole or the old one, whatever goes wrong on the way.

#define _DEFAULT_SOURCE // syscall

#include "core/file.h"

#include "support/support.h"

#include "core/alloc.h"
#include "core/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 600

static char path[PATH_SIZE];
static char partial[PATH_SIZE];

// what another process does between the opening of the partial file and its lock; null is nothing
typedef void Happening(void);
static _Atomic(Happening*) beforeLock;

// stands before the C library's, so that a test can be in that moment
int flock(int descriptor, int operation) {
    Happening* happening = atomic_exchange(&beforeLock, NULL);
    if (happening != NULL) {
        happening();
    }
    return (int)syscall(SYS_flock, descriptor, operation);
}

static int choosePath(void** state) {
    (void)state;
    atomic_store(&beforeLock, NULL);
    srTestPath("frames.pc2", path, sizeof(path));
    srTestPath("frames.pc2.partial", partial, sizeof(partial));
    unlink(path);
    unlink(partial);
    return 0;
}

static bool isThere(const char* name) {
    struct stat info;
    return lstat(name, &info) == 0;
}

static void writeOld(const char* name, const char* text) {
    FILE* file = fopen(name, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expectText(const char* text) {
    char read[1000] = {0};
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(read, 1, sizeof(read) - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(text));
    assert_string_equal(read, text);
}

static srResult writeText(srFileWriter* writer, const char* text) {
    return srFileWriter_Write(writer, text, strlen(text));
}

static void the_old_file_stands_until_the_commit_replaces_it(void** state) {
    (void)state;
    writeOld(path, "old and longer");
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    assert_success(writeText(writer, "ne"));
    assert_success(writeText(writer, ""));
    assert_success(writeText(writer, "w"));
    expectText("old and longer");
    assert_success(srFileWriter_Commit(writer));
    expectText("new");
    assert_false(isThere(partial));
}

static void a_file_without_bytes_is_a_file(void** state) {
    (void)state;
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    assert_success(srFileWriter_Commit(writer));
    expectText("");
}

static void abandoning_leaves_the_old_file_and_nothing_else(void** state) {
    (void)state;
    writeOld(path, "old");
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    assert_success(writeText(writer, "half of the new"));
    assert_true(isThere(partial));
    srFileWriter_Abandon(writer);
    expectText("old");
    assert_false(isThere(partial));
    srFileWriter_Abandon(NULL);
}

static void what_a_crash_left_is_written_over(void** state) {
    (void)state;
    writeOld(partial, "a long rest of an earlier crash");
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    assert_success(writeText(writer, "short"));
    assert_success(srFileWriter_Commit(writer));
    expectText("short");
}

// Bytes of every run length around the buffer's size come out in order
static void any_mixture_of_large_and_small_writes_keeps_its_order(void** state) {
    (void)state;
    const size_t sizes[] = {1, 65535, 1, 65536, 65537, 3, 200000, 0, 7, 65536, 40000, 40000};
    static unsigned char bytes[1 << 20];
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(256.0 * srTestRandom(&seed));
    }
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    size_t total = 0;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(sizes); i++) {
        assert_success(srFileWriter_Write(writer, bytes + total, sizes[i]));
        total += sizes[i];
    }
    assert_success(srFileWriter_Commit(writer));

    static unsigned char read[sizeof(bytes)];
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(read, 1, sizeof(read), file), total);
    fclose(file);
    assert_memory_equal(read, bytes, total);
}

static void a_folder_that_cannot_be_written_is_named_with_the_reason(void** state) {
    (void)state;
    char missing[PATH_SIZE];
    srTestPath("no-such-folder", missing, sizeof(missing));
    strncat(missing, "/frames.pc2", sizeof(missing) - strlen(missing) - 1);
    srFileWriter* writer = NULL;
    assert_result(srOpenFileWriter(missing, &writer), sr_errorFile);
    assert_null(writer);
    assert_non_null(strstr(srGetErrorText(), missing));
    assert_non_null(strstr(srGetErrorText(), strerror(2)));

    // nobody, root included, can create a file there
    assert_result(srOpenFileWriter("/proc/frames.pc2", &writer), sr_errorFile);
    assert_result(srOpenFileWriter("", &writer), sr_errorFile);
    assert_non_null(strstr(srGetErrorText(), "empty"));
}

// fails unless the path is refused at once and what stands there is still of that kind
static void assertRefused(const char* name, mode_t kind) {
    struct stat info;
    srFileWriter* writer = NULL;
    assert_result(srOpenFileWriter(path, &writer), sr_errorFile);
    assert_null(writer);
    assert_non_null(strstr(srGetErrorText(), name));
    assert_non_null(strstr(srGetErrorText(), "not a plain file"));
    assert_int_equal(lstat(name, &info), 0);
    assert_int_equal(info.st_mode & S_IFMT, kind);
}

static void what_is_no_plain_file_is_refused_and_stays(void** state) {
    (void)state;
    assert_int_equal(mkdir(path, 0777), 0);
    assertRefused(path, S_IFDIR);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0666), 0);
    assertRefused(path, S_IFIFO);
    assert_false(isThere(partial));

    // behind a link too
    char link[PATH_SIZE];
    srTestPath("pipe", link, sizeof(link));
    assert_int_equal(rename(path, link), 0);
    assert_int_equal(symlink("pipe", path), 0);
    srFileWriter* writer = NULL;
    assert_result(srOpenFileWriter(path, &writer), sr_errorFile);
    assert_int_equal(unlink(link), 0);
}

static void what_is_no_plain_file_under_the_partial_name_is_refused_and_stays(void** state) {
    (void)state;
    char other[PATH_SIZE];
    srTestPath("other", other, sizeof(other));
    writeOld(path, "old");
    writeOld(other, "somebody else's");
    assert_int_equal(symlink(other, partial), 0);
    assertRefused(partial, S_IFLNK);
    struct stat info;
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 15);
    assert_int_equal(unlink(partial), 0);

    // nobody reads from the pipe, so a plain opening would wait for ever
    assert_int_equal(mkfifo(partial, 0666), 0);
    assertRefused(partial, S_IFIFO);
    assert_int_equal(unlink(partial), 0);
    assert_int_equal(mkdir(partial, 0777), 0);
    srFileWriter* writer = NULL;
    assert_result(srOpenFileWriter(path, &writer), sr_errorFile);
    assert_int_equal(rmdir(partial), 0);
    expectText("old");
}

static void what_comes_there_while_it_is_written_stays(void** state) {
    (void)state;
    srFileWriter* writer = NULL;
    assert_success(srOpenFileWriter(path, &writer));
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_result(srFileWriter_Commit(writer), sr_errorFile);
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_false(isThere(partial));
}

static srResult writeNew(void) {
    srFileWriter* writer = NULL;
    SR_TRY(srOpenFileWriter(path, &writer));
    srResult result = writeText(writer, "new");
    return result == sr_success ? srFileWriter_Commit(writer) : result;
}

static void a_link_stays_a_link_to_the_new_file(void** state) {
    (void)state;
    char target[PATH_SIZE];
    struct stat info;
    srTestPath("target", target, sizeof(target));
    writeOld(target, "old");
    assert_int_equal(symlink("target", path), 0);
    assert_success(writeNew());
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    expectText("new");
    assert_int_equal(lstat(target, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_false(isThere(partial));

    assert_int_equal(unlink(target), 0);
    assert_int_equal(writeNew(), sr_errorFile);
    assert_non_null(strstr(srGetErrorText(), path));
}

static void the_permissions_of_the_old_file_are_kept(void** state) {
    (void)state;
    static const mode_t modes[] = {0600, 0644, 0666, 0440};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(modes); i++) {
        struct stat info;
        unlink(path);
        writeOld(path, "old");
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_success(writeNew());
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, modes[i]);
    }
}

static void finishThePartialFile(void) {
    assert_int_equal(rename(partial, path), 0);
}

static void a_file_that_was_finished_between_open_and_lock_is_not_cut(void** state) {
    (void)state;
    srFileWriter* writer = NULL;
    writeOld(partial, "whole");
    atomic_store(&beforeLock, finishThePartialFile);
    assert_success(srOpenFileWriter(path, &writer));
    assert_null(atomic_load(&beforeLock));
    expectText("whole");
    assert_true(isThere(partial));
    assert_success(writeText(writer, "next"));
    assert_success(srFileWriter_Commit(writer));
    expectText("next");
}

static void openNextToAFullDisk(size_t firstSize) {
    srFileWriter* writer = NULL;
    static const unsigned char bytes[100000];
    assert_success(srOpenFileWriter(path, &writer));
    srResult result = srFileWriter_Write(writer, bytes, firstSize);
    // few bytes fit in the buffer and fail later; after the first failure all fails
    bool isLarge = firstSize > 10;
    assert_int_equal(result, isLarge ? sr_errorFile : sr_success);
    if (isLarge) {
        assert_result(srFileWriter_Write(writer, bytes, 1), sr_errorFile);
    }
    assert_result(srFileWriter_Commit(writer), sr_errorFile);
}

// The limit of this process is met as the end of a disk would be
static void a_full_disk_is_said_in_words_and_leaves_the_old_file(void** state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit none = {0, before.rlim_max};
    for (int32_t large = 0; large < 2; large++) {
        writeOld(path, "old");
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
        openNextToAFullDisk(large != 0 ? 100000 : 10);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, handler);
        assert_non_null(strstr(srGetErrorText(), "File too large"));
        assert_non_null(strstr(srGetErrorText(), path));
        expectText("old");
        assert_false(isThere(partial));
    }
}

static void a_write_that_stops_halfway_leaves_the_old_file(void** state) {
    (void)state;
    writeOld(path, "old");
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {100000, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    srFileWriter* writer = NULL;
    srResult opened = srOpenFileWriter(path, &writer);
    srResult written = sr_success;
    static const unsigned char bytes[70000];
    for (int32_t i = 0; opened == sr_success && i < 3 && written == sr_success; i++) {
        written = srFileWriter_Write(writer, bytes, sizeof(bytes));
    }
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);

    // there is room again, but bytes are missing: it must not be taken for whole
    assert_int_equal(opened, sr_success);
    assert_int_equal(written, sr_errorFile);
    assert_result(srFileWriter_Commit(writer), sr_errorFile);
    expectText("old");
    assert_false(isThere(partial));
}

static void a_second_writer_is_refused_while_the_first_lives(void** state) {
    (void)state;
    srFileWriter* first = NULL;
    srFileWriter* second = NULL;
    assert_success(srOpenFileWriter(path, &first));
    assert_success(writeText(first, "first"));
    assert_result(srOpenFileWriter(path, &second), sr_errorFile);
    assert_null(second);
    assert_success(srFileWriter_Commit(first));
    expectText("first");
    assert_success(srOpenFileWriter(path, &second));
    expectText("first");
    srFileWriter_Abandon(second);
    expectText("first");
}

#define CONTENT_SIZE 3000

static atomic_int runningCount;

// Commits files of one letter, again and again, whenever the other writer leaves room
static void commitOften(void* context) {
    char content[CONTENT_SIZE];
    memset(content, *(const char*)context, sizeof(content));
    for (int32_t i = 0; i < 400; i++) {
        srFileWriter* writer = NULL;
        if (srOpenFileWriter(path, &writer) == sr_success) {
            if (srFileWriter_Write(writer, content, sizeof(content)) != sr_success) {
                srFileWriter_Abandon(writer);
            } else if (srFileWriter_Commit(writer) != sr_success) {
                break;
            }
        }
    }
    atomic_fetch_sub(&runningCount, 1);
}

static bool isWholeContent(void) {
    char read[CONTENT_SIZE + 1];
    FILE* file = fopen(path, "rb");
    size_t size = file != NULL ? fread(read, 1, sizeof(read), file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    for (size_t i = 1; i < size; i++) {
        if (read[i] != read[0]) {
            return false;
        }
    }
    return size == CONTENT_SIZE;
}

static void readers_never_see_half_a_file_while_two_writers_compete(void** state) {
    (void)state;
    srThread* threads[2] = {NULL};
    char letters[2] = {'a', 'b'};
    int32_t brokenCount = 0;
    atomic_store(&runningCount, 1);
    commitOften(&letters[0]);
    atomic_store(&runningCount, 2);
    for (int32_t i = 0; i < 2; i++) {
        assert_success(srStartThread(commitOften, &letters[i], &threads[i]));
    }
    while (atomic_load(&runningCount) > 0) {
        brokenCount += !isWholeContent();
    }
    for (int32_t i = 0; i < 2; i++) {
        srJoinThread(threads[i]);
    }
    assert_int_equal(brokenCount, 0);
    assert_true(isWholeContent());
    assert_false(isThere(partial));
}

static void a_path_relative_to_the_working_folder_works(void** state) {
    (void)state;
    char before[PATH_SIZE];
    char folder[PATH_SIZE];
    assert_non_null(getcwd(before, sizeof(before)));
    srTestPath("", folder, sizeof(folder));
    assert_int_equal(chdir(folder), 0);
    srFileWriter* writer = NULL;
    srResult result = srOpenFileWriter("frames.pc2", &writer);
    if (result == sr_success) {
        result = srFileWriter_Commit(writer);
    }
    assert_int_equal(chdir(before), 0);
    assert_int_equal(result, sr_success);
    expectText("");
}

static srResult writeFile(void* context) {
    (void)context;
    srFileWriter* writer = NULL;
    SR_TRY(srOpenFileWriter(path, &writer));
    srResult result = writeText(writer, "new");
    if (result != sr_success) {
        srFileWriter_Abandon(writer);
        return result;
    }
    return srFileWriter_Commit(writer);
}

static void memory_that_is_gone_leaves_the_old_file(void** state) {
    (void)state;
    writeOld(path, "old");
    srAlloc_FailAt(1, true);
    srResult result = writeFile(NULL);
    srAlloc_FailAt(0, false);
    assert_int_equal(result, sr_errorOutOfMemory);
    expectText("old");
    assert_false(isThere(partial));
    srTestEveryAllocationFails(writeFile, NULL);
    expectText("new");
}

static void records_are_read_back_up_to_the_first_that_is_not_whole(void** state) {
    (void)state;
    srRecordFile* file = NULL;
    char read[8] = {0};
    assert_success(srOpenRecordFile(path, &file));
    assert_false(srRecordFile_Read(file, read, 1));
    assert_success(srRecordFile_Append(file, "abcd", 4));
    assert_success(srRecordFile_Append(file, "efgh", 4));
    srRecordFile_Close(file, false);
    assert_int_equal(truncate(path, 7), 0);

    assert_success(srOpenRecordFile(path, &file));
    assert_true(srRecordFile_Read(file, read, 4));
    assert_memory_equal(read, "abcd", 4);
    assert_false(srRecordFile_Read(file, read, 4));
    assert_int_equal(srRecordFile_GetSize(file), 4);
    // what is added stands behind what was read
    assert_success(srRecordFile_Append(file, "ijklmn", 6));
    srRecordFile_Close(file, false);
    expectText("abcdijklmn");

    assert_success(srOpenRecordFile(path, &file));
    assert_true(srRecordFile_Read(file, read, 4));
    assert_success(srRecordFile_Cut(file, 2));
    srRecordFile_Close(file, false);
    expectText("ab");
}

static void a_record_file_has_one_writer_and_goes_when_it_is_done_or_empty(void** state) {
    (void)state;
    srRecordFile* file = NULL;
    srRecordFile* other = NULL;
    assert_success(srOpenRecordFile(path, &file));
    assert_result(srOpenRecordFile(path, &other), sr_errorFile);
    srRecordFile_Close(file, false);
    assert_false(isThere(path));
    assert_success(srOpenRecordFile(path, &file));
    assert_success(srRecordFile_Append(file, "abcd", 4));
    srRecordFile_Close(file, true);
    assert_false(isThere(path));
    srRecordFile_Close(NULL, true);
}

static void a_record_file_is_opened_through_no_link(void** state) {
    (void)state;
    srRecordFile* file = NULL;
    writeOld(partial, "old");
    assert_int_equal(symlink(partial, path), 0);
    assert_result(srOpenRecordFile(path, &file), sr_errorFile);
    unlink(path);
    unlink(partial);
}

static srResult openAndClose(void* context) {
    (void)context;
    srRecordFile* file = NULL;
    SR_TRY(srOpenRecordFile(path, &file));
    srRecordFile_Close(file, false);
    return sr_success;
}

static void every_failing_allocation_of_a_record_file_is_an_error(void** state) {
    (void)state;
    srTestEveryAllocationFails(openAndClose, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_old_file_stands_until_the_commit_replaces_it, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_file_without_bytes_is_a_file, choosePath, srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(abandoning_leaves_the_old_file_and_nothing_else, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(what_a_crash_left_is_written_over, choosePath, srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(any_mixture_of_large_and_small_writes_keeps_its_order, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_is_named_with_the_reason, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_is_refused_and_stays, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_under_the_partial_name_is_refused_and_stays,
                                        choosePath, srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(what_comes_there_while_it_is_written_stays, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_link_stays_a_link_to_the_new_file, choosePath, srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(the_permissions_of_the_old_file_are_kept, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_file_that_was_finished_between_open_and_lock_is_not_cut, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_full_disk_is_said_in_words_and_leaves_the_old_file, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_write_that_stops_halfway_leaves_the_old_file, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_second_writer_is_refused_while_the_first_lives, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(readers_never_see_half_a_file_while_two_writers_compete, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_path_relative_to_the_working_folder_works, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(memory_that_is_gone_leaves_the_old_file, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(records_are_read_back_up_to_the_first_that_is_not_whole, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_record_file_has_one_writer_and_goes_when_it_is_done_or_empty,
                                        choosePath, srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(a_record_file_is_opened_through_no_link, choosePath,
                                        srTestNothingLeaked),
        cmocka_unit_test_setup_teardown(every_failing_allocation_of_a_record_file_is_an_error, choosePath,
                                        srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
