// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/gaps.h"

#include "mesh/solids.h"

static srSurface makeBoxes(const double (*places)[3], int count) {
    static const double size[3] = {2.0, 2.0, 2.0};
    Soup soup = {0};
    for (int i = 0; i < count; i++) {
        addBox(&soup, places[i], size);
    }
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static const double row[3][3] = {{0.0, 0.0, 0.0}, {300.0, 0.0, 0.0}, {9000.0, 2000.0, 0.0}};

static void gaps_are_closed_to_what_is_wide_or_wanted(void** state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        double least = i == 0 ? 0.0 : 100.0;
        srSurface surface = makeBoxes(row, 3), closed;
        srGaps gaps;
        assert_true(srFindGaps(&surface, least, &gaps));
        assert_int_equal(gaps.count, 3);
        assert_success(srCloseGaps(&surface, &gaps, &closed));
        srVec3 extent = srSub(closed.upper, closed.lower), before = srSub(surface.upper, surface.lower);
        // three boxes and two gaps, each as coarse as the bins of a row of two thousand
        double bin = before.x / 2048.0;
        assert_true(extent.x >= 6.0 + 2.0 * least && extent.x <= 6.0 + 2.0 * fmax(least, 6.0) + 20.0 * bin);
        assert_true(extent.z == before.z);
        assert_true(closed.size == surface.size);
        srDestroySurface(&closed);
        srDestroySurface(&surface);
    }
}

static void opening_is_the_way_back(void** state) {
    (void)state;
    srSurface surface = makeBoxes(row, 3), closed;
    srGaps gaps;
    assert_true(srFindGaps(&surface, 0.0, &gaps));
    assert_success(srCloseGaps(&surface, &gaps, &closed));
    srCage cage = {.nodes = closed.points, .nodeCount = closed.pointCount};
    assert_true(srOpenGaps(&gaps, &cage));
    for (int32_t p = 0; p < surface.pointCount; p++) {
        assert_near(srDistance(closed.points[p], surface.points[p]), 0.0, 1e-11); // roundings of 9000
    }
    srDestroySurface(&closed);
    srDestroySurface(&surface);
}

static void a_cell_across_a_gap_is_not_torn(void** state) {
    (void)state;
    srSurface surface = makeBoxes(row, 3);
    srGaps gaps;
    assert_true(srFindGaps(&surface, 0.0, &gaps));
    srVec3 nodes[4] = {
        {0.0, 0.0, 0.0}, {gaps.gaps[0].after + 1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    int32_t cells[1][4] = {{0, 1, 2, 3}};
    srCage cage = {.nodes = nodes, .nodeCount = 4, .cells = cells, .cellCount = 1};
    double before = nodes[1].x;
    assert_false(srOpenGaps(&gaps, &cage));
    assert_true(nodes[1].x == before);
    srDestroySurface(&surface);
}

static void what_is_near_has_no_gaps(void** state) {
    (void)state;
    static const double near[2][3] = {{0.0, 0.0, 0.0}, {5.0, 0.0, 0.0}};
    srSurface surface = makeBoxes(near, 2);
    srGaps gaps;
    assert_false(srFindGaps(&surface, 0.0, &gaps));
    srDestroySurface(&surface);
}

static srResult closeAndDestroy(void* context) {
    srSurface* surface = context;
    srSurface closed;
    srGaps gaps;
    assert_true(srFindGaps(surface, 0.0, &gaps));
    SR_TRY(srCloseGaps(surface, &gaps, &closed));
    srDestroySurface(&closed);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeBoxes(row, 3);
    srTestEveryAllocationFails(closeAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(gaps_are_closed_to_what_is_wide_or_wanted, srTestNothingLeaked),
        cmocka_unit_test_teardown(opening_is_the_way_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_cell_across_a_gap_is_not_torn, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_near_has_no_gaps, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/gaps", tests, NULL, NULL);
}
