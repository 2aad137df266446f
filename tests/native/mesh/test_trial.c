// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/trial.h"

#include "core/parallel.h"
#include "mesh/solids.h"

typedef struct Input {
    srSurface surface;
    srMesherSettings settings;
    srMeshing meshing;
    srTrial trial;
} Input;

// A ball with a bulge, so that no two of its sides are alike, and its image in the plane across an axis.
static void makeInput(int mirrorAxis, Input* input) {
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    for (int32_t p = 0; p < soup.pointCount; p++) {
        float* x = soup.points + 3 * p;
        x[0] *= 1.0f + 0.4f * x[2];
        x[1] *= 0.8f - 0.3f * x[0];
        if (mirrorAxis >= 0) {
            x[mirrorAxis] = -x[mirrorAxis];
        }
    }
    *input = (Input){.surface = makeSurface(&soup), .settings = {.targetNodeCount = 200}};
    input->meshing.surface = &input->surface;
    input->meshing.settings = &input->settings;
    input->meshing.progress.to = 1.0f;
    freeSoup(&soup);
}

static srResult runInput(double spacing, int shiftedAxis, Input* input) {
    const srProgress progress = {.to = 1.0f};
    if (input->meshing.pieceSizes == NULL) {
        SR_TRY(srCreateMeshing(&input->meshing));
    }
    srDestroyTrial(&input->trial);
    input->trial = srStartTrial(spacing, shiftedAxis);
    SR_TRY(srTrial_Run(&input->meshing, &progress, &input->trial));
    return srTrial_Split(&input->meshing, &progress, &input->trial);
}

static void freeInput(Input* input) {
    srDestroyTrial(&input->trial);
    srDestroyMeshing(&input->meshing);
    srDestroySurface(&input->surface);
}

static void shifted_trials_of_mirrored_shapes_are_mirrored(void** state) {
    (void)state;
    for (int shifted = SR_NOT_SHIFTED; shifted < 3; shifted++) {
        Input plain;
        makeInput(-1, &plain);
        assert_success(runInput(0.3, shifted, &plain));
        for (int axis = 0; axis < 3; axis++) {
            Input mirror;
            int32_t offCount = 0;
            makeInput(axis, &mirror);
            assert_success(runInput(0.3, shifted, &mirror));
            const srRawCells *a = &plain.trial.cells, *b = &mirror.trial.cells;
            assert_int_equal(a->nodeCount, b->nodeCount);
            for (int32_t n = 0; n < a->nodeCount; n++) {
                srVec3 x = a->nodes[n];
                double nearest = HUGE_VAL;
                x = (srVec3){axis == 0 ? -x.x : x.x, axis == 1 ? -x.y : x.y, axis == 2 ? -x.z : x.z};
                for (int32_t m = 0; m < b->nodeCount; m++) {
                    nearest = fmin(nearest, srDistance(x, b->nodes[m]));
                }
                // rounding of the box's middle; and where flesh is thin, points go onto the skin in turn
                offCount += nearest > 1e-6;
            }
            assert_true(offCount <= a->nodeCount / 50);
            freeInput(&mirror);
        }
        freeInput(&plain);
    }
}

// Each of the four lattices is another one: what else would they be tried for?
static void shifted_lattices_give_other_cells_of_about_the_same_volume(void** state) {
    (void)state;
    double firsts[4];
    for (int shifted = SR_NOT_SHIFTED; shifted < 3; shifted++) {
        Input input;
        makeInput(-1, &input);
        assert_success(runInput(0.3, shifted, &input));
        double inside = srTrial_LeastVolume(&input.meshing, &input.trial);
        assert_true(srTrial_Volume(&input.trial) >= inside);
        assert_true(srTrial_Volume(&input.trial) <= 1.2 * inside);
        firsts[shifted + 1] = input.trial.cells.nodes[0].x + 10.0 * input.trial.cells.nodes[0].y;
        for (int before = 0; before <= shifted; before++) {
            assert_true(firsts[before] != firsts[shifted + 1]);
        }
        freeInput(&input);
    }
}

static void any_number_of_workers_gives_the_same_bits_and_the_same_work(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount();
    Input inputs[2];
    for (int run = 0; run < 2; run++) {
        makeInput(-1, &inputs[run]);
        srParallel_SetWorkerCount(run == 0 ? 1 : 4);
        assert_success(runInput(0.25, 1, &inputs[run]));
    }
    srParallel_SetWorkerCount(before);
    const srRawCells *a = &inputs[0].trial.cells, *b = &inputs[1].trial.cells;
    assert_int_equal(a->nodeCount, b->nodeCount);
    assert_memory_equal(a->nodes, b->nodes, (size_t)a->nodeCount * sizeof(srVec3));
    assert_true(srTrial_Work(&inputs[0].trial) == srTrial_Work(&inputs[1].trial));
    freeInput(&inputs[0]);
    freeInput(&inputs[1]);
}

static void finer_trials_are_more_work(void** state) {
    (void)state;
    Input input;
    double before = 0.0;
    makeInput(-1, &input);
    for (double spacing = 0.4; spacing > 0.1; spacing *= 0.5) {
        assert_success(runInput(spacing, SR_NOT_SHIFTED, &input));
        assert_true(srTrial_Work(&input.trial) > 2.0 * before);
        before = srTrial_Work(&input.trial);
    }
    freeInput(&input);
}

static srResult runAndDestroy(void* context) {
    Input* input = context;
    srResult result = runInput(0.4, 2, input);
    srDestroyTrial(&input->trial);
    const srMeshing kept = input->meshing;
    srDestroyMeshing(&input->meshing);
    input->meshing =
        (srMeshing){.surface = kept.surface, .settings = kept.settings, .progress = kept.progress};
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Input input;
    makeInput(-1, &input);
    srTestEveryAllocationFails(runAndDestroy, &input);
    freeInput(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shifted_trials_of_mirrored_shapes_are_mirrored, srTestNothingLeaked),
        cmocka_unit_test_teardown(shifted_lattices_give_other_cells_of_about_the_same_volume,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits_and_the_same_work,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(finer_trials_are_more_work, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/trial", tests, NULL, NULL);
}
