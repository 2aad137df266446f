// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/decimate.h"

#include "core/parallel.h"
#include "mesh/bvh.h"
#include "mesh/contour.h"
#include "mesh/crossings.h"
#include "mesh/hulls.h"

typedef struct Thinned {
    srArena* arena;
    srHull hull;
    srDecimateReport report;
} Thinned;

static Thinned thin(const srHull* hull, int32_t target, const float* fineness) {
    Thinned out = {.arena = srCreateArena(1 << 16)};
    srDecimateSettings settings = {target, fineness, NULL, false};
    assert_success(srDecimate(hull, &settings, out.arena, &out.hull, &out.report));
    assertHullClosed(&out.hull);
    return out;
}

static int32_t countCrossings(const srHull* hull) {
    srArena* arena = srCreateArena(1 << 16);
    int32_t count;
    assert_success(srCountCrossings(hull, false, 1000, arena, NULL, &count));
    srDestroyArena(arena);
    return count;
}

// The largest distance from the points of one to the triangles of the other.
static double distanceTo(const srHull* from, const srHull* to) {
    srSurface surface = {
        to->points, to->pointCount, to->triangles, to->triangleCount, {-9, -9, -9}, {9, 9, 9}, 30};
    srBvh* tree;
    double most = 0.0;
    assert_success(srCreateBvh(&surface, &tree));
    for (int32_t p = 0; p < from->pointCount; p++) {
        most = fmax(most, srBvh_Distance(tree, from->points[p], NULL));
    }
    srDestroyBvh(tree);
    return most;
}

static void sphere_stays_a_sphere(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    for (int32_t target = 5000; target >= 40; target /= 5) {
        Thinned thinned = thin(&fine, target, NULL);
        assert_int_equal(thinned.hull.triangleCount, target);
        assert_int_equal(eulerOf(&thinned.hull), 2);
        assert_int_equal(countCrossings(&thinned.hull), 0);
        assert_int_equal(thinned.report.crossingCount, 0);
        assert_true(worstQuality(&thinned.hull) >= 0.25);
        // of regular triangles of edge L on a unit sphere the sagitta is L^2 / 6: three times that is no good
        // work
        double sagitta = 4.0 * 3.14159 / target / 0.433 / 6.0;
        assert_true(distanceTo(&fine, &thinned.hull) < 3.0 * sagitta);
        srDestroyArena(thinned.arena);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// A box of n x n squares a side.
static void addFineBox(Soup* soup, int n) {
    int32_t* names = malloc(sizeof(int32_t) * (size_t)((n + 1) * (n + 1) * (n + 1)));
    memset(names, 0xff, sizeof(int32_t) * (size_t)((n + 1) * (n + 1) * (n + 1)));
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            for (int cell = 0; cell < n * n; cell++) {
                int32_t corners[4];
                for (int c = 0; c < 4; c++) {
                    int at[3];
                    at[axis] = side * n;
                    at[(axis + 1) % 3] = cell % n + (c == 1 || c == 2);
                    at[(axis + 2) % 3] = cell / n + (c >= 2);
                    int32_t* name = &names[(at[2] * (n + 1) + at[1]) * (n + 1) + at[0]];
                    if (*name < 0) {
                        *name = addPoint(soup, at[0] / (double)n, at[1] / (double)n, at[2] / (double)n);
                    }
                    corners[c] = *name;
                }
                int s = side == 1 ? 1 : 3, r = side == 1 ? 3 : 1;
                addTriangle(soup, corners[0], corners[s], corners[2]);
                addTriangle(soup, corners[0], corners[2], corners[r]);
            }
        }
    }
    free(names);
}

static void corners_and_edges_of_a_box_stay_sharp(void** state) {
    (void)state;
    Soup soup = {0};
    addFineBox(&soup, 24);
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    assertHullClosed(&fine);
    Thinned thinned = thin(&fine, 200, NULL);
    assert_int_equal(thinned.hull.triangleCount, 200);
    // what is flat may move in its plane alone; the pull of points costs a corner some thousandths
    assert_near(hullVolume(&thinned.hull), 1.0, 5e-3);
    assert_true(distanceTo(&fine, &thinned.hull) < 0.02);
    srDestroyArena(thinned.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void walls_close_to_each_other_do_not_cross(void** state) {
    (void)state;
    // waves in two sheets, a hundredth apart, joined by their rims: without a look at neighbours they would
    // cross
    for (int kind = 0; kind < 2; kind++) {
        Soup soup = {0};
        addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0);
        for (int32_t p = 0; p < soup.pointCount; p++) {
            float* x = soup.points + 3 * p;
            x[2] = (kind == 0 ? 0.02f : 0.004f) * x[2] + 0.2f * sinf(9.0f * x[0]) * cosf(7.0f * x[1]);
        }
        srSurface surface = makeSurface(&soup);
        srHull fine = hullOfSurface(&surface);
        assert_int_equal(countCrossings(&fine), 0);
        Thinned thinned = thin(&fine, 600, NULL);
        assert_int_equal(countCrossings(&thinned.hull), thinned.report.crossingCount);
        assert_int_equal(thinned.report.crossingCount, 0);
        assert_true(thinned.report.undoneCount > 0);
        assert_true(thinned.hull.triangleCount < 6000);
        assert_int_equal(eulerOf(&thinned.hull), 2);
        // who looks at each collapse before has nothing to take back
        srDecimateSettings each = {600, NULL, NULL, true};
        assert_success(srDecimate(&fine, &each, thinned.arena, &thinned.hull, &thinned.report));
        assert_int_equal(thinned.report.undoneCount, 0);
        assert_int_equal(countCrossings(&thinned.hull), 0);
        assert_true(thinned.hull.triangleCount < 6000);
        srDestroyArena(thinned.arena);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void hole_of_a_ring_stays_open(void** state) {
    (void)state;
    enum {
        around = 60,
        across = 24
    };
    // down to where nearly every edge would close the hole or pinch the ring
    Soup soup = {0};
    for (int i = 0; i < around * across; i++) {
        double u = 6.283185307 * (i / across) / around, v = 6.283185307 * (i % across) / across;
        double radius = 1.0 + 0.12 * cos(v);
        addPoint(&soup, radius * cos(u), radius * sin(u), 0.12 * sin(v));
    }
    for (int i = 0; i < around * across; i++) {
        int u = i / across, v = i % across, nextU = (u + 1) % around, nextV = (v + 1) % across;
        int a = u * across + v, b = nextU * across + v, c = nextU * across + nextV, d = u * across + nextV;
        addTriangle(&soup, a, b, c);
        addTriangle(&soup, a, c, d);
    }
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    for (int32_t target = 100; target >= 8; target -= 23) {
        Thinned thinned = thin(&fine, target, NULL);
        bool isClosed;
        assert_success(srIsHullClosed(&thinned.hull, thinned.arena, &isClosed));
        assert_true(isClosed);
        assert_int_equal(eulerOf(&thinned.hull), 0);
        assert_int_equal(countCrossings(&thinned.hull), 0);
        srDestroyArena(thinned.arena);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// A contour's slivers are what is hard about thinning, and what is thinned when a skin is not clean.
static void bumpy_contours_keep_their_shape(void** state) {
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        srLattice lattice;
        srArena* arena = srCreateArena(1 << 20);
        const srVec3 corner = {2.3, 1.6, 1.4};
        assert_true(srMakeLattice(srScale(-1.0, corner), corner, 0.08, 0.08, 1 << 22, &lattice));
        double* phi = SR_PUSH(arena, double, lattice.pointCount, "test");
        for (int32_t p = 0; p < lattice.pointCount; p++) {
            srVec3 x = srLattice_Point(&lattice, p);
            double bumps = 0.06 * sin(5.0 * x.x) * cos(7.0 * x.y) + 0.03 * sin(9.0 * x.z);
            phi[p] = flat == 0 ? sqrt(0.6 * x.x * x.x + x.y * x.y + 1.5 * x.z * x.z) - 1.0 - bumps
                               : sqrt(0.2 * x.x * x.x + x.y * x.y + 6.0 * x.z * x.z) - 0.8 - 0.5 * bumps;
        }
        srHull fine;
        assert_success(srContourLattice(&lattice, phi, arena, &fine));
        assert_true(fine.triangleCount > 15000);
        double volume = hullVolume(&fine);
        for (int32_t target = 4000; target >= 1000; target /= 2) {
            Thinned thinned = thin(&fine, target, NULL);
            assert_int_equal(thinned.hull.triangleCount, target);
            assert_int_equal(eulerOf(&thinned.hull), 2);
            assert_int_equal(thinned.report.crossingCount, 0);
            assert_int_equal(countCrossings(&thinned.hull), 0);
            double apart = fmax(distanceTo(&fine, &thinned.hull), distanceTo(&thinned.hull, &fine));
            print_message("%d of %d: volume %+.4f %%, apart %.4f, quality %.3f\n", target, fine.triangleCount,
                          100.0 * (hullVolume(&thinned.hull) / volume - 1.0), apart,
                          worstQuality(&thinned.hull));
            // area 12, so edges of 0.083 at 4,000, bumps of radius 0.3: a sagitta of 0.003 there, of
            // 0.012 at 1,000, and as much again for where triangles lie
            double sagitta = 12.0 / target / 0.433 / 8.0 / 0.3;
            assert_true(apart < 2.5 * sagitta + 0.01);
            assert_near(hullVolume(&thinned.hull), volume, 0.2 * sagitta * 12.0);
            assert_true(worstQuality(&thinned.hull) > 0.1);
            srDestroyArena(thinned.arena);
        }
        srDestroyArena(arena);
    }
}

static void fineness_makes_edges_shorter(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    float* fineness = malloc(sizeof(float) * (size_t)fine.pointCount);
    for (int32_t p = 0; p < fine.pointCount; p++) {
        fineness[p] = fine.points[p].x > 0.0 ? 2.0f : 1.0f;
    }
    Thinned thinned = thin(&fine, 1000, fineness);
    int32_t sides[2] = {0, 0};
    for (int32_t p = 0; p < thinned.hull.pointCount; p++) {
        sides[thinned.hull.points[p].x > 0.0]++;
    }
    // edges of half the length are four times as many points
    assert_true(sides[1] > 2.5 * sides[0] && sides[1] < 6.0 * sides[0]);
    srDestroyArena(thinned.arena);
    free(fineness);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void result_is_the_same_on_any_number_of_workers(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    srParallel_SetWorkerCount(1);
    Thinned one = thin(&fine, 700, NULL);
    srParallel_SetWorkerCount(4);
    Thinned four = thin(&fine, 700, NULL);
    assert_int_equal(one.hull.pointCount, four.hull.pointCount);
    assert_memory_equal(one.hull.points, four.hull.points, sizeof(srVec3) * (size_t)one.hull.pointCount);
    assert_memory_equal(one.hull.triangles, four.hull.triangles, 12 * (size_t)one.hull.triangleCount);
    srDestroyArena(one.arena);
    srDestroyArena(four.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void what_is_not_closed_is_refused(void** state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        Soup soup = {0};
        addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
        int32_t* t = soup.triangles;
        if (kind == 0) { // a hole
            soup.triangleCount--;
        } else if (kind == 1) { // one turned over
            int32_t corner = t[0];
            t[0] = t[1];
            t[1] = corner;
        } else if (kind == 2) { // two balls that share a point
            int32_t shift = soup.pointCount, count = soup.triangleCount;
            addSphere(&soup, 2, 1.0, 5.0, 0.0, 0.0);
            for (int32_t i = 3 * count; i < 3 * soup.triangleCount; i++) {
                soup.triangles[i] = soup.triangles[i] == shift ? 0 : soup.triangles[i];
            }
        } else { // one more on an edge
            addPoint(&soup, 3.0, 0.0, 0.0);
            addTriangle(&soup, t[0], t[1], soup.pointCount - 1);
        }
        srSurface surface = makeSurface(&soup);
        srHull hull = hullOfSurface(&surface), out;
        srArena* arena = srCreateArena(1 << 16);
        srDecimateSettings settings = {20, NULL, NULL, false};
        srDecimateReport report;
        assert_result(srDecimate(&hull, &settings, arena, &out, &report), sr_errorBadMesh);
        srDestroyArena(arena);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

// Each point knows the one that it was drawn to, which is not far, and each that is left is somebody's.
static void points_know_where_they_have_come_to(void** state) {
    (void)state;
    Soup soup = {0};
    int32_t stray = addPoint(&soup, 9.0, 9.0, 9.0); // of no triangle
    addSphere(&soup, 5, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 5, 1.0, 2.5, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull fine = hullOfSurface(&surface);
    int32_t middle = 1 + (fine.pointCount - 1) / 2;
    for (int32_t target = 20000; target >= 160; target /= 5) {
        Thinned thinned = thin(&fine, target, NULL);
        double edge = sqrt(2.0 * 4.0 * 3.14159 / target / 0.433);
        uint8_t* isHeir = calloc((size_t)thinned.hull.pointCount, 1);
        assert_int_equal(thinned.report.heirs[stray], SR_NULL_INDEX);
        for (int32_t p = 1; p < fine.pointCount; p++) {
            int32_t heir = thinned.report.heirs[p];
            assert_in_range(heir, 0, thinned.hull.pointCount - 1);
            assert_true(srDistance(fine.points[p], thinned.hull.points[heir]) < 3.0 * edge);
            assert_int_equal(thinned.hull.points[heir].x > 1.25, p >= middle); // of its own sphere
            isHeir[heir] = 1;
        }
        assert_null(memchr(isHeir, 0, (size_t)thinned.hull.pointCount));
        free(isHeir);
        srDestroyArena(thinned.arena);
    }
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static bool refuse(float fraction, void* context) {
    (void)context;
    return fraction < 0.5f;
}

static void caller_may_cancel(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull hull = hullOfSurface(&surface), out;
    srArena* arena = srCreateArena(1 << 16);
    srProgress progress = {refuse, NULL, 0.0f, 1.0f};
    srDecimateSettings settings = {40, NULL, &progress, false};
    srDecimateReport report;
    assert_result(srDecimate(&hull, &settings, arena, &out, &report), sr_errorCancelled);
    srDestroyArena(arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static srResult thinAndForget(void* context) {
    srArena* arena = srCreateArena(64);
    srHull out;
    srDecimateSettings settings = {100, NULL, NULL, false};
    srDecimateReport report;
    srResult result =
        arena == NULL ? srFailOutOfMemory("the test") : srDecimate(context, &settings, arena, &out, &report);
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srHull hull = hullOfSurface(&surface);
    srTestEveryAllocationFails(thinAndForget, &hull);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sphere_stays_a_sphere, srTestNothingLeaked),
        cmocka_unit_test_teardown(corners_and_edges_of_a_box_stay_sharp, srTestNothingLeaked),
        cmocka_unit_test_teardown(walls_close_to_each_other_do_not_cross, srTestNothingLeaked),
        cmocka_unit_test_teardown(hole_of_a_ring_stays_open, srTestNothingLeaked),
        cmocka_unit_test_teardown(bumpy_contours_keep_their_shape, srTestNothingLeaked),
        cmocka_unit_test_teardown(fineness_makes_edges_shorter, srTestNothingLeaked),
        cmocka_unit_test_teardown(result_is_the_same_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_not_closed_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_know_where_they_have_come_to, srTestNothingLeaked),
        cmocka_unit_test_teardown(caller_may_cancel, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/decimate", tests, NULL, NULL);
}
