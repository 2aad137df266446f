// SPDX-License-Identifier: GPL-3.0-or-later
//
// A body of bodies.h with the cage, the weights on it and the holds that the add-on would give it.

#include "bodies.h"
#include "complementary_data.h"

#include "elastic/material.h"
#include "rig/turns.h"
#include "sim/character.h"
#include "softrig/shot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool prepareBody(const srBenchBody* body, int32_t nodeCount, srCharacter* outPrepared) {
    srCharacterDef def = body->def;
    def.targetNodeCount = nodeCount;
    def.mesher = sr_mesherLattice;
    srSource source;
    if (srCopySource(&def, &source) != sr_success) {
        return false;
    }
    srResult result = srPrepareCharacter(&source, NULL, outPrepared);
    srDestroySource(&source);
    return result == sr_success;
}

// bones and, after them, the skin's own object
static bool moveMaps(const srBenchBody* body, const srCharacter* prepared, srBenchCharacter* character) {
    size_t boneCount = (size_t)character->boneCount, rowSize = 16 * (2 + boneCount - 1);
    float* rows = malloc(SR_BODY_FRAMES * rowSize * sizeof(float));
    srMat34* maps = malloc(boneCount * sizeof(srMat34));
    character->maps = malloc(boneCount * SR_BODY_FRAMES * sizeof(*character->maps));
    bool isMoved = rows != NULL && maps != NULL && character->maps != NULL;
    if (isMoved) {
        srBench_MoveBody(body, rows);
    }
    // the first row is the pose at rest, where frames begin
    for (size_t frame = 0; isMoved && frame < SR_BODY_FRAMES; ++frame) {
        srRig_ReadRow(&prepared->rig, rows + rowSize * frame, maps);
        memcpy(character->maps + frame * boneCount, maps, boneCount * sizeof(srMat34));
    }
    free(rows);
    free(maps);
    return isMoved;
}

static void copyRig(const srCharacter* prepared, srBenchCharacter* character) {
    const srNodeWeights* weights = &prepared->weights;
    size_t nodeCount = (size_t)weights->nodeCount, entryCount = (size_t)weights->starts[nodeCount];
    memcpy((int32_t*)character->weights.starts, weights->starts, (nodeCount + 1) * sizeof(int32_t));
    memcpy((int32_t*)character->weights.bones, weights->bones, entryCount * sizeof(int32_t));
    memcpy((double*)character->weights.weights, weights->weights, entryCount * sizeof(double));
    for (size_t i = 0; i < nodeCount; ++i) {
        character->holds[i] = (double)prepared->body.holds[i];
    }
}

bool srBenchMakeBody(int index, int32_t nodeCount, srBenchCharacter* outCharacter) {
    srBenchBody body = {0};
    srCharacter prepared = {0};
    *outCharacter = (srBenchCharacter){0};
    bool isMade = srBench_CreateBody(index, &body) && prepareBody(&body, nodeCount, &prepared);
    if (isMade) {
        srShotParams usual = srDefaultShotParams();
        double size = (double)prepared.report.size;
        *outCharacter = (srBenchCharacter){
            .cage = prepared.cage,
            .boneCount = body.def.boneCount + 1,
            .frameCount = SR_BODY_FRAMES - 1,
            .frameSeconds = 1.0 / 24.0,
            .youngModulus = srYoungModulusForSize((double)usual.frequency, (double)usual.density, size),
            .poissonRatio = 0.4,
        };
        prepared.cage = (srCage){0};
        snprintf(outCharacter->name, sizeof(outCharacter->name), "%s", body.name);
        isMade = srBenchAllocatePlaces(outCharacter) && moveMaps(&body, &prepared, outCharacter);
    }
    if (isMade) {
        copyRig(&prepared, outCharacter);
    }
    srDestroyCharacterRest(&prepared);
    srBench_DestroyBody(&body);
    if (!isMade) {
        srBenchFreeCharacter(outCharacter);
    }
    return isMade;
}
