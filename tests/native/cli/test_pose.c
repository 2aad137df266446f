// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linear blending of a rig file, against what the formula means.

#include "cli/mangle.h"
#include "cli/pose.h"

#include <math.h>

// matrices of a few numbers are rounded at 1e-7 of their size in each of four products
#define TOLERANCE 2e-6

#define UNIT "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"

typedef struct srPosed {
    srCliRig rig;
    srCliMesh skin;
    float offsets[9];
    float positions[9];
} srPosed;

// a skin of three vertices, the first on bone 0, the second on both halfway, the third on none
static srPosed makePosed(const char* rests, const char* motion) {
    char string[2048];
    snprintf(string, sizeof(string),
             "softrig-rig 1\nfps 24\nspaces 1\nbones 2\n%sspace " UNIT
             "weights 3\nv 1 0 0.5\nv 2 0 1 1 1\nv 0\nframes 1 1\n%s",
             rests, motion);
    srPosed posed = {0};
    srCliText text;
    srCliError error;
    static const float points[9] = {1, 2, 3, -1, 0.5f, 2, 0, 1, 0};
    assert_true(srCliOpenTextBytes(MANGLE_PATH, string, strlen(string), &text, &error));
    if (!srCliReadRig(&text, &posed.rig, &error)) {
        fail_msg("%s", error.text);
    }
    srCliText_Close(&text);
    assert_true(srCliFloats_Append(&posed.skin.points, points, 9));
    return posed;
}

static void freePosed(srPosed* posed) {
    srCliRig_Free(&posed->rig);
    srCliMesh_Free(&posed->skin);
}

static void assertPosition(const srPosed* posed, int32_t vertex, double x, double y, double z) {
    const float* p = posed->positions + 3 * vertex;
    assert_near((double)p[0], x, TOLERANCE);
    assert_near((double)p[1], y, TOLERANCE);
    assert_near((double)p[2], z, TOLERANCE);
}

static void the_rest_pose_is_the_skin_placed_by_its_object(void** state) {
    (void)state;
    // a skewed rest matrix, a turned and scaled armature, an object twice as large and moved
#define REST0 "1 2 0 0 -2 1 0 0 0 0 3 0 4 5 6 1\n"
#define REST1 "0 1 0 0 -1 0 0 0 0 0 1 0 1 1 1 1\n"
    srPosed posed = makePosed("bone A 0 -1 1 0 " REST0 "bone B 0 0 1 0 " REST1,
                              "m 2 0 0 0 0 2 0 0 0 0 2 0 10 0 0 1\n"
                              "m 0 3 0 0 -3 0 0 0 0 0 3 0 1 2 3 1\nm " REST0 "m " REST1);
    srCliError error;
    assert_true(srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error));
    assertPosition(&posed, 0, 12, 4, 6);
    assertPosition(&posed, 1, 8, 1, 4);
    assertPosition(&posed, 2, 10, 2, 0);
    freePosed(&posed);
}

static void bones_blend_by_normalised_weights(void** state) {
    (void)state;
    // bone A turns by a quarter about z, bone B moves by 4 along x
    srPosed posed = makePosed("bone A 0 -1 1 0 " UNIT "bone B 0 0 1 0 " UNIT,
                              "m " UNIT "m " UNIT "m 0 1 0 0 -1 0 0 0 0 0 1 0 0 0 0 1\n"
                              "m 1 0 0 0 0 1 0 0 0 0 1 0 4 0 0 1\n");
    srCliError error;
    assert_true(srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error));
    assertPosition(&posed, 0, -2, 1, 3);
    assertPosition(&posed, 1, (-0.5 + 3.0) / 2, (-1.0 + 0.5) / 2, 2);
    assertPosition(&posed, 2, 0, 1, 0);
    freePosed(&posed);
}

static void offsets_are_turned_and_scaled_but_not_moved_by_the_object(void** state) {
    (void)state;
    srPosed posed = makePosed("bone A 0 -1 1 0 " UNIT "bone B 0 0 1 0 " UNIT,
                              "m 0 2 0 0 -2 0 0 0 0 0 2 0 7 8 9 1\nm " UNIT "m " UNIT "m " UNIT);
    srCliError error;
    posed.offsets[6] = 1.0f;
    posed.offsets[8] = 0.5f;
    assert_true(srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error));
    assertPosition(&posed, 2, 7 - 2, 8 + 2, 9 + 1);
    freePosed(&posed);
}

static void matrices_without_an_inverse_are_said(void** state) {
    (void)state;
#define FLAT "1 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1\n"
    srCliError error;
    srPosed posed = makePosed("bone A 0 -1 1 0 " UNIT "bone B%20b 0 0 1 0 " FLAT,
                              "m " UNIT "m " UNIT "m " UNIT "m " UNIT);
    assert_false(srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error));
    assert_non_null(strstr(error.text, "'B b'"));
    freePosed(&posed);
    posed =
        makePosed("bone A 0 -1 1 0 " UNIT "bone B 0 0 1 0 " UNIT, "m " UNIT "m " FLAT "m " UNIT "m " UNIT);
    assert_false(srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error));
    assert_non_null(strstr(error.text, "space 0 in frame 1"));
    srCliSetAllocationLimit(0);
    bool isPlaced = srCliPlaceSkin(&posed.rig, 0, &posed.skin, posed.offsets, posed.positions, &error);
    srCliSetAllocationLimit(-1);
    assert_false(isPlaced);
    freePosed(&posed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_pose_is_the_skin_placed_by_its_object),
        cmocka_unit_test(bones_blend_by_normalised_weights),
        cmocka_unit_test(offsets_are_turned_and_scaled_but_not_moved_by_the_object),
        cmocka_unit_test(matrices_without_an_inverse_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
