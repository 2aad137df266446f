// SPDX-License-Identifier: GPL-3.0-or-later
//
// Volume times the gradient of a corner's weight is a third of the area vector of the face opposite to it: no
// division by a volume that may be tiny, but by the sum around the node.

#include "mesh/slopes.h"

#include "core/alloc.h"
#include "core/parallel.h"

#define NODES_PER_BLOCK 64

typedef struct Filling {
    const srCage* cage;
    const srAdjacency* adjacency;
    srSlopes* out;
    srVec3* sums; // of area vectors, one an entry
} Filling;

// Edges ascend, so neighbours of a node do: first the lower ones, then the higher.
static void listNeighbours(const srCage* cage, srSlopes* out, int32_t* next) {
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        out->starts[cage->edges[e][0] + 1]++;
        out->starts[cage->edges[e][1] + 1]++;
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        out->starts[node + 1] += out->starts[node];
        next[node] = out->starts[node];
    }
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        out->entries[next[cage->edges[e][0]]++].node = cage->edges[e][1];
        out->entries[next[cage->edges[e][1]]++].node = cage->edges[e][0];
    }
}

static void addToNeighbour(const Filling* f, int32_t node, int32_t neighbour, srVec3 area) {
    int32_t e = f->out->starts[node];
    while (f->out->entries[e].node != neighbour) {
        e++;
    }
    f->sums[e] = srAdd(f->sums[e], area);
}

// Twice the inward area vectors of the faces opposite to the corners; returns six times the volume.
static double findAreas(const srCage* cage, int32_t cell, srVec3 areas[4]) {
    const int32_t* n = cage->cells[cell];
    srVec3 a = cage->nodes[n[0]];
    srVec3 ab = srSub(cage->nodes[n[1]], a), ac = srSub(cage->nodes[n[2]], a);
    srVec3 ad = srSub(cage->nodes[n[3]], a);
    areas[1] = srCross(ac, ad);
    areas[2] = srCross(ad, ab);
    areas[3] = srCross(ab, ac);
    areas[0] = srScale(-1.0, srAdd(areas[1], srAdd(areas[2], areas[3])));
    return srDot(ab, areas[1]);
}

static void fillNode(const Filling* f, int32_t node) {
    const srAdjacency* adjacency = f->adjacency;
    double volume = 0.0;
    for (int32_t e = f->out->starts[node]; e < f->out->starts[node + 1]; e++) {
        f->sums[e] = (srVec3){0.0, 0.0, 0.0};
    }
    for (int32_t p = adjacency->cellStarts[node]; p < adjacency->cellStarts[node + 1]; p++) {
        const int32_t* corners = f->cage->cells[adjacency->cells[p]];
        srVec3 areas[4];
        volume += findAreas(f->cage, adjacency->cells[p], areas);
        for (int c = 0; c < 4; c++) {
            if (corners[c] != node) {
                addToNeighbour(f, node, corners[c], areas[c]);
            }
        }
    }
    for (int32_t e = f->out->starts[node]; e < f->out->starts[node + 1]; e++) {
        srVec3f half = srToFloat(srScale(0.5 / volume, f->sums[e]));
        f->out->entries[e].gradient[0] = half.x;
        f->out->entries[e].gradient[1] = half.y;
        f->out->entries[e].gradient[2] = half.z;
    }
}

static void fillRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t node = begin; node < end; node++) {
        fillNode(context, node);
    }
}

srResult srCreateSlopes(const srCage* cage, const srAdjacency* adjacency, srSlopes* outSlopes) {
    int32_t entryCount = 2 * cage->edgeCount;
    srSlopes slopes = {.nodeCount = cage->nodeCount};
    int32_t* next = SR_ALLOC(int32_t, cage->nodeCount);
    srVec3* sums = SR_ALLOC(srVec3, entryCount);
    slopes.starts = SR_ALLOC_ZERO(int32_t, cage->nodeCount + 1);
    slopes.entries = SR_ALLOC(srSlope, entryCount);
    bool isAllocated = next != NULL && sums != NULL && slopes.starts != NULL && slopes.entries != NULL;
    if (isAllocated) {
        listNeighbours(cage, &slopes, next);
        Filling filling = {cage, adjacency, &slopes, sums};
        srParallelFor(fillRange, cage->nodeCount, NODES_PER_BLOCK, &filling);
    }
    SR_FREE(next, cage->nodeCount);
    SR_FREE(sums, entryCount);
    if (!isAllocated) {
        SR_FREE(slopes.entries, entryCount);
        SR_FREE(slopes.starts, cage->nodeCount + 1);
        return srFailOutOfMemory("the slopes of the cage");
    }
    *outSlopes = slopes;
    return sr_success;
}

void srDestroySlopes(srSlopes* slopes) {
    SR_FREE(slopes->entries, slopes->starts != NULL ? slopes->starts[slopes->nodeCount] : 0);
    SR_FREE(slopes->starts, slopes->nodeCount + 1);
    *slopes = (srSlopes){0};
}

double srSumSlopeWeights(const srSlopes* slopes, int32_t node, srVec3 d) {
    double own = 1.0, others = 0.0;
    for (int32_t e = slopes->starts[node]; e < slopes->starts[node + 1]; e++) {
        const float* g = slopes->entries[e].gradient;
        double weight = (double)g[0] * d.x + (double)g[1] * d.y + (double)g[2] * d.z;
        own -= weight;
        others += fabs(weight);
    }
    return fabs(own) + others;
}
