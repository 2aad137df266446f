// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two arrays of rows.

#include "sim/cache.h"

#include "core/alloc.h"
#include "core/hash.h"

#include <string.h>

static size_t rowBytes(const srFrameCache* cache) {
    return (size_t)cache->nodeCount * sizeof(srVec3f);
}

srResult srCreateFrameCache(int32_t frameCount, int32_t nodeCount, srFrameCache* outCache) {
    srFrameCache cache = {.frameCount = frameCount, .nodeCount = nodeCount};
    cache.offsets = srAlloc((size_t)frameCount, rowBytes(&cache));
    cache.velocities = srAlloc((size_t)frameCount, rowBytes(&cache));
    *outCache = cache;
    if (cache.offsets == NULL || cache.velocities == NULL) {
        srDestroyFrameCache(outCache);
        return srFailOutOfMemory("the simulated frames");
    }
    return sr_success;
}

void srDestroyFrameCache(srFrameCache* cache) {
    srFree(cache->offsets, (size_t)cache->frameCount, rowBytes(cache));
    srFree(cache->velocities, (size_t)cache->frameCount, rowBytes(cache));
    *cache = (srFrameCache){0};
}

srVec3f* srFrameCache_GetOffsets(const srFrameCache* cache, int32_t row) {
    return cache->offsets + (size_t)row * (size_t)cache->nodeCount;
}

srVec3f* srFrameCache_GetVelocities(const srFrameCache* cache, int32_t row) {
    return cache->velocities + (size_t)row * (size_t)cache->nodeCount;
}

void srFrameCache_Copy(srFrameCache* cache, int32_t fromRow, int32_t toRow) {
    memcpy(srFrameCache_GetOffsets(cache, toRow), srFrameCache_GetOffsets(cache, fromRow), rowBytes(cache));
    memcpy(srFrameCache_GetVelocities(cache, toRow), srFrameCache_GetVelocities(cache, fromRow),
           rowBytes(cache));
}

void srFrameCache_Begin(srFrameCache* cache, int32_t row) {
    if (row > 0) {
        srFrameCache_Copy(cache, row - 1, row);
        return;
    }
    memset(srFrameCache_GetOffsets(cache, 0), 0, rowBytes(cache));
    memset(srFrameCache_GetVelocities(cache, 0), 0, rowBytes(cache));
}

uint64_t srFrameCache_Hash(const srFrameCache* cache, int32_t row) {
    uint64_t hash = srHashBytes(SR_HASH_SEED, srFrameCache_GetOffsets(cache, row), rowBytes(cache));
    return srHashBytes(hash, srFrameCache_GetVelocities(cache, row), rowBytes(cache));
}
