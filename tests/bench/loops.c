// SPDX-License-Identifier: GPL-3.0-or-later

#include "loops.h"

#include "measure.h"

#include "core/parallel.h"
#include "core/thread.h"

#include <stdatomic.h>

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
    double before = srBenchMedian(baseline, ROUNDS);
    double after = srBenchMedian(candidate, ROUNDS);
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
    srBench_Add(report, "empty loop, pool asleep", "srParallelFor", srBenchMedian(waits, ROUNDS), "us", NULL);
}

static void benchShare(srBenchReport* report) {
    uint64_t blockCounts[2] = {0};
    srParallel_GetBlockCounts(blockCounts, 2);
    double sum = (double)blockCounts[0] + (double)blockCounts[1];
    srBench_Add(report, "two blocks of 10 us, 2 workers", "share of the blocks that the second worker did",
                100.0 * (double)blockCounts[1] / sum, "%", NULL);
}

void srBenchLoops(srBenchReport* report) {
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
