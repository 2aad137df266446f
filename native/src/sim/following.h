// SPDX-License-Identifier: GPL-3.0-or-later
//
// A follower at work: points of another object that ride on the cage of a shot's character. What a follower's
// id stands for. Every function may be called from any thread.

#pragma once

#include "sim/simulation.h"
#include "softrig/follower.h"

typedef struct srFollowing srFollowing;

/// `simulation` must outlive it; `def` has been checked.
SR_MUST_USE srResult srCreateFollowing(srSimulation* simulation, const srFollowerDef* def,
                                       srFollowing** outFollowing);

/// Accepts null.
void srDestroyFollowing(srFollowing* following);

srSimulation* srFollowing_GetSimulation(const srFollowing* following);
int32_t srFollowing_GetPointCount(const srFollowing* following);

/// Floats in a row of its tape.
#define SR_FOLLOWER_ROW_FLOATS 32

/// Rows are checked by the caller for size and NaN. `sr_errorInvalidValue` for a gap.
SR_MUST_USE srResult srFollowing_WriteTape(srFollowing* following, int32_t firstFrame, int32_t rowCount,
                                           const float* rows);

int32_t srFollowing_GetRecordedCount(srFollowing* following);

/// Counts how often rows became others: what was read under one revision of it and of the shot belongs
/// together.
int32_t srFollowing_GetRevision(srFollowing* following);

/// As their public namesakes (follower.h).
SR_MUST_USE srResult srFollowing_ReadOffsets(srFollowing* following, double frame, float* outOffsets);
SR_MUST_USE srResult srFollowing_ReadProvisional(srFollowing* following, int32_t frame, float* outOffsets);
