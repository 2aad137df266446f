// SPDX-License-Identifier: GPL-3.0-or-later
//
// The pools of ids: with the allocator's hooks, the pool of workers and the jobs that nobody waits for, all
// that is static and mutable in the library.

#include "api/registry.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "sim/bake.h"
#include "sim/following.h"
#include "sim/preparation.h"
#include "sim/simulation.h"
#include "weights/biharmonic_job.h"

struct srEntry {
    void* object;
    srEntry* parent;
    srKind kind;
    int32_t referenceCount; // guarded by the process lock
    bool hasId;             // likewise
};

static srIdPool pools[sr_kindCount];
static int32_t entryCount; // also those that have lost their id and are still in use

static const char* const KIND_NAMES[sr_kindCount] = {"bake", "follower", "shot", "character",
                                                     "computation of weights"};

static void destroyObject(srKind kind, void* object) {
    if (kind == sr_kindBake) {
        srDestroyBakeWork(object);
    } else if (kind == sr_kindFollower) {
        srDestroyFollowing(object);
    } else if (kind == sr_kindShot) {
        srDestroySimulation(object);
    } else if (kind == sr_kindWeights) {
        srDestroyWeighing(object);
    } else {
        srDestroyPreparation(object);
    }
}

// asks the object's work to end; does not wait for it
static void cancelObject(const srEntry* entry) {
    if (entry->kind == sr_kindBake) {
        srJob_Cancel(srBake_GetJob(entry->object));
    } else if (entry->kind == sr_kindShot) {
        srSimulation_Halt(entry->object);
    } else if (entry->kind == sr_kindFollower) {
        return; // no work of its own
    } else if (entry->kind == sr_kindWeights) {
        srJob_Cancel(srWeighing_GetJob(entry->object));
    } else {
        srJob_Cancel(srPreparation_GetJob(entry->object));
    }
}

// With the last entry goes everything that the library holds: the pools' slots and the workers. Work that was
// cancelled and has not ended yet may use the workers; then they stay until somebody waits for it.
static void freeWhenEmpty(bool waits) {
    bool areJobsJoined = srJoinAbandonedJobs(waits);
    srLockProcess();
    bool isEmpty = entryCount == 0 && areJobsJoined;
    for (int kind = 0; isEmpty && kind < sr_kindCount; ++kind) {
        srIdPool_Free(&pools[kind]);
    }
    srUnlockProcess();
    if (isEmpty) {
        srParallel_Stop();
    }
}

// At the end of the process, or where the system unloads the library: no thread of a job that nobody waits
// for is in it any more. Not `atexit`: a host that brings its own (thread sanitizer does) may call us only at
// the end of the process, when our code is long gone.
__attribute__((destructor)) static void leaveInOrder(void) {
    freeWhenEmpty(true);
}

static srResult failStale(srKind kind) {
    return srFail(sr_errorStaleId, "This %s does not exist (any more).", KIND_NAMES[kind]);
}

static srResult addEntry(srEntry* entry, srRawId* outId) {
    srEntry* parent = entry->parent;
    if (parent != NULL && !parent->hasId) {
        return failStale(parent->kind);
    }
    SR_TRY(srIdPool_Add(&pools[entry->kind], entry, outId));
    ++entryCount;
    if (parent != NULL) {
        ++parent->referenceCount;
    }
    return sr_success;
}

srResult srRegister(srKind kind, void* object, srEntry* parent, srRawId* outId) {
    srResult result = sr_success;
    srEntry* entry = SR_ALLOC(srEntry, 1);
    if (entry == NULL) {
        result = srFailOutOfMemory("an id");
    } else {
        *entry = (srEntry){object, parent, kind, 1, true};
        srLockProcess();
        result = addEntry(entry, outId);
        srUnlockProcess();
    }
    if (result != sr_success) {
        SR_FREE(entry, 1);
        destroyObject(kind, object);
        freeWhenEmpty(false);
    }
    return result;
}

srResult srAcquire(srKind kind, srRawId id, srEntry** outEntry) {
    srLockProcess();
    srEntry* entry = srIdPool_Find(&pools[kind], id);
    if (entry != NULL) {
        ++entry->referenceCount;
    }
    srUnlockProcess();
    if (entry == NULL) {
        return failStale(kind);
    }
    *outEntry = entry;
    return sr_success;
}

void srRelease(srEntry* entry) {
    bool isLast = false;
    while (entry != NULL) {
        srLockProcess();
        isLast = --entry->referenceCount == 0;
        srUnlockProcess();
        if (!isLast) {
            return;
        }

        // the object may have to wait for a thread of its own: not under the lock
        srEntry* parent = entry->parent;
        destroyObject(entry->kind, entry->object);
        SR_FREE(entry, 1);
        srLockProcess();
        --entryCount;
        srUnlockProcess();
        entry = parent;
    }
    if (isLast) {
        freeWhenEmpty(false);
    }
}

void* srEntry_GetObject(const srEntry* entry) {
    return entry->object;
}

// directly, or on what stands on it
static bool standsOn(const srEntry* entry, const srEntry* other) {
    while (entry != NULL && entry != other) {
        entry = entry->parent;
    }
    return entry == other;
}

// Under the process lock: the entry of an id that is an id no longer. Bakes are cancelled first, so that none
// waits for a shot that has stopped.
static srEntry* takeId(srKind kind, srRawId id) {
    srEntry* entry = srIdPool_Remove(&pools[kind], id);
    if (entry == NULL) {
        return NULL;
    }
    entry->hasId = false;
    int32_t cursor = 0;
    srRawId bakeId;
    for (srEntry* bake = srIdPool_Next(&pools[sr_kindBake], &cursor, &bakeId); bake != NULL;
         bake = srIdPool_Next(&pools[sr_kindBake], &cursor, &bakeId)) {
        if (standsOn(bake, entry)) {
            cancelObject(bake);
        }
    }
    cancelObject(entry);
    return entry;
}

srResult srUnregister(srKind kind, srRawId id) {
    srLockProcess();
    srEntry* entry = takeId(kind, id);
    srUnlockProcess();
    if (entry == NULL) {
        return failStale(kind);
    }
    srRelease(entry);
    return sr_success;
}

bool srRegistry_Settle(void) {
    freeWhenEmpty(true);
    srLockProcess();
    bool isEmpty = entryCount == 0;
    srUnlockProcess();
    return isEmpty;
}

int32_t srRegistry_Clear(void) {
    int32_t count = 0;
    for (int kind = 0; kind < sr_kindCount;) {
        srRawId id;
        int32_t cursor = 0;
        srLockProcess();
        srEntry* entry = srIdPool_Next(&pools[kind], &cursor, &id);
        if (entry != NULL) {
            takeId(kind, id);
        }
        srUnlockProcess();
        if (entry == NULL) {
            ++kind;
            continue;
        }
        srRelease(entry);
        ++count;
    }
    freeWhenEmpty(true);
    return count;
}
