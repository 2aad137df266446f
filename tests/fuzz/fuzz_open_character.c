// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a prepared character. The last byte is ours: whether the rest is given its right size and hash
// first (without, nearly all inputs end at the hash; with, the checks behind it are met), whether it begins
// at an odd address, and whether what was opened is simulated. What opens is a character like any other: it
// is read, written, opened again to the same bytes, and its shot shows finite numbers.

#include "target.h"

#include "core/hash.h"
#include "softrig/softrig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 16384
#define FRAMES 3

// of the format: docs/character-format.md
#define SIZE_AT 16
#define HASH_AT 24
#define HASHED_FROM 32

enum {
    isSigned = 1,
    isShifted = 2,
    isSimulated = 4
};

static const char* const words[] = {"SRCH\r\n\x1a\n", "fact", "rept", "cell",     "pcel", "bsst", "bslp",
                                    "brun",           "b32m", "b16m", "binv",     "wsta", "csta", "mpin",
                                    "\x40",           "\x7f", "\xff", "\x7f\xc0", NULL};

static void sign(uint8_t* bytes, size_t size) {
    uint64_t byteCount = size;
    memcpy(bytes + SIZE_AT, &byteCount, sizeof(byteCount));
    uint64_t hash = srHashBlock(bytes + HASHED_FROM, size - HASHED_FROM);
    memcpy(bytes + HASH_AT, &hash, sizeof(hash));
}

static void requireFinite(const float* values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        srFuzzRequire(isfinite(values[i]));
    }
}

static uint8_t* writeBytes(srCharacterId id, size_t* outSize) {
    srFuzzRequire(srCharacter_GetFileSize(id, outSize) == sr_success);
    uint8_t* bytes = malloc(*outSize);
    srFuzzRequire(bytes != NULL);
    srFuzzRequire(srCharacter_WriteFile(id, bytes, *outSize) == sr_success);
    return bytes;
}

// What is written again may lack sections that nobody knows, but then it is as it will always be.
static void requireSameAgain(srCharacterId id) {
    size_t size, sameSize;
    srCharacterId again;
    uint8_t* bytes = writeBytes(id, &size);
    srFuzzRequire(srOpenCharacter(bytes, size, &again) == sr_success);
    uint8_t* same = writeBytes(again, &sameSize);
    srFuzzRequire(sameSize == size && memcmp(same, bytes, size) == 0);
    srFuzzRequire(srDestroyCharacter(again) == sr_success);
    free(same);
    free(bytes);
}

static void requireCage(srCharacterId id, const srCharacterReport* report) {
    size_t nodeFloats = 3 * (size_t)report->nodeCount;
    float* nodes = malloc(sizeof(float) * nodeFloats);
    int32_t* cells = malloc(4 * sizeof(int32_t) * (size_t)report->cellCount);
    srFuzzRequire(srCharacter_ReadCage(id, nodes, report->nodeCount, cells, report->cellCount) == sr_success);
    requireFinite(nodes, nodeFloats);
    for (int32_t i = 0; i < 4 * report->cellCount; i++) {
        srFuzzRequire(cells[i] >= 0 && cells[i] < report->nodeCount);
    }
    free(cells);
    free(nodes);
}

// Everything stays where it is, but the object jumps in the second frame.
static void writeTape(srShotId shot, const srCharacterReport* report) {
    size_t matrixCount = 1 + (size_t)report->spaceCount + (size_t)report->boneCount;
    size_t floatCount = 16 * matrixCount * FRAMES;
    float* rows = calloc(floatCount, sizeof(float));
    for (size_t i = 0; i < matrixCount * FRAMES; i++) {
        for (int axis = 0; axis < 4; axis++) {
            rows[16 * i + 5 * (size_t)axis] = 1.0f;
        }
        rows[16 * i + 12] = i % matrixCount == 0 && i > 0 ? 0.25f : 0.0f;
    }
    srFuzzRequire(srShot_WriteTape(shot, 1, FRAMES, rows, (int64_t)floatCount, NULL) == sr_success);
    free(rows);
}

// A shot may be refused, and a frame may fail, of numbers as no preparing makes; with a sentence.
static void simulate(srCharacterId id, const srCharacterReport* report) {
    srShotDef def = srDefaultShotDef();
    srShotId shot;
    def.character = id;
    def.frameCount = FRAMES;
    def.params.substeps = 1;
    if (srCreateShot(&def, &shot) != sr_success) {
        srFuzzRequire(srGetErrorText()[0] != 0);
        return;
    }
    writeTape(shot, report);
    size_t offsetFloats = 3 * (size_t)report->vertexCount;
    float* offsets = malloc(sizeof(float) * offsetFloats);
    if (srShot_WaitFrame(shot, FRAMES, -1.0) == sr_success &&
        srShot_ReadOffsets(shot, FRAMES, offsets, report->vertexCount) == sr_success) {
        requireFinite(offsets, offsetFloats);
    } else {
        srFuzzRequire(srGetErrorText()[0] != 0);
    }
    free(offsets);
    srFuzzRequire(srDestroyShot(shot) == sr_success);
}

static bool open(const uint8_t* bytes, size_t size, bool isToMove) {
    srCharacterId id;
    srCharacterReport report;
    srResult result = srOpenCharacter(bytes, size, &id);
    if (result != sr_success) {
        srFuzzRequire(result == sr_errorBadFile && strlen(srGetErrorText()) > 10);
        return false;
    }
    srFuzzRequire(srCharacter_GetReport(id, &report) == sr_success);
    requireCage(id, &report);
    requireSameAgain(id);
    if (isToMove) {
        simulate(id, &report);
    }
    srFuzzRequire(srDestroyCharacter(id) == sr_success);
    return true;
}

static bool run(const uint8_t* bytes, size_t size) {
    if (size == 0) {
        return false;
    }
    size_t fileSize = size - 1, shift = (bytes[fileSize] & isShifted) != 0 ? 1 : 0;
    uint8_t* block = malloc(fileSize + shift + 1);
    memcpy(block + shift, bytes, fileSize);
    if ((bytes[fileSize] & isSigned) != 0 && fileSize >= HASHED_FROM) {
        sign(block + shift, fileSize);
    }
    srFuzzRequire(srSetWorkerCount(1) == sr_success);
    bool isOpened = open(block + shift, fileSize, (bytes[fileSize] & isSimulated) != 0);
    srShutdown();
    free(block);
    srFuzzRequire(srGetByteCount() == 0);
    return isOpened;
}

// ---- seeds -----------------------------------------------------------------------------------------------

static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4, 3, 1, 4};
static const int32_t cells[] = {0, 1, 2, 3, 1, 2, 3, 4};

// The skin is the boundary of the cage, of one cell or of two.
static srCharacterDef makeDef(int32_t cellCount) {
    static const int32_t lone[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    srCharacterDef def = srDefaultCharacterDef();
    def.skinPositions = def.cageNodes = corners;
    def.skinVertexCount = def.cageNodeCount = 3 + cellCount;
    def.skinTriangles = cellCount == 1 ? lone : faces;
    def.skinTriangleCount = cellCount == 1 ? 4 : 6;
    def.cageCells = cells;
    def.cageCellCount = cellCount;
    return def;
}

static void visitCharacter(const srCharacterDef* def, int flags, srFuzzSeedFcn* visit, void* context) {
    srCharacterId id;
    size_t size;
    srFuzzRequire(srSetWorkerCount(1) == sr_success);
    srFuzzRequire(srCreateCharacter(def, &id) == sr_success);
    srFuzzRequire(srCharacter_Wait(id, -1.0) == sr_success);
    uint8_t* bytes = writeBytes(id, &size);
    uint8_t* input = malloc(size + 1);
    memcpy(input, bytes, size);
    input[size] = (uint8_t)flags;
    srFuzzRequire(size < MAX_SIZE);
    visit(input, size + 1, context);
    free(input);
    free(bytes);
    srFuzzRequire(srDestroyCharacter(id) == sr_success);
    srShutdown();
}

// Two bones of two armatures, and everything painted.
static void visitRigged(srFuzzSeedFcn* visit, void* context) {
    static const int32_t starts[] = {0, 1, 2, 3, 5, 6}, bones[] = {0, 0, 1, 0, 1, 1};
    static const float values[] = {1, 1, 1, 0.5f, 0.5f, 1}, lengths[] = {1, 1};
    static const float rests[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
                                    1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1};
    static const float painted[] = {1, 0.5f, 0.25f, 1, 0.75f};
    static const int32_t parents[] = {SR_NULL_INDEX, 0}, spaces[] = {0, 1};
    srCharacterDef def = makeDef(2);
    def.weightStarts = starts;
    def.weightBones = bones;
    def.weightValues = values;
    def.boneCount = def.spaceCount = 2;
    def.boneRests = def.spaceToSkin = rests;
    def.boneLengths = lengths;
    def.boneParents = parents;
    def.boneSpaces = spaces;
    def.maps.stiffness = def.maps.mass = def.maps.damping = def.maps.hold = def.maps.pin = painted;
    visitCharacter(&def, isSigned, visit, context);
    visitCharacter(&def, isSigned | isShifted, visit, context);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    srCharacterDef one = makeDef(1), two = makeDef(2);
    visitCharacter(&one, isSigned, visit, context);
    visitCharacter(&two, isSigned | isSimulated, visit, context);
    visitCharacter(&two, 0, visit, context);
    visitRigged(visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"open_character", run, visitSeeds, words, MAX_SIZE};
