// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/division.h"

#include "mesh/soups.h"

static srHull makeHull(Soup* soup, srSurface* surface) {
    addBox(soup, (const double[3]){-1.0, 0.0, 0.5}, (const double[3]){3.0, 2.0, 0.1});
    addSphere(soup, 1, 1.0, 7.0, 0.0, 0.0);
    *surface = makeSurface(soup);
    return (srHull){surface->points, surface->pointCount, surface->triangles, surface->triangleCount};
}

static void measure(const srHull* hull, double* outArea, double* outVolume, double* outLongest) {
    *outArea = *outVolume = *outLongest = 0.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* c = hull->triangles[t];
        srVec3 a = hull->points[c[0]], b = hull->points[c[1]], d = hull->points[c[2]];
        *outArea += 0.5 * srLength(srCross(srSub(b, a), srSub(d, a)));
        *outVolume += srDot(a, srCross(b, d)) / 6.0;
        *outLongest = fmax(*outLongest, fmax(srDistance(a, b), fmax(srDistance(b, d), srDistance(d, a))));
    }
}

// Each side runs once either way: no two triangles of it, and none without a mate.
static bool isClosed(const srHull* hull) {
    int32_t count = hull->pointCount;
    uint8_t* runs = calloc((size_t)count * (size_t)count, 1);
    bool isGood = true;
    for (int32_t side = 0; side < 3 * hull->triangleCount; side++) {
        int32_t a = hull->triangles[side / 3][side % 3], b = hull->triangles[side / 3][(side + 1) % 3];
        isGood = isGood && ++runs[a * count + b] == 1;
    }
    for (int32_t i = 0; i < count * count; i++) {
        isGood = isGood && runs[i] == runs[i % count * count + i / count];
    }
    free(runs);
    return isGood;
}

static void the_surface_stays_and_no_edge_is_too_long(void** state) {
    (void)state;
    Soup soup = {0};
    srSurface surface;
    srHull hull = makeHull(&soup, &surface), divided;
    double area, volume, longest, areaNow, volumeNow, longestNow;
    measure(&hull, &area, &volume, &longest);
    for (double length = 4.0; length > 0.15; length *= 0.8) {
        srArena* arena = srCreateArena(1 << 16);
        assert_success(srDivideHull(&hull, length, 100000, arena, &divided));
        measure(&divided, &areaNow, &volumeNow, &longestNow);
        assert_near(areaNow, area, 1e-12 * area);
        assert_near(volumeNow, volume, 1e-12 * area);
        assert_true(longestNow <= length);
        assert_true(longestNow > 0.49 * fmin(length, longest));
        assert_true(isClosed(&divided));
        assert_memory_equal(divided.points, hull.points, (size_t)hull.pointCount * sizeof(srVec3));
        srDestroyArena(arena);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void too_many_triangles_are_none(void** state) {
    (void)state;
    Soup soup = {0};
    srSurface surface;
    srHull hull = makeHull(&soup, &surface), divided;
    srArena* arena = srCreateArena(1 << 16);
    assert_success(srDivideHull(&hull, 1e-3, 5000, arena, &divided));
    assert_int_equal(divided.triangleCount, 0);
    srDestroyArena(arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static srResult divideAndForget(void* context) {
    srHull divided;
    srArena* arena = srCreateArena(1 << 12);
    srResult result =
        arena != NULL ? srDivideHull(context, 0.3, 100000, arena, &divided) : srFailOutOfMemory("the test");
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    srSurface surface;
    srHull hull = makeHull(&soup, &surface);
    srTestEveryAllocationFails(divideAndForget, &hull);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_surface_stays_and_no_edge_is_too_long, srTestNothingLeaked),
        cmocka_unit_test_teardown(too_many_triangles_are_none, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/division", tests, NULL, NULL);
}
