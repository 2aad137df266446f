// SPDX-License-Identifier: GPL-3.0-or-later
//
// The judge finds what is wrong with a cage, and nothing wrong with a right one. The cage is a block of
// cubes, six cells each, a little larger than a cube of skin.

#include "corpus/fits.h"

#include "corpus/shapes.h"
#include "corpus/topology.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 8

typedef struct Block {
    float* nodes;
    int32_t nodeCount;
    int32_t* cells;
    int32_t cellCount;
    srSoup skin;
    srFitGoal goal;
    srFitReport report;
} Block;

static int32_t nodeAt(int32_t first, const int32_t at[3]) {
    return first + (at[2] * (SIDE + 1) + at[1]) * (SIDE + 1) + at[0];
}

// Appends a block over offset -half .. half.
static void addBlock(Block* block, double half, const double offset[3]) {
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int32_t n = SIDE + 1;
    int32_t first = block->nodeCount;
    block->nodes = realloc(block->nodes, sizeof(float) * 3 * (size_t)(first + n * n * n));
    block->cells =
        realloc(block->cells, sizeof(int32_t) * 4 * (size_t)(block->cellCount + 6 * SIDE * SIDE * SIDE));
    for (int32_t i = 0; i < n * n * n; i++) {
        const int32_t at[3] = {i % n, i / n % n, i / (n * n)};
        for (int c = 0; c < 3; c++) {
            block->nodes[3 * block->nodeCount + c] = (float)(half * (2.0 * at[c] / SIDE - 1.0) + offset[c]);
        }
        block->nodeCount++;
    }
    for (int32_t i = 0; i < 6 * SIDE * SIDE * SIDE; i++) {
        int32_t cube = i / 6, at[3] = {cube % SIDE, cube / SIDE % SIDE, cube / (SIDE * SIDE)};
        int32_t* cell = block->cells + 4 * block->cellCount++;
        cell[0] = nodeAt(first, at);
        for (int c = 1; c < 4; c++) {
            at[orders[i % 6][c - 1]]++;
            cell[c] = nodeAt(first, at);
        }
        if (i % 6 >= 3) {
            int32_t swapped = cell[1];
            cell[1] = cell[2];
            cell[2] = swapped;
        }
    }
}

static int setUp(void** state) {
    Block* block = calloc(1, sizeof(Block));
    addBlock(block, 1.05, (double[]){0.0, 0.0, 0.0});
    srMakeCube(&block->skin, 6);
    block->goal = (srFitGoal){.skin = &block->skin, .repaired = &block->skin, .wantedNodes = 700};
    *state = block;
    return 0;
}

static int tearDown(void** state) {
    Block* block = *state;
    srFreeSoup(&block->skin);
    free(block->nodes);
    free(block->cells);
    free(block);
    return 0;
}

static int judge(Block* block) {
    bool fits = srJudgeFit(block->nodes, block->nodeCount, block->cells, block->cellCount, &block->goal,
                           &srCleanLimits, &block->report);
    assert_int_equal(fits, block->report.misfits == 0);
    return block->report.misfits;
}

static void removeCell(Block* block, int32_t cell) {
    memmove(block->cells + 4 * cell, block->cells + 4 * --block->cellCount, 4 * sizeof(int32_t));
}

// The cell that lies nearest to a place.
static int32_t findCell(const Block* block, double x, double y, double z) {
    int32_t best = 0;
    double least = HUGE_VAL;
    for (int32_t cell = 0; cell < block->cellCount; cell++) {
        double d[3] = {-x, -y, -z};
        for (int c = 0; c < 12; c++) {
            d[c % 3] += 0.25 * (double)block->nodes[3 * block->cells[4 * cell + c / 3] + c % 3];
        }
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        best = square < least ? cell : best;
        least = fmin(least, square);
    }
    return best;
}

static void move(Block* block, double scale, double x, double y, double z) {
    const double offset[3] = {x, y, z};
    for (int32_t i = 0; i < 3 * block->nodeCount; i++) {
        block->nodes[i] = (float)(scale * (double)block->nodes[i] + offset[i % 3]);
    }
}

static void a_right_cage_fits(void** state) {
    Block* block = *state;
    assert_int_equal(judge(block), 0);
    assert_int_equal(block->report.boundaryFaceCount, 6 * 2 * SIDE * SIDE);
    assert_near(block->report.volume, 8.0 * 1.05 * 1.05 * 1.05, 1e-5);
    assert_near(block->report.volumeRatio, 1.05 * 1.05 * 1.05, 1e-5);
    // a path of three edges along a cube: right angles, 45 and 60 degrees
    assert_near(block->report.smallestAngleDegrees, 45.0, 1e-3);
    assert_near(block->report.largestAngleDegrees, 90.0, 1e-3);
    int64_t angles = 0, aspects = 0;
    for (int i = 0; i < srAngleBins; i++) {
        angles += block->report.angles[i];
    }
    for (int i = 0; i < srAspectBins; i++) {
        aspects += block->report.aspects[i];
    }
    assert_int_equal(angles, 6 * block->cellCount);
    assert_int_equal(aspects, block->cellCount);
    // the diagonal over the height above the largest face: sqrt(3) over sqrt(1/2)
    assert_near(block->report.worstAspect, sqrt(6.0), 1e-3);
}

static void a_turned_cell_is_found(void** state) {
    Block* block = *state;
    int32_t *cell = block->cells + 4 * 1000, swapped = cell[0];
    cell[0] = cell[1];
    cell[1] = swapped;
    assert_int_equal(judge(block) & (sr_misfitFlatCell | sr_misfitFace), sr_misfitFlatCell | sr_misfitFace);
    assert_int_equal(block->report.flatCellCount, 1);
}

static void a_flat_cell_is_found(void** state) {
    Block* block = *state;
    // one node onto the plane of the cell's others, by exactly nothing more
    const int32_t* cell = block->cells + 4 * findCell(block, 0.0, 0.0, 0.0);
    for (int c = 0; c < 3; c++) {
        block->nodes[3 * cell[0] + c] = block->nodes[3 * cell[1] + c];
    }
    assert_true((judge(block) & sr_misfitFlatCell) != 0);
}

static void a_cell_that_is_there_twice_is_found(void** state) {
    Block* block = *state;
    memcpy(block->cells, block->cells + 400, 4 * sizeof(int32_t));
    assert_true((judge(block) & sr_misfitFace) != 0);
}

static void a_third_cell_at_a_face_is_found_on_either_side(void** state) {
    Block* block = *state;
    // beside the cell in the middle one more on the same face, to either side of it, with an apex of its own
    for (int side = 0; side < 2; side++) {
        int32_t kept = block->cellCount, node = block->nodeCount;
        int32_t inner = findCell(block, 0.0, 0.0, 0.0);
        block->cells = realloc(block->cells, 4 * sizeof(int32_t) * (size_t)(kept + 1));
        block->nodes = realloc(block->nodes, 3 * sizeof(float) * (size_t)(node + 1));
        int32_t* cell = block->cells + 4 * kept;
        memcpy(cell, block->cells + 4 * inner, 4 * sizeof(int32_t));
        for (int c = 0; c < 3; c++) {
            float apex = block->nodes[3 * cell[0] + c], mirrored = 0.0f;
            for (int k = 1; k < 4; k++) {
                mirrored += 2.0f / 3.0f * block->nodes[3 * cell[k] + c];
            }
            block->nodes[3 * node + c] = side == 0 ? apex : mirrored - apex;
        }
        cell[0] = node;
        int32_t swapped = cell[1];
        cell[1] = side == 0 ? swapped : cell[2];
        cell[2] = side == 0 ? cell[2] : swapped;
        block->cellCount++;
        block->nodeCount++;
        assert_int_equal(judge(block) & (sr_misfitFlatCell | sr_misfitFace), sr_misfitFace);
        assert_int_equal(block->report.badFaceCount, 1);
        block->cellCount--;
        block->nodeCount--;
    }
}

static void a_hole_in_the_flesh_is_found(void** state) {
    Block* block = *state;
    // all cells around the middle: its boundary is far from any skin
    for (int i = 0; i < 24; i++) {
        removeCell(block, findCell(block, 0.0, 0.0, 0.0));
    }
    assert_true((judge(block) & sr_misfitOutside) != 0);
    assert_true(block->report.outsideCells > 1.5);
}

static void a_hole_in_the_side_is_found(void** state) {
    Block* block = *state;
    // a shaft from the middle of one side, three cubes deep
    for (int i = 0; i < 6 * 9 * 3; i++) {
        removeCell(block, findCell(block, 1.05 - 0.26 * (i / 54.0 + 0.25), 0.13, 0.13));
    }
    assert_true((judge(block) & (sr_misfitOutside | sr_misfitMissing)) != 0);
}

// The block's neighbour, and what both share: a vertex, an edge.
static int shareWithNeighbour(Block* block, const double offset[3], int32_t wanted) {
    int32_t first = block->nodeCount, shared = 0;
    addBlock(block, 1.05, offset);
    for (int32_t i = 0; i < 4 * block->cellCount; i++) {
        for (int32_t n = 0; n < first && block->cells[i] >= first && wanted > 0; n++) {
            if (memcmp(block->nodes + 3 * n, block->nodes + 3 * block->cells[i], 3 * sizeof(float)) == 0) {
                block->cells[i] = n;
                shared++;
                break;
            }
        }
    }
    assert_true(shared > 0 || wanted == 0);
    return judge(block);
}

static void blocks_that_share_only_a_vertex_are_found(void** state) {
    int misfits = shareWithNeighbour(*state, (double[]){2.1, 2.1, 2.1}, 1);
    assert_int_equal(misfits & (sr_misfitVertex | sr_misfitEdge | sr_misfitFace), sr_misfitVertex);
}

static void blocks_that_share_only_an_edge_are_found(void** state) {
    int misfits = shareWithNeighbour(*state, (double[]){2.1, 2.1, 0.0}, 1);
    assert_int_equal(misfits & (sr_misfitVertex | sr_misfitEdge), sr_misfitVertex | sr_misfitEdge);
}

static void blocks_that_share_a_node_within_one_of_them_are_found(void** state) {
    Block* block = *state;
    // the corner of the second is the middle of the first: the boundary has one fan there, the flesh has two
    int32_t first = block->nodeCount, middle = nodeAt(0, (int32_t[]){SIDE / 2, SIDE / 2, SIDE / 2});
    addBlock(block, 1.05, (double[]){1.05, 1.05, 1.05});
    for (int32_t i = 0; i < 4 * block->cellCount; i++) {
        block->cells[i] = block->cells[i] == first ? middle : block->cells[i];
    }
    assert_true((judge(block) & sr_misfitVertex) != 0);
    assert_int_equal(block->report.badVertexCount, 1);
}

static void copies_that_lie_over_each_other_are_judged_each_for_itself(void** state) {
    Block* block = *state;
    addBlock(block, 1.05, (double[]){0.13, 0.0, 0.0});
    srTopology topology = srCreateTopology(block->nodeCount, block->cells, block->cellCount);
    assert_int_equal(topology.badFaceCount, 0);
    assert_int_equal(topology.badEdgeCount, 0);
    assert_int_equal(topology.badVertexCount, 0);
    assert_int_equal(topology.looseNodeCount, 0);
    assert_int_equal(topology.boundaryCount, 2 * 6 * 2 * SIDE * SIDE);
    srDestroyTopology(&topology);
}

static void half_the_size_is_found(void** state) {
    Block* block = *state;
    move(block, 0.5, 0.0, 0.0, 0.0);
    int wanted = sr_misfitSmall | sr_misfitOutside | sr_misfitMissing;
    assert_int_equal(judge(block) & wanted, wanted);
    assert_near(block->report.volumeRatio, 0.125 * 1.05 * 1.05 * 1.05, 0.01);
}

static void too_large_is_found(void** state) {
    Block* block = *state;
    // all still within a cell of the skin
    move(block, 1.06, 0.0, 0.0, 0.0);
    assert_int_equal(judge(block), sr_misfitLarge);
}

static void a_little_too_small_is_found(void** state) {
    Block* block = *state;
    move(block, 0.985 / 1.05, 0.0, 0.0, 0.0);
    assert_int_equal(judge(block), sr_misfitSmall);
}

static void two_cells_aside_is_found(void** state) {
    Block* block = *state;
    // two longest edges: diagonals of cubes of 0.2625
    move(block, 1.0, 2.0 * sqrt(3.0) * 0.2625, 0.0, 0.0);
    int wanted = sr_misfitOutside | sr_misfitMissing;
    assert_int_equal(judge(block) & wanted, wanted);
}

static void bad_indices_and_numbers_are_found(void** state) {
    Block* block = *state;
    int32_t kept = block->cells[7];
    block->cells[7] = block->nodeCount;
    assert_int_equal(judge(block), sr_misfitIndex);
    block->cells[7] = block->cells[6];
    assert_int_equal(judge(block), sr_misfitIndex);
    block->cells[7] = kept;
    block->nodes[5] = NAN;
    assert_int_equal(judge(block), sr_misfitIndex);
}

static void a_loose_node_is_found(void** state) {
    Block* block = *state;
    block->nodes = realloc(block->nodes, sizeof(float) * 3 * (size_t)(block->nodeCount + 1));
    memset(block->nodes + 3 * block->nodeCount++, 0, 3 * sizeof(float));
    assert_int_equal(judge(block), sr_misfitLooseNode);
}

static void too_few_and_too_many_nodes_are_found(void** state) {
    Block* block = *state;
    block->goal.wantedNodes = (int32_t)(SIDE + 1) * (SIDE + 1) * (SIDE + 1) * 100 / 84;
    assert_int_equal(judge(block), sr_misfitFewNodes);
    block->goal.wantedNodes = (int32_t)(SIDE + 1) * (SIDE + 1) * (SIDE + 1) * 100 / 116;
    assert_int_equal(judge(block), sr_misfitManyNodes);
}

static void what_is_glued_is_found(void** state) {
    Block* block = *state;
    // two blocks side by side without a node in common: no path; and one path along a block
    addBlock(block, 1.05, (double[]){2.2, 0.0, 0.0});
    const double pairs[2][6] = {{-0.9, 0.0, 0.0, 0.9, 0.0, 0.0}, {1.0, 0.0, 0.0, 1.2, 0.0, 0.0}};
    const double paths[2] = {1.7, 3.0};
    block->goal.aparts = pairs;
    block->goal.leastPaths = paths;
    block->goal.apartCount = 2;
    assert_int_equal(judge(block) & sr_misfitGlued, 0);
    assert_near(block->report.shortestPath, 1.8 / 1.7, 0.3);

    // glued by one cell
    int32_t *last = block->cells + 4 * findCell(block, 1.2, 0.1, 0.1), *cell = last;
    cell[0] = block->cells[4 * findCell(block, 1.0, 0.1, 0.1)];
    assert_true((judge(block) & sr_misfitGlued) != 0);
}

static void misfits_have_names(void** state) {
    (void)state;
    char text[128];
    srDescribeMisfits(sr_misfitIndex | sr_misfitGlued, text, sizeof(text));
    assert_string_equal(text, "index, glued");
    srDescribeMisfits(0, text, sizeof(text));
    assert_string_equal(text, "");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)
    const struct CMUnitTest tests[] = {
        TEST(a_right_cage_fits),
        TEST(a_turned_cell_is_found),
        TEST(a_flat_cell_is_found),
        TEST(a_cell_that_is_there_twice_is_found),
        TEST(a_third_cell_at_a_face_is_found_on_either_side),
        TEST(a_hole_in_the_flesh_is_found),
        TEST(a_hole_in_the_side_is_found),
        TEST(blocks_that_share_only_a_vertex_are_found),
        TEST(blocks_that_share_only_an_edge_are_found),
        TEST(blocks_that_share_a_node_within_one_of_them_are_found),
        TEST(copies_that_lie_over_each_other_are_judged_each_for_itself),
        TEST(half_the_size_is_found),
        TEST(too_large_is_found),
        TEST(a_little_too_small_is_found),
        TEST(two_cells_aside_is_found),
        TEST(bad_indices_and_numbers_are_found),
        TEST(a_loose_node_is_found),
        TEST(too_few_and_too_many_nodes_are_found),
        TEST(what_is_glued_is_found),
        TEST(misfits_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
