// SPDX-License-Identifier: GPL-3.0-or-later
//
// Painted detail is looked up on the skin, wherever one asks: flesh is as fine as the skin above it.

#include "mesh/sizing.h"

#include "mesh/faces.h"

#include <math.h>
#include <string.h>

// Of the whole hull: boxes of the grid along its longest side
#define GRID_COUNT 40

// Nodes of the spine keep that far from the skin and from one another, in lengths.
#define SKIN_GAP 0.6
#define SPINE_GAP 0.5
#define MOST_PER_SEGMENT 1000

// How far behind its skin a hollow is looked for, in sizes of a triangle; halved until it is found.
#define FIRST_DEPTH 0.1
#define MOST_HALVINGS 20

// Regular triangles of edge L on the skin, half as many points; within, a point for each 0.72 L^3, less half
// a layer that belongs to the skin.
double srExpectNodes(double volume, double area, double length) {
    double square = length * length;
    double within = volume - 0.5 * area * length;
    return 1.1547 * area / square + (within > 0.0 ? within / (0.72 * square * length) : 0.0);
}

double srFindLength(double volume, double area, double target, double size) {
    double low = 1e-6 * size, high = size;
    for (int halving = 0; halving < 60; halving++) {
        double middle = sqrt(low * high);
        bool isTooFine = srExpectNodes(volume, area, middle) > target;
        low = isTooFine ? middle : low;
        high = isTooFine ? high : middle;
    }
    return sqrt(low * high);
}

static srResult failMemory(void) {
    return srFailOutOfMemory("the surface of the cage");
}

srResult srCreateSizing(const srSurface* surface, const float* detail, double length, srSizing* outSizing) {
    *outSizing = (srSizing){surface, detail, NULL, length};
    return detail != NULL ? srCreateBvh(surface, &outSizing->tree) : sr_success;
}

void srDestroySizing(srSizing* sizing) {
    srDestroyBvh(sizing->tree);
    *sizing = (srSizing){0};
}

static double detailAt(const srSizing* sizing, srVec3 x) {
    int32_t triangle = SR_NULL_INDEX;
    double sum = 0.0;
    srBvh_DistanceGuessed(sizing->tree, x, &triangle, NULL);
    for (int c = 0; c < 3 && triangle != SR_NULL_INDEX; c++) {
        float painted = sizing->detail[sizing->surface->triangles[triangle][c]];
        // what is not a number is not painted
        sum += painted > 0.0f ? fmin((double)painted, 1.0) : 0.0;
    }
    return sum / 3.0;
}

double srSizing_LengthAt(const srSizing* sizing, srVec3 x) {
    return sizing->detail != NULL ? sizing->length * exp2(-detailAt(sizing, x)) : sizing->length;
}

srResult srSizing_FindFineness(const srSizing* sizing, const srHull* hull, srArena* arena,
                               float** outFineness) {
    *outFineness = NULL;
    if (sizing->detail == NULL) {
        return sr_success;
    }
    *outFineness = SR_PUSH(arena, float, hull->pointCount, "detail");
    if (*outFineness == NULL) {
        return failMemory();
    }
    for (int32_t p = 0; p < hull->pointCount; p++) {
        (*outFineness)[p] = (float)(sizing->length / srSizing_LengthAt(sizing, hull->points[p]));
    }
    return sr_success;
}

double srSizing_ExpectTriangles(const srSizing* sizing, const srHull* hull) {
    double sum = 0.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* n = hull->triangles[t];
        srVec3 a = hull->points[n[0]], b = hull->points[n[1]], c = hull->points[n[2]];
        double length = srSizing_LengthAt(sizing, srScale(1.0 / 3.0, srAdd(a, srAdd(b, c))));
        // a regular triangle has sqrt(3) / 4 of the square of its edge
        sum += srLength(srCross(srSub(b, a), srSub(c, a))) / (0.8660254 * length * length);
    }
    return sum;
}

static void findBounds(const srHull* hull, srVec3* lower, srVec3* upper) {
    *lower = *upper = hull->points[0];
    for (int32_t p = 1; p < hull->pointCount; p++) {
        *lower = srMin(*lower, hull->points[p]);
        *upper = srMax(*upper, hull->points[p]);
    }
}

srResult srSizing_MakeGrid(const srSizing* sizing, const srHull* hull, srArena* arena, srSizeGrid* outGrid) {
    srVec3 lower, upper;
    findBounds(hull, &lower, &upper);
    srVec3 extent = srSub(upper, lower);
    double longest = fmax(extent.x, fmax(extent.y, extent.z));
    double spacing = sizing->detail != NULL ? fmax(longest / GRID_COUNT, 0.25 * sizing->length) : longest;
    srSizeGrid grid = {lower,
                       spacing,
                       {(int32_t)ceil(extent.x / spacing) + 1, (int32_t)ceil(extent.y / spacing) + 1,
                        (int32_t)ceil(extent.z / spacing) + 1},
                       NULL};
    for (int i = 0; i < 3; i++) {
        grid.counts[i] = grid.counts[i] < 2 ? 2 : grid.counts[i];
    }
    float* sizes = SR_PUSH(arena, float, grid.counts[0] * grid.counts[1] * grid.counts[2], "sizes");
    if (sizes == NULL) {
        return failMemory();
    }
    grid.sizes = sizes;
    for (int32_t z = 0; z < grid.counts[2]; z++) {
        for (int32_t y = 0; y < grid.counts[1]; y++) {
            for (int32_t x = 0; x < grid.counts[0]; x++) {
                srVec3 at = srMulAdd(lower, spacing, (srVec3){(double)x, (double)y, (double)z});
                *sizes++ = (float)srSizing_LengthAt(sizing, at);
            }
        }
    }
    *outGrid = grid;
    return sr_success;
}

// ---- spine
// ----------------------------------------------------------------------------------------------------

static srSurface surfaceOf(const srHull* hull) {
    srSurface surface = {.points = hull->points,
                         .pointCount = hull->pointCount,
                         .triangles = hull->triangles,
                         .triangleCount = hull->triangleCount};
    findBounds(hull, &surface.lower, &surface.upper);
    surface.size = srLength(srSub(surface.upper, surface.lower));
    return surface;
}

static int32_t countSteps(const srSizing* sizing, srVec3 a, srVec3 b) {
    double steps = ceil(srDistance(a, b) / sizing->length);
    return steps < 1.0 || !isfinite(steps) ? 1 : (int32_t)fmin(steps, MOST_PER_SEGMENT);
}

static bool hasRoom(const srSizing* sizing, const srBvh* tree, const srVec3* points, int32_t count,
                    srVec3 x) {
    double length = srSizing_LengthAt(sizing, x);
    if (!isfinite(x.x + x.y + x.z) || srBvh_Distance(tree, x, NULL) < SKIN_GAP * length ||
        srBvh_WindingNumber(tree, x) < 0.5) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        if (srDistance(points[i], x) < SPINE_GAP * length) {
            return false;
        }
    }
    return true;
}

srResult srSizing_PlaceOnSpine(const srSizing* sizing, const srHull* hull, const srSegments* segments,
                               srArena* arena, srVec3** outPoints, int32_t* outCount) {
    int64_t most = 0;
    *outPoints = NULL;
    *outCount = 0;
    for (int32_t s = 0; s < segments->count; s++) {
        most += countSteps(sizing, segments->ends[2 * s], segments->ends[2 * s + 1]) + 1;
    }
    if (most == 0) {
        return sr_success;
    }
    srSurface surface = surfaceOf(hull);
    srBvh* tree;
    *outPoints = SR_PUSH(arena, srVec3, most, "nodes on bones");
    if (*outPoints == NULL) {
        return failMemory();
    }
    SR_TRY(srCreateBvh(&surface, &tree));
    for (int32_t s = 0; s < segments->count; s++) {
        srVec3 a = segments->ends[2 * s], b = segments->ends[2 * s + 1];
        int32_t steps = countSteps(sizing, a, b);
        for (int32_t step = 0; step <= steps; step++) {
            srVec3 x = srMulAdd(a, step / (double)steps, srSub(b, a));
            if (hasRoom(sizing, tree, *outPoints, *outCount, x)) {
                (*outPoints)[(*outCount)++] = x;
            }
        }
    }
    srDestroyBvh(tree);
    return sr_success;
}

// ---- hollows
// --------------------------------------------------------------------------------------------------

static double volumeUnder(const srHull* hull, int32_t triangle) {
    const int32_t* n = hull->triangles[triangle];
    srVec3 o = hull->points[0];
    return srDot(srSub(hull->points[n[0]], o),
                 srCross(srSub(hull->points[n[1]], o), srSub(hull->points[n[2]], o))) /
           6.0;
}

// A point before a triangle that faces a hollow, so near that nothing is in between.
static srVec3 stepInto(const srHull* hull, const srBvh* tree, int32_t triangle) {
    const int32_t* n = hull->triangles[triangle];
    srVec3 a = hull->points[n[0]], b = hull->points[n[1]], c = hull->points[n[2]];
    srVec3 normal = srCross(srSub(b, a), srSub(c, a));
    srVec3 centre = srScale(1.0 / 3.0, srAdd(a, srAdd(b, c)));
    double depth = FIRST_DEPTH * sqrt(srLength(normal));
    srVec3 x = centre;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, depth *= 0.5) {
        x = srMulAdd(centre, depth / srLength(normal), normal);
        if (srBvh_Distance(tree, x, NULL) > 0.9 * depth && fabs(srBvh_WindingNumber(tree, x)) < 0.25) {
            break;
        }
    }
    return x;
}

static void placeInHollows(const srHull* hull, const srBvh* tree, int32_t* roots, double* volumes,
                           srVec3* points, int32_t* outCount) {
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        double* volume = &volumes[srFindRoot(roots, hull->triangles[t][0])];
        if (*volume < 0.0) {
            points[(*outCount)++] = stepInto(hull, tree, t);
            *volume = 0.0; // once is enough
        }
    }
}

srResult srFindHollows(const srHull* hull, srArena* arena, srVec3** outPoints, int32_t* outCount) {
    int32_t* roots = SR_PUSH(arena, int32_t, hull->pointCount, "parts");
    double* volumes = SR_PUSH(arena, double, hull->pointCount, "parts");
    *outPoints = NULL;
    *outCount = 0;
    if (roots == NULL || volumes == NULL) {
        return failMemory();
    }
    srClearRoots(roots, hull->pointCount);
    memset(volumes, 0, (size_t)hull->pointCount * sizeof(double));
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srJoinRoots(roots, hull->triangles[t][0], hull->triangles[t][1]);
        srJoinRoots(roots, hull->triangles[t][0], hull->triangles[t][2]);
    }
    int32_t hollowCount = 0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        volumes[srFindRoot(roots, hull->triangles[t][0])] += volumeUnder(hull, t);
    }
    for (int32_t p = 0; p < hull->pointCount; p++) {
        hollowCount += volumes[p] < 0.0;
    }
    if (hollowCount == 0) {
        return sr_success;
    }
    srSurface surface = surfaceOf(hull);
    srBvh* tree;
    *outPoints = SR_PUSH(arena, srVec3, hollowCount, "hollows");
    if (*outPoints == NULL) {
        return failMemory();
    }
    SR_TRY(srCreateBvh(&surface, &tree));
    placeInHollows(hull, tree, roots, volumes, *outPoints, outCount);
    srDestroyBvh(tree);
    return sr_success;
}
