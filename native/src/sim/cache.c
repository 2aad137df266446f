// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows and checkpoints, in one block each.

#include "sim/cache.h"

#include "core/alloc.h"

static size_t rowBytes(const srFrameCache* cache) {
    return (size_t)cache->nodeCount * sizeof(srVec3f);
}

static size_t countCheckpoints(const srFrameCache* cache) {
    return (size_t)((cache->frameCount - 1) / SR_ROWS_PER_CHECKPOINT) + 1;
}

srResult srCreateFrameCache(int32_t frameCount, int32_t nodeCount, srFrameCache* outCache) {
    *outCache = (srFrameCache){.frameCount = frameCount, .nodeCount = nodeCount};
    outCache->offsets = srAlloc((size_t)frameCount, rowBytes(outCache));
    outCache->hashes = SR_ALLOC(uint64_t, frameCount);
    outCache->stats = SR_ALLOC_ZERO(srFrameStats, frameCount);
    if (outCache->offsets == NULL || outCache->hashes == NULL || outCache->stats == NULL) {
        srDestroyFrameCache(outCache);
        return srFailOutOfMemory("the simulated frames");
    }
    return sr_success;
}

static void freeStates(srFrameCache* cache) {
    if (cache->states != NULL) {
        srFree(cache->states, countCheckpoints(cache), cache->stateSize);
    }
    cache->states = NULL;
    cache->stateSize = 0;
}

void srDestroyFrameCache(srFrameCache* cache) {
    freeStates(cache);
    srFree(cache->offsets, (size_t)cache->frameCount, rowBytes(cache));
    SR_FREE(cache->hashes, cache->frameCount);
    SR_FREE(cache->stats, cache->frameCount);
    *cache = (srFrameCache){0};
}

srResult srFrameCache_SetStateSize(srFrameCache* cache, size_t stateSize) {
    SR_ASSERT(stateSize > 0);
    freeStates(cache);
    cache->states = srAllocZero(countCheckpoints(cache), stateSize);
    if (cache->states == NULL) {
        return srFailOutOfMemory("the simulated frames");
    }
    cache->stateSize = stateSize;
    return sr_success;
}

srVec3f* srFrameCache_GetOffsets(const srFrameCache* cache, int32_t row) {
    return cache->offsets + (size_t)row * (size_t)cache->nodeCount;
}

int32_t srFindCheckpoint(int32_t row) {
    return row - row % SR_ROWS_PER_CHECKPOINT;
}

void* srFrameCache_GetState(const srFrameCache* cache, int32_t row) {
    SR_ASSERT(row % SR_ROWS_PER_CHECKPOINT == 0);
    return (char*)cache->states + (size_t)(row / SR_ROWS_PER_CHECKPOINT) * cache->stateSize;
}
