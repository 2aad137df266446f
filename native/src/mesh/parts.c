// SPDX-License-Identifier: GPL-3.0-or-later
//
// Union and find over indices; then a look at every place where triangles lie on each other.

#include "mesh/parts.h"

#include "core/alloc.h"
#include "core/roots.h"

// Encloses something: the triangles' areas cancel but for this share. One triangle has all, half a ball half.
#define OPEN_SHARE 0.1

// More triangles than that on the same corners are no contact of bodies.
#define MOST_BODIES 16

static void joinTriangles(const srSurface* surface, int32_t* roots) {
    srClearRoots(roots, surface->pointCount);
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        srJoinRoots(roots, surface->triangles[t][0], surface->triangles[t][1]);
        srJoinRoots(roots, surface->triangles[t][0], surface->triangles[t][2]);
    }
}

// Roots to numbers, in the order of the points; returns how many there are.
static int32_t numberParts(int32_t* roots, int32_t pointCount, int32_t* numbers) {
    int32_t count = 0;
    for (int32_t v = 0; v < pointCount; v++) {
        numbers[v] = SR_NULL_INDEX;
    }
    for (int32_t v = 0; v < pointCount; v++) {
        int32_t* number = &numbers[srFindRoot(roots, v)];
        *number = *number == SR_NULL_INDEX ? count++ : *number;
    }
    for (int32_t v = pointCount - 1; v >= 0; v--) { // roots are the lowest
        roots[v] = numbers[srFindRoot(roots, v)];
    }
    return count;
}

static void measureParts(const srSurface* surface, srParts* parts) {
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srPart* part = &parts->parts[srPartOf(parts, surface, t)];
        srVec3 a = surface->points[c[0]];
        srVec3 n = srCross(srSub(surface->points[c[1]], a), srSub(surface->points[c[2]], a));
        part->areaVector = srAdd(part->areaVector, n);
        part->area += srLength(n);
    }
    for (int32_t p = 0; p < parts->partCount; p++) {
        srPart* part = &parts->parts[p];
        part->twin = SR_NULL_INDEX;
        part->isWhole = srLength(part->areaVector) <= OPEN_SHARE * part->area;
    }
}

srResult srCreateParts(const srSurface* surface, srParts* outParts) {
    srParts parts = {.pointCount = surface->pointCount};
    int32_t* roots = SR_ALLOC(int32_t, surface->pointCount);
    parts.numbers = SR_ALLOC(int32_t, surface->pointCount);
    if (roots != NULL && parts.numbers != NULL) {
        joinTriangles(surface, roots);
        parts.partCount = numberParts(roots, surface->pointCount, parts.numbers);
        parts.parts = SR_ALLOC_ZERO(srPart, parts.partCount);
    }
    if (parts.parts == NULL) {
        SR_FREE(roots, surface->pointCount);
        srDestroyParts(&parts);
        return srFailOutOfMemory("the parts of the surface");
    }
    SR_FREE(parts.numbers, surface->pointCount);
    parts.numbers = roots; // which hold them now
    measureParts(surface, &parts);
    *outParts = parts;
    return sr_success;
}

// What triangles that lie on each other tell of the part of one of them.
static void lookAtRun(const srSurface* surface, const srKeyed* items, int32_t count, int32_t which,
                      srParts* parts) {
    int32_t own = srPartOf(parts, surface, items[which].value), lowest = own;
    srPart* part = &parts->parts[own];
    bool isWithTwin = false;
    part->triangleCount++;
    part->hasDoubles = part->hasDoubles || count > MOST_BODIES;
    for (int32_t i = 0; i < count && count <= MOST_BODIES; i++) {
        int32_t other = srPartOf(parts, surface, items[i].value);
        part->hasDoubles = part->hasDoubles || (i != which && other == own);
        lowest = other < lowest ? other : lowest;
        isWithTwin = isWithTwin || (other == part->twin && other != own);
    }
    if (part->twin == SR_NULL_INDEX && lowest < own) {
        part->twin = lowest;
        isWithTwin = true;
    }
    part->twinCount += isWithTwin;
}

void srJudgeParts(const srSurface* surface, const srBuckets* runs, srParts* parts) {
    for (int32_t b = 0; b < runs->bucketCount; b++) {
        for (int32_t i = runs->starts[b], end = i; i < runs->starts[b + 1]; i = end) {
            end = srEndOfRun(runs, b, i);
            for (int32_t which = 0; which < end - i; which++) {
                lookAtRun(surface, &runs->items[i], end - i, which, parts);
            }
        }
    }
    for (int32_t p = 0; p < parts->partCount; p++) {
        srPart* part = &parts->parts[p];
        bool isCopy = part->twinCount == part->triangleCount;
        part->isWhole = part->isWhole && !part->hasDoubles && !isCopy;
    }
}

void srDestroyParts(srParts* parts) {
    SR_FREE(parts->numbers, parts->pointCount);
    SR_FREE(parts->parts, parts->partCount);
    *parts = (srParts){0};
}
