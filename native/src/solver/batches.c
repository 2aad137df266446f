// SPDX-License-Identifier: GPL-3.0-or-later
//
// Greedy packing: each batch takes, from the constraints of its chunk that are left, the first that share no
// node with those it has.

#include "solver/batches.h"

#include "core/alloc.h"

#include <string.h>

// How far ahead a batch looks for a constraint that fits. Far enough to fill all but the last few batches of
// a chunk, near enough to find its nodes in the cache.
#define LOOKAHEAD 1024

typedef struct Packing {
    const int32_t* nodes;
    int32_t arity;
    int32_t* marks; // the last batch that took a node, plus one
    int32_t* next;  // the constraints of the chunk that are left, as a list of places; the head at [count]
    int32_t (*members)[SR_BATCH_LANES];
    int32_t batchCount;
} Packing;

static bool takeIfFree(Packing* packing, int32_t constraint) {
    const int32_t* nodes = packing->nodes + (size_t)constraint * (size_t)packing->arity;
    int32_t mark = packing->batchCount + 1;
    for (int32_t c = 0; c < packing->arity; ++c) {
        if (packing->marks[nodes[c]] == mark) {
            return false;
        }
    }
    for (int32_t c = 0; c < packing->arity; ++c) {
        packing->marks[nodes[c]] = mark;
    }
    return true;
}

static void packChunk(Packing* packing, const int32_t* order, int32_t count) {
    int32_t* next = packing->next;
    for (int32_t place = 0; place < count; ++place) {
        next[place] = place + 1;
    }
    next[count] = 0;
    while (next[count] < count) {
        int32_t* members = packing->members[packing->batchCount];
        int32_t lane = 0;
        int32_t before = count;
        for (int32_t seen = 0; lane < SR_BATCH_LANES && next[before] < count && seen < LOOKAHEAD; ++seen) {
            int32_t place = next[before];
            if (takeIfFree(packing, order[place])) {
                members[lane++] = order[place];
                next[before] = next[place];
            } else {
                before = place;
            }
        }
        for (; lane < SR_BATCH_LANES; ++lane) {
            members[lane] = SR_NULL_INDEX;
        }
        ++packing->batchCount;
    }
}

static srResult packChunks(const int32_t* nodes, int32_t arity, int32_t nodeCount, const srChunks* chunks,
                           srBatches* batches) {
    Packing packing = {.nodes = nodes, .arity = arity};
    int32_t count = chunks->constraintCount;
    packing.marks = SR_ALLOC_ZERO(int32_t, nodeCount);
    packing.next = SR_ALLOC(int32_t, (size_t)count + 1);
    packing.members = srAlloc((size_t)count, sizeof(*packing.members));
    batches->starts = SR_ALLOC_ZERO(int32_t, (size_t)chunks->chunkCount + 1);
    bool isComplete =
        packing.marks != NULL && packing.next != NULL && packing.members != NULL && batches->starts != NULL;
    for (int32_t k = 0; isComplete && k < chunks->chunkCount; ++k) {
        int32_t begin = chunks->starts[k];
        packChunk(&packing, chunks->order + begin, chunks->starts[k + 1] - begin);
        batches->starts[k + 1] = packing.batchCount;
    }
    if (isComplete) {
        batches->members = srAlloc((size_t)packing.batchCount, sizeof(*batches->members));
        isComplete = batches->members != NULL;
    }
    if (isComplete) {
        batches->batchCount = packing.batchCount;
        memcpy(batches->members, packing.members, (size_t)packing.batchCount * sizeof(*batches->members));
    }
    SR_FREE(packing.marks, nodeCount);
    SR_FREE(packing.next, (size_t)count + 1);
    SR_FREE(packing.members, count);
    return isComplete ? sr_success : srFailOutOfMemory("the order of constraints");
}

srResult srCreateBatches(const int32_t* nodes, int32_t arity, int32_t constraintCount, int32_t nodeCount,
                         srBatches* outBatches) {
    *outBatches = (srBatches){0};
    if (constraintCount == 0) {
        return sr_success;
    }
    srChunks chunks;
    SR_TRY(srCreateChunks(nodes, arity, constraintCount, nodeCount, &chunks));
    srBatches batches = {.chunkCount = chunks.chunkCount, .constraintCount = constraintCount};
    srResult result = packChunks(nodes, arity, nodeCount, &chunks, &batches);
    srDestroyChunks(&chunks);
    if (result != sr_success) {
        srDestroyBatches(&batches);
        return result;
    }
    *outBatches = batches;
    return sr_success;
}

void srDestroyBatches(srBatches* batches) {
    if (batches->members != NULL) {
        SR_FREE(batches->members, batches->batchCount);
    }
    if (batches->starts != NULL) {
        SR_FREE(batches->starts, (size_t)batches->chunkCount + 1);
    }
    *batches = (srBatches){0};
}
