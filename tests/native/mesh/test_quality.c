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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(regular_cell_has_its_known_angle, srTestNothingLeaked),
        cmocka_unit_test_teardown(block_of_cubes_has_angles_of_45_to_90, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/quality", tests, NULL, NULL);
}
