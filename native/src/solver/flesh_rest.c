// SPDX-License-Identifier: GPL-3.0-or-later
//
// Building what is constant about flesh: batches of cells, shape functions, volumes. Materials are in
// flesh_tuning.c, the steps in flesh.c.

#include "solver/flesh.h"

#include "core/alloc.h"
#include "solver/coarse.h"
#include "solver/flesh_spin.h"
#include "solver/patches.h"

#include <math.h>
#include <string.h>

// of the longest edge cubed; a regular cell has 0.12
#define FLAT_SHARE 1e-12

// of fibres, either way
#define LARGEST_FACTOR 100.0

// gradients of the shape functions of corners 1 to 3; the volume, or zero for what is no cell
static double findGradients(const srVec3* nodes, const int32_t corners[4], srVec3 outGradients[3]) {
    srVec3 e[3];
    double longest2 = 0.0;
    for (int c = 0; c < 3; ++c) {
        e[c] = srSub(nodes[corners[c + 1]], nodes[corners[0]]);
        longest2 = fmax(longest2, srDot(e[c], e[c]));
    }
    srVec3 normals[3] = {srCross(e[1], e[2]), srCross(e[2], e[0]), srCross(e[0], e[1])};
    double sixVolumes = srDot(e[0], normals[0]);
    if (!(sixVolumes > FLAT_SHARE * longest2 * sqrt(longest2))) {
        return 0.0;
    }
    for (int c = 0; c < 3; ++c) {
        outGradients[c] = srScale(1.0 / sixVolumes, normals[c]);
    }
    return sixVolumes / 6.0;
}

static srResult checkShape(const srFleshShape* shape) {
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        srVec3 x = shape->nodes[i];
        if (!isfinite(x.x) || !isfinite(x.y) || !isfinite(x.z)) {
            return srFail(sr_errorBadMesh, "Node %d of the cage is not finite.", i);
        }
    }
    for (int32_t cell = 0; cell < shape->cellCount; ++cell) {
        for (int c = 0; c < 4; ++c) {
            int32_t node = shape->cells[cell][c];
            if (node < 0 || node >= shape->nodeCount) {
                return srFail(sr_errorBadMesh, "Cell %d names node %d, but there are %d nodes.", cell, node,
                              shape->nodeCount);
            }
        }
    }
    for (int32_t cell = 0; shape->fibres != NULL && cell < shape->cellCount; ++cell) {
        srVec3 d = shape->fibres[cell];
        if (!isfinite(d.x) || !isfinite(d.y) || !isfinite(d.z)) {
            return srFail(sr_errorBadMesh, "The fibres of cell %d are not finite.", cell);
        }
    }
    for (int32_t k = 0; shape->ties != NULL && k < 2 * shape->tieCount; ++k) {
        int32_t node = shape->ties[k / 2][k % 2];
        if (node < 0 || node >= shape->nodeCount) {
            return srFail(sr_errorBadMesh, "Tie %d names node %d, but there are %d nodes.", k / 2, node,
                          shape->nodeCount);
        }
    }
    return sr_success;
}

static srResult createTies(const srFleshShape* shape, srFleshRest* rest) {
    if (shape->ties == NULL || shape->tieCount == 0) {
        return sr_success;
    }
    SR_TRY(srCreateChunks(shape->ties[0], 2, shape->tieCount, shape->nodeCount, &rest->tieChunks));
    rest->ties = srAlloc((size_t)shape->tieCount, sizeof(*rest->ties));
    if (rest->ties == NULL) {
        return srFailOutOfMemory("the flesh");
    }
    for (int32_t t = 0; t < shape->tieCount; ++t) {
        memcpy(rest->ties[t], shape->ties[rest->tieChunks.order[t]], sizeof(rest->ties[t]));
    }
    return sr_success;
}

static size_t evenStartCount(const srFleshRest* rest) {
    return (size_t)(rest->batches.chunkCount + 1) / 2 + 1;
}

static srResult allocateRest(const srFleshShape* shape, srFleshRest* rest) {
    size_t batchCount = (size_t)rest->batches.batchCount;
    rest->nodeVolumes = SR_ALLOC_ZERO(float, shape->nodeCount);
    rest->holds = SR_ALLOC(float, shape->nodeCount);
    rest->boneDistances = SR_ALLOC(float, shape->nodeCount);
    rest->evenStarts = SR_ALLOC_ZERO(int32_t, evenStartCount(rest));
    rest->blocks = SR_ALLOC_ZERO(srCellBlock, batchCount);
    rest->volumes = SR_ALLOC_ZERO(srCellVolumes, batchCount);
    rest->fibres = shape->fibres != NULL ? SR_ALLOC_ZERO(srCellFibres, batchCount) : NULL;
    bool isComplete = (shape->fibres == NULL || batchCount == 0 || rest->fibres != NULL) &&
                      rest->evenStarts != NULL && rest->nodeVolumes != NULL && rest->holds != NULL &&
                      rest->boneDistances != NULL &&
                      (batchCount == 0 || (rest->blocks != NULL && rest->volumes != NULL));
    return isComplete ? sr_success : srFailOutOfMemory("the flesh");
}

static void fillLane(const srFleshShape* shape, int32_t cell, int lane, int32_t spareRow, srCellBlock* block,
                     srCellVolumes* volumes, float* nodeVolumes) {
    srVec3 gradients[3];
    double volume = cell == SR_NULL_INDEX ? 0.0 : findGradients(shape->nodes, shape->cells[cell], gradients);
    for (int c = 0; c < 4; ++c) {
        block->places[c][lane] = SR_ROW_FLOATS * (volume > 0.0 ? shape->cells[cell][c] : spareRow);
    }
    if (!(volume > 0.0)) {
        return;
    }
    volumes->V[lane] = (float)volume;
    for (int c = 0; c < 3; ++c) {
        block->gradients[c][0][lane] = (float)gradients[c].x;
        block->gradients[c][1][lane] = (float)gradients[c].y;
        block->gradients[c][2][lane] = (float)gradients[c].z;
    }
    for (int c = 0; c < 4; ++c) {
        nodeVolumes[shape->cells[cell][c]] += (float)(0.25 * volume);
    }
}

// what the gradients become by fibres; zero vectors and lanes without a cell have none
static void stretchLane(const srFleshShape* shape, int32_t cell, int lane, srCellBlock* block,
                        srCellFibres* fibres) {
    srVec3 d = cell == SR_NULL_INDEX ? (srVec3){0.0, 0.0, 0.0} : shape->fibres[cell];
    double factor = srLength(d);
    srVec3 unit = factor > 0.0 ? srScale(1.0 / factor, d) : d;
    factor = factor > 0.0 ? fmin(fmax(factor, 1.0 / LARGEST_FACTOR), LARGEST_FACTOR) : 1.0;
    double root = sqrt(factor);
    fibres->d[0][lane] = (float)unit.x;
    fibres->d[1][lane] = (float)unit.y;
    fibres->d[2][lane] = (float)unit.z;
    fibres->root[lane] = (float)root;
    for (int c = 0; c < 3; ++c) {
        float* g[3] = {&block->gradients[c][0][lane], &block->gradients[c][1][lane],
                       &block->gradients[c][2][lane]};
        srVec3 stretched = {(double)*g[0], (double)*g[1], (double)*g[2]};
        stretched = srMulAdd(stretched, (root - 1.0) * srDot(unit, stretched), unit);
        *g[0] = (float)stretched.x;
        *g[1] = (float)stretched.y;
        *g[2] = (float)stretched.z;
    }
}

static void fillBlocks(const srFleshShape* shape, srFleshRest* rest) {
    for (int32_t chunk = 0; chunk < rest->batches.chunkCount; ++chunk) {
        for (int32_t b = rest->batches.starts[chunk]; b < rest->batches.starts[chunk + 1]; ++b) {
            for (int lane = 0; lane < SR_BATCH_LANES; ++lane) {
                fillLane(shape, rest->batches.members[b][lane], lane, shape->nodeCount + chunk,
                         &rest->blocks[b], &rest->volumes[b], rest->nodeVolumes);
                if (rest->fibres != NULL) {
                    stretchLane(shape, rest->batches.members[b][lane], lane, &rest->blocks[b],
                                &rest->fibres[b]);
                }
            }
        }
    }
}

// A chunk's lowest node lies above all of the even chunk before (chunks.h); what no cell names goes along
static void findEvenStarts(srFleshRest* rest) {
    int32_t evenCount = (rest->batches.chunkCount + 1) / 2;
    int32_t next = rest->nodeCount;
    rest->evenStarts[evenCount] = next;
    for (int32_t k = evenCount - 1; k >= 0; --k) {
        for (int32_t b = rest->batches.starts[2 * k]; b < rest->batches.starts[2 * k + 1]; ++b) {
            for (int32_t place = 0; place < 4 * SR_BATCH_LANES; ++place) {
                int32_t node = rest->blocks[b].places[place % 4][place / 4] / SR_ROW_FLOATS;
                next = node < next ? node : next;
            }
        }
        rest->evenStarts[k] = k > 0 ? next : 0;
    }
}

srResult srCreateFleshRest(const srFleshShape* shape, srFleshRest* outRest) {
    *outRest = (srFleshRest){0};
    SR_TRY(checkShape(shape));
    srFleshRest rest = {.nodeCount = shape->nodeCount};
    srResult result = srCreateBatches(shape->cellCount > 0 ? shape->cells[0] : NULL, 4, shape->cellCount,
                                      shape->nodeCount, &rest.batches);
    if (result == sr_success) {
        result = allocateRest(shape, &rest);
    }
    if (result == sr_success) {
        rest.rowCount = shape->nodeCount + rest.batches.chunkCount;
        memcpy(rest.holds, shape->holds, (size_t)shape->nodeCount * sizeof(float));
        memcpy(rest.boneDistances, shape->boneDistances, (size_t)shape->nodeCount * sizeof(float));
        fillBlocks(shape, &rest);
        findEvenStarts(&rest);
        result = srCreateFleshPatches(shape, &rest, &rest.patches);
    }
    if (result == sr_success) {
        result = createTies(shape, &rest);
    }
    if (result == sr_success) {
        result = srCreateFleshPieces(shape, &rest.pieces);
    }
    if (result == sr_success && shape->handleCount > 0) {
        result = srCreateCoarseRest(shape, &rest.coarse);
    }
    if (result == sr_success && rest.coarse != NULL) {
        result = srCreateCoarseRegions(&rest, rest.coarse);
    }
    if (result != sr_success) {
        srDestroyFleshRest(&rest);
        return result;
    }
    *outRest = rest;
    return sr_success;
}

void srDestroyFleshRest(srFleshRest* rest) {
    srDestroyCoarseRest(rest->coarse);
    srDestroyFleshPatches(rest->patches);
    srDestroyFleshPieces(&rest->pieces, rest->nodeCount);
    srFree(rest->ties, (size_t)rest->tieChunks.constraintCount, sizeof(*rest->ties));
    srDestroyChunks(&rest->tieChunks);
    SR_FREE(rest->nodeVolumes, rest->nodeCount);
    SR_FREE(rest->holds, rest->nodeCount);
    SR_FREE(rest->boneDistances, rest->nodeCount);
    SR_FREE(rest->evenStarts, rest->evenStarts != NULL ? evenStartCount(rest) : 0);
    SR_FREE(rest->blocks, rest->batches.batchCount);
    SR_FREE(rest->volumes, rest->batches.batchCount);
    SR_FREE(rest->fibres, rest->batches.batchCount);
    srDestroyBatches(&rest->batches);
    *rest = (srFleshRest){0};
}
