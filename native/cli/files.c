// SPDX-License-Identifier: GPL-3.0-or-later
//
// What files hold: counting, appending, freeing; telling one sort of file from another.

#include "cli/files.h"

#include <string.h>

int32_t srCliMesh_GetPointCount(const srCliMesh* mesh) {
    return (int32_t)(mesh->points.count / 3);
}

int32_t srCliMesh_GetTriangleCount(const srCliMesh* mesh) {
    return (int32_t)(mesh->triangles.count / 3);
}

int32_t srCliMesh_GetCellCount(const srCliMesh* mesh) {
    return (int32_t)(mesh->cells.count / 4);
}

void srCliMesh_Free(srCliMesh* mesh) {
    srCliFloats_Free(&mesh->points);
    srCliInts_Free(&mesh->triangles);
    srCliInts_Free(&mesh->cells);
}

bool srCliMesh_AddPoint(srCliMesh* mesh, const float point[3], const srCliText* text, srCliError* error) {
    if (srCliMesh_GetPointCount(mesh) >= SR_CLI_MAX_COUNT) {
        return srCliText_Fail(text, error, "More than %d vertices.", SR_CLI_MAX_COUNT);
    }
    return srCliFloats_Append(&mesh->points, point, 3) || srCliFailMemory(error);
}

bool srCliMesh_AddTriangle(srCliMesh* mesh, const int32_t corners[3], const srCliText* text,
                           srCliError* error) {
    if (srCliMesh_GetTriangleCount(mesh) >= SR_CLI_MAX_COUNT) {
        return srCliText_Fail(text, error, "More than %d triangles.", SR_CLI_MAX_COUNT);
    }
    return srCliInts_Append(&mesh->triangles, corners, 3) || srCliFailMemory(error);
}

int32_t srCliRig_GetRowLength(const srCliRig* rig) {
    return 1 + rig->spaceCount + rig->boneCount;
}

const char* srCliRig_GetBoneName(const srCliRig* rig, int32_t bone) {
    return rig->names.items + rig->nameStarts.items[bone];
}

void srCliRig_Free(srCliRig* rig) {
    srCliBytes_Free(&rig->names);
    srCliInts_Free(&rig->nameStarts);
    srCliInts_Free(&rig->boneSpaces);
    srCliInts_Free(&rig->boneParents);
    srCliFloats_Free(&rig->boneLengths);
    srCliFloats_Free(&rig->boneLooseTips);
    srCliFloats_Free(&rig->boneRests);
    srCliFloats_Free(&rig->spaceToSkin);
    srCliInts_Free(&rig->weightStarts);
    srCliInts_Free(&rig->weightBones);
    srCliFloats_Free(&rig->weightValues);
    srCliFloats_Free(&rig->motion);
    *rig = (srCliRig){0};
}

static bool hasEnding(const char* path, const char* lower, const char* upper) {
    size_t length = strlen(path);
    size_t endingLength = strlen(lower);
    if (length < endingLength) {
        return false;
    }
    const char* ending = path + length - endingLength;
    return strcmp(ending, lower) == 0 || strcmp(ending, upper) == 0;
}

// "OFF" behind at most the letters that say what else a vertex has; "OFF12" is a common fault of writers
static bool isOffWord(srCliToken token) {
    for (size_t i = 0; i + 3 <= token.length; ++i) {
        if (memcmp(token.start + i, "OFF", 3) == 0) {
            return true;
        }
        if (strchr("STCN4n", token.start[i]) == NULL) {
            return false;
        }
    }
    return false;
}

srCliFileKind srCliDetectKind(srCliText* text) {
    srCliToken token = {.start = text->bytes};
    if (srCliText_NextLine(text)) {
        srCliText_Next(text, &token);
    }
    srCliText_Rewind(text);
    if (srCliToken_Is(token, "softrig-rig")) {
        return sr_cliFileRig;
    }
    if (token.length >= 20 && memcmp(token.start, "MeshVersionFormatted", 20) == 0) {
        return sr_cliFileMedit;
    }
    bool isOff = isOffWord(token) || hasEnding(text->path, ".off", ".OFF");
    return isOff ? sr_cliFileOff : sr_cliFileObj;
}

static bool readSkin(srCliText* text, srCliMesh* outMesh, srCliError* error) {
    switch (srCliDetectKind(text)) {
    case sr_cliFileObj:
        return srCliReadObj(text, outMesh, error);
    case sr_cliFileOff:
        return srCliReadOff(text, outMesh, error);
    case sr_cliFileMedit:
        return srCliFail(error, "%s: This is a cage (MEDIT .mesh); a skin is an OBJ or OFF file.",
                         text->path);
    case sr_cliFileRig:
        return srCliFail(error, "%s: This is a rig; a skin is an OBJ or OFF file.", text->path);
    }
    return false;
}

bool srCliReadSkinFile(const char* path, srCliMesh* outMesh, srCliError* error) {
    *outMesh = (srCliMesh){0};
    srCliText text;
    bool isRead = srCliOpenText(path, &text, error) && readSkin(&text, outMesh, error);
    srCliText_Close(&text);
    return isRead;
}

bool srCliReadCageFile(const char* path, srCliMesh* outMesh, srCliError* error) {
    *outMesh = (srCliMesh){0};
    srCliText text;
    bool isRead = srCliOpenText(path, &text, error) && srCliReadMedit(&text, outMesh, error);
    srCliText_Close(&text);
    return isRead;
}

bool srCliReadRigFile(const char* path, srCliRig* outRig, srCliError* error) {
    *outRig = (srCliRig){0};
    srCliText text;
    bool isRead = srCliOpenText(path, &text, error) && srCliReadRig(&text, outRig, error);
    srCliText_Close(&text);
    return isRead;
}
