// SPDX-License-Identifier: GPL-3.0-or-later
//
// Slots in a growing array, free ones in a list through it. Generations are counted a pool, not a slot: so
// the count survives the slots, and an id is not given out twice until 2^32 objects have come and gone.

#include "core/id.h"

#include "core/alloc.h"
#include "core/error.h"

#define FIRST_CAPACITY 16

static srResult grow(srIdPool* pool) {
    if (pool->capacity > INT32_MAX / 2) {
        return srFail(sr_errorTooLarge, "There are more than %d objects of one kind.", pool->capacity);
    }
    int32_t capacity = pool->capacity > 0 ? 2 * pool->capacity : FIRST_CAPACITY;
    srIdSlot* slots = srRealloc(pool->slots, (size_t)pool->capacity, (size_t)capacity, sizeof(srIdSlot));
    if (slots == NULL) {
        return srFailOutOfMemory("ids");
    }
    pool->slots = slots;
    pool->capacity = capacity;
    return sr_success;
}

srResult srIdPool_Add(srIdPool* pool, void* object, srRawId* outId) {
    SR_ASSERT(object != NULL);
    if (pool->firstFree1 == 0 && pool->slotCount == pool->capacity) {
        SR_TRY(grow(pool));
    }

    // take a slot
    int32_t index1 = pool->firstFree1;
    if (index1 != 0) {
        pool->firstFree1 = pool->slots[index1 - 1].nextFree1;
    } else {
        pool->slotCount++;
        index1 = pool->slotCount;
    }

    // zero is the null id's generation
    pool->lastGeneration++;
    if (pool->lastGeneration == 0) {
        pool->lastGeneration = 1;
    }

    pool->slots[index1 - 1] = (srIdSlot){object, pool->lastGeneration, 0};
    pool->liveCount++;
    *outId = (srRawId){(uint32_t)index1, pool->lastGeneration};
    return sr_success;
}

static srIdSlot* findSlot(const srIdPool* pool, srRawId id) {
    if (id.index1 == 0 || id.index1 > (uint32_t)pool->slotCount) {
        return NULL;
    }
    srIdSlot* slot = &pool->slots[id.index1 - 1];
    return slot->object != NULL && slot->generation == id.generation ? slot : NULL;
}

void* srIdPool_Find(const srIdPool* pool, srRawId id) {
    const srIdSlot* slot = findSlot(pool, id);
    return slot != NULL ? slot->object : NULL;
}

void* srIdPool_Remove(srIdPool* pool, srRawId id) {
    srIdSlot* slot = findSlot(pool, id);
    if (slot == NULL) {
        return NULL;
    }
    void* object = slot->object;
    slot->object = NULL;
    slot->nextFree1 = pool->firstFree1;
    pool->firstFree1 = (int32_t)id.index1;
    pool->liveCount--;
    return object;
}

void* srIdPool_Next(const srIdPool* pool, int32_t* cursor, srRawId* outId) {
    while (*cursor < pool->slotCount) {
        int32_t index = *cursor;
        const srIdSlot* slot = &pool->slots[index];
        *cursor = index + 1;
        if (slot->object != NULL) {
            *outId = (srRawId){(uint32_t)index + 1, slot->generation};
            return slot->object;
        }
    }
    return NULL;
}

void srIdPool_Free(srIdPool* pool) {
    SR_ASSERT(pool->liveCount == 0);
    SR_FREE(pool->slots, pool->capacity);
    *pool = (srIdPool){.lastGeneration = pool->lastGeneration};
}
