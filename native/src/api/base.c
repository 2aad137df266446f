// SPDX-License-Identifier: GPL-3.0-or-later
//
// Version, handshake, hooks, workers, shutdown. Error texts and names of results live in core/error.c.

#include "softrig/softrig.h"

#include "api/check.h"
#include "api/registry.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"

#include <string.h>

typedef struct StructSize {
    const char* name;
    size_t size;
} StructSize;

#define STRUCT(type) {#type, sizeof(type)}

// every public struct, in the order of the headers base, id, character, shot, follower, bake, weights
static const StructSize STRUCT_SIZES[] = {
    STRUCT(srVersion),       STRUCT(srAbiInfo),       STRUCT(srAllocator),    STRUCT(srCharacterId),
    STRUCT(srShotId),        STRUCT(srFollowerId),    STRUCT(srBakeId),       STRUCT(srWeightsId),
    STRUCT(srJobStatus),     STRUCT(srCharacterMaps), STRUCT(srCharacterDef), STRUCT(srCharacterReport),
    STRUCT(srShotParams),    STRUCT(srShotDef),       STRUCT(srShotStatus),   STRUCT(srFrameControls),
    STRUCT(srFrameStats),    STRUCT(srFollowerDef),   STRUCT(srBakeDef),      STRUCT(srWeightsDef),
    STRUCT(srWeightsReport),
};

#define STRUCT_COUNT ((int32_t)(sizeof(STRUCT_SIZES) / sizeof(STRUCT_SIZES[0])))

srVersion srGetVersion(void) {
    return (srVersion){SR_VERSION_MAJOR, SR_VERSION_MINOR, SR_VERSION_PATCH};
}

srAbiInfo srGetAbiInfo(void) {
    uint64_t hash = SR_HASH_SEED;
    for (int32_t i = 0; i < STRUCT_COUNT; ++i) {
        uint64_t size = STRUCT_SIZES[i].size;
        hash = srHashBytes(hash, STRUCT_SIZES[i].name, strlen(STRUCT_SIZES[i].name));
        hash = srHashBytes(hash, &size, sizeof(size));
    }
    return (srAbiInfo){SR_ABI_VERSION, STRUCT_COUNT, hash, srGetVersion()};
}

size_t srGetStructSize(const char* structName) {
    for (int32_t i = 0; structName != NULL && i < STRUCT_COUNT; ++i) {
        if (strcmp(structName, STRUCT_SIZES[i].name) == 0) {
            return STRUCT_SIZES[i].size;
        }
    }
    return 0;
}

srResult srSetAllocator(const srAllocator* allocator) {
    if (allocator != NULL) {
        SR_CHECK_STRUCT(allocator, "Set it to sizeof(srAllocator).");
        SR_CHECK_NOT_NULL(allocator->alloc);
        SR_CHECK_NOT_NULL(allocator->free);
    }
    if (!srRegistry_Settle()) {
        return srFail(sr_errorNotReady, "The allocator cannot be replaced while anything is alive.");
    }
    srParallel_Stop();
    return srSetAllocHooks(allocator);
}

size_t srGetByteCount(void) {
    srRegistry_Settle();
    return srAlloc_GetByteCount();
}

srResult srSetWorkerCount(int32_t workerCount) {
    SR_TRY(srCheckRange("workerCount", workerCount, 1, 64));
    if (!srRegistry_Settle()) {
        return srFail(sr_errorNotReady, "The number of workers cannot change while anything is alive.");
    }
    srParallel_SetWorkerCount(workerCount);
    return sr_success;
}

int32_t srGetWorkerCount(void) {
    return srParallel_GetWorkerCount();
}

int32_t srShutdown(void) {
    return srRegistry_Clear();
}
