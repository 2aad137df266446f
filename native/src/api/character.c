// SPDX-License-Identifier: GPL-3.0-or-later
//
// Check, translate, call, return: characters.

#include "softrig/character.h"

#include "api/check.h"
#include "api/registry.h"
#include "api/status.h"
#include "math/mat34.h"
#include "sim/character_file.h"
#include "sim/preparation.h"

#include <string.h>

srCharacterDef srDefaultCharacterDef(void) {
    return (srCharacterDef){
        .structSize = sizeof(srCharacterDef),
        .targetNodeCount = 1000,
        .maps = srDefaultCharacterMaps(),
        .largestHole = 0.2f,
        .sheetThickness = 0.01f,
    };
}

srCharacterMaps srDefaultCharacterMaps(void) {
    return (srCharacterMaps){.structSize = sizeof(srCharacterMaps)};
}

static srResult checkSkin(const srCharacterDef* def) {
    SR_CHECK_NOT_NULL(def->skinPositions);
    SR_CHECK_NOT_NULL(def->skinTriangles);
    SR_TRY(srCheckRange("skinVertexCount", def->skinVertexCount, 1, INT32_MAX / 4));
    SR_TRY(srCheckRange("skinTriangleCount", def->skinTriangleCount, 1, INT32_MAX / 4));
    SR_TRY(srCheckSize("skinPositions", def->skinPositions, 3 * (size_t)def->skinVertexCount));
    return srCheckIndices("skinTriangles", def->skinTriangles, 3 * (size_t)def->skinTriangleCount, 0,
                          def->skinVertexCount);
}

static srResult checkWeights(const srCharacterDef* def) {
    if (def->weightStarts == NULL) {
        return sr_success;
    }
    if (def->weightStarts[0] != 0) {
        return srFail(sr_errorInvalidValue, "weightStarts[0] is %d; it must be 0.", def->weightStarts[0]);
    }
    for (int32_t v = 0; v < def->skinVertexCount; ++v) {
        if (def->weightStarts[v + 1] < def->weightStarts[v]) {
            return srFail(sr_errorInvalidValue, "weightStarts[%d] is less than the one before it.", v + 1);
        }
    }
    size_t entryCount = (size_t)def->weightStarts[def->skinVertexCount];
    SR_TRY(srCheckRange("the number of weights", (double)entryCount, 0, INT32_MAX / 4));
    if (entryCount == 0) {
        return sr_success;
    }
    SR_CHECK_NOT_NULL(def->weightBones);
    SR_CHECK_NOT_NULL(def->weightValues);
    SR_TRY(srCheckIndices("weightBones", def->weightBones, entryCount, 0, def->boneCount));
    SR_TRY(srCheckFinite("weightValues", def->weightValues, entryCount));
    for (size_t entry = 0; entry < entryCount; ++entry) {
        if (def->weightValues[entry] < 0.0f) {
            return srFail(sr_errorInvalidValue, "weightValues[%zu] is negative.", entry);
        }
    }
    return sr_success;
}

// matrices that are to be undone must not squash space flat
static srResult checkInvertible(const char* name, const float* matrices, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        srMat34 matrix = srFromColumns16(matrices + 16 * (size_t)i);
        srMat34 inverse;
        if (!srInvert34(&matrix, &inverse)) {
            return srFail(sr_errorInvalidValue, "%s: matrix %d of %d is flat, it has no inverse.", name, i,
                          count);
        }
    }
    return sr_success;
}

static srResult checkBoneLengths(const srCharacterDef* def) {
    SR_TRY(srCheckPlaces("boneLengths", def->boneLengths, (size_t)def->boneCount));
    for (int32_t k = 0; k < def->boneCount; ++k) {
        if (def->boneLengths[k] < 0.0f) {
            return srFail(sr_errorInvalidValue, "boneLengths[%d] is %g; it must not be negative.", k,
                          (double)def->boneLengths[k]);
        }
    }
    return sr_success;
}

static srResult checkBones(const srCharacterDef* def) {
    SR_TRY(srCheckRange("boneCount", def->boneCount, 0, 100000));
    SR_TRY(srCheckRange("spaceCount", def->spaceCount, def->boneCount > 0 ? 1 : 0, 10000));
    if (def->spaceCount > 0) {
        SR_CHECK_NOT_NULL(def->spaceToSkin);
        SR_TRY(srCheckPlaces("spaceToSkin", def->spaceToSkin, 16 * (size_t)def->spaceCount));
        SR_TRY(checkInvertible("spaceToSkin", def->spaceToSkin, def->spaceCount));
    }
    if (def->boneCount == 0) {
        return sr_success;
    }
    size_t boneCount = (size_t)def->boneCount;
    SR_CHECK_NOT_NULL(def->boneRests);
    SR_CHECK_NOT_NULL(def->boneLengths);
    SR_CHECK_NOT_NULL(def->boneParents);
    SR_TRY(srCheckPlaces("boneRests", def->boneRests, 16 * boneCount));
    SR_TRY(checkInvertible("boneRests", def->boneRests, def->boneCount));
    SR_TRY(checkBoneLengths(def));
    for (int32_t k = 0; k < def->boneCount; ++k) {
        if (def->boneParents[k] < SR_NULL_INDEX || def->boneParents[k] >= k) {
            return srFail(sr_errorInvalidValue, "boneParents[%d] is %d; a parent stands before its children.",
                          k, def->boneParents[k]);
        }
    }
    if (def->boneSpaces != NULL) {
        SR_TRY(srCheckIndices("boneSpaces", def->boneSpaces, boneCount, 0, def->spaceCount));
    }
    for (size_t k = 0; def->boneLooseTips != NULL && k < boneCount; ++k) {
        SR_TRY(srCheckRange("boneLooseTips", (double)def->boneLooseTips[k], 0.0, 1.0));
    }
    return sr_success;
}

static srResult checkCage(const srCharacterDef* def) {
    SR_TRY(srCheckRange("mesher", def->mesher, sr_mesherAutomatic, sr_mesherTetgen));
    if (def->cageCells == NULL && def->cageNodes == NULL) {
        SR_TRY(srCheckRange("targetNodeCount", def->targetNodeCount, 50, 200000));
        SR_TRY(srCheckRange("largestHole", (double)def->largestHole, 0.0, 1e6));
        return srCheckRange("sheetThickness", (double)def->sheetThickness, 0.0, 1.0);
    }
    SR_CHECK_NOT_NULL(def->cageNodes);
    SR_CHECK_NOT_NULL(def->cageCells);
    SR_TRY(srCheckRange("cageNodeCount", def->cageNodeCount, 4, 10000000));
    SR_TRY(srCheckRange("cageCellCount", def->cageCellCount, 1, 50000000));
    SR_TRY(srCheckSize("cageNodes", def->cageNodes, 3 * (size_t)def->cageNodeCount));
    return srCheckIndices("cageCells", def->cageCells, 4 * (size_t)def->cageCellCount, 0, def->cageNodeCount);
}

srResult srCreateCharacter(const srCharacterDef* def, srCharacterId* outCharacter) {
    SR_CHECK_STRUCT(def, "Begin with srDefaultCharacterDef().");
    SR_CHECK_NOT_NULL(outCharacter);
    SR_TRY(checkSkin(def));
    SR_TRY(checkBones(def));
    SR_TRY(checkWeights(def));
    SR_TRY(checkCage(def));
    const srCharacterMaps* maps = &def->maps;
    SR_CHECK_STRUCT(maps, "Begin with srDefaultCharacterMaps().");

    srPreparation* preparation = NULL;
    srRawId id;
    SR_TRY(srStartPreparation(def, &preparation));
    SR_TRY(srRegister(sr_kindCharacter, preparation, NULL, &id));
    *outCharacter = (srCharacterId){id.index1, id.generation};
    return sr_success;
}

srResult srDestroyCharacter(srCharacterId character) {
    return srUnregister(sr_kindCharacter, SR_RAW_ID(character));
}

srResult srCharacter_GetStatus(srCharacterId character, srJobStatus* outStatus) {
    SR_CHECK_NOT_NULL(outStatus);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srReadJobStatus(srPreparation_GetJob(srEntry_GetObject(entry)), outStatus);
    srRelease(entry);
    return sr_success;
}

srResult srCharacter_Wait(srCharacterId character, double seconds) {
    SR_TRY(srCheckSeconds(seconds));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srWaitForJob(srPreparation_GetJob(srEntry_GetObject(entry)), seconds);
    srRelease(entry);
    return result;
}

srResult srCharacter_GetReport(srCharacterId character, srCharacterReport* outReport) {
    SR_CHECK_NOT_NULL(outReport);
    srEntry* entry = NULL;
    srCharacter* ready = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srPreparation_GetCharacter(srEntry_GetObject(entry), &ready);
    if (result == sr_success) {
        *outReport = srCharacter_CopyReport(ready);
    }
    srRelease(entry);
    return result;
}

static srResult copyCage(const srCage* cage, float* outNodes, int32_t nodeCount, int32_t* outCells,
                         int32_t cellCount) {
    if (nodeCount != cage->nodeCount || cellCount != cage->cellCount) {
        return srFail(sr_errorInvalidValue,
                      "The cage has %d nodes and %d cells; there is room for %d and %d.", cage->nodeCount,
                      cage->cellCount, nodeCount, cellCount);
    }
    for (int32_t i = 0; i < nodeCount; ++i) {
        srVec3f node = srToFloat(cage->nodes[i]);
        memcpy(outNodes + 3 * (size_t)i, &node, sizeof(node));
    }
    memcpy(outCells, cage->cells, (size_t)cellCount * sizeof(cage->cells[0]));
    return sr_success;
}

srResult srCharacter_ReadCage(srCharacterId character, float* outNodes, int32_t nodeCount, int32_t* outCells,
                              int32_t cellCount) {
    SR_CHECK_NOT_NULL(outNodes);
    SR_CHECK_NOT_NULL(outCells);
    srEntry* entry = NULL;
    srCharacter* ready = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srPreparation_GetCharacter(srEntry_GetObject(entry), &ready);
    if (result == sr_success) {
        result = copyCage(&ready->cage, outNodes, nodeCount, outCells, cellCount);
    }
    srRelease(entry);
    return result;
}

static srResult changeMaps(srCharacter* character, const srCharacterMaps* maps, int32_t vertexCount) {
    int32_t skinCount = character->embedding.pointCount;
    if (vertexCount != skinCount) {
        return srFail(sr_errorInvalidValue, "The maps are of %d vertices, but the skin has %d.", vertexCount,
                      skinCount);
    }
    return srCharacter_ChangeMaps(character, maps);
}

srResult srCharacter_SetMaps(srCharacterId character, const srCharacterMaps* maps, int32_t vertexCount) {
    SR_CHECK_STRUCT(maps, "Begin with srDefaultCharacterMaps().");
    srEntry* entry = NULL;
    srCharacter* ready = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srPreparation_GetCharacter(srEntry_GetObject(entry), &ready);
    if (result == sr_success) {
        result = changeMaps(ready, maps, vertexCount);
    }
    srRelease(entry);
    return result;
}

srResult srCharacter_GetFileSize(srCharacterId character, size_t* outByteCount) {
    SR_CHECK_NOT_NULL(outByteCount);
    srEntry* entry = NULL;
    srCharacter* ready = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srPreparation_GetCharacter(srEntry_GetObject(entry), &ready);
    if (result == sr_success) {
        srAudience_Hold(ready->audience);
        *outByteCount = srGetCharacterFileSize(ready);
        srAudience_Release(ready->audience);
    }
    srRelease(entry);
    return result;
}

static srResult writeFile(const srCharacter* character, uint8_t* outBytes, size_t byteCount) {
    srAudience_Hold(character->audience);
    size_t needed = srGetCharacterFileSize(character);
    bool isRight = needed == byteCount;
    if (isRight) {
        srWriteCharacterFile(character, outBytes);
    }
    srAudience_Release(character->audience);
    return isRight ? sr_success
                   : srFail(sr_errorNotReady, "The character takes %zu bytes now; there is room for %zu.",
                            needed, byteCount);
}

srResult srCharacter_WriteFile(srCharacterId character, uint8_t* outBytes, size_t byteCount) {
    SR_CHECK_NOT_NULL(outBytes);
    srEntry* entry = NULL;
    srCharacter* ready = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(character), &entry));
    srResult result = srPreparation_GetCharacter(srEntry_GetObject(entry), &ready);
    if (result == sr_success) {
        result = writeFile(ready, outBytes, byteCount);
    }
    srRelease(entry);
    return result;
}

srResult srOpenCharacter(const uint8_t* bytes, size_t byteCount, srCharacterId* outCharacter) {
    SR_CHECK_NOT_NULL(bytes);
    SR_CHECK_NOT_NULL(outCharacter);
    srPreparation* preparation = NULL;
    srRawId id;
    SR_TRY(srOpenPreparation(bytes, byteCount, &preparation));
    SR_TRY(srRegister(sr_kindCharacter, preparation, NULL, &id));
    *outCharacter = (srCharacterId){id.index1, id.generation};
    return sr_success;
}
