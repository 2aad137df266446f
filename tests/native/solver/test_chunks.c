// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs of constraints: each constraint in exactly one, and two workers never at one node.

#include "support/support.h"

#include "solver/chunks.h"
#include "support/scenes.h"

#include <stdlib.h>
#include <string.h>

static void checkEachOnce(const srChunks* chunks, int32_t constraintCount) {
    assert_int_equal(chunks->constraintCount, constraintCount);
    char* seen = calloc((size_t)constraintCount + 1, 1);
    assert_non_null(seen);
    assert_int_equal(chunks->starts[0], 0);
    assert_int_equal(chunks->starts[chunks->chunkCount], constraintCount);
    for (int32_t k = 0; k < chunks->chunkCount; ++k) {
        assert_true(chunks->starts[k] < chunks->starts[k + 1]);
        for (int32_t j = chunks->starts[k]; j < chunks->starts[k + 1]; ++j) {
            assert_in_range(chunks->order[j], 0, constraintCount - 1);
            assert_int_equal(seen[chunks->order[j]], 0);
            seen[chunks->order[j]] = 1;
        }
    }
    free(seen);
}

// which run touched a node last, for the even and the odd ones
static void checkNothingShared(const srChunks* chunks, const int32_t* nodes, int32_t arity,
                               int32_t nodeCount) {
    for (int32_t parity = 0; parity < 2; ++parity) {
        int32_t* owners = malloc(sizeof(int32_t) * (size_t)nodeCount);
        assert_non_null(owners);
        memset(owners, 0xff, sizeof(int32_t) * (size_t)nodeCount);
        for (int32_t k = parity; k < chunks->chunkCount; k += 2) {
            for (int32_t j = chunks->starts[k]; j < chunks->starts[k + 1]; ++j) {
                for (int32_t c = 0; c < arity; ++c) {
                    int32_t node = nodes[chunks->order[j] * arity + c];
                    assert_true(owners[node] == SR_NULL_INDEX || owners[node] == k);
                    owners[node] = k;
                }
            }
        }
        free(owners);
    }
}

// constraints over nodes that lie at most `reach` apart; reach = nodeCount is any graph
static int32_t* makeGraph(uint64_t* seed, int32_t arity, int32_t count, int32_t nodeCount, int32_t reach) {
    int32_t* nodes = malloc(sizeof(int32_t) * (size_t)(arity * count + 1));
    assert_non_null(nodes);
    for (int32_t j = 0; j < count; ++j) {
        int32_t lowest = (int32_t)(srTestRandom(seed) * (nodeCount - reach));
        for (int32_t c = 0; c < arity; ++c) {
            nodes[j * arity + c] = lowest + (int32_t)(srTestRandom(seed) * reach);
        }
    }
    return nodes;
}

static void random_graphs_are_cut_into_runs_that_share_no_node(void** state) {
    (void)state;
    uint64_t seed = 31;
    for (int trial = 0; trial < 60; ++trial) {
        int32_t arity = trial % 2 == 0 ? 2 : 4;
        int32_t nodeCount = 8 + (int32_t)(3000.0 * srTestRandom(&seed));
        int32_t count = 1 + (int32_t)(8000.0 * srTestRandom(&seed));
        int32_t reach = 4 + (int32_t)((trial % 3 == 0 ? nodeCount - 4 : 60) * srTestRandom(&seed));
        reach = reach < nodeCount ? reach : nodeCount;
        int32_t* nodes = makeGraph(&seed, arity, count, nodeCount, reach);
        srChunks chunks;
        assert_success(srCreateChunks(nodes, arity, count, nodeCount, &chunks));
        checkEachOnce(&chunks, count);
        checkNothingShared(&chunks, nodes, arity, nodeCount);
        srDestroyChunks(&chunks);
        free(nodes);
    }
}

static void a_lattice_is_cut_into_runs_that_share_no_node_and_enough_of_them(void** state) {
    (void)state;
    const int32_t counts[3] = {6, 24, 6};
    srCage cage;
    assert_success(srTestCreateBarCage(counts, 1.0, &cage));
    srChunks edges;
    srChunks cells;
    assert_success(srCreateChunks(cage.edges[0], 2, cage.edgeCount, cage.nodeCount, &edges));
    assert_success(srCreateChunks(cage.cells[0], 4, cage.cellCount, cage.nodeCount, &cells));
    checkEachOnce(&edges, cage.edgeCount);
    checkEachOnce(&cells, cage.cellCount);
    checkNothingShared(&edges, cage.edges[0], 2, cage.nodeCount);
    checkNothingShared(&cells, cage.cells[0], 4, cage.nodeCount);
    // four workers want work in each half
    assert_true(edges.chunkCount >= 8 && cells.chunkCount >= 8);
    srDestroyChunks(&edges);
    srDestroyChunks(&cells);
    srDestroyCage(&cage);
}

static void runs_ascend_by_their_lowest_node(void** state) {
    (void)state;
    uint64_t seed = 33;
    int32_t* nodes = makeGraph(&seed, 2, 5000, 2000, 30);
    srChunks chunks;
    assert_success(srCreateChunks(nodes, 2, 5000, 2000, &chunks));
    assert_true(chunks.chunkCount > 5);
    int32_t highestLow = -1;
    for (int32_t k = 0; k < chunks.chunkCount; ++k) {
        int32_t newHighestLow = highestLow;
        for (int32_t j = chunks.starts[k]; j < chunks.starts[k + 1]; ++j) {
            const int32_t* ends = nodes + 2 * chunks.order[j];
            int32_t low = ends[0] < ends[1] ? ends[0] : ends[1];
            assert_true(low >= highestLow);
            newHighestLow = low > newHighestLow ? low : newHighestLow;
        }
        highestLow = newHighestLow;
    }
    srDestroyChunks(&chunks);
    free(nodes);
}

// how many constraints share a node with the one before them
static int32_t countWaits(const int32_t* order, const int32_t (*cells)[4], int32_t count) {
    int32_t waitCount = 0;
    for (int32_t j = 1; j < count; ++j) {
        bool isShared = false;
        for (int c = 0; c < 16; ++c) {
            isShared = isShared || cells[order[j]][c % 4] == cells[order[j - 1]][c / 4];
        }
        waitCount += isShared;
    }
    return waitCount;
}

static void neighbours_in_order_seldom_share_a_node(void** state) {
    (void)state;
    const int32_t counts[3] = {6, 24, 6};
    srCage cage;
    srChunks chunks;
    assert_success(srTestCreateBarCage(counts, 1.0, &cage));
    assert_success(srCreateChunks(cage.cells[0], 4, cage.cellCount, cage.nodeCount, &chunks));
    int32_t waitCount = countWaits(chunks.order, (const int32_t (*)[4])cage.cells, cage.cellCount);
    // as they come nearly all do
    assert_true(waitCount < cage.cellCount / 4);
    srDestroyChunks(&chunks);
    srDestroyCage(&cage);
}

static void no_constraints_make_no_runs(void** state) {
    (void)state;
    srChunks chunks;
    assert_success(srCreateChunks(NULL, 2, 0, 5, &chunks));
    assert_int_equal(chunks.chunkCount, 0);
    srDestroyChunks(&chunks);
}

static srResult makeChunks(void* context) {
    srChunks chunks;
    srResult result = srCreateChunks(context, 2, 1000, 300, &chunks);
    srDestroyChunks(&chunks);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    uint64_t seed = 32;
    int32_t* nodes = makeGraph(&seed, 2, 1000, 300, 20);
    srTestEveryAllocationFails(makeChunks, nodes);
    free(nodes);
}

static void stored_runs_are_taken_over_and_hostile_ones_refused(void** state) {
    (void)state;
    uint64_t seed = 77;
    const int32_t count = 4000, nodeCount = 900;
    int32_t* nodes = makeGraph(&seed, 2, count, nodeCount, 40);
    srChunks made, copy;
    assert_success(srCreateChunks(nodes, 2, count, nodeCount, &made));
    assert_true(made.chunkCount >= 4);
    assert_success(srCopyChunks(nodes, 2, nodeCount, &made, &copy));
    assert_int_equal(copy.chunkCount, made.chunkCount);
    assert_memory_equal(copy.order, made.order, 4 * (size_t)count);
    assert_memory_equal(copy.starts, made.starts, 4 * ((size_t)made.chunkCount + 1));
    srDestroyChunks(&copy);

    // twice the same, none at all, runs that overlap, and runs that share nodes
    const struct {
        int32_t* place;
        int32_t value;
    } damages[] = {{&made.order[7], made.order[8]},
                   {&made.order[0], -1},
                   {&made.order[9], count},
                   {&made.starts[0], 1},
                   {&made.starts[2], made.starts[3] + 1},
                   {&made.starts[made.chunkCount], count + 1},
                   {&made.starts[2], made.starts[1]},
                   {&made.chunkCount, made.chunkCount - 1},
                   {&made.chunkCount, -1},
                   {&made.chunkCount, count + 1}};
    for (int i = 0; i < SR_ARRAY_COUNT(damages); ++i) {
        int32_t kept = *damages[i].place;
        *damages[i].place = damages[i].value;
        assert_result(srCopyChunks(nodes, 2, nodeCount, &made, &copy), sr_errorInvalidValue);
        srDestroyChunks(&copy);
        *damages[i].place = kept;
    }
    srDestroyChunks(&made);
    free(nodes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_are_cut_into_runs_that_share_no_node),
        cmocka_unit_test(a_lattice_is_cut_into_runs_that_share_no_node_and_enough_of_them),
        cmocka_unit_test(runs_ascend_by_their_lowest_node),
        cmocka_unit_test(neighbours_in_order_seldom_share_a_node),
        cmocka_unit_test(no_constraints_make_no_runs),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
        cmocka_unit_test(stored_runs_are_taken_over_and_hostile_ones_refused),
    };
    return cmocka_run_group_tests_name("solver/chunks", tests, NULL, srTestNothingLeaked);
}
