// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells into blocks, and the loops over chunks: all even ones side by side, then all odd ones, as chunks.h
// promises that it can be done.

#include "solver/newton_kernels.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "solver/halves.h"

static srResult allocateLayout(const srChunks* chunks, srCellLayout* layout) {
    layout->chunkCount = chunks->chunkCount;
    for (int32_t k = 0; k < chunks->chunkCount; ++k) {
        layout->blockCount += srGetBlockCount(chunks->starts[k + 1] - chunks->starts[k]);
    }
    layout->starts = SR_ALLOC(int32_t, layout->chunkCount + 1);
    layout->corners = SR_ALLOC(srCellCorners, layout->blockCount);
    layout->cells = SR_ALLOC(int32_t, (int64_t)SR_BLOCK_LANES * layout->blockCount);
    bool isWhole = layout->starts != NULL && layout->corners != NULL && layout->cells != NULL;
    return isWhole ? sr_success : srFailOutOfMemory("the cells");
}

// one chunk into blocks from `block` on; returns the block after it
static int32_t fillChunk(const int32_t (*cells)[4], const int32_t* order, int32_t count, int32_t block,
                         srCellLayout* layout) {
    int32_t end = block + srGetBlockCount(count);
    for (int32_t place = 0; place < SR_BLOCK_LANES * (end - block); ++place) {
        int32_t cell = order[place < count ? place : count - 1];
        int32_t at = block + place / SR_BLOCK_LANES, lane = place % SR_BLOCK_LANES;
        for (int c = 0; c < 4; ++c) {
            layout->corners[at].nodes[c][lane] = cells[cell][c];
        }
        layout->cells[SR_BLOCK_LANES * at + lane] = place < count ? cell : SR_NULL_INDEX;
    }
    return end;
}

static void findCentres(const srVec3* nodes, const int32_t (*cells)[4], int32_t cellCount,
                        srVec3* outCentres) {
    for (int32_t cell = 0; cell < cellCount; ++cell) {
        srVec3 sum = {0.0, 0.0, 0.0};
        for (int c = 0; c < 4; ++c) {
            sum = srAdd(sum, nodes[cells[cell][c]]);
        }
        outCentres[cell] = sum;
    }
}

srResult srCreateCellLayout(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                            int32_t cellCount, srCellLayout* outLayout) {
    srCellLayout layout = {.nodeCount = nodeCount};
    *outLayout = layout;
    srChunks chunks;
    SR_TRY(srCreateChunks(cells[0], 4, cellCount, nodeCount, &chunks));
    srVec3* centres = SR_ALLOC(srVec3, cellCount);
    srResult result = centres != NULL ? allocateLayout(&chunks, &layout) : srFailOutOfMemory("the cells");
    if (result == sr_success) {
        findCentres(nodes, cells, cellCount, centres);
        layout.starts[0] = 0;
        for (int32_t k = 0; k < chunks.chunkCount; ++k) {
            int32_t count = chunks.starts[k + 1] - chunks.starts[k];
            int32_t* order = chunks.order + chunks.starts[k];
            srHalvePoints(centres, order, count, SR_BLOCK_LANES);
            layout.starts[k + 1] = fillChunk(cells, order, count, layout.starts[k], &layout);
        }
        *outLayout = layout;
    } else {
        srDestroyCellLayout(&layout);
    }
    SR_FREE(centres, cellCount);
    srDestroyChunks(&chunks);
    return result;
}

void srDestroyCellLayout(srCellLayout* layout) {
    SR_FREE(layout->starts, layout->chunkCount + 1);
    SR_FREE(layout->corners, layout->blockCount);
    SR_FREE(layout->cells, (int64_t)SR_BLOCK_LANES * layout->blockCount);
    *layout = (srCellLayout){0};
}

srResult srCreateCellShapes(const srCellLayout* layout, srCellShapes* outShapes) {
    srCellShapes shapes = {
        .inverses = SR_ALLOC_ZERO(srMat3Block, layout->blockCount),
        .inversesF = SR_ALLOC_ZERO(srMat3Blockf, layout->blockCount),
        .weights = SR_ALLOC_ZERO(srCellNumbers, layout->blockCount),
        .weightsF = SR_ALLOC_ZERO(srCellNumbersf, layout->blockCount),
        .bulkWeights = SR_ALLOC_ZERO(srCellNumbers, layout->blockCount),
        .bulkWeightsF = SR_ALLOC_ZERO(srCellNumbersf, layout->blockCount),
        .masses = SR_ALLOC_ZERO(srCellNumbers, layout->blockCount),
        .volumes = SR_ALLOC_ZERO(srCellNumbers, layout->blockCount),
        .volumesF = SR_ALLOC_ZERO(srCellNumbersf, layout->blockCount),
        .patchStiffnesses = SR_ALLOC_ZERO(double, layout->blockCount),
        .patchVolumes = SR_ALLOC_ZERO(double, layout->blockCount),
    };
    *outShapes = shapes;
    if (shapes.inverses == NULL || shapes.inversesF == NULL || shapes.weights == NULL ||
        shapes.weightsF == NULL || shapes.masses == NULL || shapes.bulkWeights == NULL ||
        shapes.bulkWeightsF == NULL || shapes.volumes == NULL || shapes.volumesF == NULL ||
        shapes.patchStiffnesses == NULL || shapes.patchVolumes == NULL) {
        srDestroyCellShapes(layout, outShapes);
        return srFailOutOfMemory("the cells' shapes");
    }
    return sr_success;
}

void srDestroyCellShapes(const srCellLayout* layout, srCellShapes* shapes) {
    SR_FREE(shapes->inverses, layout->blockCount);
    SR_FREE(shapes->inversesF, layout->blockCount);
    SR_FREE(shapes->weights, layout->blockCount);
    SR_FREE(shapes->weightsF, layout->blockCount);
    SR_FREE(shapes->bulkWeights, layout->blockCount);
    SR_FREE(shapes->bulkWeightsF, layout->blockCount);
    SR_FREE(shapes->masses, layout->blockCount);
    SR_FREE(shapes->volumes, layout->blockCount);
    SR_FREE(shapes->volumesF, layout->blockCount);
    SR_FREE(shapes->patchStiffnesses, layout->blockCount);
    SR_FREE(shapes->patchVolumes, layout->blockCount);
    *shapes = (srCellShapes){0};
}

// all chunks, half by half
static void sweepChunks(srCellTask* task, srRangeFcn* body) {
    for (task->parity = 0; task->parity < 2; ++task->parity) {
        srForChunks(body, task->layout->starts, task->layout->chunkCount, task->parity, task);
    }
}

static void poseChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCellTask* task = context;
    for (int32_t k = 2 * begin + task->parity; k < 2 * end; k += 2) {
        srGetNewtonTable()->pose(task, task->layout->starts[k], task->layout->starts[k + 1]);
    }
}

static void evaluateChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCellTask* task = context;
    for (int32_t k = 2 * begin + task->parity; k < 2 * end; k += 2) {
        task->partials[k] =
            srGetNewtonTable()->evaluate(task, task->layout->starts[k], task->layout->starts[k + 1]);
    }
}

static void multiplyChunks(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srCellTask* task = context;
    for (int32_t k = 2 * begin + task->parity; k < 2 * end; k += 2) {
        srGetNewtonTable()->multiplyHessian(task, task->layout->starts[k], task->layout->starts[k + 1]);
    }
}

void srCells_Pose(const srCellLayout* layout, const srCellShapes* shapes, const srCellPosing* posing,
                  const double* points, const srCellStretches* outStretches, double* loads) {
    srCellTask task = {
        .layout = layout,
        .shapes = shapes,
        .stretches = outStretches,
        .posing = posing,
        .points = points,
        .forces = loads,
    };
    sweepChunks(&task, poseChunks);
}

double srCells_Evaluate(const srCellLayout* layout, const srCellShapes* shapes,
                        const srCellStretches* stretches, const double* points, double* gradient,
                        const srCellTurns* outTurns, double* partials) {
    srCellTask task = {
        .layout = layout,
        .shapes = shapes,
        .stretches = stretches,
        .turns = outTurns,
        .points = points,
        .forces = gradient,
        .partials = partials,
    };
    sweepChunks(&task, evaluateChunks);
    double energy = 0.0;
    for (int32_t k = 0; k < layout->chunkCount; ++k) {
        energy += partials[k];
    }
    return energy;
}

void srCells_MultiplyHessian(const srCellLayout* layout, const srCellShapes* shapes,
                             const srCellStretches* stretches, const srCellTurns* turns,
                             const float* directions, float* products) {
    srCellTask task = {
        .layout = layout,
        .shapes = shapes,
        .stretches = stretches,
        .turns = turns,
        .directions = directions,
        .products = products,
    };
    sweepChunks(&task, multiplyChunks);
}
