// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/surface.h"

#include "mesh/solids.h"

static srResult create(const Soup* soup, srSurface* outSurface, srSurfaceReport* outReport) {
    return srCreateSurface(soup->points, soup->pointCount, soup->triangles, soup->triangleCount, outSurface,
                           outReport);
}

static void closed_sphere_has_nothing_odd(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 3.0, 1.0, 2.0, 3.0);
    srSurface surface;
    srSurfaceReport report;
    assert_success(create(&soup, &surface, &report));
    assert_memory_equal(&report, &(srSurfaceReport){0}, sizeof(report));
    assert_int_equal(surface.triangleCount, 320);
    assert_int_equal(surface.pointCount, soup.pointCount);
    assert_true(surface.lower.x >= -2.0001 && surface.upper.z <= 6.0001);
    assert_true(surface.size > 8.0 && surface.size < 10.4);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void odd_things_are_counted_and_left_out(void** state) {
    (void)state;
    Soup soup = {0};
    const double lower[3] = {0.0, 0.0, 0.0}, size[3] = {1.0, 1.0, 1.0};
    addBox(&soup, lower, size);
    int32_t far = addPoint(&soup, 5.0, 0.0, 0.0); // used by triangles without area only
    int32_t nan = addPoint(&soup, (double)NAN, 0.0, 0.0);
    int32_t inf = addPoint(&soup, 0.0, HUGE_VAL, 0.0);
    int32_t fin = addPoint(&soup, 0.5, 0.5, 3.0);
    addTriangle(&soup, 0, 1, nan);
    addTriangle(&soup, 0, inf, 1);
    addTriangle(&soup, 0, 1, 1);
    addTriangle(&soup, 0, 1, far);
    addTriangle(&soup, 0, 1, fin);
    srSurface surface;
    srSurfaceReport report;
    assert_success(create(&soup, &surface, &report));
    assert_int_equal(surface.triangleCount, 13);
    assert_int_equal(report.nonFinitePointCount, 2);
    assert_int_equal(report.degenerateCount, 2);
    assert_int_equal(report.borderEdgeCount, 2);
    assert_int_equal(report.nonManifoldEdgeCount, 1);
    assert_int_equal(report.isolatedPointCount, 1);
    assert_true(surface.upper.x == 1.0 && surface.upper.z == 3.0);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void what_has_no_triangle_is_refused(void** state) {
    (void)state;
    const float points[] = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 2.0f, 0.0f, 0.0f};
    const int32_t flat[] = {0, 1, 2}, high[] = {0, 1, 3}, low[] = {0, -1, 2};
    srSurface surface;
    srSurfaceReport report;
    assert_result(srCreateSurface(points, 3, flat, 1, &surface, &report), sr_errorBadMesh);
    assert_result(srCreateSurface(points, 3, high, 1, &surface, &report), sr_errorBadMesh);
    assert_result(srCreateSurface(points, 3, low, 1, &surface, &report), sr_errorBadMesh);
    assert_result(srCreateSurface(points, 3, flat, 0, &surface, &report), sr_errorBadMesh);
    assert_result(srCreateSurface(points, 0, NULL, 0, &surface, &report), sr_errorBadMesh);
}

static srResult createAndDestroy(void* context) {
    srSurface surface;
    srSurfaceReport report;
    SR_TRY(create(context, &surface, &report));
    srDestroySurface(&surface);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 0, 1.0, 0.0, 0.0, 0.0);
    addTriangle(&soup, 0, 0, 1);
    srTestEveryAllocationFails(createAndDestroy, &soup);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(closed_sphere_has_nothing_odd, srTestNothingLeaked),
        cmocka_unit_test_teardown(odd_things_are_counted_and_left_out, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_has_no_triangle_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/surface", tests, NULL, NULL);
}
