// SPDX-License-Identifier: GPL-3.0-or-later
//
// A folder for one test's files, made where the test runs and removed with all in it.

#pragma once

#include "support/support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct srTestFolder {
    char path[64];
} srTestFolder;

static inline srTestFolder srTestMakeFolder(void) {
    srTestFolder folder = {"softrig-cli-test-XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

/// The path of a file in the folder; one of four buffers in turn.
static inline const char* srTestFolder_Path(const srTestFolder* folder, const char* name) {
    static char paths[4][512];
    static int next = 0;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof(paths[next]), "%s/%s", folder->path, name);
    return paths[next];
}

static inline void srTestFolder_Write(const srTestFolder* folder, const char* name, const char* text) {
    FILE* file = fopen(srTestFolder_Path(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/// The file's bytes with a zero behind them; free() them. Fails when it is not there.
static inline char* srTestFolder_Read(const srTestFolder* folder, const char* name, size_t* outSize) {
    FILE* file = fopen(srTestFolder_Path(folder, name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char* bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    bytes[size] = 0;
    fclose(file);
    *outSize = size;
    return bytes;
}

static inline int32_t srTestFolder_CountFiles(const srTestFolder* folder) {
    DIR* directory = opendir(folder->path);
    assert_non_null(directory);
    int32_t count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

/// Removes the folder with its files and empty folders.
static inline void srTestFolder_Remove(const srTestFolder* folder) {
    DIR* directory = opendir(folder->path);
    assert_non_null(directory);
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        bool isSelf = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!isSelf) {
            remove(srTestFolder_Path(folder, entry->d_name));
        }
    }
    closedir(directory);
    assert_int_equal(rmdir(folder->path), 0);
}
