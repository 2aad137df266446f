// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/neighbourhood.h"

#include "mesh/overlap.h"

// A point of a block, and where it is searched from
typedef struct Case {
    srCage cage;
    srAdjacency adjacency;
    srNeighbourhood at;
} Case;

static void openCase(Case* c, int workerCount) {
    assert_success(srCreateAdjacency(&c->cage, &c->adjacency));
    assert_success(srCreateNeighbourhood(&c->cage, &c->adjacency, workerCount, &c->at));
}

static void closeCase(Case* c) {
    srDestroyNeighbourhood(&c->at);
    srDestroyAdjacency(&c->adjacency);
    srDestroyCage(&c->cage);
}

static void a_point_inside_is_found_from_any_cell(void** state) {
    (void)state;
    Case c = {0};
    uint64_t seed = 3;
    makeBlock(6, 4, 4, 0.25, &c.cage);
    openCase(&c, 1);
    for (int32_t i = 0; i < 500; i++) {
        srVec3 half = {0.75, 0.5, 0.5}, r = randomPoint(&seed, 1.0), foot;
        srVec3 point = {half.x * (1.0 + r.x), half.y * (1.0 + r.y), half.z * (1.0 + r.z)};
        bool isInside;
        double w[4];
        int32_t cell = srFindCellNear(&c.at, 0, i, (i * 31) % c.cage.cellCount, point, &isInside, &foot);
        srWeigh(&c.adjacency.frames[cell], point, w);
        assert_true(isInside);
        assert_true(srSmallestWeight(w) >= -1e-12);
        assert_near(srDistance(foot, point), 0.0, 0.0);
    }
    closeCase(&c);
}

// Five cubes in the shape of a U, welded: straight from one arm to the other leads through the air. The right
// arm may lean over, so that its end lies in the left one's.
static void makeU(double lean, srCage* outCage) {
    const srVec3 origins[5] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}};
    srVec3 nodes[40];
    int32_t cells[30][4], nodeCount = 0;
    srCage cube;
    makeBlock(1, 1, 1, 1.0, &cube);
    for (int k = 0; k < 120; k++) {
        int32_t node = cube.cells[k / 4 % 6][k % 4], found = 0;
        srVec3 p = srAdd(cube.nodes[node], origins[k / 24]);
        while (found < nodeCount && srDistance(nodes[found], p) > 1e-9) {
            found++;
        }
        nodes[found] = p;
        nodeCount = found == nodeCount ? nodeCount + 1 : nodeCount;
        cells[k / 4][k % 4] = found;
    }
    for (int node = 0; node < nodeCount; node++) {
        nodes[node].x -= nodes[node].x > 1.5 && nodes[node].y > 1.5 ? lean : 0.0;
    }
    srDestroyCage(&cube);
    assert_success(srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, 30, outCage));
}

static void round_a_gap_the_rings_find_what_a_walk_does_not(void** state) {
    (void)state;
    Case c = {0};
    int32_t lostCount = 0;
    uint64_t seed = 13;
    makeU(0.0, &c.cage);
    openCase(&c, 1);
    for (int32_t hint = 0; hint < c.cage.cellCount; hint++) {
        srVec3 r = randomPoint(&seed, 0.5), point = {2.5 + r.x, 1.5 + r.y, 0.5 + r.z}, foot;
        bool isInside;
        double w[4];
        srWalkToPoint(&c.adjacency, hint, point, w);
        lostCount += srSmallestWeight(w) < -1e-12;
        int32_t cell = srFindCellNear(&c.at, 0, hint, hint, point, &isInside, &foot);
        srWeigh(&c.adjacency.frames[cell], point, w);
        assert_true(isInside);
        assert_true(srSmallestWeight(w) >= -1e-12);
    }
    assert_true(lostCount > 3);
    closeCase(&c);
}

// As the corner of a mouth does not lead a point of one lip to the other.
static void the_far_end_of_what_overlaps_is_not_taken(void** state) {
    (void)state;
    Case c = {0};
    makeU(1.2, &c.cage); // at y = 2 the right arm begins at x = 0.8
    openCase(&c, 1);
    for (int32_t hint = 18; hint < 24; hint++) { // the left arm
        srVec3 point = {1.05, 1.95, 0.3}, foot;
        bool isInside;
        int32_t cell = srFindCellNear(&c.at, 0, hint, hint, point, &isInside, &foot);
        assert_false(isInside);
        assert_true(cell >= 18 && cell < 24);
        assert_near(srDistance(foot, (srVec3){1.0, 1.95, 0.3}), 0.0, 1e-12);
    }
    closeCase(&c);
}

static void outside_the_nearest_place_of_the_same_piece_is_found(void** state) {
    (void)state;
    Case c = {0};
    makeOverlap((srVec3){0.0, 0.9, 0.0}, &c.cage);
    int32_t* pieces = findPieces(&c.cage);
    openCase(&c, 1);
    int32_t seenCount = 0;
    for (int32_t hint = 0; hint < c.cage.cellCount; hint++) {
        // only hints in reach of the point: around x = 1, z = 1, on either block's side
        srVec3 middle = srScale(
            0.25, srAdd(srAdd(c.cage.nodes[c.cage.cells[hint][0]], c.cage.nodes[c.cage.cells[hint][1]]),
                        srAdd(c.cage.nodes[c.cage.cells[hint][2]], c.cage.nodes[c.cage.cells[hint][3]])));
        srVec3 point = {1.03, 0.95, 1.2}, foot;
        bool isInside;
        if (srDistance(middle, point) > 0.5) {
            continue;
        }
        seenCount++;
        int32_t cell = srFindCellNear(&c.at, 0, hint, hint, point, &isInside, &foot);
        assert_false(isInside);
        assert_int_equal(pieces[c.cage.cells[cell][0]], pieces[c.cage.cells[hint][0]]);
        assert_near(srDistance(foot, (srVec3){1.03, 0.95, 1.0}), 0.0, 1e-12);
    }
    assert_true(seenCount > 40);
    free(pieces);
    closeCase(&c);
}

static void the_nearest_place_of_a_cell_is_nearer_than_any_sample(void** state) {
    (void)state;
    srCage cage;
    uint64_t seed = 21;
    makeBlock(1, 1, 1, 1.0, &cage);
    for (int i = 0; i < 100; i++) {
        srVec3 point = srAdd(randomPoint(&seed, 1.5), (srVec3){0.5, 0.5, 0.5});
        int32_t cell = i % cage.cellCount;
        double best = srDistance(srFindNearestOfCell(&cage, cell, point), point);
        for (int k = 0; k < 200; k++) {
            double w[4], sum = 0.0;
            srVec3 sample = {0};
            for (int c = 0; c < 4; c++) {
                w[c] = -log(1e-9 + srTestRandom(&seed));
                sum += w[c];
            }
            for (int c = 0; c < 4; c++) {
                sample = srMulAdd(sample, w[c] / sum, cage.nodes[cage.cells[cell][c]]);
            }
            assert_true(srDistance(sample, point) >= best - 1e-12);
        }
    }
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    Case* c = context;
    srNeighbourhood at;
    SR_TRY(srCreateNeighbourhood(&c->cage, &c->adjacency, 3, &at));
    srDestroyNeighbourhood(&at);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Case c = {0};
    makeBlock(1, 1, 1, 1.0, &c.cage);
    openCase(&c, 1);
    srTestEveryAllocationFails(createAndDestroy, &c);
    closeCase(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_point_inside_is_found_from_any_cell, srTestNothingLeaked),
        cmocka_unit_test_teardown(round_a_gap_the_rings_find_what_a_walk_does_not, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_far_end_of_what_overlaps_is_not_taken, srTestNothingLeaked),
        cmocka_unit_test_teardown(outside_the_nearest_place_of_the_same_piece_is_found, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_nearest_place_of_a_cell_is_nearer_than_any_sample, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/neighbourhood", tests, NULL, NULL);
}
