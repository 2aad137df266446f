// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/arena: marks, growth, high water, memory that is gone.

#include "core/arena.h"

#include "support/support.h"

#include "core/alloc.h"

#include <string.h>

static void a_released_block_is_given_out_again(void** state) {
    (void)state;
    srArena* arena = srCreateArena(10000);
    assert_non_null(arena);
    void* kept = SR_PUSH(arena, char, 100, "kept");
    srArenaMark mark = srArena_GetMark(arena);
    void* first = SR_PUSH(arena, double, 7, "first");
    void* second = SR_PUSH(arena, char, 1, "second");
    assert_ptr_not_equal(kept, first);
    assert_ptr_not_equal(first, second);
    srArena_Release(arena, mark);
    assert_ptr_equal(SR_PUSH(arena, double, 7, "again"), first);
    assert_ptr_equal(SR_PUSH(arena, char, 1, "again"), second);
    srDestroyArena(arena);
}

static void blocks_are_aligned_and_apart(void** state) {
    (void)state;
    srArena* arena = srCreateArena(0);
    assert_non_null(arena);
    uintptr_t previous = 0;
    for (size_t size = 0; size < 40; size++) {
        unsigned char* block = SR_PUSH(arena, unsigned char, size, "sizes");
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % SR_ALIGNMENT, 0);
        assert_true((uintptr_t)block != previous);
        memset(block, 1, size);
        previous = (uintptr_t)block;
    }
    srDestroyArena(arena);
}

#define MAX_BLOCKS 200

typedef struct Shadow {
    unsigned char* blocks[MAX_BLOCKS];
    size_t sizes[MAX_BLOCKS];
    srArenaMark marksBefore[MAX_BLOCKS];
    int32_t count;
} Shadow;

static void expectContents(const Shadow* shadow) {
    for (int32_t i = 0; i < shadow->count; i++) {
        for (size_t k = 0; k < shadow->sizes[i]; k += 97) {
            assert_int_equal(shadow->blocks[i][k], (unsigned char)i);
        }
    }
}

// Pushes blocks of random sizes and releases random numbers of them
static void play(srArena* arena, uint64_t seed) {
    Shadow shadow = {.count = 0};
    for (int32_t round = 0; round < 300; round++) {
        if (shadow.count == MAX_BLOCKS || srTestRandom(&seed) < 0.1) {
            int32_t keptCount = (int32_t)(srTestRandom(&seed) * shadow.count);
            if (keptCount < shadow.count) {
                srArena_Release(arena, shadow.marksBefore[keptCount]);
                shadow.count = keptCount;
            }
        }
        double draw = srTestRandom(&seed);
        int32_t i = shadow.count++;
        shadow.sizes[i] = (size_t)(draw * draw * draw * 20000.0);
        shadow.marksBefore[i] = srArena_GetMark(arena);
        shadow.blocks[i] = SR_PUSH(arena, unsigned char, shadow.sizes[i], "play");
        assert_non_null(shadow.blocks[i]);
        memset(shadow.blocks[i], i, shadow.sizes[i]);
        expectContents(&shadow);
    }
}

static void blocks_never_move_and_never_overlap(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        srArena* arena = srCreateArena(1);
        assert_non_null(arena);
        // the first mark stands at the bottom; play() starts and ends anywhere
        srArenaMark bottom = srArena_GetMark(arena);
        play(arena, seed);
        srArena_Release(arena, bottom);
        srDestroyArena(arena);
    }
}

static void the_second_round_allocates_nothing(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1);
    assert_non_null(arena);
    srArenaMark bottom = srArena_GetMark(arena);
    play(arena, 9);
    int64_t countAfterFirst = srAlloc_GetCount();
    size_t highWater = srArena_GetHighWater(arena);
    for (int32_t round = 0; round < 3; round++) {
        srArena_Release(arena, bottom);
        play(arena, 9);
    }
    assert_int_equal(srAlloc_GetCount(), countAfterFirst);
    assert_int_equal(srArena_GetHighWater(arena), highWater);
    srDestroyArena(arena);
}

static void high_water_is_the_most_at_once_and_not_the_sum(void** state) {
    (void)state;
    srArena* arena = srCreateArena(4096);
    assert_non_null(arena);
    assert_int_equal(srArena_GetHighWater(arena), 0);
    srArenaMark bottom = srArena_GetMark(arena);
    for (int32_t round = 0; round < 10; round++) {
        assert_non_null(SR_PUSH(arena, char, 1000, "kilo"));
        assert_non_null(SR_PUSH(arena, char, 64000, "large"));
        srArena_Release(arena, bottom);
    }
    assert_int_equal(srArena_GetHighWater(arena), 1024 + 64000);
    assert_non_null(SR_PUSH(arena, char, 128, "small"));
    assert_int_equal(srArena_GetHighWater(arena), 1024 + 64000);
    srDestroyArena(arena);
}

static void what_cannot_be_is_null_and_changes_nothing(void** state) {
    (void)state;
    srArena* arena = srCreateArena(4096);
    assert_non_null(arena);
    srArenaMark before = srArena_GetMark(arena);
    assert_null(srArena_Push(arena, SIZE_MAX, 2, "overflow"));
    assert_null(srArena_Push(arena, SIZE_MAX, 1, "overflow of rounding"));
    assert_null(srArena_Push(arena, (size_t)PTRDIFF_MAX, 1, "more than there is"));
    srArenaMark after = srArena_GetMark(arena);
    assert_int_equal(after.chunk, before.chunk);
    assert_int_equal(after.used, before.used);
    assert_non_null(SR_PUSH(arena, char, 100, "still usable"));
    srDestroyArena(arena);
    srDestroyArena(NULL);
    assert_null(srCreateArena(SIZE_MAX));
}

static srResult useArena(void* context) {
    (void)context;
    srResult result = sr_success;
    srArena* arena = srCreateArena(100);
    if (arena == NULL) {
        return srFailOutOfMemory("an arena");
    }
    for (int32_t i = 0; i < 20 && result == sr_success; i++) {
        if (SR_PUSH(arena, double, 100 << i / 2, "growing") == NULL) {
            result = srFailOutOfMemory("a block");
        }
    }
    srDestroyArena(arena);
    return result;
}

static void memory_that_is_gone_leaks_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(useArena, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_released_block_is_given_out_again, srTestNothingLeaked),
        cmocka_unit_test_teardown(blocks_are_aligned_and_apart, srTestNothingLeaked),
        cmocka_unit_test_teardown(blocks_never_move_and_never_overlap, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_second_round_allocates_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(high_water_is_the_most_at_once_and_not_the_sum, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_cannot_be_is_null_and_changes_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(memory_that_is_gone_leaks_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
