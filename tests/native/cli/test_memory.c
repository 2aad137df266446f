// SPDX-License-Identifier: GPL-3.0-or-later
//
// Arrays that grow.

#include "support/support.h"

#include "cli/memory.h"

static void appended_values_stay_in_their_order(void** state) {
    (void)state;
    srCliInts ints = {0};
    srCliFloats floats = {0};
    srCliBytes bytes = {0};
    for (int32_t i = 0; i < 10000; ++i) {
        float values[2] = {(float)i, (float)-i};
        char byte = (char)(i & 0x7F);
        assert_true(srCliInts_Append(&ints, &i, 1));
        assert_true(srCliFloats_Append(&floats, values, 2));
        assert_true(srCliBytes_Append(&bytes, &byte, 1));
    }
    assert_int_equal(ints.count, 10000);
    assert_int_equal(floats.count, 20000);
    assert_true(ints.capacity < 40000);
    for (int32_t i = 0; i < 10000; ++i) {
        float wanted = (float)-i;
        assert_int_equal(ints.items[i], i);
        assert_memory_equal(&floats.items[2 * i + 1], &wanted, sizeof(float));
        assert_int_equal(bytes.items[i], i & 0x7F);
    }
    srCliInts_Free(&ints);
    srCliFloats_Free(&floats);
    srCliBytes_Free(&bytes);
    assert_null(ints.items);
}

static void a_refused_allocation_leaves_the_array_as_it_was(void** state) {
    (void)state;
    srCliInts ints = {0};
    int32_t values[64] = {1, 2, 3};
    assert_true(srCliInts_Append(&ints, values, 3));
    srCliSetAllocationLimit(0);
    bool isAppended = srCliInts_Append(&ints, values, 64);
    srCliSetAllocationLimit(-1);
    assert_false(isAppended);
    assert_int_equal(ints.count, 3);
    assert_int_equal(ints.items[2], 3);
    srCliInts_Free(&ints);
}

static void a_size_that_would_overflow_is_refused(void** state) {
    (void)state;
    srCliFloats floats = {0};
    float value = 1.0f;
    assert_true(srCliFloats_Append(&floats, &value, 1));
    assert_false(srCliFloats_Append(&floats, &value, SIZE_MAX / sizeof(float)));
    assert_false(srCliFloats_Append(&floats, &value, SIZE_MAX));
    assert_int_equal(floats.count, 1);
    srCliFloats_Free(&floats);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_values_stay_in_their_order),
        cmocka_unit_test(a_refused_allocation_leaves_the_array_as_it_was),
        cmocka_unit_test(a_size_that_would_overflow_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
