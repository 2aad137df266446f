// SPDX-License-Identifier: GPL-3.0-or-later
//
// Deep copy of a character definition. One table of its arrays serves copying and freeing.

#include "sim/source.h"

#include "core/alloc.h"

#include <string.h>

typedef struct ArrayField {
    const void** pointer;
    size_t count;
    size_t elementSize;
} ArrayField;

#define ARRAY_FIELD_COUNT 20

static void listArrays(srCharacterDef* def, ArrayField* fields) {
    size_t vertexCount = (size_t)def->skinVertexCount;
    size_t boneCount = (size_t)def->boneCount;
    size_t entryCount = def->weightStarts != NULL ? (size_t)def->weightStarts[vertexCount] : 0;
    size_t pathSize = def->tetgenProgram != NULL ? strlen(def->tetgenProgram) + 1 : 0;
    const ArrayField all[ARRAY_FIELD_COUNT] = {
        {(const void**)&def->weightBones, entryCount, sizeof(int32_t)},
        {(const void**)&def->weightValues, entryCount, sizeof(float)},
        {(const void**)&def->weightStarts, vertexCount + 1, sizeof(int32_t)},
        {(const void**)&def->skinPositions, 3 * vertexCount, sizeof(float)},
        {(const void**)&def->skinTriangles, 3 * (size_t)def->skinTriangleCount, sizeof(int32_t)},
        {(const void**)&def->boneRests, 16 * boneCount, sizeof(float)},
        {(const void**)&def->boneLengths, boneCount, sizeof(float)},
        {(const void**)&def->boneParents, boneCount, sizeof(int32_t)},
        {(const void**)&def->boneLooseTips, boneCount, sizeof(float)},
        {(const void**)&def->boneSpaces, boneCount, sizeof(int32_t)},
        {(const void**)&def->spaceToSkin, 16 * (size_t)def->spaceCount, sizeof(float)},
        {(const void**)&def->cageNodes, 3 * (size_t)def->cageNodeCount, sizeof(float)},
        {(const void**)&def->cageCells, 4 * (size_t)def->cageCellCount, sizeof(int32_t)},
        {(const void**)&def->maps.stiffness, vertexCount, sizeof(float)},
        {(const void**)&def->maps.mass, vertexCount, sizeof(float)},
        {(const void**)&def->maps.damping, vertexCount, sizeof(float)},
        {(const void**)&def->maps.hold, vertexCount, sizeof(float)},
        {(const void**)&def->maps.pin, vertexCount, sizeof(float)},
        {(const void**)&def->maps.detail, vertexCount, sizeof(float)},
        {(const void**)&def->tetgenProgram, pathSize, 1},
    };
    memcpy(fields, all, sizeof(all));
}

static bool copyArray(const ArrayField* from, const ArrayField* to) {
    *to->pointer = NULL;
    if (*from->pointer == NULL || from->count == 0) {
        return true;
    }
    void* copy = srAlloc(from->count, from->elementSize);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, *from->pointer, from->count * from->elementSize);
    *to->pointer = copy;
    return true;
}

static void freeArrays(const ArrayField* fields) {
    for (int field = 0; field < ARRAY_FIELD_COUNT; ++field) {
        srFree((void*)*fields[field].pointer, fields[field].count, fields[field].elementSize);
    }
}

srResult srCopySource(const srCharacterDef* def, srSource* outSource) {
    srCharacterDef original = *def;
    srCharacterDef copy = *def;
    ArrayField from[ARRAY_FIELD_COUNT];
    ArrayField to[ARRAY_FIELD_COUNT];
    listArrays(&original, from);
    listArrays(&copy, to);
    bool complete = true;
    for (int field = 0; field < ARRAY_FIELD_COUNT; ++field) {
        complete = copyArray(&from[field], &to[field]) && complete;
    }
    *outSource = (srSource){0};
    if (!complete) {
        freeArrays(to);
        return srFailOutOfMemory("a copy of the character");
    }
    outSource->def = copy;
    return sr_success;
}

void srDestroySource(srSource* source) {
    ArrayField fields[ARRAY_FIELD_COUNT];
    listArrays(&source->def, fields);
    freeArrays(fields);
    *source = (srSource){0};
}
