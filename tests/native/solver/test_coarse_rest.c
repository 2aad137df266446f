// SPDX-License-Identifier: GPL-3.0-or-later
//
// Smooth handles: their weights share each node out, reach no farther than they say, and go along the flesh.

#include "flesh_body.h"

#include "solver/coarse.h"

static const int32_t BAR[3] = {3, 12, 3};

static void weights_of_a_node_sum_to_one_and_handles_ascend(void** state) {
    (void)state;
    const int32_t handleCounts[] = {1, 2, 6, 16, 1000};
    for (int k = 0; k < 5; ++k) {
        FleshBody body;
        fleshCreate(&body, BAR, 0.1, 1.0f, handleCounts[k]);
        const srCoarseRest* coarse = body.rest.coarse;
        assert_true(coarse->handleCount >= 1 && coarse->handleCount <= handleCounts[k]);
        assert_true(coarse->handleCount <= body.cage.nodeCount);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            double sum = 0.0;
            for (int32_t e = coarse->starts[i]; e < coarse->starts[i + 1]; ++e) {
                const srHandleEntry* entry = &coarse->entries[e];
                assert_true(entry->weight > 0.0f && entry->handle >= 0);
                assert_true(entry->handle < coarse->handleCount);
                assert_true(e == coarse->starts[i] || entry->handle > entry[-1].handle);
                sum += (double)entry->weight;
            }
            assert_near(sum, 1.0, 1e-5); // floats, some tens of them
        }
        fleshDestroy(&body);
    }
}

// two bars whose sides face one another at a tenth of a cube: near in space, not along the flesh
static void handles_do_not_reach_across_a_gap(void** state) {
    (void)state;
    srCage bar;
    assert_success(srTestCreateBarCage((const int32_t[3]){1, 6, 1}, 0.1, &bar));
    size_t n = (size_t)(uint32_t)bar.nodeCount;
    size_t m = (size_t)(uint32_t)bar.cellCount;
    srVec3* nodes = calloc(2 * n, sizeof(srVec3));
    int32_t (*cells)[4] = calloc(2 * m, sizeof(*cells));
    float* zeros = calloc(2 * n, sizeof(float));
    assert_true(nodes != NULL && cells != NULL && zeros != NULL);
    for (size_t i = 0; i < 2 * n; ++i) {
        nodes[i] = srAdd(bar.nodes[i % n], (srVec3){i < n ? 0.0 : 0.11, 0.0, 0.0});
    }
    for (size_t k = 0; k < 8 * m; ++k) {
        cells[k / 4][k % 4] = bar.cells[k / 4 % m][k % 4] + (k / 4 < m ? 0 : (int32_t)n);
    }
    srFleshShape shape = {.nodes = nodes,
                          .nodeCount = (int32_t)(2 * n),
                          .cells = (const int32_t (*)[4])cells,
                          .cellCount = (int32_t)(2 * m),
                          .holds = zeros,
                          .boneDistances = zeros,
                          .handleCount = 6};
    srCoarseRest* coarse = NULL;
    assert_success(srCreateCoarseRest(&shape, &coarse));
    bool* isOfFirst = calloc((size_t)(uint32_t)coarse->handleCount, sizeof(bool));
    bool* isOfSecond = calloc((size_t)(uint32_t)coarse->handleCount, sizeof(bool));
    assert_true(isOfFirst != NULL && isOfSecond != NULL);
    for (size_t i = 0; i < 2 * n; ++i) {
        assert_true(coarse->starts[i + 1] > coarse->starts[i]);
        for (int32_t e = coarse->starts[i]; e < coarse->starts[i + 1]; ++e) {
            (i < n ? isOfFirst : isOfSecond)[coarse->entries[e].handle] = true;
        }
    }
    for (int32_t j = 0; j < coarse->handleCount; ++j) {
        assert_true(isOfFirst[j] != isOfSecond[j]);
    }
    free(isOfFirst);
    free(isOfSecond);
    free(nodes);
    free(cells);
    free(zeros);
    srDestroyCoarseRest(coarse);
    srDestroyCage(&bar);
}

static srResult makeCoarseRest(void* context) {
    const FleshBody* body = context;
    srFleshShape shape = {
        .nodes = body->cage.nodes,
        .nodeCount = body->cage.nodeCount,
        .cells = (const int32_t (*)[4])body->cage.cells,
        .cellCount = body->cage.cellCount,
        .holds = body->holds,
        .boneDistances = body->distances,
        .handleCount = 5,
    };
    srCoarseRest* coarse = NULL;
    srResult result = srCreateCoarseRest(&shape, &coarse);
    srDestroyCoarseRest(coarse);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.1, 1.0f, 0);
    srTestEveryAllocationFails(makeCoarseRest, &body);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_a_node_sum_to_one_and_handles_ascend),
        cmocka_unit_test(handles_do_not_reach_across_a_gap),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/coarse_rest", tests, NULL, srTestNothingLeaked);
}
