// SPDX-License-Identifier: GPL-3.0-or-later
//
// Who keeps what alive: destroying in any order, from any thread, at any time; ids that never come back; and
// memory that runs out anywhere on the whole way from a character to a bake.

#include "support/support.h"

#include "api/registry.h"
#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "sim/preparation.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 30
#define LONG_FRAMES (100 * FRAMES) // a second of work and more
#define PATH_SIZE 700

static srTestScene scene;
static float* rows;
static int64_t floatCount;

static int makeScene(void** state) {
    (void)state;
    if (!srTestCreateBarScene(&scene)) {
        return -1;
    }
    floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(&scene);
    rows = malloc(sizeof(float) * (size_t)floatCount);
    if (rows == NULL) {
        return -1;
    }
    srTestScene_WriteRows(&scene, srTestShake, 0, FRAMES, rows);
    return 0;
}

static int freeScene(void** state) {
    free(rows);
    srTestDestroyScene(&scene);
    return srTestNothingLeaked(state);
}

typedef struct Ids {
    srCharacterId character;
    srShotId shot;
    srBakeId bake;
} Ids;

static srResult createReadyCharacter(Ids* ids) {
    SR_TRY(srCreateCharacter(&scene.def, &ids->character));
    return srCharacter_Wait(ids->character, -1.0);
}

static srResult createFullShot(Ids* ids, int32_t substeps) {
    srShotDef def = srDefaultShotDef();
    def.character = ids->character;
    def.frameCount = FRAMES;
    def.params.substeps = substeps;
    SR_TRY(srCreateShot(&def, &ids->shot));
    return srShot_WriteTape(ids->shot, 1, FRAMES, rows, floatCount, NULL);
}

static srResult createLongShot(Ids* ids) {
    srShotDef def = srDefaultShotDef();
    def.character = ids->character;
    def.frameCount = LONG_FRAMES;
    def.params.substeps = 100;
    SR_TRY(srCreateShot(&def, &ids->shot));
    for (int32_t first = 1; first <= LONG_FRAMES; first += FRAMES) {
        SR_TRY(srShot_WriteTape(ids->shot, first, FRAMES, rows, floatCount, NULL));
    }
    return sr_success;
}

static srResult startFullBake(Ids* ids, int32_t frameCount) {
    // two bakes may not write to one file
    char name[40];
    char path[PATH_SIZE];
    snprintf(name, sizeof(name), "registry%u.pc2", ids->shot.index1);
    srTestPath(name, path, sizeof(path));
    srBakeDef def = srDefaultBakeDef();
    def.shot = ids->shot;
    def.path = path;
    def.frameCount = frameCount;
    return srStartBake(&def, &ids->bake);
}

// everything there is, at work: the shot takes long
static void startEverything(Ids* ids) {
    assert_success(createReadyCharacter(ids));
    assert_success(createLongShot(ids));
    assert_success(startFullBake(ids, LONG_FRAMES));
}

static srResult destroyKind(const Ids* ids, int kind) {
    return kind == 0   ? srDestroyCharacter(ids->character)
           : kind == 1 ? srDestroyShot(ids->shot)
                       : srDestroyBake(ids->bake);
}

static void anything_can_be_destroyed_in_any_order(void** state) {
    (void)state;
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; ++order) {
        Ids ids;
        startEverything(&ids);
        for (int i = 0; i < 3; ++i) {
            assert_success(destroyKind(&ids, orders[order][i]));
            assert_result(destroyKind(&ids, orders[order][i]), sr_errorStaleId);
        }
        assert_int_equal(srGetByteCount(), 0);
    }
}

static void a_shot_goes_on_without_its_character_s_id(void** state) {
    (void)state;
    Ids ids;
    assert_success(createReadyCharacter(&ids));
    assert_success(createFullShot(&ids, 4));
    assert_success(srDestroyCharacter(ids.character));
    assert_success(srShot_WaitFrame(ids.shot, FRAMES, -1.0));
    float* offsets = calloc(3 * (size_t)scene.def.skinVertexCount, sizeof(float));
    assert_non_null(offsets);
    assert_success(srShot_ReadOffsets(ids.shot, FRAMES, offsets, scene.def.skinVertexCount));
    free(offsets);
    Ids other = ids;
    assert_result(createFullShot(&other, 4), sr_errorStaleId);
    assert_success(srDestroyShot(ids.shot));
    assert_int_equal(srGetByteCount(), 0);
}

static void destroying_a_shot_cancels_its_bake(void** state) {
    (void)state;
    Ids ids;
    startEverything(&ids);
    assert_success(srDestroyShot(ids.shot));
    assert_result(srBake_Wait(ids.bake, -1.0), sr_errorCancelled);
    srJobStatus status;
    assert_success(srBake_GetStatus(ids.bake, &status));
    assert_int_equal(status.phase, sr_phaseFailed);
    assert_int_equal(status.result, sr_errorCancelled);
    assert_true(status.message[0] != '\0');
    assert_success(srDestroyBake(ids.bake));
    assert_success(srDestroyCharacter(ids.character));
}

static void shutdown_stops_everything_and_leaves_no_byte(void** state) {
    (void)state;
    for (int trial = 0; trial < 3; ++trial) {
        Ids first;
        Ids second;
        srCharacterId preparing;
        startEverything(&first);
        startEverything(&second);
        assert_success(srCreateCharacter(&scene.def, &preparing));
        assert_int_equal(srShutdown(), 7);
        assert_int_equal(srGetByteCount(), 0);
        assert_result(srDestroyShot(first.shot), sr_errorStaleId);
        assert_result(srCharacter_Wait(preparing, -1.0), sr_errorStaleId);
        assert_int_equal(srShutdown(), 0);
    }
}

static void ids_never_come_back(void** state) {
    (void)state;
    srCharacterId seen[60];
    for (int i = 0; i < SR_ARRAY_COUNT(seen); ++i) {
        assert_success(srCreateCharacter(&scene.def, &seen[i]));
        assert_true(seen[i].index1 != 0);
        for (int j = 0; j < i; ++j) {
            assert_true(memcmp(&seen[i], &seen[j], sizeof(seen[i])) != 0);
        }
        if (i % 20 == 19) {
            assert_true(srShutdown() >= 1);
        } else if (i % 3 != 0) {
            assert_success(srDestroyCharacter(seen[i]));
        }
    }
    for (int i = 0; i < SR_ARRAY_COUNT(seen); ++i) {
        assert_result(srDestroyCharacter(seen[i]), sr_errorStaleId);
    }
    assert_int_equal(srGetByteCount(), 0);
}

static void a_character_that_is_not_ready_is_not_ready_for_anything(void** state) {
    (void)state;
    srTestScene slow;
    assert_true(srTestCreateTailScene(&slow));
    slow.def.targetNodeCount = 20000;
    Ids ids;
    srCharacterReport report;
    assert_success(srCreateCharacter(&slow.def, &ids.character));
    assert_result(srCharacter_GetReport(ids.character, &report), sr_errorNotReady);
    assert_result(createFullShot(&ids, 4), sr_errorNotReady);
    assert_result(srCharacter_Wait(ids.character, 0.0), sr_errorNotReady);
    srJobStatus status;
    assert_success(srCharacter_GetStatus(ids.character, &status));
    assert_int_equal(status.result, sr_errorNotReady);
    assert_int_equal(status.phase, sr_phaseRunning);
    assert_true(status.progress >= 0.0f && status.progress < 1.0f);
    assert_success(srDestroyCharacter(ids.character));
    assert_int_equal(srGetByteCount(), 0);
    srTestDestroyScene(&slow);
}

static void waitSoon(double seconds) {
    double end = srGetSeconds() + seconds;
    while (srGetSeconds() < end) {
        srYield();
    }
}

static void destroySoon(void* context) {
    waitSoon(0.02);
    const Ids* ids = context;
    (void)!srDestroyShot(ids->shot);
}

static void who_waits_for_a_frame_is_woken_when_the_shot_goes(void** state) {
    (void)state;
    Ids ids;
    assert_success(createReadyCharacter(&ids));
    assert_success(createFullShot(&ids, 100));
    srThread* thread = NULL;
    assert_success(srStartThread(destroySoon, &ids, &thread));
    srResult result = srShot_WaitFrame(ids.shot, FRAMES, -1.0);
    // a fast machine may have been ready before
    assert_true(result == sr_errorNotReady || result == sr_success);
    srJoinThread(thread);
    assert_success(srDestroyCharacter(ids.character));
    assert_int_equal(srGetByteCount(), 0);
}

// what a thread finds that registers a child just after another one has destroyed its parent
static void nothing_new_stands_on_what_has_lost_its_id(void** state) {
    (void)state;
    Ids ids;
    assert_success(createReadyCharacter(&ids));
    srRawId raw = {ids.character.index1, ids.character.generation};
    srRawId childId = {9, 9};
    srEntry* parent = NULL;
    srPreparation* child = NULL;
    assert_success(srAcquire(sr_kindCharacter, raw, &parent));
    assert_success(srStartPreparation(&scene.def, &child));
    assert_success(srDestroyCharacter(ids.character));
    assert_result(srRegister(sr_kindCharacter, child, parent, &childId), sr_errorStaleId);
    assert_int_equal(childId.index1, 9);
    srRelease(parent);
    assert_int_equal(srGetByteCount(), 0);
}

static void doNothing(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)begin;
    (void)end;
    (void)worker;
    (void)context;
}

static void what_could_not_get_an_id_leaves_no_byte_behind(void** state) {
    (void)state;
    int32_t before = srGetWorkerCount();
    assert_success(srSetWorkerCount(2));
    for (int64_t n = 1; n <= 2; ++n) {
        srPreparation* preparation = NULL;
        srRawId id;
        assert_success(srStartPreparation(&scene.def, &preparation));
        assert_true(srJob_Wait(srPreparation_GetJob(preparation), -1.0));
        srParallelFor(doNothing, 2, 1, NULL);
        // the entry, and then the pool of ids
        srAlloc_FailAt(n, false);
        assert_result(srRegister(sr_kindCharacter, preparation, NULL, &id), sr_errorOutOfMemory);
        srAlloc_FailAt(0, false);
        assert_int_equal(srGetByteCount(), 0);
    }
    assert_success(srSetWorkerCount(before));
}

typedef struct Stress {
    Ids ids[2];
    atomic_bool isStopped;
    atomic_int wrongCount;
    atomic_int callCount;
} Stress;

static void expectOneOf(Stress* stress, srResult result) {
    bool isKnown = result == sr_success || result == sr_errorStaleId || result == sr_errorNotReady ||
                   result == sr_errorCancelled;
    bool hasText = result == sr_success || srGetErrorText()[0] != '\0';
    atomic_fetch_add(&stress->wrongCount, !isKnown || !hasText);
    atomic_fetch_add(&stress->callCount, 1);
}

// reads whatever may or may not be there any more
static void readEverything(void* context) {
    Stress* stress = context;
    float* offsets = calloc(3 * (size_t)scene.def.skinVertexCount, sizeof(float));
    uint64_t hash;
    srShotStatus shotStatus;
    srJobStatus jobStatus;
    srCharacterReport report;
    for (int32_t i = 0; offsets != NULL && !atomic_load(&stress->isStopped); ++i) {
        const Ids* ids = &stress->ids[i % 2];
        expectOneOf(stress,
                    srShot_ReadOffsets(ids->shot, i % FRAMES + 0.5, offsets, scene.def.skinVertexCount));
        expectOneOf(stress, srShot_GetStateHash(ids->shot, i % FRAMES + 1, &hash));
        expectOneOf(stress, srShot_GetStatus(ids->shot, &shotStatus));
        expectOneOf(stress, srShot_WaitFrame(ids->shot, i % FRAMES + 1, 0.0005));
        expectOneOf(stress, srCharacter_GetReport(ids->character, &report));
        expectOneOf(stress, srCharacter_GetStatus(ids->character, &jobStatus));
        expectOneOf(stress, srBake_GetStatus(ids->bake, &jobStatus));
        expectOneOf(stress, srBake_Wait(ids->bake, 0.0));
    }
    free(offsets);
}

static void what_one_thread_destroys_another_may_be_reading(void** state) {
    (void)state;
    for (int round = 0; round < 4; ++round) {
        Stress stress = {0};
        startEverything(&stress.ids[0]);
        startEverything(&stress.ids[1]);
        srThread* threads[2] = {NULL};
        for (int t = 0; t < 2; ++t) {
            assert_success(srStartThread(readEverything, &stress, &threads[t]));
        }
        srShotParams params = srDefaultShotParams();
        // a busy machine may not let them begin for long
        while (atomic_load(&stress.callCount) == 0) {
            srYield();
        }
        for (int i = 0; i < 6; ++i) {
            waitSoon(0.005);
            params.substeps = 50 + i;
            assert_success(srShot_SetParams(stress.ids[0].shot, &params));
            assert_success(destroyKind(&stress.ids[i % 2], (i / 2 + round) % 3));
            if ((i / 2 + round) % 3 == 1) {
                break;
            }
        }
        waitSoon(0.005);
        atomic_store(&stress.isStopped, true);
        for (int t = 0; t < 2; ++t) {
            srJoinThread(threads[t]);
        }
        assert_int_equal(atomic_load(&stress.wrongCount), 0);
        srShutdown();
        assert_int_equal(srGetByteCount(), 0);
    }
}

static srResult goTheWholeWay(Ids* ids) {
    float* offsets = calloc(3 * (size_t)scene.def.skinVertexCount, sizeof(float));
    srResult result = offsets != NULL ? sr_success : sr_errorOutOfMemory;
    if (result == sr_success) {
        result = createReadyCharacter(ids);
    }
    if (result == sr_success) {
        result = createFullShot(ids, 1);
    }
    if (result == sr_success) {
        result = srShot_WaitFrame(ids->shot, FRAMES, -1.0);
    }
    if (result == sr_success) {
        result = srShot_ReadOffsets(ids->shot, 2.5, offsets, scene.def.skinVertexCount);
    }
    if (result == sr_success) {
        result = startFullBake(ids, FRAMES);
    }
    if (result == sr_success) {
        result = srBake_Wait(ids->bake, -1.0);
    }
    free(offsets);
    return result;
}

static srResult goAndClean(void* context) {
    (void)context;
    Ids ids = {0};
    char sentence[SR_ERROR_TEXT_SIZE];
    srResult result = goTheWholeWay(&ids);
    strcpy(sentence, srGetErrorText());
    for (int kind = 2; kind >= 0; --kind) {
        (void)!destroyKind(&ids, kind);
    }
    if (result != sr_success) {
        (void)!srFail(result, "%s", sentence);
    }
    return result;
}

static void memory_that_runs_out_anywhere_is_an_error_and_no_leak(void** state) {
    (void)state;
    // alone, so that no pool of workers is started anew in each try
    int32_t before = srGetWorkerCount();
    assert_success(srSetWorkerCount(1));
    srTestEveryAllocationFails(goAndClean, NULL);
    assert_success(srSetWorkerCount(before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anything_can_be_destroyed_in_any_order),
        cmocka_unit_test(a_shot_goes_on_without_its_character_s_id),
        cmocka_unit_test(destroying_a_shot_cancels_its_bake),
        cmocka_unit_test(shutdown_stops_everything_and_leaves_no_byte),
        cmocka_unit_test(ids_never_come_back),
        cmocka_unit_test(a_character_that_is_not_ready_is_not_ready_for_anything),
        cmocka_unit_test(who_waits_for_a_frame_is_woken_when_the_shot_goes),
        cmocka_unit_test(nothing_new_stands_on_what_has_lost_its_id),
        cmocka_unit_test(what_could_not_get_an_id_leaves_no_byte_behind),
        cmocka_unit_test(what_one_thread_destroys_another_may_be_reading),
        cmocka_unit_test(memory_that_runs_out_anywhere_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("api/registry", tests, makeScene, freeScene);
}
