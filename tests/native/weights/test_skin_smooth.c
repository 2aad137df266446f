// SPDX-License-Identifier: GPL-3.0-or-later
//
// What heat does to values on a skin, and what it must leave.

#include "weights/skin_smooth.h"

#include "core/alloc.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const srProgress nobody = {0};

// A sphere of radius one; `isApart`: every face on points of its own.
static srSurface makeBall(int subdivisions, bool isApart) {
    float* points;
    int32_t* triangles;
    int32_t pointCount, triangleCount;
    srSurface surface;
    srSurfaceReport report;
    srTestSphere(subdivisions, 1.0f, &points, &pointCount, &triangles, &triangleCount);
    if (isApart) {
        float* own = malloc(9 * (size_t)triangleCount * sizeof(float));
        for (int32_t c = 0; c < 3 * triangleCount; c++) {
            memcpy(own + 3 * (size_t)c, points + 3 * (size_t)triangles[c], 3 * sizeof(float));
            triangles[c] = c;
        }
        free(points);
        points = own;
        pointCount = 3 * triangleCount;
    }
    assert_success(srCreateSurface(points, pointCount, triangles, triangleCount, &surface, &report));
    free(points);
    free(triangles);
    return surface;
}

// Two columns that sum to one: a half, and a share of a function of the place.
static float* fillShares(const srSurface* surface, double (*function)(srVec3)) {
    float* values = malloc(2 * (size_t)surface->pointCount * sizeof(float));
    for (int32_t v = 0; v < surface->pointCount; v++) {
        values[2 * v] = (float)(0.5 + function(surface->points[v]));
        values[2 * v + 1] = 1.0f - values[2 * v];
    }
    return values;
}

static double slope(srVec3 x) {
    return 0.4 * x.z;
}

static double twoModes(srVec3 x) {
    return 0.3 * x.z + 0.1 * (5.0 * x.z * x.z - 3.0) * x.z / 2.0;
}

static double halves(srVec3 x) {
    return x.z > 0.0 ? 0.5 : -0.5;
}

// On the unit sphere z is a mode of eigenvalue 2, however the sphere is cut.
static void a_mode_shrinks_by_its_eigenvalue_twice(void** state) {
    (void)state;
    const double lengths[] = {0.05, 0.3, 1.0};
    for (int k = 0; k < 6; k++) {
        srSurface ball = makeBall(3 + k % 2, false);
        double length = lengths[k / 2], expected = 0.4 / pow(1.0 + 2.0 * length * length, 2.0);
        float* values = fillShares(&ball, slope);
        assert_success(srSmoothOnSkin(&ball, length, 2, &nobody, values));
        for (int32_t v = 0; v < ball.pointCount; v++) {
            // triangles of the coarser ball are a hundredth off the sphere
            assert_near((double)values[2 * v], 0.5 + expected * ball.points[v].z, 0.004);
        }
        free(values);
        srDestroySurface(&ball);
    }
}

// Legendre's third polynomial is a mode of eigenvalue 12: what is shorter goes first.
static void each_mode_shrinks_by_its_own_eigenvalue(void** state) {
    (void)state;
    srSurface ball = makeBall(5, false);
    float* values = fillShares(&ball, twoModes);
    assert_success(srSmoothOnSkin(&ball, 0.5, 2, &nobody, values));
    for (int32_t v = 0; v < ball.pointCount; v++) {
        double z = ball.points[v].z, first = 0.3 * z, third = 0.1 * (5.0 * z * z - 3.0) * z / 2.0;
        double expected = 0.5 + first / pow(1.0 + 2.0 * 0.25, 2.0) + third / pow(1.0 + 12.0 * 0.25, 2.0);
        assert_near((double)values[2 * v], expected, 1e-3);
    }
    free(values);
    srDestroySurface(&ball);
}

// Of equilateral triangles, or nearly; the library knows their mean area, this one edge after edge.
static double meanEdge(const srSurface* surface) {
    double sum = 0.0;
    for (int32_t c = 0; c < 3 * surface->triangleCount; c++) {
        const int32_t* corners = surface->triangles[c / 3];
        sum += srDistance(surface->points[corners[c % 3]], surface->points[corners[(c + 1) % 3]]);
    }
    return sum / (3.0 * surface->triangleCount);
}

static void lengths_follow_cubes_on_fine_skins_and_triangles_on_coarse_ones(void** state) {
    (void)state;
    srSurface ball = makeBall(3, false), small = makeBall(1, false);
    double edge = meanEdge(&ball);
    for (double spacing = edge; spacing < 9.0 * edge; spacing *= 2.0) {
        assert_near(srFindSmoothLength(&ball, spacing), 0.14 * spacing, 1e-12);
    }
    assert_near(srFindSmoothLength(&ball, 0.02 * edge), 0.4 * edge, 0.02 * edge);
    // no jump from the one to the other
    double before = srFindSmoothLength(&ball, 1.2 * edge);
    for (double spacing = 1.2 * edge; spacing > 0.02 * edge; spacing -= 0.001 * edge) {
        double length = srFindSmoothLength(&ball, spacing);
        assert_near(length, before, 0.002 * edge);
        before = length;
    }
    // eight or twenty triangles: a share of the whole, for less is not to be had
    double area = 0.0;
    for (int32_t t = 0; t < small.triangleCount; t++) {
        const int32_t* c = small.triangles[t];
        srVec3 a = small.points[c[0]];
        area += 0.5 * srLength(srCross(srSub(small.points[c[1]], a), srSub(small.points[c[2]], a)));
    }
    double cap = sqrt(area / 128.0), wanted = 0.4 * meanEdge(&small);
    assert_near(srFindSmoothLength(&small, 1e-6), fmin(cap, wanted), 0.05 * wanted);
    srDestroySurface(&ball);
    srDestroySurface(&small);
}

// A box of twelve triangles: its lowest mode, which is all that two bones can tell apart, stays.
static void a_box_keeps_most_of_what_tells_its_ends_apart(void** state) {
    (void)state;
    float points[24];
    const int32_t corners[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    srSurface box;
    srSurfaceReport report;
    for (int v = 0; v < 8; v++) {
        for (int c = 0; c < 3; c++) {
            points[3 * v + c] = (v >> c & 1) != 0 ? 1.0f : -1.0f;
        }
    }
    assert_success(srCreateSurface(points, 8, corners, 12, &box, &report));
    float* values = fillShares(&box, slope);
    double length = srFindSmoothLength(&box, 0.01);
    assert_near(length * length, 24.0 / 128.0, 1e-9);
    assert_success(srSmoothOnSkin(&box, length, 2, &nobody, values));
    for (int32_t v = 0; v < 8; v++) {
        double kept = ((double)values[2 * v] - 0.5) / slope(box.points[v]);
        assert_true(kept > 0.65 && kept < 0.9);
    }
    free(values);
    srDestroySurface(&box);
}

static void rows_keep_their_sum_and_columns_their_range(void** state) {
    (void)state;
    srSurface ball = makeBall(4, false);
    float* values = fillShares(&ball, halves);
    assert_success(srSmoothOnSkin(&ball, 0.2, 2, &nobody, values));
    double least = 1.0, most = 0.0;
    for (int32_t v = 0; v < ball.pointCount; v++) {
        least = fmin(least, (double)values[2 * v]);
        most = fmax(most, (double)values[2 * v]);
        assert_near((double)values[2 * v] + (double)values[2 * v + 1], 1.0, 1e-4);
    }
    assert_true(least > -1e-4 && most < 1.0 + 1e-4);
    assert_true(least < 0.02 && most > 0.98);
    free(values);
    srDestroySurface(&ball);
}

// Nine columns: two blocks.
static void constants_and_lone_points_stay_to_the_bit(void** state) {
    (void)state;
    const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, (float)NAN, 0, 0, 5, 5, 5};
    const int32_t corners[] = {0, 1, 2};
    srSurface surface;
    srSurfaceReport report;
    assert_success(srCreateSurface(points, 5, corners, 1, &surface, &report));
    float values[5][9], expected[5][9];
    for (int v = 0; v < 5; v++) {
        for (int j = 0; j < 9; j++) {
            expected[v][j] = values[v][j] = v < 3 ? (float)(j + 1) / 45.0f : (float)(v * j);
        }
    }
    assert_success(srSmoothOnSkin(&surface, 0.7, 9, &nobody, values[0]));
    assert_memory_equal(values, expected, sizeof(values));
    srDestroySurface(&surface);
}

static void faces_apart_are_smoothed_as_one_skin(void** state) {
    (void)state;
    srSurface whole = makeBall(3, false), apart = makeBall(3, true);
    float *values = fillShares(&whole, twoModes), *others = fillShares(&apart, twoModes);
    assert_success(srSmoothOnSkin(&whole, 0.2, 2, &nobody, values));
    assert_success(srSmoothOnSkin(&apart, 0.2, 2, &nobody, others));
    for (int32_t t = 0; t < whole.triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            assert_near((double)others[2 * apart.triangles[t][c]], (double)values[2 * whole.triangles[t][c]],
                        1e-5);
        }
    }
    free(values);
    free(others);
    srDestroySurface(&whole);
    srDestroySurface(&apart);
}

// Two triangles on the same two points in space, one of each bone.
static void parts_that_touch_take_nothing_from_each_other(void** state) {
    (void)state;
    const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0};
    const int32_t corners[] = {0, 1, 2, 3, 5, 4};
    float values[6] = {1, 1, 1, 0, 0, 0};
    const float expected[6] = {1, 1, 1, 0, 0, 0};
    srSurface surface;
    srSurfaceReport report;
    assert_success(srCreateSurface(points, 6, corners, 2, &surface, &report));
    assert_success(srSmoothOnSkin(&surface, 1.0, 1, &nobody, values));
    assert_memory_equal(values, expected, sizeof(values));
    srDestroySurface(&surface);
}

static srResult smoothBall(void* context) {
    srSurface* ball = context;
    float values[2 * 162] = {1};
    return srSmoothOnSkin(ball, 0.3, 2, &nobody, values);
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    srSurface ball = makeBall(2, false);
    assert_int_equal(ball.pointCount, 162);
    srTestEveryAllocationFails(smoothBall, &ball);
    srDestroySurface(&ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_mode_shrinks_by_its_eigenvalue_twice, srTestNothingLeaked),
        cmocka_unit_test_teardown(each_mode_shrinks_by_its_own_eigenvalue, srTestNothingLeaked),
        cmocka_unit_test_teardown(lengths_follow_cubes_on_fine_skins_and_triangles_on_coarse_ones,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_box_keeps_most_of_what_tells_its_ends_apart, srTestNothingLeaked),
        cmocka_unit_test_teardown(rows_keep_their_sum_and_columns_their_range, srTestNothingLeaked),
        cmocka_unit_test_teardown(constants_and_lone_points_stay_to_the_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(faces_apart_are_smoothed_as_one_skin, srTestNothingLeaked),
        cmocka_unit_test_teardown(parts_that_touch_take_nothing_from_each_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/skin_smooth", tests, NULL, NULL);
}
