// SPDX-License-Identifier: GPL-3.0-or-later
//
// The frame cache: rows of their own, and states at the checkpoints.

#include "support/support.h"

#include "sim/cache.h"

#include <string.h>

#define FRAMES 20
#define NODES 4
#define STATE_BYTES 128

static void every_row_has_its_nearest_checkpoint_before_it(void** state) {
    (void)state;
    for (int32_t row = 0; row < 100; ++row) {
        int32_t checkpoint = srFindCheckpoint(row);
        assert_true(checkpoint <= row && row - checkpoint < SR_ROWS_PER_CHECKPOINT);
        assert_int_equal(srFindCheckpoint(checkpoint), checkpoint);
    }
}

static void rows_and_states_do_not_overlap(void** state) {
    (void)state;
    srFrameCache cache;
    assert_success(srCreateFrameCache(FRAMES, NODES, &cache));
    assert_success(srFrameCache_SetStateSize(&cache, STATE_BYTES));
    for (int32_t row = 0; row < FRAMES; ++row) {
        memset(srFrameCache_GetOffsets(&cache, row), row + 1, NODES * sizeof(srVec3f));
        if (srFindCheckpoint(row) == row) {
            memset(srFrameCache_GetState(&cache, row), row + 1, STATE_BYTES);
        }
    }
    for (int32_t row = 0; row < FRAMES; ++row) {
        const unsigned char* bytes = (const unsigned char*)srFrameCache_GetOffsets(&cache, row);
        assert_true(bytes[0] == row + 1 && bytes[NODES * sizeof(srVec3f) - 1] == row + 1);
        if (srFindCheckpoint(row) == row) {
            bytes = srFrameCache_GetState(&cache, row);
            assert_true(bytes[0] == row + 1 && bytes[STATE_BYTES - 1] == row + 1);
        }
    }
    srDestroyFrameCache(&cache);
}

static void new_states_are_at_rest(void** state) {
    (void)state;
    srFrameCache cache;
    const unsigned char zeros[STATE_BYTES] = {0};
    assert_success(srCreateFrameCache(FRAMES, NODES, &cache));
    assert_success(srFrameCache_SetStateSize(&cache, 64));
    assert_success(srFrameCache_SetStateSize(&cache, STATE_BYTES));
    assert_memory_equal(srFrameCache_GetState(&cache, 16), zeros, STATE_BYTES);
    srDestroyFrameCache(&cache);
}

static void more_than_memory_can_hold_is_refused(void** state) {
    (void)state;
    srFrameCache cache;
    assert_result(srCreateFrameCache(INT32_MAX, INT32_MAX, &cache), sr_errorOutOfMemory);
    srDestroyFrameCache(&cache);
}

static srResult makeCache(void* context) {
    (void)context;
    srFrameCache cache;
    srResult result = srCreateFrameCache(FRAMES, NODES, &cache);
    if (result == sr_success) {
        result = srFrameCache_SetStateSize(&cache, STATE_BYTES);
    }
    srDestroyFrameCache(&cache);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeCache, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_nearest_checkpoint_before_it),
        cmocka_unit_test(rows_and_states_do_not_overlap),
        cmocka_unit_test(new_states_are_at_rest),
        cmocka_unit_test(more_than_memory_can_hold_is_refused),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/cache", tests, NULL, srTestNothingLeaked);
}
