// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/axes.h"

#include "mesh/solids.h"

#include <string.h>

static srSurface makeTiltedBox(double length, double yaw, double pitch) {
    const double lower[3] = {-1.0, -1.0, -length}, size[3] = {2.0, 2.0, 2.0 * length};
    Soup soup = {0};
    addBox(&soup, lower, size);
    for (int32_t p = 0; p < soup.pointCount; p++) {
        float* x = soup.points + 3 * p;
        double y = cos(pitch) * (double)x[1] - sin(pitch) * (double)x[2];
        double z = sin(pitch) * (double)x[1] + cos(pitch) * (double)x[2];
        double across = cos(yaw) * (double)x[0] - sin(yaw) * y,
               along = sin(yaw) * (double)x[0] + cos(yaw) * y;
        x[0] = (float)across, x[1] = (float)along, x[2] = (float)z;
    }
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static void what_is_long_and_askew_is_turned(void** state) {
    (void)state;
    static const struct {
        double length, yaw, pitch;
        bool isTurned;
    } cases[] = {
        {10.0, 0.5, 0.5, true},     {1000.0, 0.9, 0.1, true}, {10.0, 0.0, 0.0, false},
        {10.0, 0.0, 1.5708, false}, {1.0, 0.5, 0.5, false},   {2.0, 0.5, 0.5, false},
    };
    for (int c = 0; c < SR_ARRAY_COUNT(cases); c++) {
        srSurface surface = makeTiltedBox(cases[c].length, cases[c].yaw, cases[c].pitch);
        srAxes axes;
        assert_int_equal(srFindAxes(&surface, &axes), cases[c].isTurned);
        srDestroySurface(&surface);
    }
}

// The box lies along the third axis then, and comes back to where it was to rounding.
static void turning_makes_the_box_narrow_and_back_is_back(void** state) {
    (void)state;
    srSurface surface = makeTiltedBox(20.0, 0.5, 0.7), turned;
    srAxes axes;
    assert_true(srFindAxes(&surface, &axes));
    assert_success(srTurnIntoAxes(&surface, &axes, &turned));
    srVec3 extent = srSub(turned.upper, turned.lower);
    assert_near(extent.z, 40.0, 1e-5); // coordinates are floats of up to 40
    assert_true(extent.x < 2.83 && extent.y < 2.83);
    assert_true(turned.size == surface.size);
    srTurnOutOfAxes(&axes, turned.points, turned.pointCount);
    for (int32_t p = 0; p < surface.pointCount; p++) {
        assert_near(srDistance(turned.points[p], surface.points[p]), 0.0, 1e-13);
    }
    srDestroySurface(&turned);
    srDestroySurface(&surface);
}

// A shape that is mirrored by x stays so: one of its axes is x.
static void mirrored_shapes_keep_their_mirror(void** state) {
    (void)state;
    srSurface surface = makeTiltedBox(10.0, 0.0, 0.6);
    srAxes axes;
    assert_true(srFindAxes(&surface, &axes));
    assert_near(fabs(axes.directions[0].x), 1.0, 1e-14);
    srDestroySurface(&surface);
}

static srResult turnAndDestroy(void* context) {
    srSurface* surface = context;
    srSurface turned;
    srAxes axes;
    assert_true(srFindAxes(surface, &axes));
    SR_TRY(srTurnIntoAxes(surface, &axes, &turned));
    srDestroySurface(&turned);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeTiltedBox(10.0, 0.5, 0.5);
    srTestEveryAllocationFails(turnAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_long_and_askew_is_turned, srTestNothingLeaked),
        cmocka_unit_test_teardown(turning_makes_the_box_narrow_and_back_is_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(mirrored_shapes_keep_their_mirror, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/axes", tests, NULL, NULL);
}
