// SPDX-License-Identifier: GPL-3.0-or-later
//
// From files to a prepared character.

#include "cli/character.h"

#include "cli/progress.h"
#include "cli/system.h"
#include "cli/write.h"

#include <stddef.h>
#include <string.h>

// how long to wait before looking at progress and interrupts again
#define POLL_SECONDS 0.1

srCliInputs srCliDefaultInputs(void) {
    srCharacterDef def = srDefaultCharacterDef();
    return (srCliInputs){
        .nodeCount = def.targetNodeCount,
        .largestHolePercent = 100.0f * def.largestHole,
        .sheetThicknessPercent = 100.0f * def.sheetThickness,
        .fillsHollows = def.fillsHollows,
        .joinsTouching = def.joinsTouching,
    };
}

bool srCliInputs_Read(srCliInputs* inputs, srCliError* error) {
    if (!srCliReadSkinFile(inputs->skinPath, &inputs->skin, error)) {
        return false;
    }
    if (srCliMesh_GetTriangleCount(&inputs->skin) == 0) {
        return srCliFail(error, "%.250s has vertices but no faces: export the mesh with its faces.",
                         inputs->skinPath);
    }
    if (inputs->rigPath != NULL && !srCliReadRigFile(inputs->rigPath, &inputs->rig, error)) {
        return false;
    }
    int32_t vertexCount = srCliMesh_GetPointCount(&inputs->skin);
    if (inputs->rig.boneCount > 0 && inputs->rig.vertexCount != vertexCount) {
        return srCliFail(error, "%.250s weights %d vertices, but %.250s has %d.", inputs->rigPath,
                         inputs->rig.vertexCount, inputs->skinPath, vertexCount);
    }
    return inputs->cagePath == NULL || srCliReadCageFile(inputs->cagePath, &inputs->cage, error);
}

bool srCliInputs_ReadMesher(srCliInputs* inputs, srCliError* error) {
    static const char* const names[] = {
        [sr_mesherAutomatic] = "auto", [sr_mesherLattice] = "lattice", [sr_mesherTetgen] = "tetgen"};
    const char* name = inputs->mesherName != NULL ? inputs->mesherName : names[sr_mesherAutomatic];
    for (int32_t mesher = sr_mesherAutomatic; mesher <= sr_mesherTetgen; mesher++) {
        if (strcmp(name, names[mesher]) == 0) {
            inputs->mesher = mesher;
            srCliFindBeside("softrig-tetgen", inputs->tetgenProgram);
            return true;
        }
    }
    return srCliFail(error, "There is no mesher '%.40s': auto, lattice or tetgen.", name);
}

void srCliInputs_Free(srCliInputs* inputs) {
    srCliMesh_Free(&inputs->skin);
    srCliRig_Free(&inputs->rig);
    srCliMesh_Free(&inputs->cage);
}

static void fillBones(const srCliRig* rig, srCharacterDef* def) {
    def->spaceCount = rig->spaceCount;
    def->spaceToSkin = rig->spaceCount > 0 ? rig->spaceToSkin.items : NULL;
    if (rig->boneCount == 0) {
        return;
    }
    def->weightStarts = rig->weightStarts.items;
    def->weightBones = rig->weightBones.items;
    def->weightValues = rig->weightValues.items;
    def->boneCount = rig->boneCount;
    def->boneRests = rig->boneRests.items;
    def->boneLengths = rig->boneLengths.items;
    def->boneParents = rig->boneParents.items;
    def->boneLooseTips = rig->boneLooseTips.items;
    def->boneSpaces = rig->boneSpaces.items;
}

static srCharacterDef makeDef(const srCliInputs* inputs) {
    srCharacterDef def = srDefaultCharacterDef();
    def.skinPositions = inputs->skin.points.items;
    def.skinVertexCount = srCliMesh_GetPointCount(&inputs->skin);
    def.skinTriangles = inputs->skin.triangles.items;
    def.skinTriangleCount = srCliMesh_GetTriangleCount(&inputs->skin);
    fillBones(&inputs->rig, &def);
    if (inputs->cagePath != NULL) {
        def.cageNodes = inputs->cage.points.items;
        def.cageNodeCount = srCliMesh_GetPointCount(&inputs->cage);
        def.cageCells = inputs->cage.cells.items;
        def.cageCellCount = srCliMesh_GetCellCount(&inputs->cage);
    }
    def.targetNodeCount = inputs->nodeCount;
    // in double: 20 % is the very 0.2 that is the library's default
    def.largestHole = (float)((double)inputs->largestHolePercent / 100.0);
    def.sheetThickness = (float)((double)inputs->sheetThicknessPercent / 100.0);
    def.fillsHollows = inputs->fillsHollows;
    def.joinsTouching = inputs->joinsTouching;
    def.mesher = inputs->mesher;
    def.tetgenProgram = inputs->tetgenProgram;
    return def;
}

static srResult waitForCharacter(srCharacterId character) {
    srCliProgress progress = srCliBeginProgress("preparing");
    srResult result = sr_errorNotReady;
    while (result == sr_errorNotReady && !srCliWasInterrupted()) {
        srJobStatus status = {0};
        if (srCharacter_GetStatus(character, &status) == sr_success) {
            srCliProgress_Show(&progress, status.progress);
        }
        result = srCharacter_Wait(character, POLL_SECONDS);
    }
    srCliProgress_End(&progress);
    return result;
}

bool srCliStoreCharacter(srCharacterId character, const char* path, srCliError* error) {
    size_t size = 0;
    if (srCharacter_GetFileSize(character, &size) != sr_success) {
        return srCliFailLibrary(error, "Storing the character");
    }
    uint8_t* bytes = srCliResize(NULL, size);
    srCliWriter writer;
    bool isWritten = bytes != NULL || srCliFailMemory(error);
    if (isWritten && srCharacter_WriteFile(character, bytes, size) != sr_success) {
        isWritten = srCliFailLibrary(error, "Storing the character");
    }
    isWritten = isWritten && srCliOpenWriter(path, &writer, error);
    if (isWritten) {
        fwrite(bytes, 1, size, writer.file);
        isWritten = srCliWriter_Commit(&writer, error);
    }
    srCliResize(bytes, 0);
    return isWritten;
}

// that a stored character is of these files
static bool checkPrepared(const srCliInputs* inputs, const srCharacterReport* report, srCliError* error) {
    int32_t vertexCount = srCliMesh_GetPointCount(&inputs->skin);
    if (report->vertexCount != vertexCount) {
        return srCliFail(error, "%.250s is of a skin of %d vertices, but %.200s has %d.",
                         inputs->preparedPath, report->vertexCount, inputs->skinPath, vertexCount);
    }
    if (inputs->rigPath != NULL &&
        (report->boneCount != inputs->rig.boneCount || report->spaceCount != inputs->rig.spaceCount)) {
        return srCliFail(error, "%.200s is of %d bones in %d armatures, but %.200s has %d in %d.",
                         inputs->preparedPath, report->boneCount, report->spaceCount, inputs->rigPath,
                         inputs->rig.boneCount, inputs->rig.spaceCount);
    }
    return true;
}

static bool openPrepared(const srCliInputs* inputs, srCharacterId* outCharacter, srCharacterReport* outReport,
                         srCliError* error) {
    srCliBytes bytes;
    bool isOpen = srCliReadBytes(inputs->preparedPath, &bytes, error);
    // a file of no bytes is an array of none, which is no null pointer
    const char* start = bytes.items != NULL ? bytes.items : "";
    if (isOpen && (srOpenCharacter((const uint8_t*)start, bytes.count, outCharacter) != sr_success ||
                   srCharacter_GetReport(*outCharacter, outReport) != sr_success)) {
        isOpen = srCliFail(error, "%.250s: %.250s", inputs->preparedPath, srGetErrorText());
    }
    srCliBytes_Free(&bytes);
    return isOpen && checkPrepared(inputs, outReport, error);
}

bool srCliPrepareCharacter(const srCliInputs* inputs, srCharacterId* outCharacter,
                           srCharacterReport* outReport, srCliError* error) {
    *outCharacter = (srCharacterId){0};
    if (inputs->preparedPath != NULL) {
        return openPrepared(inputs, outCharacter, outReport, error);
    }
    srCharacterDef def = makeDef(inputs);
    if (srCreateCharacter(&def, outCharacter) != sr_success) {
        return srCliFailLibrary(error, "Preparing");
    }
    srResult result = waitForCharacter(*outCharacter);
    if (result == sr_errorNotReady) {
        return srCliFail(error, "Interrupted.");
    }
    if (result != sr_success || srCharacter_GetReport(*outCharacter, outReport) != sr_success) {
        return srCliFailLibrary(error, "Preparing");
    }
    return true;
}
