// SPDX-License-Identifier: GPL-3.0-or-later
//
// Phong deformation (James 2020: each corner of a cell contributes its value and half of its slope, which
// makes quadratic motions exact), with two changes: shares are barycentric weights averaged over a small ball
// (shares.h), so that slopes do not jump at faces either, and X makes affine motion exact for any shares.
//
// u( x ) = sum_c s_c (u_c + G_c (X - x_c)), 2 G_c the mean gradient around node c. For u( x ) = A x + t this
// is A (f + (X - f) / 2) + t with f = sum_c s_c x_c, so X = 2 x - f. Outside, s are the shares of the nearest
// place and X goes on by the same formula: value and slope of that place.

#include "mesh/blend.h"

#include "core/alloc.h"
#include "core/arena.h"
#include "core/parallel.h"
#include "mesh/cellgrid.h"
#include "mesh/neighbourhood.h"
#include "mesh/shares.h"
#include "mesh/slopes.h"
#include "mesh/sort.h"

#include <string.h>

// Radius of the ball in mean edges of the cells there. Tried: 0.17 takes a tenth less time a frame, with 6.3
// shares a point instead of 7.2, and its largest jump of normals is larger by a seventh to a fifth.
#define RADIUS 0.23

// A little below what the header says, for rounding to float.
#define LARGEST_SUM 3.9999

#define HALVING_COUNT 40
#define POINTS_PER_BLOCK 256
#define POINTS_PER_BATCH 4096
#define SCRATCH_SIZE ((size_t)1 << 16)

// A point while the blend is made
typedef struct Draft {
    int32_t nodes[SR_MOST_SHARES];
    float shares[SR_MOST_SHARES];
    int32_t count;
    bool isLinear;
    srVec3 X;
    double weightSum;
} Draft;

typedef struct Making {
    const srCage* cage;
    const srEmbedding* embedding;
    const srVec3* points;
    const srProgress* progress;
    srAdjacency adjacency;
    srSlopes slopes;
    srArena* arena;
    double* lengths; // mean length of the edges at a node
    Draft* drafts;
    int32_t* smoothMaps; // node to map: with slopes, ...
    int32_t* plainMaps;  // ... and without
    srKeyed* order;
    srKeyed* orderScratch;
    srReach reach;
    double unit; // of lengths in what is stored: the power of two above the cage's size
    srBlend* out;
} Making;

static srResult allocateScratch(Making* m) {
    int32_t nodeCount = m->cage->nodeCount, pointCount = m->embedding->pointCount;
    m->arena = srCreateArena(SCRATCH_SIZE);
    if (m->arena == NULL) {
        return srFailOutOfMemory("the blend");
    }
    m->lengths = SR_PUSH(m->arena, double, nodeCount, "edge lengths");
    m->smoothMaps = SR_PUSH(m->arena, int32_t, nodeCount, "maps");
    m->plainMaps = SR_PUSH(m->arena, int32_t, nodeCount, "maps");
    m->drafts = SR_PUSH(m->arena, Draft, pointCount, "drafts of points");
    m->order = SR_PUSH(m->arena, srKeyed, pointCount, "order of points");
    m->orderScratch = SR_PUSH(m->arena, srKeyed, pointCount, "order of points");
    bool isAllocated = m->lengths != NULL && m->smoothMaps != NULL && m->plainMaps != NULL &&
                       m->drafts != NULL && m->order != NULL && m->orderScratch != NULL;
    return isAllocated ? sr_success : srFailOutOfMemory("the blend");
}

static srResult measureCage(Making* m) {
    const srCage* cage = m->cage;
    int32_t* degrees = SR_ALLOC_ZERO(int32_t, cage->nodeCount);
    if (degrees == NULL) {
        return srFailOutOfMemory("the blend");
    }
    m->reach = srFindReach(cage);
    int exponent;
    frexp(m->reach.size, &exponent);
    m->unit = ldexp(1.0, exponent);
    memset(m->lengths, 0, (size_t)cage->nodeCount * sizeof(double));
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        const int32_t* edge = cage->edges[e];
        double length = srDistance(cage->nodes[edge[0]], cage->nodes[edge[1]]);
        for (int end = 0; end < 2; end++) {
            m->lengths[edge[end]] += length;
            degrees[edge[end]]++;
        }
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        m->lengths[node] /= degrees[node] > 0 ? degrees[node] : 1;
    }
    SR_FREE(degrees, cage->nodeCount);
    return sr_success;
}

// The sum of absolute weights of a draft at X, counted map by map: never less than node by node.
static double sumWeights(const Making* m, const Draft* draft, srVec3 X) {
    double sum = 0.0;
    for (int32_t k = 0; k < draft->count; k++) {
        int32_t node = draft->nodes[k];
        srVec3 d = srSub(X, m->cage->nodes[node]);
        sum += (double)draft->shares[k] * srSumSlopeWeights(&m->slopes, node, d);
    }
    return sum;
}

static srVec3 placeOf(const Making* m, const Draft* draft) {
    srVec3 place = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < draft->count; k++) {
        place = srMulAdd(place, (double)draft->shares[k], m->cage->nodes[draft->nodes[k]]);
    }
    return place;
}

// Places X for a point whose nearest place of the cage is `foot`: as far out as the bound allows. The sum is
// convex on the way.
static void placeDraft(const Making* m, Draft* draft, srVec3 foot, srVec3 point) {
    srVec3 f = placeOf(m, draft);
    srVec3 near = srSub(srScale(2.0, foot), f), far = srMulAdd(near, 2.0, srSub(point, foot));
    draft->X = far;
    draft->weightSum = sumWeights(m, draft, far);
    if (draft->weightSum <= LARGEST_SUM) {
        return;
    }
    double low = 0.0, high = 1.0;
    for (int halving = 0; halving < HALVING_COUNT; halving++) {
        double middle = 0.5 * (low + high);
        bool fits = sumWeights(m, draft, srMulAdd(near, middle, srSub(far, near))) <= LARGEST_SUM;
        low = fits ? middle : low;
        high = fits ? high : middle;
    }
    draft->X = srMulAdd(near, low, srSub(far, near));
    draft->weightSum = sumWeights(m, draft, draft->X);
}

// To float so that the sum stays one: the first, which is the largest, takes what rounding left.
static void storeShares(const srShares* shares, Draft* draft) {
    double others = 0.0;
    draft->count = shares->count;
    for (int32_t k = 0; k < shares->count; k++) {
        draft->nodes[k] = shares->nodes[k];
        draft->shares[k] = (float)shares->shares[k];
        others += k > 0 ? (double)draft->shares[k] : 0.0;
    }
    draft->shares[0] = (float)(1.0 - others);
}

// In a cage of cells so bad that slopes exceed the bound even inside: straight interpolation.
static void draftLinear(const Making* m, int32_t i, Draft* draft) {
    draft->count = 4;
    draft->isLinear = true;
    draft->X = m->reach.middle;
    draft->weightSum = 0.0;
    for (int c = 0; c < 4; c++) {
        draft->nodes[c] = m->embedding->nodes[i][c];
        draft->shares[c] = m->embedding->weights[i][c];
        draft->weightSum += fabs((double)draft->shares[c]);
    }
}

static void draftPoint(const Making* m, int32_t i) {
    Draft* draft = &m->drafts[i];
    *draft = (Draft){0};
    int32_t cell = m->embedding->cells[i];
    if (cell == SR_NULL_INDEX) {
        return;
    }
    srVec3 point = srCutToReach(m->reach, m->points[i]), foot = srFindNearestOfCell(m->cage, cell, point);
    double w[4], length = 0.0;
    srFindBarycentric(m->cage, cell, foot, w);
    for (int c = 0; c < 4; c++) {
        length += w[c] * m->lengths[m->cage->cells[cell][c]];
    }
    srShares shares;
    srFindShares(m->cage, &m->adjacency, cell, foot, RADIUS * length, SR_MOST_SHARES, &shares);
    storeShares(&shares, draft);
    placeDraft(m, draft, foot, point);
    if (!(draft->weightSum <= LARGEST_SUM)) {
        draftLinear(m, i, draft);
    }
}

static void draftRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t i = begin; i < end; i++) {
        draftPoint(context, i);
    }
}

// Numbers the maps that drafts use: those with slopes first, each kind in the order of nodes.
static void numberMaps(Making* m) {
    int32_t nodeCount = m->cage->nodeCount;
    memset(m->smoothMaps, 0xff, (size_t)nodeCount * sizeof(int32_t)); // null
    memset(m->plainMaps, 0xff, (size_t)nodeCount * sizeof(int32_t));
    for (int32_t i = 0; i < m->embedding->pointCount; i++) {
        const Draft* draft = &m->drafts[i];
        int32_t* maps = draft->isLinear ? m->plainMaps : m->smoothMaps;
        m->out->linearCount += draft->isLinear;
        m->out->largestWeightSum = fmax(m->out->largestWeightSum, draft->weightSum);
        for (int32_t k = 0; k < draft->count; k++) {
            maps[draft->nodes[k]] = 0;
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        int32_t* maps = kind == 0 ? m->smoothMaps : m->plainMaps;
        for (int32_t node = 0; node < nodeCount; node++) {
            maps[node] = maps[node] == 0 ? m->out->mapCount++ : SR_NULL_INDEX;
        }
    }
}

static srVec3f storedPlace(const Making* m, srVec3 place) {
    return srToFloat(srScale(1.0 / m->unit, srSub(place, m->reach.middle)));
}

static void storeSlopes(const Making* m, int32_t map) {
    srBlend* out = m->out;
    const srSlope* from = m->slopes.entries + m->slopes.starts[out->mapNodes[map]];
    for (int32_t e = out->slopeStarts[map]; e < out->slopeStarts[map + 1]; e++, from++) {
        out->slopes[e].node = from->node;
        for (int c = 0; c < 3; c++) {
            out->slopes[e].gradient[c] = (float)((double)from->gradient[c] * m->unit);
        }
    }
}

static srResult storeMaps(Making* m) {
    srBlend* out = m->out;
    const srSlopes* slopes = &m->slopes;
    out->mapNodes = SR_ALLOC(int32_t, out->mapCount);
    out->mapPlaces = srAllocZero((size_t)out->mapCount, sizeof(out->mapPlaces[0]));
    out->slopeStarts = SR_ALLOC_ZERO(int32_t, out->mapCount + 1);
    if (out->slopeStarts == NULL ||
        (out->mapCount > 0 && (out->mapNodes == NULL || out->mapPlaces == NULL))) {
        return srFailOutOfMemory("the blend");
    }
    for (int32_t node = 0; node < m->cage->nodeCount; node++) {
        int32_t smooth = m->smoothMaps[node], plain = m->plainMaps[node];
        if (plain != SR_NULL_INDEX) {
            out->mapNodes[plain] = node;
        }
        if (smooth != SR_NULL_INDEX) {
            out->mapNodes[smooth] = node;
            out->slopeStarts[smooth + 1] = slopes->starts[node + 1] - slopes->starts[node];
            srVec3f place = storedPlace(m, m->cage->nodes[node]);
            memcpy(out->mapPlaces[smooth], &place, sizeof(place));
        }
    }
    for (int32_t map = 0; map < out->mapCount; map++) {
        out->slopeStarts[map + 1] += out->slopeStarts[map];
    }
    int32_t slopeCount = out->slopeStarts[out->mapCount];
    out->slopes = SR_ALLOC(srSlope, slopeCount);
    if (slopeCount > 0 && out->slopes == NULL) {
        return srFailOutOfMemory("the blend");
    }
    for (int32_t map = 0; map < out->mapCount; map++) {
        storeSlopes(m, map);
    }
    return sr_success;
}

// By count of shares, then by cell: runs, and in a run neighbours near each other.
static void orderPoints(Making* m) {
    srBlend* out = m->out;
    int32_t pointCount = m->embedding->pointCount;
    for (int32_t i = 0; i < pointCount; i++) {
        m->order[i] = (srKeyed){srPairKey(m->drafts[i].count, m->embedding->cells[i] + 1), i};
    }
    srSortKeyed(m->order, m->orderScratch, pointCount);
    for (int32_t k = 0; k < pointCount; k++) {
        int32_t count = m->drafts[m->order[k].value].count;
        if (k == 0 || count != out->runs[out->runCount - 1].shareCount) {
            out->runs[out->runCount++] = (srBlendRun){k, 0, count, 0, out->shareCount};
        }
        out->runs[out->runCount - 1].pointCount++;
        out->shareCount += count;
    }
}

static srResult allocatePoints(srBlend* out) {
    bool isShort = out->mapCount <= UINT16_MAX + 1;
    out->targets = SR_ALLOC(int32_t, out->pointCount);
    out->places = srAlloc((size_t)out->pointCount, sizeof(out->places[0]));
    out->shares = SR_ALLOC(float, out->shareCount);
    out->shortMaps = isShort ? SR_ALLOC(uint16_t, out->shareCount) : NULL;
    out->longMaps = isShort ? NULL : SR_ALLOC(int32_t, out->shareCount);
    bool hasShares =
        out->shareCount == 0 || (out->shares != NULL && (out->shortMaps != NULL || out->longMaps != NULL));
    return out->targets != NULL && out->places != NULL && hasShares ? sr_success
                                                                    : srFailOutOfMemory("the blend");
}

static srResult storePoints(Making* m) {
    srBlend* out = m->out;
    SR_TRY(allocatePoints(out));
    int64_t next = 0;
    for (int32_t k = 0; k < out->pointCount; k++) {
        const Draft* draft = &m->drafts[m->order[k].value];
        srVec3f place = storedPlace(m, draft->count > 0 ? draft->X : m->reach.middle);
        memcpy(out->places[k], &place, sizeof(place));
        out->targets[k] = m->order[k].value;
        for (int32_t s = 0; s < draft->count; s++, next++) {
            int32_t map = (draft->isLinear ? m->plainMaps : m->smoothMaps)[draft->nodes[s]];
            out->shares[next] = draft->shares[s];
            if (out->shortMaps != NULL) {
                out->shortMaps[next] = (uint16_t)map;
            } else {
                out->longMaps[next] = map;
            }
        }
    }
    return sr_success;
}

static srResult make(Making* m) {
    srProgress drafting = srPartOfProgress(m->progress, 0.1, 0.8);
    SR_TRY(allocateScratch(m));
    SR_TRY(measureCage(m));
    SR_TRY(srCreateAdjacency(m->cage, &m->adjacency));
    SR_TRY(srReportProgress(m->progress, 0.05));
    SR_TRY(srCreateSlopes(m->cage, &m->adjacency, &m->slopes));
    SR_TRY(srParallelForWithProgress(draftRange, m->embedding->pointCount, POINTS_PER_BLOCK, POINTS_PER_BATCH,
                                     m, &drafting));
    numberMaps(m);
    SR_TRY(srReportProgress(m->progress, 0.85));
    SR_TRY(storeMaps(m));
    SR_TRY(srReportProgress(m->progress, 0.9));
    orderPoints(m);
    SR_TRY(srReportProgress(m->progress, 0.95));
    SR_TRY(storePoints(m));
    return srReportProgress(m->progress, 1.0);
}

srResult srCreateBlend(const srCage* cage, const srEmbedding* embedding, const srVec3* points,
                       srBlend* outBlend) {
    const srProgress nobody = {0};
    return srCreateBlendWithProgress(cage, embedding, points, &nobody, outBlend);
}

srResult srCreateBlendWithProgress(const srCage* cage, const srEmbedding* embedding, const srVec3* points,
                                   const srProgress* progress, srBlend* outBlend) {
    srBlend blend = {
        .nodeCount = cage->nodeCount, .pointCount = embedding->pointCount, .largestWeightSum = 1.0};
    if (embedding->pointCount > 0) {
        Making m = {
            .cage = cage, .embedding = embedding, .points = points, .progress = progress, .out = &blend};
        srResult result = make(&m);
        srDestroyAdjacency(&m.adjacency);
        srDestroySlopes(&m.slopes);
        srDestroyArena(m.arena);
        if (result != sr_success) {
            srDestroyBlend(&blend);
            return result;
        }
    }
    *outBlend = blend;
    return sr_success;
}

void srDestroyBlend(srBlend* blend) {
    SR_FREE(blend->slopes, blend->slopeStarts != NULL ? blend->slopeStarts[blend->mapCount] : 0);
    SR_FREE(blend->slopeStarts, blend->mapCount + 1);
    SR_FREE(blend->mapNodes, blend->mapCount);
    SR_FREE(blend->mapPlaces, blend->mapCount);
    SR_FREE(blend->targets, blend->pointCount);
    SR_FREE(blend->places, blend->pointCount);
    SR_FREE(blend->shares, blend->shareCount);
    SR_FREE(blend->shortMaps, blend->shareCount);
    SR_FREE(blend->longMaps, blend->shareCount);
    *blend = (srBlend){0};
}
