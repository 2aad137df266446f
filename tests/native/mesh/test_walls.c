// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/walls.h"

#include "mesh/solids.h"

static srWayEnd endAt(double x, double y, double z, srVec3 out) {
    srVec3 place = {x, y, z};
    return (srWayEnd){place, place, out, SR_NULL_INDEX};
}

// Two unit boxes that share the plane x = 1.
static srSurface touchingBoxes(void) {
    Soup soup = {0};
    const double left[3] = {0.0, 0.0, 0.0}, right[3] = {1.0, 0.0, 0.0}, size[3] = {1.0, 1.0, 1.0};
    addBox(&soup, left, size);
    addBox(&soup, right, size);
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static srResult askAll(void* context) {
    const srSurface* surface = context;
    srProgress nobody = {0};
    srWalls walls;
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srResult result = srCreateWalls(surface, 0.3, arena, &nobody, &walls);
    const srVec3 up = {0.0, 0.0, 1.0}, right = {1.0, 0.0, 0.0}, left = {-1.0, 0.0, 0.0};
    uint64_t seed = 5;
    for (int i = 0; i < 500 && result == sr_success; i++) {
        double y = 0.02 + 0.96 * srTestRandom(&seed), z = 0.02 + 0.96 * srTestRandom(&seed);
        double y2 = 0.02 + 0.96 * srTestRandom(&seed), z2 = 0.02 + 0.96 * srTestRandom(&seed);
        srWayEnd a = endAt(0.9, y, z, right), b = endAt(1.1, y2, z2, left), c = endAt(0.1, y2, z2, left);
        srWayEnd high = endAt(0.9, y, 1.2, up);
        assert_true(srWalls_Leaves(&walls, &a, &b));
        assert_true(srWalls_Leaves(&walls, &b, &a));
        assert_false(srWalls_Leaves(&walls, &a, &c));
        assert_true(srWalls_Leaves(&walls, &a, &high));
        assert_false(srWalls_Leaves(&walls, &high, &a));
    }
    srDestroyArena(arena);
    return result;
}

static void a_way_through_a_contact_leaves(void** state) {
    (void)state;
    srSurface surface = touchingBoxes();
    assert_success(askAll(&surface));
    srDestroySurface(&surface);
}

// Two boxes that overlap from x = 0.6 to 1: who is in the left one stays in it, whatever begins or ends
// there.
static void a_way_within_one_piece_passes_the_walls_of_others(void** state) {
    (void)state;
    Soup soup = {0};
    const double left[3] = {0.0, 0.0, 0.0}, right[3] = {0.6, 0.2, 0.2};
    const double size[3] = {1.0, 1.0, 1.0}, within[3] = {1.0, 0.6, 0.6};
    addBox(&soup, left, size);
    int32_t leftCount = soup.triangleCount, pieces[64] = {0};
    addBox(&soup, right, within);
    for (int32_t t = leftCount; t < soup.triangleCount; t++) {
        pieces[t] = 1;
    }
    srSurface surface = makeSurface(&soup);
    srProgress nobody = {0};
    srWalls walls;
    srArena* arena = srCreateArena(1 << 12);
    assert_success(srCreateWalls(&surface, 0.3, arena, &nobody, &walls));
    srWayEnd a = endAt(0.5, 0.5, 0.5, (srVec3){0.0, 0.0, 1.0}), b = endAt(0.8, 0.5, 0.5, a.out);
    srWayEnd c = endAt(1.2, 0.5, 0.5, a.out);
    assert_false(srWalls_Leaves(&walls, &a, &b));
    assert_true(srWalls_Leaves(&walls, &b, &a));
    a.piece = b.piece = c.piece = 0;
    assert_true(srWalls_Leaves(&walls, &b, &a)); // whose triangles are whose is not known yet
    walls.pieces = pieces;
    walls.piecedCount = soup.triangleCount;
    assert_false(srWalls_Leaves(&walls, &b, &a));
    assert_true(srWalls_Leaves(&walls, &b, &c)); // out of the left one
    b.piece = c.piece = 1;
    assert_false(srWalls_Leaves(&walls, &b, &c));
    b.piece = SR_NULL_INDEX;
    assert_true(srWalls_Leaves(&walls, &b, &c));
    walls.piecedCount = 0; // of all
    b.piece = 1;
    assert_true(srWalls_Leaves(&walls, &b, &c));
    srDestroyArena(arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void no_way_leaves_through_nothing(void** state) {
    (void)state;
    const srSurface nothing = {.size = 1.0};
    srProgress nobody = {0};
    srWalls walls;
    srArena* arena = srCreateArena(1 << 12);
    assert_success(srCreateWalls(&nothing, 0.3, arena, &nobody, &walls));
    srWayEnd a = endAt(-1.0, 0.0, 0.0, (srVec3){1.0, 0.0, 0.0}), b = endAt(1.0, 0.0, 0.0, a.out);
    assert_false(srWalls_Leaves(&walls, &a, &b));
    srDestroyArena(arena);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = touchingBoxes();
    srTestEveryAllocationFails(askAll, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_way_through_a_contact_leaves, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_way_within_one_piece_passes_the_walls_of_others, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_way_leaves_through_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/walls", tests, NULL, NULL);
}
