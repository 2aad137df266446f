// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where copies overlap: whose cell a point of the skin gets, seen through the mesher.

#include "mesh/homes.h"

#include "mesh/mesher.h"
#include "mesh/touching.h"

// Two legs that all but touch: every vertex that has a home has it in its own leg.
static void points_of_two_legs_live_each_in_its_own(void** state) {
    (void)state;
    const double gaps[] = {0.02, 0.1};
    for (int g = 0; g < SR_ARRAY_COUNT(gaps); g++) {
        Soup soup = {0};
        addThigh(&soup, -1.0 - 0.5 * gaps[g], 0.0);
        int32_t right = soup.pointCount;
        addThigh(&soup, 1.0 + 0.5 * gaps[g], 0.0);
        srSurface surface = makeSurface(&soup);
        const srMesherSettings settings = {.targetNodeCount = 600};
        srMesh mesh;
        srMesherReport report;
        assert_success(srMeshSurface(&surface, &settings, &mesh, &report));
        assert_int_equal(report.pieceCount, 2);

        // pieces by nodes that cells share
        int32_t* piece = malloc(sizeof(int32_t) * (size_t)mesh.cage.nodeCount);
        for (int32_t n = 0; n < mesh.cage.nodeCount; n++) {
            piece[n] = n;
        }
        for (bool changes = true; changes;) {
            changes = false;
            for (int32_t e = 0; e < mesh.cage.edgeCount; e++) {
                int32_t a = mesh.cage.edges[e][0], b = mesh.cage.edges[e][1];
                int32_t low = piece[a] < piece[b] ? piece[a] : piece[b];
                changes = changes || piece[a] != piece[b];
                piece[a] = piece[b] = low;
            }
        }
        int32_t pieceOf[2] = {SR_NULL_INDEX, SR_NULL_INDEX}, known = 0;
        for (int32_t p = 0; p < mesh.pointCount; p++) {
            int32_t cell = mesh.pointCells[p], *of = &pieceOf[p >= right];
            if (cell != SR_NULL_INDEX) {
                int32_t own = piece[mesh.cage.cells[cell][0]];
                *of = *of == SR_NULL_INDEX ? own : *of;
                assert_int_equal(own, *of);
                known++;
            }
        }
        assert_true(known > 100);
        assert_true(pieceOf[0] != pieceOf[1] && pieceOf[0] != SR_NULL_INDEX && pieceOf[1] != SR_NULL_INDEX);
        free(piece);
        srDestroyMesh(&mesh);
        srDestroySurface(&surface);
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
        cmocka_unit_test_teardown(without_copies_nobody_has_a_home, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/homes", tests, NULL, NULL);
}
