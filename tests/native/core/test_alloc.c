// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/alloc: counting, overflow, failure injection, hooks, blocks for other libraries.

#include "core/alloc.h"

#include "support/support.h"

#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

static void bytes_are_counted_until_they_are_freed(void** state) {
    (void)state;
    size_t before = srAlloc_GetByteCount();
    double* numbers = SR_ALLOC(double, 100);
    assert_non_null(numbers);
    assert_int_equal(srAlloc_GetByteCount() - before, 800);
    char* letters = SR_ALLOC(char, 3);
    assert_int_equal(srAlloc_GetByteCount() - before, 803);
    SR_FREE(numbers, 100);
    SR_FREE(letters, 3);
    assert_int_equal(srAlloc_GetByteCount(), before);
}

static void blocks_of_any_size_are_aligned(void** state) {
    (void)state;
    for (size_t size = 1; size < 200; size++) {
        void* block = srAlloc(size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % SR_ALIGNMENT, 0);
        memset(block, 1, size);
        srFree(block, size, 1);
    }
}

static void nothing_and_too_much_are_null_and_hold_nothing(void** state) {
    (void)state;
    size_t before = srAlloc_GetByteCount();
    assert_null(srAlloc(0, 8));
    assert_null(srAlloc(8, 0));
    assert_null(srAlloc(SIZE_MAX, 2));
    assert_null(srAlloc(SIZE_MAX / 2 + 2, 2));
    assert_null(srAllocZero((size_t)PTRDIFF_MAX, 3));
    assert_null(srRealloc(NULL, 0, SIZE_MAX / 4, 8));
    assert_null(srMallocForeign(SIZE_MAX));
    assert_null(srMallocForeign((size_t)PTRDIFF_MAX));
    assert_null(srCallocForeign(SIZE_MAX / 4, 8));
    assert_int_equal(srAlloc_GetByteCount(), before);
    srFree(NULL, 5, 5);
    srFreeForeign(NULL);
}

static void products_are_exact_or_refused(void** state) {
    (void)state;
    size_t size = 7;
    assert_true(srMultiplySizes((size_t)PTRDIFF_MAX, 1, &size));
    assert_int_equal(size, PTRDIFF_MAX);
    assert_true(srMultiplySizes(SIZE_MAX, 0, &size));
    assert_int_equal(size, 0);
    assert_false(srMultiplySizes((size_t)PTRDIFF_MAX + 1, 1, &size));
    assert_false(srMultiplySizes((size_t)1 << 32, (size_t)1 << 32, &size));
}

static void zeroed_blocks_are_zero_though_the_memory_was_used(void** state) {
    (void)state;
    for (int32_t round = 0; round < 20; round++) {
        unsigned char* block = SR_ALLOC_ZERO(unsigned char, 1000);
        assert_non_null(block);
        for (int32_t i = 0; i < 1000; i++) {
            assert_int_equal(block[i], 0);
        }
        memset(block, 0xff, 1000);
        SR_FREE(block, 1000);
    }
}

static void a_grown_block_keeps_its_elements(void** state) {
    (void)state;
    int32_t* numbers = srRealloc(NULL, 0, 10, sizeof(int32_t));
    assert_non_null(numbers);
    for (int32_t i = 0; i < 10; i++) {
        numbers[i] = i * i;
    }
    numbers = srRealloc(numbers, 10, 1000, sizeof(int32_t));
    numbers = srRealloc(numbers, 1000, 5, sizeof(int32_t));
    for (int32_t i = 0; i < 5; i++) {
        assert_int_equal(numbers[i], i * i);
    }

    // what cannot grow is still there
    srAlloc_FailAt(1, false);
    assert_null(srRealloc(numbers, 5, 50, sizeof(int32_t)));
    assert_int_equal(numbers[4], 16);
    SR_FREE(numbers, 5);
}

static void the_chosen_allocation_fails_and_no_other(void** state) {
    (void)state;
    srAlloc_FailAt(3, false);
    void* blocks[5];
    for (int32_t i = 0; i < 5; i++) {
        blocks[i] = srAlloc(1, 8);
        assert_int_equal(blocks[i] == NULL, i == 2);
        srFree(blocks[i], 1, 8);
    }
}

static void all_after_the_chosen_one_fail_until_it_is_switched_off(void** state) {
    (void)state;
    int64_t countBefore = srAlloc_GetCount();
    srAlloc_FailAt(2, true);
    void* first = srAlloc(1, 8);
    assert_non_null(first);
    for (int32_t i = 0; i < 10; i++) {
        assert_null(srAlloc(1, 8));
        assert_null(srMallocForeign(8));
    }
    srAlloc_FailAt(0, false);
    assert_int_equal(srAlloc_GetCount() - countBefore, 21);
    void* second = srAlloc(1, 8);
    assert_non_null(second);
    srFree(first, 1, 8);
    srFree(second, 1, 8);
}

static void foreign_blocks_behave_like_the_c_librarys(void** state) {
    (void)state;
    size_t before = srAlloc_GetByteCount();
    unsigned char* block = srMallocForeign(10);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % SR_ALIGNMENT, 0);
    assert_true(srAlloc_GetByteCount() >= before + 10);
    memset(block, 7, 10);
    block = srReallocForeign(block, 5000);
    assert_non_null(block);
    for (int32_t i = 0; i < 10; i++) {
        assert_int_equal(block[i], 7);
    }

    // what cannot grow is still there
    srAlloc_FailAt(1, false);
    assert_null(srReallocForeign(block, 50000));
    assert_int_equal(block[9], 7);
    srFreeForeign(block);

    unsigned char* zeroed = srCallocForeign(11, 13);
    assert_non_null(zeroed);
    for (int32_t i = 0; i < 11 * 13; i++) {
        assert_int_equal(zeroed[i], 0);
    }
    srFreeForeign(zeroed);

    void* empty = srMallocForeign(0);
    assert_non_null(empty);
    empty = srReallocForeign(empty, 0);
    assert_non_null(empty);
    srFreeForeign(empty);
    assert_int_equal(srAlloc_GetByteCount(), before);
}

typedef struct HostMemory {
    size_t bytesHeld;
    int32_t callCount;
    size_t offset; // from a proper alignment
} HostMemory;

static void* hostAlloc(size_t size, size_t alignment, void* context) {
    HostMemory* host = context;
    unsigned char* block = aligned_alloc(alignment, (size / alignment + 2) * alignment);
    host->bytesHeld += size;
    host->callCount++;
    return block != NULL ? block + host->offset : NULL;
}

static void hostFree(void* block, size_t size, void* context) {
    HostMemory* host = context;
    host->bytesHeld -= size;
    free((unsigned char*)block - host->offset);
}

static void the_hosts_hooks_serve_all_blocks_and_get_all_sizes_back(void** state) {
    (void)state;
    HostMemory host = {0};
    srAllocator allocator = {sizeof(srAllocator), hostAlloc, hostFree, &host};
    assert_success(srSetAllocHooks(&allocator));
    int32_t* numbers = SR_ALLOC(int32_t, 10);
    numbers = srRealloc(numbers, 10, 30, sizeof(int32_t));
    void* foreign = srReallocForeign(srMallocForeign(100), 200);
    assert_int_equal(host.callCount, 4);
    assert_int_equal(host.bytesHeld, srAlloc_GetByteCount());

    // not while anything is held
    assert_result(srSetAllocHooks(NULL), sr_errorNotReady);
    SR_FREE(numbers, 30);
    srFreeForeign(foreign);
    assert_int_equal(host.bytesHeld, 0);
    assert_success(srSetAllocHooks(NULL));
    numbers = SR_ALLOC(int32_t, 1);
    assert_int_equal(host.callCount, 4);
    SR_FREE(numbers, 1);
}

static void a_misaligned_block_of_the_host_is_given_back(void** state) {
    (void)state;
    HostMemory host = {.offset = 16};
    srAllocator allocator = {sizeof(srAllocator), hostAlloc, hostFree, &host};
    assert_success(srSetAllocHooks(&allocator));
    assert_null(srAlloc(10, 10));
    assert_int_equal(host.callCount, 1);
    assert_int_equal(host.bytesHeld, 0);
    assert_success(srSetAllocHooks(NULL));
}

static void allocateAndFree(void* context) {
    (void)context;
    for (int32_t i = 1; i < 2000; i++) {
        void* block = srAlloc((size_t)i, 3);
        srFree(block, (size_t)i, 3);
    }
}

static void the_count_is_right_with_several_threads(void** state) {
    (void)state;
    size_t before = srAlloc_GetByteCount();
    srThread* threads[3] = {NULL};
    for (int32_t i = 0; i < 3; i++) {
        assert_success(srStartThread(allocateAndFree, NULL, &threads[i]));
    }
    allocateAndFree(NULL);
    for (int32_t i = 0; i < 3; i++) {
        srJoinThread(threads[i]);
    }
    assert_int_equal(srAlloc_GetByteCount(), before);
}

static void a_watch_sees_the_most_that_was_held_at_once(void** state) {
    (void)state;
    size_t before = srAlloc_GetByteCount();
    int32_t outer = srAlloc_BeginWatch();
    char* first = SR_ALLOC(char, 1000);
    char* second = SR_ALLOC(char, 5000);
    SR_FREE(second, 5000);
    int32_t inner = srAlloc_BeginWatch();
    char* third = SR_ALLOC(char, 2000);
    void* foreign = srMallocForeign(100);
    srFreeForeign(foreign);
    SR_FREE(third, 2000);
    size_t seen = srAlloc_EndWatch(inner);
    assert_true(seen >= before + 3100 && seen < before + 3500); // the foreign block's header
    SR_FREE(first, 1000);
    assert_true(srAlloc_EndWatch(outer) == before + 6000);

    // as many as there are, one too many, and again
    for (int round = 0; round < 2; ++round) {
        int32_t watches[9];
        for (int i = 0; i < 9; ++i) {
            watches[i] = srAlloc_BeginWatch();
        }
        assert_int_equal(watches[8], -1);
        for (int i = 0; i < 9; ++i) {
            assert_true(srAlloc_EndWatch(watches[i]) == before);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bytes_are_counted_until_they_are_freed, srTestNothingLeaked),
        cmocka_unit_test_teardown(blocks_of_any_size_are_aligned, srTestNothingLeaked),
        cmocka_unit_test_teardown(nothing_and_too_much_are_null_and_hold_nothing, srTestNothingLeaked),
        cmocka_unit_test(products_are_exact_or_refused),
        cmocka_unit_test_teardown(zeroed_blocks_are_zero_though_the_memory_was_used, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_grown_block_keeps_its_elements, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_chosen_allocation_fails_and_no_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(all_after_the_chosen_one_fail_until_it_is_switched_off,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(foreign_blocks_behave_like_the_c_librarys, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_hosts_hooks_serve_all_blocks_and_get_all_sizes_back,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_misaligned_block_of_the_host_is_given_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_count_is_right_with_several_threads, srTestNothingLeaked),
        cmocka_unit_test(a_watch_sees_the_most_that_was_held_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
