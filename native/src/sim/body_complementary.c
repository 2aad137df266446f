// SPDX-License-Identifier: GPL-3.0-or-later
//
// Complementary dynamics (solver/complementary.h) as a body. Its state: offsets, velocities, and what the
// multistep formula remembers, in double. Holds and the space of what is left to the animation are part of
// what it prepares, so that it prepares anew when they change.

#include "core/alloc.h"
#include "rig/turns.h"
#include "sim/body.h"
#include "sim/dials.h"
#include "sim/holds.h"
#include "solver/complementary.h"

#include <math.h>
#include <string.h>

#define VECTORS 6                 // of a state
#define HELD_PULL 160.0           // what is held is pulled to its pose so many times as hard
#define PROVISIONAL_TOLERANCE 0.1 // where nothing follows: what the rows before leave out is far more

static const srElasticModel MODELS[] = {
    [sr_materialKindRigid] = sr_elasticArap,
    [sr_materialKindCorotated] = sr_elasticCorotated,
    [sr_materialKindNeoHookean] = sr_elasticNeoHookean,
    [sr_materialKindStVenantKirchhoff] = sr_elasticStVenantKirchhoff,
};

typedef struct ComplementaryBody {
    const srCharacter* character;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    bool hasRest;
    bool hasSwing;
    srComplementarySwing swing; // of the rest
    void* scratch;
    size_t scratchSize;
    int32_t nodeCount;
    int32_t cellCount;
    double tolerance;   // of a step that others follow
    int32_t complement; // that the rest was made with, an srComplement; likewise:
    uint64_t spaceHash;
    double* holds;
    double* wanted;   // those of now
    bool* isFixed;    // painted to obey exactly; and
    bool* isWanted;   // those of now
    double* core;     // holds of the core; null until they are asked for
    float* stiffness; // factors a cell
    float* pulls;     // factors a node
    srVec3* forces;
} ComplementaryBody;

static void freeScratch(ComplementaryBody* body) {
    srFree(body->scratch, body->scratchSize, 1);
    body->scratch = NULL;
    body->scratchSize = 0;
}

static void destroyRest(ComplementaryBody* body) {
    freeScratch(body);
    if (body->hasRest) {
        srDestroyComplementaryTuning(&body->rest, &body->tuning);
        srDestroyComplementaryRest(&body->rest);
    }
    body->hasRest = false;
}

static void destroyComplementary(void* self) {
    ComplementaryBody* body = self;
    if (body == NULL) {
        return;
    }
    destroyRest(body);
    SR_FREE(body->holds, body->nodeCount);
    SR_FREE(body->wanted, body->nodeCount);
    SR_FREE(body->isFixed, body->nodeCount);
    SR_FREE(body->isWanted, body->nodeCount);
    SR_FREE(body->core, body->nodeCount);
    SR_FREE(body->stiffness, body->cellCount);
    SR_FREE(body->pulls, body->nodeCount);
    SR_FREE(body->forces, body->nodeCount);
    SR_FREE(body, 1);
}

// The hold map as a pull too: the constraint keeps what is held from moving as a whole, not from bulging. And
// what is painted of it as a pull alone: rows are as strict on a trace of a hold as on all of it.
static void findPulls(ComplementaryBody* body, const srXpbdMaps* maps) {
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        double hold = body->holds[i];
        double pull = fmax(1.0 + HELD_PULL * hold * hold, srFindPaintedPull(maps, i));
        body->pulls[i] = (float)(pull * (maps->stiffness != NULL ? (double)maps->stiffness[i] : 1.0));
    }
}

// How fast that which the bones leave free swings: of the usual flesh and unpainted, so that turning a dial
// does not ask for it again.
static srResult measureSwing(ComplementaryBody* body) {
    if (body->hasSwing) {
        return sr_success;
    }
    srBodySettings usual = {.size = (double)body->character->report.size};
    usual.params = (srShotParams){.frequency = 1.0f, .poissonRatio = SR_USUAL_POISSON, .density = 1000.0f};
    const srXpbdMaps unpainted = {NULL, NULL, NULL, NULL, NULL};
    findPulls(body, &unpainted);
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srFindMaterial(&usual);
    dials.frequency = (double)usual.params.frequency;
    dials.largestOffset = usual.size;
    dials.nodePulls = body->pulls;
    const srVec3* nodes = body->character->cage.nodes;
    SR_TRY(srFindComplementarySwing(&body->rest, nodes, &dials, &body->tuning, &body->swing));
    body->hasSwing = true;
    return sr_success;
}

// `space` is null for rows of the bones
static srResult createRest(ComplementaryBody* body, int32_t complement, const srSpan* space) {
    const srCharacter* character = body->character;
    destroyRest(body);
    body->complement = complement;
    memcpy(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(double));
    memcpy(body->isFixed, body->isWanted, (size_t)body->nodeCount * sizeof(bool));
    const double none = 0.0; // a space of no vectors
    const double* noSpace = complement == sr_complementNothing ? &none : NULL;
    srComplementaryShape shape = {
        .nodes = character->cage.nodes,
        .nodeCount = character->cage.nodeCount,
        .cells = (const int32_t (*)[4])character->cage.cells,
        .cellCount = character->cage.cellCount,
        .weights = {character->weights.starts, character->weights.bones, character->weights.weights,
                    character->rig.boneCount + 1},
        .holds = body->holds,
        .isFixed = body->isFixed,
        .vectors = space != NULL ? space->vectors : noSpace,
        .vectorCount = space != NULL ? space->vectorCount : 0,
    };
    SR_TRY(srCreateComplementaryRest(&shape, &body->rest));
    srResult result = srCreateComplementaryTuning(&body->rest, &body->tuning);
    if (result != sr_success) {
        srDestroyComplementaryRest(&body->rest);
    }
    body->hasRest = result == sr_success;
    body->hasSwing = false;
    return result;
}

// Bones hold what their grips hold; without any, the core is held once the motion tells what it may do.
static srResult findHolds(ComplementaryBody* body, int32_t complement) {
    bool wantsCore = complement == sr_complementMotion && body->character->rig.boneCount == 0;
    if (wantsCore && body->core == NULL) {
        SR_TRY(srCreateCoreHolds(&body->character->cage, &body->core));
    }
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        double bones = complement == sr_complementNothing ? 0.0 : (double)body->character->body.holds[i];
        body->wanted[i] = wantsCore ? body->core[i] : bones;
        body->isWanted[i] = srFindPaintedHold(&maps, i) >= SR_HARD_HOLD;
    }
    return sr_success;
}

static srResult allocateParts(ComplementaryBody* body) {
    body->holds = SR_ALLOC(double, body->nodeCount);
    body->wanted = SR_ALLOC(double, body->nodeCount);
    body->isFixed = SR_ALLOC(bool, body->nodeCount);
    body->isWanted = SR_ALLOC(bool, body->nodeCount);
    body->stiffness = SR_ALLOC(float, body->cellCount);
    body->pulls = SR_ALLOC(float, body->nodeCount);
    body->forces = SR_ALLOC(srVec3, body->nodeCount);
    if (body->pulls == NULL || body->holds == NULL || body->wanted == NULL || body->isFixed == NULL ||
        body->isWanted == NULL || body->stiffness == NULL || body->forces == NULL) {
        return srFailOutOfMemory("the solver");
    }
    SR_TRY(findHolds(body, sr_complementBones));
    return createRest(body, sr_complementBones, NULL);
}

static srResult createComplementary(const srCharacter* character, const srShotParams* params,
                                    void** outSelf) {
    (void)params;
    ComplementaryBody* body = SR_ALLOC_ZERO(ComplementaryBody, 1);
    *outSelf = body;
    if (body == NULL) {
        return srFailOutOfMemory("the solver");
    }
    body->character = character;
    body->nodeCount = character->cage.nodeCount;
    body->cellCount = character->cage.cellCount;
    srResult result = allocateParts(body);
    if (result != sr_success) {
        destroyComplementary(body);
        *outSelf = NULL;
    }
    return result;
}

static size_t arrayBytes(const ComplementaryBody* body) {
    return ((size_t)body->nodeCount * sizeof(srVec3) + 63) / 64 * 64;
}

static size_t getComplementaryStateSize(const void* self) {
    return VECTORS * arrayBytes(self);
}

static srVec3* vectorsOf(const ComplementaryBody* body, void* state, int index) {
    return (srVec3*)((char*)state + (size_t)index * arrayBytes(body));
}

// whatever the rest is made from, if it is another than that of now
static srResult renewRest(ComplementaryBody* body, const srBodySettings* settings) {
    int32_t complement = settings->params.complement;
    const srSpan* space = complement == sr_complementMotion ? settings->space : NULL;
    uint64_t spaceHash = space != NULL ? settings->spaceHash : 0;
    SR_TRY(findHolds(body, complement));
    if (body->hasRest && body->complement == complement && body->spaceHash == spaceHash &&
        memcmp(body->holds, body->wanted, (size_t)body->nodeCount * sizeof(double)) == 0 &&
        memcmp(body->isFixed, body->isWanted, (size_t)body->nodeCount * sizeof(bool)) == 0) {
        return sr_success;
    }
    SR_TRY(createRest(body, complement, space));
    body->spaceHash = spaceHash;
    return sr_success;
}

static srResult makeScratch(ComplementaryBody* body) {
    size_t size = srComplementary_GetScratchSize(&body->rest, &body->tuning);
    if (size != body->scratchSize) {
        freeScratch(body);
        body->scratch = srAlloc(size, 1);
        body->scratchSize = body->scratch != NULL ? size : 0;
    }
    return body->scratch != NULL ? sr_success : srFailOutOfMemory("the solver");
}

static srResult tuneComplementary(void* self, const srBodySettings* settings) {
    ComplementaryBody* body = self;
    const srShotParams* params = &settings->params;
    SR_TRY(renewRest(body, settings));
    SR_TRY(measureSwing(body));
    srXpbdMaps maps = srCharacter_GetMaps(body->character);
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srFindMaterial(settings);
    dials.substeps = srFindLongSubsteps(params->substeps);
    dials.tolerance = srFindTolerance(dials.substeps);
    dials.scale = settings->scale;
    dials.isMirrored = settings->isMirrored;
    dials.frequency = (double)params->frequency;
    dials.swingFrequency = srFindSwingFrequency(settings, body->swing.pull, body->swing.elastic);
    dials.dampingRate = srFindStopDampingRate(settings, dials.swingFrequency);
    dials.model = MODELS[params->material];
    // the other models know no other
    dials.poseCorrection = dials.model == sr_elasticArap ? (double)params->poseCorrection : 1.0;
    dials.frameSeconds = 1.0 / settings->frameRate;
    dials.largestOffset = settings->size;
    dials.cellStiffnesses = srSpreadOverCells(body->character, maps.stiffness, body->stiffness);
    findPulls(body, &maps);
    dials.nodePulls = body->pulls;
    dials.nodeMasses = maps.mass;
    dials.nodeDampings = maps.damping;
    SR_TRY(srComplementaryTuning_Set(&body->tuning, &body->rest, &dials));
    body->tolerance = body->tuning.dials.tolerance;
    return makeScratch(body);
}

static void stepComplementary(void* self, const srNodeMotion* motion, void* state, srFrameStats* stats) {
    ComplementaryBody* body = self;
    for (int32_t i = 0; motion->acceleration != NULL && i < body->nodeCount; ++i) {
        body->forces[i] = srScale(body->tuning.masses[i], srToDouble(motion->acceleration[i]));
    }
    srComplementaryMotion moved = {
        .from = motion->from,
        .to = motion->to,
        .velocityJump = motion->velocityJump,
        .forces = motion->acceleration != NULL ? body->forces : NULL,
        .turns = motion->turns,
        .pressure = motion->pressure,
    };
    srComplementaryState moving = {
        .offsets = vectorsOf(body, state, 0),
        .velocities = vectorsOf(body, state, 1),
        .earlierOffsets = {vectorsOf(body, state, 2), vectorsOf(body, state, 3)},
        .earlierVelocities = vectorsOf(body, state, 4),
        .accelerations = vectorsOf(body, state, 5),
        .scratch = body->scratch,
    };
    body->tuning.dials.tolerance = motion->isProvisional ? PROVISIONAL_TOLERANCE : body->tolerance;
    srComplementaryStats found;
    srComplementary_StepFrame(&body->rest, &body->tuning, &moved, &moving, &found);
    stats->limitedNodeCount = found.isLimited;
    stats->iterationCount = found.innerCount;
    stats->residual = (float)found.residual;
}

static void readComplementaryOffsets(const void* self, const void* state, srVec3f* outOffsets) {
    const ComplementaryBody* body = self;
    const srVec3* offsets = state;
    for (int32_t i = 0; i < body->nodeCount; ++i) {
        outOffsets[i] = srToFloat(offsets[i]);
    }
}

static void turnComplementary(const void* self, const srMat3* turns, void* state) {
    const ComplementaryBody* body = self;
    for (int index = 0; index < VECTORS; ++index) {
        srVec3* vectors = vectorsOf(body, state, index);
        for (int32_t i = 0; i < body->nodeCount; ++i) {
            vectors[i] = srTurnVector(&turns[i], vectors[i]);
        }
    }
}

const srBodyKind srComplementaryBody = {
    .create = createComplementary,
    .destroy = destroyComplementary,
    .getStateSize = getComplementaryStateSize,
    .tune = tuneComplementary,
    .step = stepComplementary,
    .readOffsets = readComplementaryOffsets,
    .turn = turnComplementary,
    .knowsTurns = true,
};
