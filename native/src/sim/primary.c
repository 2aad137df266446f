// SPDX-License-Identifier: GPL-3.0-or-later
//
// Three rows of places in double; differences of them in float.

#include "sim/primary.h"

#include "core/alloc.h"
#include "math/rotation.h"
#include "rig/turns.h"

srResult srCreatePrimary(const srCharacter* character, srPrimary* outPrimary) {
    int32_t nodeCount = character->cage.nodeCount;
    int32_t mapCount = character->rig.boneCount + 1;
    srPrimary primary = {.nodeCount = nodeCount, .mapCount = mapCount, .turnedRow = SR_NULL_INDEX};
    for (int place = 0; place < 3; ++place) {
        primary.places[place] = SR_ALLOC(srVec3, nodeCount);
        primary.rows[place] = SR_NULL_INDEX;
    }
    primary.turns[0] = SR_ALLOC(srMat3, nodeCount);
    primary.turns[1] = SR_ALLOC(srMat3, nodeCount);
    primary.maps = SR_ALLOC(srMat34, mapCount);
    primary.from = SR_ALLOC(srVec3, nodeCount);
    primary.to = SR_ALLOC(srVec3, nodeCount);
    primary.velocityJump = SR_ALLOC(srVec3, nodeCount);
    *outPrimary = primary;
    if (primary.places[0] == NULL || primary.places[1] == NULL || primary.places[2] == NULL ||
        primary.maps == NULL || primary.from == NULL || primary.to == NULL || primary.velocityJump == NULL ||
        primary.turns[0] == NULL || primary.turns[1] == NULL) {
        srDestroyPrimary(outPrimary);
        return srFailOutOfMemory("the primary motion");
    }
    return sr_success;
}

void srDestroyPrimary(srPrimary* primary) {
    for (int place = 0; place < 3; ++place) {
        SR_FREE(primary->places[place], primary->nodeCount);
    }
    SR_FREE(primary->turns[0], primary->nodeCount);
    SR_FREE(primary->turns[1], primary->nodeCount);
    SR_FREE(primary->maps, primary->mapCount);
    SR_FREE(primary->from, primary->nodeCount);
    SR_FREE(primary->to, primary->nodeCount);
    SR_FREE(primary->velocityJump, primary->nodeCount);
    *primary = (srPrimary){0};
}

void srPlacePrimary(const srCharacter* character, const srTape* tape, int32_t row, srMat34* maps,
                    srVec3* outPlaces) {
    const float* matrices = srTape_GetRow(tape, row);
    const srVec3f* followed = srTape_GetNodes(tape, row);
    srRig_ReadRow(&character->rig, matrices, maps);
    if (followed == NULL) {
        srSkinNodes(&character->weights, maps, character->cage.nodes, outPlaces);
        return;
    }
    srMat34 object = srRig_ReadObject(matrices);
    for (int32_t i = 0; i < character->cage.nodeCount; ++i) {
        outPlaces[i] = srMulPoint34(&object, srToDouble(followed[i]));
    }
}

static void placeRow(srPrimary* primary, const srCharacter* character, const srTape* tape, int32_t row,
                     int place) {
    srPlacePrimary(character, tape, row, primary->maps, primary->places[place]);
    primary->roots[place] = primary->maps[character->rootMap];
    primary->rows[place] = row;
}

// drops the oldest place and moves the others back
static void shift(srPrimary* primary) {
    srVec3* oldest = primary->places[0];
    for (int place = 0; place < 2; ++place) {
        primary->places[place] = primary->places[place + 1];
        primary->roots[place] = primary->roots[place + 1];
        primary->rows[place] = primary->rows[place + 1];
    }
    primary->places[2] = oldest;
    primary->rows[2] = SR_NULL_INDEX;
}

// the rotation and the origin of the root: what "travel" means
typedef struct Frame {
    srMat3 Q;
    srVec3 o;
} Frame;

static Frame readFrame(const srMat34* root, srVec3 pivot) {
    srMat3 A;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            A.m[i][j] = root->m[i][j];
        }
    }
    return (Frame){srFindRotation(&A), srMulPoint34(root, pivot)};
}

// Q' (x - o)
static srVec3 toFrame(const Frame* frame, srVec3 x) {
    return srTurnBack(&frame->Q, srSub(x, frame->o));
}

// the rigid map that brings one frame to the other
static srMat34 findRigidMap(const Frame* from, const Frame* to) {
    srMat3 back = srTranspose3(&from->Q);
    srMat3 R = srMul3(&to->Q, &back);
    srVec3 t = srSub(to->o, srTurnVector(&R, from->o));
    return (srMat34){{
        {R.m[0][0], R.m[0][1], R.m[0][2], t.x},
        {R.m[1][0], R.m[1][1], R.m[1][2], t.y},
        {R.m[2][0], R.m[2][1], R.m[2][2], t.z},
    }};
}

// Brings what was before `seam` to before `last`, which shows the same pose elsewhere.
static void closeSeam(srPrimary* primary, const srCharacter* character, const srTape* tape,
                      const srPrimaryStep* step) {
    srVec3 pivot = character->cage.nodes[0];
    srRig_ReadRow(&character->rig, srTape_GetRow(tape, step->seam), primary->maps);
    Frame from = readFrame(&primary->maps[character->rootMap], pivot);
    Frame to = readFrame(&primary->roots[1], pivot);
    srMat34 map = findRigidMap(&from, &to);
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        primary->places[0][i] = srMulPoint34(&map, primary->places[0][i]);
    }
    primary->roots[0] = srMul34(&map, &primary->roots[0]);
    primary->rows[0] = SR_NULL_INDEX;
}

// places the three rows of a step; those that are there already stay
static void seek(srPrimary* primary, const srCharacter* character, const srTape* tape,
                 const srPrimaryStep* step) {
    if (primary->rows[2] == step->last) {
        shift(primary);
    }
    if (step->before != SR_NULL_INDEX && primary->rows[0] != step->before) {
        placeRow(primary, character, tape, step->before, 0);
    }
    if (primary->rows[1] != step->last) {
        placeRow(primary, character, tape, step->last, 1);
    }
    if (step->seam != SR_NULL_INDEX) {
        closeSeam(primary, character, tape, step);
    }
    placeRow(primary, character, tape, step->now, 2); // last, so that its maps stay
}

// the change of the step from the one before, per node, as somebody sees it who travels with the root
static srVec3 seeFromRoot(const Frame frames[3], srVec3 before, srVec3 last, srVec3 now) {
    srVec3 b = toFrame(&frames[0], before);
    srVec3 l = toFrame(&frames[1], last);
    srVec3 n = toFrame(&frames[2], now);
    return srTurnVector(&frames[2].Q, srSub(srSub(n, l), srSub(l, b)));
}

static void findJumps(srPrimary* primary, const srCharacter* character, const srPrimaryStep* step) {
    Frame frames[3];
    bool isFelt = step->travelFelt >= 1.0;
    for (int place = 0; place < 3 && !isFelt; ++place) {
        frames[place] = readFrame(&primary->roots[place], character->cage.nodes[0]);
    }
    double perSecond = 1.0 / step->frameSeconds;
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        srVec3 before = primary->places[0][i];
        srVec3 last = primary->places[1][i];
        srVec3 now = primary->places[2][i];
        srVec3 change = srSub(srSub(now, last), srSub(last, before));
        if (!isFelt) {
            srVec3 local = seeFromRoot(frames, before, last, now);
            change = srMulAdd(local, step->travelFelt, srSub(change, local));
        }
        primary->velocityJump[i] = srScale(perSecond, change);
    }
}

srNodeMotion srPrimary_Move(srPrimary* primary, const srCharacter* character, const srTape* tape,
                            const srPrimaryStep* step) {
    seek(primary, character, tape, step);
    const srVec3* last = primary->places[1];
    const srVec3* now = primary->places[2];

    // solvers in float count from a node of the character itself: the world's origin may be far away
    srVec3 origin = last[0];
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        primary->from[i] = srSub(last[i], origin);
        primary->to[i] = srSub(now[i], origin);
    }
    if (step->before == SR_NULL_INDEX) {
        for (int32_t i = 0; i < primary->nodeCount; ++i) {
            primary->velocityJump[i] = (srVec3){0.0, 0.0, 0.0};
        }
    } else {
        findJumps(primary, character, step);
    }
    return (srNodeMotion){.from = primary->from, .to = primary->to, .velocityJump = primary->velocityJump};
}

void srPrimary_Forget(srPrimary* primary) {
    for (int place = 0; place < 3; ++place) {
        primary->rows[place] = SR_NULL_INDEX;
    }
    primary->turnedRow = SR_NULL_INDEX;
}

static srMat3 findRootShare(const srPrimary* primary, double travelFelt) {
    srVec3 pivot = {0.0, 0.0, 0.0};
    Frame last = readFrame(&primary->roots[1], pivot);
    Frame now = readFrame(&primary->roots[2], pivot);
    srMat3 back = srTranspose3(&last.Q);
    srMat3 turn = srMul3(&now.Q, &back);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            turn.m[i][j] = (1.0 - travelFelt) * turn.m[i][j] + (i == j ? travelFelt : 0.0);
        }
    }
    return srFindRotation(&turn);
}

const srMat3* srPrimary_TurnWithRoot(srPrimary* primary, double travelFelt) {
    srMat3 share = findRootShare(primary, travelFelt);
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        primary->turns[0][i] = share;
    }
    return primary->turns[0];
}

static void turnRow(srPrimary* primary, const srCharacter* character, const srTape* tape, int32_t row,
                    srMat3* outTurns) {
    srRig_ReadRow(&character->rig, srTape_GetRow(tape, row), primary->maps);
    srTurnNodes(&character->weights, primary->maps, outTurns);
}

const srMat3* srPrimary_TurnAcross(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                   int32_t fromRow, int32_t toRow) {
    turnRow(primary, character, tape, fromRow, primary->turns[0]);
    turnRow(primary, character, tape, toRow, primary->turns[1]);
    primary->turnedRow = toRow;
    primary->rows[2] = SR_NULL_INDEX; // `maps` are no longer those of that row
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        srMat3 back = srTranspose3(&primary->turns[0][i]);
        primary->turns[0][i] = srMul3(&primary->turns[1][i], &back);
    }
    return primary->turns[0];
}

const srMat3* srPrimary_TurnStep(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                 const srPrimaryStep* step) {
    srMat3 share = step->travelFelt < 1.0 ? findRootShare(primary, step->travelFelt) : srIdentity3();
    srMat3* last = primary->turns[1];
    primary->turns[1] = primary->turns[0];
    primary->turns[0] = last;
    if (primary->turnedRow != step->last) {
        turnRow(primary, character, tape, step->last, primary->turns[0]);
    }
    turnRow(primary, character, tape, step->now, primary->turns[1]); // last, so that its maps stay
    primary->turnedRow = step->now;
    for (int32_t i = 0; i < primary->nodeCount; ++i) {
        srMat3 before = srMul3(&share, &primary->turns[0][i]);
        srMat3 back = srTranspose3(&before);
        primary->turns[0][i] = srMul3(&primary->turns[1][i], &back);
    }
    return primary->turns[0];
}
