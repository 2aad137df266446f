// SPDX-License-Identifier: GPL-3.0-or-later
//
// The shot's parts and who may touch them when. `control` is held by whoever changes or reads the shot and
// never by the worker (worker.h), which has the rows of tape and cache that are not ready to itself.

#include "sim/simulation.h"

#include "core/alloc.h"
#include "core/thread.h"
#include "mesh/interpolation.h"
#include "sim/cache.h"
#include "sim/primary.h"
#include "sim/tape.h"
#include "sim/worker.h"
#include "solver/xpbd.h"

#include <string.h>

#define PI 3.14159265358979323846
#define LOGARITHM_OF_50 3.912023005428146
#define LARGEST_COORDINATE 1e30f // of an offset in skin space, in whatever object it is
#define SMALLEST_SHARE 0.0001f   // of the later of two frames; what is nearer to the earlier one is that

struct srSimulation {
    const srCharacter* character;
    srShotDef def; // its params are guarded by `control`, and by the worker's pause
    srWorker* worker;

    srMutex* control;
    srTape tape;
    srVec3f* localOffsets; // scratch of readers: offsets of nodes in skin space, ...
    void* blendScratch;    // ... what bringing them to vertices needs, ...
    float* laterOffsets;   // ... offsets of vertices at the later of two frames, ...
    srVec3* places;        // ... nodes in the world, ...
    srMat34* maps;         // ... and the maps that put them there

    // the worker's own but while it is paused
    srFrameCache cache;
    int32_t* limitedCounts; // how many nodes had to be limited, up to and with each row
    srPrimary primary;
    srXpbdTuning tuning;
    bool isTuned;
    srVec3f* previous;
    srVec3f* substepPrimary;
};

// A swing under x'' + rate x' + omega^2 x = 0 shrinks as exp(-rate t / 2): below 2 % after settleFrames.
// Beyond rate = 2 omega it would creep back, later and not sooner.
static double findDampingRate(const srShotParams* params, double frameRate) {
    double rate = 2.0 * LOGARITHM_OF_50 * frameRate / (double)params->settleFrames;
    double criticalRate = 2.0 * (2.0 * PI * (double)params->frequency);
    return rate < criticalRate ? rate : criticalRate;
}

// the artist's dials in the solver's units, for an object that may be scaled and mirrored
static srXpbdDials readDials(const srSimulation* simulation, double determinant) {
    const srShotParams* params = &simulation->def.params;
    double scale = srCubeRoot(fabs(determinant));
    scale = scale > 0.0 ? scale : 1.0;
    double size = (double)simulation->character->report.size * scale;
    double frequency = (double)params->frequency;
    double density = (double)params->density;
    double young = params->youngModulus > 0.0f ? (double)params->youngModulus
                                               : srYoungModulusForSize(frequency, density, size);
    double frameRate = simulation->def.frameRate;
    return (srXpbdDials){
        .material = srMakeMaterial(young, (double)params->poissonRatio, density),
        .scale = scale,
        .isMirrored = determinant < 0.0,
        .frequency = frequency,
        .dampingRate = findDampingRate(params, frameRate),
        .poseCorrection = (double)params->poseCorrection,
        .frameSeconds = 1.0 / frameRate,
        .largestOffset = size,
        .substeps = params->substeps,
    };
}

// The tuning of a row depends on that row alone, so that going on from any row gives what going through
// would.
static void tuneForRow(srSimulation* simulation, int32_t row) {
    srMat34 object = srRig_ReadObject(srTape_GetRow(&simulation->tape, row));
    srXpbdDials dials = readDials(simulation, srDeterminant34(&object));
    const srXpbdDials* last = &simulation->tuning.dials;
    if (!simulation->isTuned || dials.scale != last->scale || dials.isMirrored != last->isMirrored) {
        srXpbdTuning_Set(&simulation->tuning, &simulation->character->body, &dials);
        simulation->isTuned = true;
    }
}

// one row of the cache from the one before it
static void simulateRow(int32_t row, void* context) {
    srSimulation* simulation = context;
    srFrameCache_Begin(&simulation->cache, row);
    if (row == 0) {
        simulation->limitedCounts[0] = 0;
        return;
    }
    tuneForRow(simulation, row);
    srPrimaryMotion motion = srPrimary_MoveTo(&simulation->primary, simulation->character, &simulation->tape,
                                              row, 1.0 / simulation->def.frameRate);
    srXpbdState state = {
        .offsets = srFrameCache_GetOffsets(&simulation->cache, row),
        .velocities = srFrameCache_GetVelocities(&simulation->cache, row),
        .previous = simulation->previous,
        .primary = simulation->substepPrimary,
    };
    int32_t limited = srXpbd_StepFrame(&simulation->character->body, &simulation->tuning, &motion, &state);
    simulation->limitedCounts[row] = simulation->limitedCounts[row - 1] + limited;
}

static srResult allocateParts(srSimulation* simulation) {
    const srCharacter* character = simulation->character;
    int32_t nodeCount = character->cage.nodeCount;
    simulation->control = srCreateMutex();
    simulation->places = SR_ALLOC(srVec3, nodeCount);
    simulation->maps = SR_ALLOC(srMat34, character->rig.boneCount + 1);
    simulation->localOffsets = SR_ALLOC(srVec3f, nodeCount);
    simulation->blendScratch = srAlloc(srBlend_GetScratchSize(&character->blend), 1);
    simulation->laterOffsets = SR_ALLOC(float, 3 * (size_t)character->embedding.pointCount);
    simulation->previous = SR_ALLOC(srVec3f, nodeCount);
    simulation->substepPrimary = SR_ALLOC(srVec3f, nodeCount);
    simulation->limitedCounts = SR_ALLOC(int32_t, simulation->def.frameCount);
    if (simulation->control == NULL || simulation->places == NULL || simulation->maps == NULL ||
        simulation->localOffsets == NULL || simulation->blendScratch == NULL ||
        simulation->laterOffsets == NULL || simulation->previous == NULL ||
        simulation->substepPrimary == NULL || simulation->limitedCounts == NULL) {
        return srFailOutOfMemory("a shot");
    }
    int32_t rowFloatCount = 16 * srRig_GetRowMatrixCount(&character->rig);
    SR_TRY(srCreateTape(simulation->def.frameCount, rowFloatCount, &simulation->tape));
    SR_TRY(srCreateFrameCache(simulation->def.frameCount, nodeCount, &simulation->cache));
    SR_TRY(srCreatePrimary(character, &simulation->primary));
    SR_TRY(srCreateXpbdTuning(&character->body, &simulation->tuning));
    return srStartWorker(simulateRow, simulation, &simulation->worker);
}

srResult srCreateSimulation(const srCharacter* character, const srShotDef* def,
                            srSimulation** outSimulation) {
    srSimulation* simulation = SR_ALLOC_ZERO(srSimulation, 1);
    if (simulation == NULL) {
        return srFailOutOfMemory("a shot");
    }
    simulation->character = character;
    simulation->def = *def;
    srResult result = allocateParts(simulation);
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
    srDestroyWorker(simulation->worker);
    int32_t nodeCount = simulation->character->cage.nodeCount;
    srDestroyXpbdTuning(&simulation->character->body, &simulation->tuning);
    srDestroyPrimary(&simulation->primary);
    srDestroyFrameCache(&simulation->cache);
    srDestroyTape(&simulation->tape);
    SR_FREE(simulation->places, nodeCount);
    SR_FREE(simulation->maps, simulation->character->rig.boneCount + 1);
    SR_FREE(simulation->localOffsets, nodeCount);
    srFree(simulation->blendScratch, srBlend_GetScratchSize(&simulation->character->blend), 1);
    SR_FREE(simulation->laterOffsets, 3 * (size_t)simulation->character->embedding.pointCount);
    SR_FREE(simulation->previous, nodeCount);
    SR_FREE(simulation->substepPrimary, nodeCount);
    SR_FREE(simulation->limitedCounts, simulation->def.frameCount);
    srDestroyMutex(simulation->control);
    SR_FREE(simulation, 1);
}

void srSimulation_Halt(srSimulation* simulation) {
    srWorker_Halt(simulation->worker);
}

const srCharacter* srSimulation_GetCharacter(const srSimulation* simulation) {
    return simulation->character;
}

int32_t srSimulation_GetFirstFrame(const srSimulation* simulation) {
    return simulation->def.firstFrame;
}

int32_t srSimulation_GetFrameCount(const srSimulation* simulation) {
    return simulation->def.frameCount;
}

int32_t srSimulation_GetRowFloatCount(const srSimulation* simulation) {
    return simulation->tape.rowFloatCount;
}

static srResult checkRange(const srSimulation* simulation, int32_t firstRow, int32_t rowCount) {
    const srTape* tape = &simulation->tape;
    if (firstRow >= 0 && firstRow <= tape->recordedCount && rowCount <= tape->rowCount - firstRow) {
        return sr_success;
    }
    int32_t firstFrame = simulation->def.firstFrame;
    return srFail(sr_errorInvalidValue,
                  "Frames %d to %d do not follow the %d recorded ones of a shot of %d frames from %d.",
                  firstFrame + firstRow, firstFrame + firstRow + rowCount - 1, tape->recordedCount,
                  tape->rowCount, firstFrame);
}

// the given rows from the first that differs on
static void writeChange(srSimulation* simulation, int32_t changed, int32_t rowCount, const float* rows) {
    srTape* tape = &simulation->tape;
    if (changed == tape->recordedCount) {
        // what comes after all that the worker knows does not disturb it
        srTape_Write(tape, changed, rowCount, rows);
        srWorker_Extend(simulation->worker, tape->recordedCount);
        return;
    }
    srWorker_Pause(simulation->worker);
    srTape_Write(tape, changed, rowCount, rows);
    srWorker_Resume(simulation->worker, changed, tape->recordedCount);
}

srResult srSimulation_WriteTape(srSimulation* simulation, int32_t firstFrame, int32_t rowCount,
                                const float* rows, int32_t* outFirstChangedFrame) {
    int32_t firstRow = firstFrame - simulation->def.firstFrame;
    srLock(simulation->control);
    srResult result = checkRange(simulation, firstRow, rowCount);
    if (result == sr_success) {
        int32_t changed = srTape_FindChange(&simulation->tape, firstRow, rowCount, rows);
        int32_t sameCount = changed - firstRow;
        if (sameCount < rowCount) {
            writeChange(simulation, changed, rowCount - sameCount,
                        rows + (size_t)sameCount * (size_t)simulation->tape.rowFloatCount);
        }
        if (outFirstChangedFrame != NULL) {
            *outFirstChangedFrame = simulation->def.firstFrame + changed;
        }
    }
    srUnlock(simulation->control);
    return result;
}

static bool areEqual(const srShotParams* a, const srShotParams* b) {
    return a->frequency == b->frequency && a->settleFrames == b->settleFrames &&
           a->youngModulus == b->youngModulus && a->poissonRatio == b->poissonRatio &&
           a->density == b->density && a->poseCorrection == b->poseCorrection && a->substeps == b->substeps;
}

void srSimulation_SetParams(srSimulation* simulation, const srShotParams* params) {
    srLock(simulation->control);
    if (!areEqual(params, &simulation->def.params)) {
        srWorker_Pause(simulation->worker);
        simulation->def.params = *params;
        simulation->isTuned = false;
        srWorker_Resume(simulation->worker, 0, simulation->tape.recordedCount);
    }
    srUnlock(simulation->control);
}

void srSimulation_GetStatus(srSimulation* simulation, srShotStatus* outStatus) {
    srLock(simulation->control);
    srWorkerStatus work = srWorker_GetStatus(simulation->worker);
    *outStatus = (srShotStatus){
        .firstFrame = simulation->def.firstFrame,
        .frameCount = simulation->def.frameCount,
        .recordedFrameCount = work.rowCount,
        .readyFrameCount = work.readyCount,
        .isRunning = work.readyCount < work.rowCount,
        .limitedNodeCount = work.readyCount > 0 ? simulation->limitedCounts[work.readyCount - 1] : 0,
        .simulationSeconds = (float)work.seconds,
    };
    srUnlock(simulation->control);
}

int32_t srSimulation_GetRevision(srSimulation* simulation) {
    return srWorker_GetStatus(simulation->worker).revision;
}

static srResult failNotReady(const srSimulation* simulation, int32_t row) {
    return srFail(sr_errorNotReady, "Frame %d is not simulated yet.", simulation->def.firstFrame + row);
}

srResult srSimulation_WaitFrame(srSimulation* simulation, int32_t frame, double seconds) {
    int64_t row = (int64_t)frame - simulation->def.firstFrame;
    int32_t last = simulation->def.frameCount - 1;
    int32_t wanted = row < 0 ? 0 : row > last ? last : (int32_t)row;
    return srWorker_WaitRow(simulation->worker, wanted, seconds) ? sr_success
                                                                 : failNotReady(simulation, wanted);
}

// offsets of the vertices at a ready row, from the world to skin space
static void readRow(srSimulation* simulation, int32_t row, float* outOffsets) {
    srMat34 object = srRig_ReadObject(srTape_GetRow(&simulation->tape, row));
    srMat34 toSkin;
    srInvert34(&object, &toSkin);
    const srVec3f* offsets = srFrameCache_GetOffsets(&simulation->cache, row);
    const srVec3f zero = {0.0f, 0.0f, 0.0f};
    for (int32_t i = 0; i < simulation->cache.nodeCount; ++i) {
        srVec3f local = srToFloat(srMulVector34(&toSkin, srToDouble(offsets[i])));
        // an object of almost no size makes any offset huge
        bool isSane = fabsf(local.x) < LARGEST_COORDINATE && fabsf(local.y) < LARGEST_COORDINATE &&
                      fabsf(local.z) < LARGEST_COORDINATE;
        // the sum turns -0 into 0
        simulation->localOffsets[i] = isSane ? srMulAddF(zero, 1.0f, local) : zero;
    }
    srInterpolate(&simulation->character->blend, simulation->localOffsets, simulation->blendScratch,
                  outOffsets);
}

// Rows, shares and rounding are those of Blender's Mesh Cache modifier: a bake plays the bits that were live.
static srResult readOffsetsLocked(srSimulation* simulation, double frame, float* outOffsets) {
    float position = (float)frame - (float)simulation->def.firstFrame;
    float last = (float)(simulation->def.frameCount - 1);
    position = position > last ? last : position > 0.0f ? position : 0.0f;
    int32_t row = (int32_t)position;
    float share = position - (float)row;
    share = share > SMALLEST_SHARE ? share : 0.0f;
    int32_t lastNeeded = share > 0.0f ? row + 1 : row;
    size_t floatCount = 3 * (size_t)simulation->character->embedding.pointCount;
    if (srWorker_GetStatus(simulation->worker).readyCount <= lastNeeded) {
        memset(outOffsets, 0, floatCount * sizeof(float));
        return failNotReady(simulation, lastNeeded);
    }

    readRow(simulation, row, outOffsets);
    if (share > 0.0f) {
        readRow(simulation, row + 1, simulation->laterOffsets);
        for (size_t i = 0; i < floatCount; ++i) {
            outOffsets[i] = outOffsets[i] * (1.0f - share) + simulation->laterOffsets[i] * share;
        }
    }
    return sr_success;
}

srResult srSimulation_ReadOffsets(srSimulation* simulation, double frame, float* outOffsets) {
    srLock(simulation->control);
    srResult result = readOffsetsLocked(simulation, frame, outOffsets);
    srUnlock(simulation->control);
    return result;
}

// the row of a whole frame that is ready
static srResult findReadyRow(srSimulation* simulation, int32_t frame, int32_t* outRow) {
    int64_t row = (int64_t)frame - simulation->def.firstFrame;
    if (row < 0 || row >= simulation->def.frameCount) {
        return srFail(sr_errorInvalidValue, "Frame %d is outside of the shot's %d frames from %d.", frame,
                      simulation->def.frameCount, simulation->def.firstFrame);
    }
    *outRow = (int32_t)row;
    return srWorker_GetStatus(simulation->worker).readyCount > *outRow ? sr_success
                                                                       : failNotReady(simulation, *outRow);
}

static void placeNodes(srSimulation* simulation, int32_t row, bool primary, float* outNodes) {
    const srCharacter* character = simulation->character;
    srRig_ReadRow(&character->rig, srTape_GetRow(&simulation->tape, row), simulation->maps);
    srSkinNodes(&character->weights, simulation->maps, character->cage.nodes, simulation->places);
    const srVec3f* offsets = srFrameCache_GetOffsets(&simulation->cache, row);
    for (int32_t i = 0; i < simulation->cache.nodeCount; ++i) {
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
        *outHash = srFrameCache_Hash(&simulation->cache, row);
    }
    srUnlock(simulation->control);
    return result;
}
