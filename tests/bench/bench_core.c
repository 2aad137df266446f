// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the core costs: handing a loop to two workers, against handing it over with a mutex and a condition
// variable; scratch memory from the arena and blocks from srAlloc, against malloc. Each figure is the median
// of many rounds, baseline and candidate in turns, so that a busy machine is busy for both.

#include "report.h"

#include "core/alloc.h"
#include "core/arena.h"
#include "core/parallel.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ROUNDS 101
#define CALLS_PER_ROUND 200
#define WORK_SECONDS 10e-6
#define PATIENCE_SECONDS 200e-6

// one of two ways to run the two halves of a loop
typedef void srHalvesFcn(srRangeFcn* body, void* context);

static void idle(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)begin;
    (void)end;
    (void)worker;
    (void)context;
}

static void work(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    (void)context;
    double last = srGetSeconds() + WORK_SECONDS * (end - begin);
    while (srGetSeconds() < last) {
    }
}

// Both blocks must have begun before either ends, so the loop really goes to two threads; unless the second
// does not come in time, because somebody else has its core
static void meet(int32_t begin, int32_t end, int32_t worker, void* context) {
    static atomic_llong arrivedCount;
    (void)begin;
    (void)end;
    (void)worker;
    (void)context;
    long long number = atomic_fetch_add(&arrivedCount, 1);
    double last = srGetSeconds() + PATIENCE_SECONDS;
    while (atomic_load(&arrivedCount) < (number | 1) + 1 && srGetSeconds() < last) {
        srPause();
    }
}

static void viaParallelFor(srRangeFcn* body, void* context) {
    srParallelFor(body, 2, 1, context);
}

// The baseline: a thread that waits for work on a condition variable, as most would write it at first
typedef struct srHandOff {
    srThread* thread;
    srMutex* mutex;
    srCondition* changed;
    srRangeFcn* body; // null when there is nothing to do
    void* context;
    bool isStopped;
} srHandOff;

static srHandOff handOff;

static void serveHandOff(void* context) {
    srHandOff* h = context;
    srLock(h->mutex);
    while (!h->isStopped) {
        if (h->body == NULL) {
            srWait(h->changed, h->mutex, -1.0);
            continue;
        }
        srRangeFcn* body = h->body;
        srUnlock(h->mutex);
        body(1, 2, 1, h->context);
        srLock(h->mutex);
        h->body = NULL;
        srWakeAll(h->changed);
    }
    srUnlock(h->mutex);
}

static void viaHandOff(srRangeFcn* body, void* context) {
    srLock(handOff.mutex);
    handOff.body = body;
    handOff.context = context;
    srWakeAll(handOff.changed);
    srUnlock(handOff.mutex);
    body(0, 1, 0, context);
    srLock(handOff.mutex);
    while (handOff.body != NULL) {
        srWait(handOff.changed, handOff.mutex, -1.0);
    }
    srUnlock(handOff.mutex);
}

static bool startHandOff(void) {
    handOff = (srHandOff){.mutex = srCreateMutex(), .changed = srCreateCondition()};
    return handOff.mutex != NULL && handOff.changed != NULL &&
           srStartThread(serveHandOff, &handOff, &handOff.thread) == sr_success;
}

static void stopHandOff(void) {
    if (handOff.thread != NULL) {
        srLock(handOff.mutex);
        handOff.isStopped = true;
        srWakeAll(handOff.changed);
        srUnlock(handOff.mutex);
        srJoinThread(handOff.thread);
    }
    srDestroyCondition(handOff.changed);
    srDestroyMutex(handOff.mutex);
}

static int compareDoubles(const void* a, const void* b) {
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS]) {
    qsort(values, ROUNDS, sizeof(double), compareDoubles);
    return values[ROUNDS / 2];
}

static double timeCalls(srHalvesFcn* run, srRangeFcn* body) {
    double start = srGetSeconds();
    for (int32_t i = 0; i < CALLS_PER_ROUND; i++) {
        run(body, NULL);
    }
    return (srGetSeconds() - start) / CALLS_PER_ROUND;
}

static void benchLoop(srBenchReport* report, const char* caseName, srRangeFcn* body, double idealSeconds,
                      const char* goal) {
    double baseline[ROUNDS];
    double candidate[ROUNDS];
    for (int32_t round = 0; round < ROUNDS; round++) {
        baseline[round] = 1e6 * (timeCalls(viaHandOff, body) - idealSeconds);
        candidate[round] = 1e6 * (timeCalls(viaParallelFor, body) - idealSeconds);
    }
    double before = median(baseline);
    double after = median(candidate);
    srBench_Add(report, caseName, "hand-off by mutex and condition (baseline)", before, "us", NULL);
    srBench_Add(report, caseName, "srParallelFor", after, "us", goal);
    srBench_Add(report, caseName, "baseline / srParallelFor", before / after, "", NULL);
}

// The first loop after a pause has to wake the pool
static void benchAsleep(srBenchReport* report) {
    double waits[ROUNDS];
    for (int32_t round = 0; round < ROUNDS; round++) {
        srMutex* mutex = handOff.mutex;
        srLock(mutex);
        srWait(handOff.changed, mutex, 1e-3);
        srUnlock(mutex);
        double start = srGetSeconds();
        viaParallelFor(idle, NULL);
        waits[round] = 1e6 * (srGetSeconds() - start);
    }
    srBench_Add(report, "empty loop, pool asleep", "srParallelFor", median(waits), "us", NULL);
}

static void benchShare(srBenchReport* report) {
    uint64_t blockCounts[2] = {0};
    srParallel_GetBlockCounts(blockCounts, 2);
    double sum = (double)blockCounts[0] + (double)blockCounts[1];
    srBench_Add(report, "two blocks of 10 us, 2 workers", "share of the blocks that the second worker did",
                100.0 * (double)blockCounts[1] / sum, "%", NULL);
}

static void benchParallel(srBenchReport* report) {
    srParallel_SetWorkerCount(2);
    if (startHandOff()) {
        benchLoop(report, "empty loop, 2 workers", idle, 0.0, "<= 3");
        benchLoop(report, "empty loop that both workers enter", meet, 0.0, "<= 3");
        srParallel_Stop();
        benchLoop(report, "two blocks of 10 us, 2 workers: cost above 10 us", work, WORK_SECONDS, NULL);
        benchShare(report);
        benchAsleep(report);
    }
    stopHandOff();
    srParallel_Stop();
}

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
    double baseline = median(viaMalloc);
    double pushed = median(viaArena);
    const char* caseName = "take and give back a block, 8 sizes";
    srBench_Add(report, caseName, "malloc, free (baseline)", baseline, "ns", NULL);
    srBench_Add(report, caseName, "srAlloc, srFree", median(viaAlloc), "ns", NULL);
    srBench_Add(report, caseName, "srArena_Push, srArena_Release", pushed, "ns", NULL);
    srBench_Add(report, caseName, "baseline / arena", baseline / pushed, "", ">= 1");
    srDestroyArena(arena);
}

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "core");
    if (report != NULL) {
        benchParallel(report);
        benchMemory(report);
    }
    return srBench_Close(report);
}
