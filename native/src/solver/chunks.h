// SPDX-License-Identifier: GPL-3.0-or-later
//
// Constraints cut into runs that two workers can solve at once. Sorted by their lowest node and cut so that
// runs k and k + 2 share no node, all even runs may go in parallel, then all odd ones. Local in memory, two
// barriers a sweep, and one fixed order: the same bits on any number of workers.

#pragma once

#include "core/error.h"
#include "core/parallel.h"

#include <stdint.h>

/// Run k is constraints `order[starts[k]] .. order[starts[k + 1] - 1]`. Owns its arrays.
typedef struct srChunks {
    int32_t* order; ///< Runs ascend by their lowest nodes; within a run, neighbours in order share no node
                    ///< where that can be.
    int32_t* starts;
    int32_t chunkCount;
    int32_t constraintCount;
} srChunks;

/// `nodes` holds `arity` indices a constraint, each below `nodeCount`.
SR_MUST_USE srResult srCreateChunks(const int32_t* nodes, int32_t arity, int32_t constraintCount,
                                    int32_t nodeCount, srChunks* outChunks);

/// The same again, or those that were stored. `sr_errorInvalidValue` unless they order each of the
/// constraints once and every other run shares no node: then even hostile ones do no harm.
SR_MUST_USE srResult srCopyChunks(const int32_t* nodes, int32_t arity, int32_t nodeCount,
                                  const srChunks* chunks, srChunks* outChunks);

/// Accepts zeroed chunks.
void srDestroyChunks(srChunks* chunks);

/// Runs `body` over every other chunk, from `parity` on (0 or 1): block k is chunk 2 k + parity. `starts`
/// hold what comes before each chunk and before the end. Workers begin as far apart as halves of that are,
/// alike for both parities, so that a sweep finds in a worker's cache what the last one left there.
void srForChunks(srRangeFcn* body, const int32_t* starts, int32_t chunkCount, int32_t parity, void* context);
