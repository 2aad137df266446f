// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which cells turn together: those of which the same handle has most; of handles that have as much, the first
// (docs/decisions/0056). A patch goes with its first cell.

#include "core/alloc.h"
#include "solver/coarse.h"
#include "solver/patches.h"

#include <string.h>

// of a handle's weight: by so little two differ that have as much of a cell
#define SAME_WEIGHT 1e-4

static void tallyNode(const srCoarseRest* coarse, int32_t node, double* weights) {
    for (int32_t e = coarse->starts[node]; e < coarse->starts[node + 1]; ++e) {
        weights[coarse->entries[e].handle] += (double)coarse->entries[e].weight;
    }
}

static void addHandles(srCoarseRegion* region, const double* weights, int32_t handleCount) {
    for (int32_t j = 0; j < handleCount; ++j) {
        int32_t place = region->handleCount;
        while (place > 0 && region->handles[place - 1] > j) {
            --place;
        }
        bool isKnown = place > 0 && region->handles[place - 1] == j;
        if (weights[j] > 0.0 && !isKnown && region->handleCount < SR_MOST_LOCAL) {
            memmove(region->handles + place + 1, region->handles + place,
                    (size_t)(region->handleCount - place) * sizeof(int32_t));
            region->handles[place] = j;
            ++region->handleCount;
        }
    }
}

// Every `sampleStride`th cell's corners. When there is no more room every other sample goes: they stay spread
// over the region, however its cells are ordered.
static void takeSample(srCoarseRegion* region, const int32_t nodes[4]) {
    if (region->cellCount++ % region->sampleStride != 0) {
        return;
    }
    if (region->sampleCount == SR_MOST_SAMPLES) {
        region->sampleCount /= 2;
        region->sampleStride *= 2;
        for (int32_t k = 4; k < region->sampleCount; ++k) {
            region->samples[k] = region->samples[k + k / 4 * 4];
        }
        if ((region->cellCount - 1) % region->sampleStride != 0) {
            return;
        }
    }
    memcpy(region->samples + region->sampleCount, nodes, 4 * sizeof(int32_t));
    region->sampleCount += 4;
}

static void enterCell(const srFleshRest* rest, srCoarseRest* coarse, int32_t b, int lane, double* weights) {
    if (!(rest->volumes[b].V[lane] > 0.0f)) {
        return;
    }
    memset(weights, 0, (size_t)coarse->handleCount * sizeof(double));
    int32_t nodes[4];
    for (int c = 0; c < 4; ++c) {
        nodes[c] = rest->blocks[b].places[c][lane] / SR_ROW_FLOATS;
        tallyNode(coarse, nodes[c], weights);
    }
    double most = 0.0;
    for (int32_t j = 0; j < coarse->handleCount; ++j) {
        most = weights[j] > most ? weights[j] : most;
    }
    int32_t largest = 0;
    while (weights[largest] < (1.0 - SAME_WEIGHT) * most) {
        ++largest;
    }
    coarse->cellRegions[SR_LANES_PER_BLOCK * b + lane] = largest;
    srCoarseRegion* region = &coarse->regions[largest];
    addHandles(region, weights, coarse->handleCount);
    takeSample(region, nodes);
}

static void enterPatch(const srFleshRest* rest, srCoarseRest* coarse, int32_t p, double* weights) {
    const srPatch* patch = &rest->patches->patches[p];
    if (patch->batches[0] != SR_NULL_INDEX) {
        coarse->patchRegions[p] =
            coarse->cellRegions[SR_LANES_PER_BLOCK * patch->batches[0] + patch->lanes[0]];
    }
    memset(weights, 0, (size_t)coarse->handleCount * sizeof(double));
    for (int32_t k = 0; k < patch->nodeCount; ++k) {
        tallyNode(coarse, patch->nodes[k], weights);
    }
    addHandles(&coarse->regions[coarse->patchRegions[p]], weights, coarse->handleCount);
}

static void enterAll(const srFleshRest* rest, srCoarseRest* coarse, double* weights) {
    for (int32_t r = 0; r < coarse->handleCount; ++r) {
        coarse->regions[r].sampleStride = 1;
    }
    for (int32_t k = 0; k < coarse->laneCount; ++k) {
        enterCell(rest, coarse, k / SR_LANES_PER_BLOCK, k % SR_LANES_PER_BLOCK, weights);
    }
    for (int32_t p = 0; p < coarse->patchCount; ++p) {
        enterPatch(rest, coarse, p, weights);
    }
    for (int32_t r = 0; r < coarse->handleCount; ++r) {
        size_t handleCount = (size_t)coarse->regions[r].handleCount;
        coarse->regions[r].firstBlock = coarse->blockFloatCount;
        coarse->blockFloatCount += SR_HANDLE_ROWS * SR_HANDLE_ROWS * handleCount * (handleCount + 1) / 2;
    }
}

srResult srCreateCoarseRegions(const srFleshRest* rest, srCoarseRest* coarse) {
    if (coarse->handleCount == 0) {
        return sr_success;
    }
    coarse->laneCount = SR_LANES_PER_BLOCK * rest->batches.batchCount;
    coarse->patchCount = rest->patches != NULL ? rest->patches->patchCount : 0;
    coarse->regions = SR_ALLOC_ZERO(srCoarseRegion, coarse->handleCapacity);
    coarse->cellRegions = SR_ALLOC_ZERO(int32_t, coarse->laneCount);
    coarse->patchRegions = SR_ALLOC_ZERO(int32_t, coarse->patchCount);
    double* weights = SR_ALLOC_ZERO(double, coarse->handleCount);
    bool isComplete = coarse->regions != NULL && (coarse->cellRegions != NULL || coarse->laneCount == 0) &&
                      (coarse->patchRegions != NULL || coarse->patchCount == 0) && weights != NULL;
    if (isComplete) {
        enterAll(rest, coarse, weights);
    }
    SR_FREE(weights, coarse->handleCount);
    return isComplete ? sr_success : srFailOutOfMemory("the coarse correction");
}
