// SPDX-License-Identifier: GPL-3.0-or-later
//
// The frame cache: offsets and velocities of all nodes for every simulated frame, in order. With both,
// simulation can go on from any frame that is ready.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

/// Owns its arrays.
typedef struct srFrameCache {
    srVec3f* offsets;    ///< frameCount x nodeCount
    srVec3f* velocities; ///< frameCount x nodeCount
    int32_t frameCount;
    int32_t nodeCount;
} srFrameCache;

SR_MUST_USE srResult srCreateFrameCache(int32_t frameCount, int32_t nodeCount, srFrameCache* outCache);

/// Accepts a zeroed cache.
void srDestroyFrameCache(srFrameCache* cache);

srVec3f* srFrameCache_GetOffsets(const srFrameCache* cache, int32_t row);
srVec3f* srFrameCache_GetVelocities(const srFrameCache* cache, int32_t row);

/// Row `row` starts as a copy of the one before it; row 0 as zeros.
void srFrameCache_Begin(srFrameCache* cache, int32_t row);

/// Both arrays of one row into another.
void srFrameCache_Copy(srFrameCache* cache, int32_t fromRow, int32_t toRow);

/// Over the bits of both arrays of a row.
uint64_t srFrameCache_Hash(const srFrameCache* cache, int32_t row);
