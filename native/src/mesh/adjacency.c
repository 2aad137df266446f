// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells around nodes by counting; faces matched among the cells around their lowest node, node by node.

#include "mesh/adjacency.h"

#include "core/alloc.h"
#include "core/parallel.h"

#include <string.h>

#define NODES_PER_BLOCK 256

// Steps of a walk. Rounding could send one round in a ring; and who needs more than these has lost the way.
#define MOST_STEPS 64

// As far outside of a face, in barycentric weight, a point lies on it.
#define FACE_TOLERANCE 1e-12

typedef struct Matching {
    const srCage* cage;
    srAdjacency* out;
} Matching;

static void listCells(const srCage* cage, srAdjacency* out, int32_t* next) {
    for (int32_t corner = 0; corner < 4 * cage->cellCount; corner++) {
        out->cellStarts[cage->cells[corner / 4][corner % 4] + 1]++;
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        out->cellStarts[node + 1] += out->cellStarts[node];
        next[node] = out->cellStarts[node];
    }
    for (int32_t corner = 0; corner < 4 * cage->cellCount; corner++) {
        out->cells[next[cage->cells[corner / 4][corner % 4]]++] = corner / 4;
    }
}

// The two higher nodes of a face of which `lowest` is the lowest; false when it is not.
static bool getHigherNodes(const int32_t cell[4], int face, int32_t lowest, int32_t outNodes[2]) {
    int count = 0;
    for (int c = 0; c < 4; c++) {
        if (c != face && cell[c] > lowest) {
            if (count < 2) {
                outNodes[count] = cell[c];
            }
            count++;
        }
    }
    return count == 2 && cell[face] != lowest;
}

// The face of a cell with these three nodes, or SR_NULL_INDEX.
static int32_t findFace(const int32_t cell[4], int32_t lowest, const int32_t higher[2]) {
    int32_t face = SR_NULL_INDEX;
    int foundCount = 0;
    for (int c = 0; c < 4; c++) {
        bool isOfFace = cell[c] == lowest || cell[c] == higher[0] || cell[c] == higher[1];
        foundCount += isOfFace;
        face = isOfFace ? face : c;
    }
    return foundCount == 3 ? face : SR_NULL_INDEX;
}

// Cells come in order and pair off with the next one, so that one has no neighbour there yet.
static void matchFace(const Matching* m, const int32_t* others, const int32_t* end, int32_t cell, int face,
                      int32_t lowest) {
    int32_t higher[2];
    int32_t (*neighbours)[4] = m->out->neighbours;
    // in this order: a face of another lowest node is another worker's to write
    if (!getHigherNodes(m->cage->cells[cell], face, lowest, higher) ||
        neighbours[cell][face] != SR_NULL_INDEX) {
        return;
    }
    for (const int32_t* other = others; other < end; other++) {
        int32_t otherFace = findFace(m->cage->cells[*other], lowest, higher);
        if (otherFace != SR_NULL_INDEX) {
            neighbours[cell][face] = *other;
            neighbours[*other][otherFace] = cell;
            return;
        }
    }
}

// A face is written for its lowest node alone, so nodes may be taken in any order.
static void matchRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Matching* m = context;
    for (int32_t node = begin; node < end; node++) {
        const int32_t* around = m->out->cells + m->out->cellStarts[node];
        const int32_t* last = m->out->cells + m->out->cellStarts[node + 1];
        for (; around < last; around++) {
            for (int face = 0; face < 4; face++) {
                matchFace(m, around + 1, last, *around, face, node);
            }
        }
    }
}

srResult srCreateAdjacency(const srCage* cage, srAdjacency* outAdjacency) {
    if (cage->cellCount > INT32_MAX / 4) {
        return srFail(sr_errorTooLarge, "The cage has %d cells; %d is the most.", cage->cellCount,
                      INT32_MAX / 4);
    }
    srAdjacency adjacency = {.nodeCount = cage->nodeCount, .cellCount = cage->cellCount};
    int32_t* next = SR_ALLOC(int32_t, cage->nodeCount);
    adjacency.neighbours = srAlloc((size_t)cage->cellCount, sizeof(adjacency.neighbours[0]));
    adjacency.cellStarts = SR_ALLOC_ZERO(int32_t, cage->nodeCount + 1);
    adjacency.cells = SR_ALLOC(int32_t, 4 * cage->cellCount);
    bool isAllocated = next != NULL && adjacency.neighbours != NULL && adjacency.cellStarts != NULL &&
                       adjacency.cells != NULL;
    srResult result =
        isAllocated ? srCreateFrames(cage, &adjacency.frames) : srFailOutOfMemory("the neighbours of cells");
    if (result == sr_success) {
        listCells(cage, &adjacency, next);
        memset(adjacency.neighbours, 0xff, (size_t)cage->cellCount * sizeof(adjacency.neighbours[0])); // null
        Matching matching = {cage, &adjacency};
        srParallelFor(matchRange, cage->nodeCount, NODES_PER_BLOCK, &matching);
    }
    SR_FREE(next, cage->nodeCount);
    if (result != sr_success) {
        srDestroyAdjacency(&adjacency);
        return result;
    }
    *outAdjacency = adjacency;
    return sr_success;
}

void srDestroyAdjacency(srAdjacency* adjacency) {
    SR_FREE(adjacency->frames, adjacency->cellCount);
    SR_FREE(adjacency->neighbours, adjacency->cellCount);
    SR_FREE(adjacency->cellStarts, adjacency->nodeCount + 1);
    SR_FREE(adjacency->cells, 4 * adjacency->cellCount);
    *adjacency = (srAdjacency){0};
}

// Across the face that the point is farthest beyond; where the cage ends there, across the next one.
int32_t srWalkToPoint(const srAdjacency* adjacency, int32_t cell, srVec3 point, double outWeights[4]) {
    srWeigh(&adjacency->frames[cell], point, outWeights);
    for (int step = 0; step < MOST_STEPS; step++) {
        int32_t next = SR_NULL_INDEX;
        double least = -FACE_TOLERANCE;
        for (int c = 0; c < 4; c++) {
            if (outWeights[c] < least && adjacency->neighbours[cell][c] != SR_NULL_INDEX) {
                least = outWeights[c];
                next = adjacency->neighbours[cell][c];
            }
        }
        if (next == SR_NULL_INDEX) {
            break;
        }
        cell = next;
        srWeigh(&adjacency->frames[cell], point, outWeights);
    }
    return cell;
}
