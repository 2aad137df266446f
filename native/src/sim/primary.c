// SPDX-License-Identifier: GPL-3.0-or-later
//
// Three rows of places in double; differences of them in float.

#include "sim/primary.h"

#include "core/alloc.h"

srResult srCreatePrimary(const srCharacter* character, srPrimary* outPrimary) {
    int32_t nodeCount = character->cage.nodeCount;
    int32_t mapCount = character->rig.boneCount + 1;
    srPrimary primary = {.nodeCount = nodeCount, .mapCount = mapCount, .row = SR_NULL_INDEX};
    for (int place = 0; place < 3; ++place) {
        primary.places[place] = SR_ALLOC(srVec3, nodeCount);
    }
    primary.maps = SR_ALLOC(srMat34, mapCount);
    primary.from = SR_ALLOC(srVec3f, nodeCount);
    primary.to = SR_ALLOC(srVec3f, nodeCount);
    primary.velocityJump = SR_ALLOC(srVec3f, nodeCount);
    *outPrimary = primary;
    if (primary.places[0] == NULL || primary.places[1] == NULL || primary.places[2] == NULL ||
        primary.maps == NULL || primary.from == NULL || primary.to == NULL || primary.velocityJump == NULL) {
        srDestroyPrimary(outPrimary);
        return srFailOutOfMemory("the primary motion");
    }
    return sr_success;
}

void srDestroyPrimary(srPrimary* primary) {
    for (int place = 0; place < 3; ++place) {
        SR_FREE(primary->places[place], primary->nodeCount);
    }
    SR_FREE(primary->maps, primary->mapCount);
    SR_FREE(primary->from, primary->nodeCount);
    SR_FREE(primary->to, primary->nodeCount);
    SR_FREE(primary->velocityJump, primary->nodeCount);
    *primary = (srPrimary){0};
}

static void placeRow(srPrimary* primary, const srCharacter* character, const srTape* tape, int32_t row,
                     srVec3* outNodes) {
    srRig_ReadRow(&character->rig, srTape_GetRow(tape, row), primary->maps);
    srSkinNodes(&character->weights, primary->maps, character->cage.nodes, outNodes);
}

// makes `row` this frame, with the two frames before it
static void seek(srPrimary* primary, const srCharacter* character, const srTape* tape, int32_t row) {
    srVec3* oldest = primary->places[0];
    bool isNext = primary->row == row - 1 && row >= 2;
    if (isNext) {
        primary->places[0] = primary->places[1];
        primary->places[1] = primary->places[2];
        primary->places[2] = oldest;
    } else {
        placeRow(primary, character, tape, row >= 2 ? row - 2 : 0, primary->places[0]);
        placeRow(primary, character, tape, row - 1, primary->places[1]);
    }
    placeRow(primary, character, tape, row, primary->places[2]);
    if (row == 1) {
        for (int32_t i = 0; i < primary->nodeCount; ++i) {
            srVec3 step = srSub(primary->places[2][i], primary->places[1][i]);
            primary->places[0][i] = srSub(primary->places[1][i], step);
        }
    }
    primary->row = row;
}

srPrimaryMotion srPrimary_MoveTo(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                 int32_t row, double frameSeconds) {
    SR_ASSERT(row >= 1);
    seek(primary, character, tape, row);
    const srVec3* before = primary->places[0];
    const srVec3* last = primary->places[1];
    const srVec3* now = primary->places[2];

    // floats count from a node of the character itself: the world's origin may be far away
    srVec3 origin = last[0];
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        primary->from[i] = srToFloat(srSub(last[i], origin));
        primary->to[i] = srToFloat(srSub(now[i], origin));
        srVec3 steps = srSub(srSub(now[i], last[i]), srSub(last[i], before[i]));
        primary->velocityJump[i] = srToFloat(srScale(1.0 / frameSeconds, steps));
    }
    return (srPrimaryMotion){primary->from, primary->to, primary->velocityJump};
}
