// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/cage.h"

#include "mesh/solids.h"

static const srVec3 corners[8] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {1.0, 1.0, 0.0},
                                  {0.0, 0.0, 1.0}, {1.0, 0.0, 1.0}, {0.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};

static void flipped_cells_are_turned(void** state) {
    (void)state;
    srCage straight;
    makeBlock(3, 2, 2, 1.0, &straight);
    int32_t (*cells)[4] = malloc(sizeof(cells[0]) * (size_t)straight.cellCount);
    for (int32_t cell = 0; cell < straight.cellCount; cell++) {
        assert_true(srCellVolume(&straight, cell) > 0.0);
        memcpy(cells[cell], straight.cells[cell], sizeof(cells[0]));
        if (cell % 2 == 0) {
            cells[cell][0] = straight.cells[cell][1];
            cells[cell][1] = straight.cells[cell][0];
        }
    }
    srCage turned;
    assert_success(srCreateCage(straight.nodes, straight.nodeCount, (const int32_t (*)[4])cells,
                                straight.cellCount, &turned));
    assert_int_equal(turned.cellCount, straight.cellCount);
    for (int32_t cell = 0; cell < turned.cellCount; cell++) {
        assert_true(srCellVolume(&turned, cell) > 0.0);
    }
    assert_near(sumVolumes(&turned), 12.0, 1e-12);
    srDestroyCage(&turned);
    srDestroyCage(&straight);
    free(cells);
}

static void unused_nodes_and_flat_cells_are_left_out(void** state) {
    (void)state;
    const int32_t cells[4][4] = {{0, 1, 2, 3}, {1, 3, 2, 7}, {4, 4, 5, 6}, {0, 1, 1, 7}};
    srCage cage;
    assert_success(srCreateCage(corners, 8, cells, 4, &cage));
    assert_int_equal(cage.cellCount, 1);
    assert_int_equal(cage.nodeCount, 4);
    assert_int_equal(cage.edgeCount, 6);
    srDestroyCage(&cage);
}

static bool areJoined(const srCage* cage, int32_t a, int32_t b) {
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        bool hasA = false, hasB = false;
        for (int c = 0; c < 4; c++) {
            hasA = hasA || cage->cells[cell][c] == a;
            hasB = hasB || cage->cells[cell][c] == b;
        }
        if (hasA && hasB) {
            return true;
        }
    }
    return false;
}

static void edges_are_complete_ascending_and_single(void** state) {
    (void)state;
    srCage cage;
    makeBlock(3, 2, 2, 1.0, &cage);
    int32_t next = 0;
    for (int32_t a = 0; a < cage.nodeCount; a++) {
        for (int32_t b = a + 1; b < cage.nodeCount; b++) {
            if (areJoined(&cage, a, b)) {
                assert_true(next < cage.edgeCount);
                assert_int_equal(cage.edges[next][0], a);
                assert_int_equal(cage.edges[next][1], b);
                next++;
            }
        }
    }
    assert_int_equal(next, cage.edgeCount);
    srDestroyCage(&cage);
}

static int32_t bandwidth(const srCage* cage) {
    int32_t widest = 0;
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        int32_t width = cage->edges[e][1] - cage->edges[e][0];
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void neighbours_get_numbers_near_each_other(void** state) {
    (void)state;
    // numbered along its length by makeBlock, so before renumbering an edge spans 3 layers of 61 nodes
    srCage cage;
    makeBlock(60, 2, 2, 1.0, &cage);
    // a layer across has 9 nodes; an oblique front holds two of them or so
    assert_true(bandwidth(&cage) <= 30);
    for (int32_t cell = 1; cell < cage.cellCount; cell++) {
        int32_t lowest[2] = {INT32_MAX, INT32_MAX};
        for (int c = 0; c < 8; c++) {
            int32_t node = cage.cells[cell - c / 4][c % 4];
            lowest[c / 4] = node < lowest[c / 4] ? node : lowest[c / 4];
        }
        assert_true(lowest[1] <= lowest[0]);
    }
    srDestroyCage(&cage);
}

static void numbers_are_as_near_wherever_the_first_node_is(void** state) {
    (void)state;
    srCage bar;
    makeBlock(60, 2, 2, 1.0, &bar);
    int32_t count = bar.nodeCount;
    srVec3* nodes = malloc(sizeof(srVec3) * (size_t)count);
    int32_t (*cells)[4] = malloc(sizeof(cells[0]) * (size_t)bar.cellCount);
    assert_true(nodes != NULL && cells != NULL);
    for (int32_t turn = 1; turn < 5; turn++) {
        // the first node is in the middle: a walk from there goes both ways at once, twice as wide
        int32_t shift = turn * count / 5;
        for (int32_t i = 0; i < count; i++) {
            nodes[(i + shift) % count] = bar.nodes[i];
        }
        for (int32_t i = 0; i < 4 * bar.cellCount; i++) {
            cells[i / 4][i % 4] = (bar.cells[i / 4][i % 4] + shift) % count;
        }
        srCage turned;
        assert_success(srCreateCage(nodes, count, (const int32_t (*)[4])cells, bar.cellCount, &turned));
        assert_true(bandwidth(&turned) <= bandwidth(&bar) + 2);
        srDestroyCage(&turned);
    }
    free(nodes);
    free(cells);
    srDestroyCage(&bar);
}

static void separate_pieces_are_all_kept(void** state) {
    (void)state;
    srVec3 nodes[12];
    int32_t cells[3][4];
    for (int i = 0; i < 12; i++) {
        nodes[i] = srAdd(corners[i % 4 == 3 ? 4 : i % 4], (srVec3){10.0 * (i / 4), 0.0, 0.0});
        cells[i / 4][i % 4] = i;
    }
    srCage cage;
    assert_success(srCreateCage(nodes, 12, (const int32_t (*)[4])cells, 3, &cage));
    assert_int_equal(cage.cellCount, 3);
    assert_int_equal(cage.nodeCount, 12);
    assert_near(sumVolumes(&cage), 0.5, 1e-12);
    srDestroyCage(&cage);
}

static void what_is_no_cage_is_refused(void** state) {
    (void)state;
    const int32_t good[1][4] = {{0, 1, 2, 4}}, high[1][4] = {{0, 1, 2, 8}}, low[1][4] = {{0, 1, 2, -1}};
    const int32_t flat[1][4] = {{0, 1, 2, 3}};
    srVec3 broken[8];
    srCage cage;
    assert_result(srCreateCage(corners, 8, high, 1, &cage), sr_errorBadMesh);
    assert_result(srCreateCage(corners, 8, low, 1, &cage), sr_errorBadMesh);
    assert_result(srCreateCage(corners, 8, flat, 1, &cage), sr_errorBadMesh);
    assert_result(srCreateCage(corners, 8, good, 0, &cage), sr_errorBadMesh);
    assert_result(srCreateCage(corners, 0, good, 1, &cage), sr_errorBadMesh);
    memcpy(broken, corners, sizeof(corners));
    broken[7].y = (double)NAN; // not used by any cell
    assert_result(srCreateCage(broken, 8, good, 1, &cage), sr_errorBadMesh);
    broken[7].y = HUGE_VAL;
    assert_result(srCreateCage(broken, 8, good, 1, &cage), sr_errorBadMesh);
}

static srResult createAndDestroy(void* context) {
    (void)context;
    const int32_t cells[2][4] = {{0, 1, 2, 4}, {1, 2, 4, 7}};
    srCage cage;
    SR_TRY(srCreateCage(corners, 8, cells, 2, &cage));
    srDestroyCage(&cage);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(createAndDestroy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(flipped_cells_are_turned, srTestNothingLeaked),
        cmocka_unit_test_teardown(unused_nodes_and_flat_cells_are_left_out, srTestNothingLeaked),
        cmocka_unit_test_teardown(edges_are_complete_ascending_and_single, srTestNothingLeaked),
        cmocka_unit_test_teardown(neighbours_get_numbers_near_each_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(numbers_are_as_near_wherever_the_first_node_is, srTestNothingLeaked),
        cmocka_unit_test_teardown(separate_pieces_are_all_kept, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_no_cage_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/cage", tests, NULL, NULL);
}
