// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/halving.h"

#include "mesh/boundary.h"
#include "mesh/quality.h"
#include "mesh/solids.h"

// Degrees: as sharp as halves may be.
#define LEAST_ANGLE 24.0

typedef struct Input {
    const double* phi; // of the lattice's points
    srLattice lattice;
    int32_t wanted;

    // what came of it
    srCage before;
    srCage after;
    bool areInOrder; // tetrahedra of cells
} Input;

static srResult halveIn(srArena* arena, Input* input) {
    srField unused = {0};
    srProgress nobody = {0};
    srScaffold scaffold;
    srWarp warp;
    srRawCells cells, halved;
    SR_TRY(srCreateScaffold(&input->lattice, input->phi, 1e-300, arena, &nobody, &scaffold));
    SR_TRY(srCreateWarp(&scaffold, &unused, scaffold.phi, arena, &nobody, &warp));
    SR_TRY(srStuff(&warp, arena, &nobody, &cells));
    SR_TRY(srHalveEdges(&cells, input->wanted, arena, &nobody, &halved));
    input->areInOrder = true;
    for (int32_t cell = 1; cell < halved.cellCount; cell++) {
        input->areInOrder = input->areInOrder && halved.tets[cell - 1] <= halved.tets[cell];
    }
    SR_TRY(srCreateCage(cells.nodes, cells.nodeCount, (const int32_t (*)[4])cells.cells, cells.cellCount,
                        &input->before));
    srResult result = srCreateCage(halved.nodes, halved.nodeCount, (const int32_t (*)[4])halved.cells,
                                   halved.cellCount, &input->after);
    if (result == sr_success) {
        // every node and every cell is of use
        assert_int_equal(input->after.nodeCount, halved.nodeCount);
        assert_int_equal(input->after.cellCount, halved.cellCount);
    } else {
        srDestroyCage(&input->before);
    }
    return result;
}

static srResult halve(void* context) {
    srArena* arena = srCreateArena(1 << 16);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srResult result = halveIn(arena, context);
    srDestroyArena(arena);
    return result;
}

static void freeCages(Input* input) {
    srDestroyCage(&input->before);
    srDestroyCage(&input->after);
}

static srResult halveAndForget(void* context) {
    SR_TRY(halve(context));
    freeCages(context);
    return sr_success;
}

static double depthInBar(srVec3 p) {
    return fmax(fabs(p.x) - 3.6, fmax(fabs(p.y) - 1.2, fabs(p.z) - 0.9));
}

static double depthInBall(srVec3 p) {
    return srLength(p) - 2.7;
}

static double depthInLump(srVec3 p) {
    return srLength((srVec3){p.x, 1.3 * p.y - 0.2 * p.x, p.z + 0.3 * sin(2.0 * p.x)}) - 2.3;
}

static Input makeInput(double (*depth)(srVec3), double phi[]) {
    Input input = {.phi = phi};
    srVec3 corner = {4.0, 3.0, 3.0};
    assert_true(srMakeLattice(srScale(-1.0, corner), corner, 0.3, 1.0, 1 << 12, &input.lattice));
    for (int32_t p = 0; p < input.lattice.pointCount; p++) {
        phi[p] = depth(srLattice_Point(&input.lattice, p));
    }
    return input;
}

static double areaOf(const srCage* cage) {
    srBoundary boundary;
    assert_success(srCreateBoundary(cage, &boundary));
    double area = 0.0;
    for (int32_t f = 0; f < boundary.faceCount; f++) {
        const int32_t* n = boundary.faces[f];
        srVec3 a = cage->nodes[n[0]];
        area += 0.5 * srLength(srCross(srSub(cage->nodes[n[1]], a), srSub(cage->nodes[n[2]], a)));
    }
    srDestroyBoundary(&boundary);
    return area;
}

// nodes - edges + faces - cells: 1 of what is a ball
static int32_t characteristicOf(const srCage* cage) {
    srBoundary boundary;
    assert_success(srCreateBoundary(cage, &boundary));
    int32_t faceCount = (4 * cage->cellCount + boundary.faceCount) / 2;
    srDestroyBoundary(&boundary);
    return cage->nodeCount - cage->edgeCount + faceCount - cage->cellCount;
}

static double (*const depths[])(srVec3) = {depthInBar, depthInBall, depthInLump};
static double phi[1 << 12];

// A node amid an edge that one cell alone knew would leave faces with none on their other side: more area.
static void shape_and_volume_stay_and_faces_match(void** state) {
    (void)state;
    for (int i = 0; i < SR_ARRAY_COUNT(depths); i++) {
        Input input = makeInput(depths[i], phi);
        assert_success(halve(&input));
        int32_t plain = input.before.nodeCount;
        freeCages(&input);
        for (input.wanted = plain; input.wanted < 4 * plain; input.wanted += 1 + plain / 7) {
            double least[2], most[2], volumes[2];
            assert_success(halve(&input));
            srMeasureCells(&input.before, &least[0], &most[0], &volumes[0]);
            srMeasureCells(&input.after, &least[1], &most[1], &volumes[1]);
            assert_near(volumes[1] / volumes[0], 1.0, 1e-12);
            assert_near(areaOf(&input.after) / areaOf(&input.before), 1.0, 1e-12);
            assert_int_equal(characteristicOf(&input.after), 1);
            assert_true(least[1] >= fmin(least[0], LEAST_ANGLE) - 1e-9);
            assert_true(input.areInOrder);
            freeCages(&input);
        }
    }
}

static void the_wanted_count_is_met(void** state) {
    (void)state;
    for (int i = 0; i < SR_ARRAY_COUNT(depths); i++) {
        Input input = makeInput(depths[i], phi);
        assert_success(halve(&input));
        int32_t plain = input.before.nodeCount;
        assert_int_equal(input.after.nodeCount, plain); // asked for less it is as it was
        freeCages(&input);
        for (input.wanted = plain; input.wanted < 2 * plain; input.wanted += 1 + plain / 9) {
            assert_success(halve(&input));
            assert_near(input.after.nodeCount / (double)input.wanted, 1.0, 0.05);
            freeCages(&input);
        }
    }
}

static bool hasNodeAt(const srRawCells* cells, srVec3 x) {
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        if (srDistance(cells->nodes[node], x) < 1e-9) {
            return true;
        }
    }
    return false;
}

// Tetrahedra of the lattice as they are, uncut: mirrored by all middle planes, edge by edge.
static int32_t takeWhole(const srScaffold* scaffold, srRawCells* cells) {
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* n = scaffold->tets[t];
        const double* phis = scaffold->phi;
        if (phis[n[0]] < 0.0 && phis[n[1]] < 0.0 && phis[n[2]] < 0.0 && phis[n[3]] < 0.0) {
            memcpy(cells->cells[cells->cellCount], n, sizeof(cells->cells[0]));
            cells->tets[cells->cellCount++] = t;
        }
    }
    return cells->cellCount;
}

static void what_is_mirrored_stays_so(void** state) {
    (void)state;
    srProgress nobody = {0};
    Input input = makeInput(depthInBall, phi);
    srArena* arena = srCreateArena(1 << 16);
    srScaffold scaffold;
    assert_success(srCreateScaffold(&input.lattice, phi, 1e-300, arena, &nobody, &scaffold));
    srRawCells cells = {.nodes = scaffold.points,
                        .nodeCount = scaffold.pointCount,
                        .cells =
                            srArena_Push(arena, (size_t)scaffold.tetCount, sizeof(cells.cells[0]), "cells"),
                        .tets = SR_PUSH(arena, int32_t, scaffold.tetCount, "tets")};
    assert_true(takeWhole(&scaffold, &cells) > 0);
    for (int32_t more = 30; more < 400; more += 40) {
        srRawCells halved;
        assert_success(srHalveEdges(&cells, cells.nodeCount + more, arena, &nobody, &halved));
        assert_true(halved.nodeCount > cells.nodeCount);
        for (int32_t node = cells.nodeCount; node < halved.nodeCount; node++) {
            srVec3 x = halved.nodes[node];
            assert_true(hasNodeAt(&halved, (srVec3){-x.x, x.y, x.z}));
            assert_true(hasNodeAt(&halved, (srVec3){x.x, -x.y, x.z}));
            assert_true(hasNodeAt(&halved, (srVec3){x.x, x.y, -x.z}));
        }
    }
    srDestroyArena(arena);
}

static void memory_may_run_out(void** state) {
    (void)state;
    Input input = makeInput(depthInBar, phi);
    input.wanted = 500;
    srTestEveryAllocationFails(halveAndForget, &input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shape_and_volume_stay_and_faces_match, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_wanted_count_is_met, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_mirrored_stays_so, srTestNothingLeaked),
        cmocka_unit_test_teardown(memory_may_run_out, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/halving", tests, NULL, NULL);
}
