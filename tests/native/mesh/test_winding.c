// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/winding.h"

#include "mesh/solids.h"

#define PI 3.14159265358979323846

static double sumAll(const srSurface* surface, srVec3 query) {
    double sum = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        sum += srHalfSolidAngle(query, surface->points[c[0]], surface->points[c[1]], surface->points[c[2]]);
    }
    return sum / (2.0 * PI);
}

static void half_a_solid_angle_is_that_of_a_cone(void** state) {
    (void)state;
    // a disc of radius 1 seen from h above its middle, from behind and from before: 2 pi (1 - h / |(h, 1)|)
    enum {
        sides = 2000
    };
    for (int i = 0; i < 20; i++) {
        double h = (i < 10 ? 1.0 : -1.0) * ldexp(1.0, i % 10 - 6), sum = 0.0;
        for (int s = 0; s < sides; s++) {
            double t = 2.0 * PI * s / sides, u = 2.0 * PI * (s + 1) / sides;
            sum += srHalfSolidAngle((srVec3){0.0, 0.0, -h}, (srVec3){0.0, 0.0, 0.0},
                                    (srVec3){cos(t), sin(t), 0.0}, (srVec3){cos(u), sin(u), 0.0});
        }
        double expected = (h > 0.0 ? 1.0 : -1.0) * PI * (1.0 - fabs(h) / sqrt(1.0 + h * h));
        // the polygon lies within the disc by (pi / sides)^2
        assert_near(sum, expected, 1e-5);
    }
}

static void tree_agrees_with_the_sum_over_all_triangles(void** state) {
    (void)state;
    Soup soups[3] = {{0}, {0}, {0}};
    uint64_t seed = 6;
    addSphere(&soups[0], 4, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soups[1], 4, 1.0, 0.0, 0.0, 0.0);
    soups[1].triangleCount /= 2;
    for (int t = 0; t < 2000; t++) { // nothing but noise
        srVec3 at = randomPoint(&seed, 1.0);
        int32_t first = soups[2].pointCount;
        for (int c = 0; c < 3; c++) {
            srVec3 p = srAdd(at, randomPoint(&seed, 0.1));
            addPoint(&soups[2], p.x, p.y, p.z);
        }
        addTriangle(&soups[2], first, first + 1, first + 2);
    }
    for (int s = 0; s < 3; s++) {
        srSurface surface = makeSurface(&soups[s]);
        srBvh* bvh;
        assert_success(srCreateBvh(&surface, &bvh));
        for (int i = 0; i < 600; i++) {
            srVec3 query = randomPoint(&seed, i % 3 == 0 ? 5.0 : 1.2);
            assert_near(srBvh_WindingNumber(bvh, query), sumAll(&surface, query), 0.01);
        }
        srDestroyBvh(bvh);
        srDestroySurface(&surface);
        freeSoup(&soups[s]);
    }
}

// Nothing is far here, so all is in the sum of angles: many turns, and none is lost at any size.
static void near_triangles_lose_no_turn(void** state) {
    (void)state;
    enum {
        turnCount = 50,
        sizeCount = 3
    };
    static const double sizes[sizeCount] = {1e-15, 1.0, 1e15};
    for (int k = 0; k < sizeCount; k++) {
        Soup soup = {0};
        uint64_t seed = 33;
        for (int axis = 0; axis < 6; axis++) {
            double x = (axis % 2 == 0 ? 1.0 : -1.0) * sizes[k];
            addPoint(&soup, axis < 2 ? x : 0.0, axis / 2 == 1 ? x : 0.0, axis > 3 ? x : 0.0);
        }
        for (int t = 0; t < 8 * turnCount; t++) {
            int32_t a = t & 1, b = 2 + (t >> 1 & 1), c = 4 + (t >> 2 & 1);
            bool isTurned = (a + b + c) % 2 != 0;
            addTriangle(&soup, a, isTurned ? c : b, isTurned ? b : c);
        }
        srSurface surface = makeSurface(&soup);
        srBvh* bvh;
        assert_success(srCreateBvh(&surface, &bvh));
        for (int i = 0; i < 300; i++) {
            srVec3 query = randomPoint(&seed, (i % 2 == 0 ? 0.3 : 0.9) * sizes[k]);
            double inside = (fabs(query.x) + fabs(query.y) + fabs(query.z)) / sizes[k] - 1.0;
            // rounding of 400 angles; beside the faces alone an angle near pi is ill told
            if (fabs(inside) > 1e-3) {
                assert_near(sumAll(&surface, query), inside < 0.0 ? turnCount : 0.0, 1e-10);
                assert_near(srBvh_WindingNumber(bvh, query), sumAll(&surface, query),
                            i % 2 == 0 ? 1e-10 : 0.01 * turnCount);
            }
        }
        srDestroyBvh(bvh);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void joined_moments_are_those_of_all(void** state) {
    (void)state;
    srBvhTriangle triangles[40];
    uint64_t seed = 9;
    for (int t = 0; t < 40; t++) {
        srVec3 at = randomPoint(&seed, 0.7);
        triangles[t] = (srBvhTriangle){srAdd(at, randomPoint(&seed, 0.3)), srAdd(at, randomPoint(&seed, 0.3)),
                                       srAdd(at, randomPoint(&seed, 0.3)), t};
    }
    // sums of halves, joined, are the sum of all
    srMoments all, one, two, joined;
    const srBox box = {{-1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}};
    srSumMoments(triangles, 40, &all);
    srSumMoments(triangles, 15, &one);
    srSumMoments(triangles + 15, 25, &two);
    srJoinMoments(&one, &two, &box, &joined);
    assert_near(srDistance(all.center, joined.center), 0.0, 1e-14);
    assert_near(srDistance(all.A, joined.A), 0.0, 1e-14);
    assert_near(srDistance(all.diagonal, joined.diagonal), 0.0, 1e-14);
    assert_near(srDistance(all.offDiagonal, joined.offDiagonal), 0.0, 1e-14);
    const double* S = &all.S.xxx;
    const double* T = &joined.S.xxx;
    for (int i = 0; i < 10; i++) {
        assert_near(S[i], T[i], 1e-14);
    }
    assert_true(joined.radius >= all.radius - 1e-14 && all.radius < 2.0);
}

// With three moments what is left out falls with the fifth power of the distance.
static void error_falls_with_the_fifth_power_of_distance(void** state) {
    (void)state;
    Soup soup = {0};
    uint64_t seed = 19;
    for (int32_t t = 0; t < 20; t++) {
        for (int c = 0; c < 3; c++) {
            srVec3 p = randomPoint(&seed, 0.6);
            addPoint(&soup, p.x, p.y, p.z);
        }
        addTriangle(&soup, 3 * t, 3 * t + 1, 3 * t + 2);
    }
    srSurface surface = makeSurface(&soup);
    srBvh* bvh;
    assert_success(srCreateBvh(&surface, &bvh));
    double near = 0.0, far = 0.0;
    for (int i = 0; i < 200; i++) {
        srVec3 direction = randomPoint(&seed, 1.0);
        direction = srScale(6.0 / srLength(direction), direction);
        near += fabs(srBvh_WindingNumber(bvh, direction) - sumAll(&surface, direction));
        direction = srScale(2.0, direction);
        far += fabs(srBvh_WindingNumber(bvh, direction) - sumAll(&surface, direction));
    }
    // 2^5, the next power's share taken off; with the third moment wrong it would be 2^4
    assert_true(near > 26.0 * far && near < 40.0 * far);
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void traces_say_nothing(void** state) {
    (void)state;
    // a closed surface has no moments that anybody sees
    srSurface surface = makeSphere(1, 1.0);
    srBvhTriangle triangles[80];
    for (int t = 0; t < 80; t++) {
        const int32_t* c = surface.triangles[t];
        triangles[t] = (srBvhTriangle){surface.points[c[0]], surface.points[c[1]], surface.points[c[2]], t};
    }
    srMoments moments;
    srSumMoments(triangles, 80, &moments);
    // points are floats
    assert_near(srLength(moments.A), 0.0, 1e-6);
    assert_near(srLength(moments.diagonal), 0.0, 1e-6);
    assert_near(srLength(moments.offDiagonal), 0.0, 1e-6);
    const double* S = &moments.S.xxx;
    for (int i = 0; i < 10; i++) {
        assert_near(S[i], 0.0, 1e-6);
    }
    assert_near(moments.radius, 1.0, 1e-6);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(half_a_solid_angle_is_that_of_a_cone, srTestNothingLeaked),
        cmocka_unit_test_teardown(tree_agrees_with_the_sum_over_all_triangles, srTestNothingLeaked),
        cmocka_unit_test_teardown(near_triangles_lose_no_turn, srTestNothingLeaked),
        cmocka_unit_test_teardown(joined_moments_are_those_of_all, srTestNothingLeaked),
        cmocka_unit_test_teardown(error_falls_with_the_fifth_power_of_distance, srTestNothingLeaked),
        cmocka_unit_test_teardown(traces_say_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/winding", tests, NULL, NULL);
}
