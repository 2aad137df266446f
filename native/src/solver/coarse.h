// SPDX-License-Identifier: GPL-3.0-or-later
//
// The coarse correction: what one sweep over cells cannot carry through a stiff body, a few smooth handles
// carry at once. A handle's weight is a bump over its surroundings (distances along edges, bumps sum to one);
// each moves affinely. With Q the bumps times [X; 1], a substep's residual r is answered by
//   u += Q (Q' (M + h^2 K) Q)^-1 Q' r
// with the stiffness K of linear finite elements, turned as the body is: cells that one handle has most of
// make a region, K at rest is kept by regions, and for each pose the small matrix is the sum of R K_region
// R', with R the nearest rotation of the region, offsets included (docs/decisions/0039). Inner to flesh.h.

#pragma once

#include "core/parallel.h"
#include "math/mat3.h"
#include "solver/flesh.h"

/// Numbers of the small system that a handle has: 4 of [X; 1], times 3 axes.
#define SR_HANDLE_ROWS 12

/// How finely sums over nodes are cut: fixed, so that bits do not depend on the workers.
#define SR_COARSE_BLOCK 1024

#define SR_MOST_LOCAL 32   ///< Handles that a region, a cell or a node may have; more are left out.
#define SR_MOST_SAMPLES 64 ///< Nodes that tell how a region is turned.

/// Cells that one handle has most of: they are taken to turn alike.
typedef struct srCoarseRegion {
    int32_t handleCount;
    int32_t handles[SR_MOST_LOCAL]; ///< Ascending.
    size_t firstBlock;              ///< Of its numbers among those of all regions.
    int32_t cellCount;
    int32_t sampleStride; ///< Of so many cells one gives samples: its corners.
    int32_t sampleCount;
    int32_t samples[SR_MOST_SAMPLES];
} srCoarseRegion;

/// A handle of a node.
typedef struct srHandleEntry {
    int32_t handle;
    float weight;
} srHandleEntry;

struct srCoarseRest {
    int32_t nodeCount;
    int32_t handleCapacity;
    int32_t handleCount;
    int32_t* starts;        ///< Node i has entries starts[i] .. starts[i + 1] - 1, handles ascending.
    srHandleEntry* entries; ///< Weights of a node sum to one, or there are none.
    int32_t* memberStarts;  ///< The same by blocks of nodes: of a block, each handle's, nodes ascending.
    srHandleMember* members;
    float* places;           ///< Rows X / size, 1.
    float* centres;          ///< Of handles: rows X / size, 0.
    double size;             ///< Reach of a handle, in rest units.
    srCoarseRegion* regions; ///< One a handle.
    int32_t laneCount;
    int32_t* cellRegions; ///< Of each lane of each batch; 0 where there is no cell.
    int32_t patchCount;
    int32_t* patchRegions;
    size_t blockFloatCount; ///< Numbers that all regions' blocks take.
};

SR_MUST_USE srResult srCreateCoarseRest(const srFleshShape* shape, srCoarseRest** outCoarse);

/// Which cells and patches turn together; srCreateCoarse needs to know.
SR_MUST_USE srResult srCreateCoarseRegions(const srFleshRest* rest, srCoarseRest* coarse);
void srDestroyCoarseRest(srCoarseRest* coarse);

/// The small matrix of a tuning: its parts, and its factor at rest.
SR_MUST_USE srResult srCreateCoarse(const srCoarseRest* rest, srCoarse** outCoarse);
void srDestroyCoarse(const srCoarseRest* rest, srCoarse* coarse);

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
    bool isReady;    ///< Whether the small matrix could be factored.
    srMat3f* turns;  ///< Of each handle's region.
    double* A;       ///< The factor of the small matrix for these turns.
    float* partials; ///< 16 numbers a handle and block of nodes.
    float* moves;    ///< 16 numbers a handle: a row for each of [X; 1].
    double* small;   ///< The small system's right-hand side.
    srMat3f posed;   ///< How the whole body was turned then, and since (srCoarse_Follow).
    srMat3f since;
} srCoarseScratch;

SR_MUST_USE srResult srCreateCoarseScratch(const srCoarseRest* rest, srCoarseScratch* outScratch);
void srDestroyCoarseScratch(srCoarseScratch* scratch);

/// One correction: `rows` were `predicted` before the sweep; `forces` hold h^2 times the cells' forces.
typedef struct srCoarseStep {
    const srCoarse* coarse;
    const srCoarseRest* rest;
    srCoarseScratch* scratch;
    const float* predicted;
    float* forces; ///< Become residuals.
    float* rows;
    bool isLoose; ///< Nothing holds the body: it may have turned as a whole since the pose.
} srCoarseStep;

/// How a pose (rows of nodes), with the offsets in `rows`, turns the regions, and the small matrix for that.
void srCoarse_Pose(const srCoarseStep* step, const float* poseRows);

/// How a loose body has turned since: the small matrix turns with it. Before the three stages.
void srCoarse_Follow(const srCoarseStep* step, const float* poseRows);

/// The three stages; the first and the last are for srParallelFor, over blocks of nodes.
int32_t srCoarse_GetBlockCount(const srCoarseRest* rest);
void srCoarse_RestrictBlocks(int32_t begin, int32_t end, int32_t worker, void* step);
void srCoarse_Solve(const srCoarseStep* step);
void srCoarse_ProlongBlocks(int32_t begin, int32_t end, int32_t worker, void* step);
