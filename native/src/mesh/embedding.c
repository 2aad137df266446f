// SPDX-License-Identifier: GPL-3.0-or-later
//
// Embedding: barycentric weights in the cell around a point, or, outside of the cage, in the cell behind the
// nearest place of the cage's skin.

#include "mesh/embedding.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "mesh/boundary.h"
#include "mesh/bvh.h"
#include "mesh/cellgrid.h"

#include <string.h>

// Sum of absolute weights at most: an outside point moves at most this much more than the nodes of its cell.
// A little below what the header says, for the rounding to float.
#define LARGEST_SUM 3.99999

#define HALVING_COUNT 50
#define POINTS_PER_BLOCK 256

typedef struct Embedding {
    const srCage* cage;
    const srVec3* points;
    const srCellGrid* grid;
    const srBvh* skin;
    const srBoundary* boundary;
    srEmbedding* out;
    uint8_t* isOutside;
} Embedding;

static double absoluteSum(const double w[4]) {
    return fabs(w[0]) + fabs(w[1]) + fabs(w[2]) + fabs(w[3]);
}

static void blend(const double from[4], const double to[4], double share, double out[4]) {
    for (int c = 0; c < 4; c++) {
        out[c] = from[c] + share * (to[c] - from[c]);
    }
}

// Goes from the nearest point of the cell (all weights about in [0, 1]) towards the point itself, as far as
// the bound allows. The sum is convex on the way, so halving finds the place.
static void boundWeights(const double nearest[4], double w[4]) {
    if (absoluteSum(w) <= LARGEST_SUM) {
        return;
    }
    double full[4], low = 0.0, high = 1.0;
    memcpy(full, w, sizeof(full));
    for (int halving = 0; halving < HALVING_COUNT; halving++) {
        double middle = 0.5 * (low + high);
        blend(nearest, full, middle, w);
        low = absoluteSum(w) <= LARGEST_SUM ? middle : low;
        high = absoluteSum(w) <= LARGEST_SUM ? high : middle;
    }
    blend(nearest, full, low, w);
}

// Where several cells meet at the nearest place, on edges and corners of the cage, which triangle the tree
// answers is chance; the cell is chosen by its weights.
static int32_t findOutside(const Embedding* e, srVec3 point, double w[4]) {
    int32_t face = SR_NULL_INDEX;
    srVec3 foot;
    srBvh_DistanceGuessed(e->skin, point, &face, &foot);
    int32_t cell = srCellGrid_FindAt(e->grid, foot, point, w);
    if (cell == SR_NULL_INDEX) {
        cell = e->boundary->cells[face];
        srFindBarycentric(e->cage, cell, point, w);
    }
    double nearest[4];
    srFindBarycentric(e->cage, cell, foot, nearest);
    boundWeights(nearest, w);
    return cell;
}

// To float so that the sum stays one: the largest weight takes what rounding left.
static void storeWeights(const double w[4], float out[4]) {
    int largest = 0;
    for (int c = 0; c < 4; c++) {
        out[c] = (float)w[c];
        largest = w[c] > w[largest] ? c : largest;
    }
    double others = 0.0;
    for (int c = 0; c < 4; c++) {
        others += c != largest ? (double)out[c] : 0.0;
    }
    out[largest] = (float)(1.0 - others);
}

static void embedPoint(const Embedding* e, int32_t i) {
    srVec3 point = e->points[i];
    if (!isfinite(point.x) || !isfinite(point.y) || !isfinite(point.z)) {
        memset(e->out->nodes[i], 0, sizeof(e->out->nodes[i]));
        storeWeights((const double[4]){1.0, 0.0, 0.0, 0.0}, e->out->weights[i]);
        e->isOutside[i] = 1;
        return;
    }
    double w[4];
    int32_t cell = srCellGrid_Find(e->grid, point, w);
    e->isOutside[i] = cell == SR_NULL_INDEX;
    if (cell == SR_NULL_INDEX) {
        cell = findOutside(e, point, w);
    }
    memcpy(e->out->nodes[i], e->cage->cells[cell], sizeof(e->out->nodes[i]));
    storeWeights(w, e->out->weights[i]);
}

static void embedRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t i = begin; i < end; i++) {
        embedPoint(context, i);
    }
}

static void countOutside(const Embedding* e) {
    srEmbedding* out = e->out;
    out->largestWeightSum = 1.0;
    for (int32_t i = 0; i < out->pointCount; i++) {
        double w[4];
        for (int c = 0; c < 4; c++) {
            w[c] = (double)out->weights[i][c];
        }
        out->outsideCount += e->isOutside[i];
        out->largestWeightSum =
            e->isOutside[i] ? fmax(out->largestWeightSum, absoluteSum(w)) : out->largestWeightSum;
    }
}

static srResult embedAll(const srCage* cage, const srVec3* points, srEmbedding* embedding) {
    srResult result = sr_success;
    srCellGrid* grid = NULL;
    srBvh* skin = NULL;
    srBoundary boundary = {0};
    uint8_t* isOutside = SR_ALLOC_ZERO(uint8_t, embedding->pointCount);
    embedding->nodes = srAlloc((size_t)embedding->pointCount, sizeof(embedding->nodes[0]));
    embedding->weights = srAlloc((size_t)embedding->pointCount, sizeof(embedding->weights[0]));
    if (isOutside == NULL || embedding->nodes == NULL || embedding->weights == NULL) {
        result = srFailOutOfMemory("the embedding");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateCellGrid(cage, &grid));

    // a tree over the cage's skin, for points outside
    SR_TRY_CLEANUP(srCreateBoundary(cage, &boundary));
    const srSurface surface = {.points = cage->nodes,
                               .pointCount = cage->nodeCount,
                               .triangles = boundary.faces,
                               .triangleCount = boundary.faceCount};
    SR_TRY_CLEANUP(srCreateBvh(&surface, &skin));
    Embedding e = {cage, points, grid, skin, &boundary, embedding, isOutside};
    srParallelFor(embedRange, embedding->pointCount, POINTS_PER_BLOCK, &e);
    countOutside(&e);

cleanup:
    SR_FREE(isOutside, embedding->pointCount);
    srDestroyCellGrid(grid);
    srDestroyBvh(skin);
    srDestroyBoundary(&boundary);
    return result;
}

srResult srCreateEmbedding(const srCage* cage, const srVec3* points, int32_t pointCount,
                           srEmbedding* outEmbedding) {
    srEmbedding embedding = {.pointCount = pointCount > 0 ? pointCount : 0, .largestWeightSum = 1.0};
    if (pointCount > 0) {
        srResult result = embedAll(cage, points, &embedding);
        if (result != sr_success) {
            srDestroyEmbedding(&embedding);
            return result;
        }
    }
    *outEmbedding = embedding;
    return sr_success;
}

void srDestroyEmbedding(srEmbedding* embedding) {
    SR_FREE(embedding->nodes, embedding->pointCount);
    SR_FREE(embedding->weights, embedding->pointCount);
    *embedding = (srEmbedding){0};
}
