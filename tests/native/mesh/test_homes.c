// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where copies overlap: whose cell a point of the skin gets, seen through the mesher.

#include "mesh/homes.h"

#include "mesh/embedding.h"
#include "mesh/mesher.h"
#include "mesh/touching.h"

// Two bodies, the second one from point `second` on: each embedded in a piece of its own.
static void requireTwoHomes(const Soup* soup, int32_t second, int32_t nodeCount) {
    srSurface surface = makeSurface(soup);
    const srMesherSettings settings = {.targetNodeCount = nodeCount};
    srMesh mesh;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &mesh, &report));
    assert_int_equal(report.pieceCount, 2);
    srEmbedding embedding;
    assert_success(
        srCreateEmbedding(&mesh.cage, surface.points, mesh.pointCells, surface.pointCount, &embedding));
    int32_t* piece = findPieces(&mesh.cage);
    int32_t first = piece[embedding.nodes[0][0]], other = piece[embedding.nodes[second][0]];
    assert_int_not_equal(first, other);
    for (int32_t p = 0; p < surface.pointCount; p++) {
        assert_int_equal(piece[embedding.nodes[p][0]], p < second ? first : other);
    }
    free(piece);
    srDestroyEmbedding(&embedding);
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
}

static void points_of_two_legs_live_each_in_its_own(void** state) {
    (void)state;
    const double gaps[] = {0.1, 0.02, 1e-3, 1e-5, -0.005, -0.02, -0.05};
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        Soup soup = {0};
        addThigh(&soup, -1.0 - 0.5 * gaps[g], 0.0);
        int32_t right = soup.pointCount;
        addThigh(&soup, 1.0 + 0.5 * gaps[g], 0.0);
        requireTwoHomes(&soup, right, 600);
        freeSoup(&soup);
    }
}

// An upright bar of blocks, one wide, from x = left.
static void addBar(Soup* soup, double left) {
    Blocks bar = {.counts = {2, 10, 2}};
    for (int i = 0; i <= 10; i++) {
        bar.planes[0][i] = left + 0.5 * i;
        bar.planes[1][i] = bar.planes[2][i] = 0.5 * i;
    }
    for (int i = 0; i < 40; i++) {
        bar.isFull[i / 20][i / 2 % 10][i % 2] = true;
    }
    addBlocks(soup, &bar);
}

// Bars with flat sides: the lattice's middle plane lies in the gap, or is a side.
static void points_of_two_bars_live_each_in_its_own(void** state) {
    (void)state;
    const double gaps[] = {0.1, 0.01, 1e-3, 1e-4, 1e-6};
    const int32_t counts[] = {200, 500, 1000};
    for (int k = 0; k < SR_ARRAY_COUNT(gaps) * SR_ARRAY_COUNT(counts); k++) {
        double gap = gaps[k / SR_ARRAY_COUNT(counts)];
        Soup soup = {0};
        addBar(&soup, -1.0 - 0.5 * gap);
        int32_t right = soup.pointCount;
        addBar(&soup, 0.5 * gap);
        soup.points[0] -= k % 2 == 1 ? (float)gap : 0.0f; // moves the middle onto a side
        requireTwoHomes(&soup, right, counts[k % SR_ARRAY_COUNT(counts)]);
        freeSoup(&soup);
    }
}

static void without_copies_nobody_has_a_home(void** state) {
    (void)state;
    srSurface surface = makeSphere(3, 1.0);
    const srMesherSettings settings = {.targetNodeCount = 300};
    srMesh mesh;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &mesh, &report));
    assert_int_equal(report.copyCount, 0);
    for (int32_t p = 0; p < mesh.pointCount; p++) {
        assert_int_equal(mesh.pointCells[p], SR_NULL_INDEX);
    }
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(points_of_two_legs_live_each_in_its_own, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_of_two_bars_live_each_in_its_own, srTestNothingLeaked),
        cmocka_unit_test_teardown(without_copies_nobody_has_a_home, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/homes", tests, NULL, NULL);
}
