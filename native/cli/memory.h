// SPDX-License-Identifier: GPL-3.0-or-later
//
// The program's memory: one way to allocate, which tests can make fail, and arrays that grow by appending.
// Readers append what they have read and never allocate by a count that a file merely claims.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// As `realloc`, but null for size zero after freeing. The old block stays valid when the answer is null for
/// another size.
void* srCliResize(void* block, size_t size);

/// Lets this many further allocations succeed and refuses all after them; negative: never refuses. For tests.
void srCliSetAllocationLimit(int64_t count);

typedef struct srCliFloats {
    float* items;
    size_t count;
    size_t capacity;
} srCliFloats;

typedef struct srCliInts {
    int32_t* items;
    size_t count;
    size_t capacity;
} srCliInts;

typedef struct srCliBytes {
    char* items;
    size_t count;
    size_t capacity;
} srCliBytes;

/// Append `count` values. False when memory ran out; then the array is as it was.
bool srCliFloats_Append(srCliFloats* floats, const float* values, size_t count);
bool srCliInts_Append(srCliInts* ints, const int32_t* values, size_t count);
bool srCliBytes_Append(srCliBytes* bytes, const char* values, size_t count);

/// Free and zero.
void srCliFloats_Free(srCliFloats* floats);
void srCliInts_Free(srCliInts* ints);
void srCliBytes_Free(srCliBytes* bytes);
