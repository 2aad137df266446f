// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/faces.h"

#include "mesh/solids.h"

static srResult pairBlock(void* context) {
    const srCage* cage = context;
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    int32_t* opposite = malloc(4 * sizeof(int32_t) * (size_t)cage->cellCount);
    const int32_t (*cells)[4] = (const int32_t (*)[4])cage->cells;
    srResult result = srPairFaces(cells, cage->cellCount, cage->nodeCount, arena, opposite);
    int32_t lone = 0;
    for (int32_t face = 0; face < 4 * cage->cellCount && result == sr_success; face++) {
        int32_t other = opposite[face];
        lone += other == SR_NULL_INDEX;
        if (other != SR_NULL_INDEX) {
            assert_int_equal(opposite[other], face);
            for (int c = 0; c < 3; c++) {
                int32_t node = cage->cells[face / 4][srFaceCorners[face % 4][c]];
                int corner = srCornerOf(cage->cells[other / 4], node);
                assert_int_equal(cage->cells[other / 4][corner], node);
                assert_int_not_equal(corner, other % 4);
            }
        }
    }
    // two triangles a square of the block's sides, 3 x 2 x 2
    assert_true(result != sr_success || lone == 2 * 2 * (3 * 2 + 3 * 2 + 2 * 2));
    free(opposite);
    srDestroyArena(arena);
    return result;
}

static void inner_faces_find_each_other_and_outer_ones_none(void** state) {
    (void)state;
    srCage cage;
    makeBlock(3, 2, 2, 1.0, &cage);
    assert_success(pairBlock(&cage));
    srTestEveryAllocationFails(pairBlock, &cage);
    srDestroyCage(&cage);
}

static void trees_are_known_by_their_lowest_item(void** state) {
    (void)state;
    int32_t roots[9];
    srClearRoots(roots, 9);
    assert_true(srJoinRoots(roots, 7, 3));
    assert_true(srJoinRoots(roots, 5, 7));
    assert_true(srJoinRoots(roots, 1, 5));
    assert_false(srJoinRoots(roots, 3, 5));
    assert_int_equal(srFindRoot(roots, 7), 1);
    assert_int_equal(srFindRoot(roots, 8), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(inner_faces_find_each_other_and_outer_ones_none, srTestNothingLeaked),
        cmocka_unit_test_teardown(trees_are_known_by_their_lowest_item, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/faces", tests, NULL, NULL);
}
