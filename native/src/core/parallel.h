// SPDX-License-Identifier: GPL-3.0-or-later
//
// One pool of workers for the whole library, and the one loop that uses it. The range is cut into blocks of a
// size that the caller chooses and that never depends on the number of workers; each worker begins with
// blocks of its own and then helps the others, so blocks are done in any order. So a body that writes only
// what belongs to its block gives the same bits on any number of workers, and a result per block, merged in
// index order by the caller afterwards, does too.

#pragma once

#include "softrig/base.h"

#define SR_MOST_WORKERS 64

/// One block: indices from `begin` to `end` - 1. `worker` is stable within a call and below
/// `srParallel_GetWorkerCount()`; the calling thread is worker 0. Must not allocate, log, wait, or call
/// srParallelFor (asserted).
typedef void srRangeFcn(int32_t begin, int32_t end, int32_t worker, void* context);

/// Runs `body` over 0 .. count - 1 in blocks of `blockSize` and returns when all are done. When the pool
/// is in use by another thread, or could not be started, the calling thread does all blocks itself. Never
/// fails. What the caller wrote before, all bodies see; what the bodies wrote, the caller sees afterwards.
/// `blockSize` is positive.
void srParallelFor(srRangeFcn* body, int32_t count, int32_t blockSize, void* context);

/// The same for blocks that cost unlike: worker w begins with blocks cuts[w] .. cuts[w + 1] - 1. The
/// srParallel_GetWorkerCount() + 1 cuts ascend from 0 to the number of blocks; without (null), all workers
/// begin with as many. A matter of speed alone: whoever is done takes from the others.
void srParallelForCut(srRangeFcn* body, int32_t count, int32_t blockSize, const int32_t* cuts, void* context);

/// Threads that share a loop, the calling one included: 1 to SR_MOST_WORKERS (clamped). Stops the pool when
/// the number changes; no loop may be running. The default is the number of cores, at most 4.
void srParallel_SetWorkerCount(int32_t workerCount);
int32_t srParallel_GetWorkerCount(void);

/// How many blocks each worker has done since the last srParallel_Stop: proof that several did work. Blocks
/// that a caller did alone count for worker 0. `outBlockCounts` has room for `capacity` numbers; returns the
/// number of workers.
int32_t srParallel_GetBlockCounts(uint64_t* outBlockCounts, int32_t capacity);

/// How many loops have been opened to workers since the process began: each is a barrier.
uint64_t srParallel_GetLoopCount(void);

/// Joins the workers and frees the pool: its bytes are back. The next srParallelFor starts it again. Not from
/// a body.
void srParallel_Stop(void);
