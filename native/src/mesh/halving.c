// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rounds of: list edges; judge what halving each would make of the cells around it; halve those that share no
// cell, the longest first, mirror images all or none.

#include "mesh/halving.h"

#include "mesh/sort.h"

#include <math.h>
#include <string.h>

// A round more than doubles the nodes at most; cells do not get any worse by further ones, but no better.
#define MOST_ROUNDS 8

// Of the longest edge of each cell around, at least. Shorter ones make cells flat.
#define LEAST_SHARE 0.8

// What stays of the angles: halves may be no sharper than this, or than the cell was. (cos 24, in degrees)
#define LARGEST_COSINE 0.9135

// Edges of about one length are taken scattered over the cage, by a wave that mirroring leaves alone.
#define WAVE_SHARE 0.2

// What differs by no more than that in score are mirror images.
#define ALIKE 1e-9

// More nodes than wanted, to halve mirror images alike
#define LARGEST_EXCESS 0.05

typedef struct Halving {
    const srRawCells* cells;
    srVec3 middle;
    double unit;      // the longest edge
    srKeyed* edges;   // six a cell, equal ones side by side; the value is 6 * cell + edge of it
    srKeyed* scores;  // one an edge that may be halved, the best first; the value is its first in `edges`
    srKeyed* scratch; // for either
    int32_t edgeCount;
    int32_t scoreCount;
    int32_t* middles; // of each cell: the node amid its edge, or null
    int8_t* halved;   // and which of its edges
    int32_t* claims;  // of each cell: the last edge of the group that asked for it
    srRawCells* out;  // nodes grow here
    int32_t nodeLimit;
} Halving;

// Two ends of an edge, and of the one across.
static const int edgeCorners[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                      {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};

static srVec3 cornerAt(const srRawCells* cells, int32_t cell, int corner) {
    return cells->nodes[cells->cells[cell][corner]];
}

static double squaredLengthOf(const srRawCells* cells, int32_t cell, int edge) {
    srVec3 along =
        srSub(cornerAt(cells, cell, edgeCorners[edge][0]), cornerAt(cells, cell, edgeCorners[edge][1]));
    return srDot(along, along);
}

// Of the angle at the edge p q between the faces to r and to s.
static double cosineAt(srVec3 p, srVec3 q, srVec3 r, srVec3 s) {
    srVec3 edge = srSub(q, p);
    srVec3 u = srCross(edge, srSub(r, p)), v = srCross(edge, srSub(s, p));
    double lengths = sqrt(srDot(u, u) * srDot(v, v));
    return lengths > 0.0 ? srDot(u, v) / lengths : 1.0;
}

// The cosine of the sharpest angle, without regard to flat ones.
static double sharpestOf(const srRawCells* cells, int32_t cell) {
    double sharpest = -1.0;
    for (int e = 0; e < 6; e++) {
        const int* n = edgeCorners[e];
        sharpest = fmax(sharpest, cosineAt(cornerAt(cells, cell, n[0]), cornerAt(cells, cell, n[1]),
                                           cornerAt(cells, cell, n[2]), cornerAt(cells, cell, n[3])));
    }
    return sharpest;
}

// A cell a b c d halved between a and b: the angle at the edge c d becomes two, and at the edges from the
// middle to c and to d there are two new ones each, that make up 180 degrees. All others stay.
static double sharpestNewOf(const srRawCells* cells, int32_t cell, int edge) {
    const int* n = edgeCorners[edge];
    srVec3 a = cornerAt(cells, cell, n[0]), b = cornerAt(cells, cell, n[1]);
    srVec3 c = cornerAt(cells, cell, n[2]), d = cornerAt(cells, cell, n[3]);
    srVec3 m = srScale(0.5, srAdd(a, b));
    double across = fmax(cosineAt(c, d, a, m), cosineAt(c, d, m, b));
    double beside = fmax(fabs(cosineAt(m, c, a, d)), fabs(cosineAt(m, d, a, c)));
    return fmax(across, beside);
}

static bool mayHalve(const srRawCells* cells, int32_t cell, int edge) {
    double longest = 0.0, length = squaredLengthOf(cells, cell, edge);
    for (int e = 0; e < 6; e++) {
        longest = fmax(longest, squaredLengthOf(cells, cell, e));
    }
    // mirror images differ by rounding
    double sharpest = sharpestNewOf(cells, cell, edge) - ALIKE;
    return length >= (1.0 - ALIKE) * LEAST_SHARE * LEAST_SHARE * longest &&
           (sharpest <= LARGEST_COSINE || sharpest <= sharpestOf(cells, cell));
}

static void measure(Halving* h) {
    const srRawCells* cells = h->cells;
    srVec3 lower = cells->nodes[cells->cells[0][0]], upper = lower;
    double longest = 0.0;
    for (int32_t i = 0; i < 6 * cells->cellCount; i++) {
        srVec3 x = cornerAt(cells, i / 6, i % 6 % 4);
        lower = srMin(lower, x);
        upper = srMax(upper, x);
        longest = fmax(longest, squaredLengthOf(cells, i / 6, i % 6));
    }
    h->middle = srScale(0.5, srAdd(lower, upper));
    h->unit = sqrt(longest);
}

static void listEdges(Halving* h) {
    h->edgeCount = 6 * h->cells->cellCount;
    for (int32_t i = 0; i < h->edgeCount; i++) {
        const int32_t* n = h->cells->cells[i / 6];
        h->edges[i] = (srKeyed){srEdgeKey(n[edgeCorners[i % 6][0]], n[edgeCorners[i % 6][1]]), i};
    }
    srSortKeyed(h->edges, h->scratch, h->edgeCount);
}

static int32_t endOfEdge(const Halving* h, int32_t first) {
    int32_t end = first;
    while (end < h->edgeCount && h->edges[end].key == h->edges[first].key) {
        end++;
    }
    return end;
}

static srVec3 middleOf(const Halving* h, int32_t first) {
    int32_t cell = h->edges[first].value / 6;
    const int* n = edgeCorners[h->edges[first].value % 6];
    return srScale(0.5, srAdd(cornerAt(h->cells, cell, n[0]), cornerAt(h->cells, cell, n[1])));
}

// Between 0 and 1, without a jump.
static double waveOf(const Halving* h, srVec3 x) {
    srVec3 from = srScale(1.0 / h->unit, srSub(x, h->middle));
    double place = 0.7548777 * fabs(from.x) + 0.5698403 * fabs(from.y) + 0.4301597 * fabs(from.z);
    return 2.0 * fabs(place - floor(place) - 0.5);
}

// A key that sorts numbers above zero descending.
static uint64_t descending(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return ~bits;
}

static double scoreOf(const srKeyed* score) {
    uint64_t bits = ~score->key;
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static void scoreEdges(Halving* h) {
    h->scoreCount = 0;
    for (int32_t first = 0, end = 0; first < h->edgeCount; first = end) {
        bool isFit = true;
        end = endOfEdge(h, first);
        for (int32_t i = first; i < end && isFit; i++) {
            isFit = mayHalve(h->cells, h->edges[i].value / 6, h->edges[i].value % 6);
        }
        if (isFit) {
            double length = squaredLengthOf(h->cells, h->edges[first].value / 6, h->edges[first].value % 6);
            double score = length * (1.0 + WAVE_SHARE * waveOf(h, middleOf(h, first)));
            h->scores[h->scoreCount++] = (srKeyed){descending(score), first};
        }
    }
    srSortKeyed(h->scores, h->scratch, h->scoreCount);
}

// Whether no cell around is halved already, or wanted by another edge of the group.
static bool isFree(const Halving* h, int32_t first, int32_t groupBegin) {
    for (int32_t i = first, end = endOfEdge(h, first); i < end; i++) {
        int32_t cell = h->edges[i].value / 6;
        if (h->middles[cell] != SR_NULL_INDEX || h->claims[cell] == -2 - groupBegin) {
            return false;
        }
    }
    return true;
}

// Cells that two edges of a group ask for are neither's: which of them were the mirror image of which?
static void claimCells(Halving* h, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        int32_t first = h->scores[i].value;
        for (int32_t e = first; e < endOfEdge(h, first); e++) {
            int32_t* claim = &h->claims[h->edges[e].value / 6];
            bool isAsked = *claim == begin || *claim == -2 - begin;
            *claim = isAsked ? -2 - begin : begin;
        }
    }
}

static void halve(Halving* h, int32_t first) {
    int32_t node = h->out->nodeCount++;
    h->out->nodes[node] = middleOf(h, first);
    for (int32_t i = first, end = endOfEdge(h, first); i < end; i++) {
        h->middles[h->edges[i].value / 6] = node;
        h->halved[h->edges[i].value / 6] = (int8_t)(h->edges[i].value % 6);
    }
}

// Edges of one score all, but for those that share a cell; or none, where that is too many.
static void halveGroup(Halving* h, int32_t begin, int32_t end) {
    int32_t count = 0;
    claimCells(h, begin, end);
    for (int32_t i = begin; i < end; i++) {
        count += isFree(h, h->scores[i].value, begin);
    }
    if (h->out->nodeCount + count > h->nodeLimit) {
        return;
    }
    for (int32_t i = begin; i < end; i++) {
        if (isFree(h, h->scores[i].value, begin)) {
            halve(h, h->scores[i].value);
        }
    }
}

static void halveGroups(Halving* h, int32_t wantedNodes) {
    int32_t cellCount = h->cells->cellCount;
    memset(h->middles, 0xff, (size_t)cellCount * sizeof(int32_t)); // null
    memset(h->claims, 0xff, (size_t)cellCount * sizeof(int32_t));
    for (int32_t begin = 0, end = 0; begin < h->scoreCount && h->out->nodeCount < wantedNodes; begin = end) {
        double score = scoreOf(&h->scores[begin]);
        for (end = begin + 1; end < h->scoreCount && scoreOf(&h->scores[end]) >= (1.0 - ALIKE) * score;
             end++) {
        }
        halveGroup(h, begin, end);
    }
}

// Both halves of a cell come where it was, so that their tetrahedra stay in order.
static void writeCells(const Halving* h) {
    const srRawCells* in = h->cells;
    srRawCells* out = h->out;
    for (int32_t cell = 0; cell < in->cellCount; cell++) {
        bool isHalved = h->middles[cell] != SR_NULL_INDEX;
        for (int half = 0; half <= isHalved; half++) {
            memcpy(out->cells[out->cellCount], in->cells[cell], sizeof(out->cells[0]));
            if (isHalved) {
                out->cells[out->cellCount][edgeCorners[h->halved[cell]][half]] = h->middles[cell];
            }
            out->tets[out->cellCount++] = in->tets[cell];
        }
    }
}

static srResult startRound(Halving* h, srArena* arena, srRawCells* out) {
    const srRawCells* cells = h->cells;
    int32_t most = h->nodeLimit > cells->nodeCount ? h->nodeLimit : cells->nodeCount;
    *out = (srRawCells){.nodes = SR_PUSH(arena, srVec3, most, "nodes"),
                        .cells =
                            srArena_Push(arena, 2 * (size_t)cells->cellCount, sizeof(out->cells[0]), "cells"),
                        .tets = SR_PUSH(arena, int32_t, 2 * (size_t)cells->cellCount, "tets of cells"),
                        .nodeCount = cells->nodeCount};
    size_t edgeCount = 6 * (size_t)cells->cellCount;
    h->out = out;
    h->edges = SR_PUSH(arena, srKeyed, edgeCount, "edges");
    h->scores = SR_PUSH(arena, srKeyed, edgeCount, "edges");
    h->scratch = SR_PUSH(arena, srKeyed, edgeCount, "edges");
    h->middles = SR_PUSH(arena, int32_t, cells->cellCount, "halved cells");
    h->claims = SR_PUSH(arena, int32_t, cells->cellCount, "halved cells");
    h->halved = SR_PUSH(arena, int8_t, cells->cellCount, "halved cells");
    if (out->nodes == NULL || out->cells == NULL || out->tets == NULL || h->edges == NULL ||
        h->scores == NULL || h->scratch == NULL || h->middles == NULL || h->claims == NULL ||
        h->halved == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    memcpy(out->nodes, cells->nodes, (size_t)cells->nodeCount * sizeof(srVec3));
    return sr_success;
}

srResult srHalveEdges(const srRawCells* cells, int32_t wantedNodes, srArena* arena,
                      const srProgress* progress, srRawCells* outCells) {
    srRawCells made = *cells;
    int32_t limit = (int32_t)fmin((1.0 + LARGEST_EXCESS) * wantedNodes, INT32_MAX / 16);
    bool isGrowing = made.cellCount > 0;
    for (int round = 0; round < MOST_ROUNDS && isGrowing && made.nodeCount < wantedNodes; round++) {
        if (made.cellCount > INT32_MAX / 16) {
            return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
        }
        srRawCells next;
        Halving halving = {.cells = &made, .nodeLimit = limit};
        SR_TRY(srReportProgress(progress, round / (double)MOST_ROUNDS));
        SR_TRY(startRound(&halving, arena, &next));
        measure(&halving);
        listEdges(&halving);
        scoreEdges(&halving);
        halveGroups(&halving, wantedNodes);
        writeCells(&halving);
        isGrowing = next.nodeCount > made.nodeCount;
        made = next;
    }
    *outCells = made;
    return sr_success;
}
