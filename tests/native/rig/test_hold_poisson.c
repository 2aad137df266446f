// SPDX-License-Identifier: GPL-3.0-or-later
//
// The published hold map: zero on the boundary, a solution inside, largest in the middle.

#include "support/support.h"

#include "rig/hold_poisson.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Box {
    srCage cage;
    bool* isOnBoundary;
    double* holds;
} Box;

static void makeBox(const int32_t counts[3], Box* box) {
    assert_success(srTestCreateBarCage(counts, 0.125, &box->cage));
    box->isOnBoundary = calloc((size_t)box->cage.nodeCount, sizeof(bool));
    box->holds = calloc((size_t)box->cage.nodeCount, sizeof(double));
    for (int32_t i = 0; i < box->cage.nodeCount; ++i) {
        srVec3 x = srScale(8.0, box->cage.nodes[i]);
        box->isOnBoundary[i] = x.x < 0.5 || x.y < 0.5 || x.z < 0.5 || x.x > counts[0] - 0.5 ||
                               x.y > counts[1] - 0.5 || x.z > counts[2] - 0.5;
    }
}

static void freeBox(Box* box) {
    srDestroyCage(&box->cage);
    free(box->isOnBoundary);
    free(box->holds);
}

static srResult compute(void* context) {
    Box* box = context;
    return srComputePoissonHold(box->cage.nodes, box->cage.nodeCount, (const int32_t (*)[4])box->cage.cells,
                                box->cage.cellCount, box->isOnBoundary, box->holds);
}

// Between two wide plates z is close to the parabola of an infinite slab; nodes have equal volumes, so m z
// is.
static void between_plates_it_is_a_parabola(void** state) {
    (void)state;
    const int32_t counts[3] = {24, 8, 24};
    Box box;
    makeBox(counts, &box);
    assert_success(compute(&box));
    for (int32_t i = 0; i < box.cage.nodeCount; ++i) {
        srVec3 x = box.cage.nodes[i];
        if (box.isOnBoundary[i]) {
            assert_true(box.holds[i] == 0.0);
        } else if (fabs(x.x - 1.5) < 0.2 && fabs(x.z - 1.5) < 0.2) {
            // ends three half widths away are felt by exp(-3 pi) of the height
            assert_near(box.holds[i], 4.0 * x.y * (1.0 - x.y), 0.03);
        }
    }
    freeBox(&box);
}

static void a_cage_without_a_node_inside_holds_nothing(void** state) {
    (void)state;
    const int32_t counts[3] = {1, 3, 1};
    Box box;
    makeBox(counts, &box);
    assert_success(compute(&box));
    for (int32_t i = 0; i < box.cage.nodeCount; ++i) {
        assert_true(box.holds[i] == 0.0);
    }
    box.cage.cells[1][2] = box.cage.cells[1][1];
    assert_result(compute(&box), sr_errorBadMesh);
    freeBox(&box);
}

static void every_allocation_may_fail(void** state) {
    (void)state;
    const int32_t counts[3] = {3, 3, 3};
    Box box, own;
    makeBox(counts, &box);
    own = box; // bytes of the library go first
    own.cage.nodes = malloc(sizeof(srVec3) * (size_t)box.cage.nodeCount);
    own.cage.cells = malloc(sizeof(*own.cage.cells) * (size_t)box.cage.cellCount);
    memcpy(own.cage.nodes, box.cage.nodes, sizeof(srVec3) * (size_t)box.cage.nodeCount);
    memcpy(own.cage.cells, box.cage.cells, sizeof(*own.cage.cells) * (size_t)box.cage.cellCount);
    srDestroyCage(&box.cage);
    srTestEveryAllocationFails(compute, &own);
    free(own.cage.nodes);
    free(own.cage.cells);
    freeBox(&box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_plates_it_is_a_parabola),
        cmocka_unit_test(a_cage_without_a_node_inside_holds_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("rig/hold_poisson", tests, NULL, srTestNothingLeaked);
}
