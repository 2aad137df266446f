// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/parallel: every index once, the same bits for any number of workers, several callers, workers that
// wake late.

#include "core/parallel.h"

#include "support/support.h"

#include "core/alloc.h"
#include "core/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COUNT 5000

static const int32_t workerCounts[] = {1, 2, 4};

static void spinFor(double seconds) {
    double end = srGetSeconds() + seconds;
    while (srGetSeconds() < end) {
        srPause();
    }
}

static void sleepFor(double seconds) {
    struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

typedef struct Visits {
    int32_t counts[MAX_COUNT];
    int32_t blockSize;
    int32_t count;
    int32_t workerCount;
    atomic_int badBlockCount;
    atomic_int usersOfWorker[64];
} Visits;

static void visit(int32_t begin, int32_t end, int32_t worker, void* context) {
    Visits* visits = context;
    bool isBlock =
        begin % visits->blockSize == 0 && begin < end &&
        (end == begin + visits->blockSize || (end == visits->count && end - begin < visits->blockSize));
    bool isWorker = worker >= 0 && worker < visits->workerCount;
    // a worker's number belongs to one thread at a time
    bool isOnlyUser = isWorker && atomic_fetch_add(&visits->usersOfWorker[worker], 1) == 0;
    if (!isBlock || !isOnlyUser) {
        atomic_fetch_add(&visits->badBlockCount, 1);
    }
    for (int32_t i = begin; i < end; i++) {
        visits->counts[i]++;
    }
    if (isWorker) {
        atomic_fetch_sub(&visits->usersOfWorker[worker], 1);
    }
}

static void expectVisits(int32_t count, int32_t blockSize) {
    static Visits visits;
    memset(&visits, 0, sizeof(visits));
    visits.count = count;
    visits.blockSize = blockSize;
    visits.workerCount = srParallel_GetWorkerCount();
    srParallelFor(visit, count, blockSize, &visits);
    for (int32_t i = 0; i < MAX_COUNT; i++) {
        assert_int_equal(visits.counts[i], i < count ? 1 : 0);
    }
    assert_int_equal(atomic_load(&visits.badBlockCount), 0);
}

static void every_index_is_done_exactly_once(void** state) {
    (void)state;
    const int32_t counts[] = {0, 1, 2, 7, 64, 65, 1000, MAX_COUNT};
    const int32_t blockSizes[] = {1, 2, 3, 64, 999, MAX_COUNT, INT32_MAX};
    for (int32_t w = 0; w < SR_ARRAY_COUNT(workerCounts); w++) {
        srParallel_SetWorkerCount(workerCounts[w]);
        for (int32_t c = 0; c < SR_ARRAY_COUNT(counts); c++) {
            for (int32_t b = 0; b < SR_ARRAY_COUNT(blockSizes); b++) {
                expectVisits(counts[c], blockSizes[b]);
            }
        }
    }
}

static void no_cut_changes_what_is_done(void** state) {
    (void)state;
    static Visits visits;
    // all to the last, all to the first, uneven, and as many as there are
    const int32_t cuts[][5] = {
        {0, 0, 0, 0, 100}, {0, 100, 100, 100, 100}, {0, 1, 3, 99, 100}, {0, 25, 50, 75, 100}};
    srParallel_SetWorkerCount(4);
    for (int32_t round = 0; round < 200; round++) {
        memset(&visits, 0, sizeof(visits));
        visits.count = 298;
        visits.blockSize = 3;
        visits.workerCount = 4;
        srParallelForCut(visit, visits.count, visits.blockSize, cuts[round % 4], &visits);
        for (int32_t i = 0; i < visits.count; i++) {
            assert_int_equal(visits.counts[i], 1);
        }
        assert_int_equal(atomic_load(&visits.badBlockCount), 0);
    }
}

#define BLOCKS_EACH 4

typedef struct Homes {
    atomic_int begunCount;
    int32_t workers[2 * BLOCKS_EACH];
    atomic_int places[2 * BLOCKS_EACH]; // of each block in the order of beginnings
} Homes;

// waits within its first block until the other worker has begun one too, so that both take part
static void noteHome(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)end;
    Homes* homes = context;
    homes->workers[begin] = worker;
    atomic_store(&homes->places[begin], atomic_fetch_add(&homes->begunCount, 1));
    double last = srGetSeconds() + 5.0;
    while (atomic_load(&homes->begunCount) < 2 && srGetSeconds() < last) {
        srYield();
    }
}

static void each_worker_begins_with_its_own_blocks_at_the_border(void** state) {
    (void)state;
    srParallel_SetWorkerCount(2);
    for (int32_t round = 0; round < 50; round++) {
        Homes homes = {0};
        srParallelFor(noteHome, 2 * BLOCKS_EACH, 1, &homes);
        // whoever came first took its own last block towards the other, and the other likewise
        assert_int_equal(homes.workers[BLOCKS_EACH - 1], 0);
        assert_int_equal(homes.workers[BLOCKS_EACH], 1);
        assert_true(atomic_load(&homes.places[BLOCKS_EACH - 1]) < 2);
        assert_true(atomic_load(&homes.places[BLOCKS_EACH]) < 2);

        int32_t cuts[3] = {0, 2, 2 * BLOCKS_EACH};
        homes = (Homes){0};
        srParallelForCut(noteHome, 2 * BLOCKS_EACH, 1, cuts, &homes);
        assert_int_equal(homes.workers[1], 0);
        assert_int_equal(homes.workers[2], 1);
    }
}

static void addRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    atomic_fetch_add((_Atomic int64_t*)context, (int64_t)end - begin);
}

static void the_largest_counts_do_not_overflow(void** state) {
    (void)state;
    const int32_t blockSizes[] = {INT32_MAX, INT32_MAX - 1, 1 << 30, 1 << 20};
    srParallel_SetWorkerCount(2);
    for (int32_t b = 0; b < SR_ARRAY_COUNT(blockSizes); b++) {
        _Atomic int64_t sum = 0;
        srParallelFor(addRange, INT32_MAX, blockSizes[b], (void*)&sum);
        assert_int_equal(atomic_load(&sum), INT32_MAX);
        srParallelFor(addRange, -5, blockSizes[b], (void*)&sum);
        assert_int_equal(atomic_load(&sum), INT32_MAX);
    }
}

#define SUM_BLOCK 37

typedef struct Sums {
    float perBlock[MAX_COUNT / SUM_BLOCK + 1];
    float values[MAX_COUNT];
} Sums;

static void addBlock(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Sums* sums = context;
    float sum = 0.0f;
    for (int32_t i = begin; i < end; i++) {
        sum += sums->values[i];
    }
    sums->perBlock[begin / SUM_BLOCK] = sum;
}

static float addInParallel(Sums* sums) {
    srParallelFor(addBlock, MAX_COUNT, SUM_BLOCK, sums);
    float total = 0.0f;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(sums->perBlock); i++) {
        total += sums->perBlock[i];
    }
    return total;
}

static void sums_merged_by_block_have_the_same_bits_on_any_number_of_workers(void** state) {
    (void)state;
    static Sums sums;
    uint64_t seed = 5;
    for (int32_t i = 0; i < MAX_COUNT; i++) {
        sums.values[i] = (float)(srTestRandom(&seed) - 0.5) * (i % 100 == 0 ? 1e6f : 1.0f);
    }
    srParallel_SetWorkerCount(1);
    float expected = addInParallel(&sums);
    for (int32_t w = 0; w < SR_ARRAY_COUNT(workerCounts); w++) {
        srParallel_SetWorkerCount(workerCounts[w]);
        for (int32_t round = 0; round < 200; round++) {
            float total = addInParallel(&sums);
            assert_memory_equal(&total, &expected, sizeof(float));
        }
    }
}

static void workFor20Microseconds(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    (void)context;
    spinFor(20e-6 * (end - begin));
}

static int32_t countWorking(const uint64_t* blockCountsBefore) {
    uint64_t blockCounts[64] = {0};
    int32_t workerCount = srParallel_GetBlockCounts(blockCounts, 64);
    int32_t workingCount = 0;
    for (int32_t i = 0; i < workerCount; i++) {
        workingCount += blockCounts[i] > blockCountsBefore[i];
    }
    return workingCount;
}

// Loops until two workers at least did blocks from now on; a loaded machine may need many
static void expectTwoAtWork(void) {
    uint64_t blockCountsBefore[64] = {0};
    srParallel_GetBlockCounts(blockCountsBefore, 64);
    double end = srGetSeconds() + 20.0;
    while (countWorking(blockCountsBefore) < 2 && srGetSeconds() < end) {
        srParallelFor(workFor20Microseconds, 50, 1, NULL);
    }
    assert_true(countWorking(blockCountsBefore) >= 2);
}

static void at_least_two_workers_do_blocks(void** state) {
    (void)state;
    srParallel_SetWorkerCount(2);
    expectTwoAtWork();
    srParallel_SetWorkerCount(4);
    expectTwoAtWork();
}

static void block_counts_add_up_and_start_again_after_a_stop(void** state) {
    (void)state;
    srParallel_SetWorkerCount(4);
    srParallel_Stop();
    for (int32_t round = 0; round < 100; round++) {
        srParallelFor(workFor20Microseconds, 5, 1, NULL);
    }
    uint64_t blockCounts[64] = {0};
    assert_int_equal(srParallel_GetBlockCounts(blockCounts, 64), 4);
    assert_int_equal(blockCounts[0] + blockCounts[1] + blockCounts[2] + blockCounts[3], 500);

    // no more than there is room for
    uint64_t one[2] = {0, 77};
    assert_int_equal(srParallel_GetBlockCounts(one, 1), 4);
    assert_int_equal(one[1], 77);
    srParallel_Stop();
    srParallel_GetBlockCounts(blockCounts, 64);
    assert_int_equal(blockCounts[0] + blockCounts[1] + blockCounts[2] + blockCounts[3], 0);
}

static void a_pool_that_fell_asleep_wakes_for_the_next_loop(void** state) {
    (void)state;
    srParallel_SetWorkerCount(4);
    for (int32_t round = 0; round < 60; round++) {
        // around the time that a worker spins, so that some calls meet it as it falls asleep
        sleepFor(1e-5 * (round % 20));
        expectVisits(100, 7);
    }
    srParallel_Stop();
    srParallelFor(workFor20Microseconds, 2, 1, NULL);
    sleepFor(0.02);
    expectTwoAtWork();
}

typedef struct MortalContext {
    atomic_int runCount;
    int32_t* numbers;
} MortalContext;

static void useMortalContext(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)end;
    (void)worker;
    MortalContext* mortal = context;
    mortal->numbers[begin]++;
    atomic_fetch_add(&mortal->runCount, 1);
}

// The sanitizers see a worker that touches a context after its call has returned
static void a_contexts_life_may_end_with_the_call(void** state) {
    (void)state;
    srParallel_SetWorkerCount(4);
    for (int32_t round = 0; round < 5000; round++) {
        int32_t count = 2 + round % 5;
        MortalContext* mortal = calloc(1, sizeof(MortalContext));
        assert_non_null(mortal);
        mortal->numbers = calloc((size_t)count, sizeof(int32_t));
        assert_non_null(mortal->numbers);
        srParallelFor(useMortalContext, count, 1, mortal);
        assert_int_equal(atomic_load(&mortal->runCount), count);
        for (int32_t i = 0; i < count; i++) {
            assert_int_equal(mortal->numbers[i], 1);
            mortal->numbers[i] = -1000;
        }
        free(mortal->numbers);
        free(mortal);
    }
}

typedef struct Caller {
    Sums sums;
    float expected;
    int32_t wrongCount;
    int32_t foreignZeroCount;
    pthread_t self;
} Caller;

static atomic_int readyCount;

static void addBlockAsCaller(int32_t begin, int32_t end, int32_t worker, void* context) {
    Caller* caller = context;
    // worker 0 is the caller and only the caller: so nobody else writes here
    if ((worker == 0) != (pthread_equal(pthread_self(), caller->self) != 0)) {
        caller->foreignZeroCount++;
    }
    addBlock(begin, end, worker, &caller->sums);
}

static void callOften(void* context) {
    Caller* caller = context;
    caller->self = pthread_self();
    // both at once, or the test shows nothing
    atomic_fetch_add(&readyCount, 1);
    while (atomic_load(&readyCount) < 2) {
        srYield();
    }
    for (int32_t round = 0; round < 3000; round++) {
        float total = 0.0f;
        srParallelFor(addBlockAsCaller, MAX_COUNT, SUM_BLOCK, caller);
        for (int32_t i = 0; i < SR_ARRAY_COUNT(caller->sums.perBlock); i++) {
            total += caller->sums.perBlock[i];
        }
        caller->wrongCount += memcmp(&total, &caller->expected, sizeof(float)) != 0;
    }
}

static void callers_in_two_threads_do_not_disturb_each_other(void** state) {
    (void)state;
    static Caller callers[2];
    memset(callers, 0, sizeof(callers));
    atomic_store(&readyCount, 0);
    uint64_t seed = 17;
    for (int32_t c = 0; c < 2; c++) {
        for (int32_t i = 0; i < MAX_COUNT; i++) {
            callers[c].sums.values[i] = (float)srTestRandom(&seed);
        }
        srParallel_SetWorkerCount(1);
        callers[c].expected = addInParallel(&callers[c].sums);
    }
    srParallel_SetWorkerCount(3);
    srThread* thread = NULL;
    assert_success(srStartThread(callOften, &callers[0], &thread));
    callOften(&callers[1]);
    srJoinThread(thread);
    for (int32_t c = 0; c < 2; c++) {
        assert_int_equal(callers[c].wrongCount, 0);
        assert_int_equal(callers[c].foreignZeroCount, 0);
    }
}

static void a_pool_that_cannot_start_leaves_the_work_to_the_caller(void** state) {
    (void)state;
    srParallel_SetWorkerCount(4);
    // what fails: lock, condition, first thread, second thread
    for (int32_t n = 1; n <= 4; n++) {
        for (int32_t forever = 0; forever < 2; forever++) {
            srParallel_Stop();
            srAlloc_FailAt(n, forever != 0);
            expectVisits(1000, 10);
            srAlloc_FailAt(0, false);
            expectVisits(1000, 10);
        }
    }
}

static void a_stopped_pool_holds_no_byte_and_starts_again(void** state) {
    (void)state;
    srParallel_SetWorkerCount(4);
    srParallel_Stop();
    size_t before = srAlloc_GetByteCount();
    for (int32_t round = 0; round < 30; round++) {
        expectVisits(300, 10);
        assert_true(srAlloc_GetByteCount() > before);
        srParallel_Stop();
        srParallel_Stop();
        assert_int_equal(srAlloc_GetByteCount(), before);
    }
}

static void the_number_of_workers_stays_between_1_and_64(void** state) {
    (void)state;
    const int32_t asked[] = {-7, 0, 1, 3, 64, 65, INT32_MAX};
    const int32_t given[] = {1, 1, 1, 3, 64, 64, 64};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(asked); i++) {
        srParallel_SetWorkerCount(asked[i]);
        assert_int_equal(srParallel_GetWorkerCount(), given[i]);
        expectVisits(1000, 10);
    }
}

#if defined(SR_ENABLE_ASSERT)
static void nest(int32_t begin, int32_t end, int32_t worker, void* context) {
    srParallelFor(addRange, end - begin + worker, 1, context);
}

static void a_loop_within_a_loop_is_caught(void** state) {
    (void)state;
    srParallel_SetWorkerCount(1);
    pid_t child = fork();
    if (child == 0) {
        _Atomic int64_t sum = 0;
        (void)!freopen("/dev/null", "w", stderr);
        signal(SIGABRT, SIG_DFL);
        srParallelFor(nest, 4, 1, (void*)&sum);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_index_is_done_exactly_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_cut_changes_what_is_done, srTestNothingLeaked),
        cmocka_unit_test_teardown(each_worker_begins_with_its_own_blocks_at_the_border, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_largest_counts_do_not_overflow, srTestNothingLeaked),
        cmocka_unit_test_teardown(sums_merged_by_block_have_the_same_bits_on_any_number_of_workers,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(at_least_two_workers_do_blocks, srTestNothingLeaked),
        cmocka_unit_test_teardown(block_counts_add_up_and_start_again_after_a_stop, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_pool_that_fell_asleep_wakes_for_the_next_loop, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_contexts_life_may_end_with_the_call, srTestNothingLeaked),
        cmocka_unit_test_teardown(callers_in_two_threads_do_not_disturb_each_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_pool_that_cannot_start_leaves_the_work_to_the_caller,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_stopped_pool_holds_no_byte_and_starts_again, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_number_of_workers_stays_between_1_and_64, srTestNothingLeaked),
#if defined(SR_ENABLE_ASSERT)
        cmocka_unit_test(a_loop_within_a_loop_is_caught),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
