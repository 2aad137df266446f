// SPDX-License-Identifier: GPL-3.0-or-later
//
// Hostile variants of a valid file, for the tests of readers: cut at every byte, changed at random, read
// while memory runs out. Each reader gives the same promise: it reads or it fails with a sentence.

#pragma once

#include "support/support.h"

#include "cli/files.h"

#include <stdlib.h>
#include <string.h>

#define MANGLE_PATH "some.file"

/// Reads, checks whatever was read, frees.
typedef bool srTestReadFcn(srCliText* text, srCliError* error);

static inline bool srTestReadBytes(srTestReadFcn* read, const char* bytes, size_t size, srCliError* error) {
    srCliText text;
    error->text[0] = 0;
    bool isRead = srCliOpenTextBytes(MANGLE_PATH, bytes, size, &text, error) && read(&text, error);
    srCliText_Close(&text);
    if (isRead) {
        assert_int_equal(error->text[0], 0);
    } else {
        assert_true(strlen(error->text) > 10);
    }
    return isRead;
}

static inline bool srTestReadString(srTestReadFcn* read, const char* string, srCliError* error) {
    return srTestReadBytes(read, string, strlen(string), error);
}

/// Fails unless reading fails at that line with a sentence that holds `part`.
static inline void srTestReadFails(srTestReadFcn* read, const char* string, int32_t line, const char* part) {
    srCliError error;
    char place[64];
    snprintf(place, sizeof(place), "%s:%d: ", MANGLE_PATH, line);
    if (srTestReadString(read, string, &error)) {
        fail_msg("it was read: %.200s", string);
    }
    if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, part) == NULL) {
        fail_msg("wanted '%s...%s...', got '%s'", place, part, error.text);
    }
}

static inline void srTestCutEverywhere(srTestReadFcn* read, const char* string) {
    for (size_t size = 0; size < strlen(string); ++size) {
        srCliError error;
        srTestReadBytes(read, string, size, &error);
    }
}

/// One to four changes: a byte replaced, inserted or dropped, a piece doubled or moved.
static inline size_t srTestMangle(char* bytes, size_t size, size_t capacity, uint64_t* random) {
    static const char likely[] = "0123456789+-.eE/ \t\r\n#%\\nanifvVOFm\xEF\xFF";
    int32_t changeCount = 1 + (int32_t)(4.0 * srTestRandom(random));
    for (int32_t i = 0; i < changeCount; ++i) {
        size_t at = (size_t)(srTestRandom(random) * (double)size);
        double kind = srTestRandom(random);
        size_t length = 1 + (size_t)(srTestRandom(random) * 40.0);
        length = at + length <= size ? length : size - at;
        char byte = likely[(size_t)(srTestRandom(random) * (double)(sizeof(likely) - 1))];
        byte = kind < 0.1 ? (char)(srTestRandom(random) * 256.0) : byte;
        if (kind < 0.5 && size > 0) {
            bytes[at] = byte;
        } else if (kind < 0.7 && size + 1 <= capacity) {
            memmove(bytes + at + 1, bytes + at, size - at);
            bytes[at] = byte;
            size += 1;
        } else if (kind < 0.85) {
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
        } else if (size + length <= capacity) {
            memmove(bytes + at + length, bytes + at, size - at);
            size += length;
        }
    }
    return size;
}

static inline void srTestMangleOften(srTestReadFcn* read, const char* string, int32_t count) {
    size_t size = strlen(string);
    size_t capacity = size + 256;
    char* bytes = malloc(capacity);
    assert_non_null(bytes);
    uint64_t random = 20260101;
    int32_t readCount = 0;
    for (int32_t i = 0; i < count; ++i) {
        srCliError error;
        memcpy(bytes, string, size);
        size_t mangledSize = srTestMangle(bytes, size, capacity, &random);
        readCount += srTestReadBytes(read, bytes, mangledSize, &error);
    }
    free(bytes);

    // both ends are met, else the changes are too weak or too strong to test anything
    assert_in_range(readCount, count / 1000, count - count / 10);
}

/// Refuses the n-th allocation and all after it, for every n.
static inline void srTestReadWithoutMemory(srTestReadFcn* read, const char* string) {
    srCliError error;
    int32_t failureCount = 0;
    bool isRead = false;
    while (!isRead) {
        srCliSetAllocationLimit(failureCount);
        isRead = srTestReadString(read, string, &error);
        srCliSetAllocationLimit(-1);
        if (!isRead) {
            assert_string_equal(error.text, "Out of memory.");
            failureCount += 1;
        }
        assert_true(failureCount < 1000);
    }
    assert_true(failureCount >= 2);
}
