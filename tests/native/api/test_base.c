// SPDX-License-Identifier: GPL-3.0-or-later
//
// Version, handshake, hooks and workers as a host meets them.

#include "support/support.h"

#include "core/hash.h"
#include "core/thread.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void the_version_is_that_of_the_headers(void** state) {
    (void)state;
    srVersion version = srGetVersion();
    assert_int_equal(version.major, SR_VERSION_MAJOR);
    assert_int_equal(version.minor, SR_VERSION_MINOR);
    assert_int_equal(version.patch, SR_VERSION_PATCH);
    srAbiInfo info = srGetAbiInfo();
    assert_int_equal(info.abiVersion, SR_ABI_VERSION);
    assert_memory_equal(&info.version, &version, sizeof(version));
}

// the handshake as its header describes it, for whoever writes bindings by hand
static void the_hash_of_sizes_is_that_of_names_and_sizes_in_order(void** state) {
    (void)state;
    const char* const names[] = {"srVersion",      "srAbiInfo",       "srAllocator",    "srCharacterId",
                                 "srShotId",       "srFollowerId",    "srBakeId",       "srWeightsId",
                                 "srJobStatus",    "srCharacterMaps", "srCharacterDef", "srCharacterReport",
                                 "srShotParams",   "srShotDef",       "srShotStatus",   "srFrameControls",
                                 "srFrameStats",   "srFollowerDef",   "srBakeDef",      "srWeightsDef",
                                 "srWeightsReport"};
    const size_t sizes[] = {sizeof(srVersion),       sizeof(srAbiInfo),      sizeof(srAllocator),
                            sizeof(srCharacterId),   sizeof(srShotId),       sizeof(srFollowerId),
                            sizeof(srBakeId),        sizeof(srWeightsId),    sizeof(srJobStatus),
                            sizeof(srCharacterMaps), sizeof(srCharacterDef), sizeof(srCharacterReport),
                            sizeof(srShotParams),    sizeof(srShotDef),      sizeof(srShotStatus),
                            sizeof(srFrameControls), sizeof(srFrameStats),   sizeof(srFollowerDef),
                            sizeof(srBakeDef),       sizeof(srWeightsDef),   sizeof(srWeightsReport)};
    uint64_t hash = SR_HASH_SEED;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(names); ++i) {
        uint64_t size = sizes[i];
        hash = srHashBytes(hash, names[i], strlen(names[i]));
        hash = srHashBytes(hash, &size, sizeof(size));
        assert_int_equal(srGetStructSize(names[i]), sizes[i]);
    }
    assert_true(srGetAbiInfo().structSizesHash == hash);
    assert_int_equal(srGetAbiInfo().structCount, SR_ARRAY_COUNT(names));
    assert_int_equal(srGetStructSize("srNoSuchStruct"), 0);
    assert_int_equal(srGetStructSize(""), 0);
    assert_int_equal(srGetStructSize(NULL), 0);
}

static void defaults_have_their_size_and_pass_their_own_checks(void** state) {
    (void)state;
    assert_int_equal(srDefaultCharacterDef().structSize, sizeof(srCharacterDef));
    assert_int_equal(srDefaultShotDef().structSize, sizeof(srShotDef));
    assert_int_equal(srDefaultShotDef().params.structSize, sizeof(srShotParams));
    assert_int_equal(srDefaultBakeDef().structSize, sizeof(srBakeDef));
    assert_int_equal(srDefaultCharacterMaps().structSize, sizeof(srCharacterMaps));
    assert_int_equal(srDefaultCharacterDef().maps.structSize, sizeof(srCharacterMaps));
    srShotParams params = srDefaultShotParams();
    // everything is right but the id
    assert_result(srShot_SetParams((srShotId){0}, &params), sr_errorStaleId);
}

static void results_have_names(void** state) {
    (void)state;
    assert_string_equal(srGetResultName(sr_errorStaleId), "sr_errorStaleId");
    assert_non_null(srGetResultName((srResult)12345));
    assert_non_null(srGetResultName((srResult)-1));
}

typedef struct Hooks {
    atomic_llong heldBytes;
    atomic_llong callCount;
} Hooks;

static void* hookAlloc(size_t size, size_t alignment, void* context) {
    Hooks* hooks = context;
    void* block = NULL;
    if (posix_memalign(&block, alignment, size) != 0) {
        return NULL;
    }
    atomic_fetch_add(&hooks->heldBytes, (long long)size);
    atomic_fetch_add(&hooks->callCount, 1);
    return block;
}

static void hookFree(void* block, size_t size, void* context) {
    Hooks* hooks = context;
    atomic_fetch_sub(&hooks->heldBytes, (long long)size);
    free(block);
}

static void the_host_s_allocator_gets_every_block_back(void** state) {
    (void)state;
    Hooks hooks = {0};
    srAllocator allocator = {sizeof(srAllocator), hookAlloc, hookFree, &hooks};
    assert_success(srSetAllocator(&allocator));
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    srCharacterId character;
    assert_success(srCreateCharacter(&scene.def, &character));
    assert_result(srSetAllocator(NULL), sr_errorNotReady);
    assert_success(srCharacter_Wait(character, -1.0));
    assert_true(atomic_load(&hooks.heldBytes) == (long long)srGetByteCount());
    assert_true(atomic_load(&hooks.heldBytes) > 0);
    assert_success(srDestroyCharacter(character));
    assert_int_equal(atomic_load(&hooks.heldBytes), 0);
    assert_true(atomic_load(&hooks.callCount) > 100);
    assert_success(srSetAllocator(NULL));
    srTestDestroyScene(&scene);
}

static void workers_can_be_counted_but_not_while_anything_lives(void** state) {
    (void)state;
    int32_t before = srGetWorkerCount();
    assert_in_range(before, 1, 4);
    assert_success(srSetWorkerCount(3));
    assert_int_equal(srGetWorkerCount(), 3);
    const int32_t wrong[] = {0, -1, 65, INT32_MIN, INT32_MAX};
    for (int i = 0; i < SR_ARRAY_COUNT(wrong); ++i) {
        assert_result(srSetWorkerCount(wrong[i]), sr_errorInvalidValue);
    }
    srTestScene scene;
    assert_true(srTestCreateBarScene(&scene));
    srCharacterId character;
    assert_success(srCreateCharacter(&scene.def, &character));
    assert_result(srSetWorkerCount(2), sr_errorNotReady);
    assert_int_equal(srGetWorkerCount(), 3);
    assert_success(srDestroyCharacter(character));
    assert_success(srSetWorkerCount(before));
    srTestDestroyScene(&scene);
}

static void failInThread(void* context) {
    // another thread's text is its own, and empty at first
    bool* isRight = context;
    *isRight = srGetErrorText()[0] == '\0';
    srResult result = srDestroyBake((srBakeId){0});
    *isRight = *isRight && result == sr_errorStaleId && strstr(srGetErrorText(), "bake") != NULL;
}

static void each_thread_has_its_own_error_text(void** state) {
    (void)state;
    assert_result(srDestroyCharacter((srCharacterId){0}), sr_errorStaleId);
    assert_non_null(strstr(srGetErrorText(), "character"));
    bool isRight = false;
    srThread* thread = NULL;
    assert_success(srStartThread(failInThread, &isRight, &thread));
    srJoinThread(thread);
    assert_true(isRight);
    assert_non_null(strstr(srGetErrorText(), "character"));
}

static void calls_that_succeed_leave_the_text_alone(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    memset((void*)scene.def.skinPositions, 0, 12 * (size_t)scene.def.skinVertexCount);
    srCharacterId character;
    assert_success(srCreateCharacter(&scene.def, &character));
    assert_result(srCharacter_Wait(character, -1.0), sr_errorBadMesh);
    char sentence[256];
    strcpy(sentence, srGetErrorText());
    assert_result(srDestroyShot((srShotId){0}), sr_errorStaleId);
    srJobStatus status;
    assert_success(srCharacter_GetStatus(character, &status));
    assert_int_equal(status.phase, sr_phaseFailed);
    assert_int_equal(status.result, sr_errorBadMesh);
    assert_string_equal(status.message, sentence);
    assert_non_null(strstr(srGetErrorText(), "shot"));
    assert_success(srDestroyCharacter(character));
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_that_of_the_headers),
        cmocka_unit_test(the_hash_of_sizes_is_that_of_names_and_sizes_in_order),
        cmocka_unit_test(defaults_have_their_size_and_pass_their_own_checks),
        cmocka_unit_test(results_have_names),
        cmocka_unit_test(the_host_s_allocator_gets_every_block_back),
        cmocka_unit_test(workers_can_be_counted_but_not_while_anything_lives),
        cmocka_unit_test(each_thread_has_its_own_error_text),
        cmocka_unit_test(calls_that_succeed_leave_the_text_alone),
    };
    return cmocka_run_group_tests_name("api/base", tests, NULL, srTestNothingLeaked);
}
