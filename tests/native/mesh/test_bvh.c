// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/bvh.h"

#include "core/parallel.h"
#include "mesh/solids.h"

#define PI 3.14159265358979323846

// The distance by asking points of a triangle's grid and its exact projections would need care; a plain
// numeric search over the two barycentric coordinates, refined, shares no code with the tree.
static double searchTriangle(srVec3 p, srVec3 a, srVec3 b, srVec3 c) {
    double u = 1.0 / 3.0, v = 1.0 / 3.0, step = 1.0 / 3.0, best = HUGE_VAL;
    for (int round = 0; round < 60; round++) {
        double bestU = u, bestV = v;
        for (int du = -3; du <= 3; du++) {
            for (int dv = -3; dv <= 3; dv++) {
                double tryU = fmin(fmax(u + du * step / 3.0, 0.0), 1.0);
                double tryV = fmin(fmax(v + dv * step / 3.0, 0.0), 1.0 - tryU);
                srVec3 q = srMulAdd(srMulAdd(a, tryU, srSub(b, a)), tryV, srSub(c, a));
                if (srDistance(p, q) < best) {
                    best = srDistance(p, q);
                    bestU = tryU;
                    bestV = tryV;
                }
            }
        }
        u = bestU;
        v = bestV;
        step *= 0.75;
    }
    return best;
}

static void corners(const srSurface* surface, int32_t t, srVec3 out[3]) {
    for (int c = 0; c < 3; c++) {
        out[c] = surface->points[surface->triangles[t][c]];
    }
}

static double searchAll(const srSurface* surface, srVec3 p) {
    double best = HUGE_VAL;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        srVec3 c[3];
        corners(surface, t, c);
        best = fmin(best, searchTriangle(p, c[0], c[1], c[2]));
    }
    return best;
}

// The sum of signed solid angles by spherical excess: sides of the spherical triangle by arc cosine, then
// L'Huilier.
static double excess(srVec3 query, const srVec3 corner[3]) {
    srVec3 d[3];
    double side[3], s = 0.0;
    for (int c = 0; c < 3; c++) {
        d[c] = srSub(corner[c], query);
        d[c] = srScale(1.0 / srLength(d[c]), d[c]);
    }
    for (int c = 0; c < 3; c++) {
        srVec3 from = d[(c + 1) % 3], to = d[(c + 2) % 3];
        side[c] = atan2(srLength(srCross(from, to)), srDot(from, to));
        s += 0.5 * side[c];
    }
    double product = tan(0.5 * s);
    for (int c = 0; c < 3; c++) {
        product *= tan(0.5 * (s - side[c]));
    }
    double sign = srDot(d[0], srCross(d[1], d[2])) < 0.0 ? -1.0 : 1.0;
    return sign * 4.0 * atan(sqrt(fmax(product, 0.0)));
}

static double sumAngles(const srSurface* surface, srVec3 query) {
    double sum = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        srVec3 c[3];
        corners(surface, t, c);
        sum += excess(query, c);
    }
    return sum / (4.0 * PI);
}

static srSurface makeUnevenSoup(void) {
    Soup soup = {0};
    uint64_t seed = 12;
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    for (int t = 0; t < 60; t++) {
        int32_t first = soup.pointCount;
        srVec3 at = randomPoint(&seed, 1.5);
        for (int c = 0; c < 3; c++) {
            srVec3 p = srAdd(at, randomPoint(&seed, t % 4 == 0 ? 1.0 : 0.05));
            addPoint(&soup, p.x, p.y, p.z);
        }
        addTriangle(&soup, first, first + 1, first + 2);
    }
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static void nearest_point_agrees_with_a_search_over_all_triangles(void** state) {
    (void)state;
    srSurface surface = makeUnevenSoup();
    srBvh* bvh;
    uint64_t seed = 4;
    assert_success(srCreateBvh(&surface, &bvh));
    for (int i = 0; i < 40; i++) {
        srVec3 query = randomPoint(&seed, i % 5 == 0 ? 20.0 : 2.0), nearest;
        double distance = srBvh_Distance(bvh, query, &nearest);
        // the search ends at steps of 0.75^60; it can only find too much
        assert_near(distance, searchAll(&surface, query), 1e-6);
        assert_near(srDistance(query, nearest), distance, 1e-14 * 20.0);
    }
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
}

static void a_guess_changes_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, 1.0);
    srBvh* bvh;
    uint64_t seed = 8;
    assert_success(srCreateBvh(&surface, &bvh));
    for (int i = 0; i < 200; i++) {
        // corners of triangles are at the same distance from five or six of them
        srVec3 query =
            i % 2 == 0 ? randomPoint(&seed, 2.0) : srScale(1.3, surface.points[i % surface.pointCount]);
        srVec3 plain, guessed;
        int32_t first = SR_NULL_INDEX, second = (int32_t)(srTestRandom(&seed) * surface.triangleCount);
        double distance = srBvh_DistanceGuessed(bvh, query, &first, &plain);
        assert_true(srBvh_DistanceGuessed(bvh, query, &second, &guessed) == distance);
        assert_int_equal(first, second);
        assert_memory_equal(&plain, &guessed, sizeof(plain));
    }
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
}

static void winding_number_is_near_the_sum_of_solid_angles(void** state) {
    (void)state;
    srSurface surfaces[2] = {makeSphere(4, 1.0), makeUnevenSoup()};
    uint64_t seed = 6;
    for (int s = 0; s < 2; s++) {
        srBvh* bvh;
        assert_success(srCreateBvh(&surfaces[s], &bvh));
        for (int i = 0; i < 100; i++) {
            srVec3 query = randomPoint(&seed, 1.6);
            // what three moments a node leave out at twice its radius
            assert_near(srBvh_WindingNumber(bvh, query), sumAngles(&surfaces[s], query), 0.01);
        }
        srDestroyBvh(bvh);
        srDestroySurface(&surfaces[s]);
    }
}

static void winding_number_tells_inside_from_outside(void** state) {
    (void)state;
    const double signs[2] = {1.0, -1.0};
    uint64_t seed = 16;
    for (int s = 0; s < 2; s++) {
        srSurface surface = makeSphere(3, signs[s]);
        srBvh* bvh;
        assert_success(srCreateBvh(&surface, &bvh));
        for (int i = 0; i < 200; i++) {
            srVec3 query = randomPoint(&seed, 1.5);
            double radius = srLength(query);
            // the polyhedron lies up to 0.7 % within its sphere
            if (radius < 0.99 || radius > 1.0) {
                assert_near(srBvh_WindingNumber(bvh, query), radius < 1.0 ? signs[s] : 0.0, 0.02);
            }
        }
        srDestroyBvh(bvh);
        srDestroySurface(&surface);
    }
}

static void equal_and_lined_up_triangles_make_a_tree(void** state) {
    (void)state;
    enum {
        copies = 5000
    };
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 1.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 1.0, 0.0);
    for (int t = 0; t < copies; t++) {
        addTriangle(&soup, 0, 1, 2);
    }
    // each twice as far as the one before: the worst for cuts in equal steps
    for (int t = 0; t < 100; t++) {
        double x = ldexp(1.0, t - 40);
        int32_t first = addPoint(&soup, x, 0.0, 0.0);
        addPoint(&soup, x, x, 0.0);
        addPoint(&soup, x, 0.0, x);
        addTriangle(&soup, first, first + 1, first + 2);
    }
    srSurface surface = makeSurface(&soup);
    srBvh* bvh;
    assert_success(srCreateBvh(&surface, &bvh));
    int32_t triangle = SR_NULL_INDEX;
    assert_near(srBvh_DistanceGuessed(bvh, (srVec3){0.2, 0.2, -0.5}, &triangle, NULL), 0.5, 1e-15);
    assert_int_equal(triangle, 0);
    assert_true(isfinite(srBvh_WindingNumber(bvh, (srVec3){0.2, 0.2, -0.5})));
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void flat_triangles_and_strange_queries_do_no_harm(void** state) {
    (void)state;
    // as a caller inside the library may make it, without srCreateSurface's filter
    srVec3 points[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    int32_t triangles[4][3] = {{0, 1, 2}, {0, 0, 1}, {3, 3, 3}, {0, 1, 3}};
    srSurface surface = {.points = points, .pointCount = 4, .triangles = triangles, .triangleCount = 4};
    srBvh* bvh;
    assert_success(srCreateBvh(&surface, &bvh));
    assert_near(srBvh_Distance(bvh, (srVec3){1.5, 0.0, 2.0}, NULL), 2.0, 1e-15);
    assert_near(srBvh_Distance(bvh, (srVec3){0.0, 3.0, 0.0}, NULL), 2.0, 1e-15);
    assert_true(isfinite(srBvh_WindingNumber(bvh, points[0])));
    assert_true(isfinite(srBvh_WindingNumber(bvh, points[2])));
    srVec3 nearest;
    srBvh_Distance(bvh, (srVec3){(double)NAN, 0.0, 0.0}, &nearest);
    assert_true(isfinite(nearest.x));
    srDestroyBvh(bvh);
}

static void any_number_of_workers_builds_the_same_tree(void** state) {
    (void)state;
    // enough for several subtrees
    srSurface surface = makeSphere(5, 1.0);
    const int32_t workers[] = {1, 2, 4};
    int32_t before = srParallel_GetWorkerCount();
    double first[200];
    for (int w = 0; w < 3; w++) {
        srBvh* bvh;
        uint64_t seed = 14;
        srParallel_SetWorkerCount(workers[w]);
        assert_success(srCreateBvh(&surface, &bvh));
        for (int i = 0; i < SR_ARRAY_COUNT(first); i++) {
            srVec3 query = randomPoint(&seed, 1.5);
            // the order of the sum shows the tree
            double sum = srBvh_WindingNumber(bvh, query) + srBvh_Distance(bvh, query, NULL);
            first[i] = w == 0 ? sum : first[i];
            assert_true(sum == first[i]);
        }
        srDestroyBvh(bvh);
    }
    srParallel_SetWorkerCount(before);
    srDestroySurface(&surface);
}

static bool countDown(float fraction, void* context) {
    (void)fraction;
    int* left = context;
    return (*left)-- > 0;
}

static void a_cancelled_tree_leaves_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(5, 1.0);
    srResult result = sr_errorCancelled;
    int calls = 0;
    for (; result != sr_success; calls++) {
        int left = calls;
        const srProgress progress = {countDown, &left, 0.0f, 1.0f};
        srBvh* bvh = NULL;
        result = srCreateBvhWithProgress(&surface, &progress, &bvh);
        assert_true(result == sr_success || (result == sr_errorCancelled && bvh == NULL));
        srDestroyBvh(bvh);
    }
    assert_true(calls > 5);
    srDestroySurface(&surface);
}

static srResult createAndDestroy(void* context) {
    srBvh* bvh;
    SR_TRY(srCreateBvh(context, &bvh));
    srDestroyBvh(bvh);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(1, 1.0);
    srTestEveryAllocationFails(createAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nearest_point_agrees_with_a_search_over_all_triangles, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_guess_changes_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(winding_number_is_near_the_sum_of_solid_angles, srTestNothingLeaked),
        cmocka_unit_test_teardown(winding_number_tells_inside_from_outside, srTestNothingLeaked),
        cmocka_unit_test_teardown(equal_and_lined_up_triangles_make_a_tree, srTestNothingLeaked),
        cmocka_unit_test_teardown(flat_triangles_and_strange_queries_do_no_harm, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_builds_the_same_tree, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_cancelled_tree_leaves_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/bvh", tests, NULL, NULL);
}
