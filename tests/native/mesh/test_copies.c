// SPDX-License-Identifier: GPL-3.0-or-later
//
// Copies, homes and splinters, seen through the mesher: hands at rest.

#include "mesh/copies.h"

#include "core/parallel.h"
#include "mesh/touching.h"
#include "mesh/mesher.h"

typedef struct Input {
    srSurface surface;
    int32_t target;
    srMesh mesh;
    srMesherReport report;
} Input;

static srResult meshHand(void* context) {
    Input* input = context;
    const srMesherSettings settings = {.targetNodeCount = input->target};
    return srMeshSurface(&input->surface, &settings, &input->mesh, &input->report);
}

static srResult meshAndDestroy(void* context) {
    SR_TRY(meshHand(context));
    srDestroyMesh(&((Input*)context)->mesh);
    return sr_success;
}

static Input makeHand(int fingerCount, double gap, int32_t target) {
    Soup soup = {0};
    addHand(&soup, fingerCount, gap);
    Input input = {.surface = makeSurface(&soup), .target = target};
    freeSoup(&soup);
    return input;
}

static void any_number_of_workers_gives_the_same_copies(void** state) {
    (void)state;
    const int32_t workerCounts[3] = {1, 2, 4};
    int32_t before = srParallel_GetWorkerCount();
    Input inputs[3];
    for (int run = 0; run < 3; run++) {
        inputs[run] = makeHand(3, 0.02, 600);
        srParallel_SetWorkerCount(workerCounts[run]);
        assert_success(meshHand(&inputs[run]));
        const srMesh *first = &inputs[0].mesh, *mesh = &inputs[run].mesh;
        assert_true(inputs[run].report.copyCount > 0);
        assert_int_equal(mesh->cage.nodeCount, first->cage.nodeCount);
        assert_int_equal(mesh->cage.cellCount, first->cage.cellCount);
        assert_memory_equal(mesh->cage.nodes, first->cage.nodes,
                            sizeof(srVec3) * (size_t)first->cage.nodeCount);
        assert_memory_equal(mesh->pointCells, first->pointCells, sizeof(int32_t) * (size_t)first->pointCount);
    }
    srParallel_SetWorkerCount(before);
    for (int run = 0; run < 3; run++) {
        srDestroyMesh(&inputs[run].mesh);
        srDestroySurface(&inputs[run].surface);
    }
}

static void cells_of_points_are_near_them(void** state) {
    (void)state;
    Input input = makeHand(4, 0.0, 1000);
    assert_success(meshHand(&input));
    int32_t known = 0;
    for (int32_t p = 0; p < input.mesh.pointCount; p++) {
        int32_t cell = input.mesh.pointCells[p];
        if (cell == SR_NULL_INDEX) {
            continue;
        }
        known++;
        double nearest = HUGE_VAL;
        for (int c = 0; c < 4; c++) {
            srVec3 node = input.mesh.cage.nodes[input.mesh.cage.cells[cell][c]];
            nearest = fmin(nearest, srDistance(node, input.surface.points[p]));
        }
        assert_true(nearest < 1.5 * input.report.spacing);
    }
    assert_true(known > 0);
    srDestroyMesh(&input.mesh);
    srDestroySurface(&input.surface);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    // so many nodes are met at once, so that one attempt is short
    Input input = makeHand(2, 0.0, 200);
    srTestEveryAllocationFails(meshAndDestroy, &input);
    srDestroySurface(&input.surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_copies, srTestNothingLeaked),
        cmocka_unit_test_teardown(cells_of_points_are_near_them, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/copies", tests, NULL, NULL);
}
