// SPDX-License-Identifier: GPL-3.0-or-later
//
// A character by its id: painted maps that change under running shots, and the way through a file.

#include "support/support.h"

#include "core/thread.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 30

static srTestScene scene;
static float* rows;
static float* values;

static int begin(void** state) {
    (void)state;
    if (!srTestCreateTailScene(&scene)) {
        return -1;
    }
    scene.def.targetNodeCount = 200;
    rows = malloc(sizeof(float) * FRAMES * (size_t)srTestScene_GetRowFloatCount(&scene));
    values = malloc(sizeof(float) * (size_t)scene.def.skinVertexCount);
    if (rows == NULL || values == NULL) {
        return -1;
    }
    srTestScene_WriteRows(&scene, srTestShake, 0, FRAMES, rows);
    return 0;
}

static int end(void** state) {
    free(rows);
    free(values);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

static srCharacterId create(const srCharacterMaps* maps) {
    srCharacterDef def = scene.def;
    srCharacterId character;
    def.maps = maps != NULL ? *maps : srDefaultCharacterMaps();
    assert_success(srCreateCharacter(&def, &character));
    assert_success(srCharacter_Wait(character, -1.0));
    return character;
}

static srShotId startShot(srCharacterId character) {
    srShotDef def = srDefaultShotDef();
    srShotId shot;
    def.character = character;
    def.frameCount = FRAMES;
    def.params.substeps = 4;
    assert_success(srCreateShot(&def, &shot));
    int64_t floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(&scene);
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, NULL));
    return shot;
}

static uint64_t lastHash(srShotId shot) {
    uint64_t hash;
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    assert_success(srShot_GetStateHash(shot, FRAMES, &hash));
    return hash;
}

static uint64_t simulate(srCharacterId character) {
    srShotId shot = startShot(character);
    uint64_t hash = lastHash(shot);
    assert_success(srDestroyShot(shot));
    return hash;
}

// painted on the tail, where things move
static void paintTail(float value, float elsewhere) {
    for (int32_t v = 0; v < scene.def.skinVertexCount; ++v) {
        values[v] = scene.def.skinPositions[3 * v] > 0.6f ? value : elsewhere;
    }
}

static void maps_set_later_are_the_maps_prepared_with(void** state) {
    (void)state;
    srCharacterMaps maps = srDefaultCharacterMaps();
    const float** const fields[] = {&maps.stiffness, &maps.mass, &maps.damping, &maps.hold, &maps.pin};
    srCharacterId plain = create(NULL);
    uint64_t before = simulate(plain);
    for (int i = 0; i < SR_ARRAY_COUNT(fields); ++i) {
        paintTail(i < 3 ? 5.0f : 0.8f, i < 3 ? 1.0f : 0.0f);
        *fields[i] = values;
        srCharacterId painted = create(&maps);
        uint64_t expected = simulate(painted);
        assert_true(expected != before);
        assert_success(srCharacter_SetMaps(plain, &maps, scene.def.skinVertexCount));
        assert_true(simulate(plain) == expected);
        assert_success(srDestroyCharacter(painted));
        *fields[i] = NULL;
    }
    assert_success(srCharacter_SetMaps(plain, &maps, scene.def.skinVertexCount));
    assert_true(simulate(plain) == before);
    assert_success(srDestroyCharacter(plain));
}

static void shots_begin_anew_with_new_maps_and_only_then(void** state) {
    (void)state;
    srCharacterMaps maps = srDefaultCharacterMaps();
    srCharacterId character = create(NULL);
    srShotId shots[2] = {startShot(character), startShot(character)};
    uint64_t before = lastHash(shots[0]);
    assert_true(lastHash(shots[1]) == before);

    // unpainted all the same: nothing is simulated again
    paintTail(1.0f, 1.0f);
    maps.mass = values;
    assert_success(srCharacter_SetMaps(character, &maps, scene.def.skinVertexCount));
    srShotStatus status;
    assert_success(srShot_GetStatus(shots[0], &status));
    assert_int_equal(status.readyFrameCount, FRAMES);

    paintTail(6.0f, 1.0f);
    assert_success(srCharacter_SetMaps(character, &maps, scene.def.skinVertexCount));
    uint64_t after = lastHash(shots[0]);
    assert_true(after != before && lastHash(shots[1]) == after);
    assert_success(srDestroyCharacter(character));
    assert_success(srDestroyShot(shots[0]));
    assert_success(srDestroyShot(shots[1]));
}

// Though what makes the skin smooth leans on flesh that moves next to it.
static void a_pinned_skin_does_not_leave_the_pose(void** state) {
    (void)state;
    srCharacterMaps maps = srDefaultCharacterMaps();
    paintTail(1.0f, 0.0f);
    maps.pin = values;
    srCharacterId character = create(&maps);
    float* offsets = malloc(12 * (size_t)scene.def.skinVertexCount);
    assert_non_null(offsets);
    for (int32_t solver = sr_solverXpbd; solver <= sr_solverComplementary; ++solver) {
        srShotId shot = startShot(character);
        srShotParams params = srDefaultShotParams();
        params.solver = solver;
        assert_success(srShot_SetParams(shot, &params));
        lastHash(shot);
        float most = 0.0f;
        // between frames too
        for (double frame = 1.0; frame <= FRAMES; frame += 0.5) {
            assert_success(srShot_ReadOffsets(shot, frame, offsets, scene.def.skinVertexCount));
            for (int32_t k = 0; k < 3 * scene.def.skinVertexCount; ++k) {
                assert_true(values[k / 3] < 1.0f || offsets[k] == 0.0f);
                most = fmaxf(most, fabsf(offsets[k]));
            }
        }
        print_message("solver %d: largest offset %.5f, of pinned vertices none\n", solver, (double)most);
        assert_true(most > 1e-3f);
        assert_success(srDestroyShot(shot));
    }
    free(offsets);
    assert_success(srDestroyCharacter(character));
}

static void held_flesh_moves_less(void** state) {
    (void)state;

    srCharacterMaps maps = srDefaultCharacterMaps();
    paintTail(0.97f, 0.0f);
    maps.hold = values;
    srCharacterId character = create(NULL);
    srCharacterId held = create(&maps);
    float most[2] = {0.0f, 0.0f};
    float* offsets = malloc(12 * (size_t)scene.def.skinVertexCount);
    assert_non_null(offsets);
    for (int i = 0; i < 2; ++i) {
        srShotId shot = startShot(i == 0 ? character : held);
        lastHash(shot);
        for (int frame = 1; frame <= FRAMES; ++frame) {
            assert_success(srShot_ReadOffsets(shot, frame, offsets, scene.def.skinVertexCount));
            for (int32_t v = 0; v < 3 * scene.def.skinVertexCount; ++v) {
                bool isTip = scene.def.skinPositions[v / 3 * 3] > 1.2f;
                most[i] = isTip ? fmaxf(most[i], fabsf(offsets[v])) : most[i];
            }
        }
        assert_success(srDestroyShot(shot));
    }
    assert_true(most[0] > 0.01f);
    assert_true(most[1] < 0.7f * most[0]);
    free(offsets);
    assert_success(srDestroyCharacter(character));
    assert_success(srDestroyCharacter(held));
}

static uint8_t* writeFile(srCharacterId character, size_t* outSize) {
    assert_success(srCharacter_GetFileSize(character, outSize));
    uint8_t* bytes = malloc(*outSize);
    assert_non_null(bytes);
    assert_success(srCharacter_WriteFile(character, bytes, *outSize));
    return bytes;
}

static void an_opened_character_is_the_written_one_to_the_bit(void** state) {
    (void)state;
    srCharacterMaps maps = srDefaultCharacterMaps();
    paintTail(4.0f, 1.0f);
    maps.stiffness = values;
    srCharacterId character = create(&maps);
    uint64_t expected = simulate(character);
    srCharacterReport report;
    assert_success(srCharacter_GetReport(character, &report));
    size_t size;
    uint8_t* bytes = writeFile(character, &size);
    assert_success(srDestroyCharacter(character));

    srCharacterId opened;
    assert_success(srOpenCharacter(bytes, size, &opened));
    memset(bytes, 0, size);
    free(bytes);
    srJobStatus status;
    srCharacterReport same;
    assert_success(srCharacter_GetStatus(opened, &status));
    assert_int_equal(status.phase, sr_phaseDone);
    assert_success(srCharacter_GetReport(opened, &same));
    assert_true(report.totalSeconds > 0.0f && same.totalSeconds == 0.0f);
    assert_int_equal(same.heldNodeCount, report.heldNodeCount);
    assert_int_equal(same.vertexCount, scene.def.skinVertexCount);
    assert_int_equal(same.boneCount, scene.def.boneCount);
    assert_true(simulate(opened) == expected);

    // it can be painted like any other
    maps.stiffness = NULL;
    assert_success(srCharacter_SetMaps(opened, &maps, scene.def.skinVertexCount));
    srCharacterId plain = create(NULL);
    assert_true(simulate(opened) == simulate(plain));
    assert_success(srDestroyCharacter(plain));
    assert_success(srDestroyCharacter(opened));
}

static void any_number_of_workers_prepares_the_same_bytes(void** state) {
    (void)state;
    int32_t before = srGetWorkerCount();
    srCharacterMaps maps = srDefaultCharacterMaps();
    paintTail(0.2f, 1.0f);
    maps.stiffness = values;
    uint8_t* expected = NULL;
    size_t expectedSize = 0;
    const int32_t workerCounts[] = {1, 2, 4};
    for (int w = 0; w < SR_ARRAY_COUNT(workerCounts); ++w) {
        assert_success(srSetWorkerCount(workerCounts[w]));
        srCharacterId character = create(&maps);
        size_t size;
        uint8_t* bytes = writeFile(character, &size);
        assert_success(srDestroyCharacter(character));
        if (expected == NULL) {
            expected = bytes;
            expectedSize = size;
            continue;
        }
        assert_int_equal(size, expectedSize);
        assert_memory_equal(bytes, expected, size);
        free(bytes);
    }
    free(expected);
    assert_success(srSetWorkerCount(before));
}

static void the_report_adds_up(void** state) {
    (void)state;
    srCharacterId character = create(NULL);
    srCharacterReport report;
    assert_success(srCharacter_GetReport(character, &report));
    int32_t angleCount = 0;
    for (int bin = 0; bin < SR_DIHEDRAL_BINS; ++bin) {
        angleCount += report.dihedralCounts[bin];
        bool isEmpty = 10.0f * (float)(bin + 1) < report.smallestAngleDegrees ||
                       10.0f * (float)bin > report.largestAngleDegrees;
        assert_true(!isEmpty || report.dihedralCounts[bin] == 0);
    }
    assert_int_equal(angleCount, 6 * report.cellCount);
    float stages = report.surfaceSeconds + report.cageSeconds + report.embeddingSeconds +
                   report.weightsSeconds + report.holdSeconds + report.mapsSeconds;
    // each stage begins where the one before ended; floats of a second
    assert_near((double)report.totalSeconds, (double)stages, 1e-5 * (double)stages);
    assert_true(1.001e6 * (double)report.peakMegabytes >= (double)srGetByteCount());
    assert_success(srDestroyCharacter(character));
}

static void a_file_takes_the_size_it_was_said_to_take(void** state) {
    (void)state;
    srCharacterId character = create(NULL);
    size_t size;
    uint8_t* bytes = writeFile(character, &size);
    assert_result(srCharacter_WriteFile(character, bytes, size - 1), sr_errorNotReady);
    srCharacterMaps maps = srDefaultCharacterMaps();
    paintTail(3.0f, 1.0f);
    maps.mass = values;
    assert_success(srCharacter_SetMaps(character, &maps, scene.def.skinVertexCount));
    assert_result(srCharacter_WriteFile(character, bytes, size), sr_errorNotReady);
    srCharacterId opened = {7, 7};
    assert_result(srOpenCharacter(bytes, size - 1, &opened), sr_errorBadFile);
    bytes[size / 2] ^= 1;
    assert_result(srOpenCharacter(bytes, size, &opened), sr_errorBadFile);
    assert_result(srOpenCharacter(bytes, 0, &opened), sr_errorBadFile);
    assert_true(opened.index1 == 7 && opened.generation == 7);
    free(bytes);
    assert_success(srDestroyCharacter(character));
}

static void maps_of_another_skin_are_refused(void** state) {
    (void)state;
    srCharacterMaps maps = srDefaultCharacterMaps();
    srCharacterId character = create(NULL);
    const int32_t counts[] = {0, -1, scene.def.skinVertexCount - 1, scene.def.skinVertexCount + 1};
    for (int i = 0; i < SR_ARRAY_COUNT(counts); ++i) {
        assert_result(srCharacter_SetMaps(character, &maps, counts[i]), sr_errorInvalidValue);
    }
    assert_success(srDestroyCharacter(character));
}

typedef struct Painter {
    srCharacterId character;
    float stiffness;
} Painter;

static void paintOften(void* context) {
    const Painter* painter = context;
    float* own = malloc(sizeof(float) * (size_t)scene.def.skinVertexCount);
    for (int round = 0; own != NULL && round < 12; ++round) {
        for (int32_t v = 0; v < scene.def.skinVertexCount; ++v) {
            own[v] = painter->stiffness + (float)(round % 3);
        }
        srCharacterMaps maps = srDefaultCharacterMaps();
        maps.stiffness = own;
        if (srCharacter_SetMaps(painter->character, &maps, scene.def.skinVertexCount) != sr_success) {
            break;
        }
    }
    free(own);
}

static void painting_while_shots_come_run_and_go_is_safe(void** state) {
    (void)state;
    srCharacterId character = create(NULL);
    Painter painters[2] = {{character, 2.0f}, {character, 5.0f}};
    srThread* threads[2];
    for (int i = 0; i < 2; ++i) {
        assert_success(srStartThread(paintOften, &painters[i], &threads[i]));
    }
    for (int round = 0; round < 12; ++round) {
        srShotId shot = startShot(character);
        srShot_WaitFrame(shot, 2 + round, 1.0);
        size_t size;
        assert_success(srCharacter_GetFileSize(character, &size));
        assert_success(srDestroyShot(shot));
    }
    for (int i = 0; i < 2; ++i) {
        srJoinThread(threads[i]);
    }

    // in the end all is as if nobody had hurried
    paintTail(3.0f, 3.0f);
    srCharacterMaps maps = srDefaultCharacterMaps();
    maps.stiffness = values;
    assert_success(srCharacter_SetMaps(character, &maps, scene.def.skinVertexCount));
    srCharacterId calm = create(&maps);
    assert_true(simulate(character) == simulate(calm));
    assert_success(srDestroyCharacter(calm));
    assert_success(srDestroyCharacter(character));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_set_later_are_the_maps_prepared_with),
        cmocka_unit_test(shots_begin_anew_with_new_maps_and_only_then),
        cmocka_unit_test(a_pinned_skin_does_not_leave_the_pose),
        cmocka_unit_test(held_flesh_moves_less),
        cmocka_unit_test(an_opened_character_is_the_written_one_to_the_bit),
        cmocka_unit_test(any_number_of_workers_prepares_the_same_bytes),
        cmocka_unit_test(the_report_adds_up),
        cmocka_unit_test(a_file_takes_the_size_it_was_said_to_take),
        cmocka_unit_test(maps_of_another_skin_are_refused),
        cmocka_unit_test(painting_while_shots_come_run_and_go_is_safe),
    };
    return cmocka_run_group_tests_name("api/character", tests, begin, end);
}
