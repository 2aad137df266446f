// SPDX-License-Identifier: GPL-3.0-or-later
//
// Blocks from the host's hooks, counted. With parallel.c's pool and error.c's text this is all the mutable
// static data of the library: the hooks, the counts, and the failure that a test asked for.

#include "core/alloc.h"

#include "core/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN_MAGIC 0x5347524f46524cull

// stands in front of a foreign block and keeps its alignment
typedef union srForeignHeader {
    struct {
        size_t size;
        uint64_t magic;
    } info;
    unsigned char padding[SR_ALIGNMENT];
} srForeignHeader;

static void* systemAlloc(size_t size, size_t alignment, void* context);
static void systemFree(void* block, size_t size, void* context);

static srAllocator hooks = {sizeof(srAllocator), systemAlloc, systemFree, NULL};
static atomic_size_t byteCount;

#define WATCH_COUNT 8

// a peak a watch; the bits say which are watching
static atomic_size_t peaks[WATCH_COUNT];
static atomic_uint watching;
static _Atomic int64_t allocCount;
static _Atomic int64_t failingAlloc; // zero: none
static atomic_bool failsForever;

static void* systemAlloc(size_t size, size_t alignment, void* context) {
    (void)context;
    void* block = NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static void systemFree(void* block, size_t size, void* context) {
    (void)size;
    (void)context;
    free(block);
}

srResult srSetAllocHooks(const srAllocator* allocator) {
    size_t held = srAlloc_GetByteCount();
    if (held != 0) {
        return srFail(sr_errorNotReady,
                      "The allocator cannot be replaced while %zu bytes of the old one are in use.", held);
    }
    hooks =
        allocator != NULL ? *allocator : (srAllocator){sizeof(srAllocator), systemAlloc, systemFree, NULL};
    return sr_success;
}

size_t srAlloc_GetByteCount(void) {
    return atomic_load(&byteCount);
}

int64_t srAlloc_GetCount(void) {
    return atomic_load(&allocCount);
}

void srAlloc_FailAt(int64_t n, bool forever) {
    atomic_store(&failsForever, forever);
    atomic_store(&failingAlloc, n > 0 ? atomic_load(&allocCount) + n : 0);
}

static bool isMadeToFail(int64_t alloc) {
    int64_t failing = atomic_load_explicit(&failingAlloc, memory_order_relaxed);
    return failing != 0 && (alloc == failing || (alloc > failing && atomic_load(&failsForever)));
}

bool srMultiplySizes(size_t count, size_t elementSize, size_t* outSize) {
    // no object may be larger than a difference of pointers can tell
    if (elementSize != 0 && count > (size_t)PTRDIFF_MAX / elementSize) {
        return false;
    }
    *outSize = count * elementSize;
    return true;
}

static void raisePeaks(size_t held) {
    unsigned seen = atomic_load_explicit(&watching, memory_order_relaxed);
    for (int32_t watch = 0; seen >> watch != 0; ++watch) {
        size_t peak = atomic_load_explicit(&peaks[watch], memory_order_relaxed);
        while ((seen & 1u << watch) && held > peak &&
               !atomic_compare_exchange_weak_explicit(&peaks[watch], &peak, held, memory_order_relaxed,
                                                      memory_order_relaxed)) {
        }
    }
}

int32_t srAlloc_BeginWatch(void) {
    unsigned seen = atomic_load(&watching);
    for (int32_t watch = 0; watch < WATCH_COUNT; ++watch) {
        while (!(seen & 1u << watch)) {
            if (atomic_compare_exchange_weak(&watching, &seen, seen | 1u << watch)) {
                raisePeaks(atomic_load(&byteCount));
                return watch;
            }
        }
    }
    return -1;
}

size_t srAlloc_EndWatch(int32_t watch) {
    size_t held = atomic_load(&byteCount);
    if (watch < 0) {
        return held;
    }
    size_t peak = atomic_exchange(&peaks[watch], 0);
    atomic_fetch_and(&watching, ~(1u << watch));
    return peak > held ? peak : held;
}

static void* allocBytes(size_t size) {
    if (isMadeToFail(atomic_fetch_add(&allocCount, 1) + 1)) {
        return NULL;
    }
    void* block = hooks.alloc(size, SR_ALIGNMENT, hooks.context);
    if (block != NULL && (uintptr_t)block % SR_ALIGNMENT != 0) {
        hooks.free(block, size, hooks.context);
        return NULL;
    }
    if (block != NULL) {
        raisePeaks(size + atomic_fetch_add_explicit(&byteCount, size, memory_order_relaxed));
    }
    return block;
}

static void freeBytes(void* block, size_t size) {
    hooks.free(block, size, hooks.context);
    size_t held = atomic_fetch_sub_explicit(&byteCount, size, memory_order_relaxed);
    SR_ASSERT(held >= size);
    (void)held;
}

void* srAlloc(size_t count, size_t elementSize) {
    size_t size = 0;
    if (!srMultiplySizes(count, elementSize, &size) || size == 0) {
        return NULL;
    }
    return allocBytes(size);
}

void* srAllocZero(size_t count, size_t elementSize) {
    void* block = srAlloc(count, elementSize);
    if (block != NULL) {
        memset(block, 0, count * elementSize);
    }
    return block;
}

void srFree(void* block, size_t count, size_t elementSize) {
    if (block != NULL) {
        freeBytes(block, count * elementSize);
    }
}

void* srRealloc(void* block, size_t oldCount, size_t newCount, size_t elementSize) {
    void* newBlock = srAlloc(newCount, elementSize);
    if (newBlock != NULL && block != NULL) {
        memcpy(newBlock, block, (oldCount < newCount ? oldCount : newCount) * elementSize);
        srFree(block, oldCount, elementSize);
    }
    return newBlock;
}

static srForeignHeader* headerOf(void* block) {
    srForeignHeader* header = (srForeignHeader*)block - 1;
    SR_ASSERT(header->info.magic == FOREIGN_MAGIC);
    return header;
}

void* srMallocForeign(size_t size) {
    if (size > (size_t)PTRDIFF_MAX - sizeof(srForeignHeader)) {
        return NULL;
    }
    srForeignHeader* header = allocBytes(sizeof(srForeignHeader) + size);
    if (header == NULL) {
        return NULL;
    }
    header->info.size = size;
    header->info.magic = FOREIGN_MAGIC;
    return header + 1;
}

void* srCallocForeign(size_t count, size_t size) {
    size_t total = 0;
    if (!srMultiplySizes(count, size, &total)) {
        return NULL;
    }
    void* block = srMallocForeign(total);
    if (block != NULL) {
        memset(block, 0, total);
    }
    return block;
}

void* srReallocForeign(void* block, size_t size) {
    void* newBlock = srMallocForeign(size);
    if (newBlock != NULL && block != NULL) {
        size_t oldSize = headerOf(block)->info.size;
        memcpy(newBlock, block, oldSize < size ? oldSize : size);
        srFreeForeign(block);
    }
    return newBlock;
}

void srFreeForeign(void* block) {
    if (block != NULL) {
        srForeignHeader* header = headerOf(block);
        freeBytes(header, sizeof(srForeignHeader) + header->info.size);
    }
}
