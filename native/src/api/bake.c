// SPDX-License-Identifier: GPL-3.0-or-later
//
// Check, translate, call, return: bakes.

#include "softrig/bake.h"

#include "api/check.h"
#include "api/registry.h"
#include "api/status.h"
#include "sim/bake.h"

#define MOST_SAMPLES 100 // Blender's Mesh Cache plays no finer ones

srBakeDef srDefaultBakeDef(void) {
    return (srBakeDef){
        .structSize = sizeof(srBakeDef), .firstFrame = 1, .frameCount = 250, .samplesPerFrame = 1};
}

// `followerEntry` is null for the skin
static srResult startOn(srEntry* shotEntry, srEntry* followerEntry, const srBakeDef* def, srBakeId* outBake) {
    srSimulation* simulation = srEntry_GetObject(shotEntry);
    srFollowing* following = followerEntry != NULL ? srEntry_GetObject(followerEntry) : NULL;
    if (following != NULL && srFollowing_GetSimulation(following) != simulation) {
        return srFail(sr_errorInvalidValue, "The follower is one of another shot.");
    }
    int64_t first = (int64_t)def->firstFrame - srSimulation_GetFirstFrame(simulation);
    int32_t margin = srSimulation_GetMargin(simulation);
    if (def->frameCount < 1 || first < -margin ||
        first + def->frameCount > srSimulation_GetFrameCount(simulation) + margin) {
        return srFail(sr_errorInvalidValue, "%d frames from %d are not within the shot's %d from %d.",
                      def->frameCount, def->firstFrame, srSimulation_GetFrameCount(simulation),
                      srSimulation_GetFirstFrame(simulation));
    }
    SR_TRY(srCheckRange("samplesPerFrame", def->samplesPerFrame, 1, MOST_SAMPLES));
    srBake* bake = NULL;
    srRawId id;
    SR_TRY(srCreateBake(simulation, following, def, &bake));
    SR_TRY(srRegister(sr_kindBake, bake, following != NULL ? followerEntry : shotEntry, &id));
    *outBake = (srBakeId){id.index1, id.generation};
    return sr_success;
}

srResult srStartBake(const srBakeDef* def, srBakeId* outBake) {
    SR_CHECK_STRUCT(def, "Begin with srDefaultBakeDef().");
    SR_CHECK_NOT_NULL(def->path);
    SR_CHECK_NOT_NULL(outBake);
    if (def->path[0] == '\0') {
        return srFail(sr_errorInvalidValue, "def->path is empty; it must name the file to write.");
    }
    if (def->checkpointPath != NULL && def->checkpointPath[0] == '\0') {
        return srFail(sr_errorInvalidValue, "def->checkpointPath is empty; null is none.");
    }
    srEntry *entry = NULL, *followerEntry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(def->shot), &entry));
    srResult result = sr_success;
    if (def->follower.index1 != 0) {
        result = srAcquire(sr_kindFollower, SR_RAW_ID(def->follower), &followerEntry);
    }
    if (result == sr_success) {
        result = startOn(entry, followerEntry, def, outBake);
    }
    srRelease(followerEntry);
    srRelease(entry);
    return result;
}

srResult srBake_GetStatus(srBakeId bake, srJobStatus* outStatus) {
    SR_CHECK_NOT_NULL(outStatus);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindBake, SR_RAW_ID(bake), &entry));
    srReadJobStatus(srBake_GetJob(srEntry_GetObject(entry)), outStatus);
    srRelease(entry);
    return sr_success;
}

srResult srBake_Wait(srBakeId bake, double seconds) {
    SR_TRY(srCheckSeconds(seconds));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindBake, SR_RAW_ID(bake), &entry));
    srResult result = srWaitForJob(srBake_GetJob(srEntry_GetObject(entry)), seconds);
    srRelease(entry);
    return result;
}

srResult srDestroyBake(srBakeId bake) {
    return srUnregister(sr_kindBake, SR_RAW_ID(bake));
}
