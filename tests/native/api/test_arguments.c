// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every public function with everything that can be wrong about its arguments: a result code and a sentence,
// and nothing changed.

#include "support/support.h"

#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 4

static srTestScene scene;
static srCharacterId character;
static srShotId shot;
static srFollowerId follower;
static srCharacterReport report;
static float* rows;
static int64_t floatCount;
static float* floats; // room for anything that is read
static int32_t* cells;

static int startAll(void** state) {
    (void)state;
    srShotDef def = srDefaultShotDef();
    if (!srTestCreateBarScene(&scene) || srCreateCharacter(&scene.def, &character) != sr_success ||
        srCharacter_Wait(character, -1.0) != sr_success ||
        srCharacter_GetReport(character, &report) != sr_success) {
        return -1;
    }
    def.character = character;
    def.frameCount = FRAMES;
    floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(&scene);
    rows = malloc(sizeof(float) * (size_t)floatCount);
    floats = calloc(3 * (size_t)report.nodeCount, sizeof(float));
    cells = calloc(4 * (size_t)report.cellCount, sizeof(int32_t));
    if (rows == NULL || floats == NULL || cells == NULL) {
        return -1;
    }
    srTestScene_WriteRows(&scene, srTestShake, 0, FRAMES, rows);
    srFollowerDef followerDef = srDefaultFollowerDef();
    followerDef.restPositions = scene.def.skinPositions;
    followerDef.pointCount = 2;
    bool isMade = srCreateShot(&def, &shot) == sr_success &&
                  srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, NULL) == sr_success &&
                  srShot_WaitFrame(shot, FRAMES, -1.0) == sr_success;
    followerDef.shot = shot;
    isMade = isMade && srCreateFollower(&followerDef, &follower) == sr_success &&
             srFollower_WriteTape(follower, 1, FRAMES, rows, 32 * FRAMES) == sr_success;
    return isMade ? 0 : -1;
}

static int stopAll(void** state) {
    free(rows);
    free(floats);
    free(cells);
    srTestDestroyScene(&scene);
    if (srShutdown() != 3 || srGetByteCount() != 0) {
        return -1;
    }
    return srTestNothingLeaked(state);
}

// every function that takes an id, with the arguments otherwise right
typedef srResult CallWithId(uint32_t index1, uint32_t generation);

#define CHARACTER ((srCharacterId){index1, generation})
#define SHOT ((srShotId){index1, generation})
#define FOLLOWER ((srFollowerId){index1, generation})
#define BAKE ((srBakeId){index1, generation})

static srResult destroyCharacter(uint32_t index1, uint32_t generation) {
    return srDestroyCharacter(CHARACTER);
}
static srResult characterStatus(uint32_t index1, uint32_t generation) {
    srJobStatus status;
    return srCharacter_GetStatus(CHARACTER, &status);
}
static srResult characterWait(uint32_t index1, uint32_t generation) {
    return srCharacter_Wait(CHARACTER, -1.0);
}
static srResult characterReport(uint32_t index1, uint32_t generation) {
    return srCharacter_GetReport(CHARACTER, &report);
}
static srResult readCage(uint32_t index1, uint32_t generation) {
    return srCharacter_ReadCage(CHARACTER, floats, report.nodeCount, cells, report.cellCount);
}
static srResult setMaps(uint32_t index1, uint32_t generation) {
    srCharacterMaps maps = srDefaultCharacterMaps();
    return srCharacter_SetMaps(CHARACTER, &maps, scene.def.skinVertexCount);
}
static srResult fileSize(uint32_t index1, uint32_t generation) {
    size_t size;
    return srCharacter_GetFileSize(CHARACTER, &size);
}
static srResult writeFile(uint32_t index1, uint32_t generation) {
    size_t size = 0;
    uint8_t few[1];
    if (srCharacter_GetFileSize(CHARACTER, &size) != sr_success) {
        return srCharacter_WriteFile(CHARACTER, few, sizeof(few));
    }
    uint8_t* bytes = malloc(size);
    assert_non_null(bytes);
    srResult result = srCharacter_WriteFile(CHARACTER, bytes, size);
    free(bytes);
    return result;
}
static srResult createShot(uint32_t index1, uint32_t generation) {
    srShotDef def = srDefaultShotDef();
    srShotId id;
    def.character = CHARACTER;
    return srCreateShot(&def, &id);
}
static srResult destroyShot(uint32_t index1, uint32_t generation) {
    return srDestroyShot(SHOT);
}
static srResult writeTape(uint32_t index1, uint32_t generation) {
    return srShot_WriteTape(SHOT, 1, FRAMES, rows, floatCount, NULL);
}
static srResult writeControls(uint32_t index1, uint32_t generation) {
    srFrameControls controls = srDefaultFrameControls();
    return srShot_WriteControls(SHOT, 1, 1, &controls, NULL);
}
static srResult frameStats(uint32_t index1, uint32_t generation) {
    srFrameStats stats;
    return srShot_GetFrameStats(SHOT, 1, &stats);
}
static srResult setParams(uint32_t index1, uint32_t generation) {
    srShotParams params = srDefaultShotParams();
    return srShot_SetParams(SHOT, &params);
}
static srResult shotStatus(uint32_t index1, uint32_t generation) {
    srShotStatus status;
    return srShot_GetStatus(SHOT, &status);
}
static srResult waitFrame(uint32_t index1, uint32_t generation) {
    return srShot_WaitFrame(SHOT, 1, -1.0);
}
static srResult readOffsets(uint32_t index1, uint32_t generation) {
    return srShot_ReadOffsets(SHOT, 1.0, floats, scene.def.skinVertexCount);
}
static srResult followSkin(uint32_t index1, uint32_t generation) {
    return srShot_FollowSkin(SHOT, scene.def.skinPositions, scene.def.skinVertexCount);
}
static srResult writeSkin(uint32_t index1, uint32_t generation) {
    return srShot_WriteSkin(SHOT, 1, 1, scene.def.skinPositions, 3 * (int64_t)scene.def.skinVertexCount,
                            NULL);
}
static srResult askProvisional(uint32_t index1, uint32_t generation) {
    return srShot_AskProvisional(SHOT, 1);
}
static srResult readProvisional(uint32_t index1, uint32_t generation) {
    return srShot_ReadProvisional(SHOT, 1, floats, scene.def.skinVertexCount);
}
static srResult readNodes(uint32_t index1, uint32_t generation) {
    return srShot_ReadNodes(SHOT, 1, true, floats, report.nodeCount);
}
static srResult stateHash(uint32_t index1, uint32_t generation) {
    uint64_t hash;
    return srShot_GetStateHash(SHOT, 1, &hash);
}
static srResult createFollower(uint32_t index1, uint32_t generation) {
    srFollowerDef def = srDefaultFollowerDef();
    srFollowerId id;
    def.shot = SHOT;
    def.restPositions = floats;
    def.pointCount = 1;
    return srCreateFollower(&def, &id);
}
static srResult writeFollower(uint32_t index1, uint32_t generation) {
    return srFollower_WriteTape(FOLLOWER, 1, FRAMES, rows, 32 * FRAMES);
}
static srResult readFollower(uint32_t index1, uint32_t generation) {
    return srFollower_ReadOffsets(FOLLOWER, 1.0, floats, 2);
}
static srResult readFollowerProvisional(uint32_t index1, uint32_t generation) {
    return srFollower_ReadProvisional(FOLLOWER, 1, floats, 2);
}
static srResult bakeFollower(uint32_t index1, uint32_t generation) {
    srBakeDef def = srDefaultBakeDef();
    srBakeId id;
    def.shot = shot;
    def.follower = FOLLOWER;
    def.path = "never written";
    def.frameCount = 1;
    // a null follower is the skin
    return index1 == 0 ? sr_errorStaleId : srStartBake(&def, &id);
}
static srResult destroyFollower(uint32_t index1, uint32_t generation) {
    return srDestroyFollower(FOLLOWER);
}
static srResult startBake(uint32_t index1, uint32_t generation) {
    srBakeDef def = srDefaultBakeDef();
    srBakeId id;
    char path[700];
    srTestPath("arguments.pc2", path, sizeof(path));
    def.shot = SHOT;
    def.path = path;
    def.firstFrame = 1;
    def.frameCount = 1;
    return srStartBake(&def, &id);
}
static srResult bakeStatus(uint32_t index1, uint32_t generation) {
    srJobStatus status;
    return srBake_GetStatus(BAKE, &status);
}
static srResult bakeWait(uint32_t index1, uint32_t generation) {
    return srBake_Wait(BAKE, -1.0);
}
static srResult destroyBake(uint32_t index1, uint32_t generation) {
    return srDestroyBake(BAKE);
}

typedef struct CallOfKind {
    CallWithId* call;
    char kind; // of the id: c, s, f or b
    bool isSafe;
} CallOfKind;

static const CallOfKind CALLS[] = {
    {characterStatus, 'c', true}, {characterWait, 'c', true},    {characterReport, 'c', true},
    {readCage, 'c', true},        {createShot, 'c', false},      {destroyCharacter, 'c', false},
    {frameStats, 's', true},      {writeTape, 's', true},        {writeControls, 's', true},
    {followSkin, 's', false},     {writeSkin, 's', false},       {setParams, 's', true},
    {shotStatus, 's', true},      {waitFrame, 's', true},        {readOffsets, 's', true},
    {askProvisional, 's', true},  {readProvisional, 's', false}, {readNodes, 's', true},
    {stateHash, 's', true},       {startBake, 's', false},       {destroyShot, 's', false},
    {bakeStatus, 'b', false},     {bakeWait, 'b', false},        {destroyBake, 'b', false},
    {createFollower, 's', false}, {writeFollower, 'f', true},    {readFollower, 'f', true},
    {bakeFollower, 'f', false},   {destroyFollower, 'f', false}, {readFollowerProvisional, 'f', false},
    {setMaps, 'c', true},         {fileSize, 'c', true},         {writeFile, 'c', true},
};

static void ids_that_name_nothing_are_stale(void** state) {
    (void)state;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(CALLS); ++i) {
        const srFollowerId ids[3] = {{character.index1, character.generation},
                                     {shot.index1, shot.generation},
                                     {follower.index1, follower.generation}};
        int kind = CALLS[i].kind == 'c' ? 0 : CALLS[i].kind == 'f' ? 2 : 1;
        uint32_t index1 = ids[kind].index1, generation = ids[kind].generation;
        assert_result(CALLS[i].call(0, 0), sr_errorStaleId);
        assert_result(CALLS[i].call(0, generation), sr_errorStaleId);
        assert_result(CALLS[i].call(index1, 0), sr_errorStaleId);
        assert_result(CALLS[i].call(index1, generation + 1), sr_errorStaleId);
        assert_result(CALLS[i].call(index1 + 1, generation), sr_errorStaleId);
        assert_result(CALLS[i].call(UINT32_MAX, UINT32_MAX), sr_errorStaleId);
        // the table's arguments are right, or it would show nothing
        if (CALLS[i].isSafe) {
            assert_success(CALLS[i].call(index1, generation));
            if (CALLS[i].call == setParams) {
                assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
            }
        }
    }
}

static void null_pointers_are_named(void** state) {
    (void)state;
    srBakeDef bakeDef = srDefaultBakeDef();
    srShotDef shotDef = srDefaultShotDef();
    srBakeId bake;
    bakeDef.shot = shot;
    shotDef.character = character;
    assert_result(srCreateCharacter(NULL, &character), sr_errorNullArgument);
    assert_result(srCreateCharacter(&scene.def, NULL), sr_errorNullArgument);
    assert_result(srCharacter_GetStatus(character, NULL), sr_errorNullArgument);
    assert_result(srCharacter_GetReport(character, NULL), sr_errorNullArgument);
    assert_result(srCharacter_ReadCage(character, NULL, report.nodeCount, cells, report.cellCount),
                  sr_errorNullArgument);
    assert_result(srCharacter_ReadCage(character, floats, report.nodeCount, NULL, report.cellCount),
                  sr_errorNullArgument);
    srCharacterId opened = {7, 7};
    size_t size = 0;
    uint8_t byte = 0;
    assert_result(srCharacter_SetMaps(character, NULL, 1), sr_errorNullArgument);
    assert_result(srCharacter_GetFileSize(character, NULL), sr_errorNullArgument);
    assert_success(srCharacter_GetFileSize(character, &size));
    assert_result(srCharacter_WriteFile(character, NULL, size), sr_errorNullArgument);
    assert_result(srOpenCharacter(NULL, 1, &opened), sr_errorNullArgument);
    assert_result(srOpenCharacter(&byte, 1, NULL), sr_errorNullArgument);
    assert_true(opened.index1 == 7 && opened.generation == 7);
    assert_result(srCreateShot(NULL, &shot), sr_errorNullArgument);
    assert_result(srCreateShot(&shotDef, NULL), sr_errorNullArgument);
    assert_result(srShot_WriteTape(shot, 1, 1, NULL, floatCount / FRAMES, NULL), sr_errorNullArgument);
    assert_string_equal(srGetErrorText(), "matrices must not be null.");
    assert_result(srShot_WriteControls(shot, 1, 1, NULL, NULL), sr_errorNullArgument);
    assert_result(srShot_SetParams(shot, NULL), sr_errorNullArgument);
    assert_string_equal(srGetErrorText(), "params must not be null.");
    assert_result(srShot_GetStatus(shot, NULL), sr_errorNullArgument);
    assert_result(srShot_ReadOffsets(shot, 1.0, NULL, 1), sr_errorNullArgument);
    assert_result(srShot_ReadProvisional(shot, 1, NULL, 1), sr_errorNullArgument);
    assert_result(srShot_FollowSkin(shot, NULL, 1), sr_errorNullArgument);
    assert_result(srShot_WriteSkin(shot, 1, 1, NULL, 3, NULL), sr_errorNullArgument);
    assert_result(srShot_ReadNodes(shot, 1, true, NULL, 1), sr_errorNullArgument);
    assert_result(srShot_GetStateHash(shot, 1, NULL), sr_errorNullArgument);
    assert_result(srShot_GetFrameStats(shot, 1, NULL), sr_errorNullArgument);
    srFollowerDef followerDef = srDefaultFollowerDef();
    followerDef.shot = shot;
    followerDef.pointCount = 1;
    assert_result(srCreateFollower(NULL, &follower), sr_errorNullArgument);
    assert_result(srCreateFollower(&followerDef, &follower), sr_errorNullArgument);
    followerDef.restPositions = floats;
    assert_result(srCreateFollower(&followerDef, NULL), sr_errorNullArgument);
    assert_result(srFollower_WriteTape(follower, 1, 1, NULL, 32), sr_errorNullArgument);
    assert_result(srFollower_ReadOffsets(follower, 1.0, NULL, 2), sr_errorNullArgument);
    assert_result(srFollower_ReadProvisional(follower, 1, NULL, 2), sr_errorNullArgument);
    assert_result(srStartBake(NULL, &bake), sr_errorNullArgument);
    assert_result(srStartBake(&bakeDef, &bake), sr_errorNullArgument);
    assert_non_null(strstr(srGetErrorText(), "path"));
    bakeDef.path = "";
    assert_result(srStartBake(&bakeDef, &bake), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "empty"));
    bakeDef.path = "x";
    assert_result(srStartBake(&bakeDef, NULL), sr_errorNullArgument);
    assert_result(srBake_GetStatus((srBakeId){0}, NULL), sr_errorNullArgument);
    srAllocator allocator = {.structSize = sizeof(srAllocator)};
    assert_result(srSetAllocator(&allocator), sr_errorNullArgument);
}

static void structs_of_another_size_are_refused(void** state) {
    (void)state;
    const size_t sizes[] = {0, 4, SIZE_MAX};
    for (int i = 0; i < 3; ++i) {
        srCharacterDef characterDef = scene.def;
        srShotDef shotDef = srDefaultShotDef();
        srShotParams params = srDefaultShotParams();
        srBakeDef bakeDef = srDefaultBakeDef();
        srAllocator allocator = {.structSize = sizes[i]};
        srCharacterId newCharacter;
        srShotId newShot;
        srBakeId bake;
        characterDef.structSize = sizes[i];
        shotDef.character = character;
        shotDef.params.structSize = sizes[i];
        params.structSize = sizes[i];
        bakeDef.structSize = sizes[i];
        srFollowerDef followerDef = srDefaultFollowerDef();
        srFollowerId newFollower;
        followerDef.structSize = sizes[i];
        assert_result(srCreateFollower(&followerDef, &newFollower), sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "srDefaultFollowerDef()"));
        assert_result(srCreateCharacter(&characterDef, &newCharacter), sr_errorStructSize);
        characterDef = scene.def;
        characterDef.maps.structSize = sizes[i];
        assert_result(srCreateCharacter(&characterDef, &newCharacter), sr_errorStructSize);
        assert_result(srCharacter_SetMaps(character, &characterDef.maps, scene.def.skinVertexCount),
                      sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "srDefaultCharacterMaps()"));
        assert_result(srCreateShot(&shotDef, &newShot), sr_errorStructSize);
        shotDef.params = srDefaultShotParams();
        shotDef.structSize = sizes[i];
        assert_result(srCreateShot(&shotDef, &newShot), sr_errorStructSize);
        srFrameControls controls = srDefaultFrameControls();
        controls.structSize = sizes[i];
        assert_result(srShot_WriteControls(shot, 1, 1, &controls, NULL), sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "srDefaultFrameControls()"));
        assert_result(srShot_SetParams(shot, &params), sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "srDefaultShotParams()"));
        assert_result(srStartBake(&bakeDef, &bake), sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "srDefaultBakeDef()"));
        assert_result(srSetAllocator(&allocator), sr_errorStructSize);
        assert_non_null(strstr(srGetErrorText(), "sizeof(srAllocator)"));
    }
}

static void followers_with_wrong_numbers_are_refused(void** state) {
    (void)state;
    srFollowerDef def = srDefaultFollowerDef();
    srFollowerId id;
    def.shot = shot;
    def.restPositions = floats;
    const int32_t counts[] = {0, -1, INT32_MAX};
    for (int i = 0; i < 3; ++i) {
        def.pointCount = counts[i];
        assert_result(srCreateFollower(&def, &id), sr_errorInvalidValue);
    }
    assert_result(srFollower_WriteTape(follower, 0, 1, rows, 32), sr_errorInvalidValue);
    assert_result(srFollower_WriteTape(follower, 1, FRAMES + 1, rows, 32 * (FRAMES + 1)),
                  sr_errorInvalidValue);
    assert_result(srFollower_WriteTape(follower, 1, 0, rows, 0), sr_errorInvalidValue);
    assert_result(srFollower_WriteTape(follower, 1, 1, rows, 31), sr_errorInvalidValue);
    float bad[32] = {0};
    bad[30] = NAN;
    assert_result(srFollower_WriteTape(follower, 1, 1, bad, 32), sr_errorNotFinite);
    assert_result(srFollower_ReadOffsets(follower, 1.0, floats, 3), sr_errorInvalidValue);
    assert_result(srFollower_ReadProvisional(follower, 1, floats, 1), sr_errorInvalidValue);
    assert_result(srFollower_ReadOffsets(follower, (double)NAN, floats, 2), sr_errorInvalidValue);

    // a bake of one shot with the follower of another
    srShotDef other = srDefaultShotDef();
    srShotId otherShot;
    srBakeDef bake = srDefaultBakeDef();
    srBakeId bakeId;
    other.character = character;
    assert_success(srCreateShot(&other, &otherShot));
    bake.shot = otherShot;
    bake.follower = follower;
    bake.path = "never written";
    assert_result(srStartBake(&bake, &bakeId), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "another shot"));
    assert_success(srDestroyShot(otherShot));
}

static void a_matrix_of_no_numbers_is_refused(void** state) {
    (void)state;
    srShotDef def = srDefaultShotDef();
    srShotId id;
    float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    def.character = character;
    def.skinToObject = matrix;
    matrix[5] = NAN;
    assert_result(srCreateShot(&def, &id), sr_errorNotFinite);
    assert_non_null(strstr(srGetErrorText(), "skinToObject[5]"));
    matrix[5] = 1e13f;
    assert_result(srCreateShot(&def, &id), sr_errorInvalidValue);
}

// one field of the character's definition set to something wrong, and what is to be said about it
typedef struct WrongField {
    size_t offset;
    int32_t value;
    srResult expected;
} WrongField;

#define COUNT(field, value) {offsetof(srCharacterDef, field), value, sr_errorInvalidValue}

static void counts_out_of_range_are_refused(void** state) {
    (void)state;
    const WrongField wrong[] = {
        COUNT(skinVertexCount, 0),   COUNT(skinVertexCount, -1),   COUNT(skinVertexCount, INT32_MAX),
        COUNT(skinTriangleCount, 0), COUNT(skinTriangleCount, -5), COUNT(skinTriangleCount, INT32_MAX),
        COUNT(boneCount, -1),        COUNT(boneCount, 100001),     COUNT(spaceCount, 0),
        COUNT(spaceCount, -1),       COUNT(spaceCount, 10001),     COUNT(cageNodeCount, 3),
        COUNT(cageNodeCount, -1),    COUNT(cageCellCount, 0),      COUNT(cageCellCount, INT32_MAX),
        COUNT(boneCount, 0), // the weights name bones
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(wrong); ++i) {
        srCharacterDef def = scene.def;
        srCharacterId id = {7, 7};
        memcpy((char*)&def + wrong[i].offset, &wrong[i].value, sizeof(int32_t));
        assert_result(srCreateCharacter(&def, &id), wrong[i].expected);
        assert_true(id.index1 == 7 && id.generation == 7);
    }
    const int32_t targets[] = {49, 200001, -1, INT32_MAX};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(targets); ++i) {
        srCharacterDef def = scene.def;
        srCharacterId id;
        def.cageNodes = NULL;
        def.cageCells = NULL;
        def.targetNodeCount = targets[i];
        assert_result(srCreateCharacter(&def, &id), sr_errorInvalidValue);
    }
}

static void missing_arrays_of_a_character_are_named(void** state) {
    (void)state;
    const size_t needed[] = {offsetof(srCharacterDef, skinPositions), offsetof(srCharacterDef, skinTriangles),
                             offsetof(srCharacterDef, weightBones),   offsetof(srCharacterDef, weightValues),
                             offsetof(srCharacterDef, boneRests),     offsetof(srCharacterDef, boneLengths),
                             offsetof(srCharacterDef, boneParents),   offsetof(srCharacterDef, spaceToSkin),
                             offsetof(srCharacterDef, cageNodes),     offsetof(srCharacterDef, cageCells)};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(needed); ++i) {
        srCharacterDef def = scene.def;
        srCharacterId id;
        memset((char*)&def + needed[i], 0, sizeof(void*));
        assert_result(srCreateCharacter(&def, &id), sr_errorNullArgument);
    }
}

// with one number of one array changed
static void assertWrongNumber(const void* array, size_t place, const void* value, srResult expected) {
    unsigned char before[4];
    unsigned char* number = (unsigned char*)array + 4 * place;
    srCharacterId id;
    memcpy(before, number, 4);
    memcpy(number, value, 4);
    assert_result(srCreateCharacter(&scene.def, &id), expected);
    memcpy(number, before, 4);
}

static void assertWrongFloat(const float* array, size_t place, float value, srResult expected) {
    assertWrongNumber(array, place, &value, expected);
}

static void assertWrongIndex(const int32_t* array, size_t place, int32_t value) {
    assertWrongNumber(array, place, &value, sr_errorInvalidValue);
}

static void wrong_numbers_in_a_character_s_arrays_are_refused(void** state) {
    (void)state;
    const srCharacterDef* def = &scene.def;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    const float* arrays[] = {def->weightValues, def->boneRests, def->boneLengths, def->spaceToSkin};
    for (int i = 0; i < 3; ++i) {
        for (int array = 0; array < 4; ++array) {
            assertWrongFloat(arrays[array], 1, bad[i], sr_errorNotFinite);
            assert_non_null(strstr(srGetErrorText(), "[1]"));
        }
    }
    assertWrongFloat(def->boneRests, 12, 1e13f, sr_errorInvalidValue);
    assertWrongFloat(def->boneLengths, 1, 1e13f, sr_errorInvalidValue);
    assertWrongFloat(def->boneLengths, 1, -1.0f, sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "boneLengths[1] is -1"));
    assertWrongFloat(def->spaceToSkin, 3, 1e30f, sr_errorInvalidValue);
    assertWrongFloat(def->boneRests, 16, 0.0f, sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "boneRests: matrix 1 of 2 is flat"));
    assertWrongFloat(def->spaceToSkin, 5, 0.0f, sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "spaceToSkin: matrix 0 of 1 is flat"));
    assertWrongFloat(def->skinPositions, 3, 3e38f, sr_errorInvalidValue);
    assertWrongFloat(def->cageNodes, 3, -3e38f, sr_errorInvalidValue);
    assertWrongFloat(def->weightValues, 2, -0.1f, sr_errorInvalidValue);
    assertWrongFloat(def->boneLooseTips, 1, -0.1f, sr_errorInvalidValue);
    assertWrongFloat(def->boneLooseTips, 1, 1.1f, sr_errorInvalidValue);
    assertWrongFloat(def->boneLooseTips, 1, NAN, sr_errorInvalidValue);
    assertWrongIndex(def->skinTriangles, 4, -1);
    assertWrongIndex(def->skinTriangles, 4, def->skinVertexCount);
    assertWrongIndex(def->cageCells, 2, -1);
    assertWrongIndex(def->cageCells, 2, def->cageNodeCount);
    assertWrongIndex(def->weightBones, 3, -1);
    assertWrongIndex(def->weightBones, 3, def->boneCount);
    assertWrongIndex(def->weightStarts, 0, 1);
    assertWrongIndex(def->weightStarts, 2, 1);
    assertWrongIndex(def->weightStarts, (size_t)def->skinVertexCount, INT32_MAX);
    assertWrongIndex(def->boneParents, 0, 0);
    assertWrongIndex(def->boneParents, 1, 1);
    assertWrongIndex(def->boneParents, 1, -2);
    srCharacterDef spaces = *def;
    int32_t boneSpaces[2] = {0, 1};
    spaces.boneSpaces = boneSpaces;
    srCharacterId id;
    assert_result(srCreateCharacter(&spaces, &id), sr_errorInvalidValue);
}

#define PARAM(field, value) {offsetof(srShotParams, field), value}

static void dials_out_of_range_are_refused(void** state) {
    (void)state;
    const struct {
        size_t offset;
        float value;
    } wrong[] = {
        PARAM(frequency, 0.09f),    PARAM(frequency, 50.1f),     PARAM(frequency, NAN),
        PARAM(settleFrames, 0.9f),  PARAM(settleFrames, 10001),  PARAM(settleFrames, INFINITY),
        PARAM(youngModulus, -1),    PARAM(youngModulus, 1.1e9f), PARAM(youngModulus, NAN),
        PARAM(poissonRatio, -0.1f), PARAM(poissonRatio, 0.51f),  PARAM(poissonRatio, NAN),
        PARAM(density, 0),          PARAM(density, 100001),      PARAM(density, NAN),
        PARAM(poseCorrection, -1),  PARAM(poseCorrection, 1.1f), PARAM(poseCorrection, NAN),
        PARAM(restGravity[0], NAN), PARAM(restGravity[1], 2e6f), PARAM(restGravity[2], -INFINITY),
    };
    uint64_t before;
    uint64_t after;
    assert_success(srShot_GetStateHash(shot, FRAMES, &before));
    for (int32_t i = 0; i < SR_ARRAY_COUNT(wrong); ++i) {
        srShotDef def = srDefaultShotDef();
        srShotId id;
        def.character = character;
        memcpy((char*)&def.params + wrong[i].offset, &wrong[i].value, sizeof(float));
        assert_result(srCreateShot(&def, &id), sr_errorInvalidValue);
        assert_result(srShot_SetParams(shot, &def.params), sr_errorInvalidValue);
    }
    srShotParams params = srDefaultShotParams();
    params.substeps = 0;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.substeps = 101;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params = srDefaultShotParams();
    params.solver = -1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.solver = 99;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params = srDefaultShotParams();
    params.loop = 3;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.loop = -1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params = srDefaultShotParams();
    assert_int_equal(params.complement, sr_complementAutomatic);
    assert_true(params.fibreStiffness == 1.0f && params.stretchLimit == 0.0f);
    const float badFibres[] = {0.0f, 101.0f, -1.0f, NAN};
    const float badLimits[] = {0.5f, 11.0f, -1.0f, NAN};
    for (int i = 0; i < 4; ++i) {
        params = srDefaultShotParams();
        params.fibreStiffness = badFibres[i];
        assert_true(srShot_SetParams(shot, &params) != sr_success);
        params = srDefaultShotParams();
        params.stretchLimit = badLimits[i];
        assert_true(srShot_SetParams(shot, &params) != sr_success);
    }
    params = srDefaultShotParams();
    params.complement = sr_complementNothing + 1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.complement = -1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params = srDefaultShotParams();
    assert_int_equal(params.material, sr_materialKindRigid);
    params.material = sr_materialKindStVenantKirchhoff + 1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.material = -1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params = srDefaultShotParams();
    assert_int_equal(params.swings, sr_swingsFade);
    params.swings = sr_swingsKeep + 1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    params.swings = -1;
    assert_result(srShot_SetParams(shot, &params), sr_errorInvalidValue);
    assert_success(srShot_GetStateHash(shot, FRAMES, &after));
    assert_true(before == after);
}

static void controls_out_of_range_are_refused(void** state) {
    (void)state;
    const struct {
        size_t offset;
        float value;
    } wrong[] = {
        {offsetof(srFrameControls, gravity), NAN},      {offsetof(srFrameControls, gravity) + 8, -2e6f},
        {offsetof(srFrameControls, wind), INFINITY},    {offsetof(srFrameControls, wind) + 4, 2e4f},
        {offsetof(srFrameControls, windGusts), -0.1f},  {offsetof(srFrameControls, windGusts), NAN},
        {offsetof(srFrameControls, travelFelt), 1.01f}, {offsetof(srFrameControls, travelFelt), NAN},
        {offsetof(srFrameControls, pressure), -1.0f},   {offsetof(srFrameControls, pressure), NAN},
    };
    uint64_t before;
    uint64_t after;
    assert_success(srShot_GetStateHash(shot, FRAMES, &before));
    for (int32_t i = 0; i < SR_ARRAY_COUNT(wrong); ++i) {
        srFrameControls controls[2] = {srDefaultFrameControls(), srDefaultFrameControls()};
        memcpy((char*)&controls[1] + wrong[i].offset, &wrong[i].value, sizeof(float));
        assert_result(srShot_WriteControls(shot, 1, 2, controls, NULL), sr_errorInvalidValue);
    }
    srFrameControls fine = srDefaultFrameControls();
    assert_result(srShot_WriteControls(shot, 0, 1, &fine, NULL), sr_errorInvalidValue);
    assert_result(srShot_WriteControls(shot, FRAMES + 1, 1, &fine, NULL), sr_errorInvalidValue);
    assert_result(srShot_WriteControls(shot, 1, 0, &fine, NULL), sr_errorInvalidValue);
    int32_t changed = 0;
    assert_success(srShot_WriteControls(shot, FRAMES, 1, &fine, &changed));
    assert_int_equal(changed, FRAMES + 1); // it had the default already
    assert_success(srShot_GetStateHash(shot, FRAMES, &after));
    assert_true(before == after);
}

static void shots_and_bakes_out_of_range_are_refused(void** state) {
    (void)state;
    srShotDef def = srDefaultShotDef();
    srShotId id;
    def.character = character;
    const int32_t frameCounts[] = {0, -1, 1000001, INT32_MIN};
    for (int i = 0; i < 4; ++i) {
        def.frameCount = frameCounts[i];
        assert_result(srCreateShot(&def, &id), sr_errorInvalidValue);
    }
    def.frameCount = 1;
    const double rates[] = {0.0, -24.0, 1001.0, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 5; ++i) {
        def.frameRate = rates[i];
        assert_result(srCreateShot(&def, &id), sr_errorInvalidValue);
    }
    def.frameRate = 24.0;
    def.firstFrame = INT32_MAX;
    assert_result(srCreateShot(&def, &id), sr_errorInvalidValue);

    const int32_t ranges[][2] = {{0, 1},
                                 {1, 0},
                                 {1, -1},
                                 {1, FRAMES + 1},
                                 {FRAMES + 1, 1},
                                 {INT32_MIN, INT32_MAX},
                                 {INT32_MAX, INT32_MAX}};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(ranges); ++i) {
        srBakeDef bakeDef = srDefaultBakeDef();
        srBakeId bake;
        bakeDef.shot = shot;
        bakeDef.path = "never written";
        bakeDef.firstFrame = ranges[i][0];
        bakeDef.frameCount = ranges[i][1];
        assert_result(srStartBake(&bakeDef, &bake), sr_errorInvalidValue);
    }
    const int32_t samples[] = {0, -1, 101, INT32_MIN, INT32_MAX};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(samples); ++i) {
        srBakeDef bakeDef = srDefaultBakeDef();
        srBakeId bake;
        bakeDef.shot = shot;
        bakeDef.path = "never written";
        bakeDef.frameCount = 1;
        bakeDef.samplesPerFrame = samples[i];
        assert_result(srStartBake(&bakeDef, &bake), sr_errorInvalidValue);
        assert_non_null(strstr(srGetErrorText(), "samplesPerFrame"));
    }
}

static void wrong_rows_are_refused_and_nothing_is_written(void** state) {
    (void)state;
    int64_t rowFloats = floatCount / FRAMES;
    int32_t changed = 55;
    const float bad[] = {NAN, INFINITY, -INFINITY, 2e12f};
    for (int i = 0; i < 4; ++i) {
        // within the second row, so that the first one is right and must not be written alone
        float before = rows[rowFloats + 20];
        rows[0] += 1.0f;
        rows[rowFloats + 20] = bad[i];
        assert_result(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, &changed),
                      i < 3 ? sr_errorNotFinite : sr_errorInvalidValue);
        rows[0] -= 1.0f;
        rows[rowFloats + 20] = before;
    }
    const int64_t counts[] = {0, -1, floatCount - 1, floatCount + 1, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 6; ++i) {
        assert_result(srShot_WriteTape(shot, 1, FRAMES, rows, counts[i], &changed), sr_errorInvalidValue);
    }
    const int32_t rowCounts[] = {0, -1, FRAMES + 1, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 5; ++i) {
        assert_result(srShot_WriteTape(shot, 1, rowCounts[i], rows, floatCount, &changed),
                      sr_errorInvalidValue);
    }
    const int32_t firstFrames[] = {0, FRAMES + 2, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; ++i) {
        assert_result(srShot_WriteTape(shot, firstFrames[i], 1, rows, rowFloats, &changed),
                      sr_errorInvalidValue);
    }

    // what does not fit is refused before a matrix is looked at
    float before = rows[0];
    rows[0] = NAN;
    assert_result(srShot_WriteTape(shot, 2, FRAMES, rows, floatCount, &changed), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "not within the shot's"));
    assert_result(srShot_WriteTape(shot, 1, FRAMES + 1, rows, floatCount, &changed), sr_errorInvalidValue);
    assert_result(srShot_WriteTape(shot, 0, 1, rows, rowFloats, &changed), sr_errorInvalidValue);
    rows[0] = before;
    assert_int_equal(changed, 55);
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, &changed));
    assert_int_equal(changed, 1 + FRAMES);
}

static void reading_with_a_wrong_count_or_frame_is_refused(void** state) {
    (void)state;
    uint64_t hash;
    const int32_t wrong[] = {0, -1, 1, INT32_MAX};
    for (int i = 0; i < 4; ++i) {
        assert_result(srShot_ReadOffsets(shot, 1.0, floats, wrong[i]), sr_errorInvalidValue);
        assert_result(srShot_ReadProvisional(shot, 1, floats, wrong[i]), sr_errorInvalidValue);
        assert_result(srShot_FollowSkin(shot, scene.def.skinPositions, wrong[i]), sr_errorInvalidValue);
        assert_result(srShot_WriteSkin(shot, 1, 1, scene.def.skinPositions, wrong[i], NULL),
                      sr_errorInvalidValue);
        assert_result(srShot_ReadNodes(shot, 1, true, floats, wrong[i]), sr_errorInvalidValue);
        assert_result(srCharacter_ReadCage(character, floats, wrong[i], cells, report.cellCount),
                      sr_errorInvalidValue);
        assert_result(srCharacter_ReadCage(character, floats, report.nodeCount, cells, wrong[i]),
                      sr_errorInvalidValue);
    }
    const double frames[] = {(double)NAN, (double)INFINITY, -2e9};
    for (int i = 0; i < 3; ++i) {
        assert_result(srShot_ReadOffsets(shot, frames[i], floats, scene.def.skinVertexCount),
                      sr_errorInvalidValue);
    }
    assert_result(srShot_AskProvisional(shot, 0), sr_errorInvalidValue);
    assert_result(srShot_AskProvisional(shot, INT32_MIN), sr_errorInvalidValue);
    assert_result(srShot_ReadProvisional(shot, INT32_MAX, floats, scene.def.skinVertexCount),
                  sr_errorInvalidValue);
    assert_result(srShot_ReadNodes(shot, 0, true, floats, report.nodeCount), sr_errorInvalidValue);
    assert_result(srShot_GetStateHash(shot, INT32_MIN, &hash), sr_errorInvalidValue);
    assert_result(srShot_GetStateHash(shot, FRAMES + 1, &hash), sr_errorInvalidValue);
}

static void waiting_for_no_number_of_seconds_is_refused(void** state) {
    (void)state;
    assert_result(srCharacter_Wait(character, (double)NAN), sr_errorInvalidValue);
    assert_result(srShot_WaitFrame(shot, 1, (double)NAN), sr_errorInvalidValue);
    assert_result(srBake_Wait((srBakeId){0}, (double)NAN), sr_errorInvalidValue);
    assert_success(srShot_WaitFrame(shot, INT32_MIN, 0.0));
    assert_success(srShot_WaitFrame(shot, INT32_MAX, (double)INFINITY));
    assert_success(srCharacter_Wait(character, -(double)INFINITY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_that_name_nothing_are_stale),
        cmocka_unit_test(null_pointers_are_named),
        cmocka_unit_test(structs_of_another_size_are_refused),
        cmocka_unit_test(followers_with_wrong_numbers_are_refused),
        cmocka_unit_test(a_matrix_of_no_numbers_is_refused),
        cmocka_unit_test(counts_out_of_range_are_refused),
        cmocka_unit_test(missing_arrays_of_a_character_are_named),
        cmocka_unit_test(wrong_numbers_in_a_character_s_arrays_are_refused),
        cmocka_unit_test(dials_out_of_range_are_refused),
        cmocka_unit_test(controls_out_of_range_are_refused),
        cmocka_unit_test(shots_and_bakes_out_of_range_are_refused),
        cmocka_unit_test(wrong_rows_are_refused_and_nothing_is_written),
        cmocka_unit_test(reading_with_a_wrong_count_or_frame_is_refused),
        cmocka_unit_test(waiting_for_no_number_of_seconds_is_refused),
    };
    return cmocka_run_group_tests_name("api/arguments", tests, startAll, stopAll);
}
