// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pools of pointers behind ids with generations. A slot that is used again gets a new generation, so an id
// that was kept too long is found out. Not locked: the registry (api/) holds the lock.

#pragma once

#include "core/error.h"

#include <stdint.h>

/// The shape that all public ids share.
typedef struct srRawId {
    uint32_t index1;
    uint32_t generation;
} srRawId;

typedef struct srIdSlot {
    void* object; ///< Null when the slot is free.
    uint32_t generation;
    int32_t nextFree1; ///< Index + 1 of the next free slot; zero is none.
} srIdSlot;

/// A zeroed pool is an empty pool.
typedef struct srIdPool {
    srIdSlot* slots;
    int32_t slotCount;
    int32_t capacity;
    int32_t firstFree1; ///< Index + 1 of the first free slot; zero is none.
    int32_t liveCount;
    uint32_t lastGeneration; ///< Kept when the slots are freed, so that no id is ever given out twice.
} srIdPool;

/// `object` must not be null. On failure the pool is as it was.
SR_MUST_USE srResult srIdPool_Add(srIdPool* pool, void* object, srRawId* outId);

/// Null for a null, foreign or stale id.
void* srIdPool_Find(const srIdPool* pool, srRawId id);

/// Takes the object out; null as above.
void* srIdPool_Remove(srIdPool* pool, srRawId id);

/// The next living object at or after `*cursor` (start with 0), which is moved past it; null at the end.
void* srIdPool_Next(const srIdPool* pool, int32_t* cursor, srRawId* outId);

/// Frees the slots; the pool must be empty of objects. Generations go on from where they were.
void srIdPool_Free(srIdPool* pool);
