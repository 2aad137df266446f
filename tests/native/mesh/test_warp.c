// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/warp.h"

#include "mesh/solids.h"

typedef struct Slab {
    srArena* arena;
    srLattice lattice;
    srScaffold scaffold;
    srWarp warp;
    double* phi;
} Slab;

static srResult warpAgain(Slab* slab) {
    srField unused = {0};
    srProgress nobody = {0};
    slab->arena = srCreateArena(1 << 16);
    if (slab->arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    SR_TRY(srCreateScaffold(&slab->lattice, slab->phi, 1e-300, slab->arena, &nobody, &slab->scaffold));
    return srCreateWarp(&slab->scaffold, &unused, slab->scaffold.phi, slab->arena, &nobody, &slab->warp);
}

// Half a thickness around the plane n . x = d, sampled on a lattice over a box of ten cubes.
static Slab* warpSlab(srVec3 n, double d, double half) {
    Slab* slab = calloc(1, sizeof(Slab));
    srVec3 corner = {5.0, 5.0, 5.0};
    assert_true(srMakeLattice(srScale(-1.0, corner), corner, 0.5, 1.0, 1 << 20, &slab->lattice));
    slab->phi = malloc(sizeof(double) * (size_t)slab->lattice.pointCount);
    for (int32_t point = 0; point < slab->lattice.pointCount; point++) {
        srVec3 p = srLattice_Point(&slab->lattice, point);
        double box = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) - 5.0;
        slab->phi[point] = fmax(fabs(srDot(n, p) - d) - half, fmin(box, 0.5));
    }
    assert_success(warpAgain(slab));
    return slab;
}

static void freeSlab(Slab* slab) {
    srDestroyArena(slab->arena);
    free(slab->phi);
    free(slab);
}

static int32_t countInside(const Slab* slab) {
    int32_t count = 0;
    for (int32_t point = 0; point < slab->scaffold.pointCount; point++) {
        count += slab->warp.signs[point] > 0;
    }
    return count;
}

static void thin_slab_of_any_direction_survives(void** state) {
    (void)state;
    uint64_t seed = 31;
    const srVec3 special[] = {{1.0, 0.0, 0.0}, {1.0, 1.0, 0.0}, {1.0, 1.0, 1.0}};
    for (int i = 0; i < 60; i++) {
        srVec3 n = i % 4 == 3 ? randomPoint(&seed, 1.0) : special[i % 4];
        n = srScale(1.0 / srLength(n), n);
        Slab* slab = warpSlab(n, srTestRandom(&seed), 0.36);

        // a ninth of the slab's hundred square cubes, at two points a cube and a thickness of 0.72, would be
        // sixteen
        assert_true(countInside(slab) > 16);
        freeSlab(slab);
    }
}

static void thick_slab_is_warped_onto_its_level_set(void** state) {
    (void)state;
    Slab* slab = warpSlab((srVec3){1.0, 0.0, 0.0}, 0.1, 2.0);
    int32_t warped = 0;
    for (int32_t point = 0; point < slab->scaffold.pointCount; point++) {
        srVec3 p = srWarp_Point(&slab->warp, point);
        if (slab->warp.signs[point] == 0 && fmax(fabs(p.y), fabs(p.z)) < 4.0) {
            // linear there, so cuts are exact
            assert_near(fabs(p.x - 0.1), 2.0, 1e-12);
            warped++;
        }
    }
    assert_true(warped > 50);
    freeSlab(slab);
}

static void no_cut_is_left_near_a_point(void** state) {
    (void)state;
    Slab* slab = warpSlab((srVec3){0.6, 0.48, 0.64}, 0.3, 0.9);
    const srWarp* warp = &slab->warp;
    int32_t checked = 0;
    for (int32_t point = 0; point < slab->scaffold.pointCount; point++) {
        for (int32_t cut = warp->firstCuts[point]; cut < warp->firstCuts[point + 1]; cut++) {
            int32_t end = warp->cutEnds[cut];
            if (warp->signs[point] > 0 && warp->signs[end] < 0) {
                double length = srDistance(slab->scaffold.points[point], slab->scaffold.points[end]);
                double least = length > 0.9 ? 0.2499 : 0.4118;
                assert_true(warp->cuts[cut] >= least && warp->cuts[cut] <= 1.0 - least);
                assert_int_equal(srWarp_FindCut(warp, point, end), cut);
                checked++;
            }
        }
    }
    assert_true(checked > 100);
    freeSlab(slab);
}

static srResult createAndDestroy(void* context) {
    Slab* slab = context;
    srResult result = warpAgain(slab);
    srDestroyArena(slab->arena);
    slab->arena = NULL;
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Slab* slab = warpSlab((srVec3){1.0, 0.0, 0.0}, 0.0, 1.0);
    srDestroyArena(slab->arena);
    slab->arena = NULL;
    srTestEveryAllocationFails(createAndDestroy, slab);
    freeSlab(slab);
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
