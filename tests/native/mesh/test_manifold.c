// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/manifold.h"

#include "mesh/solids.h"

typedef struct Input {
    const srVec3* nodes;
    const int32_t (*cells)[4];
    int32_t nodeCount;
    int32_t cellCount;

    // what came of it
    int32_t removed;
    int32_t nodesAfter;
    int32_t cellsAfter;
} Input;

static srResult mendIn(srArena* arena, Input* input) {
    srProgress nobody = {0};
    srRawCells raw = {.nodeCount = input->nodeCount, .cellCount = input->cellCount};
    raw.nodes = SR_PUSH(arena, srVec3, input->nodeCount, "nodes");
    raw.cells = srArena_Push(arena, (size_t)input->cellCount, sizeof(raw.cells[0]), "cells");
    raw.tets = SR_PUSH(arena, int32_t, input->cellCount, "tets");
    if (raw.nodes == NULL || raw.cells == NULL || raw.tets == NULL) {
        return srFailOutOfMemory("a test");
    }
    memcpy(raw.nodes, input->nodes, sizeof(srVec3) * (size_t)input->nodeCount);
    memcpy(raw.cells, input->cells, sizeof(raw.cells[0]) * (size_t)input->cellCount);
    memset(raw.tets, 0, sizeof(int32_t) * (size_t)input->cellCount);
    SR_TRY(srMakeManifold(&raw, arena, &nobody, &input->removed));
    input->nodesAfter = raw.nodeCount;
    input->cellsAfter = raw.cellCount;
    return sr_success;
}

static srResult mend(void* context) {
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srResult result = mendIn(arena, context);
    srDestroyArena(arena);
    return result;
}

static const srVec3 nodes[8] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {0.0, 1.0, 0.0},   {0.0, 0.0, 1.0},
                                {-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, -1.0, -1.0}, {-1.0, -1.0, 0.0}};

static void cells_that_touch_at_a_node_or_an_edge_are_parted(void** state) {
    (void)state;
    const int32_t atNode[2][4] = {{0, 1, 2, 3}, {0, 4, 5, 6}};
    Input input = {nodes, atNode, 8, 2, -1, -1, -1};
    assert_success(mend(&input));
    assert_int_equal(input.removed, 0);
    assert_int_equal(input.cellsAfter, 2);
    assert_int_equal(input.nodesAfter, 8 + 1);
    srTestEveryAllocationFails(mend, &input);

    const int32_t atEdge[2][4] = {{0, 1, 2, 3}, {0, 3, 4, 5}};
    input.cells = atEdge;
    assert_success(mend(&input));
    assert_int_equal(input.removed, 0);
    assert_int_equal(input.nodesAfter, 8 + 2);
}

static void sound_blocks_are_left_alone(void** state) {
    (void)state;
    srCage cage;
    makeBlock(3, 2, 2, 1.0, &cage);
    Input input = {cage.nodes, (const int32_t (*)[4])cage.cells, cage.nodeCount, cage.cellCount, -1, -1, -1};
    assert_success(mend(&input));
    assert_int_equal(input.removed, 0);
    assert_int_equal(input.nodesAfter, cage.nodeCount);
    assert_int_equal(input.cellsAfter, cage.cellCount);
    srDestroyCage(&cage);
}

// A ring of cubes whose first and last touch along an edge: around each of its nodes faces lead from one to
// the other, so that parting does not help.
static void a_ring_that_bites_its_tail_loses_cells_until_its_skin_is_a_surface(void** state) {
    (void)state;
    srCage block;
    makeBlock(2, 2, 2, 1.0, &block);
    int32_t (*cells)[4] = malloc(sizeof(cells[0]) * (size_t)block.cellCount);
    int32_t count = 0;
    for (int32_t cell = 0; cell < block.cellCount; cell++) {
        srVec3 sum = {0.0, 0.0, 0.0};
        for (int c = 0; c < 4; c++) {
            sum = srAdd(sum, block.nodes[block.cells[cell][c]]);
        }
        // below all four cubes, above two opposite ones: they meet in the upper half of the middle line
        bool isKept = sum.z < 4.0 || (sum.x < 4.0) == (sum.y < 4.0);
        memcpy(cells[count], block.cells[cell], sizeof(cells[0]));
        count += isKept;
    }
    Input input = {block.nodes, (const int32_t (*)[4])cells, block.nodeCount, count, -1, -1, -1};
    assert_success(mend(&input));
    assert_true(input.cellsAfter + input.removed == count);
    assert_true(input.nodesAfter > block.nodeCount || input.removed > 0);
    free(cells);
    srDestroyCage(&block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(cells_that_touch_at_a_node_or_an_edge_are_parted, srTestNothingLeaked),
        cmocka_unit_test_teardown(sound_blocks_are_left_alone, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_ring_that_bites_its_tail_loses_cells_until_its_skin_is_a_surface,
                                  srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/manifold", tests, NULL, NULL);
}
