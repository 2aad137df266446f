// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/search.h"

#include "mesh/solids.h"

typedef struct Input {
    srSurface surface;
    srMesherSettings settings;
    srMeshing meshing;
    srSearch search;
} Input;

static void freeInput(Input* input) {
    srDestroySearch(&input->search);
    srDestroyMeshing(&input->meshing);
    srDestroySurface(&input->surface);
}

static void makeBall(int32_t wanted, Input* input) {
    *input = (Input){.surface = makeSphere(3, 1.0), .settings = {.targetNodeCount = wanted}};
    input->meshing.surface = &input->surface;
    input->meshing.settings = &input->settings;
    input->meshing.progress.to = 1.0f;
    input->search = (srSearch){.shiftedAxis = SR_NOT_SHIFTED, .largest = HUGE_VAL};
    assert_success(srCreateMeshing(&input->meshing));
}

static void round_shapes_have_the_wanted_count_soon(void** state) {
    (void)state;
    for (int32_t wanted = 100; wanted < 3000; wanted *= 2) {
        Input input;
        makeBall(wanted, &input);
        assert_success(srSearch_Run(&input.meshing, &input.search));
        assert_true(srSearch_Error(&input.meshing, &input.search) <= 0.15);
        assert_true(input.search.best.isWhole && input.search.trialCount <= 9);
        assert_true(input.search.work > 0.0);
        freeInput(&input);
    }
}

static void nothing_as_large_as_the_largest_is_the_best(void** state) {
    (void)state;
    Input input;
    makeBall(300, &input);
    assert_success(srSearch_Run(&input.meshing, &input.search));
    double volume = srTrial_Volume(&input.search.best);
    srDestroySearch(&input.search);
    input.search = (srSearch){.shiftedAxis = SR_NOT_SHIFTED, .largest = 0.5 * volume};
    assert_success(srSearch_Run(&input.meshing, &input.search));
    assert_int_equal(input.search.best.cells.cellCount, 0);
    assert_true(srSearch_Error(&input.meshing, &input.search) == HUGE_VAL);
    freeInput(&input);
}

static void a_walk_makes_no_trial_beyond_its_work(void** state) {
    (void)state;
    const double works[] = {0.0, 1.0, 1e4, 1e5};
    for (int i = 0; i < SR_ARRAY_COUNT(works); i++) {
        const srProgress progress = {.to = 1.0f};
        Input input;
        makeBall(300, &input);
        assert_success(srSearch_Run(&input.meshing, &input.search));

        // a cage smaller than nothing is never found: so it walks to the end
        const srWalk walk = {0.0, HUGE_VAL, HUGE_VAL, works[i]};
        int32_t trials = input.search.trialCount, nodes = input.search.best.cells.nodeCount;
        double work = input.search.work;
        assert_success(srSearch_Walk(&input.meshing, &walk, &progress, &input.search));
        trials = input.search.trialCount - trials;
        work = input.search.work - work;
        assert_true(i == 0 ? trials == 0 : trials >= 1);
        // the last one may go beyond it, and none is dearer than the first, the finest
        assert_true(work - works[i] <= 0.0 || work - works[i] <= 2.0 * work / trials);
        assert_int_equal(input.search.best.cells.nodeCount, nodes);
        freeInput(&input);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(round_shapes_have_the_wanted_count_soon, srTestNothingLeaked),
        cmocka_unit_test_teardown(nothing_as_large_as_the_largest_is_the_best, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_walk_makes_no_trial_beyond_its_work, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/search", tests, NULL, NULL);
}
