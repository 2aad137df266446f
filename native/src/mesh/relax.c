// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/relax.h"

#include "mesh/faces.h"

#include <math.h>
#include <string.h>

#define SWEEP_COUNT 8

// Steps that are tried, in mean lengths of the edges around.
static const double steps[] = {0.3, 0.15, 0.07, 0.03, 0.01};
#define STEP_COUNT 5
#define DIRECTION_COUNT 9

// How far a node of the surface may go, in the same
#define LEASH 0.25

// Less than this is no improvement.
#define LEAST_GAIN 1e-4

typedef struct Relaxing {
    srVec3* nodes;
    const int32_t (*cells)[4];
    int32_t* starts; // cells around each node
    int32_t* around;
    srVec3* homes; // where nodes of the surface were; used by those alone
    uint8_t* isOnSurface;
} Relaxing;

// sin theta = 3/2 V |e| / (A B), with A and B the faces at edge e; below zero for a cell that is turned over.
static double worthOf(const srVec3 x[4]) {
    static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                    {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    srVec3 b = srSub(x[1], x[0]), c = srSub(x[2], x[0]), d = srSub(x[3], x[0]);
    double six = srDot(b, srCross(c, d)), least = 1.0, doubled[4];
    for (int face = 0; face < 4; face++) {
        const int* n = srFaceCorners[face];
        doubled[face] = srLength(srCross(srSub(x[n[1]], x[n[0]]), srSub(x[n[2]], x[n[0]])));
    }
    for (int e = 0; e < 6; e++) {
        // the faces at an edge are those opposite to the other two corners
        double areas = doubled[edges[e][2]] * doubled[edges[e][3]];
        double sine = areas > 0.0 ? six * srDistance(x[edges[e][0]], x[edges[e][1]]) / areas : -1.0;
        least = sine < least ? sine : least;
    }
    return least;
}

static double worthOfCell(const Relaxing* r, int32_t cell) {
    srVec3 x[4];
    for (int c = 0; c < 4; c++) {
        x[c] = r->nodes[r->cells[cell][c]];
    }
    return worthOf(x);
}

// The worst cell around a node.
static double worthAround(const Relaxing* r, int32_t node) {
    double least = 1.0;
    for (int32_t i = r->starts[node]; i < r->starts[node + 1]; i++) {
        double worth = worthOfCell(r, r->around[i]);
        least = worth < least ? worth : least;
    }
    return least;
}

// The middle of what is around, and how long edges are there.
static srVec3 surroundings(const Relaxing* r, int32_t node, double* outLength) {
    srVec3 sum = {0.0, 0.0, 0.0};
    double lengths = 0.0, count = 3.0 * (r->starts[node + 1] - r->starts[node]);
    for (int32_t i = r->starts[node]; i < r->starts[node + 1]; i++) {
        const int32_t* cell = r->cells[r->around[i]];
        for (int c = 0; c < 4; c++) {
            if (cell[c] != node) {
                sum = srAdd(sum, r->nodes[cell[c]]);
                lengths += srDistance(r->nodes[cell[c]], r->nodes[node]);
            }
        }
    }
    *outLength = lengths / count;
    return srScale(1.0 / count, sum);
}

static srVec3 unit(srVec3 v) {
    double length = srLength(v);
    return length > 0.0 ? srScale(1.0 / length, v) : v;
}

// Away from the cell's other face, to the middle, and along the axes; each either way but for the middle.
static void listDirections(const Relaxing* r, int32_t cell, int32_t node, srVec3 toMiddle,
                           srVec3 out[DIRECTION_COUNT]) {
    const int32_t* corners = r->cells[cell];
    const int* face = srFaceCorners[srCornerOf(corners, node)];
    srVec3 a = r->nodes[corners[face[0]]];
    srVec3 normal = srCross(srSub(r->nodes[corners[face[1]]], a), srSub(r->nodes[corners[face[2]]], a));
    const srVec3 axes[4] = {unit(normal), {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 4; i++) {
        out[2 * i] = srScale(-1.0, axes[i]);
        out[2 * i + 1] = axes[i];
    }
    out[8] = unit(toMiddle);
}

// Tries to make the worst cell around a node better. True when it did.
static bool improve(Relaxing* r, int32_t cell, int32_t node) {
    double length, before = worthAround(r, node), best = before + LEAST_GAIN;
    srVec3 place = r->nodes[node], bestPlace = place, directions[DIRECTION_COUNT];
    srVec3 middle = surroundings(r, node, &length);
    listDirections(r, cell, node, srSub(middle, place), directions);
    for (int d = 0; d < DIRECTION_COUNT; d++) {
        for (int s = 0; s < STEP_COUNT; s++) {
            srVec3 target = srMulAdd(place, steps[s] * length, directions[d]);
            if (r->isOnSurface[node] && srDistance(target, r->homes[node]) > LEASH * length) {
                continue;
            }
            r->nodes[node] = target;
            double worth = worthAround(r, node);
            bestPlace = worth > best ? target : bestPlace;
            best = worth > best ? worth : best;
        }
    }
    r->nodes[node] = bestPlace;
    return best > before + LEAST_GAIN;
}

static bool sweep(Relaxing* r, int32_t cellCount, double wanted) {
    bool isBetter = false;
    for (int32_t cell = 0; cell < cellCount; cell++) {
        for (int c = 0; c < 4 && worthOfCell(r, cell) < wanted; c++) {
            isBetter = improve(r, cell, r->cells[cell][c]) || isBetter;
        }
    }
    return isBetter;
}

static void linkCells(Relaxing* r, int32_t nodeCount, int32_t cellCount) {
    memset(r->starts, 0, ((size_t)nodeCount + 1) * sizeof(int32_t));
    for (int32_t cell = 0; cell < cellCount; cell++) {
        for (int c = 0; c < 4; c++) {
            r->starts[r->cells[cell][c]]++;
        }
    }
    int32_t sum = 0;
    for (int32_t n = 0; n <= nodeCount; n++) {
        sum += n < nodeCount ? r->starts[n] : 0;
        r->starts[n] = sum;
    }
    for (int32_t cell = cellCount - 1; cell >= 0; cell--) {
        for (int c = 0; c < 4; c++) {
            r->around[--r->starts[r->cells[cell][c]]] = cell;
        }
    }
}

static srResult findSurface(Relaxing* r, int32_t nodeCount, int32_t cellCount, srArena* arena) {
    srArenaMark mark = srArena_GetMark(arena);
    int32_t* opposite = SR_PUSH(arena, int32_t, 4 * (size_t)cellCount, "faces");
    if (opposite == NULL) {
        return srFailOutOfMemory("the cage");
    }
    memset(r->isOnSurface, 0, (size_t)nodeCount);
    SR_TRY(srPairFaces(r->cells, cellCount, nodeCount, arena, opposite));
    for (int32_t face = 0; face < 4 * cellCount; face++) {
        for (int c = 0; c < 3 && opposite[face] == SR_NULL_INDEX; c++) {
            r->isOnSurface[r->cells[face / 4][srFaceCorners[face % 4][c]]] = 1;
        }
    }
    srArena_Release(arena, mark);
    return sr_success;
}

srResult srRelaxNodes(srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4], int32_t cellCount,
                      double wantedDegrees, srArena* arena) {
    srArenaMark mark = srArena_GetMark(arena);
    Relaxing r = {.nodes = nodes, .cells = cells};
    r.starts = SR_PUSH(arena, int32_t, nodeCount + 1, "cells around nodes");
    r.around = SR_PUSH(arena, int32_t, 4 * (size_t)cellCount, "cells around nodes");
    r.homes = SR_PUSH(arena, srVec3, nodeCount, "places of nodes");
    r.isOnSurface = SR_PUSH(arena, uint8_t, nodeCount, "nodes of the surface");
    if (r.starts == NULL || r.around == NULL || r.homes == NULL || r.isOnSurface == NULL) {
        return srFailOutOfMemory("the cage");
    }
    memcpy(r.homes, nodes, (size_t)nodeCount * sizeof(srVec3));
    linkCells(&r, nodeCount, cellCount);
    SR_TRY(findSurface(&r, nodeCount, cellCount, arena));
    double wanted = sin(wantedDegrees / 180.0 * 3.14159265358979323846);
    for (int i = 0; i < SWEEP_COUNT && sweep(&r, cellCount, wanted); i++) {
    }
    srArena_Release(arena, mark);
    return sr_success;
}
