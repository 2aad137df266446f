// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the core costs: handing a loop to two workers (loops.h); scratch memory from the arena and blocks from
// srAlloc, against malloc. Each figure is the median of many rounds, baseline and candidate in turns, so that
// a busy machine is busy for both.

#include "loops.h"
#include "measure.h"

#include "core/alloc.h"
#include "core/arena.h"
#include "core/thread.h"

#define ROUNDS 101

#define BLOCKS 8
#define MEMORY_ROUNDS 2000

static const size_t blockSizes[BLOCKS] = {96, 65536, 480, 200000, 24, 8192, 1200, 30000};

// the blocks' addresses go through here, so that the compiler cannot leave out a pair of malloc and free
static void* volatile seen;

static double timeMalloc(void) {
    double start = srGetSeconds();
    for (int32_t i = 0; i < MEMORY_ROUNDS; i++) {
        void* blocks[BLOCKS];
        for (int32_t b = 0; b < BLOCKS; b++) {
            seen = blocks[b] = malloc(blockSizes[b]);
        }
        for (int32_t b = BLOCKS - 1; b >= 0; b--) {
            free(blocks[b]);
        }
    }
    return 1e9 * (srGetSeconds() - start) / (MEMORY_ROUNDS * BLOCKS);
}

static double timeAlloc(void) {
    double start = srGetSeconds();
    for (int32_t i = 0; i < MEMORY_ROUNDS; i++) {
        void* blocks[BLOCKS];
        for (int32_t b = 0; b < BLOCKS; b++) {
            seen = blocks[b] = srAlloc(blockSizes[b], 1);
        }
        for (int32_t b = BLOCKS - 1; b >= 0; b--) {
            srFree(blocks[b], blockSizes[b], 1);
        }
    }
    return 1e9 * (srGetSeconds() - start) / (MEMORY_ROUNDS * BLOCKS);
}

static double timeArena(srArena* arena) {
    double start = srGetSeconds();
    for (int32_t i = 0; i < MEMORY_ROUNDS; i++) {
        srArenaMark mark = srArena_GetMark(arena);
        for (int32_t b = 0; b < BLOCKS; b++) {
            seen = srArena_Push(arena, blockSizes[b], 1, "bench");
        }
        srArena_Release(arena, mark);
    }
    return 1e9 * (srGetSeconds() - start) / (MEMORY_ROUNDS * BLOCKS);
}

static void benchMemory(srBenchReport* report) {
    srArena* arena = srCreateArena(1 << 20);
    if (arena == NULL) {
        return;
    }
    double viaMalloc[ROUNDS];
    double viaAlloc[ROUNDS];
    double viaArena[ROUNDS];
    for (int32_t round = 0; round < ROUNDS; round++) {
        viaMalloc[round] = timeMalloc();
        viaAlloc[round] = timeAlloc();
        viaArena[round] = timeArena(arena);
    }
    double baseline = srBenchMedian(viaMalloc, ROUNDS);
    double pushed = srBenchMedian(viaArena, ROUNDS);
    const char* caseName = "take and give back a block, 8 sizes";
    srBench_Add(report, caseName, "malloc, free (baseline)", baseline, "ns", NULL);
    srBench_Add(report, caseName, "srAlloc, srFree", srBenchMedian(viaAlloc, ROUNDS), "ns", NULL);
    srBench_Add(report, caseName, "srArena_Push, srArena_Release", pushed, "ns", NULL);
    srBench_Add(report, caseName, "baseline / arena", baseline / pushed, "", ">= 1");
    srDestroyArena(arena);
}

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "core");
    if (report != NULL) {
        srBenchLoops(report);
        benchMemory(report);
    }
    return srBench_Close(report);
}
