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
#include "mesh/neighbourhood.h"

#include <string.h>

// Sum of absolute weights at most: an outside point moves at most this much more than the nodes of its cell.
// A little below what the header says, for the rounding to float.
#define LARGEST_SUM 3.99999

#define HALVING_COUNT 50

#define FARTHEST 1e6 // in sizes of the cage

#define POINTS_PER_BLOCK 256
#define POINTS_PER_BATCH 8192

// Where a point is: within a cell, outside of all, or farther out than the cell that it follows is long.
enum {
    liesInside,
    liesOutside,
    liesFar,
};

typedef struct Embedding {
    const srCage* cage;
    const srVec3* points;
    const int32_t* hints;
    const srProgress* progress;
    srReach reach;
    srCellGrid* grid;
    srBvh* skin;
    srBoundary boundary;
    srAdjacency adjacency;
    srNeighbourhood neighbourhood;
    srEmbedding* out;
    uint8_t* places; // by point, one of these
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

static double findLongestEdge(const srCage* cage, int32_t cell) {
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const int32_t* n = cage->cells[cell];
    double longest = 0.0;
    for (int edge = 0; edge < 6; edge++) {
        longest = fmax(longest, srDistance(cage->nodes[n[ends[edge][0]]], cage->nodes[n[ends[edge][1]]]));
    }
    return longest;
}

// Bounds the weights that a point outside has in its cell; the foot is the nearest place of the cage.
static void keepOutside(const Embedding* e, int32_t i, int32_t cell, srVec3 point, srVec3 foot, double w[4]) {
    double nearest[4];
    srFindBarycentric(e->cage, cell, foot, nearest);
    boundWeights(nearest, w);
    e->places[i] = srDistance(point, foot) > findLongestEdge(e->cage, cell) ? liesFar : liesOutside;
}

// Where several cells meet at the nearest place, on edges and corners of the cage, which triangle the tree
// answers is chance; the cell is chosen by its weights.
static int32_t findOutside(const Embedding* e, int32_t i, srVec3 point, double w[4]) {
    int32_t face = SR_NULL_INDEX;
    srVec3 foot;
    srBvh_DistanceGuessed(e->skin, point, &face, &foot);
    int32_t cell = srCellGrid_FindAt(e->grid, foot, point, w);
    if (cell == SR_NULL_INDEX) {
        cell = e->boundary.cells[face];
        srFindBarycentric(e->cage, cell, point, w);
    }
    keepOutside(e, i, cell, point, foot, w);
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

static int32_t hintOf(const Embedding* e, int32_t i) {
    int32_t hint = e->hints != NULL ? e->hints[i] : SR_NULL_INDEX;
    return hint >= 0 && hint < e->cage->cellCount ? hint : SR_NULL_INDEX;
}

static int32_t findAnywhere(const Embedding* e, int32_t i, srVec3 point, double w[4]) {
    int32_t cell = srCellGrid_Find(e->grid, point, w);
    return cell != SR_NULL_INDEX ? cell : findOutside(e, i, point, w);
}

static int32_t findByHint(const Embedding* e, int32_t i, int32_t worker, srVec3 point, double w[4]) {
    bool isInside;
    srVec3 foot;
    int32_t cell = srFindCellNear(&e->neighbourhood, worker, i, e->hints[i], point, &isInside, &foot);
    srFindBarycentric(e->cage, cell, point, w);
    if (!isInside) {
        keepOutside(e, i, cell, point, foot, w);
    }
    return cell;
}

static void embedPoint(const Embedding* e, int32_t i, int32_t worker) {
    srVec3 point = e->points[i];
    if (!isfinite(point.x) || !isfinite(point.y) || !isfinite(point.z)) {
        memset(e->out->nodes[i], 0, sizeof(e->out->nodes[i]));
        storeWeights((const double[4]){1.0, 0.0, 0.0, 0.0}, e->out->weights[i]);
        e->out->cells[i] = SR_NULL_INDEX;
        e->places[i] = liesOutside;
        return;
    }
    double w[4];
    point = srCutToReach(e->reach, point);
    int32_t cell =
        hintOf(e, i) != SR_NULL_INDEX ? findByHint(e, i, worker, point, w) : findAnywhere(e, i, point, w);
    memcpy(e->out->nodes[i], e->cage->cells[cell], sizeof(e->out->nodes[i]));
    e->out->cells[i] = cell;
    storeWeights(w, e->out->weights[i]);
}

static void embedRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    for (int32_t i = begin; i < end; i++) {
        embedPoint(context, i, worker);
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
        bool isOutside = e->places[i] != liesInside;
        out->outsideCount += isOutside;
        out->farCount += e->places[i] == liesFar;
        out->largestWeightSum =
            isOutside ? fmax(out->largestWeightSum, absoluteSum(w)) : out->largestWeightSum;
    }
}

srReach srFindReach(const srCage* cage) {
    srVec3 lower = cage->nodes[0], upper = lower;
    for (int32_t node = 1; node < cage->nodeCount; node++) {
        lower = srMin(lower, cage->nodes[node]);
        upper = srMax(upper, cage->nodes[node]);
    }
    double size = srDistance(lower, upper), far = FARTHEST * size;
    return (srReach){.lower = srSub(lower, (srVec3){far, far, far}),
                     .upper = srAdd(upper, (srVec3){far, far, far}),
                     .middle = srScale(0.5, srAdd(lower, upper)),
                     .size = size};
}

// for points with hints
static srResult makeNeighbourhood(Embedding* e) {
    SR_TRY(srCreateAdjacency(e->cage, &e->adjacency));
    return srCreateNeighbourhood(e->cage, &e->adjacency, srParallel_GetWorkerCount(), &e->neighbourhood);
}

// for points without: a grid of cells and, for those outside, a tree over the cage's skin
static srResult makeGrid(Embedding* e) {
    SR_TRY(srCreateCellGrid(e->cage, &e->grid));
    SR_TRY(srCreateBoundary(e->cage, &e->boundary));
    const srSurface surface = {.points = e->cage->nodes,
                               .pointCount = e->cage->nodeCount,
                               .triangles = e->boundary.faces,
                               .triangleCount = e->boundary.faceCount};
    return srCreateBvh(&surface, &e->skin);
}

static srResult embedAll(Embedding* e) {
    int32_t pointCount = e->out->pointCount, hintCount = 0;
    e->places = SR_ALLOC_ZERO(uint8_t, pointCount);
    e->out->nodes = srAlloc((size_t)pointCount, sizeof(e->out->nodes[0]));
    e->out->weights = srAlloc((size_t)pointCount, sizeof(e->out->weights[0]));
    e->out->cells = SR_ALLOC(int32_t, pointCount);
    if (e->places == NULL || e->out->nodes == NULL || e->out->weights == NULL || e->out->cells == NULL) {
        return srFailOutOfMemory("the embedding");
    }
    for (int32_t i = 0; i < pointCount; i++) {
        hintCount += hintOf(e, i) != SR_NULL_INDEX;
    }
    if (hintCount > 0) {
        SR_TRY(makeNeighbourhood(e));
    }
    if (hintCount < pointCount) {
        SR_TRY(makeGrid(e));
    }
    e->reach = srFindReach(e->cage);
    SR_TRY(srParallelForWithProgress(embedRange, pointCount, POINTS_PER_BLOCK, POINTS_PER_BATCH, e,
                                     e->progress));
    countOutside(e);
    return srReportProgress(e->progress, 1.0);
}

static void freeScratch(Embedding* e) {
    SR_FREE(e->places, e->out->pointCount);
    srDestroyCellGrid(e->grid);
    srDestroyBvh(e->skin);
    srDestroyBoundary(&e->boundary);
    srDestroyNeighbourhood(&e->neighbourhood);
    srDestroyAdjacency(&e->adjacency);
}

srResult srCreateEmbedding(const srCage* cage, const srVec3* points, const int32_t* hints, int32_t pointCount,
                           srEmbedding* outEmbedding) {
    const srProgress nobody = {0};
    return srCreateEmbeddingWithProgress(cage, points, hints, pointCount, &nobody, outEmbedding);
}

srResult srCreateEmbeddingWithProgress(const srCage* cage, const srVec3* points, const int32_t* hints,
                                       int32_t pointCount, const srProgress* progress,
                                       srEmbedding* outEmbedding) {
    srEmbedding embedding = {.pointCount = pointCount > 0 ? pointCount : 0, .largestWeightSum = 1.0};
    if (pointCount > 0) {
        Embedding e = {
            .cage = cage, .points = points, .hints = hints, .progress = progress, .out = &embedding};
        srResult result = embedAll(&e);
        freeScratch(&e);
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
    SR_FREE(embedding->cells, embedding->pointCount);
    *embedding = (srEmbedding){0};
}
