// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/skin_links.h"

#include "core/roots.h"
#include "mesh/solids.h"

// From the origin, with edges of one along the axes.
static const srVec3 corner[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// A strip of `count` pairs of triangles from x = `from`, each `step` long, along y from -2 to 2 at height z.
static void addStrip(Soup* soup, int count, double from, double step, double z) {
    int32_t a = addPoint(soup, from, -2.0, z), b = addPoint(soup, from, 2.0, z);
    for (int i = 1; i <= count; i++) {
        int32_t c = addPoint(soup, from + i * step, -2.0, z), d = addPoint(soup, from + i * step, 2.0, z);
        addTriangle(soup, a, c, b);
        addTriangle(soup, b, c, d);
        a = c, b = d;
    }
}

// Trees that `count` triangles fall into.
static int countTrees(const Soup* soup, double margin, const int32_t* triangles, int count) {
    srSurface surface = makeSurface(soup);
    srProgress nobody = {0};
    srArena* arena = srCreateArena(1 << 12);
    srSkinLinks links;
    int32_t roots[16];
    int trees = 0;
    assert_success(srCreateSkinLinks(&surface, arena, &nobody, &links));
    srClearRoots(roots, count);
    srSkinLinks_Join(&links, corner, margin, triangles, count, roots);
    for (int i = 0; i < count; i++) {
        trees += srFindRoot(roots, i) == i;
    }
    srDestroyArena(arena);
    srDestroySurface(&surface);
    return trees;
}

static void triangles_hang_together_by_edges_within_and_not_by_those_outside(void** state) {
    (void)state;
    Soup soup = {0};
    addStrip(&soup, 2, 0.1, 0.2, 0.2);  // edges across at x = 0.3, diagonals before and behind
    addStrip(&soup, 2, 0.1, 0.2, 4.0);  // above the tip
    addStrip(&soup, 1, -0.5, 0.2, 0.2); // before the face x = 0
    const int32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, SR_NULL_INDEX, 0};
    assert_int_equal(countTrees(&soup, 0.0, all, 12), 1 + 4 + 2 + 1);
    assert_int_equal(countTrees(&soup, 0.45, all, 12), 1 + 4 + 1 + 1); // the last one's diagonal is 0.4 away
    assert_int_equal(countTrees(&soup, 4.0, all, 12), 1 + 1 + 1 + 1);
    freeSoup(&soup);
}

// As at the contact of two boxes.
static void where_three_triangles_share_an_edge_they_only_touch(void** state) {
    (void)state;
    Soup soup = {0};
    const int32_t all[] = {0, 1, 2};
    addStrip(&soup, 1, 0.1, 0.2, 0.2);
    assert_int_equal(countTrees(&soup, 0.0, all, 2), 1);
    int32_t tip = addPoint(&soup, 0.2, 0.2, 0.9);
    addTriangle(&soup, soup.triangles[1], soup.triangles[2], tip); // on the diagonal
    assert_int_equal(countTrees(&soup, 0.0, all, 3), 3);
    freeSoup(&soup);
}

static void skins_that_are_too_fine_are_no_fault(void** state) {
    (void)state;
    Soup soup = {0};
    addStrip(&soup, 4000, 0.0, 1e-4, 0.2); // eight thousand triangles within
    const int32_t ends[] = {0, 7999}, near[] = {0, 500};
    assert_int_equal(countTrees(&soup, 0.0, ends, 2), 2);
    assert_int_equal(countTrees(&soup, 0.0, near, 2), 1);
    freeSoup(&soup);
}

static srResult create(void* context) {
    srProgress nobody = {0};
    srSkinLinks links;
    srArena* arena = srCreateArena(1 << 6);
    srResult result =
        arena != NULL ? srCreateSkinLinks(context, arena, &nobody, &links) : srFailOutOfMemory("a test");
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, 1.0);
    srTestEveryAllocationFails(create, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(triangles_hang_together_by_edges_within_and_not_by_those_outside,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(where_three_triangles_share_an_edge_they_only_touch, srTestNothingLeaked),
        cmocka_unit_test_teardown(skins_that_are_too_fine_are_no_fault, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/skin_links", tests, NULL, NULL);
}
