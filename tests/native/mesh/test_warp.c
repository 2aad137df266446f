// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/warp.h"

#include "mesh/solids.h"

// A slab of half a thickness around the plane n . x = d, sampled on a lattice over a box of ten cubes.
static srWarp warpSlab(srLattice* lattice, double** phi, srVec3 n, double d, double half) {
    assert_true(
        srMakeLattice((srVec3){-5.0, -5.0, -5.0}, (srVec3){5.0, 5.0, 5.0}, 0.5, 1.0, 1 << 20, lattice));
    *phi = malloc(sizeof(double) * (size_t)lattice->pointCount);
    for (int32_t point = 0; point < lattice->pointCount; point++) {
        srVec3 p = srLattice_Point(lattice, point);
        double box = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) - 5.0;
        (*phi)[point] = fmax(fabs(srDot(n, p) - d) - half, fmin(box, 0.5));
    }
    srField unused = {0};
    srProgress nobody = {0};
    srWarp warp;
    assert_success(srCreateWarp(lattice, &unused, *phi, &nobody, &warp));
    return warp;
}

static int32_t countInside(const srWarp* warp) {
    int32_t count = 0;
    for (int32_t point = 0; point < warp->lattice->pointCount; point++) {
        count += warp->signs[point] > 0;
    }
    return count;
}

static void thin_slab_of_any_direction_survives(void** state) {
    (void)state;
    uint64_t seed = 31;
    const srVec3 special[] = {{1.0, 0.0, 0.0}, {1.0, 1.0, 0.0}, {1.0, 1.0, 1.0}};
    for (int i = 0; i < 60; i++) {
        srLattice lattice;
        double* phi;
        srVec3 n = i % 4 == 3 ? randomPoint(&seed, 1.0) : special[i % 4];
        n = srScale(1.0 / srLength(n), n);
        srWarp warp = warpSlab(&lattice, &phi, n, srTestRandom(&seed), 0.36);

        // a ninth of the slab's hundred square cubes, at two points a cube and a thickness of 0.72, would be
        // sixteen
        assert_true(countInside(&warp) > 16);
        srDestroyWarp(&warp);
        free(phi);
    }
}

static void thick_slab_is_warped_onto_its_level_set(void** state) {
    (void)state;
    srLattice lattice;
    double* phi;
    srWarp warp = warpSlab(&lattice, &phi, (srVec3){1.0, 0.0, 0.0}, 0.1, 2.0);
    int32_t warped = 0;
    for (int32_t point = 0; point < lattice.pointCount; point++) {
        srVec3 p = srWarp_Point(&warp, point);
        if (warp.signs[point] == 0 && fmax(fabs(p.y), fabs(p.z)) < 4.0) {
            // linear there, so cuts are exact
            assert_near(fabs(p.x - 0.1), 2.0, 1e-12);
            warped++;
        }
    }
    assert_true(warped > 50);
    srDestroyWarp(&warp);
    free(phi);
}

static void no_cut_is_left_near_a_point(void** state) {
    (void)state;
    srLattice lattice;
    double* phi;
    srWarp warp = warpSlab(&lattice, &phi, (srVec3){0.6, 0.48, 0.64}, 0.3, 0.9);
    for (int32_t point = 0; point < lattice.pointCount; point++) {
        for (int d = 0; warp.signs[point] > 0 && d < SR_DIRECTION_COUNT; d++) {
            if (warp.signs[srLattice_Neighbour(&lattice, point, d)] < 0) {
                double share = warp.cuts[srWarp_FindCut(&warp, point, d)];
                double least = d < SR_FIRST_SHORT ? 0.2499 : 0.4118;
                assert_true(share >= least && share <= 1.0 - least);
            }
        }
    }
    srDestroyWarp(&warp);
    free(phi);
}

typedef struct Input {
    srLattice lattice;
    double* phi;
} Input;

static srResult createAndDestroy(void* context) {
    const Input* input = context;
    srField unused = {0};
    srProgress nobody = {0};
    srWarp warp;
    SR_TRY(srCreateWarp(&input->lattice, &unused, input->phi, &nobody, &warp));
    srDestroyWarp(&warp);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Input input;
    srWarp warp = warpSlab(&input.lattice, &input.phi, (srVec3){1.0, 0.0, 0.0}, 0.0, 1.0);
    srDestroyWarp(&warp);
    srTestEveryAllocationFails(createAndDestroy, &input);
    free(input.phi);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(thin_slab_of_any_direction_survives, srTestNothingLeaked),
        cmocka_unit_test_teardown(thick_slab_is_warped_onto_its_level_set, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_cut_is_left_near_a_point, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/warp", tests, NULL, NULL);
}
