// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs of neighbours by what they promise: each index once, runs that are small in space, one order.

#include "support/support.h"

#include "solver/halves.h"

#include <math.h>
#include <stdlib.h>

enum {
    pointCount = 1003,
    runLength = 8
};

static double sizeOfRun(const srVec3* points, const int32_t* order, int32_t count) {
    srVec3 lower = points[order[0]], upper = lower;
    for (int32_t i = 1; i < count; ++i) {
        lower = srMin(lower, points[order[i]]);
        upper = srMax(upper, points[order[i]]);
    }
    return srDistance(lower, upper);
}

static void runs_are_neighbours_and_hold_each_point_once(void** state) {
    (void)state;
    uint64_t seed = 4;
    srVec3* points = calloc(pointCount, sizeof(srVec3));
    int32_t *order = calloc(pointCount, sizeof(int32_t)), *other = calloc(pointCount, sizeof(int32_t));
    bool* isSeen = calloc(pointCount, sizeof(bool));
    for (int32_t i = 0; i < pointCount; ++i) {
        points[i] = (srVec3){srTestRandom(&seed), srTestRandom(&seed), srTestRandom(&seed)};
        points[i] = i % 5 == 0 ? points[0] : points[i]; // many are alike
        order[i] = i;
        other[i] = pointCount - 1 - i;
    }
    srHalvePoints(points, order, pointCount, runLength);
    srHalvePoints(points, other, pointCount, runLength);
    double sum = 0.0;
    for (int32_t begin = 0; begin < pointCount; begin += runLength) {
        int32_t count = pointCount - begin < runLength ? pointCount - begin : runLength;
        sum += sizeOfRun(points, order + begin, count);
        for (int32_t i = begin; i < begin + count; ++i) {
            assert_true(order[i] >= 0 && order[i] < pointCount && !isSeen[order[i]]);
            isSeen[order[i]] = true;
        }
        // which points are together does not depend on the order they came in
        bool isShared = false;
        for (int32_t i = begin; i < begin + count; ++i) {
            isShared = isShared || other[i] == order[begin];
        }
        assert_true(isShared);
    }
    // 126 runs fill a cube: a side of 0.2, a diagonal of 0.35
    assert_true(sum / ((pointCount + runLength - 1) / runLength) < 0.45);
    free(points);
    free(order);
    free(other);
    free(isSeen);
}

static void few_points_are_one_run(void** state) {
    (void)state;
    srVec3 points[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    int32_t order[3] = {2, 0, 1};
    srHalvePoints(points, order, 3, runLength);
    assert_int_equal(order[0], 2);
    srHalvePoints(points, order, 0, runLength);
    srHalvePoints(points, order, 3, 1);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[2], 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_neighbours_and_hold_each_point_once),
        cmocka_unit_test(few_points_are_one_run),
    };
    return cmocka_run_group_tests_name("solver/halves", tests, NULL, NULL);
}
