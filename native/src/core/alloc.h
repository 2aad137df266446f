// SPDX-License-Identifier: GPL-3.0-or-later
//
// All memory of the library: 64-byte aligned blocks from the host's hooks, counted, with failure injection
// for tests. Sizes are multiplied and checked for overflow here and nowhere else. Lives here: blocks. Does
// not: stacks of scratch memory (arena.h).

#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

#define SR_ALIGNMENT 64

/// Null when memory is gone, the product overflows, or `count` is zero. The caller turns null into
/// `srFailOutOfMemory` (error.h). A block that the host hands out misaligned counts as memory gone.
/// Thread-safe.
void* srAlloc(size_t count, size_t elementSize);

/// The product, or false when no object can be that large. For those who hand on a size instead of a count.
bool srMultiplySizes(size_t count, size_t elementSize, size_t* outSize);

/// As `srAlloc`, all bytes zero.
void* srAllocZero(size_t count, size_t elementSize);

/// `count` and `elementSize` as they were asked for. Accepts null.
void srFree(void* block, size_t count, size_t elementSize);

/// A larger (or smaller) block with the same first elements; the old one is freed. Null when memory is gone:
/// then the old block is untouched.
void* srRealloc(void* block, size_t oldCount, size_t newCount, size_t elementSize);

#define SR_ALLOC(type, count) ((type*)srAlloc((size_t)(count), sizeof(type)))
#define SR_ALLOC_ZERO(type, count) ((type*)srAllocZero((size_t)(count), sizeof(type)))
#define SR_FREE(array, count) srFree((array), (size_t)(count), sizeof(*(array)))

/// Replaces the hooks that blocks come from; null restores the system's. `sr_errorNotReady` while any block
/// is held. The caller has checked the struct. Not thread-safe.
SR_MUST_USE srResult srSetAllocHooks(const srAllocator* allocator);

/// Bytes held now, as they were asked for (a foreign block's header included).
size_t srAlloc_GetByteCount(void);

/// Watches the most bytes that are held at once, whoever holds them, from now on to the end of the watch.
/// A few watches at a time; one too many (-1) sees what is held at its end.
int32_t srAlloc_BeginWatch(void);
size_t srAlloc_EndWatch(int32_t watch);

/// malloc, calloc, realloc and free in the C library's own shapes, for libraries that want them (CHOLMOD). A
/// small header remembers the size, so these bytes are counted and can be made to fail like all others. A
/// size of zero gives a block of no bytes, never null for that reason.
void* srMallocForeign(size_t size);
void* srCallocForeign(size_t count, size_t size);
void* srReallocForeign(void* block, size_t size);
void srFreeForeign(void* block);

/// Failure injection: the n-th allocation from now on returns null (1 is the next), and every one after it
/// too if `forever`. Zero switches it off. For tests.
void srAlloc_FailAt(int64_t n, bool forever);

/// Allocations asked of the hooks since the process started, refused ones included. For tests, to choose n.
int64_t srAlloc_GetCount(void);
