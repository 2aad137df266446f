// SPDX-License-Identifier: GPL-3.0-or-later
//
// The first solver, edges and volumes (solver/xpbd.h), as a body. Its state: offsets, then velocities.

#include "core/alloc.h"
#include "rig/turns.h"
#include "sim/body.h"
#include "sim/dials.h"
#include "solver/xpbd.h"

#include <string.h>

typedef struct XpbdBody {
    const srCharacter* character;
    const srXpbdRest* rest;
    srXpbdTuning tuning;
    int32_t nodeCount;
    srVec3f* previous;
    srVec3f* primary;
    srVec3f* from;
    srVec3f* to;
    srVec3f* velocityJump;
} XpbdBody;

static void destroyXpbd(void* self) {
    XpbdBody* body = self;
    if (body == NULL) {
        return;
    }
    srDestroyXpbdTuning(body->rest, &body->tuning);
    SR_FREE(body->previous, body->nodeCount);
    SR_FREE(body->primary, body->nodeCount);
    SR_FREE(body->from, body->nodeCount);
    SR_FREE(body->to, body->nodeCount);
    SR_FREE(body->velocityJump, body->nodeCount);
    SR_FREE(body, 1);
}

static srResult allocateParts(XpbdBody* body) {
    srVec3f** arrays[] = {&body->previous, &body->primary, &body->from, &body->to, &body->velocityJump};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        *arrays[i] = SR_ALLOC(srVec3f, body->nodeCount);
        if (*arrays[i] == NULL) {
            return srFailOutOfMemory("the solver");
        }
    }
    return srCreateXpbdTuning(body->rest, &body->tuning);
}

static srResult createXpbd(const srCharacter* character, const srShotParams* params, void** outSelf) {
    (void)params;
    XpbdBody* body = SR_ALLOC_ZERO(XpbdBody, 1);
    *outSelf = body;
    if (body == NULL) {
        return srFailOutOfMemory("the solver");
    }
    body->character = character;
    body->rest = &character->body;
    body->nodeCount = character->cage.nodeCount;
    srResult result = allocateParts(body);
    if (result != sr_success) {
        destroyXpbd(body);
        *outSelf = NULL;
    }
    return result;
}

static size_t arrayBytes(const XpbdBody* body) {
    return ((size_t)body->nodeCount * sizeof(srVec3f) + 63) / 64 * 64;
}

static size_t getXpbdStateSize(const void* self) {
    return 2 * arrayBytes(self);
}

static srVec3f* velocitiesOf(const XpbdBody* body, void* state) {
    return (srVec3f*)((char*)state + arrayBytes(body));
}

static srResult tuneXpbd(void* self, const srBodySettings* settings) {
    XpbdBody* body = self;
    const srShotParams* params = &settings->params;
    srXpbdDials dials = {
        .maps = srCharacter_GetMaps(body->character),
        .material = srFindMaterial(settings),
        .scale = settings->scale,
        .isMirrored = settings->isMirrored,
        .frequency = (double)params->frequency,
        .dampingRate = srFindDampingRate(settings),
        .poseCorrection = (double)params->poseCorrection,
        .frameSeconds = 1.0 / settings->frameRate,
        .largestOffset = settings->size,
        .substeps = params->substeps,
    };
    srXpbdTuning_Set(&body->tuning, body->rest, &dials);
    return sr_success;
}

static void stepXpbd(void* self, const srNodeMotion* motion, void* state, srFrameStats* stats) {
    XpbdBody* body = self;
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        body->from[i] = srToFloat(motion->from[i]);
        body->to[i] = srToFloat(motion->to[i]);
        body->velocityJump[i] = srToFloat(motion->velocityJump[i]);
    }
    srPrimaryMotion primary = {body->from, body->to, body->velocityJump, motion->acceleration};
    srXpbdState moving = {state, velocitiesOf(body, state), body->previous, body->primary};
    stats->limitedNodeCount = srXpbd_StepFrame(body->rest, &body->tuning, &primary, &moving);
    stats->iterationCount = body->tuning.dials.substeps;
}

static void readXpbdOffsets(const void* self, const void* state, srVec3f* outOffsets) {
    const XpbdBody* body = self;
    memcpy(outOffsets, state, (size_t)body->nodeCount * sizeof(srVec3f));
}

static void turnXpbd(const void* self, const srMat3* turns, void* state) {
    const XpbdBody* body = self;
    srVec3f* offsets = state;
    srVec3f* velocities = velocitiesOf(body, state);
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        offsets[i] = srToFloat(srTurnVector(&turns[i], srToDouble(offsets[i])));
        velocities[i] = srToFloat(srTurnVector(&turns[i], srToDouble(velocities[i])));
    }
}

const srBodyKind srXpbdBody = {
    .create = createXpbd,
    .destroy = destroyXpbd,
    .getStateSize = getXpbdStateSize,
    .tune = tuneXpbd,
    .step = stepXpbd,
    .readOffsets = readXpbdOffsets,
    .turn = turnXpbd,
};
