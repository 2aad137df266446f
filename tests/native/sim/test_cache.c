// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows of the frame cache begin where the row before them ended.

#include "support/support.h"

#include "sim/cache.h"

#include <string.h>

#define FRAMES 3
#define NODES 4

static void rows_begin_as_the_one_before_and_the_first_as_zeros(void** state) {
    (void)state;
    srFrameCache cache;
    assert_success(srCreateFrameCache(FRAMES, NODES, &cache));
    srFrameCache_Begin(&cache, 0);
    const srVec3f zeros[NODES] = {{0}};
    assert_memory_equal(srFrameCache_GetOffsets(&cache, 0), zeros, sizeof(zeros));
    assert_memory_equal(srFrameCache_GetVelocities(&cache, 0), zeros, sizeof(zeros));
    srFrameCache_GetOffsets(&cache, 0)[2] = (srVec3f){1.0f, 2.0f, 3.0f};
    srFrameCache_GetVelocities(&cache, 0)[1] = (srVec3f){4.0f, 5.0f, 6.0f};
    srFrameCache_Begin(&cache, 1);
    assert_memory_equal(srFrameCache_GetOffsets(&cache, 1), srFrameCache_GetOffsets(&cache, 0),
                        sizeof(zeros));
    assert_memory_equal(srFrameCache_GetVelocities(&cache, 1), srFrameCache_GetVelocities(&cache, 0),
                        sizeof(zeros));
    srDestroyFrameCache(&cache);
}

static void the_hash_knows_offsets_and_velocities(void** state) {
    (void)state;
    srFrameCache cache;
    assert_success(srCreateFrameCache(FRAMES, NODES, &cache));
    srFrameCache_Begin(&cache, 0);
    srFrameCache_Begin(&cache, 1);
    uint64_t hash = srFrameCache_Hash(&cache, 0);
    assert_true(srFrameCache_Hash(&cache, 1) == hash);
    srFrameCache_GetOffsets(&cache, 1)[NODES - 1].z = 1.0f;
    assert_true(srFrameCache_Hash(&cache, 1) != hash);
    srFrameCache_GetOffsets(&cache, 1)[NODES - 1].z = 0.0f;
    srFrameCache_GetVelocities(&cache, 1)[0].x = -0.0f;
    assert_true(srFrameCache_Hash(&cache, 1) != hash);
    assert_true(srFrameCache_Hash(&cache, 0) == hash);
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
    srDestroyFrameCache(&cache);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeCache, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_begin_as_the_one_before_and_the_first_as_zeros),
        cmocka_unit_test(the_hash_knows_offsets_and_velocities),
        cmocka_unit_test(more_than_memory_can_hold_is_refused),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/cache", tests, NULL, srTestNothingLeaked);
}
