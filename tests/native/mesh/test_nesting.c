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

static void closed_patches_that_share_an_index_are_one_piece(void** state) {
    (void)state;
    for (int isMerged = 0; isMerged < 2; isMerged++) {
        Soup soup = {0};
        const double size[3] = {1.0, 1.0, 1.0};
        addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
        addBox(&soup, (const double[3]){5.0, 0.0, 0.0}, size);
        addBox(&soup, (const double[3]){1.0, 1.0, 1.0}, size); // at a corner of the first
        addBox(&soup, (const double[3]){2.0, 2.0, 1.0}, size); // at an edge of the third
        for (int32_t corner = 0; corner < 3 * soup.triangleCount && isMerged; corner++) {
            int32_t first = 0;
            while (memcmp(soup.points + 3 * first, soup.points + 3 * soup.triangles[corner], 12) != 0) {
                first++;
            }
            soup.triangles[corner] = first;
        }
        srPatches patches = sortOut(&soup);
        assert_success(srJoinPieces(&patches));
        assert_int_equal(patches.pieceCount, isMerged ? 2 : 4);
        const int32_t expected[4] = {0, 1, 0, 0};
        for (int p = 0; p < 4; p++) {
            assert_int_equal(patches.patches[p].piece, isMerged ? expected[p] : p);
        }
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

static void open_patches_are_of_the_piece_at_whose_place_they_are(void** state) {
    (void)state;
    Soup soup = {0};
    const double size[3] = {1.0, 1.0, 1.0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
    addBox(&soup, (const double[3]){5.0, 0.0, 0.0}, size);
    int32_t a = addPoint(&soup, 1.0, 1.0, 1.0), b = addPoint(&soup, 2.0, 1.0, 1.0);
    addTriangle(&soup, a, b, addPoint(&soup, 2.0, 2.0, 1.0));
    srPatches patches = sortOut(&soup);
    assert_success(srJoinPieces(&patches));
    assert_int_equal(patches.pieceCount, 2);
    assert_int_equal(patches.patches[2].piece, 0);
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

// Flesh, hollow, flesh and so on, wherever the facing changes; what faces as the last one did bounds nothing.
static void whoever_is_nearest_around_decides(void** state) {
    (void)state;
    enum {
        depth = 5
    };
    for (int kind = 0; kind < 1 << depth; kind++) {
        Soup soup = {0};
        for (int s = 0; s < depth; s++) { // in any order
            addSphere(&soup, 2, 0.2 + 0.15 * ((s + kind) % depth), 0.0, 0.0, 0.0);
        }
        srPatches patches = sortOut(&soup);
        assert_success(srJoinPieces(&patches));
        for (int s = 0; s < depth; s++) { // numbered from the outermost
            srPatch* patch = &patches.patches[(2 * depth - 1 - s - kind % depth) % depth];
            patch->isTurned = (kind >> s & 1) != 0;
            patch->isNested = s > 0;
        }
        int32_t turnedCount = 0, expectedCount = 0, pieceCount = 1, piece = SR_NULL_INDEX;
        bool isFilled = kind % 11 == 5, isInHollow = false, faces = (kind & 1) != 0;
        assert_success(srSettleNested(&patches, isFilled, &nobody, &turnedCount));
        for (int s = 0; s < depth; s++) {
            const srPatch* patch = &patches.patches[(2 * depth - 1 - s - kind % depth) % depth];
            bool isChange = s > 0 && faces != (kind >> s & 1) && !isFilled;
            isInHollow = isInHollow != isChange;
            faces = faces != isChange;
            expectedCount += isChange && isInHollow;
            pieceCount += isChange && !isInHollow;
            piece = s == 0 || (isChange && !isInHollow) ? patch->piece : piece;
            srRole bounding = isInHollow ? sr_roleCavity : sr_roleShell;
            assert_int_equal(patch->role, s == 0 || isChange ? bounding : sr_roleSwallowed);
            assert_true((patch->volume < 0.0) == (patch->role == sr_roleCavity));
            assert_int_equal(patch->piece, piece);
        }
        assert_int_equal(turnedCount, expectedCount);
        assert_success(srNumberPieces(&patches));
        assert_int_equal(patches.pieceCount, pieceCount);
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(closed_patches_that_share_an_index_are_one_piece, srTestNothingLeaked),
        cmocka_unit_test_teardown(open_patches_are_of_the_piece_at_whose_place_they_are, srTestNothingLeaked),
        cmocka_unit_test_teardown(whoever_is_nearest_around_decides, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/nesting", tests, NULL, NULL);
}
