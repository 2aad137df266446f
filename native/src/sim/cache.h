// SPDX-License-Identifier: GPL-3.0-or-later
//
// The frame cache: what readers want of every simulated frame, in order, and now and then the solver's whole
// state, from which simulation can go on.

#pragma once

#include "core/error.h"
#include "math/vec3.h"
#include "softrig/shot.h"

#include <stdint.h>

#define SR_ROWS_PER_CHECKPOINT 4

/// Owns its arrays.
typedef struct srFrameCache {
    srVec3f* offsets; ///< frameCount x nodeCount
    uint64_t* hashes; ///< Of the whole state at each frame.
    srFrameStats* stats;
    int32_t frameCount;
    int32_t nodeCount;
    void* states; ///< At every SR_ROWS_PER_CHECKPOINT-th row; null while there is no solver.
    size_t stateSize;
} srFrameCache;

SR_MUST_USE srResult srCreateFrameCache(int32_t frameCount, int32_t nodeCount, srFrameCache* outCache);

/// Accepts a zeroed cache.
void srDestroyFrameCache(srFrameCache* cache);

/// Room for states of that size, which is not zero; those that were kept are lost, and rest is in their
/// place.
SR_MUST_USE srResult srFrameCache_SetStateSize(srFrameCache* cache, size_t stateSize);

srVec3f* srFrameCache_GetOffsets(const srFrameCache* cache, int32_t row);

/// The row whose state is kept nearest at or before `row`.
int32_t srFindCheckpoint(int32_t row);

/// The state of a row that is a checkpoint.
void* srFrameCache_GetState(const srFrameCache* cache, int32_t row);
