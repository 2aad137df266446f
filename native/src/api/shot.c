// SPDX-License-Identifier: GPL-3.0-or-later
//
// Check, translate, call, return: shots.

#include "softrig/shot.h"

#include "api/check.h"
#include "api/registry.h"
#include "sim/controls.h"
#include "sim/preparation.h"
#include "sim/simulation.h"

srShotParams srDefaultShotParams(void) {
    return (srShotParams){
        .structSize = sizeof(srShotParams),
        .frequency = 2.0f,
        .settleFrames = 24.0f,
        .youngModulus = 0.0f,
        .poissonRatio = 0.45f,
        .density = 1000.0f,
        .poseCorrection = 0.0f,
        .solver = sr_solverComplementary,
        .substeps = 10,
        .fibreStiffness = 1.0f,
    };
}

srShotDef srDefaultShotDef(void) {
    return (srShotDef){
        .structSize = sizeof(srShotDef),
        .firstFrame = 1,
        .frameCount = 250,
        .frameRate = 24.0,
        .params = srDefaultShotParams(),
    };
}

static srResult checkVector(const char* name, const float v[3], double largest) {
    for (int i = 0; i < 3; ++i) {
        SR_TRY(srCheckRange(name, (double)v[i], -largest, largest));
    }
    return sr_success;
}

// Bounds in float, as dials are: 0.01f is less than 0.01.
static srResult checkDial(const char* name, float value, float lowest, float highest) {
    return srCheckRange(name, (double)value, (double)lowest, (double)highest);
}

static srResult checkParams(const srShotParams* params) {
    SR_CHECK_STRUCT(params, "Begin with srDefaultShotParams().");
    SR_TRY(checkDial("frequency", params->frequency, 0.1f, 50.0f));
    SR_TRY(checkDial("settleFrames", params->settleFrames, 1.0f, 10000.0f));
    SR_TRY(checkDial("youngModulus", params->youngModulus, 0.0f, 1e9f));
    SR_TRY(checkDial("poissonRatio", params->poissonRatio, 0.0f, 0.5f));
    SR_TRY(checkDial("density", params->density, 1.0f, 1e5f));
    SR_TRY(checkDial("poseCorrection", params->poseCorrection, 0.0f, 1.0f));
    SR_TRY(srCheckRange("substeps", params->substeps, 1, 100));
    SR_TRY(srCheckRange("solver", params->solver, sr_solverXpbd, sr_solverComplementary));
    SR_TRY(checkDial("fibreStiffness", params->fibreStiffness, 0.01f, 100.0f));
    SR_TRY(checkDial("stretchLimit", params->stretchLimit, 0.0f, 10.0f));
    if (params->stretchLimit > 0.0f && params->stretchLimit < 1.0f) {
        return srFail(sr_errorInvalidValue, "stretchLimit is %g, but it is 0, or 1 to 10.",
                      (double)params->stretchLimit);
    }
    SR_TRY(checkVector("restGravity", params->restGravity, 1e6));
    SR_TRY(srCheckRange("loop", params->loop, sr_loopNone, sr_loopFirstFollowsLast));
    SR_TRY(
        srCheckRange("material", params->material, sr_materialKindRigid, sr_materialKindStVenantKirchhoff));
    SR_TRY(srCheckRange("swings", params->swings, sr_swingsFade, sr_swingsKeep));
    return srCheckRange("complement", params->complement, sr_complementAutomatic, sr_complementNothing);
}

static srResult createOn(srEntry* characterEntry, const srShotDef* def, srShotId* outShot) {
    srCharacter* character = NULL;
    srSimulation* simulation = NULL;
    srRawId id;
    SR_TRY(srPreparation_GetCharacter(srEntry_GetObject(characterEntry), &character));
    SR_TRY(srCreateSimulation(character, def, &simulation));
    SR_TRY(srRegister(sr_kindShot, simulation, characterEntry, &id));
    *outShot = (srShotId){id.index1, id.generation};
    return sr_success;
}

srResult srCreateShot(const srShotDef* def, srShotId* outShot) {
    SR_CHECK_STRUCT(def, "Begin with srDefaultShotDef().");
    SR_CHECK_NOT_NULL(outShot);
    SR_TRY(checkParams(&def->params));
    SR_TRY(srCheckRange("frameCount", def->frameCount, 1, 1000000));
    SR_TRY(srCheckRange("frameRate", def->frameRate, 1.0, 1000.0));
    SR_TRY(srCheckRange("firstFrame", def->firstFrame, -1e9, 1e9));
    if (def->skinToObject != NULL) {
        SR_TRY(srCheckPlaces("skinToObject", def->skinToObject, 16));
    }
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindCharacter, SR_RAW_ID(def->character), &entry));
    srResult result = createOn(entry, def, outShot);
    srRelease(entry);
    return result;
}

srResult srDestroyShot(srShotId shot) {
    return srUnregister(sr_kindShot, SR_RAW_ID(shot));
}

// before any matrix is read
static srResult checkRowRange(const srSimulation* simulation, int32_t firstFrame, int32_t rowCount) {
    int32_t frameCount = srSimulation_GetFrameCount(simulation);
    int64_t first = (int64_t)firstFrame - srSimulation_GetFirstFrame(simulation);
    if (first >= 0 && first + rowCount <= frameCount) {
        return sr_success;
    }
    return srFail(sr_errorInvalidValue, "%d frames from %d are not within the shot's %d from %d.", rowCount,
                  firstFrame, frameCount, srSimulation_GetFirstFrame(simulation));
}

static srResult checkRows(const srSimulation* simulation, int32_t rowCount, const float* matrices,
                          int64_t floatCount) {
    int64_t rowFloatCount = srSimulation_GetRowFloatCount(simulation);
    if (floatCount != rowFloatCount * rowCount) {
        return srFail(sr_errorInvalidValue,
                      "%d frames need %lld numbers (%lld matrices each); there are %lld.", rowCount,
                      (long long)(rowFloatCount * rowCount), (long long)(rowFloatCount / 16),
                      (long long)floatCount);
    }
    return srCheckPlaces("matrices", matrices, (size_t)floatCount);
}

srResult srShot_WriteTape(srShotId shot, int32_t firstFrame, int32_t rowCount, const float* matrices,
                          int64_t floatCount, int32_t* outFirstChangedFrame) {
    SR_CHECK_NOT_NULL(matrices);
    SR_TRY(srCheckRange("firstFrame", firstFrame, -1e9, 1e9));
    SR_TRY(srCheckRange("rowCount", rowCount, 1, 1000000));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation* simulation = srEntry_GetObject(entry);
    srResult result = checkRowRange(simulation, firstFrame, rowCount);
    if (result == sr_success) {
        result = checkRows(simulation, rowCount, matrices, floatCount);
    }
    if (result == sr_success) {
        result = srSimulation_WriteTape(simulation, firstFrame, rowCount, matrices, outFirstChangedFrame);
    }
    srRelease(entry);
    return result;
}

static srResult checkSkin(const srSimulation* simulation, int32_t vertexCount) {
    int32_t skinCount = srSimulation_GetCharacter(simulation)->embedding.pointCount;
    return vertexCount == skinCount
               ? sr_success
               : srFail(sr_errorInvalidValue, "The skin has %d vertices; there is room for %d.", skinCount,
                        vertexCount);
}

srResult srShot_FollowSkin(srShotId shot, const float* restPositions, int32_t vertexCount) {
    SR_CHECK_NOT_NULL(restPositions);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = checkSkin(srEntry_GetObject(entry), vertexCount);
    if (result == sr_success) {
        result = srSimulation_FollowSkin(srEntry_GetObject(entry), restPositions);
    }
    srRelease(entry);
    return result;
}

static srResult checkSkinRows(const srSimulation* simulation, int32_t rowCount, const float* positions,
                              int64_t floatCount) {
    int64_t rowFloatCount = 3 * (int64_t)srSimulation_GetCharacter(simulation)->embedding.pointCount;
    if (floatCount != rowFloatCount * rowCount) {
        return srFail(sr_errorInvalidValue, "%d frames of this skin need %lld numbers; there are %lld.",
                      rowCount, (long long)(rowFloatCount * rowCount), (long long)floatCount);
    }
    return srCheckPlaces("positions", positions, (size_t)floatCount);
}

srResult srShot_WriteSkin(srShotId shot, int32_t firstFrame, int32_t rowCount, const float* positions,
                          int64_t floatCount, int32_t* outFirstChangedFrame) {
    SR_CHECK_NOT_NULL(positions);
    SR_TRY(srCheckRange("firstFrame", firstFrame, -1e9, 1e9));
    SR_TRY(srCheckRange("rowCount", rowCount, 1, 1000000));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation* simulation = srEntry_GetObject(entry);
    srResult result = checkRowRange(simulation, firstFrame, rowCount);
    if (result == sr_success) {
        result = checkSkinRows(simulation, rowCount, positions, floatCount);
    }
    if (result == sr_success) {
        result = srSimulation_WriteSkin(simulation, firstFrame, rowCount, positions, outFirstChangedFrame);
    }
    srRelease(entry);
    return result;
}

srFrameControls srDefaultFrameControls(void) {
    return srMakeDefaultControls();
}

static srResult checkControls(const srFrameControls* controls, int32_t rowCount) {
    for (int32_t row = 0; row < rowCount; ++row) {
        SR_CHECK_STRUCT(&controls[row], "Begin with srDefaultFrameControls().");
        SR_TRY(checkVector("gravity", controls[row].gravity, 1e6));
        SR_TRY(checkVector("wind", controls[row].wind, 1e4));
        SR_TRY(srCheckRange("windGusts", (double)controls[row].windGusts, 0.0, 1.0));
        SR_TRY(srCheckRange("travelFelt", (double)controls[row].travelFelt, 0.0, 1.0));
        SR_TRY(srCheckRange("pressure", (double)controls[row].pressure, -0.9, 10.0));
    }
    return sr_success;
}

srResult srShot_WriteControls(srShotId shot, int32_t firstFrame, int32_t rowCount,
                              const srFrameControls* controls, int32_t* outFirstChangedFrame) {
    SR_CHECK_NOT_NULL(controls);
    SR_TRY(srCheckRange("firstFrame", firstFrame, -1e9, 1e9));
    SR_TRY(srCheckRange("rowCount", rowCount, 1, 1000000));
    SR_TRY(checkControls(controls, rowCount));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation* simulation = srEntry_GetObject(entry);
    srResult result = checkRowRange(simulation, firstFrame, rowCount);
    if (result == sr_success) {
        srSimulation_WriteControls(simulation, firstFrame, rowCount, controls, outFirstChangedFrame);
    }
    srRelease(entry);
    return result;
}

srResult srShot_SetParams(srShotId shot, const srShotParams* params) {
    SR_TRY(checkParams(params));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation_SetParams(srEntry_GetObject(entry), params);
    srRelease(entry);
    return sr_success;
}

srResult srShot_GetStatus(srShotId shot, srShotStatus* outStatus) {
    SR_CHECK_NOT_NULL(outStatus);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation_GetStatus(srEntry_GetObject(entry), outStatus);
    srRelease(entry);
    return sr_success;
}

srResult srShot_WaitFrame(srShotId shot, int32_t frame, double seconds) {
    SR_TRY(srCheckSeconds(seconds));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = srSimulation_WaitFrame(srEntry_GetObject(entry), frame, seconds);
    srRelease(entry);
    return result;
}

srResult srShot_ReadOffsets(srShotId shot, double frame, float* outOffsets, int32_t vertexCount) {
    SR_CHECK_NOT_NULL(outOffsets);
    SR_TRY(srCheckRange("frame", frame, -1e9, 1e9));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = checkSkin(srEntry_GetObject(entry), vertexCount);
    if (result == sr_success) {
        result = srSimulation_ReadOffsets(srEntry_GetObject(entry), frame, outOffsets);
    }
    srRelease(entry);
    return result;
}

srResult srShot_AskProvisional(srShotId shot, int32_t frame) {
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = srSimulation_AskProvisional(srEntry_GetObject(entry), frame);
    srRelease(entry);
    return result;
}

srResult srShot_ReadProvisional(srShotId shot, int32_t frame, float* outOffsets, int32_t vertexCount) {
    SR_CHECK_NOT_NULL(outOffsets);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = checkSkin(srEntry_GetObject(entry), vertexCount);
    if (result == sr_success) {
        result = srSimulation_ReadProvisional(srEntry_GetObject(entry), frame, outOffsets);
    }
    srRelease(entry);
    return result;
}

srResult srShot_ReadNodes(srShotId shot, int32_t frame, bool primary, float* outNodes, int32_t nodeCount) {
    SR_CHECK_NOT_NULL(outNodes);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srSimulation* simulation = srEntry_GetObject(entry);
    int32_t cageCount = srSimulation_GetCharacter(simulation)->cage.nodeCount;
    srResult result = nodeCount == cageCount
                          ? srSimulation_ReadNodes(simulation, frame, primary, outNodes)
                          : srFail(sr_errorInvalidValue, "The cage has %d nodes; there is room for %d.",
                                   cageCount, nodeCount);
    srRelease(entry);
    return result;
}

srResult srShot_GetFrameStats(srShotId shot, int32_t frame, srFrameStats* outStats) {
    SR_CHECK_NOT_NULL(outStats);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = srSimulation_GetFrameStats(srEntry_GetObject(entry), frame, outStats);
    srRelease(entry);
    return result;
}

srResult srShot_GetStateHash(srShotId shot, int32_t frame, uint64_t* outHash) {
    SR_CHECK_NOT_NULL(outHash);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(shot), &entry));
    srResult result = srSimulation_GetHash(srEntry_GetObject(entry), frame, outHash);
    srRelease(entry);
    return result;
}
