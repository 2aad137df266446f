// SPDX-License-Identifier: GPL-3.0-or-later
//
// Batches by what kernels and workers rely on.

#include "support/support.h"

#include "solver/batches.h"
#include "support/scenes.h"

#include <stdlib.h>

static const int32_t COUNTS[3] = {8, 20, 8};

static void batches_hold_each_constraint_once_and_lanes_share_no_node(void** state) {
    (void)state;
    srCage cage;
    assert_success(srTestCreateBarCage(COUNTS, 0.1, &cage));
    srBatches batches;
    assert_success(srCreateBatches(cage.cells[0], 4, cage.cellCount, cage.nodeCount, &batches));
    int32_t* seen = calloc((size_t)cage.cellCount, sizeof(int32_t));
    int32_t* marks = calloc((size_t)cage.nodeCount, sizeof(int32_t));
    int32_t cellCount = 0;
    for (int32_t b = 0; b < batches.batchCount; ++b) {
        for (int lane = 0; lane < SR_BATCH_LANES; ++lane) {
            int32_t cell = batches.members[b][lane];
            for (int c = 0; cell != SR_NULL_INDEX && c < 4; ++c) {
                assert_true(marks[cage.cells[cell][c]] != b + 1);
                marks[cage.cells[cell][c]] = b + 1;
            }
            cellCount += cell != SR_NULL_INDEX;
            assert_true(cell == SR_NULL_INDEX || seen[cell]++ == 0);
        }
    }
    assert_int_equal(cellCount, cage.cellCount);
    // padding is what makes wide kernels slow
    assert_true(cage.cellCount > 0.85 * 8.0 * batches.batchCount);
    free(seen);
    free(marks);
    srDestroyBatches(&batches);
    srDestroyCage(&cage);
}

static void chunks_two_apart_share_no_node(void** state) {
    (void)state;
    srCage cage;
    assert_success(srTestCreateBarCage(COUNTS, 0.1, &cage));
    srBatches batches;
    assert_success(srCreateBatches(cage.cells[0], 4, cage.cellCount, cage.nodeCount, &batches));
    assert_true(batches.chunkCount > 3);
    for (int parity = 0; parity < 2; ++parity) {
        int32_t* owners = calloc((size_t)cage.nodeCount, sizeof(int32_t));
        for (int32_t chunk = parity; chunk < batches.chunkCount; chunk += 2) {
            for (int32_t k = 8 * batches.starts[chunk]; k < 8 * batches.starts[chunk + 1]; ++k) {
                int32_t cell = batches.members[k / 8][k % 8];
                for (int c = 0; cell != SR_NULL_INDEX && c < 4; ++c) {
                    int32_t* owner = &owners[cage.cells[cell][c]];
                    assert_true(*owner == 0 || *owner == chunk + 1);
                    *owner = chunk + 1;
                }
            }
        }
        free(owners);
    }
    srDestroyBatches(&batches);
    srDestroyCage(&cage);
}

static void no_constraints_are_no_batches(void** state) {
    (void)state;
    srBatches batches;
    assert_success(srCreateBatches(NULL, 4, 0, 7, &batches));
    assert_int_equal(batches.batchCount, 0);
    srDestroyBatches(&batches);
}

static srResult makeBatches(void* context) {
    const srCage* cage = context;
    srBatches batches = {0};
    srResult result = srCreateBatches(cage->cells[0], 4, cage->cellCount, cage->nodeCount, &batches);
    srDestroyBatches(&batches);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    static const int32_t FEW[3] = {2, 4, 2};
    srCage cage;
    assert_success(srTestCreateBarCage(FEW, 0.1, &cage));
    srTestEveryAllocationFails(makeBatches, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_each_constraint_once_and_lanes_share_no_node),
        cmocka_unit_test(chunks_two_apart_share_no_node),
        cmocka_unit_test(no_constraints_are_no_batches),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/batches", tests, NULL, srTestNothingLeaked);
}
