// SPDX-License-Identifier: GPL-3.0-or-later
//
// One frame of flesh. What is constant is built in flesh_rest.c and flesh_tuning.c; the block of a cell is in
// cell_kernels.inl.
//
// A substep of length h takes its forces at the share theta of it (1/2 the implicit midpoint, 1 implicit
// Euler), by one implicit step of h' = theta h and a straight line through its end:
//   y  = u_n + h' w_n + h'^2 load
//   u' = what the pull to the pose, the damping and the cells make of y      w' = (u' - u_n) / h'
//   u_n+1 = u_n + (u' - u_n) / theta      w_n+1 = w_n + (w' - w_n) / theta
// With BDF2 the implicit step has 2/3 of the length and begins at (4 u_n - u_n-1) / 3, likewise for w; where
// it ends is u_n+1 and w_n+1. Its first substep, which has no past, is one of theta = 2/3, whose implicit
// step is as long. The rig moves in straight lines between frames; against a new line, whose velocity is
// larger by j, what was known is w - j, and u_n-1 + h j. Of a body that nothing holds, each substep ends with
// the spin that it began with (flesh_spin.c).

#include "solver/flesh.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/rotation.h"
#include "solver/coarse.h"
#include "solver/flesh_limits.h"
#include "solver/flesh_spin.h"
#include "solver/pace.h"
#include "solver/patches.h"

#include <math.h>
#include <string.h>

#define NODES_PER_RANGE SR_SPIN_RANGE
#define PATCHES_PER_RANGE 64
#define FEWEST_SHARED_BLOCKS 128 // what is smaller is done before the others have heard of it
#define FIRST_TURN_STEPS 8       // at most; the rotation starts from none in every frame
#define POSES_AGREE 1e-5f        // a posed cell this near to the modelled one is the modelled one
#define SMALLEST_OFFSET 1e-7f // of the largest: below what a float of the character's size can tell from rest
#define LARGEST_VELOCITY 1e18f

struct srFleshScratch {
    srPace pace;
    int32_t nodeCount;
    int32_t rowCount;
    int32_t blockCount;
    float* rows;              // u of the substep, inverse masses in the fourth
    float* starts;            // u_n
    float* velocities;        // w_n
    float* earlierStarts;     // u_n-1 and
    float* earlierVelocities; // w_n-1, for BDF2
    float* poseRows;
    srCellPose* poses;
    srCellPoseError* poseErrors;
    srCellTurn* turns;
    srCellMultiplier* multipliers;
    srPatchPose* patchPoses; // null where no patch keeps its volume
    int32_t patchCount;
    float* predicted; // rows before the sweep, for the coarse correction, as is:
    float* forces;
    float* ends; // rows, for limits
    srSpinScratch* spin;
    srCoarseScratch coarse;
};

typedef struct Step {
    const srFleshRest* rest;
    const srFleshTuning* tuning;
    const srPrimaryMotion* motion;
    const srVec3f* loads;
    srFleshState* state;
    srFleshScratch* scratch;
    const srSolverKernels* kernels;
    srCellSweep sweep;
    srPatchSweep patchSweep;
    float toRest;       // rest units a world unit
    float poseFraction; // of the frame, where the pose is taken
    int32_t turnSteps;
    int32_t parity; // which half of the chunks is being solved
    bool isBdf2;
    bool hasPast; // the substep to be predicted is of second order
    bool hadPast; // likewise that to be finished
    bool isFirst; // substep: nothing to finish
    bool isLast;  // nothing to predict
    bool isNext;  // substep that is not the first: what a chunk solves has still to go on to it
    bool isShared;
    bool isCoarse;
    bool hasLimits;
    bool hasPatches;
    bool keepsSpin; // all nodes end a substep before any goes on to the next
    srSpinStep spin;
    int32_t substep;
    int32_t limitedCounts[SR_MOST_WORKERS]; // nodes that each worker had to hold
} Step;

srResult srCreateFleshScratch(const srFleshRest* rest, const srFleshDials* dials,
                              srFleshScratch** outScratch) {
    *outScratch = NULL;
    srFleshScratch* scratch = SR_ALLOC_ZERO(srFleshScratch, 1);
    if (scratch == NULL) {
        return srFailOutOfMemory("the simulation");
    }
    size_t floatCount = SR_ROW_FLOATS * (size_t)rest->rowCount;
    size_t blockCount = (size_t)rest->batches.batchCount;
    scratch->nodeCount = rest->nodeCount;
    scratch->rowCount = rest->rowCount;
    scratch->blockCount = rest->batches.batchCount;
    scratch->rows = SR_ALLOC_ZERO(float, floatCount);
    scratch->starts = SR_ALLOC_ZERO(float, floatCount);
    scratch->velocities = SR_ALLOC_ZERO(float, floatCount);
    scratch->poseRows = SR_ALLOC_ZERO(float, floatCount);
    bool isComplete = scratch->rows != NULL && scratch->starts != NULL && scratch->velocities != NULL &&
                      scratch->poseRows != NULL;
    if (dials->integrator == sr_fleshBdf2) {
        scratch->earlierStarts = SR_ALLOC_ZERO(float, floatCount);
        scratch->earlierVelocities = SR_ALLOC_ZERO(float, floatCount);
        isComplete = isComplete && scratch->earlierStarts != NULL && scratch->earlierVelocities != NULL;
    }
    if (srFleshDials_HasLimits(dials)) {
        scratch->ends = SR_ALLOC_ZERO(float, floatCount);
        isComplete = isComplete && scratch->ends != NULL;
    }
    if (blockCount > 0) {
        scratch->poses = SR_ALLOC_ZERO(srCellPose, blockCount);
        scratch->turns = SR_ALLOC_ZERO(srCellTurn, blockCount);
        isComplete = isComplete && scratch->poses != NULL && scratch->turns != NULL;
        if (dials->poseCorrection > 0.0) {
            scratch->poseErrors = SR_ALLOC_ZERO(srCellPoseError, blockCount);
            isComplete = isComplete && scratch->poseErrors != NULL;
        }
        if (dials->sweeps > 1) {
            scratch->multipliers = SR_ALLOC_ZERO(srCellMultiplier, blockCount);
            isComplete = isComplete && scratch->multipliers != NULL;
        }
    }
    if (rest->patches != NULL && srFleshDials_WantPatches(dials)) {
        scratch->patchCount = rest->patches->patchCount;
        scratch->patchPoses = SR_ALLOC_ZERO(srPatchPose, scratch->patchCount);
        isComplete = isComplete && (scratch->patchPoses != NULL || scratch->patchCount == 0);
    }
    srResult result = srCreateSpinScratch(&rest->pieces, &scratch->spin);
    if (result == sr_success && rest->coarse != NULL) {
        scratch->predicted = SR_ALLOC_ZERO(float, floatCount);
        scratch->forces = SR_ALLOC_ZERO(float, floatCount);
        isComplete = isComplete && scratch->predicted != NULL && scratch->forces != NULL;
        result = srCreateCoarseScratch(rest->coarse, &scratch->coarse);
    }
    if (result != sr_success || !isComplete) {
        srDestroyFleshScratch(scratch);
        return srFailOutOfMemory("the simulation");
    }
    *outScratch = scratch;
    return sr_success;
}

void srDestroyFleshScratch(srFleshScratch* scratch) {
    if (scratch == NULL) {
        return;
    }
    size_t floatCount = SR_ROW_FLOATS * (size_t)scratch->rowCount;
    SR_FREE(scratch->rows, floatCount);
    SR_FREE(scratch->starts, floatCount);
    SR_FREE(scratch->velocities, floatCount);
    SR_FREE(scratch->earlierStarts, floatCount);
    SR_FREE(scratch->earlierVelocities, floatCount);
    SR_FREE(scratch->poseRows, floatCount);
    SR_FREE(scratch->ends, floatCount);
    SR_FREE(scratch->predicted, floatCount);
    SR_FREE(scratch->forces, floatCount);
    srDestroyCoarseScratch(&scratch->coarse);
    srDestroySpinScratch(scratch->spin);
    SR_FREE(scratch->poses, scratch->blockCount);
    SR_FREE(scratch->poseErrors, scratch->blockCount);
    SR_FREE(scratch->turns, scratch->blockCount);
    SR_FREE(scratch->multipliers, scratch->blockCount);
    SR_FREE(scratch->patchPoses, scratch->patchCount);
    SR_FREE(scratch, 1);
}

// all at once on the calling thread, or in ranges among the workers
static void forRangesWith(const Step* step, srRangeFcn* body, int32_t count, int32_t rangeSize,
                          void* context) {
    srParallelFor(body, count, step->isShared ? rangeSize : count > 0 ? count : 1, context);
}

static void forRanges(Step* step, srRangeFcn* body, int32_t count, int32_t rangeSize) {
    forRangesWith(step, body, count, rangeSize, step);
}

static bool isSane(float x) {
    return x < LARGEST_VELOCITY && x > -LARGEST_VELOCITY;
}

static bool isSaneVector(srVec3f a) {
    return isSane(a.x) && isSane(a.y) && isSane(a.z);
}

static void writeRow(float* rows, int32_t i, srVec3f a, float scale) {
    float* row = rows + SR_ROW_FLOATS * (size_t)i;
    row[0] = scale * a.x;
    row[1] = scale * a.y;
    row[2] = scale * a.z;
    row[3] = 0.0f;
}

// Of a node that does not move now, the past is that it did not move then.
static void loadPast(const Step* step, int32_t i, srVec3f u, bool isMoving) {
    srVec3f jump = step->motion->velocityJump[i];
    srVec3f earlier = srMulAddF(step->state->earlierOffsets[i], (float)step->tuning->h, jump);
    srVec3f earlierW = srSubF(step->state->earlierVelocities[i], jump);
    bool isKnown = isMoving && isSaneVector(earlier) && isSaneVector(earlierW);
    srVec3f w = isMoving ? srSubF(step->state->velocities[i], jump) : (srVec3f){0.0f, 0.0f, 0.0f};
    writeRow(step->scratch->earlierStarts, i, isKnown ? earlier : u, step->toRest);
    writeRow(step->scratch->earlierVelocities, i, isKnown ? earlierW : w, step->toRest);
}

// u and w of the last frame in rest units; the rig's jump of velocity pushes w the other way. What is not a
// number, or holds fast, starts from zero.
static void loadRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const srVec3f zero = {0.0f, 0.0f, 0.0f};
    for (int32_t i = begin; i < end; ++i) {
        srVec3f u = step->state->offsets[i];
        srVec3f w = srSubF(step->state->velocities[i], step->motion->velocityJump[i]);
        bool isFree = step->tuning->weights[i] > 0.0f && isSaneVector(u);
        bool isMoving = isFree && isSaneVector(w);
        writeRow(step->scratch->starts, i, isFree ? u : zero, step->toRest);
        writeRow(step->scratch->velocities, i, isMoving ? w : zero, step->toRest);
        if (step->hasPast) {
            loadPast(step, i, isFree ? u : zero, isMoving);
        }
    }
}

// what pushes from outside all through the frame
static void pushNode(const Step* step, int32_t i, float loadScale) {
    if (!isSaneVector(step->loads[i])) {
        return;
    }
    float* row = step->scratch->rows + SR_ROW_FLOATS * (size_t)i;
    float push = step->tuning->carries[i] * loadScale;
    row[0] += push * step->loads[i].x;
    row[1] += push * step->loads[i].y;
    row[2] += push * step->loads[i].z;
    if (step->isCoarse) {
        memcpy(step->scratch->predicted + SR_ROW_FLOATS * (size_t)i, row, SR_ROW_FLOATS * sizeof(float));
    }
}

static srAdvance makeAdvance(const Step* step) {
    const srFleshTuning* tuning = step->tuning;
    return (srAdvance){
        .rows = step->scratch->rows,
        .starts = step->scratch->starts,
        .velocities = step->scratch->velocities,
        .earlierStarts = step->isBdf2 ? step->scratch->earlierStarts : NULL,
        .earlierVelocities = step->scratch->earlierVelocities,
        .hasPast = step->hadPast,
        .carries = tuning->carries,
        .pulls = tuning->pulls,
        .weights = tuning->weights,
        .predicted = step->isCoarse ? step->scratch->predicted : NULL,
        .ahead = (float)(tuning->theta * tuning->h),
        .perSecond = (float)(1.0 / (tuning->theta * tuning->h)),
        .beyond = (float)(1.0 / tuning->theta),
    };
}

// the end of one substep and the prediction of the next
static void advanceRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    srAdvance advance = makeAdvance(step);
    if (!step->isFirst) {
        if (step->keepsSpin) {
            srFlesh_KeepMomenta(&step->spin, begin, end);
        } else {
            step->kernels->finishNodes(&advance, begin, end);
        }
    }
    if (!step->isLast) {
        advance.hasPast = step->hasPast;
        step->kernels->predictNodes(&advance, begin, end);
        float loadScale = advance.ahead * advance.ahead * step->toRest;
        for (int32_t i = begin; step->loads != NULL && i < end; ++i) {
            pushNode(step, i, loadScale);
        }
    }
}

static void poseNodeRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    for (int32_t i = begin; i < end; ++i) {
        srVec3f from = step->motion->from[i];
        srVec3f p = srMulAddF(from, step->poseFraction, srSubF(step->motion->to[i], from));
        writeRow(step->scratch->poseRows, i, isSaneVector(p) ? p : (srVec3f){0.0f, 0.0f, 0.0f}, step->toRest);
    }
}

// F L or F L^-1 of cells with fibres, where the rows of the matrices are the columns of F
static void stretchRows(const srCellFibres* fibres, bool isBack, srMat3Blockf* F) {
    for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
        float root = fibres->root[lane];
        float more = isBack ? 1.0f / root - 1.0f : root - 1.0f;
        for (int r = 0; r < 3; ++r) {
            float along = 0.0f;
            for (int c = 0; c < 3; ++c) {
                along += F->m[c][r][lane] * fibres->d[c][lane];
            }
            for (int c = 0; c < 3; ++c) {
                F->m[c][r][lane] += more * along * fibres->d[c][lane];
            }
        }
    }
}

// G from the posed F towards its rotation; both are transposed alike here, which changes nothing
static void correctPose(const Step* step, int32_t b) {
    srCellPose* pose = &step->scratch->poses[b];
    srCellPoseError* error = &step->scratch->poseErrors[b];
    float correction = (float)step->tuning->dials.poseCorrection;
    float side = step->tuning->dials.isMirrored ? -1.0f : 1.0f;
    srMat3Blockf F;
    srMat3Blockf R;
    memcpy(F.m, pose->G, sizeof(F.m));
    const srCellFibres* fibres = step->rest->fibres != NULL ? &step->tuning->fibres[b] : NULL;
    if (fibres != NULL) {
        stretchRows(fibres, true, &F);
    }
    for (int i = 0; i < 3 * SR_LANES_PER_BLOCK; ++i) {
        (&F.m[0][0][0])[i] *= side;
    }
    srFindRotationsF(&F, &R, 1);
    for (int i = 0; i < 3 * SR_LANES_PER_BLOCK; ++i) {
        (&R.m[0][0][0])[i] *= side;
    }
    if (fibres != NULL) {
        stretchRows(fibres, false, &R);
    }
    for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
        float largest = 0.0f;
        for (int c = 0; c < 3; ++c) {
            for (int r = 0; r < 3; ++r) {
                float away = R.m[c][r][lane] - pose->G[c][r][lane];
                error->A[c][r][lane] = correction * away;
                largest = fmaxf(largest, fabsf(away));
            }
        }
        bool hasCell = step->rest->volumes[b].V[lane] > 0.0f && largest > POSES_AGREE;
        srVec3f columns[3];
        for (int c = 0; c < 3; ++c) {
            float* A[3] = {&error->A[c][0][lane], &error->A[c][1][lane], &error->A[c][2][lane]};
            float* G[3] = {&pose->G[c][0][lane], &pose->G[c][1][lane], &pose->G[c][2][lane]};
            for (int r = 0; r < 3; ++r) {
                *A[r] = hasCell ? *A[r] : 0.0f;
                *G[r] += *A[r];
            }
            columns[c] = (srVec3f){*G[0], *G[1], *G[2]};
        }
        pose->determinant[lane] = srDotF(columns[0], srCrossF(columns[1], columns[2]));
        pose->squares[lane] =
            srDotF(columns[0], columns[0]) + srDotF(columns[1], columns[1]) + srDotF(columns[2], columns[2]);
    }
}

// what a frame begins with, up to the prediction of its first substep
static void startRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    loadRange(begin, end, worker, context);
    poseNodeRange(begin, end, worker, context);
    advanceRange(begin, end, worker, context);
}

// no cell has turned from its pose at the start of a frame
static void startTurns(srCellTurn* turns, int32_t begin, int32_t end) {
    memset(turns + begin, 0, (size_t)(end - begin) * sizeof(srCellTurn));
    for (int32_t b = begin; b < end; ++b) {
        for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
            turns[b].q[0][lane] = 1.0f;
        }
    }
}

// By chunks, though no cell minds another here: they are in the caches of those who will solve them. All
// nodes are those of an even chunk, or lie beside; so even chunks bring them along, and nobody waits in
// between.
static void poseChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    const Step* step = context;
    srFleshScratch* scratch = step->scratch;
    for (int32_t k = begin; k < end; ++k) {
        if (step->parity == 0) {
            const int32_t* nodes = step->rest->evenStarts + k;
            (step->isFirst ? startRange : poseNodeRange)(nodes[0], nodes[1], worker, context);
        }
        int32_t first = step->rest->batches.starts[2 * k + step->parity];
        int32_t last = step->rest->batches.starts[2 * k + step->parity + 1];
        if (step->isFirst) {
            startTurns(scratch->turns, first, last);
        }
        step->kernels->poseCells(step->tuning->blocks, scratch->poseRows, scratch->poses, first, last);
        for (int32_t b = first; step->sweep.poseErrors != NULL && b < last; ++b) {
            correctPose(step, b);
        }
    }
}

static srCoarseStep coarseStep(const Step* step) {
    return (srCoarseStep){
        .coarse = step->tuning->coarse,
        .rest = step->rest->coarse,
        .scratch = &step->scratch->coarse,
        .predicted = step->scratch->predicted,
        .forces = step->scratch->forces,
        .rows = step->scratch->rows,
        .isLoose = step->tuning->isLoose,
    };
}

// even chunks share no node with one another, nor do odd ones (chunks.h)
static void sweepChunks(Step* step, srRangeFcn* body, const int32_t* starts, int32_t chunkCount) {
    for (step->parity = 0; step->parity < 2; ++step->parity) {
        if (step->isShared) {
            srForChunks(body, starts, chunkCount, step->parity, step);
        } else {
            body(0, (chunkCount - step->parity + 1) / 2, 0, step);
        }
    }
}

static void posePatchRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    step->kernels->posePatches(&step->patchSweep, begin, end);
}

static void poseCells(Step* step) {
    sweepChunks(step, poseChunks, step->rest->batches.starts, step->rest->batches.chunkCount);
    if (step->hasPatches) {
        forRanges(step, posePatchRange, step->rest->patches->patchCount, PATCHES_PER_RANGE);
    }
    if (step->isCoarse) {
        srCoarseStep coarse = coarseStep(step);
        srCoarse_Pose(&coarse, step->scratch->poseRows);
    }
}

static void solveChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    const Step* step = context;
    const int32_t* starts = step->rest->batches.starts;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        if (step->isNext && step->parity == 0) {
            advanceRange(step->rest->evenStarts[k], step->rest->evenStarts[k + 1], worker, context);
        }
        step->kernels->solveCells(&step->sweep, starts[chunk], starts[chunk + 1], step->turnSteps);
    }
}

static void solvePatchChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const int32_t* starts = step->rest->patches->chunks.starts;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        step->kernels->solvePatches(&step->patchSweep, starts[chunk], starts[chunk + 1]);
    }
}

static void addChunkForces(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    const int32_t* starts = step->rest->batches.starts;
    for (int32_t k = begin; k < end; ++k) {
        int32_t chunk = 2 * k + step->parity;
        step->kernels->addForces(&step->sweep, starts[chunk], starts[chunk + 1]);
    }
}

static void correctCoarsely(Step* step) {
    srFleshScratch* scratch = step->scratch;
    const srBatches* batches = &step->rest->batches;
    memset(scratch->forces, 0, SR_ROW_FLOATS * (size_t)scratch->rowCount * sizeof(float));
    sweepChunks(step, addChunkForces, batches->starts, batches->chunkCount);
    srCoarseStep coarse = coarseStep(step);
    if (coarse.isLoose) {
        srCoarse_Follow(&coarse, scratch->poseRows);
    }
    int32_t blockCount = srCoarse_GetBlockCount(coarse.rest);
    forRangesWith(step, srCoarse_RestrictBlocks, blockCount, 1, &coarse);
    srCoarse_Solve(&coarse);
    forRangesWith(step, srCoarse_ProlongBlocks, blockCount, 1, &coarse);
}

static void keepLimits(const Step* step) {
    const srFleshDials* dials = &step->tuning->dials;
    srLimitStep limits = {
        .rest = step->rest,
        .tuning = step->tuning,
        .motion = step->motion,
        .poseRows = step->scratch->poseRows,
        .starts = step->scratch->starts,
        .rows = step->scratch->rows,
        .ends = step->scratch->ends,
        .beyond = step->hasPast ? 1.0f : (float)(1.0 / step->tuning->theta),
        .beginFraction = (float)step->substep / (float)dials->substeps,
        .endFraction = (float)(step->substep + 1) / (float)dials->substeps,
        .toRest = step->toRest,
        .isShared = step->isShared,
    };
    srFlesh_KeepLimits(&limits);
}

static void solveSubstep(Step* step) {
    const srFleshTuning* tuning = step->tuning;
    srFleshScratch* scratch = step->scratch;
    const srBatches* batches = &step->rest->batches;
    if (step->sweep.multipliers != NULL) {
        memset(scratch->multipliers, 0, (size_t)scratch->blockCount * sizeof(srCellMultiplier));
    }
    for (int32_t i = 0; i < tuning->dials.sweeps; ++i) {
        step->isNext = i == 0 && !step->isFirst && !step->keepsSpin;
        sweepChunks(step, solveChunks, batches->starts, batches->chunkCount);
        if (step->hasPatches) {
            const srChunks* chunks = &step->rest->patches->chunks;
            sweepChunks(step, solvePatchChunks, chunks->starts, chunks->chunkCount);
        }
        step->turnSteps = 1;
        if (step->isCoarse) {
            correctCoarsely(step);
        }
        if (step->hasLimits) {
            keepLimits(step);
        }
    }
}

static void gatherRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    srFlesh_GatherMomenta(context, begin, end);
}

static void keepRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    srFlesh_KeepMomenta(context, begin, end);
}

static void finishRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Step* step = context;
    srAdvance advance = makeAdvance(step);
    advance.hasPast = step->hasPast;
    step->kernels->finishNodes(&advance, begin, end);
    srFlesh_GatherMomenta(&step->spin, begin, end);
}

// A substep of a body of which nothing holds some pieces: what their momenta will be is known before. What
// they lack is given when nodes go on to the next, or end the frame.
static void solveLooseSubstep(Step* step) {
    int32_t nodeCount = step->rest->nodeCount;
    if (step->isFirst) {
        forRangesWith(step, gatherRange, nodeCount, NODES_PER_RANGE, &step->spin);
        srFlesh_FindTurns(&step->spin, true);
        forRangesWith(step, keepRange, nodeCount, NODES_PER_RANGE, &step->spin);
    }
    srFlesh_ForeseeMomenta(&step->spin);
    solveSubstep(step);
    step->spin.fraction = (float)(step->substep + 1) / (float)step->tuning->dials.substeps;
    forRanges(step, finishRange, nodeCount, NODES_PER_RANGE);
    srFlesh_FindTurns(&step->spin, false);
}

static bool isWithin(srVec3f a, float limit) {
    return srDotF(a, a) <= limit * limit;
}

// holds a node within the limit, lets what is too small to see come to rest exactly, and takes NaN out
static bool limitNode(const Step* step, srVec3f* u, srVec3f* w) {
    const srVec3f zero = {0.0f, 0.0f, 0.0f};
    float largest = (float)step->tuning->dials.largestOffset;
    float smallest = SMALLEST_OFFSET * largest;
    float smallestVelocity = smallest / (float)step->tuning->h; // rounding alone moves a node so far
    if (isWithin(*u, largest) && isWithin(*w, LARGEST_VELOCITY)) {
        if (isWithin(*u, smallest) && isWithin(*w, smallestVelocity)) {
            *u = zero;
            *w = zero;
        }
        return false;
    }
    float length = srLengthF(*u);
    bool isFinite = length - length == 0.0f;
    *u = isFinite && length > largest ? srScaleF(largest / length, *u) : isFinite ? *u : zero;
    *w = zero;
    return true;
}

// what was stopped stood still before
static void keepPast(const Step* step, int32_t i, bool isLimited) {
    srFleshState* state = step->state;
    srVec3f u = state->offsets[i], w = state->velocities[i];
    bool isStopped = isLimited || (srDotF(u, u) == 0.0f && srDotF(w, w) == 0.0f);
    float scale = (float)step->tuning->dials.scale;
    const float* earlier = step->scratch->earlierStarts + SR_ROW_FLOATS * (size_t)i;
    const float* earlierW = step->scratch->earlierVelocities + SR_ROW_FLOATS * (size_t)i;
    srVec3f past = {scale * earlier[0], scale * earlier[1], scale * earlier[2]};
    srVec3f pastW = {scale * earlierW[0], scale * earlierW[1], scale * earlierW[2]};
    state->earlierOffsets[i] = isStopped ? u : past;
    state->earlierVelocities[i] = isStopped ? w : pastW;
}

static void endRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    Step* step = context;
    advanceRange(begin, end, worker, context);
    float scale = (float)step->tuning->dials.scale;
    for (int32_t i = begin; i < end; ++i) {
        const float* u = step->scratch->starts + SR_ROW_FLOATS * (size_t)i;
        const float* w = step->scratch->velocities + SR_ROW_FLOATS * (size_t)i;
        srVec3f* offset = &step->state->offsets[i];
        srVec3f* velocity = &step->state->velocities[i];
        *offset = (srVec3f){scale * u[0], scale * u[1], scale * u[2]};
        *velocity = (srVec3f){scale * w[0], scale * w[1], scale * w[2]};
        bool isLimited = limitNode(step, offset, velocity);
        if (isLimited) {
            ++step->limitedCounts[worker];
        }
        if (step->isBdf2) {
            keepPast(step, i, isLimited);
        }
    }
}

static Step beginStep(const srFleshRest* rest, const srFleshTuning* tuning, const srPrimaryMotion* motion,
                      const srVec3f* loads, srFleshState* state) {
    srFleshScratch* scratch = state->scratch;
    const srFleshDials* dials = &tuning->dials;
    bool isBdf2 = dials->integrator == sr_fleshBdf2 && scratch->earlierStarts != NULL;
    return (Step){
        .rest = rest,
        .tuning = tuning,
        .motion = motion,
        .loads = loads,
        .state = state,
        .scratch = scratch,
        .kernels = srGetSolverKernels(),
        .sweep =
            {
                .blocks = tuning->blocks,
                .materials = tuning->materials,
                .forceMaterials = tuning->forceMaterials,
                .poses = scratch->poses,
                .poseErrors = dials->poseCorrection > 0.0 ? scratch->poseErrors : NULL,
                .turns = scratch->turns,
                .multipliers = dials->sweeps > 1 ? scratch->multipliers : NULL,
                .rows = scratch->rows,
                .forces = scratch->forces,
                .hasFibres = rest->fibres != NULL,
            },
        .patchSweep =
            {
                .patches = rest->patches != NULL ? rest->patches->patches : NULL,
                .compliances = tuning->patchCompliances,
                .poses = scratch->patchPoses,
                .poseRows = scratch->poseRows,
                .rows = scratch->rows,
                .poseCorrection = (float)dials->poseCorrection,
                .side = dials->isMirrored ? -1.0f : 1.0f,
            },
        .toRest = (float)(1.0 / dials->scale),
        .turnSteps = FIRST_TURN_STEPS,
        .isBdf2 = isBdf2,
        .hasPast = isBdf2 && state->pastSeconds == tuning->h,
        .hasLimits = srFleshDials_HasLimits(dials) && scratch->ends != NULL,
        .hasPatches = tuning->hasPatches && scratch->patchPoses != NULL,
        .keepsSpin = tuning->hasLoosePieces && srLength(dials->floorNormal) == 0.0,
        .spin =
            {
                .rest = rest,
                .tuning = tuning,
                .motion = motion,
                .loads = loads,
                .starts = scratch->starts,
                .velocities = scratch->velocities,
                .toRest = (float)(1.0 / dials->scale),
                .scratch = scratch->spin,
            },
        .isCoarse = srCoarse_IsReady(tuning->coarse) && scratch->predicted != NULL && dials->sweeps == 1,
    };
}

static bool hasMoved(const srPrimaryMotion* motion, int32_t nodeCount) {
    return memcmp(motion->from, motion->to, (size_t)nodeCount * sizeof(srVec3f)) != 0;
}

int32_t srFlesh_StepFrame(const srFleshRest* rest, const srFleshTuning* tuning, const srPrimaryMotion* motion,
                          const srVec3f* loads, srFleshState* state) {
    Step step = beginStep(rest, tuning, motion, loads, state);
    int32_t substeps = tuning->dials.substeps;
    // flesh that does not go along with a rig that turns sees its shape turn
    bool isTurned = tuning->hasLoosePieces && hasMoved(motion, rest->nodeCount);
    int32_t poses = isTurned ? substeps : tuning->dials.poses;
    int32_t pose = 0;
    bool isLarge = rest->batches.batchCount >= FEWEST_SHARED_BLOCKS;
    srPace* pace = &step.scratch->pace;
    step.isShared = isLarge && srPace_IsForSharing(pace);
    for (int32_t substep = 0; substep < substeps; ++substep) {
        step.isFirst = substep == 0;
        step.substep = substep;
        step.hadPast = step.hasPast;
        step.hasPast = step.isFirst ? step.hasPast : step.isBdf2;
        step.spin.earlier = step.hasPast ? step.scratch->earlierVelocities : NULL;
        // substeps 0 .. substeps - 1 in `poses` equal parts
        bool isPosed = pose * substeps <= substep * poses;
        if (isPosed) {
            step.poseFraction = ((float)pose + 0.5f) / (float)poses;
            ++pose;
            if (rest->batches.chunkCount == 0) {
                forRanges(&step, step.isFirst ? startRange : poseNodeRange, rest->nodeCount, NODES_PER_RANGE);
            }
            poseCells(&step);
        }
        step.isShared = isLarge && srPace_Begin(pace);
        if (!step.isFirst && (rest->batches.chunkCount == 0 || step.keepsSpin)) {
            forRanges(&step, advanceRange, rest->nodeCount, NODES_PER_RANGE);
        }
        (step.keepsSpin ? solveLooseSubstep : solveSubstep)(&step);
        if (isLarge) {
            srPace_End(pace);
        }
    }
    step.isFirst = false;
    step.isLast = true;
    step.hadPast = step.hasPast;
    forRanges(&step, endRange, rest->nodeCount, NODES_PER_RANGE);
    state->pastSeconds = step.isBdf2 ? tuning->h : 0.0;
    int32_t limitedCount = 0;
    for (int worker = 0; worker < SR_MOST_WORKERS; ++worker) {
        limitedCount += step.limitedCounts[worker];
    }
    return limitedCount;
}
