// SPDX-License-Identifier: GPL-3.0-or-later
//
// Check, translate, call, return: followers.

#include "softrig/follower.h"

#include "api/check.h"
#include "api/registry.h"
#include "sim/following.h"

srFollowerDef srDefaultFollowerDef(void) {
    return (srFollowerDef){.structSize = sizeof(srFollowerDef)};
}

static srResult createOn(srEntry* shotEntry, const srFollowerDef* def, srFollowerId* outFollower) {
    srFollowing* following = NULL;
    srRawId id;
    SR_TRY(srCreateFollowing(srEntry_GetObject(shotEntry), def, &following));
    SR_TRY(srRegister(sr_kindFollower, following, shotEntry, &id));
    *outFollower = (srFollowerId){id.index1, id.generation};
    return sr_success;
}

srResult srCreateFollower(const srFollowerDef* def, srFollowerId* outFollower) {
    SR_CHECK_STRUCT(def, "Begin with srDefaultFollowerDef().");
    SR_CHECK_NOT_NULL(def->restPositions);
    SR_CHECK_NOT_NULL(outFollower);
    SR_TRY(srCheckRange("pointCount", def->pointCount, 1, INT32_MAX / 3));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindShot, SR_RAW_ID(def->shot), &entry));
    srResult result = createOn(entry, def, outFollower);
    srRelease(entry);
    return result;
}

srResult srDestroyFollower(srFollowerId follower) {
    return srUnregister(sr_kindFollower, SR_RAW_ID(follower));
}

static srResult writeRows(srFollowing* following, int32_t firstFrame, int32_t rowCount, const float* matrices,
                          int64_t floatCount) {
    const srSimulation* simulation = srFollowing_GetSimulation(following);
    int32_t shotFirst = srSimulation_GetFirstFrame(simulation);
    int64_t first = (int64_t)firstFrame - shotFirst;
    if (first < 0 || first + rowCount > srSimulation_GetFrameCount(simulation)) {
        return srFail(sr_errorInvalidValue, "%d frames from %d are not within the shot's %d from %d.",
                      rowCount, firstFrame, srSimulation_GetFrameCount(simulation), shotFirst);
    }
    if (floatCount != (int64_t)SR_FOLLOWER_ROW_FLOATS * rowCount) {
        return srFail(sr_errorInvalidValue, "%d frames of a follower need %lld numbers; there are %lld.",
                      rowCount, (long long)SR_FOLLOWER_ROW_FLOATS * rowCount, (long long)floatCount);
    }
    SR_TRY(srCheckPlaces("matrices", matrices, (size_t)floatCount));
    return srFollowing_WriteTape(following, firstFrame, rowCount, matrices);
}

srResult srFollower_WriteTape(srFollowerId follower, int32_t firstFrame, int32_t rowCount,
                              const float* matrices, int64_t floatCount) {
    SR_CHECK_NOT_NULL(matrices);
    SR_TRY(srCheckRange("firstFrame", firstFrame, -1e9, 1e9));
    SR_TRY(srCheckRange("rowCount", rowCount, 1, 1000000));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindFollower, SR_RAW_ID(follower), &entry));
    srResult result = writeRows(srEntry_GetObject(entry), firstFrame, rowCount, matrices, floatCount);
    srRelease(entry);
    return result;
}

static srResult checkPoints(const srFollowing* following, int32_t pointCount) {
    int32_t ownCount = srFollowing_GetPointCount(following);
    return pointCount == ownCount
               ? sr_success
               : srFail(sr_errorInvalidValue, "The follower has %d points; there is room for %d.", ownCount,
                        pointCount);
}

srResult srFollower_ReadOffsets(srFollowerId follower, double frame, float* outOffsets, int32_t pointCount) {
    SR_CHECK_NOT_NULL(outOffsets);
    SR_TRY(srCheckRange("frame", frame, -1e9, 1e9));
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindFollower, SR_RAW_ID(follower), &entry));
    srResult result = checkPoints(srEntry_GetObject(entry), pointCount);
    if (result == sr_success) {
        result = srFollowing_ReadOffsets(srEntry_GetObject(entry), frame, outOffsets);
    }
    srRelease(entry);
    return result;
}

srResult srFollower_ReadProvisional(srFollowerId follower, int32_t frame, float* outOffsets,
                                    int32_t pointCount) {
    SR_CHECK_NOT_NULL(outOffsets);
    srEntry* entry = NULL;
    SR_TRY(srAcquire(sr_kindFollower, SR_RAW_ID(follower), &entry));
    srResult result = checkPoints(srEntry_GetObject(entry), pointCount);
    if (result == sr_success) {
        result = srFollowing_ReadProvisional(srEntry_GetObject(entry), frame, outOffsets);
    }
    srRelease(entry);
    return result;
}
