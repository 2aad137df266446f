// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/mending.h"

#include "mesh/embedding.h"
#include "mesh/solids.h"

typedef struct Input {
    srSurface surface;
    srMesherSettings settings;
    srMeshing meshing;
    double spacing;
    srTrial trial;
} Input;

static void makeInput(srSurface surface, double spacing, int32_t target, Input* input) {
    *input = (Input){.surface = surface, .settings = {.targetNodeCount = target}, .spacing = spacing};
    input->meshing.surface = &input->surface;
    input->meshing.settings = &input->settings;
    input->meshing.progress.to = 1.0f;
}

static srResult runTrial(Input* input) {
    const srProgress progress = {.to = 1.0f};
    if (input->meshing.pieceSizes == NULL) {
        SR_TRY(srCreateMeshing(&input->meshing));
    }
    srDestroyTrial(&input->trial);
    input->trial = srStartTrial(input->spacing, SR_NOT_SHIFTED);
    SR_TRY(srTrial_Run(&input->meshing, &progress, &input->trial));
    return srTrial_Split(&input->meshing, &progress, &input->trial);
}

static srResult mendTrial(Input* input) {
    const srProgress progress = {.to = 1.0f};
    return srMendTears(&input->meshing, HUGE_VAL, &progress, &input->trial);
}

static void freeInput(Input* input) {
    srDestroyTrial(&input->trial);
    srDestroyMeshing(&input->meshing);
    srDestroySurface(&input->surface);
}

// Steps along edges of the cage from a cell to another one; `most` where there are no fewer.
static int countSteps(const srCage* cage, int32_t from, int32_t to, int most, uint8_t* marks) {
    memset(marks, 0, (size_t)cage->nodeCount);
    for (int c = 0; c < 4; c++) {
        marks[cage->cells[from][c]] = 1;
    }
    for (int step = 0; step < most; step++) {
        for (int c = 0; c < 4; c++) {
            if (marks[cage->cells[to][c]] != 0) {
                return step;
            }
        }
        for (int32_t e = 0; e < cage->edgeCount; e++) {
            int32_t a = cage->edges[e][0], b = cage->edges[e][1];
            marks[a] |= marks[b] == 1 ? 2 : 0;
            marks[b] |= marks[a] == 1 ? 2 : 0;
        }
        for (int32_t node = 0; node < cage->nodeCount; node++) {
            marks[node] = marks[node] != 0;
        }
    }
    return most;
}

// Edges of the skin whose ends are more steps apart in the cage than anywhere within one piece of flesh. Not
// by the code that looks for tears.
static int32_t countJumps(const Input* input) {
    srMesh mesh = {0};
    srEmbedding embedding;
    const srProgress progress = {.to = 1.0f};
    const srSurface* surface = &input->surface;
    int32_t count = 0;
    assert_success(srTrial_MakeMesh(&input->meshing, &input->trial, &progress, &mesh));
    assert_success(
        srCreateEmbedding(&mesh.cage, surface->points, mesh.pointCells, surface->pointCount, &embedding));
    uint8_t* marks = malloc((size_t)mesh.cage.nodeCount);
    for (int32_t side = 0; side < 3 * surface->triangleCount; side++) {
        int32_t a = surface->triangles[side / 3][side % 3], b = surface->triangles[side / 3][(side + 1) % 3];
        double length = srDistance(surface->points[a], surface->points[b]) / input->spacing;
        int most = 3 + (int)(2.0 * length);
        count += embedding.cells[a] != embedding.cells[b] &&
                 countSteps(&mesh.cage, embedding.cells[a], embedding.cells[b], most, marks) == most;
    }
    free(marks);
    srDestroyEmbedding(&embedding);
    srDestroyMesh(&mesh);
    return count;
}

static void makeCup(double spacing, Input* input) {
    Soup soup = {0};
    addCup(&soup, 1.2, 0.1, 0.02);
    makeInput(makeSurface(&soup), spacing, 1000, input);
    assert_success(runTrial(input));
    input->settings.targetNodeCount = input->trial.cells.nodeCount;
    freeSoup(&soup);
}

static void thin_bent_flesh_is_no_longer_torn(void** state) {
    (void)state;
    const double spacings[] = {0.18394, 0.132882, 0.118064};
    for (int i = 0; i < SR_ARRAY_COUNT(spacings); i++) {
        Input input;
        makeCup(spacings[i], &input);
        int32_t before = countJumps(&input), pieces = input.trial.pieceCount;
        double volume = srTrial_Volume(&input.trial);
        assert_true(before >= 10);
        assert_success(mendTrial(&input));
        assert_int_equal(countJumps(&input), 0);
        assert_true(input.trial.pieceCount <= pieces);
        assert_true(srTrial_Volume(&input.trial) <= 1.1 * volume);
        assert_near(input.trial.cells.nodeCount / (double)input.settings.targetNodeCount, 1.0, 0.14);
        freeInput(&input);
    }
}

static void what_is_not_torn_stays_as_it_is(void** state) {
    (void)state;
    Input input;
    makeInput(makeSphere(3, 1.0), 0.3, 400, &input);
    assert_success(runTrial(&input));
    int32_t nodeCount = input.trial.cells.nodeCount;
    const srVec3* nodes = input.trial.cells.nodes;
    assert_success(mendTrial(&input));
    assert_ptr_equal(input.trial.cells.nodes, nodes);
    assert_int_equal(input.trial.cells.nodeCount, nodeCount);
    freeInput(&input);
}

// A cage of another count is none that was asked for.
static void a_mended_cage_keeps_to_the_count(void** state) {
    (void)state;
    Input input;
    makeCup(0.18394, &input);
    int32_t nodeCount = input.trial.cells.nodeCount;
    input.settings.targetNodeCount = (int32_t)(1.2 * nodeCount); // the mended one has fewer
    assert_success(mendTrial(&input));
    assert_int_equal(input.trial.cells.nodeCount, nodeCount);
    freeInput(&input);
}

static srResult runAndMend(void* context) {
    Input* input = context;
    srResult result = runTrial(input);
    result = result == sr_success ? mendTrial(input) : result;
    srDestroyTrial(&input->trial);
    srDestroyMeshing(&input->meshing);
    makeInput(input->surface, input->spacing, input->settings.targetNodeCount, input);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Input input;
    makeCup(0.207026, &input);
    assert_success(runAndMend(&input));
    srTestEveryAllocationFails(runAndMend, &input);
    freeInput(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(thin_bent_flesh_is_no_longer_torn, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_not_torn_stays_as_it_is, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_mended_cage_keeps_to_the_count, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/mending", tests, NULL, NULL);
}
