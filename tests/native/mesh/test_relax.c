// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/relax.h"

#include "mesh/quality.h"
#include "mesh/solids.h"

static void measure(const srCage* cage, double* outLeast, double* outVolume) {
    double most;
    srMeasureCells(cage, outLeast, &most, outVolume);
}

// The block with nodes shaken: some inner ones so far that cells are nearly flat.
static srCage shaken(double share, uint64_t seed) {
    srCage cage;
    makeBlock(4, 4, 4, 1.0, &cage);
    for (int32_t n = 0; n < cage.nodeCount; n++) {
        srVec3* x = &cage.nodes[n];
        bool isInner = x->x > 0.1 && x->x < 3.9 && x->y > 0.1 && x->y < 3.9 && x->z > 0.1 && x->z < 3.9;
        double step = isInner ? share : 0.0;
        x->x += step * (srTestRandom(&seed) - 0.5);
        x->y += step * (srTestRandom(&seed) - 0.5);
        x->z += step * (srTestRandom(&seed) - 0.5);
    }
    return cage;
}

static srResult relax(srCage* cage, double wanted) {
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("the test");
    }
    srResult result = srRelaxNodes(cage->nodes, cage->nodeCount, (const int32_t (*)[4])cage->cells,
                                   cage->cellCount, wanted, arena);
    srDestroyArena(arena);
    return result;
}

static void flat_cells_are_opened(void** state) {
    (void)state;
    int trials = 0;
    for (uint64_t seed = 1; seed < 40; seed++) {
        srCage cage = shaken(0.6, seed);
        double before, after, volume, volumeAfter;
        measure(&cage, &before, &volume);
        if (before > 1.0 && before < 10.0) {
            trials++;
            assert_success(relax(&cage, 12.0));
            measure(&cage, &after, &volumeAfter);
            assert_true(after > before + 1.0);
            for (int32_t cell = 0; cell < cage.cellCount; cell++) {
                assert_true(srCellVolume(&cage, cell) > 0.0);
            }
            // surface nodes stay near their place
            assert_near(volumeAfter, volume, 0.1 * volume);
        }
        srDestroyCage(&cage);
    }
    assert_true(trials > 5);
}

static void nodes_of_the_surface_keep_near_their_place(void** state) {
    (void)state;
    double most = 0.0;
    for (uint64_t seed = 1; seed < 60; seed++) {
        srCage cage = shaken(1.1, seed), before = shaken(1.1, seed);
        double least, volume;
        measure(&cage, &least, &volume);
        // nothing turned over
        for (int32_t cell = 0; cell < cage.cellCount; cell++) {
            least = fmin(least, srCellVolume(&cage, cell) > 0.0 ? least : -1.0);
        }
        if (least > 0.0) {
            assert_success(relax(&cage, 40.0));
        }
        for (int32_t n = 0; n < cage.nodeCount; n++) {
            srVec3 x = before.nodes[n];
            bool isOuter = x.x == 0.0 || x.y == 0.0 || x.z == 0.0 || x.x == 4.0 || x.y == 4.0 || x.z == 4.0;
            double step = isOuter ? srDistance(cage.nodes[n], x) : 0.0;
            // a quarter of the edges around, of which none is longer than twice a cube's diagonal
            assert_true(step <= 0.25 * 2.0 * 1.7320508);
            most = fmax(most, step);
        }
        srDestroyCage(&cage);
        srDestroyCage(&before);
    }
    assert_true(most > 0.1);
}

static void good_cells_are_left_as_they_are(void** state) {
    (void)state;
    srCage cage = shaken(0.1, 3), same = shaken(0.1, 3);
    assert_success(relax(&cage, 5.0));
    assert_memory_equal(cage.nodes, same.nodes, sizeof(srVec3) * (size_t)cage.nodeCount);
    srDestroyCage(&cage);
    srDestroyCage(&same);
}

static srResult relaxAgain(void* context) {
    return relax(context, 12.0);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage = shaken(0.3, 5);
    srTestEveryAllocationFails(relaxAgain, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(flat_cells_are_opened, srTestNothingLeaked),
        cmocka_unit_test_teardown(nodes_of_the_surface_keep_near_their_place, srTestNothingLeaked),
        cmocka_unit_test_teardown(good_cells_are_left_as_they_are, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/relax", tests, NULL, NULL);
}
