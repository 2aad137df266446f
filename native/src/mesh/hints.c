// SPDX-License-Identifier: GPL-3.0-or-later
//
// A tree over triangles that have shrunk to a vertex each.

#include "mesh/hints.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "mesh/bvh.h"

#define POINTS_PER_BLOCK 256

typedef struct Hinting {
    const srBvh* tree;
    const int32_t (*triangles)[3];
    const int32_t* cells;
    const srVec3* points;
    int32_t* outHints;
} Hinting;

static bool isFinite(srVec3 p) {
    double sum = p.x + p.y + p.z;
    return sum - sum == 0.0;
}

static int32_t collectVertices(const srVec3* vertices, const int32_t* cells, int32_t vertexCount,
                               int32_t (*triangles)[3]) {
    int32_t count = 0;
    for (int32_t v = 0; v < vertexCount; v++) {
        if (cells[v] != SR_NULL_INDEX && isFinite(vertices[v])) {
            triangles[count][0] = triangles[count][1] = triangles[count][2] = v;
            count++;
        }
    }
    return count;
}

static void hintRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Hinting* h = context;
    for (int32_t i = begin; i < end; i++) {
        int32_t triangle = SR_NULL_INDEX;
        srVec3 nearest;
        if (isFinite(h->points[i])) {
            srBvh_DistanceGuessed(h->tree, h->points[i], &triangle, &nearest);
        }
        h->outHints[i] = triangle != SR_NULL_INDEX ? h->cells[h->triangles[triangle][0]] : SR_NULL_INDEX;
    }
}

srResult srFindNearestHints(const srVec3* vertices, const int32_t* cells, int32_t vertexCount,
                            const srVec3* points, int32_t pointCount, int32_t* outHints) {
    for (int32_t i = 0; i < pointCount; i++) {
        outHints[i] = SR_NULL_INDEX;
    }
    if (vertexCount < 1 || pointCount < 1) {
        return sr_success;
    }
    int32_t (*triangles)[3] = srAlloc((size_t)vertexCount, sizeof(triangles[0]));
    if (triangles == NULL) {
        return srFailOutOfMemory("the parts of points");
    }
    srResult result = sr_success;
    srBvh* tree = NULL;
    int32_t count = collectVertices(vertices, cells, vertexCount, triangles);
    if (count > 0) {
        const srSurface surface = {.points = (srVec3*)vertices,
                                   .pointCount = vertexCount,
                                   .triangles = triangles,
                                   .triangleCount = count};
        SR_TRY_CLEANUP(srCreateBvh(&surface, &tree));
        Hinting hinting = {tree, (const int32_t (*)[3])triangles, cells, points, outHints};
        srParallelFor(hintRange, pointCount, POINTS_PER_BLOCK, &hinting);
    }

cleanup:
    srDestroyBvh(tree);
    SR_FREE(triangles, vertexCount);
    return result;
}
