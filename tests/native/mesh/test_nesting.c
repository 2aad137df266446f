// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/nesting.h"

#include "mesh/soups.h"

static const srProgress nobody;

static srPatches sortOut(const Soup* soup) {
    srSurface surface = makeSurface(soup);
    srPatches patches;
    assert_success(srCreatePatches(&surface, &nobody, &patches));
    srDestroySurface(&surface);
    return patches;
}

static void patches_that_share_a_point_are_one_piece(void** state) {
    (void)state;
    Soup soup = {0};
    const double size[3] = {1.0, 1.0, 1.0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
    addBox(&soup, (const double[3]){5.0, 0.0, 0.0}, size);
    addBox(&soup, (const double[3]){1.0, 1.0, 1.0}, size); // at a corner of the first
    addBox(&soup, (const double[3]){2.0, 2.0, 1.0}, size); // at an edge of the third
    srPatches patches = sortOut(&soup);
    assert_success(srJoinPieces(&patches));
    assert_int_equal(patches.pieceCount, 2);
    const int32_t expected[4] = {0, 1, 0, 0};
    for (int p = 0; p < 4; p++) {
        assert_int_equal(patches.patches[p].piece, expected[p]);
    }
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

static void the_largest_patch_around_decides(void** state) {
    (void)state;
    // three spheres in each other; the two inner ones as modelled against the outermost
    for (int kind = 0; kind < 8; kind++) {
        Soup soup = {0};
        for (int s = 0; s < 3; s++) {
            addSphere(&soup, 2, 1.0 - 0.3 * s, 0.0, 0.0, 0.0);
        }
        srPatches patches = sortOut(&soup);
        assert_success(srJoinPieces(&patches));
        for (int s = 0; s < 3; s++) {
            patches.patches[s].isTurned = (kind >> s & 1) != 0;
            patches.patches[s].isNested = s > 0;
        }
        int32_t turnedCount = 0;
        bool isFilled = kind == 5;
        assert_success(srSettleNested(&patches, isFilled, &nobody, &turnedCount));
        int32_t expectedCount = 0;
        for (int s = 1; s < 3; s++) {
            bool isHollow = (kind & 1) != (kind >> s & 1) && !isFilled;
            expectedCount += isHollow;
            assert_int_equal(patches.patches[s].role, isHollow ? sr_roleCavity : sr_roleSwallowed);
            assert_true((patches.patches[s].volume < 0.0) == isHollow);
            assert_int_equal(patches.patches[s].piece, 0);
        }
        assert_int_equal(turnedCount, expectedCount);
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(patches_that_share_a_point_are_one_piece, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_largest_patch_around_decides, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/nesting", tests, NULL, NULL);
}
