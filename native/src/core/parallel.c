// SPDX-License-Identifier: GPL-3.0-or-later
//
// The pool and the loop. One word, the gate, says which call is going on, whether it is open to workers, and
// how many are inside:
//
//   bits 32-63  number of the call     bit 31  open     bit 30  stop     bits 0-29  workers inside
//
// A worker enters by adding one and looks at what it got back: only if the gate was open then may it touch
// the call. The caller closes the gate, waits until nobody is inside, and returns. So a worker that wakes
// late finds the gate closed and leaves; a call never waits for a worker that did not come, and never returns
// while one is at work for it.
//
// Each worker begins with blocks of its own, the same ones in every loop of the same shape, so that what it
// wrote in one loop is in its own cache in the next. Who is done helps the others from the far ends of
// theirs. Even workers go down and odd ones up, from the border that they share: where blocks cost unlike, as
// parts of a body do, they cost least at the outermost ends, and what costs least is best left for last.

#include "core/parallel.h"

#include "core/error.h"
#include "core/thread.h"

#include <stdatomic.h>

#define MAX_DEFAULT_WORKERS 4
#define CACHE_LINE 64

// how long an idle worker looks for the next loop before it sleeps: the loops of one step follow each other
// closer
#define SPIN_SECONDS 200e-6
#define PAUSES_BETWEEN_LOOKS 32

#define GATE_NEXT_CALL (UINT64_C(1) << 32)
#define GATE_OPEN (UINT64_C(1) << 31)
#define GATE_STOP (UINT64_C(1) << 30)
#define GATE_INSIDE (GATE_STOP - 1)

typedef struct srLoop {
    srRangeFcn* body;
    void* context;
    int32_t count;
    int32_t blockSize;
    int32_t blockCount;
} srLoop;

// blocks that are left to a worker, the first in the upper half and the end in the lower one; its owner and
// helpers take from both sides
typedef struct srWorkerSlot {
    _Alignas(CACHE_LINE) _Atomic uint64_t left;
    _Alignas(CACHE_LINE) _Atomic uint64_t blockCount;
} srWorkerSlot;

typedef struct srPool {
    _Alignas(CACHE_LINE) _Atomic uint64_t gate;
    srLoop loop; // workers inside the gate read it; in the gate's line, so that it comes along
    _Alignas(CACHE_LINE) atomic_bool isTaken; // whoever set it owns what follows, but the atomics
    srMutex* mutex;
    srCondition* wake;
    bool isStarted;
    int32_t threadCount;
    srThread* threads[SR_MOST_WORKERS];
    atomic_bool hasSleepers;
    _Atomic uint64_t loopCount;
    _Atomic int32_t workerCount; // zero: not chosen yet
    srWorkerSlot slots[SR_MOST_WORKERS];
} srPool;

static srPool pool;

#if defined(SR_ENABLE_ASSERT)
static _Thread_local bool isInsideBody;
#define ENTER_BODY() (isInsideBody = true)
#define LEAVE_BODY() (isInsideBody = false)
#else
#define ENTER_BODY() ((void)0)
#define LEAVE_BODY() ((void)0)
#endif

static void runBlock(const srLoop* loop, int32_t block, int32_t worker) {
    int32_t begin = block * loop->blockSize;
    int32_t end = loop->count - begin > loop->blockSize ? begin + loop->blockSize : loop->count;
    ENTER_BODY();
    loop->body(begin, end, worker, loop->context);
    LEAVE_BODY();
}

static void countBlocks(int32_t worker, uint64_t blockCount) {
    atomic_fetch_add_explicit(&pool.slots[worker].blockCount, blockCount, memory_order_relaxed);
}

static uint64_t packBlocks(int32_t first, int32_t end) {
    return (uint64_t)(uint32_t)first << 32 | (uint32_t)end;
}

// One block of those that are left to `owner`, or SR_NULL_INDEX
static int32_t takeBlock(int32_t owner, bool fromFront) {
    _Atomic uint64_t* left = &pool.slots[owner].left;
    uint64_t seen = atomic_load_explicit(left, memory_order_relaxed);
    for (;;) {
        int32_t first = (int32_t)(seen >> 32);
        int32_t end = (int32_t)(seen & UINT32_MAX);
        if (first >= end) {
            return SR_NULL_INDEX;
        }
        uint64_t rest = fromFront ? packBlocks(first + 1, end) : packBlocks(first, end - 1);
        if (atomic_compare_exchange_weak_explicit(left, &seen, rest, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return fromFront ? first : end - 1;
        }
    }
}

// a worker's own blocks, then its neighbour's, then all others'
static void takeBlocks(int32_t worker) {
    srLoop loop = pool.loop;
    int32_t workerCount = pool.threadCount + 1;
    uint64_t doneCount = 0;
    for (int32_t turn = 0; turn < SR_MOST_WORKERS; turn++) {
        int32_t owner = worker ^ turn;
        bool isUpward = owner % 2 == 1;
        int32_t block = SR_NULL_INDEX;
        while (owner < workerCount && (block = takeBlock(owner, (turn == 0) == isUpward)) != SR_NULL_INDEX) {
            runBlock(&loop, block, worker);
            doneCount++;
        }
    }
    countBlocks(worker, doneCount);
}

static uint32_t callOf(uint64_t gate) {
    return (uint32_t)(gate >> 32);
}

static bool isNews(uint64_t gate, uint32_t lastCall) {
    return (gate & GATE_STOP) != 0 || ((gate & GATE_OPEN) != 0 && callOf(gate) != lastCall);
}

static bool spinForNews(uint32_t lastCall) {
    double end = srGetSeconds() + SPIN_SECONDS;
    do {
        for (int32_t i = 0; i < PAUSES_BETWEEN_LOOKS; i++) {
            if (isNews(atomic_load_explicit(&pool.gate, memory_order_relaxed), lastCall)) {
                return true;
            }
            srPause();
        }
        // The caller may wait for this very core. A worker that is ready to run, but does not, is what a
        // system moves to an idle core; one that slept would be woken where it was.
        srYield();
    } while (srGetSeconds() < end);
    return false;
}

// The sleeper raises its flag and then looks at the gate; the caller changes the gate and then looks at the
// flag. In one total order of the four (memory_order_seq_cst) at least one of them sees the other.
static void sleepForNews(uint32_t lastCall) {
    srLock(pool.mutex);
    for (;;) {
        atomic_store(&pool.hasSleepers, true);
        if (isNews(atomic_load(&pool.gate), lastCall)) {
            break;
        }
        srWait(pool.wake, pool.mutex, -1.0);
    }
    srUnlock(pool.mutex);
}

static void wakeSleepers(void) {
    if (atomic_load(&pool.hasSleepers)) {
        srLock(pool.mutex);
        atomic_store(&pool.hasSleepers, false);
        srWakeAll(pool.wake);
        srUnlock(pool.mutex);
    }
}

static void workerMain(void* context) {
    int32_t worker = (int32_t)((srWorkerSlot*)context - pool.slots);
    uint32_t lastCall = 0;
    for (;;) {
        if (!spinForNews(lastCall)) {
            sleepForNews(lastCall);
        }

        uint64_t gate = atomic_fetch_add_explicit(&pool.gate, 1, memory_order_acquire);
        if ((gate & GATE_OPEN) != 0) {
            takeBlocks(worker);
        }
        lastCall = callOf(gate);
        atomic_fetch_sub_explicit(&pool.gate, 1, memory_order_release);
        if ((gate & GATE_STOP) != 0) {
            return;
        }
    }
}

// Starts as many workers as the system gives; none is an answer too
static void startPool(void) {
    pool.isStarted = true;
    pool.mutex = srCreateMutex();
    pool.wake = srCreateCondition();
    if (pool.mutex == NULL || pool.wake == NULL) {
        return;
    }
    int32_t wanted = srParallel_GetWorkerCount() - 1;
    for (int32_t i = 0; i < wanted; i++) {
        if (srStartThread(workerMain, &pool.slots[i + 1], &pool.threads[i]) != sr_success) {
            break;
        }
        pool.threadCount++;
    }
}

static void releasePool(void) {
    atomic_store_explicit(&pool.isTaken, false, memory_order_release);
}

// False when the calling thread has to work alone
static bool takePool(void) {
    if (srParallel_GetWorkerCount() == 1 ||
        atomic_exchange_explicit(&pool.isTaken, true, memory_order_acquire)) {
        return false;
    }
    if (!pool.isStarted) {
        startPool();
    }
    if (pool.threadCount == 0) {
        releasePool();
        return false;
    }
    return true;
}

static void awaitEmptyGate(void) {
    int32_t pauseCount = 0;
    while ((atomic_load_explicit(&pool.gate, memory_order_acquire) & GATE_INSIDE) != 0) {
        // a worker inside may have lost its core to somebody, perhaps to us
        pauseCount++;
        if (pauseCount % PAUSES_BETWEEN_LOOKS == 0) {
            srYield();
        } else {
            srPause();
        }
    }
}

// worker w begins with blocks cuts[w] .. cuts[w + 1] - 1, or with as many as any other
static void dealBlocks(int32_t blockCount, const int32_t* cuts) {
    int32_t workerCount = pool.threadCount + 1;
    bool areCut = cuts != NULL && workerCount == srParallel_GetWorkerCount();
    int32_t first = 0;
    for (int32_t worker = 0; worker < workerCount; worker++) {
        int64_t equal = (int64_t)blockCount * (worker + 1) / workerCount;
        int32_t end = areCut ? cuts[worker + 1] : (int32_t)equal;
        SR_ASSERT(first <= end && (worker + 1 < workerCount || end == blockCount));
        atomic_store_explicit(&pool.slots[worker].left, packBlocks(first, end), memory_order_relaxed);
        first = end;
    }
}

static void runWithWorkers(const srLoop* loop, const int32_t* cuts) {
    atomic_fetch_add_explicit(&pool.loopCount, 1, memory_order_relaxed);
    pool.loop = *loop;
    dealBlocks(loop->blockCount, cuts);
    atomic_fetch_add(&pool.gate, GATE_NEXT_CALL + GATE_OPEN);
    wakeSleepers();
    takeBlocks(0);
    atomic_fetch_and(&pool.gate, ~GATE_OPEN);
    awaitEmptyGate();
}

static void runAlone(const srLoop* loop) {
    for (int32_t block = 0; block < loop->blockCount; block++) {
        runBlock(loop, block, 0);
    }
    countBlocks(0, (uint64_t)loop->blockCount);
}

void srParallelForCut(srRangeFcn* body, int32_t count, int32_t blockSize, const int32_t* cuts,
                      void* context) {
    SR_ASSERT(blockSize > 0);
    SR_ASSERT(!isInsideBody);
    if (count <= 0) {
        return;
    }
    srLoop loop = {body, context, count, blockSize, (count - 1) / blockSize + 1};
    if (loop.blockCount > 1 && takePool()) {
        runWithWorkers(&loop, cuts);
        releasePool();
    } else {
        runAlone(&loop);
    }
}

void srParallelFor(srRangeFcn* body, int32_t count, int32_t blockSize, void* context) {
    srParallelForCut(body, count, blockSize, NULL, context);
}

int32_t srParallel_GetWorkerCount(void) {
    int32_t workerCount = atomic_load_explicit(&pool.workerCount, memory_order_relaxed);
    if (workerCount == 0) {
        int32_t coreCount = srGetCoreCount();
        workerCount = coreCount < MAX_DEFAULT_WORKERS ? coreCount : MAX_DEFAULT_WORKERS;
        atomic_store_explicit(&pool.workerCount, workerCount, memory_order_relaxed);
    }
    return workerCount;
}

void srParallel_SetWorkerCount(int32_t workerCount) {
    int32_t atLeastOne = workerCount > 1 ? workerCount : 1;
    int32_t clamped = atLeastOne < SR_MOST_WORKERS ? atLeastOne : SR_MOST_WORKERS;
    if (clamped != srParallel_GetWorkerCount()) {
        srParallel_Stop();
        atomic_store_explicit(&pool.workerCount, clamped, memory_order_relaxed);
    }
}

int32_t srParallel_GetBlockCounts(uint64_t* outBlockCounts, int32_t capacity) {
    int32_t workerCount = srParallel_GetWorkerCount();
    for (int32_t i = 0; i < workerCount && i < capacity; i++) {
        outBlockCounts[i] = atomic_load_explicit(&pool.slots[i].blockCount, memory_order_relaxed);
    }
    return workerCount;
}

uint64_t srParallel_GetLoopCount(void) {
    return atomic_load_explicit(&pool.loopCount, memory_order_relaxed);
}

static void joinWorkers(void) {
    if (pool.threadCount > 0) {
        atomic_fetch_or(&pool.gate, GATE_STOP);
        wakeSleepers();
    }
    for (int32_t i = 0; i < pool.threadCount; i++) {
        srJoinThread(pool.threads[i]);
    }
    pool.threadCount = 0;
    atomic_fetch_and(&pool.gate, ~GATE_STOP);
}

void srParallel_Stop(void) {
    SR_ASSERT(!isInsideBody);
    while (atomic_exchange_explicit(&pool.isTaken, true, memory_order_acquire)) {
        srYield();
    }
    joinWorkers();
    srDestroyCondition(pool.wake);
    srDestroyMutex(pool.mutex);
    pool.wake = NULL;
    pool.mutex = NULL;
    pool.isStarted = false;
    for (int32_t i = 0; i < SR_MOST_WORKERS; i++) {
        atomic_store_explicit(&pool.slots[i].blockCount, 0, memory_order_relaxed);
    }
    releasePool();
}
