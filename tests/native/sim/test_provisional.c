// SPDX-License-Identifier: GPL-3.0-or-later
//
// A wish goes to the worker once; what comes of it is there until the shot changes.

#include "sim/provisional.h"
#include "support/support.h"

#define NODES 5

static void a_wish_is_taken_once_and_only_for_a_later_row(void** state) {
    (void)state;
    srProvisional provisional;
    assert_success(srCreateProvisional(NODES, &provisional));
    assert_int_equal(srProvisional_TakeWish(&provisional, 0), SR_NULL_INDEX);
    srProvisional_Ask(&provisional, 7);
    srProvisional_Ask(&provisional, 9);
    srProvisional_Forget(&provisional); // the shot changed: the wish is for the new one
    assert_int_equal(srProvisional_TakeWish(&provisional, 3), 9);
    assert_int_equal(srProvisional_TakeWish(&provisional, 3), SR_NULL_INDEX);
    srProvisional_Ask(&provisional, 3);
    assert_int_equal(srProvisional_TakeWish(&provisional, 3), SR_NULL_INDEX);
    srProvisional_Ask(&provisional, 2);
    assert_int_equal(srProvisional_TakeWish(&provisional, 3), SR_NULL_INDEX);
    srDestroyProvisional(&provisional);
}

static void what_is_published_can_be_read_until_it_is_forgotten(void** state) {
    (void)state;
    srProvisional provisional;
    assert_success(srCreateProvisional(NODES, &provisional));
    assert_int_equal(srProvisional_GetRow(&provisional), SR_NULL_INDEX);
    assert_null(srProvisional_BeginRead(&provisional, 4));
    for (int32_t row = 4; row < 7; ++row) {
        provisional.made[2].y = (float)row;
        srProvisional_Publish(&provisional, row);
        assert_int_equal(srProvisional_GetRow(&provisional), row);
        assert_null(srProvisional_BeginRead(&provisional, row - 1));
        const srVec3f* offsets = srProvisional_BeginRead(&provisional, row);
        assert_non_null(offsets);
        assert_true(offsets[2].y == (float)row);
        assert_ptr_not_equal(offsets, provisional.made);
        srProvisional_EndRead(&provisional);
    }
    srProvisional_Forget(&provisional);
    assert_int_equal(srProvisional_GetRow(&provisional), SR_NULL_INDEX);
    assert_null(srProvisional_BeginRead(&provisional, 6));
    srDestroyProvisional(&provisional);
}

static srResult makeOne(void* context) {
    (void)context;
    srProvisional provisional;
    SR_TRY(srCreateProvisional(NODES, &provisional));
    srDestroyProvisional(&provisional);
    return sr_success;
}

static void without_memory_nothing_is_left(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeOne, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wish_is_taken_once_and_only_for_a_later_row),
        cmocka_unit_test(what_is_published_can_be_read_until_it_is_forgotten),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("sim/provisional", tests, NULL, srTestNothingLeaked);
}
