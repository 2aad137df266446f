// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map of a character without bones: what lies deep is held, what is thin is not, and how fine the
// cage is does not matter.

#include "support/support.h"

#include "mesh/boundary.h"
#include "rig/hold_core.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>

typedef struct Box {
    srCage cage;
    bool* isOnBoundary;
    double* masses;
    double* holds;
} Box;

static void makeBox(const int32_t counts[3], double spacing, Box* box) {
    srBoundary boundary;
    assert_success(srTestCreateBarCage(counts, spacing, &box->cage));
    assert_success(srCreateBoundary(&box->cage, &boundary));
    box->isOnBoundary = calloc((size_t)box->cage.nodeCount, sizeof(bool));
    box->masses = calloc((size_t)box->cage.nodeCount, sizeof(double));
    box->holds = calloc((size_t)box->cage.nodeCount, sizeof(double));
    for (int32_t f = 0; f < boundary.faceCount; ++f) {
        for (int c = 0; c < 3; ++c) {
            box->isOnBoundary[boundary.faces[f][c]] = true;
        }
    }
    srCage_LumpVolumes(&box->cage, box->masses);
    srDestroyBoundary(&boundary);
}

static void freeBox(Box* box) {
    srDestroyCage(&box->cage);
    free(box->isOnBoundary);
    free(box->masses);
    free(box->holds);
}

static srResult compute(void* context) {
    Box* box = context;
    return srComputeCoreHold(box->cage.nodes, box->masses, box->cage.nodeCount,
                             (const int32_t (*)[4])box->cage.cells, box->cage.cellCount, box->isOnBoundary,
                             box->holds);
}

// shares of mass that are held at all, and of holds
static void measure(const Box* box, double* outHeld, double* outMean) {
    double held = 0.0, sum = 0.0, total = 0.0;
    for (int32_t i = 0; i < box->cage.nodeCount; ++i) {
        assert_true(box->holds[i] >= 0.0 && box->holds[i] <= 1.0);
        held += box->holds[i] > 0.0 ? box->masses[i] : 0.0;
        sum += box->holds[i] * box->masses[i];
        total += box->masses[i];
    }
    *outHeld = held / total;
    *outMean = sum / total;
}

static void as_much_is_held_in_any_cage(void** state) {
    (void)state;
    for (int32_t size = 6; size <= 18; size += 6) {
        const int32_t counts[3] = {size, size, 2 * size};
        Box box;
        double held, mean;
        makeBox(counts, 1.0 / size, &box);
        assert_success(compute(&box));
        measure(&box, &held, &mean);
        print_message("%d nodes: %.3f held at all, %.3f on the mean\n", box.cage.nodeCount, held, mean);
        // ranks of 0 to 0.4 have something; of a smoothstep half of its width counts
        assert_near(held, 0.4, 0.1);
        assert_near(mean, 0.25, 0.05);
        for (int32_t i = 0; i < box.cage.nodeCount; ++i) {
            assert_true(!box.isOnBoundary[i] || box.holds[i] == 0.0);
            srVec3 from = srSub(box.cage.nodes[i], (srVec3){0.5, 0.5, 1.0});
            assert_true(srLength(from) > 0.1 || box.holds[i] == 1.0);
        }
        freeBox(&box);
    }
}

static void a_cage_without_a_node_inside_is_held_in_its_middle(void** state) {
    (void)state;
    const int32_t counts[3] = {1, 12, 1};
    Box box;
    double held, mean;
    makeBox(counts, 0.25, &box);
    assert_success(compute(&box));
    measure(&box, &held, &mean);
    assert_near(held, 0.4, 0.12);
    for (int32_t i = 0; i < box.cage.nodeCount; ++i) {
        double off = fabs(box.cage.nodes[i].y - 1.5);
        assert_true(off < 1.0 || box.holds[i] == 0.0);
        assert_true(off > 0.05 || box.holds[i] == 1.0);
    }
    freeBox(&box);
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    const int32_t counts[3] = {3, 3, 3};
    Box box;
    makeBox(counts, 0.25, &box);
    srTestEveryAllocationFails(compute, &box);
    freeBox(&box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_much_is_held_in_any_cage),
        cmocka_unit_test(a_cage_without_a_node_inside_is_held_in_its_middle),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("rig/hold_core", tests, NULL, srTestNothingLeaked);
}
