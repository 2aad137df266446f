// SPDX-License-Identifier: GPL-3.0-or-later
//
// The stack is a row of chunks. Those up to the current one hold what is pushed, those behind it are empty
// and may change places: a push that needs a larger one fetches it forward. So the same pushes find the same
// chunks every time, and only the first round allocates.

#include "core/arena.h"

#include "core/alloc.h"
#include "core/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

// a new chunk is at least half of all before it together; an eighth where those are many bytes, for what is
// not needed of it is as much. So 96 of them hold more than a machine has
#define MAX_CHUNKS 96
#define MANY_BYTES ((size_t)1 << 24)
#define MIN_CAPACITY 4096

typedef struct srChunk {
    unsigned char* bytes;
    size_t capacity;
    size_t used;
    size_t usedBefore; // bytes on the stack in all chunks before this one
} srChunk;

struct srArena {
    srChunk chunks[MAX_CHUNKS];
    size_t chunkCount;
    size_t current;
    size_t totalCapacity;
    size_t highWater;
    const char* highWaterName;
};

// Puts a new empty chunk at `index`; those from there on move up by one
static bool insertChunk(srArena* arena, size_t index, size_t capacity) {
    if (arena->chunkCount == MAX_CHUNKS) {
        return false;
    }
    unsigned char* bytes = SR_ALLOC(unsigned char, capacity);
    if (bytes == NULL) {
        return false;
    }
    ASAN_POISON_MEMORY_REGION(bytes, capacity);
    for (size_t i = arena->chunkCount; i > index; i--) {
        arena->chunks[i] = arena->chunks[i - 1];
    }
    arena->chunks[index] = (srChunk){bytes, capacity, 0, 0};
    arena->chunkCount++;
    arena->totalCapacity += capacity;
    return true;
}

static bool roundUp(size_t size, size_t* outSize) {
    if (size > (size_t)PTRDIFF_MAX - SR_ALIGNMENT) {
        return false;
    }
    size_t atLeastOne = size > 0 ? size : 1;
    *outSize = (atLeastOne + SR_ALIGNMENT - 1) / SR_ALIGNMENT * SR_ALIGNMENT;
    return true;
}

srArena* srCreateArena(size_t firstCapacity) {
    size_t capacity = 0;
    if (!roundUp(firstCapacity, &capacity)) {
        return NULL;
    }
    srArena* arena = SR_ALLOC_ZERO(srArena, 1);
    if (arena == NULL) {
        return NULL;
    }
    if (!insertChunk(arena, 0, capacity > MIN_CAPACITY ? capacity : MIN_CAPACITY)) {
        srDestroyArena(arena);
        return NULL;
    }
    return arena;
}

void srDestroyArena(srArena* arena) {
    if (arena == NULL) {
        return;
    }
    for (size_t i = 0; i < arena->chunkCount; i++) {
        ASAN_UNPOISON_MEMORY_REGION(arena->chunks[i].bytes, arena->chunks[i].capacity);
        SR_FREE(arena->chunks[i].bytes, arena->chunks[i].capacity);
    }
    SR_FREE(arena, 1);
}

// Makes the chunk after the current one a kept chunk of at least `size` bytes; false if there is none
static bool fetchChunk(srArena* arena, size_t size) {
    size_t next = arena->current + 1;
    for (size_t i = next; i < arena->chunkCount; i++) {
        if (arena->chunks[i].capacity >= size) {
            srChunk found = arena->chunks[i];
            arena->chunks[i] = arena->chunks[next];
            arena->chunks[next] = found;
            return true;
        }
    }
    return false;
}

static bool advance(srArena* arena, size_t size) {
    size_t next = arena->current + 1;
    if (!fetchChunk(arena, size)) {
        size_t share = arena->totalCapacity / (arena->totalCapacity < MANY_BYTES ? 2 : 8);
        size_t generous = share / SR_ALIGNMENT * SR_ALIGNMENT;
        if (!insertChunk(arena, next, size > generous ? size : generous)) {
            return false;
        }
    }
    const srChunk* full = &arena->chunks[arena->current];
    arena->chunks[next].used = 0;
    arena->chunks[next].usedBefore = full->usedBefore + full->used;
    arena->current = next;
    return true;
}

void* srArena_Push(srArena* arena, size_t count, size_t elementSize, const char* name) {
    size_t asked = 0;
    size_t size = 0;
    if (!srMultiplySizes(count, elementSize, &asked) || !roundUp(asked, &size)) {
        return NULL;
    }
    const srChunk* top = &arena->chunks[arena->current];
    if (top->capacity - top->used < size && !advance(arena, size)) {
        return NULL;
    }

    srChunk* chunk = &arena->chunks[arena->current];
    void* block = chunk->bytes + chunk->used;
    ASAN_UNPOISON_MEMORY_REGION(block, asked);
    chunk->used += size;
    if (chunk->usedBefore + chunk->used > arena->highWater) {
        arena->highWater = chunk->usedBefore + chunk->used;
        arena->highWaterName = name;
    }
    return block;
}

srArenaMark srArena_GetMark(const srArena* arena) {
    return (srArenaMark){arena->current, arena->chunks[arena->current].used};
}

void srArena_Release(srArena* arena, srArenaMark mark) {
    SR_ASSERT(mark.chunk < arena->current ||
              (mark.chunk == arena->current && mark.used <= arena->chunks[mark.chunk].used));
    for (size_t i = mark.chunk + 1; i <= arena->current; i++) {
        ASAN_POISON_MEMORY_REGION(arena->chunks[i].bytes, arena->chunks[i].used);
        arena->chunks[i].used = 0;
    }
    srChunk* chunk = &arena->chunks[mark.chunk];
    ASAN_POISON_MEMORY_REGION(chunk->bytes + mark.used, chunk->used - mark.used);
    chunk->used = mark.used;
    arena->current = mark.chunk;
}

size_t srArena_GetHighWater(const srArena* arena) {
    return arena->highWater;
}
