// SPDX-License-Identifier: GPL-3.0-or-later
//
// Constraints packed eight by eight for wide kernels: the constraints of a batch share no node, so that lanes
// may be solved one after another or all at once with the same bits. A batch lies within a chunk (chunks.h).

#pragma once

#include "solver/chunks.h"

#define SR_BATCH_LANES 8

/// Batches `starts[k] .. starts[k + 1] - 1` are chunk k's. Owns its arrays.
typedef struct srBatches {
    int32_t (*members)[SR_BATCH_LANES]; ///< Constraints; SR_NULL_INDEX is a lane that does nothing.
    int32_t* starts;
    int32_t batchCount;
    int32_t chunkCount;
    int32_t constraintCount;
} srBatches;

/// As srCreateChunks; a node may stand in a constraint several times.
SR_MUST_USE srResult srCreateBatches(const int32_t* nodes, int32_t arity, int32_t constraintCount,
                                     int32_t nodeCount, srBatches* outBatches);

/// Accepts zeroed batches.
void srDestroyBatches(srBatches* batches);
