// SPDX-License-Identifier: GPL-3.0-or-later
//
// Patches: they divide the cells, no two of a half share a node, and a hard one ends at its volume without
// moving its centre of mass.

#include "flesh_body.h"

#include "solver/patches.h"

static const int32_t BAR[3] = {3, 7, 2};

static void each_cell_is_in_one_patch_of_at_most_eight_neighbours(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.1, 1.0f, 0);
    const srFleshPatches* patches = body.rest.patches;
    int32_t* counts = calloc(8 * (size_t)body.rest.batches.batchCount, sizeof(int32_t));
    assert_non_null(counts);
    int32_t smallCount = 0;
    for (int32_t p = 0; p < patches->patchCount; ++p) {
        const srPatch* patch = &patches->patches[p];
        int32_t size = 0;
        for (int lane = 0; lane < 8; ++lane) {
            if (patch->batches[lane] == SR_NULL_INDEX) {
                assert_true(patch->V[lane] == 0.0f);
                continue;
            }
            ++size;
            ++counts[8 * patch->batches[lane] + patch->lanes[lane]];
            for (int c = 0; c < 4; ++c) {
                assert_int_equal(4 * patch->nodes[patch->locals[c][lane]], patch->cells.places[c][lane]);
                assert_int_equal(patch->cells.places[c][lane],
                                 body.rest.blocks[patch->batches[lane]].places[c][patch->lanes[lane]]);
            }
        }
        smallCount += size < 8;
        for (int32_t i = 0; i < patch->nodeCount; ++i) {
            for (int32_t j = 0; j < i; ++j) {
                assert_true(patch->nodes[i] != patch->nodes[j]);
                // neighbours: within four cubes' diagonal
                assert_true(srDistance(body.cage.nodes[patch->nodes[i]], body.cage.nodes[patch->nodes[j]]) <
                            0.7);
            }
        }
    }
    int32_t cellCount = 0;
    for (int32_t k = 0; k < 8 * body.rest.batches.batchCount; ++k) {
        assert_int_equal(counts[k], body.rest.volumes[k / 8].V[k % 8] > 0.0f);
        cellCount += counts[k];
    }
    assert_int_equal(cellCount, body.cage.cellCount);
    assert_true(smallCount <= 1); // what does not divide by eight
    free(counts);
    fleshDestroy(&body);
}

static void every_other_run_shares_no_node(void** state) {
    (void)state;
    static const int32_t LARGE[3] = {6, 30, 6};
    FleshBody body;
    fleshCreate(&body, LARGE, 0.1, 1.0f, 0);
    const srFleshPatches* patches = body.rest.patches;
    int32_t* owners = calloc((size_t)body.cage.nodeCount, sizeof(int32_t));
    assert_non_null(owners);
    assert_true(patches->chunks.chunkCount >= 4);
    for (int half = 0; half < 2; ++half) {
        memset(owners, -1, (size_t)body.cage.nodeCount * sizeof(int32_t));
        for (int32_t k = half; k < patches->chunks.chunkCount; k += 2) {
            for (int32_t p = patches->chunks.starts[k]; p < patches->chunks.starts[k + 1]; ++p) {
                for (int32_t i = 0; i < patches->patches[p].nodeCount; ++i) {
                    int32_t* owner = &owners[patches->patches[p].nodes[i]];
                    assert_true(*owner == -1 || *owner == k);
                    *owner = k;
                }
            }
        }
    }
    free(owners);
    fleshDestroy(&body);
}

static double findVolume(const FleshBody* body, const srPatch* patch, const float* rows) {
    double volume = 0.0;
    for (int lane = 0; lane < 8; ++lane) {
        if (patch->batches[lane] != SR_NULL_INDEX) {
            srVec3 x[4];
            for (int c = 0; c < 4; ++c) {
                const float* u = rows + patch->cells.places[c][lane];
                srVec3 moved = {(double)u[0], (double)u[1], (double)u[2]};
                x[c] = srAdd(body->cage.nodes[patch->cells.places[c][lane] / 4], moved);
            }
            volume += srDot(srSub(x[1], x[0]), srCross(srSub(x[2], x[0]), srSub(x[3], x[0]))) / 6.0;
        }
    }
    return volume;
}

static void a_hard_patch_ends_at_its_volume_and_keeps_its_momentum(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.1, 0.0f, 0);
    size_t bytes = 16 * (size_t)body.rest.rowCount;
    float* rows = aligned_alloc(64, (bytes + 63) / 64 * 64);
    float* poseRows = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_true(rows != NULL && poseRows != NULL);
    const float hard = 0.0f;
    uint64_t seed = 3;
    for (int32_t p = 0; p < body.rest.patches->patchCount; p += 3) {
        const srPatch* patch = &body.rest.patches->patches[p];
        memset(rows, 0, bytes);
        memset(poseRows, 0, bytes);
        srVec3 momentum = {0.0, 0.0, 0.0};
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3f X = srToFloat(body.cage.nodes[i]);
            memcpy(poseRows + 4 * i, &X, sizeof(X));
            for (int c = 0; c < 3; ++c) {
                rows[4 * i + c] = 0.05f * (float)(srTestRandom(&seed) - 0.5);
            }
            rows[4 * i + 3] = (float)(0.5 + srTestRandom(&seed));
            srVec3 u = {(double)rows[4 * i], (double)rows[4 * i + 1], (double)rows[4 * i + 2]};
            momentum = srMulAdd(momentum, 1.0 / (double)rows[4 * i + 3], u);
        }
        double rest = 0.0;
        for (int lane = 0; lane < 8; ++lane) {
            rest += (double)patch->V[lane];
        }
        double before = fabs(findVolume(&body, patch, rows) / rest - 1.0);
        srPatchPose pose;
        srPatchSweep sweep = {.patches = patch,
                              .compliances = &hard,
                              .poses = &pose,
                              .poseRows = poseRows,
                              .rows = rows,
                              .side = 1.0f};
        srGetSolverKernels()->posePatches(&sweep, 0, 1);
        for (int k = 0; k < 30; ++k) {
            srGetSolverKernels()->solvePatches(&sweep, 0, 1);
        }
        double after = fabs(findVolume(&body, patch, rows) / rest - 1.0);
        // 0.4^30 of it, and rounding of sums of eight cells
        assert_true(before > 1e-3 && after < 3e-6);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 u = {(double)rows[4 * i], (double)rows[4 * i + 1], (double)rows[4 * i + 2]};
            momentum = srMulAdd(momentum, -1.0 / (double)rows[4 * i + 3], u);
        }
        assert_near(srLength(momentum), 0.0, 1e-6);
    }
    free(rows);
    free(poseRows);
    fleshDestroy(&body);
}

// Of 200 moduli at each ratio, lambda / mu of what the dials hold is rounded this way or that
static void up_to_a_ratio_of_0_45_no_patch_is_asked_for_however_it_is_rounded(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.1, 1.0f, 0);
    float* map = calloc((size_t)body.cage.cellCount, sizeof(float));
    assert_non_null(map);
    const double ratios[] = {0.1, 0.3, 0.4, 0.44, 0.45, 0.5 * 0.9, 0.15 + 0.3};
    for (int trial = 0; trial < 200 * SR_ARRAY_COUNT(ratios); ++trial) {
        double ratio = ratios[trial % SR_ARRAY_COUNT(ratios)];
        srFleshDials dials = fleshDials(1e3 * (1.0 + 0.37 * trial), ratio);
        dials.scale = 1.0 + 0.01 * (trial % 13);
        for (int32_t cell = 0; cell < body.cage.cellCount; ++cell) {
            map[cell] = (float)ratio;
        }
        dials.poissonMap = trial % 2 == 0 ? NULL : map;
        assert_success(srFleshTuning_Set(&body.tuning, &body.rest, &dials));
        assert_false(body.tuning.hasPatches);
    }
    const srFleshDials above = fleshDials(1e5, 0.46);
    assert_success(srFleshTuning_Set(&body.tuning, &body.rest, &above));
    assert_true(body.tuning.hasPatches);
    free(map);
    fleshDestroy(&body);
}

static srResult makePatches(void* context) {
    const FleshBody* body = context;
    srFleshShape shape = {
        .nodes = body->cage.nodes,
        .nodeCount = body->cage.nodeCount,
        .cells = (const int32_t (*)[4])body->cage.cells,
        .cellCount = body->cage.cellCount,
        .holds = body->holds,
        .boneDistances = body->distances,
    };
    srFleshPatches* patches = NULL;
    srResult result = srCreateFleshPatches(&shape, &body->rest, &patches);
    srDestroyFleshPatches(patches);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, 0.1, 1.0f, 0);
    srTestEveryAllocationFails(makePatches, &body);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_is_in_one_patch_of_at_most_eight_neighbours),
        cmocka_unit_test(every_other_run_shares_no_node),
        cmocka_unit_test(a_hard_patch_ends_at_its_volume_and_keeps_its_momentum),
        cmocka_unit_test(up_to_a_ratio_of_0_45_no_patch_is_asked_for_however_it_is_rounded),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/patches", tests, NULL, srTestNothingLeaked);
}
