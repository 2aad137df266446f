// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/adjacency.h"

#include "core/parallel.h"
#include "mesh/boundary.h"
#include "mesh/overlap.h"

static bool hasNode(const int32_t cell[4], int32_t node) {
    return cell[0] == node || cell[1] == node || cell[2] == node || cell[3] == node;
}

static void neighbours_share_the_face_and_know_each_other(void** state) {
    (void)state;
    srCage cage;
    srAdjacency adjacency;
    srBoundary boundary;
    int32_t openCount = 0;
    makeBlock(4, 3, 2, 0.5, &cage);
    assert_success(srCreateAdjacency(&cage, &adjacency));
    assert_success(srCreateBoundary(&cage, &boundary));
    for (int32_t cell = 0; cell < cage.cellCount; cell++) {
        for (int face = 0; face < 4; face++) {
            int32_t other = adjacency.neighbours[cell][face];
            openCount += other == SR_NULL_INDEX;
            if (other == SR_NULL_INDEX) {
                continue;
            }
            int backCount = 0;
            for (int c = 0; c < 4; c++) {
                backCount += adjacency.neighbours[other][c] == cell;
                assert_int_equal(hasNode(cage.cells[other], cage.cells[cell][c]), c != face);
            }
            assert_int_equal(backCount, 1);
        }
    }
    assert_int_equal(openCount, boundary.faceCount);
    srDestroyBoundary(&boundary);
    srDestroyAdjacency(&adjacency);
    srDestroyCage(&cage);
}

static void cells_around_a_node_are_all_that_have_it(void** state) {
    (void)state;
    srCage cage;
    srAdjacency adjacency;
    makeBlock(3, 2, 2, 1.0, &cage);
    assert_success(srCreateAdjacency(&cage, &adjacency));
    assert_int_equal(adjacency.cellStarts[cage.nodeCount], 4 * cage.cellCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        for (int32_t p = adjacency.cellStarts[node]; p < adjacency.cellStarts[node + 1]; p++) {
            assert_true(hasNode(cage.cells[adjacency.cells[p]], node));
            assert_true(p == adjacency.cellStarts[node] || adjacency.cells[p] > adjacency.cells[p - 1]);
        }
    }
    srDestroyAdjacency(&adjacency);
    srDestroyCage(&cage);
}

static void a_third_cell_on_a_face_ends_there(void** state) {
    (void)state;
    const srVec3 nodes[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 2}, {0, 0, -1}};
    const int32_t cells[3][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}};
    srCage cage;
    srAdjacency adjacency;
    int linkCount = 0;
    assert_success(srCreateCage(nodes, 6, cells, 3, &cage));
    assert_success(srCreateAdjacency(&cage, &adjacency));
    for (int i = 0; i < 12; i++) {
        linkCount += adjacency.neighbours[i / 4][i % 4] != SR_NULL_INDEX;
    }
    assert_int_equal(linkCount, 2);
    srDestroyAdjacency(&adjacency);
    srDestroyCage(&cage);
}

static void a_walk_ends_where_the_point_is_or_at_the_outside(void** state) {
    (void)state;
    srCage cage;
    srAdjacency adjacency;
    uint64_t seed = 5;
    makeBlock(6, 4, 4, 0.25, &cage);
    assert_success(srCreateAdjacency(&cage, &adjacency));
    for (int i = 0; i < 500; i++) {
        srVec3 point = srAdd(randomPoint(&seed, 1.0), (srVec3){0.75, 0.5, 0.5});
        bool isIn = fabs(point.x - 0.75) < 0.75 && fabs(point.y - 0.5) < 0.5 && fabs(point.z - 0.5) < 0.5;
        double w[4];
        int32_t cell = srWalkToPoint(&adjacency, i % cage.cellCount, point, w);
        assert_int_equal(srSmallestWeight(w) >= -1e-12, isIn);
        for (int c = 0; c < 4 && !isIn; c++) {
            assert_true(w[c] >= -1e-12 || adjacency.neighbours[cell][c] == SR_NULL_INDEX);
        }
    }
    srDestroyAdjacency(&adjacency);
    srDestroyCage(&cage);
}

static void a_walk_never_enters_what_only_overlaps(void** state) {
    (void)state;
    srCage cage;
    srAdjacency adjacency;
    uint64_t seed = 9;
    makeOverlap((srVec3){0.6, 0.13, 0.07}, &cage);
    int32_t* pieces = findPieces(&cage);
    assert_success(srCreateAdjacency(&cage, &adjacency));
    for (int i = 0; i < 500; i++) {
        double w[4];
        int32_t from = (i * 37) % cage.cellCount;
        srVec3 point = srAdd(randomPoint(&seed, 1.5), (srVec3){1.0, 0.5, 0.5});
        int32_t to = srWalkToPoint(&adjacency, from, point, w);
        assert_int_equal(pieces[cage.cells[to][0]], pieces[cage.cells[from][0]]);
    }
    free(pieces);
    srDestroyAdjacency(&adjacency);
    srDestroyCage(&cage);
}

static void any_number_of_workers_finds_the_same(void** state) {
    (void)state;
    srCage cage;
    srAdjacency a, b;
    int32_t before = srParallel_GetWorkerCount();
    makeBlock(9, 8, 7, 0.25, &cage);
    srParallel_SetWorkerCount(1);
    assert_success(srCreateAdjacency(&cage, &a));
    srParallel_SetWorkerCount(4);
    assert_success(srCreateAdjacency(&cage, &b));
    srParallel_SetWorkerCount(before);
    assert_memory_equal(a.neighbours, b.neighbours, sizeof(a.neighbours[0]) * (size_t)cage.cellCount);
    srDestroyAdjacency(&a);
    srDestroyAdjacency(&b);
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    srAdjacency adjacency;
    SR_TRY(srCreateAdjacency(context, &adjacency));
    srDestroyAdjacency(&adjacency);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(1, 1, 1, 1.0, &cage);
    srTestEveryAllocationFails(createAndDestroy, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(neighbours_share_the_face_and_know_each_other, srTestNothingLeaked),
        cmocka_unit_test_teardown(cells_around_a_node_are_all_that_have_it, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_third_cell_on_a_face_ends_there, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_walk_ends_where_the_point_is_or_at_the_outside, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_walk_never_enters_what_only_overlaps, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_finds_the_same, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/adjacency", tests, NULL, NULL);
}
