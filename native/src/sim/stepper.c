// SPDX-License-Identifier: GPL-3.0-or-later
//
// One frame as a list: where the rig goes, what pushes, a step of the solver. Around it the exceptions: the
// first frame, cuts, loops, and going on from a frame whose state was not kept.

#include "sim/stepper.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "core/thread.h"

#include <string.h>

#define MOST_ROUNDS 24    // of a loop: damping closes any seam in fewer, or never
#define FORESEEN_FROM 2   // rows before, at least: in fewer, hardly anything is seen of other settings
#define CLOSED_SEAM 1e-4f // of the size: a tenth of a millimetre on a character of a metre

int32_t srShotSource_FindComplement(const srShotSource* source) {
    int32_t wanted = source->def.params.complement;
    bool hasBones = source->character->rig.boneCount > 0;
    return wanted != sr_complementAutomatic ? wanted : hasBones ? sr_complementBones : sr_complementMotion;
}

static bool leavesMotion(const srShotSource* source) {
    return source->def.params.solver == sr_solverComplementary &&
           srShotSource_FindComplement(source) == sr_complementMotion;
}

bool srShotSource_NeedsAllRows(const srShotSource* source) {
    return source->def.params.loop != sr_loopNone || leavesMotion(source);
}

static void freeState(srStepper* stepper) {
    if (stepper->state != NULL) {
        srFree(stepper->state, 1, stepper->stateSize);
    }
    stepper->state = NULL;
    stepper->stateSize = 0;
}

srResult srStepper_Prepare(srStepper* stepper) {
    if (leavesMotion(stepper->source) && stepper->space.span.vectors == NULL) {
        SR_TRY(srCreateMotionSpace(stepper->source->character, &stepper->space));
    }
    const srShotParams* params = &stepper->source->def.params;
    if (stepper->state != NULL && srBody_IsFor(&stepper->body, params)) {
        return sr_success;
    }
    freeState(stepper);
    srDestroyBody(&stepper->body);
    stepper->stateRow = SR_NULL_INDEX;
    SR_TRY(srCreateBody(stepper->source->character, params, &stepper->body));
    size_t stateSize = srBody_GetStateSize(&stepper->body);
    SR_TRY(srFrameCache_SetStateSize(&stepper->cache, stateSize));
    stepper->state = srAllocZero(1, stateSize);
    stepper->stateSize = stateSize;
    return stepper->state != NULL ? sr_success : srFailOutOfMemory("the simulated frames");
}

static srResult createParts(srStepper* stepper) {
    const srCharacter* character = stepper->source->character;
    int32_t nodeCount = character->cage.nodeCount;
    stepper->loopStart = SR_ALLOC(srVec3f, nodeCount);
    if (stepper->loopStart == NULL) {
        return srFailOutOfMemory("a shot");
    }
    SR_TRY(srCreateFrameCache(stepper->source->def.frameCount, nodeCount, &stepper->cache));
    SR_TRY(srCreatePrimary(character, &stepper->primary));
    SR_TRY(srCreateForces(character, &stepper->forces));
    return srStepper_Prepare(stepper);
}

srResult srCreateStepper(const srShotSource* source, srStepper* outStepper) {
    *outStepper = (srStepper){.source = source, .stateRow = SR_NULL_INDEX};
    srResult result = createParts(outStepper);
    if (result != sr_success) {
        srDestroyStepper(outStepper);
    }
    return result;
}

void srDestroyStepper(srStepper* stepper) {
    freeState(stepper);
    srDestroyBody(&stepper->body);
    srDestroyForces(&stepper->forces);
    srDestroyMotionSpace(&stepper->space);
    srDestroyPrimary(&stepper->primary);
    if (stepper->source != NULL) {
        SR_FREE(stepper->loopStart, stepper->source->character->cage.nodeCount);
    }
    srDestroyFrameCache(&stepper->cache);
    *stepper = (srStepper){0};
}

void srStepper_Forget(srStepper* stepper, int32_t firstVoidRow) {
    if (stepper->stateRow >= firstVoidRow) {
        stepper->stateRow = SR_NULL_INDEX;
    }
    srPrimary_Forget(&stepper->primary);
}

void srStepper_ForgetMotion(srStepper* stepper) {
    srMotionSpace_Forget(&stepper->space);
}

// The recorded motion's space, where it counts and all is recorded. False when it was given up.
static bool findSpace(srStepper* stepper, srIsWantedFcn* isWanted, void* context) {
    const srShotSource* source = stepper->source;
    if (!leavesMotion(source) || srTape_CountRecorded(&source->tape) < source->def.frameCount) {
        return true;
    }
    return srMotionSpace_Fit(&stepper->space, source->character, &source->tape, isWanted, context);
}

// The settings of a row depend on that row alone, and on the space of all.
static srResult tuneForRow(srStepper* stepper, int32_t row) {
    const srShotSource* source = stepper->source;
    srMat34 object = srRig_ReadObject(srTape_GetRow(&source->tape, row));
    double determinant = srDeterminant34(&object);
    double scale = srCubeRoot(fabs(determinant));
    scale = scale > 0.0 ? scale : 1.0;
    srBodySettings settings = {
        .params = source->def.params,
        .frameRate = source->def.frameRate,
        .scale = scale,
        .size = (double)source->character->report.size * scale,
        .isMirrored = determinant < 0.0,
        .space = stepper->space.span.vectors != NULL ? &stepper->space.span : NULL,
        .spaceHash = stepper->space.hash,
    };
    settings.params.complement = srShotSource_FindComplement(source);
    return srBody_Tune(&stepper->body, &settings);
}

// how the rig comes to a row: from the row before, or, in a loop, from the row that the first one follows
static srPrimaryStep findStep(const srShotSource* source, int32_t row) {
    int32_t end = source->def.frameCount;
    int32_t loop = source->def.params.loop;
    bool isRound = loop != sr_loopNone && srTape_CountRecorded(&source->tape) == end && end > 2;
    srPrimaryStep step = {
        .before = row - 2,
        .last = row - 1,
        .now = row,
        .seam = SR_NULL_INDEX,
        .frameSeconds = 1.0 / source->def.frameRate,
        .travelFelt = (double)source->controls.rows[row].travelFelt,
    };
    if (row == 0) {
        step.before = end - 2;
        step.last = end - 1;
    } else if (row == 1 && isRound) {
        bool isSame = loop == sr_loopLastIsFirst;
        step.before = isSame ? end - 2 : end - 1;
        step.seam = isSame ? end - 1 : SR_NULL_INDEX;
    } else if (row == 1) {
        step.before = SR_NULL_INDEX;
    }
    if (source->controls.rows[step.last].isCut) {
        step.before = step.seam = SR_NULL_INDEX;
    }
    return step;
}

static const srVec3f* findAcceleration(srStepper* stepper, int32_t row, const srVec3* places) {
    const srShotSource* source = stepper->source;
    const srBodySettings* settings = &stepper->body.settings;
    srForcesFrame frame = {
        .controls = &source->controls.rows[row],
        .restGravity = source->def.params.restGravity,
        .maps = stepper->primary.maps,
        .places = places,
        .seconds = (double)row / source->def.frameRate,
        .size = settings->size,
        .volumeScale = settings->scale * settings->scale * settings->scale,
        .density = (double)settings->params.density,
    };
    return srForces_Find(&stepper->forces, source->character, &frame);
}

// moves the state on by a frame, to `row`
static srResult stepAs(srStepper* stepper, int32_t row, bool isProvisional, srFrameStats* outStats) {
    const srShotSource* source = stepper->source;
    *outStats = (srFrameStats){0};
    srPrimaryStep step = findStep(source, row);
    if (source->controls.rows[row].isCut) {
        const srMat3* turns =
            srPrimary_TurnAcross(&stepper->primary, source->character, &source->tape, step.last, step.now);
        srBody_Turn(&stepper->body, turns, stepper->state);
        return sr_success;
    }
    SR_TRY(tuneForRow(stepper, row));
    srNodeMotion motion = srPrimary_Move(&stepper->primary, source->character, &source->tape, &step);
    motion.acceleration = findAcceleration(stepper, row, motion.to);
    motion.pressure = (double)source->controls.rows[row].pressure;
    motion.isProvisional = isProvisional;
    if (step.travelFelt < 1.0) {
        srBody_Turn(&stepper->body, srPrimary_TurnWithRoot(&stepper->primary, step.travelFelt),
                    stepper->state);
    }
    if (stepper->body.kind->knowsTurns) {
        motion.turns = srPrimary_TurnStep(&stepper->primary, source->character, &source->tape, &step);
    }
    srBody_Step(&stepper->body, &motion, stepper->state, outStats);
    return sr_success;
}

static srResult stepTo(srStepper* stepper, int32_t row, srFrameStats* outStats) {
    return stepAs(stepper, row, false, outStats);
}

static void clearState(srStepper* stepper) {
    memset(stepper->state, 0, stepper->stateSize);
}

// the state of the row before, from what was kept
static bool seek(srStepper* stepper, int32_t row, srIsWantedFcn* isWanted, void* context) {
    if (stepper->stateRow == row) {
        return true;
    }
    int32_t checkpoint = srFindCheckpoint(row);
    memcpy(stepper->state, srFrameCache_GetState(&stepper->cache, checkpoint), stepper->stateSize);
    stepper->stateRow = checkpoint;
    while (stepper->stateRow < row) {
        srFrameStats stats;
        if (!isWanted(context)) {
            return false;
        }
        int32_t next = stepper->stateRow + 1;
        if (stepTo(stepper, next, &stats) != sr_success) {
            clearState(stepper);
        }
        stepper->stateRow = next;
    }
    return true;
}

void srStepper_TuneFor(srStepper* stepper, int32_t row) {
    if (leavesMotion(stepper->source)) {
        return; // a space that is not fitted yet would be of no use
    }
    stepper->failure = srStepper_Prepare(stepper);
    if (stepper->failure == sr_success && row > 0) {
        stepper->failure = tuneForRow(stepper, row);
    }
}

bool srStepper_Foresee(srStepper* stepper, int32_t row, srIsWantedFcn* isWanted, void* context,
                       srVec3f* outOffsets) {
    if (srStepper_Prepare(stepper) != sr_success) {
        return false; // doing the rows will tell why
    }
    int32_t start = srFindCheckpoint(row > FORESEEN_FROM ? row - FORESEEN_FROM : 0);
    memcpy(stepper->state, srFrameCache_GetState(&stepper->cache, start), stepper->stateSize);
    stepper->stateRow = SR_NULL_INDEX; // it belongs to no row
    for (int32_t next = start + 1; next <= row; ++next) {
        srFrameStats stats;
        if (!isWanted(context) || stepAs(stepper, next, true, &stats) != sr_success) {
            return false;
        }
    }
    srBody_ReadOffsets(&stepper->body, stepper->state, outOffsets);
    return true;
}

// what readers may have of the row that the state has come to
static void publish(srStepper* stepper, int32_t row) {
    stepper->stateRow = row;
    srBody_ReadOffsets(&stepper->body, stepper->state, srFrameCache_GetOffsets(&stepper->cache, row));
    stepper->cache.hashes[row] = srHashBlock(stepper->state, stepper->stateSize);
    if (srFindCheckpoint(row) == row) {
        memcpy(srFrameCache_GetState(&stepper->cache, row), stepper->state, stepper->stateSize);
    }
}

// the largest difference of the state's offsets from others, as a share of the size
static float measureSeam(srStepper* stepper, srVec3f* offsets, const srVec3f* others) {
    float largest = 0.0f;
    srBody_ReadOffsets(&stepper->body, stepper->state, offsets);
    for (int32_t i = 0; i < stepper->cache.nodeCount; ++i) {
        float length = srLengthF(srSubF(offsets[i], others[i]));
        largest = length > largest ? length : largest;
    }
    double size = stepper->body.settings.size;
    return size > 0.0 ? (float)((double)largest / size) : 0.0f;
}

// the state of the last row becomes that of the first, as it follows from it
static srResult closeLoop(srStepper* stepper) {
    const srShotSource* source = stepper->source;
    int32_t last = source->def.frameCount - 1;
    srFrameStats stats;
    if (source->def.params.loop == sr_loopFirstFollowsLast) {
        return stepTo(stepper, 0, &stats);
    }
    const srMat3* turns = srPrimary_TurnAcross(&stepper->primary, source->character, &source->tape, last, 0);
    srBody_Turn(&stepper->body, turns, stepper->state);
    return sr_success;
}

// Goes round a loop until the state at its first row repeats. False when it was given up.
static bool goRound(srStepper* stepper, srIsWantedFcn* isWanted, void* context) {
    srVec3f* offsets = srFrameCache_GetOffsets(&stepper->cache, 0); // the row is not ready: ours to write
    memset(stepper->loopStart, 0, (size_t)stepper->cache.nodeCount * sizeof(srVec3f));
    for (int32_t round = 1; round <= MOST_ROUNDS; ++round) {
        srFrameStats stats;
        srResult result = sr_success;
        for (int32_t row = 1; row < stepper->cache.frameCount && result == sr_success; ++row) {
            if (!isWanted(context)) {
                return false;
            }
            result = stepTo(stepper, row, &stats);
        }
        if (result != sr_success || closeLoop(stepper) != sr_success) {
            clearState(stepper); // the rows to come will tell why
            return true;
        }
        stepper->loopSeam = measureSeam(stepper, offsets, stepper->loopStart);
        stepper->loopRounds = round;
        memcpy(stepper->loopStart, offsets, (size_t)stepper->cache.nodeCount * sizeof(srVec3f));
        if (stepper->loopSeam <= CLOSED_SEAM) {
            break;
        }
    }
    return true;
}

static bool beginShot(srStepper* stepper, srIsWantedFcn* isWanted, void* context) {
    const srShotSource* source = stepper->source;
    int32_t end = source->def.frameCount;
    stepper->stateRow = SR_NULL_INDEX;
    stepper->loopSeam = 0.0f;
    stepper->loopRounds = 0;
    bool hasShapes = leavesMotion(source) && stepper->space.isFitted;
    stepper->shapeCount = hasShapes ? srSpan_CountShapes(&stepper->space.span) : 0;
    stepper->shapesLeft = hasShapes ? (float)stepper->space.span.left : 0.0f;
    clearState(stepper);
    bool isLoop = source->def.params.loop != sr_loopNone && end > 2;
    return !isLoop || srTape_CountRecorded(&source->tape) < end || goRound(stepper, isWanted, context);
}

// a row without a solver: the flesh keeps to its pose
static void publishNothing(srStepper* stepper, int32_t row) {
    stepper->stateRow = SR_NULL_INDEX;
    memset(srFrameCache_GetOffsets(&stepper->cache, row), 0,
           (size_t)stepper->cache.nodeCount * sizeof(srVec3f));
    stepper->cache.hashes[row] = SR_HASH_SEED;
}

bool srStepper_DoRow(srStepper* stepper, int32_t row, srIsWantedFcn* isWanted, void* context) {
    double start = srGetSeconds();
    srFrameStats* stats = &stepper->cache.stats[row];
    *stats = (srFrameStats){0};
    srResult failure = stepper->failure;
    stepper->failure = sr_success;
    bool isUnprepared = failure != sr_success && stepper->state == NULL;
    srResult result = isUnprepared ? failure : srStepper_Prepare(stepper);
    if (result != sr_success) {
        stats->result = result;
        publishNothing(stepper, row);
        return true;
    }
    if (!findSpace(stepper, isWanted, context)) {
        return false;
    }
    if (row == 0) {
        if (!beginShot(stepper, isWanted, context)) {
            return false;
        }
    } else {
        if (!seek(stepper, row - 1, isWanted, context)) {
            return false;
        }
        result = failure != sr_success ? failure : stepTo(stepper, row, stats);
        if (result != sr_success) {
            clearState(stepper);
        }
    }
    publish(stepper, row);
    stats->result = result;
    stats->seconds = (float)(srGetSeconds() - start);
    return true;
}
