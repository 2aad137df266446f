// SPDX-License-Identifier: GPL-3.0-or-later
//
// Taking over the artist's triangles: copy, leave out what has no area or no place, count what is odd.

#include "mesh/surface.h"

#include "core/alloc.h"
#include "mesh/buckets.h"

#include <string.h>

// A triangle is flat when its height is below this share of its longest side: rounding of float points alone
// gives more.
#define FLAT_SHARE 1e-10

// Sides of triangles that a worker takes at once
#define BLOCK_SIZE 8192

static bool isFinitePoint(srVec3 p) {
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

static srResult checkIndices(int32_t pointCount, const int32_t* corners, int32_t triangleCount) {
    for (int32_t c = 0; c < 3 * triangleCount; c++) {
        if (corners[c] < 0 || corners[c] >= pointCount) {
            return srFail(sr_errorBadMesh, "Triangle %d names vertex %d, but there are %d vertices.", c / 3,
                          corners[c], pointCount);
        }
    }
    return sr_success;
}

static bool isDegenerate(const srVec3* points, const int32_t corners[3]) {
    srVec3 ab = srSub(points[corners[1]], points[corners[0]]);
    srVec3 ac = srSub(points[corners[2]], points[corners[0]]);
    srVec3 bc = srSub(ac, ab);
    double longest = fmax(srDot(ab, ab), fmax(srDot(ac, ac), srDot(bc, bc)));
    return !(srLength(srCross(ab, ac)) > FLAT_SHARE * longest);
}

static void copyPoints(const float* points, srSurface* surface, srSurfaceReport* report) {
    for (int32_t v = 0; v < surface->pointCount; v++) {
        const float* x = points + 3 * (size_t)v;
        surface->points[v] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
        report->nonFinitePointCount += !isFinitePoint(surface->points[v]);
    }
}

static void keepTriangles(const int32_t* corners, int32_t triangleCount, srSurface* surface,
                          srSurfaceReport* report) {
    const srVec3* points = surface->points;
    for (int32_t t = 0; t < triangleCount; t++) {
        const int32_t* triangle = &corners[3 * t];
        if (!isFinitePoint(points[triangle[0]]) || !isFinitePoint(points[triangle[1]]) ||
            !isFinitePoint(points[triangle[2]])) {
            continue;
        }
        if (isDegenerate(points, triangle)) {
            report->degenerateCount++;
            continue;
        }
        memcpy(surface->triangles[surface->triangleCount++], triangle, 3 * sizeof(int32_t));
    }
}

static void measureBounds(srSurface* surface) {
    surface->lower = surface->points[surface->triangles[0][0]];
    surface->upper = surface->lower;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        for (int corner = 0; corner < 3; corner++) {
            srVec3 p = surface->points[surface->triangles[t][corner]];
            surface->lower = srMin(surface->lower, p);
            surface->upper = srMax(surface->upper, p);
        }
    }
    surface->size = srDistance(surface->lower, surface->upper);
}

typedef struct Edges {
    const srSurface* surface;
    int32_t* lower; // by side of a triangle: the lower end of its edge
    uint64_t* higher;
} Edges;

static void keySides(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Edges* edges = context;
    for (int32_t side = begin; side < end; side++) {
        const int32_t* triangle = edges->surface->triangles[side / 3];
        int32_t a = triangle[side % 3], b = triangle[(side + 1) % 3];
        edges->lower[side] = a < b ? a : b;
        edges->higher[side] = (uint64_t)(uint32_t)(a < b ? b : a);
    }
}

static srResult countEdges(const srSurface* surface, srSurfaceReport* report) {
    const srProgress nobody = {0};
    srResult result = sr_success;
    srBuckets buckets = {0};
    int32_t sideCount = 3 * surface->triangleCount;
    Edges edges = {surface, SR_ALLOC(int32_t, sideCount), SR_ALLOC(uint64_t, sideCount)};
    if (edges.lower == NULL || edges.higher == NULL) {
        result = srFailOutOfMemory("the edges of the surface");
        goto cleanup;
    }
    srParallelFor(keySides, sideCount, BLOCK_SIZE, &edges);
    SR_TRY_CLEANUP(
        srSortIntoBuckets(edges.lower, edges.higher, sideCount, surface->pointCount, &nobody, &buckets));
    for (int32_t v = 0; v < surface->pointCount; v++) {
        for (int32_t begin = buckets.starts[v], end = begin; begin < buckets.starts[v + 1]; begin = end) {
            end = srEndOfRun(&buckets, v, begin);
            report->borderEdgeCount += end - begin == 1;
            report->nonManifoldEdgeCount += end - begin > 2;
        }
    }

cleanup:
    SR_FREE(edges.lower, sideCount);
    SR_FREE(edges.higher, sideCount);
    srDestroyBuckets(&buckets);
    return result;
}

static srResult countIsolated(const srSurface* surface, srSurfaceReport* report) {
    uint8_t* isUsed = SR_ALLOC_ZERO(uint8_t, surface->pointCount);
    if (isUsed == NULL) {
        return srFailOutOfMemory("the points of the surface");
    }
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        for (int corner = 0; corner < 3; corner++) {
            isUsed[surface->triangles[t][corner]] = 1;
        }
    }
    for (int32_t v = 0; v < surface->pointCount; v++) {
        report->isolatedPointCount += !isUsed[v] && isFinitePoint(surface->points[v]);
    }
    SR_FREE(isUsed, surface->pointCount);
    return sr_success;
}

// Triangles that are left out leave their room at the end of the array; it is given back here.
static srResult shrinkTriangles(srSurface* surface, int32_t capacity) {
    if (surface->triangleCount == capacity) {
        return sr_success;
    }
    int32_t (*smaller)[3] = srRealloc(surface->triangles, (size_t)capacity, (size_t)surface->triangleCount,
                                      sizeof(surface->triangles[0]));
    if (smaller == NULL) {
        return srFailOutOfMemory("the surface");
    }
    surface->triangles = smaller;
    return sr_success;
}

srResult srCreateSurface(const float* points, int32_t pointCount, const int32_t* triangleCorners,
                         int32_t triangleCount, srSurface* outSurface, srSurfaceReport* outReport) {
    if (pointCount < 1 || triangleCount < 1) {
        return srFail(sr_errorBadMesh, "The mesh has no triangle.");
    }
    if (triangleCount > INT32_MAX / 6) {
        return srFail(sr_errorTooLarge, "The mesh has more triangles than can be counted (%d).",
                      triangleCount);
    }
    SR_TRY(checkIndices(pointCount, triangleCorners, triangleCount));

    srResult result = sr_success;
    int32_t capacity = triangleCount;
    srSurfaceReport report = {0};
    srSurface surface = {.pointCount = pointCount};
    surface.points = SR_ALLOC(srVec3, pointCount);
    surface.triangles = srAlloc((size_t)triangleCount, sizeof(surface.triangles[0]));
    if (surface.points == NULL || surface.triangles == NULL) {
        result = srFailOutOfMemory("the surface");
        goto cleanup;
    }
    copyPoints(points, &surface, &report);
    keepTriangles(triangleCorners, triangleCount, &surface, &report);
    if (surface.triangleCount == 0) {
        result = srFail(sr_errorBadMesh, "None of the mesh's %d triangles has an area and finite corners.",
                        triangleCount);
        goto cleanup;
    }
    SR_TRY_CLEANUP(shrinkTriangles(&surface, capacity));
    capacity = surface.triangleCount;
    measureBounds(&surface);
    SR_TRY_CLEANUP(countEdges(&surface, &report));
    SR_TRY_CLEANUP(countIsolated(&surface, &report));
    *outSurface = surface;
    *outReport = report;

cleanup:
    if (result != sr_success) {
        SR_FREE(surface.points, pointCount);
        SR_FREE(surface.triangles, capacity);
    }
    return result;
}

void srDestroySurface(srSurface* surface) {
    SR_FREE(surface->points, surface->pointCount);
    SR_FREE(surface->triangles, surface->triangleCount);
    *surface = (srSurface){0};
}
