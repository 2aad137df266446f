// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/cellgrid.h"

#include "mesh/solids.h"

static void found_cell_is_the_best_of_all(void** state) {
    (void)state;
    srCage cage;
    srCellGrid* grid;
    uint64_t seed = 41;
    makeBlock(5, 3, 1, 0.3, &cage);
    assert_success(srCreateCellGrid(&cage, &grid));
    for (int i = 0; i < 500; i++) {
        srVec3 point = srAdd(randomPoint(&seed, 1.0), (srVec3){0.75, 0.45, 0.15});
        double w[4], best = -1e-12, smallest;
        int32_t expected = SR_NULL_INDEX;
        for (int32_t cell = 0; cell < cage.cellCount; cell++) {
            srFindBarycentric(&cage, cell, point, w);
            smallest = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
            expected = smallest > best ? cell : expected;
            best = fmax(best, smallest);
        }
        assert_int_equal(srCellGrid_Find(grid, point, w), expected);
    }
    srDestroyCellGrid(grid);
    srDestroyCage(&cage);
}

static void nodes_and_faces_are_inside(void** state) {
    (void)state;
    srCage cage;
    srCellGrid* grid;
    double w[4];
    makeBlock(4, 4, 4, 0.1, &cage);
    assert_success(srCreateCellGrid(&cage, &grid));
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        assert_true(srCellGrid_Find(grid, cage.nodes[node], w) != SR_NULL_INDEX);
    }
    for (int32_t e = 0; e < cage.edgeCount; e++) {
        srVec3 middle = srScale(0.5, srAdd(cage.nodes[cage.edges[e][0]], cage.nodes[cage.edges[e][1]]));
        assert_true(srCellGrid_Find(grid, middle, w) != SR_NULL_INDEX);
    }
    assert_int_equal(srCellGrid_Find(grid, (srVec3){-1e-9, 0.2, 0.2}, w), SR_NULL_INDEX);
    srDestroyCellGrid(grid);
    srDestroyCage(&cage);
}

static void barycentric_weights_give_the_point_back(void** state) {
    (void)state;
    srCage cage;
    uint64_t seed = 43;
    makeBlock(1, 1, 1, 2.0, &cage);
    for (int i = 0; i < 50; i++) {
        srVec3 point = randomPoint(&seed, 5.0), again = {0};
        double w[4];
        srFindBarycentric(&cage, i % cage.cellCount, point, w);
        for (int c = 0; c < 4; c++) {
            again = srMulAdd(again, w[c], cage.nodes[cage.cells[i % cage.cellCount][c]]);
        }
        assert_near(srDistance(point, again), 0.0, 1e-13);
        assert_near(w[0] + w[1] + w[2] + w[3], 1.0, 1e-14);
    }
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    srCellGrid* grid;
    SR_TRY(srCreateCellGrid(context, &grid));
    srDestroyCellGrid(grid);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(1, 1, 1, 1.0, &cage);
    srTestEveryAllocationFails(createAndDestroy, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(found_cell_is_the_best_of_all, srTestNothingLeaked),
        cmocka_unit_test_teardown(nodes_and_faces_are_inside, srTestNothingLeaked),
        cmocka_unit_test_teardown(barycentric_weights_give_the_point_back, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/cellgrid", tests, NULL, NULL);
}
