// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stack of scratch memory with marks: what a step or a stage of preparing needs for a moment. Push, use,
// release to the mark. Blocks never move while they are on the stack. One thread at a time.

#pragma once

#include <stddef.h>

typedef struct srArena srArena;

/// Where the stack stood.
typedef struct srArenaMark {
    size_t chunk;
    size_t used;
} srArenaMark;

/// Null when memory is gone. `firstCapacity` bytes are taken at once; more chunks follow when they are full,
/// and are kept until `srDestroyArena`, so that the second step allocates nothing.
srArena* srCreateArena(size_t firstCapacity);

/// Accepts null.
void srDestroyArena(srArena* arena);

/// A 64-byte aligned block of count * elementSize bytes, uninitialised; null when memory is gone or the
/// product overflows, never for a count of zero. `name` is static text: the arena remembers the one that
/// raised the high-water mark last, for people with a debugger. Under AddressSanitizer what is not pushed is
/// poisoned.
void* srArena_Push(srArena* arena, size_t count, size_t elementSize, const char* name);

#define SR_PUSH(arena, type, count, name)                                                                    \
    ((type*)srArena_Push((arena), (size_t)(count), sizeof(type), (name)))

srArenaMark srArena_GetMark(const srArena* arena);

/// Everything pushed after the mark is gone. Marks are released in the opposite order of their taking.
void srArena_Release(srArena* arena, srArenaMark mark);

/// The most bytes that were ever on the stack at once, each block rounded up to 64.
size_t srArena_GetHighWater(const srArena* arena);
