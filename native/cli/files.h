// SPDX-License-Identifier: GPL-3.0-or-later
//
// The files that the program reads and writes, and what they hold in memory. Readers accept any bytes: they
// fill the struct, or fail with "path:line: sentence". After either, free the struct.

#pragma once

#include "cli/error.h"
#include "cli/memory.h"
#include "cli/text.h"

#include <stdbool.h>
#include <stdint.h>

/// Vertices, triangles, cells and weights that a file may hold, each.
#define SR_CLI_MAX_COUNT 100000000

/// A surface or a cage.
typedef struct srCliMesh {
    srCliFloats points;  ///< 3 a point.
    srCliInts triangles; ///< 3 points each; polygons are cut into fans.
    srCliInts cells;     ///< 4 points each.
} srCliMesh;

int32_t srCliMesh_GetPointCount(const srCliMesh* mesh);
int32_t srCliMesh_GetTriangleCount(const srCliMesh* mesh);
int32_t srCliMesh_GetCellCount(const srCliMesh* mesh);
void srCliMesh_Free(srCliMesh* mesh);

/// Bones, their weights and their motion: docs/rig-format.md. Arrays are laid out as `srCharacterDef` and
/// `srShot_WriteTape` want them.
typedef struct srCliRig {
    double frameRate;
    int32_t spaceCount;
    int32_t boneCount;
    int32_t vertexCount;
    int32_t firstFrame;
    int32_t frameCount;
    srCliBytes names; ///< One behind the other, each with its zero.
    srCliInts nameStarts;
    srCliInts boneSpaces;
    srCliInts boneParents;
    srCliFloats boneLengths;
    srCliFloats boneLooseTips;
    srCliFloats boneRests;   ///< 16 a bone.
    srCliFloats spaceToSkin; ///< 16 a space.
    srCliInts weightStarts;  ///< vertexCount + 1.
    srCliInts weightBones;
    srCliFloats weightValues;
    srCliFloats motion; ///< frameCount rows of 1 + spaceCount + boneCount matrices.
} srCliRig;

/// Matrices in a row of motion.
int32_t srCliRig_GetRowLength(const srCliRig* rig);
const char* srCliRig_GetBoneName(const srCliRig* rig, int32_t bone);
void srCliRig_Free(srCliRig* rig);

typedef enum srCliFileKind {
    sr_cliFileObj = 0,
    sr_cliFileOff = 1,
    sr_cliFileMedit = 2,
    sr_cliFileRig = 3,
} srCliFileKind;

/// Told by the first word; a file without a known one is OFF by its ending, else OBJ. Rewinds the text.
srCliFileKind srCliDetectKind(srCliText* text);

bool srCliReadObj(srCliText* text, srCliMesh* outMesh, srCliError* error);
bool srCliReadOff(srCliText* text, srCliMesh* outMesh, srCliError* error);
bool srCliReadMedit(srCliText* text, srCliMesh* outMesh, srCliError* error);
bool srCliReadRig(srCliText* text, srCliRig* outRig, srCliError* error);

/// Open, read and close a file of one sort.
bool srCliReadSkinFile(const char* path, srCliMesh* outMesh, srCliError* error);
bool srCliReadCageFile(const char* path, srCliMesh* outMesh, srCliError* error);
bool srCliReadRigFile(const char* path, srCliRig* outRig, srCliError* error);

/// Written beside their final name and moved over it when whole.
bool srCliWriteMedit(const char* path, const float* nodes, int32_t nodeCount, const int32_t* cells,
                     int32_t cellCount, srCliError* error);
bool srCliWriteObj(const char* path, const float* points, int32_t pointCount, const int32_t* triangles,
                   int32_t triangleCount, srCliError* error);

/// For readers: append a point, a triangle. Fail on too many.
bool srCliMesh_AddPoint(srCliMesh* mesh, const float point[3], const srCliText* text, srCliError* error);
bool srCliMesh_AddTriangle(srCliMesh* mesh, const int32_t corners[3], const srCliText* text,
                           srCliError* error);
