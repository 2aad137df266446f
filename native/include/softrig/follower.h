// SPDX-License-Identifier: GPL-3.0-or-later
//
// Followers: clothes, eyes, teeth, hair caps and whatever else rides on a character's cage in a shot. A
// follower goes where its own deformation puts it; the library adds the offsets of the flesh around it. All
// functions may be called from any thread.

#pragma once

#include "softrig/base.h"
#include "softrig/id.h"

typedef struct srFollowerDef {
    size_t structSize;          ///< Set by `srDefaultFollowerDef`.
    srShotId shot;              ///< Whose flesh it follows.
    const float* restPositions; ///< 3 a point, in the space of the skin, as it lies there with the rig at
                                ///< rest. Inside the cage or not. One that is not finite gets no offset.
    int32_t pointCount;         ///< At least 1.
    bool isRigid; ///< Moved as a whole, by the rigid motion that is nearest to that of the flesh at its
                  ///< place: eyes, teeth, buttons. Default false.
} srFollowerDef;

SR_API srFollowerDef srDefaultFollowerDef(void);

/// Embeds the points in the cage of the shot's character; takes a moment (a quarter of a second for 100,000
/// points). All is copied. Points of another deformation than the flesh around them keep that: only offsets
/// are added.
SR_API srResult srCreateFollower(const srFollowerDef* def, srFollowerId* outFollower);

/// Bakes of the follower that still run are cancelled.
SR_API srResult srDestroyFollower(srFollowerId follower);

/// Writes where the follower is in `rowCount` frames from `firstFrame` on. A row is two matrices of 16
/// floats, column by column: the follower's object to the world; and its rest positions to where its own
/// deformation puts them in the world, which only a rigid one needs. `floatCount` is 32 times `rowCount`, as
/// a check. Rows must follow what is written without a gap.
SR_API srResult srFollower_WriteTape(srFollowerId follower, int32_t firstFrame, int32_t rowCount,
                                     const float* matrices, int64_t floatCount);

/// As `srShot_ReadOffsets`: the offset of each point at `frame`, in the space of the follower's own object.
SR_API srResult srFollower_ReadOffsets(srFollowerId follower, double frame, float* outOffsets,
                                       int32_t pointCount);

/// As `srShot_ReadProvisional`.
SR_API srResult srFollower_ReadProvisional(srFollowerId follower, int32_t frame, float* outOffsets,
                                           int32_t pointCount);
