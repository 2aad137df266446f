// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rules one by one; what they mean for the inside is in test_solid.c.

#include "mesh/roles.h"

#include "core/alloc.h"
#include "mesh/soups.h"

static const srProgress nobody;

static srPatches assign(const Soup* soup, double thickness) {
    const srRoleSettings settings = {.thickness = thickness};
    srSurface surface = makeSurface(soup);
    srPatches patches;
    srBvh* bvh;
    assert_success(srCreatePatches(&surface, &nobody, &patches));
    assert_success(srAssignRoles(&patches, &settings, &nobody, &bvh));
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
    return patches;
}

// A bowl: the part of a sphere below z = `rim`.
static double bowlRim;
static bool isAboveRim(srVec3 p) {
    return p.z > bowlRim;
}

static void a_bowl_is_a_shell_when_it_is_deep(void** state) {
    (void)state;
    const double rims[] = {-0.9, -0.8, 0.0, 0.5};
    for (int i = 0; i < 4; i++) {
        Soup soup = {0};
        addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
        bowlRim = rims[i];
        removeWhere(&soup, isAboveRim);
        flipAll(&soup);
        srPatches patches = assign(&soup, 0.01);
        assert_int_equal(patches.patchCount, 1);
        assert_int_equal(patches.patches[0].isWeak, i < 2);
        assert_int_equal(patches.patches[0].role, i < 2 ? sr_roleSheet : sr_roleShell);
        assert_true(i < 2 || (patches.patches[0].isTurned && patches.patches[0].volume > 0.0));
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

static void a_long_open_tube_is_a_shell(void** state) {
    (void)state;
    Soup soup = {0};
    const int32_t around = 12, along = 200;
    for (int32_t i = 0; i < around * along; i++) {
        double t = 2.0 * 3.14159265358979323846 * (i % around) / around;
        addPoint(&soup, 0.02 * cos(t), 0.02 * sin(t), 0.01 * (i / around));
    }
    for (int32_t i = 0; i < around * (along - 1); i++) {
        int32_t next = i / around * around + (i + 1) % around;
        addTriangle(&soup, i, next + around, next); // inside out
        addTriangle(&soup, i, i + around, next + around);
    }
    srPatches patches = assign(&soup, 0.001);
    assert_int_equal(patches.patches[0].role, sr_roleShell);
    assert_true(!patches.patches[0].isWeak && patches.patches[0].isTurned);
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

static void thin_is_less_than_a_sheet(void** state) {
    (void)state;
    const double size[3] = {1.0, 1.0, 0.02};
    for (int isThin = 0; isThin < 2; isThin++) {
        Soup soup = {0};
        addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
        // 2 V / A = 0.04 / 2.08
        srPatches patches = assign(&soup, isThin ? 0.0195 : 0.019);
        assert_int_equal(patches.patches[0].isThin, isThin);
        assert_int_equal(patches.patches[0].role, sr_roleShell);
        assert_int_equal(srIsThickened(&patches.patches[0]), isThin);
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

static void collected_triangles_know_their_patch(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 1, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 0, 0.2, 0.0, 0.0, 0.0); // swallowed
    addSphere(&soup, 0, 0.5, 3.0, 0.0, 0.0);
    srPatches patches = assign(&soup, 0.0);
    srSurface shells;
    int32_t* patchOf;
    assert_success(srCollectTriangles(&patches, srBoundsFlesh, &shells, &patchOf));
    assert_int_equal(shells.triangleCount, 100);
    for (int32_t t = 0; t < 100; t++) {
        assert_int_equal(patchOf[t], t < 80 ? 0 : 2);
    }
    srFree(shells.triangles, 100, sizeof(shells.triangles[0]));
    SR_FREE(patchOf, 100);
    assert_success(srCollectTriangles(&patches, srIsThickened, &shells, &patchOf));
    assert_true(shells.triangleCount == 0 && shells.triangles == NULL && patchOf == NULL);
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_bowl_is_a_shell_when_it_is_deep, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_long_open_tube_is_a_shell, srTestNothingLeaked),
        cmocka_unit_test_teardown(thin_is_less_than_a_sheet, srTestNothingLeaked),
        cmocka_unit_test_teardown(collected_triangles_know_their_patch, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/roles", tests, NULL, NULL);
}
