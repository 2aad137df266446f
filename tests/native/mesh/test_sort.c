// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/sort.h"

#include "support/support.h"

enum {
    capacity = 2000
};

static srKeyed items[capacity], scratch[capacity];

static void checkSorted(int32_t count) {
    srSortKeyed(items, scratch, count);
    for (int32_t i = 1; i < count; i++) {
        assert_true(items[i - 1].key <= items[i].key);
        // values were given ascending, so they still ascend among equals
        assert_true(items[i - 1].key < items[i].key || items[i - 1].value < items[i].value);
    }
}

static void keys_ascend_and_equals_keep_their_order(void** state) {
    (void)state;
    uint64_t seed = 9;
    for (int32_t count = 0; count < capacity; count = 2 * count + 1) {
        for (int32_t i = 0; i < count; i++) {
            uint64_t few = (uint64_t)(50.0 * srTestRandom(&seed));
            items[i] = (srKeyed){few << 40 | few % 3, i};
        }
        checkSorted(count);
    }
}

static void all_bytes_of_a_key_count(void** state) {
    (void)state;
    for (int byte = 0; byte < 8; byte++) {
        for (int32_t i = 0; i < 200; i++) {
            items[i] = (srKeyed){(uint64_t)(199 - i) << (8 * byte), i};
        }
        checkSorted(200);
        assert_int_equal(items[0].value, 199);
    }
}

static void an_edge_has_one_key(void** state) {
    (void)state;
    assert_true(srEdgeKey(3, 70000) == srEdgeKey(70000, 3));
    assert_true(srEdgeKey(3, 70000) == srPairKey(3, 70000));
    assert_true(srPairKey(3, 70000) < srPairKey(4, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_ascend_and_equals_keep_their_order),
        cmocka_unit_test(all_bytes_of_a_key_count),
        cmocka_unit_test(an_edge_has_one_key),
    };
    return cmocka_run_group_tests_name("mesh/sort", tests, NULL, NULL);
}
