// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/crossings.h"

#include "mesh/hulls.h"

static const int32_t first[3] = {0, 1, 2};

static void pairs_are_judged_as_one_sees_them(void** state) {
    (void)state;
    static const struct {
        const char* name;
        srVec3 b[3];
        bool crosses;
    } cases[] = {
        {"pierces", {{0.2, 0.2, -1}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}, true},
        {"an edge through the middle", {{0.2, 0.2, -1}, {0.2, 0.2, 1}, {5, 5, 0}}, true},
        {"above", {{0, 0, 0.1}, {1, 0, 0.1}, {0, 1, 0.1}}, false},
        {"in the plane, apart", {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}}, false},
        {"in the plane, beside its hypotenuse", {{0.6, 0.6, 0}, {2, 0.6, 0}, {0.6, 2, 0}}, false},
        {"in the plane, over it", {{0.2, 0.2, 0}, {2, 0.2, 0}, {0.2, 2, 0}}, true},
        {"in the plane, within it", {{0.2, 0.2, 0}, {0.3, 0.2, 0}, {0.2, 0.3, 0}}, true},
        {"touches with a corner", {{0.2, 0.2, 0}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}, true},
        {"just does not", {{0.2, 0.2, 1e-6}, {0.2, 0.3, 1}, {0.3, 0.2, 1}}, false},
        {"passes beside", {{0.6, 0.6, -1}, {0.6, 0.7, 1}, {0.7, 0.6, 1}}, false},
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        srVec3 points[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, cases[i].b[0], cases[i].b[1], cases[i].b[2]};
        // whichever way round, whichever first, wherever it lies
        for (int turn = 0; turn < 6; turn++) {
            const int32_t b[3] = {3 + turn % 3, 3 + (turn + 1 + turn / 3) % 3, 3 + (turn + 2 - turn / 3) % 3};
            if (srDoTrianglesCross(points, first, b) != cases[i].crosses ||
                srDoTrianglesCross(points, b, first) != cases[i].crosses) {
                fail_msg("%s, turned %d", cases[i].name, turn);
            }
            for (int p = 0; p < 6; p++) {
                srVec3 x = points[p];
                points[p] = (srVec3){x.y, 0.6 * x.z - 0.8 * x.x, 0.8 * x.z + 0.6 * x.x};
            }
        }
    }
}

static void neighbours_cross_only_beyond_what_they_share(void** state) {
    (void)state;
    static const struct {
        const char* name;
        srVec3 d, e; // with corner 0
        bool crosses;
    } cornered[] = {
        {"another fan in the plane", {-1, 0, 0}, {-1, -1, 0}, false},
        {"next in the fan, with an edge in one line", {-1, 0, 0}, {0, -1, 0}, false},
        {"over it in the plane", {1, 1, 0}, {-1, 1, 0}, true},
        {"within it in the plane", {0.5, 0.2, 0}, {0.2, 0.5, 0}, true},
        {"standing on the corner", {0, 0, 1}, {1, 0, 1}, false},
        {"through it", {0.4, 0.3, -1}, {0.4, 0.3, 1}, true},
        {"around it", {3, 3, -0.1}, {3, 3, 0.1}, true},
        {"its edge along the other's", {2, 0, 0}, {0, 0, 1}, true},
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cornered); i++) {
        const srVec3 points[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, cornered[i].d, cornered[i].e};
        const int32_t b[3] = {3, 0, 4}, c[3] = {4, 3, 0};
        if (srDoTrianglesCross(points, first, b) != cornered[i].crosses ||
            srDoTrianglesCross(points, c, first) != cornered[i].crosses) {
            fail_msg("%s", cornered[i].name);
        }
    }
    const srVec3 points[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0.3, 0.9, 0}, {0.3, 0.9, 1e-3}};
    const int32_t flat[3] = {1, 0, 3}, folded[3] = {1, 0, 4}, sharp[3] = {1, 0, 5}, same[3] = {2, 0, 1};
    assert_false(srDoTrianglesCross(points, first, flat));
    assert_true(srDoTrianglesCross(points, first, folded));
    assert_false(srDoTrianglesCross(points, first, sharp));
    assert_true(srDoTrianglesCross(points, first, same));
}

static int32_t countPlainly(const srHull* hull) {
    int32_t count = 0;
    for (int32_t a = 0; a < hull->triangleCount; a++) {
        for (int32_t b = a + 1; b < hull->triangleCount; b++) {
            count += srDoTrianglesCross(hull->points, hull->triangles[a], hull->triangles[b]);
        }
    }
    return count;
}

static int32_t count(const srHull* hull, int32_t most) {
    srArena* arena = srCreateArena(1 << 16);
    int32_t found;
    assert_success(srCountCrossings(hull, false, most, arena, NULL, &found));
    srDestroyArena(arena);
    return found;
}

static void grid_finds_what_trying_every_pair_finds(void** state) {
    (void)state;
    uint64_t random = 7;
    for (int trial = 0; trial < 20; trial++) {
        Soup soup = {0};
        for (int i = 0; i < 120; i++) {
            // of all sizes
            double size = trial % 2 == 0 ? 0.3 : pow(10.0, -2.0 * srTestRandom(&random));
            double at[3] = {srTestRandom(&random), srTestRandom(&random), srTestRandom(&random)};
            for (int c = 0; c < 3; c++) {
                addPoint(&soup, at[0] + size * srTestRandom(&random), at[1] + size * srTestRandom(&random),
                         at[2] + size * srTestRandom(&random));
            }
            addTriangle(&soup, 3 * i, 3 * i + 1, 3 * i + 2);
        }
        srSurface surface = makeSurface(&soup);
        srHull hull = hullOfSurface(&surface);
        int32_t all = countPlainly(&hull);
        assert_true(all > 3);
        assert_int_equal(count(&hull, 1 << 30), all);
        assert_true(count(&hull, 2) >= 2 && count(&hull, 2) <= all);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void clean_shapes_cross_nowhere_and_pierced_ones_do(void** state) {
    (void)state;
    const double lower[3] = {-0.1, -0.1, -0.1}, size[3] = {3.0, 0.2, 0.2};
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 2, 1.0, 2.5, 2.5, 0.0);
    addBox(&soup, (const double[3]){-3.0, -3.0, -3.0}, (const double[3]){1.0, 1.0, 1.0});
    srSurface surface = makeSurface(&soup);
    srHull hull = hullOfSurface(&surface);
    assert_int_equal(count(&hull, 100), 0);
    srDestroySurface(&surface);
    addBox(&soup, lower, size);
    surface = makeSurface(&soup);
    hull = hullOfSurface(&surface);
    assert_true(count(&hull, 100) > 0);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void closed_surfaces_are_counted_alike(void** state) {
    (void)state;
    // balls whose points were moved about, until fans fold and sides cross: the short way must miss nothing
    uint64_t random = 3;
    int32_t crossedCount = 0;
    for (int trial = 0; trial < 24; trial++) {
        Soup soup = {0};
        addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
        double size = 0.02 * trial;
        for (int32_t i = 0; i < 3 * soup.pointCount; i++) {
            soup.points[i] += (float)(size * (srTestRandom(&random) - 0.5));
        }
        srSurface surface = makeSurface(&soup);
        srHull hull = hullOfSurface(&surface);
        srArena* arena = srCreateArena(1 << 16);
        int32_t found, all = countPlainly(&hull);
        assert_success(srCountCrossings(&hull, true, 1 << 30, arena, NULL, &found));
        assert_int_equal(found, all);
        crossedCount += all > 0;
        srDestroyArena(arena);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
    assert_in_range(crossedCount, 5, 23);
}

static srResult countAndForget(void* context) {
    srArena* arena = srCreateArena(64);
    int32_t found;
    srResult result = arena == NULL ? srFailOutOfMemory("the test")
                                    : srCountCrossings(context, true, 1, arena, NULL, &found);
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull hull = hullOfSurface(&surface);
    srTestEveryAllocationFails(countAndForget, &hull);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pairs_are_judged_as_one_sees_them, srTestNothingLeaked),
        cmocka_unit_test_teardown(neighbours_cross_only_beyond_what_they_share, srTestNothingLeaked),
        cmocka_unit_test_teardown(grid_finds_what_trying_every_pair_finds, srTestNothingLeaked),
        cmocka_unit_test_teardown(clean_shapes_cross_nowhere_and_pierced_ones_do, srTestNothingLeaked),
        cmocka_unit_test_teardown(closed_surfaces_are_counted_alike, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/crossings", tests, NULL, NULL);
}
