// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is constant about flesh, and materials: everything adds up, bad meshes are refused or left out,
// painted maps do what a mesh of two materials does, memory may end anywhere.

#include "flesh_body.h"

#include "solver/fem.h"
#include "solver/patches.h"

static const int32_t BAR[3] = {2, 6, 2};

static void lanes_hold_each_cell_once_and_volumes_add_up(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.25, 1.0f, 0);
    int32_t cellCount = 0;
    double inCells = 0.0;
    double inNodes = 0.0;
    double inPatches = 0.0;
    for (int32_t k = 0; k < 8 * body.rest.batches.batchCount; ++k) {
        double V = (double)body.rest.volumes[k / 8].V[k % 8];
        cellCount += V > 0.0;
        inCells += V;
        // a lane without a cell names a row beyond the nodes
        assert_true(V > 0.0 || body.rest.blocks[k / 8].places[0][k % 8] >= 4 * body.cage.nodeCount);
    }
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        inNodes += (double)body.rest.nodeVolumes[i];
    }
    for (int32_t p = 0; p < body.rest.patches->patchCount; ++p) {
        for (int lane = 0; lane < 8; ++lane) {
            inPatches += (double)body.rest.patches->patches[p].V[lane];
        }
    }
    double whole = 24.0 * 0.25 * 0.25 * 0.25;
    assert_int_equal(cellCount, body.cage.cellCount);
    // sums of some hundred floats
    assert_near(inCells, whole, 1e-5 * whole);
    assert_near(inNodes, whole, 1e-5 * whole);
    assert_near(inPatches, whole, 1e-5 * whole);
    fleshDestroy(&body);
}

// nodes that no cell uses, flat cells, cells that name a node twice, cells turned round: none of them moves
static void what_is_no_cell_does_nothing(void** state) {
    (void)state;
    static const srVec3 NODES[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {2, 2, 2}, {1, 1, 0}, {5, 5, 5}};
    static const int32_t CELLS[4][4] = {{0, 1, 2, 3}, {0, 1, 2, 5}, {0, 1, 1, 3}, {1, 0, 2, 4}};
    static const float ZEROS[7] = {0.0f};
    srFleshShape shape = {.nodes = NODES,
                          .nodeCount = 7,
                          .cells = CELLS,
                          .cellCount = 4,
                          .holds = ZEROS,
                          .boneDistances = ZEROS,
                          .handleCount = 4};
    srFleshRest rest;
    srFleshTuning tuning;
    assert_success(srCreateFleshRest(&shape, &rest));
    assert_success(srCreateFleshTuning(&rest, &tuning));
    for (int trial = 0; trial < 4; ++trial) {
        srFleshDials dials = fleshDials(trial == 1 ? 0.0 : 1e4, trial == 2 ? 0.5 : 0.3);
        dials.density = trial == 3 ? 0.0 : 1000.0;
        dials.frequency = 1.0;
        assert_success(srFleshTuning_Set(&tuning, &rest, &dials));
        srVec3f p[7];
        srVec3f u[7];
        srVec3f w[7];
        srVec3f jump[7];
        for (int i = 0; i < 7; ++i) {
            p[i] = srToFloat(NODES[i]);
            u[i] = (srVec3f){0.1f * (float)i, 0.05f, -0.02f * (float)i};
            w[i] = (srVec3f){0.0f, 0.0f, 0.0f};
            jump[i] = (srVec3f){trial == 0 ? 1.0f : 0.0f, 0.0f, 0.0f};
        }
        srFleshState flesh = {.offsets = u, .velocities = w};
        assert_success(srCreateFleshScratch(&rest, &dials, &flesh.scratch));
        srPrimaryMotion motion = {p, p, jump, NULL};
        for (int frame = 0; frame < 10; ++frame) {
            srFlesh_StepFrame(&rest, &tuning, &motion, NULL, &flesh);
        }
        for (int i = 0; i < 7; ++i) {
            float sum = u[i].x + u[i].y + u[i].z;
            assert_true(sum - sum == 0.0f);
            bool hasMass = i < 4 && trial != 3;
            assert_true(hasMass || (u[i].x == 0.0f && u[i].y == 0.0f && u[i].z == 0.0f));
        }
        srDestroyFleshScratch(flesh.scratch);
    }
    srDestroyFleshTuning(&rest, &tuning);
    srDestroyFleshRest(&rest);
}

static void broken_meshes_are_refused_in_words(void** state) {
    (void)state;
    srVec3 nodes[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int32_t cells[1][4] = {{0, 1, 2, 4}};
    const float zeros[4] = {0.0f};
    srFleshShape shape = {.nodes = nodes,
                          .nodeCount = 4,
                          .cells = (const int32_t (*)[4])cells,
                          .cellCount = 1,
                          .holds = zeros,
                          .boneDistances = zeros};
    srFleshRest rest;
    assert_int_equal(srCreateFleshRest(&shape, &rest), sr_errorBadMesh);
    cells[0][3] = -1;
    assert_int_equal(srCreateFleshRest(&shape, &rest), sr_errorBadMesh);
    cells[0][3] = 3;
    nodes[2].x = (double)INFINITY;
    assert_int_equal(srCreateFleshRest(&shape, &rest), sr_errorBadMesh);
    shape.cellCount = 0;
    nodes[2].x = 0.0;
    assert_success(srCreateFleshRest(&shape, &rest));
    srDestroyFleshRest(&rest);
}

static void painted_maps_are_two_materials_in_one_body(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.25, 1.0f, 0);
    size_t cellCount = (size_t)body.cage.cellCount;
    float* maps = calloc(3 * cellCount, sizeof(float));
    double* moduli = calloc(2 * cellCount, sizeof(double));
    bool* isHeld = calloc((size_t)(uint32_t)body.cage.nodeCount, sizeof(bool));
    double* x = calloc(3 * (size_t)(uint32_t)body.cage.nodeCount, sizeof(double));
    for (size_t cell = 0; cell < cellCount; ++cell) {
        bool isUpper =
            body.cage.nodes[body.cage.cells[cell][0]].y + body.cage.nodes[body.cage.cells[cell][1]].y +
                body.cage.nodes[body.cage.cells[cell][2]].y + body.cage.nodes[body.cage.cells[cell][3]].y >
            3.0;
        double nu = isUpper ? 0.1 : 0.4;
        maps[cell] = isUpper ? 0.2f : 1.0f;
        maps[cellCount + cell] = (float)nu;
        maps[2 * cellCount + cell] = 1.0f;
        double young = 1e5 * (double)maps[cell];
        moduli[cell] = young / (2.0 * (1.0 + nu));
        moduli[cellCount + cell] = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    }
    srFleshDials dials = fleshDials(1e5, 0.3);
    dials.stiffnessMap = maps;
    dials.poissonMap = maps + cellCount;
    dials.densityMap = maps + 2 * cellCount;
    dials.sweeps = 60;
    dials.dampingRate = 6.0;
    dials.viscosity = 1.0;
    dials.largestOffset = 0.1;
    fleshTune(&body, &dials);
    Fem fem;
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        isHeld[i] = body.holds[i] > 0.5f;
    }
    femCreate(&body.cage, isHeld, moduli, moduli + cellCount, 1000.0, &fem);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        body.loads[i].x = 0.004f;
        x[3 * i] = 0.004 * fem.masses[i];
    }
    femSolve(&fem, x);
    for (int frame = 0; frame < 300; ++frame) {
        fleshStep(&body);
    }
    size_t tip = (size_t)fleshTip(&body);
    assert_near((double)body.state.offsets[tip].x / x[3 * tip], 1.0, 2e-3);
    femDestroy(&fem);
    free(maps);
    free(moduli);
    free(isHeld);
    free(x);
    fleshDestroy(&body);
}

static void hold_is_hard_at_one_and_softer_below(void** state) {
    (void)state;
    double tips[3];
    const float holds[3] = {0.0f, 0.5f, 0.9f};
    for (int k = 0; k < 3; ++k) {
        FleshBody body;
        fleshCreate(&body, BAR, 0.25, 1.0f, 0);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            body.rest.holds[i] = body.cage.nodes[i].y > 0.1 ? holds[k] : 1.0f;
            body.rest.boneDistances[i] = 0.25f;
            body.loads[i].x = 1.0f;
        }
        srFleshDials dials = fleshDials(2e4, 0.3);
        dials.dampingRate = 8.0;
        fleshTune(&body, &dials);
        for (int frame = 0; frame < 200; ++frame) {
            fleshStep(&body);
        }
        tips[k] = fleshLargest(&body);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            assert_true(body.rest.holds[i] < 1.0f || srLengthF(body.state.offsets[i]) == 0.0f);
        }
        fleshDestroy(&body);
    }
    assert_true(tips[0] > 2.0 * tips[1] && tips[1] > 2.0 * tips[2] && tips[2] > 0.0);
}

static srResult makeFlesh(void* context) {
    const FleshBody* body = context;
    srFleshShape shape = {
        .nodes = body->cage.nodes,
        .nodeCount = body->cage.nodeCount,
        .cells = (const int32_t (*)[4])body->cage.cells,
        .cellCount = body->cage.cellCount,
        .holds = body->holds,
        .boneDistances = body->distances,
        .handleCount = 4,
    };
    srFleshDials dials = fleshDials(1e5, 0.5);
    dials.poseCorrection = 0.5;
    dials.sweeps = 2;
    srFleshRest rest = {0};
    srFleshTuning tuning = {0};
    srFleshScratch* scratch = NULL;
    srResult result = srCreateFleshRest(&shape, &rest);
    if (result == sr_success) {
        result = srCreateFleshTuning(&rest, &tuning);
    }
    if (result == sr_success) {
        result = srFleshTuning_Set(&tuning, &rest, &dials);
    }
    if (result == sr_success) {
        result = srCreateFleshScratch(&rest, &dials, &scratch);
    }
    srDestroyFleshScratch(scratch);
    srDestroyFleshTuning(&rest, &tuning);
    srDestroyFleshRest(&rest);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.25, 1.0f, 0);
    srTestEveryAllocationFails(makeFlesh, &body);
    fleshDestroy(&body);
}

// so that even chunks may move all nodes at once
static void all_nodes_of_an_even_chunk_lie_before_the_next_one_s(void** state) {
    (void)state;
    static const int32_t LARGE[3] = {5, 24, 5};
    FleshBody body;
    fleshCreate(&body, LARGE, 0.1, 1.0f, 0);
    const srFleshRest* rest = &body.rest;
    int32_t evenCount = (rest->batches.chunkCount + 1) / 2;
    assert_true(evenCount > 3);
    assert_int_equal(rest->evenStarts[0], 0);
    assert_int_equal(rest->evenStarts[evenCount], rest->nodeCount);
    for (int32_t k = 0; k < evenCount; ++k) {
        assert_true(rest->evenStarts[k] < rest->evenStarts[k + 1]);
        for (int32_t b = rest->batches.starts[2 * k]; b < rest->batches.starts[2 * k + 1]; ++b) {
            for (int place = 0; place < 32; ++place) {
                int32_t node = rest->blocks[b].places[place / 8][place % 8] / SR_ROW_FLOATS;
                bool isSpare = node >= rest->nodeCount;
                assert_true(isSpare || (node >= rest->evenStarts[k] && node < rest->evenStarts[k + 1]));
            }
        }
    }
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_hold_each_cell_once_and_volumes_add_up),
        cmocka_unit_test(what_is_no_cell_does_nothing),
        cmocka_unit_test(broken_meshes_are_refused_in_words),
        cmocka_unit_test(painted_maps_are_two_materials_in_one_body),
        cmocka_unit_test(hold_is_hard_at_one_and_softer_below),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
        cmocka_unit_test(all_nodes_of_an_even_chunk_lie_before_the_next_one_s),
    };
    return cmocka_run_group_tests_name("solver/flesh_rest", tests, NULL, srTestNothingLeaked);
}
