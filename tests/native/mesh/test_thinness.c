// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/thinness.h"

#include "mesh/solids.h"

#define PI 3.14159265358979323846

static bool isLeaf(const Soup* soup) {
    srSurface surface = makeSurface(soup);
    srPatches patches;
    assert_success(srCreatePatches(&surface, &(srProgress){0}, &patches));
    assert_int_equal(patches.patchCount, 1);
    if (patches.patches[0].volume < 0.0) {
        srTurnPatch(&patches, 0);
    }
    bool found = srIsLeaf(&patches, &patches.patches[0]);
    srDestroyPatches(&patches);
    srDestroySurface(&surface);
    return found;
}

// A tube along a curve that closes: around z with a radius, its cross-section width by height.
static void addRing(Soup* soup, double radius, double width, double height) {
    const int32_t around = 120, across = 12;
    for (int32_t i = 0; i < around * across; i++) {
        double u = 2.0 * PI * (i / across) / around, v = 2.0 * PI * (i % across) / across;
        double r = radius + 0.5 * width * cos(v);
        addPoint(soup, r * cos(u), r * sin(u), 0.5 * height * sin(v));
    }
    for (int32_t i = 0; i < around * across; i++) {
        int32_t u = i / across, v = i % across, uNext = (u + 1) % around, vNext = (v + 1) % across;
        int32_t a = u * across + v, b = uNext * across + v, c = uNext * across + vNext,
                d = u * across + vNext;
        addTriangle(soup, a, b, c);
        addTriangle(soup, a, c, d);
    }
}

// However long or bent, and of few triangles or many.
static void ropes_are_no_leaves(void** state) {
    (void)state;
    const double lengths[] = {3.0, 50.0, 1000.0, 1e6};
    for (int i = 0; i < SR_ARRAY_COUNT(lengths); i++) {
        const double lower[3] = {0.0, 0.0, 0.0}, size[3] = {1.0, 1.0, lengths[i]};
        Soup box = {0}, ring = {0};
        addBox(&box, lower, size);
        addRing(&ring, lengths[i], 1.0, 1.0);
        assert_false(isLeaf(&box));
        assert_false(isLeaf(&ring));
        freeSoup(&box);
        freeSoup(&ring);
    }
}

// Flat ones, ribbons, and ribbons bent to a hoop.
static void what_is_thin_in_one_direction_is_a_leaf(void** state) {
    (void)state;
    const double sizes[][3] = {{10.0, 10.0, 1.0}, {1.0, 8.0, 300.0}, {2.0, 2.0, 0.001}};
    for (int i = 0; i < SR_ARRAY_COUNT(sizes); i++) {
        const double lower[3] = {0.0, 0.0, 0.0};
        Soup soup = {0};
        addBox(&soup, lower, sizes[i]);
        assert_true(isLeaf(&soup));
        freeSoup(&soup);
    }
    Soup hoop = {0};
    addRing(&hoop, 30.0, 0.2, 4.0);
    assert_true(isLeaf(&hoop));
    freeSoup(&hoop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ropes_are_no_leaves, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_thin_in_one_direction_is_a_leaf, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/thinness", tests, NULL, NULL);
}
