// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/simd_path.h"

#include "core/thread.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void askForPath(void* context) {
    *(srSimdPath*)context = srGetSimdPath();
}

// must run first: nobody has asked yet
static void threads_that_ask_at_once_get_the_same_path(void** state) {
    (void)state;
    srThread* threads[4];
    srSimdPath paths[4];
    for (int i = 0; i < 4; i++) {
        assert_success(srStartThread(askForPath, &paths[i], &threads[i]));
    }
    for (int i = 0; i < 4; i++) {
        srJoinThread(threads[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(paths[i], srGetSimdPath());
        assert_true(srHasSimdPath(paths[i]));
    }
}

static void the_widest_path_there_is_is_taken(void** state) {
    (void)state;
    bool hasWide = srHasSimdPath(sr_simdAvx2) || srHasSimdPath(sr_simdNeon);
    bool isOff = getenv("SR_TEST_SIMD") != NULL; // the tests' own switch
    assert_int_equal(srGetSimdPath() != sr_simdScalar, hasWide && !isOff);
}

static void the_scalar_path_is_always_there(void** state) {
    (void)state;
    srSimdPath before = srGetSimdPath();
    assert_true(srForceSimdPath(sr_simdScalar));
    assert_int_equal(srGetSimdPath(), sr_simdScalar);
    assert_true(srForceSimdPath(before));
}

static void a_path_that_is_not_there_is_refused(void** state) {
    (void)state;
    srSimdPath before = srGetSimdPath();
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        bool isThere = srHasSimdPath((srSimdPath)path);
        assert_int_equal(srForceSimdPath((srSimdPath)path), isThere);
        srSimdPath expected = isThere ? (srSimdPath)path : before;
        assert_int_equal(srGetSimdPath(), expected);
        srForceSimdPath(before);
    }
    // no processor is both
    assert_false(srHasSimdPath(sr_simdAvx2) && srHasSimdPath(sr_simdNeon));
    // the wider path leans on the other one
    assert_true(srHasSimdPath(sr_simdAvx2) || !srHasSimdPath(sr_simdAvx512));
}

static void paths_have_names_of_their_own(void** state) {
    (void)state;
    assert_true(strcmp(srGetSimdPathName(sr_simdScalar), srGetSimdPathName(sr_simdAvx2)) != 0);
    assert_true(strcmp(srGetSimdPathName(sr_simdScalar), srGetSimdPathName(sr_simdNeon)) != 0);
    assert_true(strcmp(srGetSimdPathName(sr_simdAvx2), srGetSimdPathName(sr_simdNeon)) != 0);
    assert_true(strcmp(srGetSimdPathName(sr_simdAvx2), srGetSimdPathName(sr_simdAvx512)) != 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_that_ask_at_once_get_the_same_path, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_widest_path_there_is_is_taken, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_scalar_path_is_always_there, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_path_that_is_not_there_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(paths_have_names_of_their_own, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/simd_path", tests, NULL, NULL);
}
