// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/holes.h"

#include "mesh/soups.h"

static const srProgress nobody;

// A closed box of 12 triangles without some of them
static srPatches makeOpenBox(int32_t goneCount) {
    Soup soup = {0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, (const double[3]){1.0, 1.0, 1.0});
    soup.triangleCount -= goneCount;
    srSurface surface = makeSurface(&soup);
    srPatches patches;
    assert_success(srCreatePatches(&surface, &nobody, &patches));
    srDestroySurface(&surface);
    freeSoup(&soup);
    return patches;
}

static void a_cap_closes_and_restores_the_volume(void** state) {
    (void)state;
    for (int32_t gone = 1; gone <= 2; gone++) {
        srPatches patches = makeOpenBox(gone);
        int32_t closedCount, openCount;
        assert_success(srCloseHoles(&patches, 1.5, &nobody, &closedCount, &openCount));
        assert_int_equal(closedCount, 1);
        assert_int_equal(openCount, 0);
        assert_int_equal(patches.patches[0].openCount, 0);
        assert_int_equal(patches.capCount, 2 + gone);
        assert_near(patches.patches[0].volume, 1.0, 1e-12);
        // each side of the caps is met once from the other side
        int32_t sum = 0;
        for (int32_t c = 0; c < patches.capCount; c++) {
            for (int32_t e = 0; e < patches.borderCount; e++) {
                sum += patches.caps[c][0] == patches.borders[e].to &&
                       patches.caps[c][1] == patches.borders[e].from;
            }
        }
        assert_int_equal(sum, patches.borderCount);
        srDestroyPatches(&patches);
    }
}

static void what_is_larger_than_the_setting_stays_open(void** state) {
    (void)state;
    srPatches patches = makeOpenBox(2);
    int32_t closedCount, openCount;
    // the diagonal of a face is sqrt(2)
    assert_success(srCloseHoles(&patches, 1.41, &nobody, &closedCount, &openCount));
    assert_int_equal(closedCount, 0);
    assert_int_equal(openCount, 1);
    assert_int_equal(patches.patches[0].openCount, 4);
    srDestroyPatches(&patches);
}

static void the_outline_of_a_sheet_is_no_hole(void** state) {
    (void)state;
    for (int32_t left = 1; left <= 6; left++) {
        srPatches patches = makeOpenBox(12 - left);
        int32_t closedCount, openCount;
        assert_success(srCloseHoles(&patches, 100.0, &nobody, &closedCount, &openCount));
        assert_int_equal(closedCount, 0);
        assert_true(openCount >= 1);
        srDestroyPatches(&patches);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_cap_closes_and_restores_the_volume, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_larger_than_the_setting_stays_open, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_outline_of_a_sheet_is_no_hole, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/holes", tests, NULL, NULL);
}
