// SPDX-License-Identifier: GPL-3.0-or-later
//
// The shot's parts and who may touch them when. `control` is held by whoever changes or reads the shot and
// never by the worker (worker.h), which has the rows of tape and cache that are not ready to itself.

#include "sim/simulation.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "sim/passenger.h"
#include "sim/provisional.h"
#include "sim/skin_follower.h"
#include "sim/source_hash.h"
#include "sim/stepper.h"
#include "sim/worker.h"

#include <math.h>
#include <string.h>

#define SMALLEST_SHARE 0.0001f // of the later of two frames; what is nearer to the earlier one is that

struct srSimulation {
    srListener listener; // to changes of the character's painted maps
    srWorker* worker;

    srMutex* control;
    srShotSource source;      // guarded by `control`, and by the worker's pause
    srSkinFollower* follower; // null while only the rig moves the skin
    int32_t edition;          // counts its changes
    srMat34 skinToObject;     // where offsets of the skin are wanted
    srPassenger skin;         // scratch of readers: what bringing offsets to the skin needs, ...
    srVec3* places;           // ... nodes in the world, ...
    srMat34* maps;            // ... and the maps that put them there

    srProvisional provisional;
    srStepper stepper; // the worker's own but while it is paused, and but for rows that are ready
};

static bool isWanted(void* context) {
    const srSimulation* simulation = context;
    return srWorker_IsWanted(simulation->worker);
}

static bool simulateRow(int32_t row, void* context) {
    srSimulation* simulation = context;
    srProvisional* provisional = &simulation->provisional;
    // first: who turns a dial asks for a frame a moment later
    srStepper_TuneFor(&simulation->stepper, row);
    int32_t wished = srProvisional_TakeWish(provisional, row);
    if (wished != SR_NULL_INDEX &&
        srStepper_Foresee(&simulation->stepper, wished, isWanted, simulation, provisional->made)) {
        srProvisional_Publish(provisional, wished);
    }
    return srStepper_DoRow(&simulation->stepper, row, isWanted, simulation);
}

static srResult allocateParts(srSimulation* simulation) {
    srShotSource* source = &simulation->source;
    const srCharacter* character = source->character;
    int32_t nodeCount = character->cage.nodeCount;
    simulation->control = srCreateMutex();
    simulation->places = SR_ALLOC(srVec3, nodeCount);
    simulation->maps = SR_ALLOC(srMat34, character->rig.boneCount + 1);
    if (simulation->control == NULL || simulation->places == NULL || simulation->maps == NULL) {
        return srFailOutOfMemory("a shot");
    }
    SR_TRY(srCreatePassenger(&character->blend, &simulation->skin));
    int32_t rowFloatCount = 16 * srRig_GetRowMatrixCount(&character->rig);
    SR_TRY(srCreateTape(source->def.frameCount, rowFloatCount, &source->tape));
    SR_TRY(srCreateControlTrack(source->def.frameCount, &source->controls));
    SR_TRY(srCreateProvisional(nodeCount, &simulation->provisional));
    SR_TRY(srCreateStepper(source, &simulation->stepper));
    return srStartWorker(simulateRow, simulation, &simulation->worker);
}

// What changed is written: the worker goes on from the first row that is touched, or from the first of all
// where that depends on all others.
static void goOnFrom(srSimulation* simulation, int32_t changedRow) {
    simulation->edition += 1;
    int32_t firstVoid = srShotSource_NeedsAllRows(&simulation->source) ? 0 : changedRow;
    srStepper_Forget(&simulation->stepper, firstVoid);
    srProvisional_Forget(&simulation->provisional);
    srWorker_Resume(simulation->worker, firstVoid, simulation->source.tape.recordedCount);
}

// Nobody looks either while the character changes: what was ready is void then.
static void hush(void* context) {
    srSimulation* simulation = context;
    srLock(simulation->control);
    srWorker_Pause(simulation->worker);
}

static void startAnew(void* context) {
    srSimulation* simulation = context;
    simulation->stepper.body.isTuned = false;
    goOnFrom(simulation, 0);
    srUnlock(simulation->control);
}

srResult srCreateSimulation(const srCharacter* character, const srShotDef* def,
                            srSimulation** outSimulation) {
    srSimulation* simulation = SR_ALLOC_ZERO(srSimulation, 1);
    if (simulation == NULL) {
        return srFailOutOfMemory("a shot");
    }
    simulation->source.character = character;
    simulation->source.def = *def;
    simulation->source.def.skinToObject = NULL; // the caller's own; kept as a matrix
    simulation->skinToObject =
        def->skinToObject != NULL ? srFromColumns16(def->skinToObject) : srIdentity34();
    srAudience_Hold(character->audience);
    srResult result = allocateParts(simulation);
    if (result == sr_success) {
        simulation->listener = (srListener){.hush = hush, .resume = startAnew, .context = simulation};
        srAudience_Join(character->audience, &simulation->listener);
    }
    srAudience_Release(character->audience);
    if (result != sr_success) {
        srDestroySimulation(simulation);
        return result;
    }
    *outSimulation = simulation;
    return sr_success;
}

void srDestroySimulation(srSimulation* simulation) {
    if (simulation == NULL) {
        return;
    }
    if (simulation->worker != NULL) {
        // the worker reads the character for as long as it may begin a row
        srWorker_Halt(simulation->worker);
        srWorker_Pause(simulation->worker);
    }
    srAudience_Leave(simulation->source.character->audience, &simulation->listener);
    srDestroyWorker(simulation->worker);
    const srCharacter* character = simulation->source.character;
    srDestroyStepper(&simulation->stepper);
    srDestroyProvisional(&simulation->provisional);
    srDestroySkinFollower(simulation->follower);
    srDestroyControlTrack(&simulation->source.controls);
    srDestroyTape(&simulation->source.tape);
    SR_FREE(simulation->places, character->cage.nodeCount);
    SR_FREE(simulation->maps, character->rig.boneCount + 1);
    srDestroyPassenger(&simulation->skin);
    srDestroyMutex(simulation->control);
    SR_FREE(simulation, 1);
}

void srSimulation_Halt(srSimulation* simulation) {
    srWorker_Halt(simulation->worker);
}

const srCharacter* srSimulation_GetCharacter(const srSimulation* simulation) {
    return simulation->source.character;
}

int32_t srSimulation_GetFirstFrame(const srSimulation* simulation) {
    return simulation->source.def.firstFrame;
}

int32_t srSimulation_GetFrameCount(const srSimulation* simulation) {
    return simulation->source.def.frameCount;
}

int32_t srSimulation_GetRowFloatCount(const srSimulation* simulation) {
    return simulation->source.tape.rowFloatCount;
}

static srResult checkRange(const srSimulation* simulation, int32_t firstRow, int32_t rowCount) {
    const srTape* tape = &simulation->source.tape;
    if (firstRow >= 0 && firstRow <= tape->recordedCount && rowCount <= tape->rowCount - firstRow) {
        return sr_success;
    }
    int32_t firstFrame = simulation->source.def.firstFrame;
    return srFail(sr_errorInvalidValue,
                  "Frames %d to %d do not follow the %d recorded ones of a shot of %d frames from %d.",
                  firstFrame + firstRow, firstFrame + firstRow + rowCount - 1, tape->recordedCount,
                  tape->rowCount, firstFrame);
}

// the given rows from the first that differs on
static void writeChange(srSimulation* simulation, int32_t changed, int32_t rowCount, const float* rows) {
    srTape* tape = &simulation->source.tape;
    bool isWhole = changed + rowCount == tape->rowCount;
    if (changed == tape->recordedCount && !(isWhole && srShotSource_NeedsAllRows(&simulation->source))) {
        // what comes after all that the worker knows does not disturb it
        srTape_Write(tape, changed, rowCount, rows);
        srWorker_Extend(simulation->worker, tape->recordedCount);
        return;
    }
    srWorker_Pause(simulation->worker);
    srTape_Write(tape, changed, rowCount, rows);
    srStepper_ForgetMotion(&simulation->stepper);
    goOnFrom(simulation, changed);
}

srResult srSimulation_WriteTape(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                const float* rows, int32_t* outFirstChangedFrame) {
    int32_t firstRow = firstFrame - simulation->source.def.firstFrame;
    srLock(simulation->control);
    srResult result = checkRange(simulation, firstRow, rowCount);
    if (result == sr_success) {
        int32_t changed = srTape_FindChange(&simulation->source.tape, firstRow, rowCount, rows);
        int32_t sameCount = changed - firstRow;
        if (sameCount < rowCount) {
            writeChange(simulation, changed, rowCount - sameCount,
                        rows + (size_t)sameCount * (size_t)simulation->source.tape.rowFloatCount);
        }
        if (outFirstChangedFrame != NULL) {
            *outFirstChangedFrame = simulation->source.def.firstFrame + changed;
        }
    }
    srUnlock(simulation->control);
    return result;
}

void srSimulation_WriteControls(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                const srFrameControls* controls, int32_t* outFirstChangedFrame) {
    int32_t firstRow = firstFrame - simulation->source.def.firstFrame;
    srLock(simulation->control);
    int32_t changed = srControlTrack_FindChange(&simulation->source.controls, firstRow, rowCount, controls);
    if (changed < firstRow + rowCount) {
        srWorker_Pause(simulation->worker);
        srControlTrack_Write(&simulation->source.controls, firstRow, rowCount, controls);
        goOnFrom(simulation, changed);
    }
    if (outFirstChangedFrame != NULL) {
        *outFirstChangedFrame = simulation->source.def.firstFrame + changed;
    }
    srUnlock(simulation->control);
}

srResult srSimulation_FollowSkin(srSimulation* simulation, const float* restPositions) {
    const srCharacter* character = simulation->source.character;
    srSkinFollower* follower = NULL;
    srLock(simulation->control);
    srResult result = srCreateSkinFollower(character, restPositions, &follower);
    if (result == sr_success) {
        result = srTape_KeepNodes(&simulation->source.tape, character->cage.nodeCount);
    }
    if (result == sr_success) {
        srDestroySkinFollower(simulation->follower);
        simulation->follower = follower;
    } else {
        srDestroySkinFollower(follower);
    }
    srUnlock(simulation->control);
    return result;
}

// writes rows of the skin; the first that differs
static int32_t writeSkinLocked(srSimulation* simulation, int32_t firstRow, int32_t rowCount,
                               const float* positions) {
    srTape* tape = &simulation->source.tape;
    size_t floatCount = 3 * (size_t)simulation->source.character->embedding.pointCount;
    int32_t changed = firstRow + rowCount;
    bool isPaused = false;
    for (int32_t row = firstRow; row < firstRow + rowCount; ++row) {
        const srVec3f* nodes =
            srSkinFollower_Place(simulation->follower, positions + (size_t)(row - firstRow) * floatCount);
        if (!srTape_HasOtherNodes(tape, row, nodes)) {
            continue;
        }
        changed = row < changed ? row : changed;
        // what comes after all that the worker knows does not disturb it
        if (!isPaused && row < tape->recordedCount) {
            srWorker_Pause(simulation->worker);
            isPaused = true;
        }
        srTape_WriteNodes(tape, row, nodes);
    }
    if (isPaused) {
        srStepper_ForgetMotion(&simulation->stepper);
        goOnFrom(simulation, changed);
    }
    return changed;
}

srResult srSimulation_WriteSkin(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                const float* positions, int32_t* outFirstChangedFrame) {
    int32_t firstRow = firstFrame - simulation->source.def.firstFrame;
    srResult result = sr_success;
    srLock(simulation->control);
    if (simulation->follower == NULL) {
        result = srFail(sr_errorInvalidValue, "Nobody follows the skin yet: call srShot_FollowSkin first.");
    } else {
        int32_t changed = writeSkinLocked(simulation, firstRow, rowCount, positions);
        if (outFirstChangedFrame != NULL) {
            *outFirstChangedFrame = simulation->source.def.firstFrame + changed;
        }
    }
    srUnlock(simulation->control);
    return result;
}

static bool areEqual(const srShotParams* a, const srShotParams* b) {
    return a->frequency == b->frequency && a->settleFrames == b->settleFrames &&
           a->youngModulus == b->youngModulus && a->poissonRatio == b->poissonRatio &&
           a->density == b->density && a->poseCorrection == b->poseCorrection && a->substeps == b->substeps &&
           memcmp(a->restGravity, b->restGravity, sizeof(a->restGravity)) == 0 && a->loop == b->loop &&
           a->solver == b->solver && a->complement == b->complement && a->material == b->material &&
           a->fibreStiffness == b->fibreStiffness && a->stretchLimit == b->stretchLimit &&
           a->swings == b->swings;
}

void srSimulation_SetParams(srSimulation* simulation, const srShotParams* params) {
    srLock(simulation->control);
    if (!areEqual(params, &simulation->source.def.params)) {
        srWorker_Pause(simulation->worker);
        simulation->source.def.params = *params;
        goOnFrom(simulation, 0);
    }
    srUnlock(simulation->control);
}

void srSimulation_GetStatus(srSimulation* simulation, srShotStatus* outStatus) {
    srLock(simulation->control);
    srWorkerStatus work = srWorker_GetStatus(simulation->worker);
    const srFrameStats* stats = simulation->stepper.cache.stats;
    *outStatus = (srShotStatus){
        .firstFrame = simulation->source.def.firstFrame,
        .frameCount = simulation->source.def.frameCount,
        .recordedFrameCount = work.rowCount,
        .readyFrameCount = work.readyCount,
        .isRunning = work.readyCount < work.rowCount,
        .simulationSeconds = (float)work.seconds,
    };
    int32_t provisionalRow = srProvisional_GetRow(&simulation->provisional);
    outStatus->hasProvisional = provisionalRow >= work.readyCount;
    outStatus->provisionalFrame =
        outStatus->hasProvisional ? simulation->source.def.firstFrame + provisionalRow : 0;
    for (int32_t row = 0; row < work.readyCount; ++row) {
        outStatus->limitedNodeCount += stats[row].limitedNodeCount;
    }
    if (work.readyCount > 0) {
        outStatus->loopSeam = simulation->stepper.loopSeam;
        outStatus->loopRounds = simulation->stepper.loopRounds;
        outStatus->motionShapeCount = simulation->stepper.shapeCount;
        outStatus->motionShapesLeft = simulation->stepper.shapesLeft;
        outStatus->result = stats[work.readyCount - 1].result;
    }
    srUnlock(simulation->control);
}

int32_t srSimulation_GetRevision(srSimulation* simulation) {
    return srWorker_GetStatus(simulation->worker).revision;
}

static srResult failNotReady(const srSimulation* simulation, int32_t row) {
    return srFail(sr_errorNotReady, "Frame %d is not simulated yet.",
                  simulation->source.def.firstFrame + row);
}

static srResult failOutside(const srSimulation* simulation, int32_t frame) {
    return srFail(sr_errorInvalidValue, "Frame %d is outside of the shot's %d frames from %d.", frame,
                  simulation->source.def.frameCount, simulation->source.def.firstFrame);
}

srResult srSimulation_WaitFrame(srSimulation* simulation, int32_t frame, double seconds) {
    int64_t row = (int64_t)frame - simulation->source.def.firstFrame;
    int32_t last = simulation->source.def.frameCount - 1;
    bool isOutside = row < 0 || row > last; // in a loop that needs the whole round
    bool needsLast = row > last || (isOutside && srSimulation_GetMargin(simulation) > 0);
    int32_t wanted = needsLast ? last : row < 0 ? 0 : (int32_t)row;
    return srWorker_WaitRow(simulation->worker, wanted, seconds) ? sr_success
                                                                 : failNotReady(simulation, wanted);
}

// from offsets of the nodes at a row, in the world, to those of the vertices in their object
static void bringToSkin(void* context, int32_t row, const srVec3f* offsets, float* outOffsets) {
    const srSimulation* simulation = context;
    srMat34 object = srRig_ReadObject(srTape_GetRow(&simulation->source.tape, row));
    srMat34 toSkin;
    srInvert34(&object, &toSkin);
    srMat34 toObject = srMul34(&simulation->skinToObject, &toSkin);
    srPassenger_Bring(&simulation->skin, &toObject, offsets, outOffsets);
    srCharacter_KeepPinned(simulation->source.character, outOffsets);
}

static srReader makeSkinReader(srSimulation* simulation) {
    return (srReader){
        .bring = bringToSkin,
        .context = simulation,
        .rowCount = simulation->source.def.frameCount,
        .floatCount = 3 * (size_t)simulation->source.character->embedding.pointCount,
        .laterOffsets = simulation->skin.laterOffsets,
    };
}

static void readRow(srSimulation* simulation, const srReader* reader, int32_t row, float* outOffsets) {
    reader->bring(reader->context, row, srFrameCache_GetOffsets(&simulation->stepper.cache, row), outOffsets);
}

static int32_t getMargin(const srShotSource* source) {
    return source->def.params.loop != sr_loopNone && source->def.frameCount > 2 ? 1 : 0;
}

int32_t srSimulation_GetMargin(srSimulation* simulation) {
    srLock(simulation->control);
    int32_t margin = getMargin(&simulation->source);
    srUnlock(simulation->control);
    return margin;
}

// the shot's row that a loop shows at one of the margin
static int32_t wrapRow(const srShotSource* source, int32_t row) {
    int32_t end = source->def.frameCount;
    int32_t period = source->def.params.loop == sr_loopLastIsFirst ? end - 1 : end;
    return row < 0 ? row + period : row >= end ? row - period : row;
}

// Rows, shares and rounding are those of Blender's Mesh Cache modifier: a bake plays the bits that were live.
static srResult readLocked(srSimulation* simulation, double frame, const srReader* reader,
                           float* outOffsets) {
    const srShotSource* source = &simulation->source;
    float margin = (float)getMargin(source);
    float position = (float)frame - (float)source->def.firstFrame;
    float last = (float)(source->def.frameCount - 1) + margin;
    position = position > last ? last : position > -margin ? position : -margin;
    float floor = floorf(position);
    float share = position - floor > SMALLEST_SHARE ? position - floor : 0.0f;
    int32_t row = wrapRow(source, (int32_t)floor);
    int32_t later = share > 0.0f ? wrapRow(source, (int32_t)floor + 1) : row;
    int32_t lastNeeded = row > later ? row : later;
    if (srWorker_GetStatus(simulation->worker).readyCount <= lastNeeded || reader->rowCount <= lastNeeded) {
        memset(outOffsets, 0, reader->floatCount * sizeof(float));
        return failNotReady(simulation, lastNeeded);
    }

    readRow(simulation, reader, row, outOffsets);
    if (share > 0.0f) {
        readRow(simulation, reader, later, reader->laterOffsets);
        for (size_t i = 0; i < reader->floatCount; ++i) {
            outOffsets[i] = outOffsets[i] * (1.0f - share) + reader->laterOffsets[i] * share;
        }
    }
    return sr_success;
}

srResult srSimulation_ReadFor(srSimulation* simulation, double frame, const srReader* reader,
                              float* outOffsets) {
    srLock(simulation->control);
    srResult result = readLocked(simulation, frame, reader, outOffsets);
    srUnlock(simulation->control);
    return result;
}

srResult srSimulation_ReadOffsets(srSimulation* simulation, double frame, float* outOffsets) {
    const srReader reader = makeSkinReader(simulation);
    return srSimulation_ReadFor(simulation, frame, &reader, outOffsets);
}

srResult srSimulation_AskProvisional(srSimulation* simulation, int32_t frame) {
    int64_t row = (int64_t)frame - simulation->source.def.firstFrame;
    if (row < 0 || row >= simulation->source.def.frameCount) {
        return failOutside(simulation, frame);
    }
    srLock(simulation->control);
    if (row < simulation->source.tape.recordedCount) {
        srProvisional_Ask(&simulation->provisional, (int32_t)row);
    }
    srUnlock(simulation->control);
    return sr_success;
}

srResult srSimulation_ReadProvisional(srSimulation* simulation, int32_t frame, float* outOffsets) {
    const srReader reader = makeSkinReader(simulation);
    return srSimulation_ReadProvisionalFor(simulation, frame, &reader, outOffsets);
}

srResult srSimulation_ReadProvisionalFor(srSimulation* simulation, int32_t frame, const srReader* reader,
                                         float* outOffsets) {
    int64_t row = (int64_t)frame - simulation->source.def.firstFrame;
    if (row < 0 || row >= simulation->source.def.frameCount) {
        return failOutside(simulation, frame);
    }
    srLock(simulation->control);
    const srVec3f* offsets =
        row < reader->rowCount ? srProvisional_BeginRead(&simulation->provisional, (int32_t)row) : NULL;
    if (offsets != NULL) {
        reader->bring(reader->context, (int32_t)row, offsets, outOffsets);
        srProvisional_EndRead(&simulation->provisional);
    }
    srUnlock(simulation->control);
    if (offsets == NULL) {
        memset(outOffsets, 0, reader->floatCount * sizeof(float));
        return srFail(sr_errorNotReady, "There is no provisional frame %d.", frame);
    }
    return sr_success;
}

// the row of a whole frame that is ready
static srResult findReadyRow(srSimulation* simulation, int32_t frame, int32_t* outRow) {
    int64_t row = (int64_t)frame - simulation->source.def.firstFrame;
    if (row < 0 || row >= simulation->source.def.frameCount) {
        return failOutside(simulation, frame);
    }
    *outRow = (int32_t)row;
    return srWorker_GetStatus(simulation->worker).readyCount > *outRow ? sr_success
                                                                       : failNotReady(simulation, *outRow);
}

static void placeNodes(srSimulation* simulation, int32_t row, bool primary, float* outNodes) {
    const srCharacter* character = simulation->source.character;
    const srTape* tape = &simulation->source.tape;
    srPlacePrimary(character, tape, row, simulation->maps, simulation->places);
    const srVec3f* offsets = srFrameCache_GetOffsets(&simulation->stepper.cache, row);
    for (int32_t i = 0; i < simulation->stepper.cache.nodeCount; ++i) {
        srVec3 x = simulation->places[i];
        srVec3f node = srToFloat(primary ? x : srAdd(x, srToDouble(offsets[i])));
        memcpy(outNodes + 3 * (size_t)i, &node, sizeof(node));
    }
}

srResult srSimulation_ReadNodes(srSimulation* simulation, int32_t frame, bool primary, float* outNodes) {
    int32_t row = 0;
    srLock(simulation->control);
    srResult result = findReadyRow(simulation, frame, &row);
    if (result == sr_success) {
        placeNodes(simulation, row, primary, outNodes);
    }
    srUnlock(simulation->control);
    return result;
}

srResult srSimulation_GetHash(srSimulation* simulation, int32_t frame, uint64_t* outHash) {
    int32_t row = 0;
    srLock(simulation->control);
    srResult result = findReadyRow(simulation, frame, &row);
    if (result == sr_success) {
        *outHash = simulation->stepper.cache.hashes[row];
    }
    srUnlock(simulation->control);
    return result;
}

srResult srSimulation_GetFrameStats(srSimulation* simulation, int32_t frame, srFrameStats* outStats) {
    int32_t row = 0;
    srLock(simulation->control);
    srResult result = findReadyRow(simulation, frame, &row);
    if (result == sr_success) {
        *outStats = simulation->stepper.cache.stats[row];
    }
    srUnlock(simulation->control);
    return result;
}

int32_t srSimulation_GetEdition(srSimulation* simulation) {
    srLock(simulation->control);
    int32_t edition = simulation->edition;
    srUnlock(simulation->control);
    return edition;
}

srResult srSimulation_GetStateSize(srSimulation* simulation, size_t* outSize) {
    srLock(simulation->control);
    srWorker_Pause(simulation->worker);
    srResult result = srStepper_Prepare(&simulation->stepper);
    *outSize = simulation->stepper.cache.stateSize;
    srWorker_Skip(simulation->worker, 0);
    srUnlock(simulation->control);
    return result;
}

srResult srSimulation_SaveRow(srSimulation* simulation, int32_t row, int32_t edition, srRowRecord* record) {
    const srFrameCache* cache = &simulation->stepper.cache;
    srLock(simulation->control);
    srResult result = sr_success;
    bool isSame = edition == simulation->edition && record->stateSize == cache->stateSize;
    if (!isSame || row >= srWorker_GetStatus(simulation->worker).readyCount) {
        result = srFail(sr_errorCancelled, "The shot changed while it was being baked. Bake it again.");
    } else {
        record->sourceHash = srHashSourceRow(record->sourceHash, &simulation->source, row);
        record->stateHash = cache->hashes[row];
        record->stats = cache->stats[row];
        record->loopSeam = simulation->stepper.loopSeam;
        record->loopRounds = simulation->stepper.loopRounds;
        memcpy(record->offsets, srFrameCache_GetOffsets(cache, row),
               (size_t)cache->nodeCount * sizeof(srVec3f));
        if (srFindCheckpoint(row) == row) {
            memcpy(record->state, srFrameCache_GetState(cache, row), cache->stateSize);
        }
    }
    srUnlock(simulation->control);
    return result;
}

static void takeRow(srStepper* stepper, int32_t row, const srRowRecord* record) {
    srFrameCache* cache = &stepper->cache;
    cache->hashes[row] = record->stateHash;
    cache->stats[row] = record->stats;
    memcpy(srFrameCache_GetOffsets(cache, row), record->offsets, (size_t)cache->nodeCount * sizeof(srVec3f));
    if (srFindCheckpoint(row) == row) {
        memcpy(srFrameCache_GetState(cache, row), record->state, cache->stateSize);
    }
    stepper->loopSeam = record->loopSeam;
    stepper->loopRounds = record->loopRounds;
}

// while the worker stands still
static srResult takeRows(srSimulation* simulation, srNextRowFcn* next, void* context, int32_t* outRowCount,
                         uint64_t* outSourceHash) {
    SR_TRY(srStepper_Prepare(&simulation->stepper));
    SR_TRY(srHashShotSource(&simulation->source, outSourceHash));
    int32_t readyCount = srWorker_GetStatus(simulation->worker).readyCount;
    int32_t row = 0;
    for (; row < simulation->source.tape.recordedCount; ++row) {
        const srRowRecord* record = next(context);
        uint64_t hash = srHashSourceRow(*outSourceHash, &simulation->source, row);
        if (record == NULL || record->sourceHash != hash ||
            record->stateSize != simulation->stepper.cache.stateSize) {
            break;
        }
        *outSourceHash = hash;
        if (row >= readyCount) {
            takeRow(&simulation->stepper, row, record);
        }
    }
    *outRowCount = row;
    return sr_success;
}

srResult srSimulation_Restore(srSimulation* simulation, srNextRowFcn* next, void* context,
                              int32_t* outRowCount, int32_t* outEdition, uint64_t* outSourceHash) {
    *outRowCount = 0;
    srLock(simulation->control);
    srWorker_Pause(simulation->worker);
    srResult result = takeRows(simulation, next, context, outRowCount, outSourceHash);
    *outEdition = simulation->edition;
    srWorker_Skip(simulation->worker, *outRowCount);
    srUnlock(simulation->control);
    return result;
}
