// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/buckets.h"

#include "core/parallel.h"
#include "support/support.h"

enum {
    itemCount = 20000,
    bucketCount = 500
};

typedef struct Items {
    int32_t buckets[itemCount];
    uint64_t keys[itemCount];
} Items;

// a crowd in one bucket, few keys, some in none
static void fillItems(Items* items) {
    uint64_t seed = 3;
    for (int32_t i = 0; i < itemCount; i++) {
        double crowd = srTestRandom(&seed);
        items->buckets[i] = crowd < 0.2 ? 7 : (int32_t)(srTestRandom(&seed) * (bucketCount + 1)) - 1;
        items->keys[i] = (uint64_t)(srTestRandom(&seed) * 30.0) << (i % 2 * 33);
    }
}

static void items_are_sorted_in_their_bucket(void** state) {
    (void)state;
    const srProgress nobody = {0};
    static Items items;
    srBuckets buckets;
    fillItems(&items);
    assert_success(srSortIntoBuckets(items.buckets, items.keys, itemCount, bucketCount, &nobody, &buckets));
    int32_t without = 0;
    for (int32_t i = 0; i < itemCount; i++) {
        without += items.buckets[i] < 0;
    }
    assert_int_equal(buckets.starts[0], 0);
    assert_int_equal(buckets.starts[bucketCount], itemCount - without);
    for (int32_t b = 0; b < bucketCount; b++) {
        for (int32_t i = buckets.starts[b]; i < buckets.starts[b + 1]; i++) {
            const srKeyed* item = &buckets.items[i];
            assert_int_equal(items.buckets[item->value], b);
            assert_true(items.keys[item->value] == item->key);
            bool isFirst = i == buckets.starts[b];
            assert_true(isFirst || item[-1].key < item->key ||
                        (item[-1].key == item->key && item[-1].value < item->value));
        }
    }
    srDestroyBuckets(&buckets);
}

static void runs_are_found(void** state) {
    (void)state;
    const srProgress nobody = {0};
    static Items items;
    srBuckets buckets;
    fillItems(&items);
    assert_success(srSortIntoBuckets(items.buckets, items.keys, itemCount, bucketCount, &nobody, &buckets));
    for (int32_t b = 0; b < 20; b++) {
        for (int32_t i = buckets.starts[b], end; i < buckets.starts[b + 1]; i = end) {
            end = srEndOfRun(&buckets, b, i);
            assert_int_equal(srFindInBucket(&buckets, b, buckets.items[i].key), i);
            assert_true(buckets.items[end - 1].key == buckets.items[i].key);
        }
        assert_int_equal(srFindInBucket(&buckets, b, 31), buckets.starts[b + 1]);
        assert_int_equal(srFindInBucket(&buckets, b, UINT64_MAX), buckets.starts[b + 1]);
    }
    srDestroyBuckets(&buckets);
}

static srResult sortAndDestroy(void* context) {
    const srProgress nobody = {0};
    const Items* items = context;
    srBuckets buckets;
    SR_TRY(srSortIntoBuckets(items->buckets, items->keys, itemCount, bucketCount, &nobody, &buckets));
    srDestroyBuckets(&buckets);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    static Items items;
    fillItems(&items);
    srTestEveryAllocationFails(sortAndDestroy, &items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(items_are_sorted_in_their_bucket, srTestNothingLeaked),
        cmocka_unit_test_teardown(runs_are_found, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/buckets", tests, NULL, NULL);
}
