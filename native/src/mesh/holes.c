// SPDX-License-Identifier: GPL-3.0-or-later
//
// Running along borders from corner to corner, patch by patch.

#include "mesh/holes.h"

#include "core/alloc.h"

#include <math.h>

// Borders between two looks at the progress
#define BATCH_SIZE (1 << 16)

typedef struct Tracing {
    srPatches* patches;
    double largest;
    int32_t* firstFrom; // by point: the first open border that starts there and was not run along
    int32_t* nextFrom;  // by border: the next one that starts where it does
    int32_t* loop;      // borders of the run
    int32_t loopCount;
    int32_t closedCount;
    int32_t openCount;
} Tracing;

static void listBorders(Tracing* tracing, const srPatch* patch) {
    const srPatches* patches = tracing->patches;
    for (int32_t e = patch->firstBorder + patch->borderCount - 1; e >= patch->firstBorder; e--) {
        if (patches->borders[e].isOpen) {
            tracing->nextFrom[e] = tracing->firstFrom[patches->borders[e].from];
            tracing->firstFrom[patches->borders[e].from] = e;
        }
    }
}

// Runs along borders until it is back where it began; false when it ends somewhere else.
static bool traceLoop(Tracing* tracing, int32_t start) {
    const srBorderEdge* borders = tracing->patches->borders;
    int32_t at = start;
    tracing->loopCount = 0;
    do {
        int32_t edge = tracing->firstFrom[at];
        if (edge == SR_NULL_INDEX) {
            return false;
        }
        tracing->firstFrom[at] = tracing->nextFrom[edge];
        tracing->loop[tracing->loopCount++] = edge;
        at = borders[edge].to;
    } while (at != start);
    return tracing->loopCount >= 3;
}

static srVec3 middleOfLoop(const Tracing* tracing, double* outDiagonal) {
    const srPatches* patches = tracing->patches;
    srVec3 first = patches->points[patches->borders[tracing->loop[0]].from];
    srVec3 lower = first, upper = first, weighted = {0};
    double length = 0.0;
    for (int32_t i = 0; i < tracing->loopCount; i++) {
        const srBorderEdge* edge = &patches->borders[tracing->loop[i]];
        srVec3 a = patches->points[edge->from], b = patches->points[edge->to];
        double weight = srDistance(a, b);
        weighted = srMulAdd(weighted, weight, srSub(srScale(0.5, srAdd(a, b)), first));
        length += weight;
        lower = srMin(lower, a);
        upper = srMax(upper, a);
    }
    *outDiagonal = srDistance(lower, upper);
    return srMulAdd(first, 1.0 / length, weighted);
}

static double fanArea(const Tracing* tracing, srVec3 middle) {
    const srPatches* patches = tracing->patches;
    double area = 0.0;
    for (int32_t i = 0; i < tracing->loopCount; i++) {
        const srBorderEdge* edge = &patches->borders[tracing->loop[i]];
        srVec3 a = patches->points[edge->from], b = patches->points[edge->to];
        area += 0.5 * srLength(srCross(srSub(a, middle), srSub(b, middle)));
    }
    return area;
}

// The cap's sides run against the borders, so that it faces as the patch does.
static void addCap(Tracing* tracing, srPatch* patch, srVec3 middle) {
    srPatches* patches = tracing->patches;
    int32_t center = patches->pointCount++;
    patches->points[center] = middle;
    for (int32_t i = 0; i < tracing->loopCount; i++) {
        srBorderEdge* edge = &patches->borders[tracing->loop[i]];
        int32_t* cap = patches->caps[patches->capCount++];
        cap[0] = edge->to;
        cap[1] = edge->from;
        cap[2] = center;
        edge->isClosed = true;
    }
    patch->capCount += tracing->loopCount;
    patch->openCount -= tracing->loopCount;
}

static void closePatch(Tracing* tracing, int32_t index) {
    srPatches* patches = tracing->patches;
    srPatch* patch = &patches->patches[index];
    patch->firstCap = patches->capCount;
    listBorders(tracing, patch);
    for (int32_t e = patch->firstBorder; e < patch->firstBorder + patch->borderCount; e++) {
        int32_t start = patches->borders[e].from;
        while (tracing->firstFrom[start] != SR_NULL_INDEX) {
            double diagonal = HUGE_VAL;
            bool isLoop = traceLoop(tracing, start);
            srVec3 middle = isLoop ? middleOfLoop(tracing, &diagonal) : (srVec3){0};
            bool isHole = isLoop && diagonal <= tracing->largest &&
                          fanArea(tracing, middle) <= SR_LARGEST_CAP * patch->area;
            if (isHole) {
                addCap(tracing, patch, middle);
            }
            tracing->closedCount += isHole;
            tracing->openCount += !isHole;
        }
    }
    if (patch->capCount > 0) {
        srMeasurePatch(patches, index);
    }
}

srResult srCloseHoles(srPatches* patches, double largest, const srProgress* progress, int32_t* outClosedCount,
                      int32_t* outOpenCount) {
    srResult result = sr_success;
    Tracing tracing = {.patches = patches, .largest = largest};
    int32_t looked = 0;
    tracing.firstFrom = SR_ALLOC(int32_t, patches->pointCapacity);
    tracing.nextFrom = SR_ALLOC(int32_t, patches->borderCapacity);
    tracing.loop = SR_ALLOC(int32_t, patches->borderCapacity);
    if (tracing.firstFrom == NULL || tracing.nextFrom == NULL || tracing.loop == NULL) {
        result = srFailOutOfMemory("the holes of the surface");
        goto cleanup;
    }
    for (int32_t v = 0; v < patches->pointCapacity; v++) {
        tracing.firstFrom[v] = SR_NULL_INDEX;
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        if (patches->patches[p].firstBorder - looked >= BATCH_SIZE) {
            looked = patches->patches[p].firstBorder;
            SR_TRY_CLEANUP(srReportProgress(progress, (double)looked / patches->borderCount));
        }
        closePatch(&tracing, p);
    }
    *outClosedCount = tracing.closedCount;
    *outOpenCount = tracing.openCount;

cleanup:
    SR_FREE(tracing.firstFrom, patches->pointCapacity);
    SR_FREE(tracing.nextFrom, patches->borderCapacity);
    SR_FREE(tracing.loop, patches->borderCapacity);
    return result;
}
