// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/scaffold.h"

#include "mesh/solids.h"

// A slab of half a thickness around z = 0.03 on a lattice of unit cubes.
static srResult makeSlab(srArena* arena, double half, srScaffold* scaffold) {
    srLattice lattice;
    srProgress nobody = {0};
    const srVec3 corner = {3.0, 3.0, 3.0};
    assert_true(srMakeLattice(srScale(-1.0, corner), corner, 0.5, 1.0, 1 << 20, &lattice));
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "phi");
    if (phi == NULL) {
        return srFailOutOfMemory("a test");
    }
    for (int32_t p = 0; p < lattice.pointCount; p++) {
        srVec3 x = srLattice_Point(&lattice, p);
        double box = fmax(fabs(x.x), fabs(x.y)) - 2.9;
        phi[p] = fmax(fabs(x.z - 0.03) - half, box);
    }
    return srCreateScaffold(&lattice, phi, 0.4, arena, &nobody, scaffold);
}

static srResult makeAndDestroy(void* context) {
    (void)context;
    srScaffold scaffold;
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srResult result = makeSlab(arena, 1.0, &scaffold);
    srDestroyArena(arena);
    return result;
}

static void tetrahedra_near_the_flesh_have_a_twelfth_of_a_cube_and_points_lie_on_the_lattice(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 16);
    srScaffold scaffold;
    assert_success(makeSlab(arena, 1.0, &scaffold));
    assert_true(scaffold.tetCount > 500);
    for (int32_t t = 0; t < scaffold.tetCount; t++) {
        const int32_t* p = scaffold.tets[t];
        const srVec3* x = scaffold.points;
        srVec3 a = srSub(x[p[1]], x[p[0]]), b = srSub(x[p[2]], x[p[0]]), c = srSub(x[p[3]], x[p[0]]);
        assert_near(fabs(srDot(a, srCross(b, c))) / 6.0, 1.0 / 12.0, 1e-12);
        double least =
            fmin(fmin(scaffold.phi[p[0]], scaffold.phi[p[1]]), fmin(scaffold.phi[p[2]], scaffold.phi[p[3]]));
        assert_true(least < 0.4);
    }
    for (int32_t p = 0; p < scaffold.pointCount; p++) {
        assert_near(scaffold.sizes[p], 1.0, 1e-12);
        assert_near(scaffold.points[p].x, 0.5 * scaffold.coords[p][0], 1e-12);
    }
    srDestroyArena(arena);
}

static void offset_is_least_where_thick_and_most_where_thin(void** state) {
    (void)state;
    const double halves[] = {1.2, 0.01};
    for (int i = 0; i < 2; i++) {
        srArena* arena = srCreateArena(1 << 16);
        srScaffold scaffold;
        assert_success(makeSlab(arena, halves[i], &scaffold));
        double* level = SR_PUSH(arena, double, scaffold.pointCount, "level");
        double* scratch = SR_PUSH(arena, double, scaffold.pointCount, "scratch");
        srScaffold_OffsetLevel(&scaffold, 0.1, 0.4, scratch, level);
        for (int32_t p = 0; p < scaffold.pointCount; p++) {
            double offset = scaffold.phi[p] - level[p];
            assert_true(offset > 0.0999 && offset < 0.4001);
            if (fabs(scaffold.points[p].z) < 0.1 && fabs(scaffold.points[p].x) < 2.0 &&
                fabs(scaffold.points[p].y) < 2.0) {
                assert_near(offset, i == 0 ? 0.1 : 0.4, 0.02);
            }
        }
        srDestroyArena(arena);
    }
}

static void volume_and_pieces_of_a_level_are_counted(void** state) {
    (void)state;
    srArena* arena = srCreateArena(1 << 16);
    srScaffold one, both[2], joined;
    assert_success(makeSlab(arena, 1.0, &one));
    both[0] = both[1] = one;
    assert_success(srJoinScaffolds(both, 2, arena, &joined));
    double* scratch = SR_PUSH(arena, double, joined.pointCount, "scratch");
    int32_t* roots = SR_PUSH(arena, int32_t, joined.pointCount, "roots");
    assert_int_equal(srScaffold_CountPieces(&one, one.phi, scratch, roots), 1);
    assert_int_equal(srScaffold_CountPieces(&joined, joined.phi, scratch, roots), 2);
    double exact = 5.8 * 5.8 * 2.0;
    assert_near(srScaffold_EstimateVolume(&one, one.phi) / exact, 1.0, 0.2);
    assert_near(srScaffold_EstimateVolume(&joined, joined.phi),
                2.0 * srScaffold_EstimateVolume(&one, one.phi), 1e-9);
    srDestroyArena(arena);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeAndDestroy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            tetrahedra_near_the_flesh_have_a_twelfth_of_a_cube_and_points_lie_on_the_lattice,
            srTestNothingLeaked),
        cmocka_unit_test_teardown(offset_is_least_where_thick_and_most_where_thin, srTestNothingLeaked),
        cmocka_unit_test_teardown(volume_and_pieces_of_a_level_are_counted, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/scaffold", tests, NULL, NULL);
}
