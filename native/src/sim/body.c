// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which solver, and whether its tuning is still right.

#include "sim/body.h"

#include <string.h>

static const srBodyKind* findKind(int32_t solver) {
    switch (solver) {
    case sr_solverFlesh:
        return &srFleshBody;
    case sr_solverComplementary:
        return &srComplementaryBody;
    default:
        return &srXpbdBody;
    }
}

srResult srCreateBody(const srCharacter* character, const srShotParams* params, srBody* outBody) {
    *outBody = (srBody){.kind = findKind(params->solver), .solver = params->solver, .swings = params->swings};
    return outBody->kind->create(character, params, &outBody->self);
}

bool srBody_IsFor(const srBody* body, const srShotParams* params) {
    bool knowsSwings = params->solver == sr_solverFlesh;
    return body->solver == params->solver && (!knowsSwings || body->swings == params->swings);
}

void srDestroyBody(srBody* body) {
    if (body->kind != NULL) {
        body->kind->destroy(body->self);
    }
    *body = (srBody){0};
}

size_t srBody_GetStateSize(const srBody* body) {
    return body->kind->getStateSize(body->self);
}

// floats are compared as numbers: they have been checked for NaN
static bool areEqual(const srBodySettings* a, const srBodySettings* b) {
    const srShotParams* p = &a->params;
    const srShotParams* q = &b->params;
    return p->frequency == q->frequency && p->settleFrames == q->settleFrames &&
           p->youngModulus == q->youngModulus && p->poissonRatio == q->poissonRatio &&
           p->density == q->density && p->poseCorrection == q->poseCorrection && p->substeps == q->substeps &&
           a->frameRate == b->frameRate && a->scale == b->scale && a->size == b->size &&
           a->isMirrored == b->isMirrored && p->material == q->material && p->complement == q->complement &&
           p->fibreStiffness == q->fibreStiffness && p->stretchLimit == q->stretchLimit &&
           p->swings == q->swings && (p->complement != sr_complementMotion || a->spaceHash == b->spaceHash);
}

srResult srBody_Tune(srBody* body, const srBodySettings* settings) {
    if (body->isTuned && areEqual(&body->settings, settings)) {
        return sr_success;
    }
    body->isTuned = false;
    SR_TRY(body->kind->tune(body->self, settings));
    body->settings = *settings;
    body->isTuned = true;
    return sr_success;
}

void srBody_Step(srBody* body, const srNodeMotion* motion, void* state, srFrameStats* outStats) {
    *outStats = (srFrameStats){0};
    body->kind->step(body->self, motion, state, outStats);
}

void srBody_ReadOffsets(const srBody* body, const void* state, srVec3f* outOffsets) {
    body->kind->readOffsets(body->self, state, outOffsets);
}

void srBody_Turn(const srBody* body, const srMat3* turns, void* state) {
    body->kind->turn(body->self, turns, state);
}

const float* srSpreadOverCells(const srCharacter* character, const float* nodeFactors,
                               float* outCellFactors) {
    if (nodeFactors == NULL) {
        return NULL;
    }
    for (int32_t cell = 0; cell < character->cage.cellCount; ++cell) {
        const int32_t* nodes = character->cage.cells[cell];
        outCellFactors[cell] = 0.25f * (nodeFactors[nodes[0]] + nodeFactors[nodes[1]] +
                                        nodeFactors[nodes[2]] + nodeFactors[nodes[3]]);
    }
    return outCellFactors;
}
