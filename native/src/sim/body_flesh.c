// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fast solver, one block a cell (solver/flesh.h), as a body. Its state: offsets, then velocities. Painted
// holds are part of what it prepares, so that it prepares anew when they change.

#include "core/alloc.h"
#include "rig/turns.h"
#include "sim/body.h"
#include "sim/dials.h"
#include "solver/flesh.h"

#include <math.h>
#include <string.h>

#define HANDLES 16 // of the coarse correction
#define PI 3.14159265358979323846
#define STIFFER 1.14 // see alignDials
#define DAMPED_SHARE 0.135

typedef struct FleshBody {
    const srCharacter* character;
    srFleshRest rest;
    srFleshTuning tuning;
    srFleshScratch* scratch;
    int32_t nodeCount;
    int32_t cellCount;
    float* holds;     // that the rest was made with
    float* wanted;    // those of now
    float* stiffness; // factors a cell
    float* density;   // likewise
    srVec3f* from;
    srVec3f* to;
    srVec3f* velocityJump;
} FleshBody;

static void destroyRest(FleshBody* body) {
    srDestroyFleshScratch(body->scratch);
    body->scratch = NULL;
    if (body->rest.nodeCount > 0) {
        srDestroyFleshTuning(&body->rest, &body->tuning);
    }
    srDestroyFleshRest(&body->rest);
    body->rest = (srFleshRest){0};
}

static void destroyFlesh(void* self) {
    FleshBody* body = self;
    if (body == NULL) {
        return;
    }
    destroyRest(body);
    SR_FREE(body->holds, body->nodeCount);
    SR_FREE(body->wanted, body->nodeCount);
    SR_FREE(body->stiffness, body->cellCount);
    SR_FREE(body->density, body->cellCount);
    SR_FREE(body->from, body->nodeCount);
    SR_FREE(body->to, body->nodeCount);
    SR_FREE(body->velocityJump, body->nodeCount);
    SR_FREE(body, 1);
}

static srResult createRest(FleshBody* body) {
    const srCage* cage = &body->character->cage;
    destroyRest(body);
    memcpy(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(float));
    srFleshShape shape = {
        .nodes = cage->nodes,
        .nodeCount = cage->nodeCount,
        .cells = (const int32_t (*)[4])cage->cells,
        .cellCount = cage->cellCount,
        .holds = body->holds,
        .boneDistances = body->character->body.boneDistances,
        .handleCount = HANDLES,
    };
    SR_TRY(srCreateFleshRest(&shape, &body->rest));
    srResult result = srCreateFleshTuning(&body->rest, &body->tuning);
    if (result != sr_success) {
        srDestroyFleshRest(&body->rest);
        body->rest = (srFleshRest){0};
    }
    return result;
}

static void findHolds(FleshBody* body) {
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        body->wanted[i] = srFindHold(&body->character->body, &maps, i);
    }
}

static srResult allocateParts(FleshBody* body) {
    body->holds = SR_ALLOC(float, body->nodeCount);
    body->wanted = SR_ALLOC(float, body->nodeCount);
    body->stiffness = SR_ALLOC(float, body->cellCount);
    body->density = SR_ALLOC(float, body->cellCount);
    body->from = SR_ALLOC(srVec3f, body->nodeCount);
    body->to = SR_ALLOC(srVec3f, body->nodeCount);
    body->velocityJump = SR_ALLOC(srVec3f, body->nodeCount);
    if (body->holds == NULL || body->wanted == NULL || body->stiffness == NULL || body->density == NULL ||
        body->from == NULL || body->to == NULL || body->velocityJump == NULL) {
        return srFailOutOfMemory("the solver");
    }
    findHolds(body);
    return createRest(body);
}

static srResult createFlesh(const srCharacter* character, void** outSelf) {
    FleshBody* body = SR_ALLOC_ZERO(FleshBody, 1);
    *outSelf = body;
    if (body == NULL) {
        return srFailOutOfMemory("the solver");
    }
    body->character = character;
    body->nodeCount = character->cage.nodeCount;
    body->cellCount = character->cage.cellCount;
    srResult result = allocateParts(body);
    if (result != sr_success) {
        destroyFlesh(body);
        *outSelf = NULL;
    }
    return result;
}

static size_t arrayBytes(const FleshBody* body) {
    return ((size_t)body->nodeCount * sizeof(srVec3f) + 63) / 64 * 64;
}

static size_t getFleshStateSize(const void* self) {
    return 2 * arrayBytes(self);
}

static srVec3f* velocitiesOf(const FleshBody* body, void* state) {
    return (srVec3f*)((char*)state + arrayBytes(body));
}

// from factors a node to factors a cell; null stays null
static const float* spread(const FleshBody* body, const float* nodeFactors, float* outCellFactors) {
    if (nodeFactors == NULL) {
        return NULL;
    }
    for (int32_t cell = 0; cell < body->cellCount; ++cell) {
        const int32_t* nodes = body->character->cage.cells[cell];
        outCellFactors[cell] = 0.25f * (nodeFactors[nodes[0]] + nodeFactors[nodes[1]] +
                                        nodeFactors[nodes[2]] + nodeFactors[nodes[3]]);
    }
    return outCellFactors;
}

// The dials' own frequency of free flesh: pull and elasticity together
static double estimateFrequency(const srBodySettings* settings) {
    double frequency = (double)settings->params.frequency;
    double matched =
        srYoungModulusForSize(settings->params.frequency, (double)settings->params.density, settings->size);
    double young = srFindMaterial(settings).youngModulus;
    return frequency * sqrt(1.0 + (matched > 0.0 ? young / matched : 0.0));
}

// One setting shall swing alike in all solvers. The complementary one takes one step of BDF2 a frame, which
// slows a swing of x = 2 pi f / frame rate by about 1 / (1 + x^2 / 5) and damps it by some share of
// x^3 / (4 (1 + 2 x^2)) of critical; and flesh that may not move as the rig could is stiffer. How much of
// each, was measured on the scenes of a bar and of a tail.
static void alignDials(const srBodySettings* settings, srBodySettings* outAligned, double* outDampingRate) {
    double frequency = estimateFrequency(settings);
    double x = 2.0 * PI * frequency / settings->frameRate;
    *outAligned = *settings;
    outAligned->params.frequency *= (float)(STIFFER / (1.0 + 0.25 * x * x));
    double extra = DAMPED_SHARE * x * x / (1.0 + 2.0 * x * x);
    *outDampingRate = srFindDampingRate(settings) + 4.0 * PI * frequency * extra;
}

static srResult tuneFlesh(void* self, const srBodySettings* settings) {
    FleshBody* body = self;
    const srShotParams* params = &settings->params;
    findHolds(body);
    if (body->rest.nodeCount == 0 ||
        memcmp(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(float)) != 0) {
        SR_TRY(createRest(body));
    }
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    srBodySettings aligned;
    double dampingRate;
    alignDials(settings, &aligned, &dampingRate);
    srMaterial material = srFindMaterial(&aligned);
    srFleshDials dials = {
        .youngModulus = material.youngModulus,
        .poissonRatio = (double)params->poissonRatio,
        .density = material.density,
        .stiffnessMap = spread(body, maps.stiffness, body->stiffness),
        .densityMap = spread(body, maps.mass, body->density),
        .dampingMap = maps.damping,
        .scale = settings->scale,
        .isMirrored = settings->isMirrored,
        .frequency = (double)aligned.params.frequency,
        .dampingRate = dampingRate,
        .poseCorrection = (double)params->poseCorrection,
        .frameSeconds = 1.0 / settings->frameRate,
        .largestOffset = settings->size,
        .substeps = params->substeps,
        .sweeps = 1,
        .poses = 1,
    };
    srDestroyFleshScratch(body->scratch);
    body->scratch = NULL;
    SR_TRY(srFleshTuning_Set(&body->tuning, &body->rest, &dials));
    return srCreateFleshScratch(&body->rest, &dials, &body->scratch);
}

static void stepFlesh(void* self, const srNodeMotion* motion, void* state, srFrameStats* stats) {
    FleshBody* body = self;
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        body->from[i] = srToFloat(motion->from[i]);
        body->to[i] = srToFloat(motion->to[i]);
        body->velocityJump[i] = srToFloat(motion->velocityJump[i]);
    }
    srPrimaryMotion primary = {body->from, body->to, body->velocityJump, NULL};
    srFleshState moving = {state, velocitiesOf(body, state), body->scratch};
    stats->limitedNodeCount =
        srFlesh_StepFrame(&body->rest, &body->tuning, &primary, motion->acceleration, &moving);
    stats->iterationCount = body->tuning.dials.substeps;
}

static void readFleshOffsets(const void* self, const void* state, srVec3f* outOffsets) {
    const FleshBody* body = self;
    memcpy(outOffsets, state, (size_t)body->nodeCount * sizeof(srVec3f));
}

static void turnFlesh(const void* self, const srMat3* turns, void* state) {
    const FleshBody* body = self;
    srVec3f* offsets = state;
    srVec3f* velocities = velocitiesOf(body, state);
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        offsets[i] = srToFloat(srTurnVector(&turns[i], srToDouble(offsets[i])));
        velocities[i] = srToFloat(srTurnVector(&turns[i], srToDouble(velocities[i])));
    }
}

const srBodyKind srFleshBody = {
    .create = createFlesh,
    .destroy = destroyFlesh,
    .getStateSize = getFleshStateSize,
    .tune = tuneFlesh,
    .step = stepFlesh,
    .readOffsets = readFleshOffsets,
    .turn = turnFlesh,
};
