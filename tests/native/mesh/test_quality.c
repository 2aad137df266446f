// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/quality.h"

#include "mesh/solids.h"

static void regular_cell_has_its_known_angle(void** state) {
    (void)state;
    const srVec3 nodes[4] = {{1.0, 1.0, 1.0}, {1.0, -1.0, -1.0}, {-1.0, 1.0, -1.0}, {-1.0, -1.0, 1.0}};
    const int32_t cells[1][4] = {{0, 1, 2, 3}};
    srCage cage;
    double least, most, volume;
    assert_success(srCreateCage(nodes, 4, cells, 1, &cage));
    srMeasureCells(&cage, &least, &most, &volume);
    // the arc cosine of a third
    assert_near(least, 70.528779365509308, 1e-12);
    assert_near(most, 70.528779365509308, 1e-12);
    assert_near(volume, 8.0 / 3.0, 1e-15);
    srDestroyCage(&cage);
}

static void block_of_cubes_has_angles_of_45_to_90(void** state) {
    (void)state;
    srCage cage;
    double least, most, volume;
    makeBlock(3, 2, 1, 2.0, &cage);
    srMeasureCells(&cage, &least, &most, &volume);
    assert_near(least, 45.0, 1e-12);
    assert_near(most, 90.0, 1e-12);
    assert_near(volume, 48.0, 1e-12);
    srDestroyCage(&cage);
}

static void every_angle_is_in_the_bin_of_its_degrees(void** state) {
    (void)state;
    // cubes cut in six around the diagonal: right angles, halves of them, and 60 degrees at the diagonal
    srCage cage;
    int32_t counts[18];
    makeBlock(2, 2, 2, 1.0, &cage);
    srCountDihedrals(&cage, counts, 18);
    int32_t sum = 0;
    for (int bin = 0; bin < 18; bin++) {
        sum += counts[bin];
    }
    assert_int_equal(sum, 6 * cage.cellCount);
    // a path along three edges of a cube: three right angles, two of 45 degrees, one of 60; a right angle or
    // 60 degrees may be rounded to just below
    assert_int_equal(counts[4], 2 * cage.cellCount);
    assert_int_equal(counts[5] + counts[6], cage.cellCount);
    assert_int_equal(counts[8] + counts[9], 3 * cage.cellCount);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(regular_cell_has_its_known_angle, srTestNothingLeaked),
        cmocka_unit_test_teardown(block_of_cubes_has_angles_of_45_to_90, srTestNothingLeaked),
        cmocka_unit_test(every_angle_is_in_the_bin_of_its_degrees),
    };
    return cmocka_run_group_tests_name("mesh/quality", tests, NULL, NULL);
}
