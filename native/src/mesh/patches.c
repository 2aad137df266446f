// SPDX-License-Identifier: GPL-3.0-or-later
//
// The way from a soup to patches: weld, drop doubles, pair the sides of edges, walk.

#include "mesh/patches.h"

#include "core/alloc.h"
#include "core/roots.h"
#include "mesh/weld.h"

#include <math.h>

// Triangles between two looks at the progress
#define BATCH_SIZE (1 << 15)

// Patches of a block and between two looks, when they are measured
#define BLOCK_SIZE 256
#define PATCH_BATCH (1 << 14)

// Up to so many triangles at an edge it is asked whether those of one patch cancel each other there.
#define FEW_SIDES 32

typedef struct Walk {
    const srWelded* welded;
    srPatches* patches;
    int32_t* queue;   // triangles in the order of the walk
    int32_t* patchOf; // by welded triangle
    uint8_t* isFlipped;
} Walk;

static void startSide(const Walk* walk, int32_t side, int32_t* outFrom, int32_t* outTo) {
    const int32_t* corners = walk->welded->triangles[side / 3];
    int32_t a = corners[side % 3], b = corners[(side + 1) % 3];
    bool isFlipped = walk->isFlipped[side / 3] != 0;
    *outFrom = isFlipped ? b : a;
    *outTo = isFlipped ? a : b;
}

// Neighbours face the same way when they run along their edge in opposite directions.
static int32_t visitNeighbour(Walk* walk, int32_t side, int32_t patch, int32_t end) {
    int32_t mate = walk->welded->mates[side];
    if (mate < 0) {
        return end;
    }
    int32_t other = mate / 3;
    bool isAlike = walk->welded->triangles[side / 3][side % 3] == walk->welded->triangles[other][mate % 3];
    uint8_t flip = walk->isFlipped[side / 3] ^ (uint8_t)isAlike;
    if (walk->patchOf[other] == SR_NULL_INDEX) {
        walk->patchOf[other] = patch;
        walk->isFlipped[other] = flip;
        walk->queue[end++] = other;
    } else if (walk->isFlipped[other] != flip) {
        // the walk came round a strip with one side only: cut here
        walk->welded->mates[side] = SR_SIDE_SHARED;
        walk->welded->mates[mate] = SR_SIDE_SHARED;
        walk->patches->oneSidedEdgeCount++;
    }
    return end;
}

// Most triangles shall stay as they were given.
static void settleFlips(Walk* walk, int32_t begin, int32_t end) {
    int32_t flippedCount = 0, count = end - begin;
    for (int32_t i = begin; i < end; i++) {
        flippedCount += walk->isFlipped[walk->queue[i]];
    }
    bool isMost = 2 * (int64_t)flippedCount > count;
    for (int32_t i = begin; isMost && i < end; i++) {
        walk->isFlipped[walk->queue[i]] ^= 1;
    }
    walk->patches->flippedTriangleCount += isMost ? count - flippedCount : flippedCount;
}

static srResult addPatch(srPatches* patches, int32_t begin, int32_t end) {
    if (patches->patchCount == patches->patchCapacity) {
        int32_t capacity = patches->patchCapacity + patches->patchCapacity / 2 + 16;
        srPatch* larger =
            srRealloc(patches->patches, (size_t)patches->patchCapacity, (size_t)capacity, sizeof(srPatch));
        if (larger == NULL) {
            return srFailOutOfMemory("the patches of the surface");
        }
        patches->patches = larger;
        patches->patchCapacity = capacity;
    }
    patches->patches[patches->patchCount++] = (srPatch){.firstTriangle = begin, .triangleCount = end - begin};
    return sr_success;
}

static srResult walkPatches(Walk* walk, const srProgress* progress) {
    int32_t count = walk->welded->triangleCount, end = 0, looked = 0;
    for (int32_t t = 0; t < count; t++) {
        walk->patchOf[t] = SR_NULL_INDEX;
        walk->isFlipped[t] = 0;
    }
    for (int32_t seed = 0; seed < count; seed++) {
        if (walk->patchOf[seed] != SR_NULL_INDEX) {
            continue;
        }
        int32_t begin = end;
        walk->patchOf[seed] = walk->patches->patchCount;
        walk->queue[end++] = seed;
        for (int32_t at = begin; at < end; at++) {
            for (int side = 0; side < 3; side++) {
                end = visitNeighbour(walk, 3 * walk->queue[at] + side, walk->patches->patchCount, end);
            }
            if (at - looked >= BATCH_SIZE) {
                looked = at;
                SR_TRY(srReportProgress(progress, (double)at / count));
            }
        }
        settleFlips(walk, begin, end);
        SR_TRY(addPatch(walk->patches, begin, end));
    }
    return sr_success;
}

static void storeTriangles(const Walk* walk) {
    for (int32_t i = 0; i < walk->welded->triangleCount; i++) {
        const int32_t* corners = walk->welded->triangles[walk->queue[i]];
        int32_t* out = walk->patches->triangles[i];
        bool isFlipped = walk->isFlipped[walk->queue[i]] != 0;
        walk->patches->sources[i] = walk->welded->sources[walk->queue[i]];
        out[0] = corners[0];
        out[1] = corners[isFlipped ? 2 : 1];
        out[2] = corners[isFlipped ? 1 : 2];
    }
}

// Patches hang together by the surface's own indices, or have parts that do.
static srResult nameParts(const srSurface* surface, srPatches* patches) {
    int32_t* roots = SR_ALLOC(int32_t, surface->pointCount);
    if (roots == NULL) {
        return srFailOutOfMemory("the patches of the surface");
    }
    srClearRoots(roots, surface->pointCount);
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        int32_t first = surface->triangles[patches->sources[patch->firstTriangle]][0];
        for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount; t++) {
            for (int c = 0; c < 3; c++) {
                srJoinRoots(roots, first, surface->triangles[patches->sources[t]][c]);
            }
        }
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        srPatch* patch = &patches->patches[p];
        patch->part = srFindRoot(roots, surface->triangles[patches->sources[patch->firstTriangle]][0]);
    }
    SR_FREE(roots, surface->pointCount);
    return sr_success;
}

// Whether a patch runs along an edge of many triangles as often one way as the other: nothing ends there.
static bool cancels(const Walk* walk, int32_t side) {
    int32_t firstItem, itemCount, balance = 0, from, to;
    const srKeyed* sides = srFindSides(walk->welded, side, FEW_SIDES + 1, &firstItem, &itemCount);
    if (itemCount > FEW_SIDES) {
        return false;
    }
    int32_t reference;
    startSide(walk, side, &reference, &to);
    for (int32_t i = firstItem; i < firstItem + itemCount; i++) {
        if (walk->patchOf[sides[i].value / 3] == walk->patchOf[side / 3]) {
            startSide(walk, sides[i].value, &from, &to);
            balance += from == reference ? 1 : -1;
        }
    }
    return balance == 0;
}

static void addBorders(const Walk* walk, int32_t patchIndex) {
    srPatches* patches = walk->patches;
    srPatch* patch = &patches->patches[patchIndex];
    patch->firstBorder = patches->borderCount;
    for (int32_t i = patch->firstTriangle; i < patch->firstTriangle + patch->triangleCount; i++) {
        for (int32_t side = 3 * walk->queue[i]; side < 3 * walk->queue[i] + 3; side++) {
            int32_t mate = walk->welded->mates[side];
            if (mate >= 0 || (mate == SR_SIDE_SHARED && cancels(walk, side))) {
                continue;
            }
            srBorderEdge* edge = &patches->borders[patches->borderCount++];
            *edge = (srBorderEdge){.isOpen = mate == SR_SIDE_ALONE};
            startSide(walk, side, &edge->from, &edge->to);
        }
    }
    patch->borderCount = patches->borderCount - patch->firstBorder;
    patch->openCount = patch->borderCount;
}

static int32_t countLooseSides(const srWelded* welded) {
    int32_t count = 0;
    for (int32_t side = 0; side < 3 * welded->triangleCount; side++) {
        count += welded->mates[side] < 0;
    }
    return count;
}

// Borders, caps and places for the caps' middles (a cap has three borders at least).
static srResult makeRoom(const srSurface* surface, const srWelded* welded, srPatches* patches) {
    patches->borderCapacity = countLooseSides(welded) + 1;
    patches->pointCount = surface->pointCount;
    patches->pointCapacity = surface->pointCount + patches->borderCapacity / 3 + 1;
    patches->borders = SR_ALLOC(srBorderEdge, patches->borderCapacity);
    patches->caps = srAlloc((size_t)patches->borderCapacity, sizeof(patches->caps[0]));
    patches->points = SR_ALLOC(srVec3, patches->pointCapacity);
    if (patches->borders == NULL || patches->caps == NULL || patches->points == NULL) {
        return srFailOutOfMemory("the patches of the surface");
    }
    for (int32_t v = 0; v < surface->pointCount; v++) {
        patches->points[v] = surface->points[v];
    }
    return sr_success;
}

static srVec3 doubleAreaVector(const srVec3* points, const int32_t corners[3]) {
    srVec3 a = points[corners[0]];
    return srCross(srSub(points[corners[1]], a), srSub(points[corners[2]], a));
}

static srVec3 centroid(const srVec3* points, const int32_t corners[3]) {
    srVec3 sum = srAdd(points[corners[0]], points[corners[1]]);
    return srScale(1.0 / 3.0, srAdd(sum, points[corners[2]]));
}

static double volumeFrom(srVec3 apex, const srVec3* points, const int32_t corners[3]) {
    return srDot(srSub(centroid(points, corners), apex), doubleAreaVector(points, corners)) / 6.0;
}

void srMeasurePatch(srPatches* patches, int32_t index) {
    srPatch* patch = &patches->patches[index];
    const int32_t (*triangles)[3] = (const int32_t (*)[3])patches->triangles + patch->firstTriangle;
    const int32_t (*caps)[3] = (const int32_t (*)[3])patches->caps + patch->firstCap;
    const srVec3* points = patches->points;
    srVec3 first = points[triangles[0][0]], weighted = {0};
    patch->area = 0.0;
    for (int32_t t = 0; t < patch->triangleCount; t++) {
        double area = 0.5 * srLength(doubleAreaVector(points, triangles[t]));
        weighted = srMulAdd(weighted, area, srSub(centroid(points, triangles[t]), first));
        patch->area += area;
    }
    patch->center = srMulAdd(first, 1.0 / patch->area, weighted);
    patch->volume = 0.0;
    for (int32_t t = 0; t < patch->triangleCount; t++) {
        patch->volume += volumeFrom(patch->center, points, triangles[t]);
    }
    for (int32_t c = 0; c < patch->capCount; c++) {
        patch->volume += volumeFrom(patch->center, points, caps[c]);
    }
}

static void measurePatches(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t p = begin; p < end; p++) {
        srMeasurePatch(context, p);
    }
}

void srTurnPatch(srPatches* patches, int32_t index) {
    srPatch* patch = &patches->patches[index];
    for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount; t++) {
        int32_t* corners = patches->triangles[t];
        int32_t swap = corners[1];
        corners[1] = corners[2];
        corners[2] = swap;
    }
    for (int32_t c = patch->firstCap; c < patch->firstCap + patch->capCount; c++) {
        int32_t* corners = patches->caps[c];
        int32_t swap = corners[1];
        corners[1] = corners[2];
        corners[2] = swap;
    }
    for (int32_t e = patch->firstBorder; e < patch->firstBorder + patch->borderCount; e++) {
        srBorderEdge* edge = &patches->borders[e];
        int32_t swap = edge->from;
        edge->from = edge->to;
        edge->to = swap;
    }
    patch->volume = -patch->volume;
    patch->isTurned = !patch->isTurned;
}

static srResult makePatches(const srSurface* surface, srWelded* welded, srPatches* patches,
                            const srProgress* progress) {
    srResult result = sr_success;
    int32_t count = welded->triangleCount;
    Walk walk = {.welded = welded, .patches = patches};
    srProgress walking = srPartOfProgress(progress, 0.0, 0.6),
               measuring = srPartOfProgress(progress, 0.8, 1.0);
    walk.queue = SR_ALLOC(int32_t, count);
    walk.patchOf = SR_ALLOC(int32_t, count);
    walk.isFlipped = SR_ALLOC(uint8_t, count);
    patches->triangleCount = count;
    patches->triangleCapacity = count;
    patches->triangles = srAlloc((size_t)count, sizeof(patches->triangles[0]));
    patches->sources = SR_ALLOC(int32_t, count);
    if (walk.queue == NULL || walk.patchOf == NULL || walk.isFlipped == NULL || patches->triangles == NULL ||
        patches->sources == NULL) {
        result = srFailOutOfMemory("the patches of the surface");
        goto cleanup;
    }
    SR_TRY_CLEANUP(walkPatches(&walk, &walking));
    SR_TRY_CLEANUP(makeRoom(surface, welded, patches));
    storeTriangles(&walk);
    SR_TRY_CLEANUP(nameParts(surface, patches));
    SR_TRY_CLEANUP(srReportProgress(progress, 0.7));
    for (int32_t p = 0; p < patches->patchCount; p++) {
        addBorders(&walk, p);
    }
    SR_TRY_CLEANUP(srParallelForWithProgress(measurePatches, patches->patchCount, BLOCK_SIZE, PATCH_BATCH,
                                             patches, &measuring));

cleanup:
    SR_FREE(walk.queue, count);
    SR_FREE(walk.patchOf, count);
    SR_FREE(walk.isFlipped, count);
    return result;
}

srResult srCreatePatches(const srSurface* surface, const srProgress* progress, srPatches* outPatches) {
    srResult result = sr_success;
    srWelded welded = {0};
    srPatches patches = {.size = surface->size};
    srProgress welding = srPartOfProgress(progress, 0.0, 0.7);
    srProgress walking = srPartOfProgress(progress, 0.7, 1.0);
    SR_TRY_CLEANUP(srWeldSurface(surface, &welding, &welded));
    patches.weldedCount = welded.weldedCount;
    patches.duplicateCount = welded.duplicateCount;
    patches.flatCount = welded.flatCount;
    SR_TRY_CLEANUP(makePatches(surface, &welded, &patches, &walking));
    patches.places = welded.places;
    patches.surfacePointCount = welded.pointCount;
    welded.places = NULL;
    *outPatches = patches;

cleanup:
    srDestroyWelded(&welded);
    if (result != sr_success) {
        srDestroyPatches(&patches);
    }
    return result;
}

void srDestroyPatches(srPatches* patches) {
    SR_FREE(patches->points, patches->pointCapacity);
    SR_FREE(patches->places, patches->surfacePointCount);
    srFree(patches->triangles, (size_t)patches->triangleCapacity, sizeof(patches->triangles[0]));
    SR_FREE(patches->sources, patches->triangleCapacity);
    SR_FREE(patches->patches, patches->patchCapacity);
    SR_FREE(patches->borders, patches->borderCapacity);
    srFree(patches->caps, (size_t)patches->borderCapacity, sizeof(patches->caps[0]));
    *patches = (srPatches){0};
}
