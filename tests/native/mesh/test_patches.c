// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/patches.h"

#include "mesh/soups.h"

static srPatches sortOut(const Soup* soup) {
    const srProgress nobody = {0};
    srSurface surface = makeSurface(soup);
    srPatches patches;
    assert_success(srCreatePatches(&surface, &nobody, &patches));
    srDestroySurface(&surface);
    return patches;
}

static void a_patch_faces_as_most_of_it_did(void** state) {
    (void)state;
    for (int inward = 0; inward < 2; inward++) {
        Soup soup = {0};
        addSphere(&soup, 3, inward ? -1.0 : 1.0, 0.0, 0.0, 0.0);
        flipSome(&soup, 0, soup.triangleCount, 3);
        srPatches patches = sortOut(&soup);
        assert_int_equal(patches.patchCount, 1);
        assert_int_equal(patches.flippedTriangleCount, (soup.triangleCount + 2) / 3);
        // the polyhedron's volume
        assert_near(patches.patches[0].volume, inward ? -4.15 : 4.15, 0.04);
        assert_int_equal(patches.borderCount, 0);

        srTurnPatch(&patches, 0);
        double turned = patches.patches[0].volume;
        srMeasurePatch(&patches, 0);
        assert_near(patches.patches[0].volume, turned, 1e-12);
        assert_true(patches.patches[0].isTurned && turned * (inward ? 1.0 : -1.0) > 0.0);
        srDestroyPatches(&patches);
        freeSoup(&soup);
    }
}

static void borders_run_as_their_triangles_and_end_where_they_begin(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    soup.triangleCount -= 37;
    srPatches patches = sortOut(&soup);
    int32_t* balance = calloc((size_t)patches.pointCount, sizeof(int32_t));
    for (int32_t e = 0; e < patches.borderCount; e++) {
        const srBorderEdge* edge = &patches.borders[e];
        assert_true(edge->isOpen && !edge->isClosed);
        balance[edge->from]++;
        balance[edge->to]--;
        bool isThere = false;
        for (int32_t s = 0; s < 3 * patches.triangleCount; s++) {
            const int32_t* c = patches.triangles[s / 3];
            isThere = isThere || (c[s % 3] == edge->from && c[(s + 1) % 3] == edge->to);
        }
        assert_true(isThere);
    }
    assert_true(patches.borderCount > 0);
    for (int32_t v = 0; v < patches.pointCount; v++) {
        assert_int_equal(balance[v], 0);
    }
    free(balance);
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

static void boxes_that_share_an_edge_are_closed_each(void** state) {
    (void)state;
    Soup soup = {0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, (const double[3]){1.0, 1.0, 1.0});
    addBox(&soup, (const double[3]){1.0, 1.0, 0.0}, (const double[3]){1.0, 1.0, 1.0});
    srPatches patches = sortOut(&soup);
    assert_int_equal(patches.patchCount, 2);
    assert_int_equal(patches.borderCount, 0);
    assert_near(patches.patches[0].volume, 1.0, 1e-12);
    assert_near(patches.patches[1].volume, 1.0, 1e-12);
    srDestroyPatches(&patches);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_patch_faces_as_most_of_it_did, srTestNothingLeaked),
        cmocka_unit_test_teardown(borders_run_as_their_triangles_and_end_where_they_begin,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(boxes_that_share_an_edge_are_closed_each, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/patches", tests, NULL, NULL);
}
