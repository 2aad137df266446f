// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/tears.h"

#include "mesh/solids.h"

typedef struct Input {
    srCage cage;
    srSurface surface;
    int8_t* turns;
    int32_t* cells;
    srTears tears;
} Input;

// The nearest cell by its middle, of the first or of the second half of the cage's nodes along x.
static int32_t cellAt(const srCage* cage, srVec3 place, double from, double to) {
    int32_t best = SR_NULL_INDEX;
    double least = HUGE_VAL;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        srVec3 middle = {0.0, 0.0, 0.0};
        for (int c = 0; c < 4; c++) {
            middle = srMulAdd(middle, 0.25, cage->nodes[cage->cells[cell][c]]);
        }
        bool isIn = middle.x > from && middle.x < to;
        if (isIn && srDistance(middle, place) < least) {
            least = srDistance(middle, place);
            best = cell;
        }
    }
    return best;
}

// A block of 8 x 1 x 1 cubes, without its cells between x = `from` and `to`, and a strip of skin along its
// top.
static void makeInput(double from, double to, Input* input) {
    Soup soup = {0};
    srCage whole;
    makeBlock(8, 1, 1, 1.0, &whole);
    int32_t kept = 0;
    for (int32_t cell = 0; cell < whole.cellCount; cell++) {
        double x = 0.0;
        for (int c = 0; c < 4; c++) {
            x += 0.25 * whole.nodes[whole.cells[cell][c]].x;
        }
        if (x < from || x > to) {
            memmove(whole.cells[kept++], whole.cells[cell], sizeof(whole.cells[0]));
        }
    }
    int32_t all = whole.cellCount;
    *input = (Input){0};
    assert_success(
        srCreateCage(whole.nodes, whole.nodeCount, (const int32_t (*)[4])whole.cells, kept, &input->cage));
    whole.cellCount = all;
    srDestroyCage(&whole);
    for (int i = 0; i <= 16; i++) {
        addPoint(&soup, 0.5 * i, 0.2, 1.0);
        addPoint(&soup, 0.5 * i, 0.8, 1.0);
        if (i > 0) {
            addTriangle(&soup, 2 * i - 2, 2 * i, 2 * i - 1);
            addTriangle(&soup, 2 * i - 1, 2 * i, 2 * i + 1);
        }
    }
    input->surface = makeSurface(&soup);
    input->turns = malloc((size_t)input->surface.triangleCount);
    input->cells = malloc(sizeof(int32_t) * (size_t)input->surface.pointCount);
    memset(input->turns, 1, (size_t)input->surface.triangleCount);
    for (int32_t p = 0; p < input->surface.pointCount; p++) {
        input->cells[p] = cellAt(&input->cage, input->surface.points[p], -1.0, 9.0);
    }
    freeSoup(&soup);
}

static srResult find(srArena* arena, Input* input) {
    srProgress nobody = {0};
    const srTearsInput tearsInput = {&input->surface, input->turns, &input->cage, input->cells, 1.0};
    return srFindTears(&tearsInput, arena, &nobody, &input->tears);
}

static int32_t countTears(Input* input) {
    srArena* arena = srCreateArena(1 << 12);
    assert_success(find(arena, input));
    for (int32_t tear = 0; tear < input->tears.count; tear++) {
        assert_true(input->tears.edges[tear][0] != input->tears.edges[tear][1]);
    }
    srDestroyArena(arena);
    return input->tears.count;
}

static void freeInput(Input* input) {
    srDestroyCage(&input->cage);
    srDestroySurface(&input->surface);
    free(input->turns);
    free(input->cells);
}

static void a_whole_cage_has_no_tears_and_one_in_two_pieces_is_torn_between_them(void** state) {
    (void)state;
    Input whole, halves;
    makeInput(20.0, 20.0, &whole);
    assert_int_equal(countTears(&whole), 0);
    makeInput(4.0, 5.0, &halves);
    int32_t count = countTears(&halves);
    // from edge to edge of the strip, where its points are nearer to the other half's cells
    assert_true(count >= 2 && count <= 5);
    freeInput(&whole);
    freeInput(&halves);
}

static void what_bounds_no_flesh_or_is_nowhere_tells_nothing(void** state) {
    (void)state;
    Input input;
    makeInput(4.0, 5.0, &input);
    int32_t count = countTears(&input);
    memset(input.turns, 0, (size_t)input.surface.triangleCount);
    assert_int_equal(countTears(&input), 0);
    memset(input.turns, -1, (size_t)input.surface.triangleCount);
    assert_int_equal(countTears(&input), count);
    for (int32_t p = 0; p < input.surface.pointCount; p++) {
        input.cells[p] = input.surface.points[p].x > 4.4 ? input.cells[p] : SR_NULL_INDEX;
    }
    assert_int_equal(countTears(&input), 0);
    freeInput(&input);
}

// A point that is in a cell far from those of its neighbours.
static void a_point_in_the_wrong_cell_is_a_tear_of_all_its_edges(void** state) {
    (void)state;
    Input input;
    makeInput(20.0, 20.0, &input);
    input.cells[2] = cellAt(&input.cage, (srVec3){7.9, 0.5, 0.5}, -1.0, 9.0);
    assert_int_equal(countTears(&input), 4); // to its four neighbours
    freeInput(&input);
}

static srResult findAlone(void* context) {
    srArena* arena = srCreateArena(1 << 6);
    srResult result = arena != NULL ? find(arena, context) : srFailOutOfMemory("a test");
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Input input;
    makeInput(4.0, 5.0, &input);
    srTestEveryAllocationFails(findAlone, &input);
    freeInput(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_whole_cage_has_no_tears_and_one_in_two_pieces_is_torn_between_them,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(what_bounds_no_flesh_or_is_nowhere_tells_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_point_in_the_wrong_cell_is_a_tear_of_all_its_edges, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/tears", tests, NULL, NULL);
}
