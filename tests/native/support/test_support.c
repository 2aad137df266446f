// SPDX-License-Identifier: GPL-3.0-or-later
//
// The helpers themselves: a helper that cannot fail would make all tests worthless, so each is made to fail,
// in a child process that runs a small group of tests of its own.

#include "support/support.h"

#include "core/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Whether the test fails, or its teardown does, when it is run
static bool fails(const struct CMUnitTest* test) {
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stdout);
        (void)!freopen("/dev/null", "w", stderr);
        const struct CMUnitTest tests[] = {*test};
        _exit(cmocka_run_group_tests(tests, NULL, NULL) != 0 ? 7 : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 7)) {
        fail_msg("the child process did not end as it should");
    }
    return WEXITSTATUS(status) == 7;
}

#define assert_test(test, isExpectedToFail)                                                                  \
    do {                                                                                                     \
        const struct CMUnitTest unit = cmocka_unit_test_teardown(test, srTestNothingLeaked);                 \
        assert_int_equal(fails(&unit), (isExpectedToFail));                                                  \
    } while (0)

static void isNear(void** state) {
    (void)state;
    assert_near(1.0, 1.1, 0.2);
}

static void isFar(void** state) {
    (void)state;
    assert_near(1.0, 1.1, 0.05);
}

static void isNotANumber(void** state) {
    (void)state;
    assert_near((double)NAN, 1.0, 1e9);
}

static void isExact(void** state) {
    (void)state;
    assert_near(0.5, 0.5, 0.1);
}

static void nearness_fails_for_what_is_far_and_for_nan(void** state) {
    (void)state;
    unsetenv("SR_TOL_SCALE");
    assert_test(isNear, false);
    assert_test(isFar, true);
    assert_test(isNotANumber, true);
}

static void tolerances_can_be_scaled_from_outside(void** state) {
    (void)state;
    setenv("SR_TOL_SCALE", "3", 1);
    assert_test(isFar, false);
    setenv("SR_TOL_SCALE", "0", 1);
    assert_test(isNear, true);
    assert_test(isExact, false);
    unsetenv("SR_TOL_SCALE");
}

static void keepBytes(void** state) {
    (void)state;
    assert_non_null(srAlloc(10, 1));
}

static void keepNothing(void** state) {
    (void)state;
    srFree(srAlloc(10, 1), 10, 1);
}

static void a_byte_that_is_still_held_fails_the_test(void** state) {
    (void)state;
    assert_test(keepNothing, false);
    assert_test(keepBytes, true);
}

static void succeedAsExpected(void** state) {
    (void)state;
    assert_success(sr_success);
    assert_result(srFail(sr_errorFile, "a sentence"), sr_errorFile);
}

static void failUnexpectedly(void** state) {
    (void)state;
    assert_success(srFail(sr_errorFile, "a sentence"));
}

static void answerAnotherResult(void** state) {
    (void)state;
    assert_result(srFail(sr_errorFile, "a sentence"), sr_errorStaleId);
}

static void sayNothing(void** state) {
    (void)state;
    srSetErrorText("");
    assert_result(sr_errorFile, sr_errorFile);
}

static void results_are_compared_and_must_have_a_sentence(void** state) {
    (void)state;
    assert_test(succeedAsExpected, false);
    assert_test(failUnexpectedly, true);
    assert_test(answerAnotherResult, true);
    assert_test(sayNothing, true);
}

// what the body below does wrong
typedef enum Fault {
    fault_none,
    fault_leak,
    fault_wrongResult,
    fault_ignored,
    fault_noAllocation
} Fault;

static srResult allocateTwice(void* context) {
    const Fault* fault = context;
    if (*fault == fault_noAllocation) {
        return sr_success;
    }
    char* first = SR_ALLOC(char, 10);
    char* second = SR_ALLOC(char, 20);
    srResult result = sr_success;
    if (first == NULL || second == NULL) {
        result = *fault == fault_wrongResult ? srFail(sr_errorInternal, "another fault")
                                             : srFailOutOfMemory("two blocks");
    }
    if (!(*fault == fault_leak && second == NULL)) {
        SR_FREE(first, 10);
    }
    SR_FREE(second, 20);
    return *fault == fault_ignored ? sr_success : result;
}

static Fault plantedFault;

static void tryEveryAllocation(void** state) {
    (void)state;
    srTestEveryAllocationFails(allocateTwice, &plantedFault);
}

static void every_kind_of_carelessness_with_memory_is_found(void** state) {
    (void)state;
    for (Fault fault = fault_none; fault <= fault_noAllocation; fault++) {
        plantedFault = fault;
        assert_test(tryEveryAllocation, fault != fault_none);
    }
}

static void random_numbers_are_even_and_reproducible(void** state) {
    (void)state;
    uint64_t seedA = 42;
    uint64_t seedB = 42;
    int32_t counts[10] = {0};
    for (int32_t i = 0; i < 10000; i++) {
        double a = srTestRandom(&seedA);
        assert_true(a == srTestRandom(&seedB));
        assert_true(a >= 0.0 && a < 1.0);
        counts[(int32_t)(10.0 * a)]++;
    }
    for (int32_t i = 0; i < 10; i++) {
        // five standard deviations of 30
        assert_in_range(counts[i], 850, 1150);
    }
}

static void paths_lie_in_a_folder_that_is_there(void** state) {
    (void)state;
    char path[600];
    srTestPath("some.file", path, sizeof(path));
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    char folder[600];
    struct stat info;
    srTestPath("", folder, sizeof(folder));
    assert_int_equal(stat(folder, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
}

// Six times the volume, from the triangles' corners: positive when they are seen counter-clockwise from
// outside
static double volumeOf(const float* points, const int32_t* triangles, int32_t triangleCount) {
    double volume = 0.0;
    for (int32_t t = 0; t < triangleCount; t++) {
        double p[3][3];
        for (int32_t k = 0; k < 9; k++) {
            p[k / 3][k % 3] = (double)points[3 * triangles[3 * t + k / 3] + k % 3];
        }
        volume += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                  p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                  p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return volume / 6.0;
}

static int32_t countEdge(const int32_t* triangles, int32_t triangleCount, int32_t from, int32_t to) {
    int32_t count = 0;
    for (int32_t t = 0; t < triangleCount; t++) {
        for (int32_t k = 0; k < 3; k++) {
            count += triangles[3 * t + k] == from && triangles[3 * t + (k + 1) % 3] == to;
        }
    }
    return count;
}

static void spheres_are_closed_round_and_turned_outwards(void** state) {
    (void)state;
    for (int32_t level = 0; level <= 2; level++) {
        float* points = NULL;
        int32_t* triangles = NULL;
        int32_t pointCount = 0;
        int32_t triangleCount = 0;
        srTestSphere(level, 3.0f, &points, &pointCount, &triangles, &triangleCount);
        assert_int_equal(triangleCount, 20 << (2 * level));
        assert_int_equal(pointCount, triangleCount / 2 + 2);
        for (int32_t i = 0; i < pointCount; i++) {
            const float* p = &points[3 * i];
            // a few units of rounding of a float of this size
            assert_near(sqrt((double)(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])), 3.0, 1e-6);
        }
        for (int32_t t = 0; t < triangleCount; t++) {
            for (int32_t k = 0; k < 3; k++) {
                int32_t from = triangles[3 * t + k];
                int32_t to = triangles[3 * t + (k + 1) % 3];
                assert_int_equal(countEdge(triangles, triangleCount, from, to), 1);
                assert_int_equal(countEdge(triangles, triangleCount, to, from), 1);
            }
        }
        // inscribed, so smaller than the ball of 113.1; an icosahedron has six tenths of it
        double volume = volumeOf(points, triangles, triangleCount);
        assert_true(volume > 113.09 * 0.6 && volume < 113.1);
        free(points);
        free(triangles);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearness_fails_for_what_is_far_and_for_nan),
        cmocka_unit_test(tolerances_can_be_scaled_from_outside),
        cmocka_unit_test(a_byte_that_is_still_held_fails_the_test),
        cmocka_unit_test(results_are_compared_and_must_have_a_sentence),
        cmocka_unit_test(every_kind_of_carelessness_with_memory_is_found),
        cmocka_unit_test(random_numbers_are_even_and_reproducible),
        cmocka_unit_test(paths_lie_in_a_folder_that_is_there),
        cmocka_unit_test(spheres_are_closed_round_and_turned_outwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
