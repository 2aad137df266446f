// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/contour.h"

#include "core/parallel.h"
#include "mesh/crossings.h"
#include "mesh/decimate.h"
#include "mesh/hulls.h"

typedef double FieldFcn(srVec3 x);

static double ball(srVec3 x) {
    return srLength(x) - 1.0;
}

static double ring(srVec3 x) {
    double across = sqrt(x.x * x.x + x.y * x.y) - 0.9;
    return sqrt(across * across + x.z * x.z) - 0.3;
}

static double hollowBall(srVec3 x) {
    return fmax(srLength(x) - 1.0, 0.5 - srLength(x));
}

// nothing but what a lattice sees of noise
static double noise(srVec3 x) {
    double edge = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) - 1.1;
    return fmax(edge, sin(37.0 * x.x + 11.0 * x.y) * cos(29.0 * x.y - 17.0 * x.z) + 0.1 * sin(91.0 * x.z));
}

static srHull contour(FieldFcn* field, double spacing, srArena* arena) {
    srLattice lattice;
    assert_true(srMakeLattice((srVec3){-1.2, -1.2, -1.2}, (srVec3){1.2, 1.2, 1.2}, spacing, spacing, 1 << 22,
                              &lattice));
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "test");
    for (int32_t p = 0; p < lattice.pointCount; p++) {
        phi[p] = field(srLattice_Point(&lattice, p));
    }
    srHull hull;
    assert_success(srContourLattice(&lattice, phi, arena, &hull));
    return hull;
}

static void contours_are_closed_fans_that_do_not_cross(void** state) {
    (void)state;
    static const struct {
        FieldFcn* field;
        int32_t euler; // 1: any
    } cases[] = {{ball, 2}, {ring, 0}, {hollowBall, 4}, {noise, 1}};
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        srArena* arena = srCreateArena(1 << 20);
        srHull hull = contour(cases[i].field, 0.15, arena);
        bool isClosed;
        int32_t crossingCount;
        assert_true(hull.triangleCount > 100);
        assertHullClosed(&hull);
        assert_success(srIsHullClosed(&hull, arena, &isClosed));
        assert_true(isClosed);
        assert_success(srCountCrossings(&hull, false, 10, arena, NULL, &crossingCount));
        assert_int_equal(crossingCount, 0);
        assert_true(cases[i].euler == 1 || eulerOf(&hull) == cases[i].euler);
        assert_true(hullVolume(&hull) > 0.0);
        srDestroyArena(arena);
    }
}

static void error_of_a_ball_falls_with_the_square_of_the_spacing(void** state) {
    (void)state;
    double before = 0.0;
    for (double spacing = 0.2; spacing > 0.04; spacing *= 0.5) {
        srArena* arena = srCreateArena(1 << 20);
        srHull hull = contour(ball, spacing, arena);
        double error = 4.18879 - hullVolume(&hull);
        assert_true(error > 0.0);
        // 4 in the limit; points that keep from the ends of their edges cost a little
        assert_true(before == 0.0 || before / error > 3.2);
        before = error;
        srDestroyArena(arena);
    }
    assert_true(before < 0.02 * 4.18879);
}

static void nothing_inside_is_no_triangles(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 20);
    srLattice lattice;
    assert_true(srMakeLattice((srVec3){0, 0, 0}, (srVec3){1, 1, 1}, 0.2, 0.2, 1 << 20, &lattice));
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "test");
    for (int32_t p = 0; p < lattice.pointCount; p++) {
        phi[p] = 1.0;
    }
    srHull hull;
    assert_success(srContourLattice(&lattice, phi, arena, &hull));
    assert_int_equal(hull.triangleCount, 0);
    srDestroyArena(arena);
}

static srHull contourOf(const Soup* soup, double spacing, double offset, srArena* arena) {
    srSurface surface = makeSurface(soup);
    srSolidSettings settings = srDefaultSolidSettings();
    srProgress progress = {0};
    srSolid solid;
    srHull hull;
    assert_success(srCreateSolid(&surface, &settings, &progress, &solid, NULL));
    assert_success(srContourSolid(&solid, spacing, offset, &progress, arena, &hull));
    srDestroySolid(&solid);
    srDestroySurface(&surface);
    return hull;
}

static void corners_come_back_when_the_contour_is_thinned(void** state) {
    (void)state;
    Soup soup = {0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, (const double[3]){1.0, 1.0, 1.0});
    srArena* arena = srCreateArena(1 << 20);
    const double spacing = 0.06;
    srHull hull = contourOf(&soup, spacing, 0.0, arena), thin;
    srDecimateSettings settings = {300, NULL, NULL, false};
    srDecimateReport report;
    assert_success(srDecimate(&hull, &settings, arena, &thin, &report));
    assert_int_equal(report.crossingCount, 0);
    for (int corner = 0; corner < 8; corner++) {
        srVec3 at = {(double)(corner & 1), (double)(corner >> 1 & 1), (double)(corner >> 2)};
        double least = 1.0;
        for (int32_t p = 0; p < thin.pointCount; p++) {
            least = fmin(least, srDistance(thin.points[p], at));
        }
        // marching alone cuts up to a whole cube off
        assert_true(least < 0.75 * spacing);
    }
    assert_near(hullVolume(&thin), 1.0, 0.01);
    srDestroyArena(arena);
    freeSoup(&soup);
}

static void broken_skins_give_closed_contours(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 3, 1.0, 0.7, 0.2, 0.0);
    soup.triangleCount -= 9;
    srArena* arena = srCreateArena(1 << 20);
    srHull hull = contourOf(&soup, 0.1, 0.4, arena);
    bool isClosed;
    assert_success(srIsHullClosed(&hull, arena, &isClosed));
    assert_true(isClosed);
    assert_int_equal(eulerOf(&hull), 2);
    srDestroyArena(arena);
    freeSoup(&soup);
}

static srResult contourAndForget(void* context) {
    srProgress progress = {0};
    srHull hull;
    srArena* arena = srCreateArena(64);
    srResult result = arena == NULL ? srFailOutOfMemory("the test")
                                    : srContourSolid(context, 0.3, 0.4, &progress, arena, &hull);
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 1, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srSolidSettings settings = srDefaultSolidSettings();
    srProgress progress = {0};
    srSolid solid;
    assert_success(srCreateSolid(&surface, &settings, &progress, &solid, NULL));
    srTestEveryAllocationFails(contourAndForget, &solid);
    srDestroySolid(&solid);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(contours_are_closed_fans_that_do_not_cross, srTestNothingLeaked),
        cmocka_unit_test_teardown(error_of_a_ball_falls_with_the_square_of_the_spacing, srTestNothingLeaked),
        cmocka_unit_test_teardown(nothing_inside_is_no_triangles, srTestNothingLeaked),
        cmocka_unit_test_teardown(corners_come_back_when_the_contour_is_thinned, srTestNothingLeaked),
        cmocka_unit_test_teardown(broken_skins_give_closed_contours, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/contour", tests, NULL, NULL);
}
