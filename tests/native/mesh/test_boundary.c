// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/boundary.h"

#include "mesh/solids.h"

static void single_cell_has_four_outward_faces(void** state) {
    (void)state;
    const srVec3 nodes[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int32_t cells[1][4] = {{0, 1, 2, 3}};
    srCage cage;
    srBoundary boundary;
    assert_success(srCreateCage(nodes, 4, cells, 1, &cage));
    assert_success(srCreateBoundary(&cage, &boundary));
    assert_int_equal(boundary.faceCount, 4);
    srVec3 middle = {0.25, 0.25, 0.25};
    for (int f = 0; f < 4; f++) {
        srVec3 a = cage.nodes[boundary.faces[f][0]];
        srVec3 ab = srSub(cage.nodes[boundary.faces[f][1]], a),
               ac = srSub(cage.nodes[boundary.faces[f][2]], a);
        assert_true(srDot(srCross(ab, ac), srSub(a, middle)) > 0.0);
        assert_int_equal(boundary.cells[f], 0);
    }
    srDestroyBoundary(&boundary);
    srDestroyCage(&cage);
}

static void boundary_of_a_block_is_its_six_sides(void** state) {
    (void)state;
    srCage cage;
    srBoundary boundary;
    makeBlock(4, 3, 2, 0.5, &cage);
    assert_success(srCreateBoundary(&cage, &boundary));
    assert_int_equal(boundary.faceCount, 2 * 2 * (12 + 8 + 6));
    double area = 0.0;
    for (int32_t f = 0; f < boundary.faceCount; f++) {
        const int32_t* n = boundary.faces[f];
        srVec3 a = cage.nodes[n[0]];
        area += 0.5 * srLength(srCross(srSub(cage.nodes[n[1]], a), srSub(cage.nodes[n[2]], a)));
        assert_true(f == 0 || boundary.cells[f - 1] <= boundary.cells[f]);
    }
    assert_near(area, 2.0 * 0.25 * (12 + 8 + 6), 1e-12);
    srDestroyBoundary(&boundary);
    srDestroyCage(&cage);
}

static void doubled_cells_have_no_skin(void** state) {
    (void)state;
    const srVec3 nodes[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int32_t cells[2][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}};
    srCage cage;
    srBoundary boundary;
    assert_success(srCreateCage(nodes, 4, cells, 2, &cage));
    assert_result(srCreateBoundary(&cage, &boundary), sr_errorBadMesh);
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    srBoundary boundary;
    SR_TRY(srCreateBoundary(context, &boundary));
    srDestroyBoundary(&boundary);
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
        cmocka_unit_test_teardown(single_cell_has_four_outward_faces, srTestNothingLeaked),
        cmocka_unit_test_teardown(boundary_of_a_block_is_its_six_sides, srTestNothingLeaked),
        cmocka_unit_test_teardown(doubled_cells_have_no_skin, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/boundary", tests, NULL, NULL);
}
