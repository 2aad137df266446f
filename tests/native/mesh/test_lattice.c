// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/lattice.h"

#include "mesh/solids.h"

static srLattice makeSmall(void) {
    srLattice lattice;
    assert_true(srMakeLattice((srVec3){-1.0, 0.0, 2.0}, (srVec3){1.0, 1.5, 2.5}, 0.1, 0.5, 100000, &lattice));
    return lattice;
}

static void neighbours_lie_where_the_step_says(void** state) {
    (void)state;
    srLattice lattice = makeSmall();
    int32_t cube = (3 * lattice.ny + 2) * lattice.nx + 2;
    for (int32_t point = 2 * cube; point < 2 * cube + 2; point++) {
        for (int d = 0; d < SR_DIRECTION_COUNT; d++) {
            int32_t neighbour = srLattice_Neighbour(&lattice, point, d);
            srVec3 expected = srAdd(srLattice_Point(&lattice, point), srLattice_Step(&lattice, d));
            assert_near(srDistance(srLattice_Point(&lattice, neighbour), expected), 0.0, 1e-15);
            assert_near(srLength(srLattice_Step(&lattice, d)), srEdgeLength(d) * lattice.spacing, 1e-15);
            assert_int_equal(srLattice_Neighbour(&lattice, neighbour, srOpposite(d)), point);
        }
    }
}

static void directions_are_found_by_their_offset(void** state) {
    (void)state;
    srLattice lattice = makeSmall();
    for (int d = 0; d < SR_DIRECTION_COUNT; d++) {
        srVec3 step = srScale(2.0 / lattice.spacing, srLattice_Step(&lattice, d));
        const int offset[3] = {(int)step.x, (int)step.y, (int)step.z};
        assert_int_equal(srFindDirection(offset), d);
    }
}

static void box_with_margin_is_inside_of_the_second_ring(void** state) {
    (void)state;
    srLattice lattice = makeSmall();
    srVec3 low = srLattice_Point(&lattice, 2 * ((2 * lattice.ny + 2) * lattice.nx + 2));
    assert_true(low.x <= -1.1 && low.y <= -0.1 && low.z <= 1.9);
    srVec3 high =
        srMulAdd(lattice.origin, lattice.spacing, (srVec3){lattice.nx - 2, lattice.ny - 2, lattice.nz - 2});
    assert_true(high.x >= 1.1 && high.y >= 1.6 && high.z >= 2.6);
}

static void points_are_mirrored_about_the_middle_of_the_box(void** state) {
    (void)state;
    srLattice lattice = makeSmall();
    int32_t middle = 2 * ((lattice.nz / 2 * lattice.ny + lattice.ny / 2) * lattice.nx + lattice.nx / 2);
    assert_near(srDistance(srLattice_Point(&lattice, middle), (srVec3){0.0, 0.75, 2.25}), 0.0, 1e-14);
}

// Shifted, the middle is that of a cube along one axis: between corners, so that their layers are even.
static void shifted_points_are_mirrored_about_the_same_middle(void** state) {
    (void)state;
    const srVec3 middle = {0.0, 0.75, 2.25};
    for (int axis = 0; axis < 3; axis++) {
        srLattice lattice = makeSmall(), before = lattice;
        assert_true(srLattice_Shift(&lattice, axis, 100000));
        const int32_t counts[3] = {lattice.nx, lattice.ny, lattice.nz};
        assert_int_equal(counts[axis] % 2, 1);
        assert_int_equal(lattice.pointCount, 2 * lattice.nx * lattice.ny * lattice.nz);

        // the corner with the same number from the other end
        for (int32_t i = 1; i < 4; i++) {
            int32_t low = 2 * ((i * lattice.ny + i) * lattice.nx + i);
            int32_t high =
                2 * (((lattice.nz - i) * lattice.ny + lattice.ny - i) * lattice.nx + lattice.nx - i);
            srVec3 sum = srAdd(srLattice_Point(&lattice, low), srLattice_Point(&lattice, high));
            assert_near(srDistance(srScale(0.5, sum), middle), 0.0, 1e-14);
        }
        int32_t corner = (counts[2] / 2 * counts[1] + counts[1] / 2) * counts[0] + counts[0] / 2;
        srVec3 off = srSub(middle, srLattice_Point(&lattice, 2 * corner));
        assert_near(srLength(off), 0.5 * lattice.spacing, 1e-14);

        before = lattice;
        assert_false(srLattice_Shift(&lattice, axis, lattice.pointCount));
        assert_int_equal(lattice.pointCount, before.pointCount);
        assert_near(srDistance(lattice.origin, before.origin), 0.0, 0.0);
    }
}

static void too_many_points_are_refused(void** state) {
    (void)state;
    srLattice lattice;
    srVec3 lower = {0.0, 0.0, 0.0}, upper = {1.0, 1.0, 1.0};
    assert_false(srMakeLattice(lower, upper, 0.0, 1e-3, 1 << 23, &lattice));
    assert_false(srMakeLattice(lower, upper, 0.0, 1e-300, 1 << 23, &lattice));
    assert_false(srMakeLattice(lower, upper, 0.0, 0.0, 1 << 23, &lattice));
    assert_true(srMakeLattice(lower, upper, 0.0, 1e-2, 1 << 23, &lattice));
    assert_int_equal(lattice.pointCount, 2 * lattice.nx * lattice.ny * lattice.nz);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_lie_where_the_step_says),
        cmocka_unit_test(directions_are_found_by_their_offset),
        cmocka_unit_test(box_with_margin_is_inside_of_the_second_ring),
        cmocka_unit_test(points_are_mirrored_about_the_middle_of_the_box),
        cmocka_unit_test(shifted_points_are_mirrored_about_the_same_middle),
        cmocka_unit_test(too_many_points_are_refused),
    };
    return cmocka_run_group_tests_name("mesh/lattice", tests, NULL, NULL);
}
