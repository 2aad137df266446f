// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/weld.h"

#include "mesh/soups.h"

static srWelded weld(const Soup* soup) {
    const srProgress nobody = {0};
    srSurface surface = makeSurface(soup);
    srWelded welded;
    assert_success(srWeldSurface(&surface, &nobody, &welded));
    srDestroySurface(&surface);
    return welded;
}

static void every_side_of_a_closed_mesh_has_a_mate(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    explode(&soup, 0.0);
    shuffleTriangles(&soup, 5);
    srWelded welded = weld(&soup);
    assert_int_equal(welded.triangleCount, 320);
    assert_int_equal(welded.weldedCount, 960 - 162);
    for (int32_t side = 0; side < 960; side++) {
        int32_t mate = welded.mates[side];
        assert_true(mate >= 0 && welded.mates[mate] == side);
        const int32_t *here = welded.triangles[side / 3], *there = welded.triangles[mate / 3];
        assert_int_equal(here[side % 3], there[(mate + 1) % 3]);
        assert_int_equal(here[(side + 1) % 3], there[mate % 3]);
    }
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

static void zero_has_no_sign_and_near_is_not_the_same(void** state) {
    (void)state;
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 1.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 1.0, 0.0);
    addPoint(&soup, -0.0, -0.0, 0.0);
    addPoint(&soup, 1.0000001, 0.0, 0.0);
    addPoint(&soup, 0.0, 0.0, 1.0);
    addTriangle(&soup, 0, 1, 2);
    addTriangle(&soup, 3, 2, 5);
    addTriangle(&soup, 3, 4, 5);
    srWelded welded = weld(&soup);
    assert_int_equal(welded.weldedCount, 1);
    assert_int_equal(welded.mates[2], 3);
    assert_int_equal(welded.mates[0], SR_SIDE_ALONE);
    assert_int_equal(welded.mates[6], SR_SIDE_ALONE);
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

static void an_edge_of_many_has_no_mates_but_is_found(void** state) {
    (void)state;
    enum {
        pages = 500
    };
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 0.0, 1.0);
    for (int p = 0; p < pages; p++) {
        int32_t tip = addPoint(&soup, cos(p * 0.01), sin(p * 0.01), 0.5);
        addTriangle(&soup, p % 2, 1 - p % 2, tip);
    }
    srWelded welded = weld(&soup);
    int32_t first, count;
    const srKeyed* sides = srFindSides(&welded, 3 * 77, 10, &first, &count);
    assert_int_equal(count, 10);
    sides = srFindSides(&welded, 3 * 77, 2 * pages, &first, &count);
    assert_int_equal(count, pages);
    for (int32_t i = first; i < first + count; i++) {
        assert_int_equal(sides[i].value % 3, 0);
        assert_int_equal(welded.mates[sides[i].value], SR_SIDE_SHARED);
    }
    srDestroyWelded(&welded);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_side_of_a_closed_mesh_has_a_mate, srTestNothingLeaked),
        cmocka_unit_test_teardown(zero_has_no_sign_and_near_is_not_the_same, srTestNothingLeaked),
        cmocka_unit_test_teardown(an_edge_of_many_has_no_mates_but_is_found, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/weld", tests, NULL, NULL);
}
