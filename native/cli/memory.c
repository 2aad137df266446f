// SPDX-License-Identifier: GPL-3.0-or-later
//
// Allocation with a limit for tests, and growing arrays. Capacity doubles, so appending is cheap and memory
// stays in proportion to what was read.

#include "cli/memory.h"

#include <stdlib.h>
#include <string.h>

static int64_t allocationLimit = -1;

void* srCliResize(void* block, size_t size) {
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (allocationLimit == 0) {
        return NULL;
    }
    if (allocationLimit > 0) {
        allocationLimit -= 1;
    }
    return realloc(block, size);
}

void srCliSetAllocationLimit(int64_t count) {
    allocationLimit = count;
}

// makes room for `added` more items of `itemSize` bytes; null when memory ran out
static void* growArray(void* items, size_t count, size_t* capacity, size_t added, size_t itemSize) {
    if (items != NULL && added <= *capacity - count) {
        return items;
    }
    if (added > SIZE_MAX / itemSize / 2 - count) {
        return NULL;
    }
    size_t needed = count + added;
    size_t newCapacity = 2 * count > needed ? 2 * count : needed;
    newCapacity = newCapacity < 16 ? 16 : newCapacity;
    void* grown = srCliResize(items, newCapacity * itemSize);
    if (grown != NULL) {
        *capacity = newCapacity;
    }
    return grown;
}

bool srCliFloats_Append(srCliFloats* floats, const float* values, size_t count) {
    float* grown = growArray(floats->items, floats->count, &floats->capacity, count, sizeof(float));
    if (grown == NULL) {
        return false;
    }
    floats->items = grown;
    memcpy(grown + floats->count, values, count * sizeof(float));
    floats->count += count;
    return true;
}

bool srCliInts_Append(srCliInts* ints, const int32_t* values, size_t count) {
    int32_t* grown = growArray(ints->items, ints->count, &ints->capacity, count, sizeof(int32_t));
    if (grown == NULL) {
        return false;
    }
    ints->items = grown;
    memcpy(grown + ints->count, values, count * sizeof(int32_t));
    ints->count += count;
    return true;
}

bool srCliBytes_Append(srCliBytes* bytes, const char* values, size_t count) {
    char* grown = growArray(bytes->items, bytes->count, &bytes->capacity, count, 1);
    if (grown == NULL) {
        return false;
    }
    bytes->items = grown;
    memcpy(grown + bytes->count, values, count);
    bytes->count += count;
    return true;
}

void srCliFloats_Free(srCliFloats* floats) {
    srCliResize(floats->items, 0);
    *floats = (srCliFloats){0};
}

void srCliInts_Free(srCliInts* ints) {
    srCliResize(ints->items, 0);
    *ints = (srCliInts){0};
}

void srCliBytes_Free(srCliBytes* bytes) {
    srCliResize(bytes->items, 0);
    *bytes = (srCliBytes){0};
}
