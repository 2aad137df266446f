// SPDX-License-Identifier: GPL-3.0-or-later
//
// A global affine motion, then a factored system for what is left of the skin's places:
//
//   (K + B' D B + E) d = B' D (skin - affine),   q = affine + d
//
// K measures bending: for two cells that share a face of normal n, the jump of the slope across it is one
// number a coordinate, a sum of c_j d_j over their five nodes, since along the face both slopes agree; K =
// sum over faces (V + V') c c'. It is zero for affine d, at the outside too, where a Laplacian is not. B is
// the embedding (straight, four nodes a row), D = diag( a_v ), E tiny and diagonal: for parts without skin.
// An affine motion leaves nothing on the right, so it is exact whatever K, D and E are.

#include "weights/skin_map.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/dissect.h"
#include "math/rotation.h"
#include "math/solve.h"
#include "math/svd.h"
#include "mesh/adjacency.h"

#include <string.h>

// How much stronger the skin speaks than bending, where it lies; and how weakly E does.
#define SKIN_STRENGTH 1000.0
#define ANCHOR 1e-8

// Skins thinner than the root of this, in their own size, are flat: what they say about motion across is
// noise.
#define LEAST_SPREAD 1e-7

// And skins this small, in sizes of the cage, are a point. Both are squares of lengths.
#define LEAST_SIZE 1e-14

#define VERTICES_PER_BLOCK 2048
#define NODES_PER_BLOCK 256

static const int facesOf[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

// ---- making it ----

static bool isFinite(srVec3 p) {
    double sum = p.x + p.y + p.z;
    return sum - sum == 0.0;
}

// The edge of a cube of the volume that belongs to each node: the unit of stiffness there
static void findWidths(const srCage* cage, double* widths) {
    memset(widths, 0, (size_t)cage->nodeCount * sizeof(double));
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int c = 0; c < 4; c++) {
            widths[cage->cells[cell][c]] += 0.25 * srCellVolume(cage, cell);
        }
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        widths[node] = cbrt(widths[node]);
    }
}

// a_v = SKIN_STRENGTH * (width around v) / (how many vertices share v's nodes), both averaged with |B|: a
// hundred vertices in a cell are as strong as one.
static void chooseStrengths(const srEmbedding* embedding, const double* widths, double* crowd,
                            srSkinMap* map) {
    memset(crowd, 0, (size_t)map->nodeCount * sizeof(double));
    for (int32_t v = 0; v < map->vertexCount; v++) {
        map->strengths[v] = embedding->cells[v] != SR_NULL_INDEX && isFinite(map->vertices[v]) ? 1.0 : 0.0;
        for (int c = 0; c < 4; c++) {
            crowd[embedding->nodes[v][c]] += map->strengths[v] * fabs((double)embedding->weights[v][c]);
        }
    }
    for (int32_t v = 0; v < map->vertexCount; v++) {
        double width = 0.0, shared = 0.0;
        for (int c = 0; c < 4; c++) {
            double weight = fabs((double)embedding->weights[v][c]);
            width += weight * widths[embedding->nodes[v][c]];
            shared += weight * crowd[embedding->nodes[v][c]];
        }
        map->strengths[v] *= shared > 0.0 ? SKIN_STRENGTH * width / shared : 0.0;
    }
}

// What each node hears, vertices ascending
static srResult listSources(const srEmbedding* embedding, srSkinMap* map) {
    map->sourceStarts = SR_ALLOC_ZERO(int32_t, map->nodeCount + 1);
    map->sources = SR_ALLOC(srSkinSource, 4 * map->vertexCount);
    int32_t* next = SR_ALLOC(int32_t, map->nodeCount);
    bool isAllocated =
        map->sourceStarts != NULL && next != NULL && (map->sources != NULL || map->vertexCount == 0);
    for (int32_t i = 0; i < 4 * map->vertexCount && isAllocated; i++) {
        map->sourceStarts[embedding->nodes[i / 4][i % 4] + 1]++;
    }
    for (int32_t node = 0; node < map->nodeCount && isAllocated; node++) {
        map->sourceStarts[node + 1] += map->sourceStarts[node];
        next[node] = map->sourceStarts[node];
    }
    for (int32_t i = 0; i < 4 * map->vertexCount && isAllocated; i++) {
        double weight = map->strengths[i / 4] * (double)embedding->weights[i / 4][i % 4];
        map->sources[next[embedding->nodes[i / 4][i % 4]]++] = (srSkinSource){i / 4, (float)weight};
    }
    SR_FREE(next, map->nodeCount);
    return isAllocated ? sr_success : srFailOutOfMemory("the map from the skin");
}

static int32_t addEntry(srTriplet* triplets, int32_t count, int32_t a, int32_t b, double value) {
    triplets[count] = (srTriplet){a > b ? a : b, a > b ? b : a, value};
    return count + 1;
}

// The slope of corner c's weight along n
static double slopeAlong(const srFrame* frame, int c, srVec3 n) {
    srVec3 g = srScale(-1.0, srAdd(frame->gradients[0], srAdd(frame->gradients[1], frame->gradients[2])));
    return srDot(c == 0 ? g : frame->gradients[c - 1], n);
}

// Entries of a face: fifteen
static int32_t addFace(const srCage* cage, const srAdjacency* adjacency, int32_t cell, int face,
                       srTriplet* triplets, int32_t count) {
    int32_t other = adjacency->neighbours[cell][face], nodes[5];
    const int32_t* mine = cage->cells[cell];
    const int* f = facesOf[face];
    srVec3 a = cage->nodes[mine[f[0]]];
    srVec3 n = srCross(srSub(cage->nodes[mine[f[1]]], a), srSub(cage->nodes[mine[f[2]]], a));
    n = srScale(1.0 / srLength(n), n);
    double jumps[5], k = srCellVolume(cage, cell) + srCellVolume(cage, other);
    nodes[4] = mine[0];
    jumps[4] = 0.0;
    for (int c = 0; c < 4; c++) {
        nodes[c] = mine[c];
        jumps[c] = slopeAlong(&adjacency->frames[cell], c, n);
    }
    for (int c = 0; c < 4; c++) {
        int place = 0;
        while (place < 4 && (nodes[place] != cage->cells[other][c] || place == face)) {
            place++;
        }
        nodes[place] = place == 4 ? cage->cells[other][c] : nodes[place];
        jumps[place] = (place == 4 ? 0.0 : jumps[place]) - slopeAlong(&adjacency->frames[other], c, n);
    }
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j <= i; j++) {
            count = addEntry(triplets, count, nodes[i], nodes[j], k * jumps[i] * jumps[j]);
        }
    }
    return count;
}

static int32_t addBending(const srCage* cage, const srAdjacency* adjacency, srTriplet* triplets) {
    int32_t count = 0;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int face = 0; face < 4; face++) {
            if (adjacency->neighbours[cell][face] > cell) {
                count = addFace(cage, adjacency, cell, face, triplets, count);
            }
        }
    }
    return count;
}

static int32_t addSkin(const srEmbedding* embedding, const double* strengths, srTriplet* triplets,
                       int32_t count) {
    for (int32_t v = 0; v < embedding->pointCount; v++) {
        const int32_t* nodes = embedding->nodes[v];
        const float* w = embedding->weights[v];
        for (int a = 0; a < 4 && strengths[v] > 0.0; a++) {
            for (int b = 0; b <= a; b++) {
                count =
                    addEntry(triplets, count, nodes[a], nodes[b], strengths[v] * (double)w[a] * (double)w[b]);
            }
        }
    }
    return count;
}

static srResult assemble(const srCage* cage, const srEmbedding* embedding, const double* widths,
                         const srSkinMap* map, srCsc* outA) {
    srAdjacency adjacency;
    int64_t capacity =
        30 * (int64_t)cage->cellCount + 10 * (int64_t)map->vertexCount + (int64_t)cage->nodeCount;
    if (capacity > INT32_MAX) {
        return srFail(sr_errorTooLarge, "Too many cells and vertices for a map from the skin.");
    }
    SR_TRY(srCreateAdjacency(cage, &adjacency));
    srTriplet* triplets = SR_ALLOC(srTriplet, capacity);
    srResult result = triplets == NULL ? srFailOutOfMemory("the map from the skin") : sr_success;
    if (result == sr_success) {
        int32_t count = addBending(cage, &adjacency, triplets);
        count = addSkin(embedding, map->strengths, triplets, count);
        for (int32_t node = 0; node < cage->nodeCount; node++) {
            count = addEntry(triplets, count, node, node, ANCHOR * widths[node]);
        }
        result = srCreateCsc(cage->nodeCount, cage->nodeCount, triplets, count, outA);
    }
    SR_FREE(triplets, capacity);
    srDestroyAdjacency(&adjacency);
    return result;
}

static srResult factorize(const srCage* cage, const srCsc* A, srFactor* outFactor) {
    srCholesky* cholesky = NULL;
    srResult result = sr_success;
    int32_t* order = SR_ALLOC(int32_t, cage->nodeCount);
    if (order == NULL) {
        return srFailOutOfMemory("the map from the skin");
    }
    SR_TRY_CLEANUP(srDissect(A, cage->nodes, order));
    SR_TRY_CLEANUP(srAnalyzeCholesky(A, order, &cholesky));
    SR_TRY_CLEANUP(srCholesky_Factor(cholesky, A));
    SR_TRY_CLEANUP(srCreateFactor(cholesky, sr_factorDouble, outFactor));

cleanup:
    srDestroyCholesky(cholesky);
    SR_FREE(order, cage->nodeCount);
    return result;
}

static srResult fillMap(const srCage* cage, const srEmbedding* embedding, const srVec3* vertices,
                        srSkinMap* map) {
    srResult result = sr_success;
    srCsc A = {0};
    double* widths = SR_ALLOC(double, map->nodeCount);
    double* crowd = SR_ALLOC(double, map->nodeCount);
    map->nodes = SR_ALLOC(srVec3, map->nodeCount);
    map->vertices = SR_ALLOC(srVec3, map->vertexCount);
    map->strengths = SR_ALLOC(double, map->vertexCount);
    if (widths == NULL || crowd == NULL || map->nodes == NULL ||
        (map->vertexCount > 0 && (map->vertices == NULL || map->strengths == NULL))) {
        result = srFailOutOfMemory("the map from the skin");
        goto cleanup;
    }
    memcpy(map->nodes, cage->nodes, (size_t)map->nodeCount * sizeof(srVec3));
    for (int32_t v = 0; v < map->vertexCount; v++) {
        map->vertices[v] = vertices[v];
    }
    findWidths(cage, widths);
    chooseStrengths(embedding, widths, crowd, map);
    SR_TRY_CLEANUP(listSources(embedding, map));
    SR_TRY_CLEANUP(assemble(cage, embedding, widths, map, &A));
    SR_TRY_CLEANUP(factorize(cage, &A, &map->factor));

cleanup:
    SR_FREE(widths, map->nodeCount);
    SR_FREE(crowd, map->nodeCount);
    srDestroyCsc(&A);
    return result;
}

srResult srCreateSkinMap(const srCage* cage, const srEmbedding* embedding, const srVec3* vertices,
                         srSkinMap* outMap) {
    srSkinMap map = {
        .nodeCount = cage->nodeCount, .vertexCount = embedding->pointCount, .size = srFindReach(cage).size};
    srResult result = fillMap(cage, embedding, vertices, &map);
    if (result != sr_success) {
        srDestroySkinMap(&map);
        return result;
    }
    *outMap = map;
    return sr_success;
}

void srDestroySkinMap(srSkinMap* map) {
    SR_FREE(map->nodes, map->nodeCount);
    SR_FREE(map->vertices, map->vertexCount);
    SR_FREE(map->strengths, map->vertexCount);
    SR_FREE(map->sourceStarts, map->nodeCount + 1);
    SR_FREE(map->sources, 4 * map->vertexCount);
    srDestroyFactor(&map->factor);
    *map = (srSkinMap){0};
}

// ---- a frame ----

// Sums over a block of vertices, or over all: strengths, places at rest and now, and their products
typedef struct Sums {
    double strength;
    srVec3 rest, now;
    srMat3 spread;   // sum of a (x - mean)(x - mean)'
    srMat3 together; // sum of a (skin - mean)(x - mean)'
    int32_t skippedCount;
} Sums;

typedef struct Placing {
    const srSkinMap* map;
    const float* skin;
    Sums* blocks;
    srVec3* left; // of the skin's places, without the affine motion
    double* forces;
    srVec3 restMean, nowMean;
    srMat3 A;
} Placing;

static size_t roundUp(size_t size) {
    return (size + 63) / 64 * 64;
}

static int32_t getBlockCount(const srSkinMap* map) {
    return (map->vertexCount + VERTICES_PER_BLOCK - 1) / VERTICES_PER_BLOCK;
}

size_t srSkinMap_GetScratchSize(const srSkinMap* map) {
    return roundUp((size_t)getBlockCount(map) * sizeof(Sums)) +
           roundUp((size_t)map->vertexCount * sizeof(srVec3)) +
           roundUp(3 * (size_t)map->nodeCount * sizeof(double)) + srFactor_GetScratchSize(&map->factor);
}

static srVec3 skinAt(const Placing* p, int32_t v) {
    const float* x = p->skin + 3 * (size_t)v;
    return (srVec3){(double)x[0], (double)x[1], (double)x[2]};
}

static void addOuter(srMat3* sum, double s, srVec3 a, srVec3 b) {
    const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 9; i++) {
        sum->m[i / 3][i % 3] += s * x[i / 3] * y[i % 3];
    }
}

static void sumPlaces(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Placing* p = context;
    Sums sums = {0};
    for (int32_t v = begin; v < end; v++) {
        srVec3 now = skinAt(p, v);
        double a = p->map->strengths[v];
        sums.skippedCount += !isFinite(now);
        if (a > 0.0 && isFinite(now)) {
            sums.strength += a;
            sums.rest = srMulAdd(sums.rest, a, p->map->vertices[v]);
            sums.now = srMulAdd(sums.now, a, now);
        }
    }
    p->blocks[begin / VERTICES_PER_BLOCK] = sums;
}

static void sumProducts(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Placing* p = context;
    Sums* sums = &p->blocks[begin / VERTICES_PER_BLOCK];
    for (int32_t v = begin; v < end; v++) {
        srVec3 now = skinAt(p, v), x = srSub(p->map->vertices[v], p->restMean);
        double a = p->map->strengths[v];
        if (a > 0.0 && isFinite(now)) {
            addOuter(&sums->spread, a, x, x);
            addOuter(&sums->together, a, srSub(now, p->nowMean), x);
        }
    }
}

static srVec3 mul(const srMat3* A, srVec3 x) {
    return (srVec3){A->m[0][0] * x.x + A->m[0][1] * x.y + A->m[0][2] * x.z,
                    A->m[1][0] * x.x + A->m[1][1] * x.y + A->m[1][2] * x.z,
                    A->m[2][0] * x.x + A->m[2][1] * x.y + A->m[2][2] * x.z};
}

// A = together * spread^-1 in the directions in which the skin has an extent, a rotation in the others
static srMat3 findAffine(const srMat3* spread, const srMat3* together, double least) {
    srSvd svd = srDecompose(spread);
    srMat3 R = srFindRotation(together), A = {0};
    for (int d = 0; d < 3; d++) {
        srVec3 v = {svd.V.m[0][d], svd.V.m[1][d], svd.V.m[2][d]};
        bool isKnown = svd.s[d] > LEAST_SPREAD * svd.s[0] && svd.s[d] > least;
        srVec3 to = isKnown ? srScale(1.0 / svd.s[d], mul(together, v)) : mul(&R, v);
        addOuter(&A, 1.0, to, v);
    }
    return A;
}

// Returns how many vertices were passed over.
static int32_t fitAffine(Placing* p) {
    int32_t blockCount = getBlockCount(p->map);
    Sums all = {0};
    srParallelFor(sumPlaces, p->map->vertexCount, VERTICES_PER_BLOCK, p);
    for (int32_t b = 0; b < blockCount; b++) {
        all.strength += p->blocks[b].strength;
        all.rest = srAdd(all.rest, p->blocks[b].rest);
        all.now = srAdd(all.now, p->blocks[b].now);
        all.skippedCount += p->blocks[b].skippedCount;
    }
    if (all.strength > 0.0) {
        p->restMean = srScale(1.0 / all.strength, all.rest);
        p->nowMean = srScale(1.0 / all.strength, all.now);
    }
    srParallelFor(sumProducts, p->map->vertexCount, VERTICES_PER_BLOCK, p);
    for (int32_t b = 0; b < blockCount; b++) {
        for (int i = 0; i < 9; i++) {
            all.spread.m[i / 3][i % 3] += p->blocks[b].spread.m[i / 3][i % 3];
            all.together.m[i / 3][i % 3] += p->blocks[b].together.m[i / 3][i % 3];
        }
    }
    p->A = findAffine(&all.spread, &all.together, LEAST_SIZE * all.strength * p->map->size * p->map->size);
    return all.skippedCount;
}

static srVec3 moveAffinely(const Placing* p, srVec3 x) {
    return srAdd(mul(&p->A, srSub(x, p->restMean)), p->nowMean);
}

static void findLeft(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Placing* p = context;
    for (int32_t v = begin; v < end; v++) {
        srVec3 now = skinAt(p, v);
        bool isHeard = p->map->strengths[v] > 0.0 && isFinite(now);
        p->left[v] = isHeard ? srSub(now, moveAffinely(p, p->map->vertices[v])) : (srVec3){0.0, 0.0, 0.0};
    }
}

static void findForces(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Placing* p = context;
    for (int32_t node = begin; node < end; node++) {
        srVec3 sum = {0.0, 0.0, 0.0};
        for (int32_t s = p->map->sourceStarts[node]; s < p->map->sourceStarts[node + 1]; s++) {
            const srSkinSource* source = &p->map->sources[s];
            sum = srMulAdd(sum, (double)source->weight, p->left[source->vertex]);
        }
        memcpy(p->forces + 3 * (size_t)node, &sum, sizeof(sum));
    }
}

void srSkinMap_PlaceNodes(const srSkinMap* map, const float* skin, void* scratch, srVec3* outNodes,
                          int32_t* outSkippedCount) {
    char* next = scratch;
    Placing p = {.map = map, .skin = skin};
    p.blocks = (Sums*)next;
    next += roundUp((size_t)getBlockCount(map) * sizeof(Sums));
    p.left = (srVec3*)next;
    next += roundUp((size_t)map->vertexCount * sizeof(srVec3));
    p.forces = (double*)next;
    next += roundUp(3 * (size_t)map->nodeCount * sizeof(double));

    int32_t skippedCount = fitAffine(&p);
    srParallelFor(findLeft, map->vertexCount, VERTICES_PER_BLOCK, &p);
    srParallelFor(findForces, map->nodeCount, NODES_PER_BLOCK, &p);
    // places beyond all numbers leave the affine motion alone
    if (srFactor_SolveDouble(&map->factor, p.forces, p.forces, next) != sr_success) {
        memset(p.forces, 0, 3 * (size_t)map->nodeCount * sizeof(double));
    }
    for (int32_t node = 0; node < map->nodeCount; node++) {
        srVec3 d;
        memcpy(&d, p.forces + 3 * (size_t)node, sizeof(d));
        outNodes[node] = srAdd(moveAffinely(&p, map->nodes[node]), d);
    }
    if (outSkippedCount != NULL) {
        *outSkippedCount = skippedCount;
    }
}
