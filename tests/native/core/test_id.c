// SPDX-License-Identifier: GPL-3.0-or-later
//
// core/id: stale, foreign and null ids are found out; no id is given out twice.

#include "core/id.h"

#include "support/support.h"

#include "core/alloc.h"

static bool isSame(srRawId a, srRawId b) {
    return a.index1 == b.index1 && a.generation == b.generation;
}

static void an_id_finds_its_object_until_it_is_removed(void** state) {
    (void)state;
    srIdPool pool = {0};
    int objects[3];
    srRawId ids[3];
    for (int32_t i = 0; i < 3; i++) {
        assert_success(srIdPool_Add(&pool, &objects[i], &ids[i]));
    }
    for (int32_t i = 0; i < 3; i++) {
        assert_ptr_equal(srIdPool_Find(&pool, ids[i]), &objects[i]);
    }
    assert_int_equal(pool.liveCount, 3);
    assert_ptr_equal(srIdPool_Remove(&pool, ids[1]), &objects[1]);
    assert_null(srIdPool_Find(&pool, ids[1]));
    assert_null(srIdPool_Remove(&pool, ids[1]));
    assert_ptr_equal(srIdPool_Find(&pool, ids[0]), &objects[0]);
    assert_ptr_equal(srIdPool_Find(&pool, ids[2]), &objects[2]);
    assert_int_equal(pool.liveCount, 2);
    srIdPool_Remove(&pool, ids[0]);
    srIdPool_Remove(&pool, ids[2]);
    srIdPool_Free(&pool);
}

static void a_stale_id_does_not_find_who_took_its_slot(void** state) {
    (void)state;
    srIdPool pool = {0};
    int first;
    int second;
    srRawId old;
    srRawId fresh;
    assert_success(srIdPool_Add(&pool, &first, &old));
    srIdPool_Remove(&pool, old);
    assert_success(srIdPool_Add(&pool, &second, &fresh));
    assert_int_equal(old.index1, fresh.index1);
    assert_null(srIdPool_Find(&pool, old));
    assert_null(srIdPool_Remove(&pool, old));
    assert_ptr_equal(srIdPool_Remove(&pool, fresh), &second);
    srIdPool_Free(&pool);
}

static void null_and_invented_ids_find_nothing(void** state) {
    (void)state;
    srIdPool pool = {0};
    assert_null(srIdPool_Find(&pool, (srRawId){0, 0}));
    assert_null(srIdPool_Find(&pool, (srRawId){1, 1}));
    int object;
    srRawId id;
    assert_success(srIdPool_Add(&pool, &object, &id));
    const srRawId invented[] = {{0, 0},
                                {0, id.generation},
                                {id.index1, 0},
                                {id.index1, id.generation + 1},
                                {id.index1 + 1, id.generation},
                                {UINT32_MAX, id.generation},
                                {0x80000000u, id.generation},
                                {17, 0}};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(invented); i++) {
        assert_null(srIdPool_Find(&pool, invented[i]));
        assert_null(srIdPool_Remove(&pool, invented[i]));
    }
    assert_ptr_equal(srIdPool_Remove(&pool, id), &object);
    srIdPool_Free(&pool);
}

#define ID_COUNT 500

static void no_id_is_given_out_twice_though_the_pool_was_freed(void** state) {
    (void)state;
    srIdPool pool = {0};
    int object;
    srRawId seen[ID_COUNT];
    for (int32_t i = 0; i < ID_COUNT; i++) {
        assert_success(srIdPool_Add(&pool, &object, &seen[i]));
        assert_true(seen[i].index1 != 0 && seen[i].generation != 0);
        for (int32_t k = 0; k < i; k++) {
            assert_false(isSame(seen[i], seen[k]));
        }
        srIdPool_Remove(&pool, seen[i]);
        if (i % 7 == 0) {
            srIdPool_Free(&pool);
        }
    }
    srIdPool_Free(&pool);
}

static void the_generation_after_the_last_is_not_the_null_ids(void** state) {
    (void)state;
    srIdPool pool = {.lastGeneration = UINT32_MAX};
    int object;
    srRawId id;
    assert_success(srIdPool_Add(&pool, &object, &id));
    assert_int_equal(id.generation, 1);
    srIdPool_Remove(&pool, id);
    srIdPool_Free(&pool);
}

static void next_meets_every_living_object_once(void** state) {
    (void)state;
    srIdPool pool = {0};
    int objects[100];
    int visits[100] = {0};
    srRawId ids[100];
    for (int32_t i = 0; i < 100; i++) {
        assert_success(srIdPool_Add(&pool, &objects[i], &ids[i]));
    }
    for (int32_t i = 0; i < 100; i += 3) {
        srIdPool_Remove(&pool, ids[i]);
    }

    int32_t cursor = 0;
    srRawId id;
    for (int* object = srIdPool_Next(&pool, &cursor, &id); object != NULL;
         object = srIdPool_Next(&pool, &cursor, &id)) {
        int32_t i = (int32_t)(object - objects);
        visits[i]++;
        assert_true(isSame(id, ids[i]));
        // taking out what was just met is allowed
        assert_ptr_equal(srIdPool_Remove(&pool, id), object);
    }
    for (int32_t i = 0; i < 100; i++) {
        assert_int_equal(visits[i], i % 3 == 0 ? 0 : 1);
    }
    assert_int_equal(pool.liveCount, 0);
    srIdPool_Free(&pool);
}

static srResult fillPool(void* context) {
    (void)context;
    srIdPool pool = {0};
    srResult result = sr_success;
    int object;
    srRawId ids[100];
    int32_t count = 0;
    while (count < 100 && result == sr_success) {
        result = srIdPool_Add(&pool, &object, &ids[count]);
        count += result == sr_success;
    }
    // those that got in are still there
    for (int32_t i = 0; i < count; i++) {
        assert_ptr_equal(srIdPool_Remove(&pool, ids[i]), &object);
    }
    srIdPool_Free(&pool);
    return result;
}

static void memory_that_is_gone_leaves_the_pool_as_it_was(void** state) {
    (void)state;
    srTestEveryAllocationFails(fillPool, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_id_finds_its_object_until_it_is_removed, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_stale_id_does_not_find_who_took_its_slot, srTestNothingLeaked),
        cmocka_unit_test_teardown(null_and_invented_ids_find_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_id_is_given_out_twice_though_the_pool_was_freed, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_generation_after_the_last_is_not_the_null_ids, srTestNothingLeaked),
        cmocka_unit_test_teardown(next_meets_every_living_object_once, srTestNothingLeaked),
        cmocka_unit_test_teardown(memory_that_is_gone_leaves_the_pool_as_it_was, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
