// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which pieces stay, seen through the mesher.

#include "mesh/splinters.h"

#include "mesh/mesher.h"
#include "mesh/solids.h"

static int32_t countPieces(const Soup* soup, int32_t target, int32_t* outNodeCount) {
    srSurface surface = makeSurface(soup);
    const srMesherSettings settings = {.targetNodeCount = target};
    srMesh mesh;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &mesh, &report));
    *outNodeCount = mesh.cage.nodeCount;
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    return report.pieceCount;
}

static void crumbs_smaller_than_a_cell_get_no_cells_of_their_own(void** state) {
    (void)state;
    Soup soup = {0};
    int32_t alone, nodeCount;
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    assert_int_equal(countPieces(&soup, 300, &alone), 1);
    for (int i = 0; i < 6; i++) {
        addSphere(&soup, 1, 0.01, 1.5, 0.3 * i, 0.17 * i);
    }
    assert_int_equal(countPieces(&soup, 300, &nodeCount), 1);
    // the nodes are the ball's
    assert_true(abs(nodeCount - alone) < 60);
    freeSoup(&soup);
}

// In the middle of an edge or a tetrahedron a crumb is near several points of the lattice, and has more cells
// around it than one on a point: wherever it lies, it goes.
static void crumbs_go_wherever_they_lie_in_the_lattice(void** state) {
    (void)state;
    uint64_t random = 7;
    for (int trial = 0; trial < 6; trial++) {
        Soup soup = {0};
        int32_t nodeCount;
        addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
        for (int i = 0; i < 12; i++) {
            double angle = 0.5 * i, height = 2.0 * srTestRandom(&random) - 1.0;
            addSphere(&soup, 1, 0.005 + 0.02 * srTestRandom(&random), 1.7 * cos(angle), 1.7 * sin(angle),
                      height);
        }
        assert_int_equal(countPieces(&soup, 150 + 50 * trial, &nodeCount), 1);

        freeSoup(&soup);
    }
}

static void small_pieces_that_are_no_crumbs_stay(void** state) {
    (void)state;
    Soup soup = {0};
    int32_t nodeCount;
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 2, 0.25, 1.6, 0.0, 0.0);
    assert_int_equal(countPieces(&soup, 1000, &nodeCount), 2);
    freeSoup(&soup);
}

static void where_all_are_crumbs_they_stay(void** state) {
    (void)state;
    Soup soup = {0};
    int32_t nodeCount;
    for (int i = 0; i < 5; i++) {
        addSphere(&soup, 1, 0.02, 1.0 * i, 0.7 * (i % 2), 0.4 * (i % 3));
    }
    assert_true(countPieces(&soup, 60, &nodeCount) > 1);
    freeSoup(&soup);
}

static void sizes_of_pieces_are_the_diagonals_of_their_bounds(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 3, 0.2, 3.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srSolid solid;
    srSolidReport report;
    const srSolidSettings settings = srDefaultSolidSettings();
    const srProgress nobody = {0};
    double sizes[8];
    assert_success(srCreateSolid(&surface, &settings, &nobody, &solid, &report));
    assert_int_equal(solid.pieceCount, 2);
    assert_success(srMeasurePieces(&solid, sizes));
    // an octahedron's corners lie on the axes
    assert_near(fmax(sizes[0], sizes[1]), 2.0 * sqrt(3.0), 0.05);
    assert_near(fmin(sizes[0], sizes[1]), 0.4 * sqrt(3.0), 0.01);
    srDestroySolid(&solid);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// A tetrahedron beside a large one, both within one ball, where nothing was split: what is as small as the
// cells around one point of the lattice is a chip of the ball.
static void chips_go_and_what_is_larger_stays(void** state) {
    (void)state;
    const struct {
        double edge, crumb;
        int32_t pieceCount;
    } cases[] = {{0.1, 0.05, 1}, {0.1, 0.04, 2}, {0.2, 0.05, 2}, {0.2, 0.1, 1}};
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    const srSolidSettings settings = srDefaultSolidSettings();
    const srProgress nobody = {0};
    srSolid solid;
    srSolidReport report;
    double sizes[8];
    assert_success(srCreateSolid(&surface, &settings, &nobody, &solid, &report));
    assert_success(srMeasurePieces(&solid, sizes));
    for (int k = 0; k < SR_ARRAY_COUNT(cases); k++) {
        const srCopies copies = {0};
        const srCrumbs crumbs = {&solid, sizes, cases[k].crumb};
        srVec3 nodes[8];
        int32_t corners[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}}, tets[2] = {0, 1}, pieceCount = 0;
        for (int i = 0; i < 8; i++) {
            double edge = i < 4 ? 1.0 : cases[k].edge, from = i < 4 ? -0.9 : 0.4;
            nodes[i] =
                (srVec3){from + edge * (i % 4 == 1), from + edge * (i % 4 == 2), from + edge * (i % 4 == 3)};
        }
        srRawCells cells = {nodes, 8, corners, tets, 2};
        srArena* arena = srCreateArena(1 << 12);
        assert_success(srDropSplinters(&copies, &crumbs, arena, &cells, &pieceCount));
        assert_int_equal(pieceCount, cases[k].pieceCount);
        assert_int_equal(cells.nodeCount, 4 * pieceCount);
        srDestroyArena(arena);
    }
    srDestroySolid(&solid);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(crumbs_smaller_than_a_cell_get_no_cells_of_their_own, srTestNothingLeaked),
        cmocka_unit_test_teardown(crumbs_go_wherever_they_lie_in_the_lattice, srTestNothingLeaked),
        cmocka_unit_test_teardown(small_pieces_that_are_no_crumbs_stay, srTestNothingLeaked),
        cmocka_unit_test_teardown(where_all_are_crumbs_they_stay, srTestNothingLeaked),
        cmocka_unit_test_teardown(chips_go_and_what_is_larger_stays, srTestNothingLeaked),
        cmocka_unit_test_teardown(sizes_of_pieces_are_the_diagonals_of_their_bounds, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/splinters", tests, NULL, NULL);
}
