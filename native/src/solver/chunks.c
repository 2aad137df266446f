// SPDX-License-Identifier: GPL-3.0-or-later
//
// Counting sort by lowest node, one greedy pass that cuts, and one that spreads.

#include "solver/chunks.h"

#include "core/alloc.h"

#include <string.h>

#define SMALLEST_CHUNK 256 // constraints: some microseconds of work, so that handing it out costs little
#define WINDOW 256 // constraints that are spread among themselves: few enough to stay in the nearest cache

static int32_t lowestNode(const int32_t* nodes, int32_t arity) {
    int32_t lowest = nodes[0];
    for (int32_t c = 1; c < arity; ++c) {
        lowest = nodes[c] < lowest ? nodes[c] : lowest;
    }
    return lowest;
}

static int32_t highestNode(const int32_t* nodes, int32_t arity) {
    int32_t highest = nodes[0];
    for (int32_t c = 1; c < arity; ++c) {
        highest = nodes[c] > highest ? nodes[c] : highest;
    }
    return highest;
}

static srResult sortByLowestNode(const int32_t* nodes, int32_t arity, int32_t nodeCount, srChunks* chunks) {
    int32_t* places = SR_ALLOC_ZERO(int32_t, nodeCount + 1);
    if (places == NULL) {
        return srFailOutOfMemory("the order of constraints");
    }
    for (int32_t j = 0; j < chunks->constraintCount; ++j) {
        places[lowestNode(nodes + (size_t)j * arity, arity) + 1] += 1;
    }
    for (int32_t i = 0; i < nodeCount; ++i) {
        places[i + 1] += places[i];
    }
    for (int32_t j = 0; j < chunks->constraintCount; ++j) {
        chunks->order[places[lowestNode(nodes + (size_t)j * arity, arity)]++] = j;
    }
    SR_FREE(places, nodeCount + 1);
    return sr_success;
}

// Run k + 1 ends where the next constraint's lowest node is above every node of run k. As lowest nodes
// ascend, run k + 2 then lies wholly above run k.
static void cutChunks(const int32_t* nodes, int32_t arity, srChunks* chunks) {
    int32_t previousHighest = SR_NULL_INDEX;
    int32_t highest = SR_NULL_INDEX;
    chunks->chunkCount = 0;
    chunks->starts[0] = 0;
    for (int32_t place = 0; place < chunks->constraintCount; ++place) {
        const int32_t* constraint = nodes + (size_t)chunks->order[place] * arity;
        int32_t start = chunks->starts[chunks->chunkCount];
        if (place - start >= SMALLEST_CHUNK && lowestNode(constraint, arity) > previousHighest) {
            chunks->starts[++chunks->chunkCount] = place;
            previousHighest = highest;
        }
        int32_t top = highestNode(constraint, arity);
        highest = top > highest ? top : highest;
    }
    if (chunks->constraintCount > 0) {
        chunks->starts[++chunks->chunkCount] = chunks->constraintCount;
    }
}

// Takes again and again all constraints of a window that share no node with one another. A processor works on
// several at once then, instead of waiting for the node that the last one is about to write.
static void spreadWindow(const int32_t* nodes, int32_t arity, int32_t* order, int32_t count, int32_t* marks,
                         int32_t* pass) {
    int32_t rest[WINDOW];
    for (int32_t done = 0; done < count;) {
        int32_t restCount = 0;
        ++*pass;
        for (int32_t place = done; place < count; ++place) {
            const int32_t* constraint = nodes + (size_t)order[place] * (size_t)arity;
            bool isFree = true;
            for (int32_t c = 0; c < arity; ++c) {
                isFree = isFree && marks[constraint[c]] != *pass;
            }
            if (!isFree) {
                rest[restCount++] = order[place];
                continue;
            }
            for (int32_t c = 0; c < arity; ++c) {
                marks[constraint[c]] = *pass;
            }
            order[done++] = order[place];
        }
        memcpy(order + done, rest, (size_t)restCount * sizeof(int32_t));
    }
}

static srResult spreadChunks(const int32_t* nodes, int32_t arity, int32_t nodeCount, srChunks* chunks) {
    int32_t* marks = SR_ALLOC_ZERO(int32_t, nodeCount);
    if (marks == NULL) {
        return srFailOutOfMemory("the order of constraints");
    }
    int32_t pass = 0;
    for (int32_t k = 0; k < chunks->chunkCount; ++k) {
        int32_t end = chunks->starts[k + 1];
        for (int32_t begin = chunks->starts[k]; begin < end; begin += WINDOW) {
            int32_t count = end - begin < WINDOW ? end - begin : WINDOW;
            spreadWindow(nodes, arity, chunks->order + begin, count, marks, &pass);
        }
    }
    SR_FREE(marks, nodeCount);
    return sr_success;
}

srResult srCreateChunks(const int32_t* nodes, int32_t arity, int32_t constraintCount, int32_t nodeCount,
                        srChunks* outChunks) {
    srChunks chunks = {.constraintCount = constraintCount};
    *outChunks = chunks;
    if (constraintCount == 0) {
        return sr_success;
    }
    chunks.order = SR_ALLOC(int32_t, constraintCount);
    chunks.starts = SR_ALLOC(int32_t, constraintCount + 1);
    if (chunks.order == NULL || chunks.starts == NULL) {
        srDestroyChunks(&chunks);
        return srFailOutOfMemory("the order of constraints");
    }
    srResult result = sortByLowestNode(nodes, arity, nodeCount, &chunks);
    if (result != sr_success) {
        srDestroyChunks(&chunks);
        return result;
    }
    cutChunks(nodes, arity, &chunks);
    result = spreadChunks(nodes, arity, nodeCount, &chunks);
    if (result != sr_success) {
        srDestroyChunks(&chunks);
        return result;
    }
    *outChunks = chunks;
    return sr_success;
}

static srResult failChunks(void) {
    return srFail(sr_errorInvalidValue, "The order of the constraints is damaged.");
}

// that starts ascend over all places, and the order names each constraint once
static srResult checkOrder(const srChunks* chunks, uint8_t* isSeen) {
    int32_t count = chunks->constraintCount;
    if (chunks->chunkCount < 0 || chunks->chunkCount > count || chunks->starts[0] != 0 ||
        chunks->starts[chunks->chunkCount] != count) {
        return failChunks();
    }
    for (int32_t k = 0; k < chunks->chunkCount; ++k) {
        if (chunks->starts[k + 1] < chunks->starts[k]) {
            return failChunks();
        }
    }
    for (int32_t place = 0; place < count; ++place) {
        int32_t constraint = chunks->order[place];
        if (constraint < 0 || constraint >= count || isSeen[constraint]) {
            return failChunks();
        }
        isSeen[constraint] = 1;
    }
    return sr_success;
}

// that no node is of two even runs, or of two odd ones; `owners` holds two runs a node, from 1 on
static srResult checkRuns(const int32_t* nodes, int32_t arity, const srChunks* chunks, int32_t (*owners)[2]) {
    for (int32_t k = 0; k < chunks->chunkCount; ++k) {
        for (int32_t place = chunks->starts[k]; place < chunks->starts[k + 1]; ++place) {
            const int32_t* constraint = nodes + (size_t)chunks->order[place] * (size_t)arity;
            for (int32_t c = 0; c < arity; ++c) {
                int32_t* owner = &owners[constraint[c]][k % 2];
                if (*owner != 0 && *owner != k + 1) {
                    return failChunks();
                }
                *owner = k + 1;
            }
        }
    }
    return sr_success;
}

srResult srCopyChunks(const int32_t* nodes, int32_t arity, int32_t nodeCount, const srChunks* chunks,
                      srChunks* outChunks) {
    size_t count = (size_t)chunks->constraintCount;
    srResult result = sr_success;
    srChunks copy = {.constraintCount = chunks->constraintCount, .chunkCount = chunks->chunkCount};
    *outChunks = (srChunks){.constraintCount = chunks->constraintCount};
    uint8_t* isSeen = SR_ALLOC_ZERO(uint8_t, count);
    int32_t (*owners)[2] = srAllocZero((size_t)nodeCount, sizeof(*owners));
    copy.order = SR_ALLOC(int32_t, count);
    copy.starts = SR_ALLOC(int32_t, count + 1);
    if (isSeen == NULL || owners == NULL || copy.order == NULL || copy.starts == NULL) {
        result = srFailOutOfMemory("the order of constraints");
        goto cleanup;
    }
    SR_TRY_CLEANUP(checkOrder(chunks, isSeen));
    SR_TRY_CLEANUP(checkRuns(nodes, arity, chunks, owners));
    memcpy(copy.order, chunks->order, count * sizeof(int32_t));
    memcpy(copy.starts, chunks->starts, ((size_t)chunks->chunkCount + 1) * sizeof(int32_t));
    *outChunks = copy;

cleanup:
    SR_FREE(isSeen, count);
    SR_FREE(owners, nodeCount);
    if (result != sr_success) {
        srDestroyChunks(&copy);
    }
    return result;
}

void srDestroyChunks(srChunks* chunks) {
    SR_FREE(chunks->order, chunks->constraintCount);
    SR_FREE(chunks->starts, chunks->constraintCount + 1);
    *chunks = (srChunks){0};
}

// the first chunk whose middle lies behind `place`
static int32_t findChunk(const int32_t* starts, int32_t chunkCount, int64_t place) {
    int32_t low = 0;
    int32_t high = chunkCount;
    while (low < high) {
        int32_t k = low + (high - low) / 2;
        if ((int64_t)starts[k] + starts[k + 1] < 2 * place) {
            low = k + 1;
        } else {
            high = k;
        }
    }
    return low;
}

void srForChunks(srRangeFcn* body, const int32_t* starts, int32_t chunkCount, int32_t parity, void* context) {
    if (chunkCount == 0) {
        return;
    }
    int32_t cuts[SR_MOST_WORKERS + 1] = {0};
    int32_t workerCount = srParallel_GetWorkerCount();
    int32_t blockCount = (chunkCount - parity + 1) / 2;
    for (int32_t worker = 1; worker < workerCount; ++worker) {
        int64_t place = (int64_t)starts[chunkCount] * worker / workerCount;
        cuts[worker] = (findChunk(starts, chunkCount, place) - parity + 1) / 2;
    }
    cuts[workerCount] = blockCount;
    srParallelForCut(body, blockCount, 1, cuts, context);
}
