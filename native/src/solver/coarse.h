// SPDX-License-Identifier: GPL-3.0-or-later
//
// The coarse correction: what one sweep over cells cannot carry through a stiff body, a few smooth handles
// carry at once. A handle's weight is a bump over its surroundings (distances along edges, bumps sum to one);
// each moves affinely. With Q the bumps times [X; 1], a substep's residual r is answered by
//   u += Q (Q' (M + h^2 K) Q)^-1 Q' r
// with the stiffness K of linear finite elements at rest; a handle that its pose has turned answers in its
// own frame, so that the small matrix stays constant. Inner to flesh.h.

#pragma once

#include "core/parallel.h"
#include "math/mat3.h"
#include "solver/flesh.h"

/// Numbers of the small system that a handle has: 4 of [X; 1], times 3 axes.
#define SR_HANDLE_ROWS 12

/// How finely sums over nodes are cut: fixed, so that bits do not depend on the workers.
#define SR_COARSE_BLOCK 1024

struct srCoarseRest {
    int32_t nodeCount;
    int32_t handleCapacity;
    int32_t handleCount;
    int32_t* starts;        ///< Node i has entries starts[i] .. starts[i + 1] - 1, handles ascending.
    srHandleEntry* entries; ///< Weights of a node sum to one, or there are none.
    float* places;          ///< Rows X / size, 1.
    float* centres;         ///< Of handles: rows X / size, 0.
    double size;            ///< Reach of a handle, in rest units.
};

SR_MUST_USE srResult srCreateCoarseRest(const srFleshShape* shape, srCoarseRest** outCoarse);
void srDestroyCoarseRest(srCoarseRest* coarse);

/// The factored small matrix of a tuning.
SR_MUST_USE srResult srCreateCoarse(const srCoarseRest* rest, srCoarse** outCoarse);
void srDestroyCoarse(srCoarse* coarse);

/// From the tuning's weights and force materials. When the matrix cannot be factored there is no correction.
void srCoarse_Set(srCoarse* coarse, const srCoarseRest* coarseRest, const srFleshRest* rest,
                  const srFleshTuning* tuning);
bool srCoarse_IsReady(const srCoarse* coarse);

/// The least kappa of A v = kappa M v, with M the masses without pull and damping: 1 + (h omega)^2 of the
/// slowest swing.
double srCoarse_FindLeast(const srCoarse* coarse, const srCoarseRest* coarseRest,
                          const srFleshTuning* tuning);

/// What a correction works in, so that the tuning stays constant in a step. Owns its arrays.
typedef struct srCoarseScratch {
    int32_t handleCount;
    int32_t blockCount;
    srMat3f* turns;  ///< Of each handle, by its pose.
    float* partials; ///< 16 numbers a handle and block of nodes.
    float* moves;    ///< 16 numbers a handle: a row for each of [X; 1].
    double* small;   ///< The small system's right-hand side.
} srCoarseScratch;

SR_MUST_USE srResult srCreateCoarseScratch(const srCoarseRest* rest, srCoarseScratch* outScratch);
void srDestroyCoarseScratch(srCoarseScratch* scratch);

/// One correction: `rows` were `predicted` before the sweep; `forces` hold h^2 times the cells' forces.
typedef struct srCoarseStep {
    const srCoarse* coarse;
    const srCoarseRest* rest;
    srCoarseScratch* scratch;
    const float* predicted;
    const float* forces;
    float* rows;
} srCoarseStep;

/// How a pose (rows of nodes) turns the handles.
void srCoarse_Pose(const srCoarseStep* step, const float* poseRows);

/// The three stages; the first and the last are for srParallelFor, over blocks of nodes.
int32_t srCoarse_GetBlockCount(const srCoarseRest* rest);
void srCoarse_RestrictBlocks(int32_t begin, int32_t end, int32_t worker, void* step);
void srCoarse_Solve(const srCoarseStep* step);
void srCoarse_ProlongBlocks(int32_t begin, int32_t end, int32_t worker, void* step);
