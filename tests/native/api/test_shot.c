// SPDX-License-Identifier: GPL-3.0-or-later
//
// A whole shot through the public functions: the same bits on any number of workers, and odd characters.

#include "support/support.h"

#include "core/parallel.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 14
#define MOST_TRIES 50

// prepares and simulates; the offsets of the last frame, to be freed
static float* runShotFor(const srTestScene* scene, srTestMotion motion, const float* skinToObject,
                         srCharacterId* outCharacter) {
    srShotDef def = srDefaultShotDef();
    srShotId shot;
    float matrix[16];
    if (skinToObject != NULL) {
        memcpy(matrix, skinToObject, sizeof(matrix));
        def.skinToObject = matrix;
    }
    assert_success(srCreateCharacter(&scene->def, &def.character));
    assert_success(srCharacter_Wait(def.character, -1.0));
    def.frameCount = FRAMES;
    assert_success(srCreateShot(&def, &shot));
    memset(matrix, 0, sizeof(matrix)); // it was copied
    int64_t floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(scene);
    float* rows = malloc(sizeof(float) * (size_t)floatCount);
    float* offsets = malloc(12 * (size_t)scene->def.skinVertexCount);
    assert_true(rows != NULL && offsets != NULL);
    srTestScene_WriteRows(scene, motion, 0, FRAMES, rows);
    if (scene->def.boneCount == 0) {
        // the object itself jumps: rows are one matrix each
        for (int32_t row = 0; row < FRAMES; ++row) {
            rows[16 * row + 12] = row < 8 ? 0.1f * (float)row : 0.8f;
        }
    }
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, NULL));
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    assert_success(srShot_ReadOffsets(shot, FRAMES, offsets, scene->def.skinVertexCount));
    free(rows);
    assert_success(srDestroyShot(shot));
    *outCharacter = def.character;
    return offsets;
}

static float* runShot(const srTestScene* scene, srTestMotion motion, srCharacterId* outCharacter) {
    return runShotFor(scene, motion, NULL, outCharacter);
}

static float largest(const float* offsets, int32_t vertexCount) {
    float squared = 0.0f;
    for (int32_t v = 0; v < vertexCount; ++v) {
        const float* u = offsets + 3 * v;
        squared = fmaxf(squared, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    return sqrtf(squared);
}

static float* runWithWorkers(const srTestScene* scene, int32_t workerCount, int32_t* outBusyCount) {
    srCharacterId character;
    uint64_t blockCounts[64];
    assert_success(srSetWorkerCount(workerCount));
    float* offsets = runShot(scene, srTestShake, &character);
    *outBusyCount = 0;
    for (int32_t w = srParallel_GetBlockCounts(blockCounts, 64) - 1; w >= 0; --w) {
        *outBusyCount += blockCounts[w] > 0;
    }
    assert_success(srDestroyCharacter(character));
    assert_int_equal(srGetByteCount(), 0);
    return offsets;
}

static void offsets_are_the_same_bits_on_any_number_of_workers(void** state) {
    (void)state;
    int32_t before = srGetWorkerCount();
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    scene.def.targetNodeCount = 400;
    int32_t busyCount;
    float* alone = runWithWorkers(&scene, 1, &busyCount);
    assert_true(largest(alone, scene.def.skinVertexCount) > 0.01f);
    const int32_t workerCounts[] = {2, 4};
    for (int w = 0; w < 2; ++w) {
        // a busy machine may leave all the work to one; then it shows nothing
        busyCount = 0;
        for (int try = 0; try < MOST_TRIES && busyCount < 2; ++try) {
            float* shared = runWithWorkers(&scene, workerCounts[w], &busyCount);
            assert_memory_equal(alone, shared, 12 * (size_t)scene.def.skinVertexCount);
            free(shared);
        }
        assert_true(busyCount >= 2);
    }
    free(alone);
    srTestDestroyScene(&scene);
    assert_success(srSetWorkerCount(before));
}

static void a_character_without_bones_swings_after_its_object(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    srTestScene bare = scene;
    bare.def.boneCount = 0;
    bare.def.spaceCount = 0;
    bare.def.weightStarts = NULL;
    srCharacterId character;
    float* offsets = runShot(&bare, srTestRest, &character);
    print_message("largest offset %.5f\n", (double)largest(offsets, bare.def.skinVertexCount));
    assert_true(largest(offsets, bare.def.skinVertexCount) > 0.01f);
    assert_success(srDestroyCharacter(character));
    free(offsets);
    srTestDestroyScene(&scene);
}

static void a_vertex_that_is_no_place_gets_no_offset(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    const int32_t bad[] = {5, 300};
    ((float*)scene.def.skinPositions)[3 * bad[0] + 1] = NAN;
    ((float*)scene.def.skinPositions)[3 * bad[1]] = INFINITY;
    srCharacterId character;
    float* offsets = runShot(&scene, srTestShake, &character);
    for (int b = 0; b < 2; ++b) {
        assert_true(largest(offsets + 3 * bad[b], 1) == 0.0f);
    }
    assert_true(largest(offsets, scene.def.skinVertexCount) > 0.01f);
    srCharacterReport report;
    assert_success(srCharacter_GetReport(character, &report));
    assert_int_equal(report.nonFiniteVertexCount, 2);
    assert_success(srDestroyCharacter(character));
    free(offsets);
    srTestDestroyScene(&scene);
}

static void the_cage_can_be_read_and_given_again(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    srCharacterId character;
    srCharacterReport report;
    float* offsets = runShot(&scene, srTestShake, &character);
    assert_success(srCharacter_GetReport(character, &report));
    float* nodes = malloc(12 * (size_t)report.nodeCount);
    int32_t* cells = malloc(16 * (size_t)report.cellCount);
    assert_true(nodes != NULL && cells != NULL);
    assert_success(srCharacter_ReadCage(character, nodes, report.nodeCount, cells, report.cellCount));
    assert_success(srDestroyCharacter(character));
    srTestScene again = scene;
    again.def.cageNodes = nodes;
    again.def.cageNodeCount = report.nodeCount;
    again.def.cageCells = cells;
    again.def.cageCellCount = report.cellCount;
    float* same = runShot(&again, srTestShake, &character);
    assert_success(srDestroyCharacter(character));
    float most = largest(offsets, scene.def.skinVertexCount);
    for (int32_t i = 0; i < 3 * scene.def.skinVertexCount; ++i) {
        // nodes went through floats, and may be numbered anew, which changes the order of solving
        assert_near((double)same[i], (double)offsets[i], 0.1 * (double)most);
    }
    free(offsets);
    free(same);
    free(nodes);
    free(cells);
    srTestDestroyScene(&scene);
}

static void offsets_are_brought_to_the_object(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    scene.def.targetNodeCount = 400;
    const float same[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float other[16] = {2, 0, 0.5f, 0, 0, -3, 0, 0, 0.5f, 0, 0.25f, 0, 7, 8, 9, 1};
    const float* matrices[3] = {NULL, same, other};
    float* offsets[3];
    for (int i = 0; i < 3; ++i) {
        srCharacterId character;
        offsets[i] = runShotFor(&scene, srTestShake, matrices[i], &character);
        assert_success(srDestroyCharacter(character));
    }
    float most = largest(offsets[0], scene.def.skinVertexCount);
    assert_true(most > 0.01f);
    assert_memory_equal(offsets[0], offsets[1], 12 * (size_t)scene.def.skinVertexCount);
    for (int32_t v = 0; v < scene.def.skinVertexCount; ++v) {
        const float* u = offsets[0] + 3 * v;
        for (int i = 0; i < 3; ++i) {
            float brought = other[i] * u[0] + other[4 + i] * u[1] + other[8 + i] * u[2];
            assert_near((double)offsets[2][3 * v + i], (double)brought, 1e-5 * (double)most);
        }
    }
    for (int i = 0; i < 3; ++i) {
        free(offsets[i]);
    }
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_the_same_bits_on_any_number_of_workers),
        cmocka_unit_test(a_character_without_bones_swings_after_its_object),
        cmocka_unit_test(a_vertex_that_is_no_place_gets_no_offset),
        cmocka_unit_test(the_cage_can_be_read_and_given_again),
        cmocka_unit_test(offsets_are_brought_to_the_object),
    };
    return cmocka_run_group_tests_name("api/shot", tests, NULL, srTestNothingLeaked);
}
