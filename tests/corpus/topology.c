// SPDX-License-Identifier: GPL-3.0-or-later

#include "corpus/topology.h"

#include <stdlib.h>
#include <string.h>

// A face of a cell: its nodes in ascending order, and whether that order is turned as seen from outside.
typedef struct srCellFace {
    int32_t nodes[3];
    int32_t cell;
    int32_t opposite; // corner of the cell that the face leaves out
    bool isTurned;
} srCellFace;

// corners of the face that leaves out corner i, seen counter-clockwise from outside of a positive cell
static const int faceCorners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static int compareFaces(const void* a, const void* b) {
    const srCellFace *f = a, *g = b;
    for (int i = 0; i < 3; i++) {
        if (f->nodes[i] != g->nodes[i]) {
            return f->nodes[i] < g->nodes[i] ? -1 : 1;
        }
    }
    return (f->cell > g->cell) - (f->cell < g->cell);
}

static bool isSameFace(const srCellFace* f, const srCellFace* g) {
    return memcmp(f->nodes, g->nodes, sizeof(f->nodes)) == 0;
}

static srCellFace sortFace(const int32_t* cell, int32_t index, int opposite) {
    srCellFace face = {{0}, index, opposite, false};
    for (int i = 0; i < 3; i++) {
        face.nodes[i] = cell[faceCorners[opposite][i]];
    }
    for (int i = 0; i < 3; i++) {
        int first = i % 2; // 0 1, 1 2, 0 1
        if (face.nodes[first] > face.nodes[first + 1]) {
            int32_t swapped = face.nodes[first];
            face.nodes[first] = face.nodes[first + 1];
            face.nodes[first + 1] = swapped;
            face.isTurned = !face.isTurned;
        }
    }
    return face;
}

// ---- sets that grow together -----------------------------------------------------------------------------

static int32_t findRoot(int32_t* parents, int32_t member) {
    while (parents[member] != member) {
        parents[member] = parents[parents[member]];
        member = parents[member];
    }
    return member;
}

static void join(int32_t* parents, int32_t a, int32_t b) {
    parents[findRoot(parents, a)] = findRoot(parents, b);
}

static int32_t* makeSets(int32_t count) {
    int32_t* parents = srCorpusAlloc(NULL, count, sizeof(int32_t));
    for (int32_t i = 0; i < count; i++) {
        parents[i] = i;
    }
    return parents;
}

// How many sets there are beyond one for each node that has any.
static int32_t countExtraSets(int32_t* parents, const int32_t* nodes, int32_t count, int32_t nodeCount) {
    uint8_t* isUsed = srCorpusAlloc(NULL, nodeCount, 1);
    memset(isUsed, 0, (size_t)nodeCount);
    int32_t extra = 0;
    for (int32_t i = 0; i < count; i++) {
        extra += findRoot(parents, i) == i;
        extra -= !isUsed[nodes[i]];
        isUsed[nodes[i]] = 1;
    }
    free(isUsed);
    return extra;
}

static int cornerOfNode(const int32_t* corners, int count, int32_t node) {
    for (int c = 0; c < count; c++) {
        if (corners[c] == node) {
            return c;
        }
    }
    return 0;
}

// ---- faces -----------------------------------------------------------------------------------------------

static void addBoundary(srTopology* topology, const int32_t* cells, const srCellFace* face) {
    for (int i = 0; i < 3; i++) {
        topology->boundary[topology->boundaryCount][i] =
            cells[4 * (int64_t)face->cell + faceCorners[face->opposite][i]];
    }
    topology->boundaryCells[topology->boundaryCount++] = face->cell;
}

// Pairs faces; cells around a node that share a face with it are of one fan.
static void pairFaces(srTopology* topology, srCellFace* faces, const int32_t* cells, int32_t cellCount,
                      int32_t* fans) {
    int32_t count = 4 * cellCount;
    qsort(faces, (size_t)count, sizeof(srCellFace), compareFaces);
    for (int32_t begin = 0, end = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && isSameFace(&faces[begin], &faces[end]); end++) {
        }
        const srCellFace *f = &faces[begin], *g = &faces[end - 1];
        if (end - begin == 1) {
            addBoundary(topology, cells, f);
            continue;
        }
        topology->badFaceCount += end - begin > 2 || f->isTurned == g->isTurned;
        for (int i = 0; i < 3; i++) {
            join(fans, 4 * f->cell + cornerOfNode(cells + 4 * (int64_t)f->cell, 4, f->nodes[i]),
                 4 * g->cell + cornerOfNode(cells + 4 * (int64_t)g->cell, 4, f->nodes[i]));
        }
    }
}

// ---- edges and vertices of the boundary ------------------------------------------------------------------

typedef struct srFaceEdge {
    int32_t low;
    int32_t high;
    int32_t face;
    bool isUp; // the face runs from low to high
} srFaceEdge;

static int compareEdges(const void* a, const void* b) {
    const srFaceEdge *e = a, *f = b;
    if (e->low != f->low) {
        return e->low < f->low ? -1 : 1;
    }
    return (e->high > f->high) - (e->high < f->high);
}

static void pairEdges(srTopology* topology, int32_t* fans) {
    int32_t count = 3 * topology->boundaryCount;
    srFaceEdge* edges = srCorpusAlloc(NULL, count, sizeof(srFaceEdge));
    for (int32_t i = 0; i < count; i++) {
        int32_t a = topology->boundary[i / 3][i % 3], b = topology->boundary[i / 3][(i + 1) % 3];
        edges[i] = (srFaceEdge){a < b ? a : b, a < b ? b : a, i / 3, a < b};
    }
    qsort(edges, (size_t)count, sizeof(srFaceEdge), compareEdges);
    for (int32_t begin = 0, end = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && compareEdges(&edges[begin], &edges[end]) == 0; end++) {
        }
        const srFaceEdge *e = &edges[begin], *f = &edges[end - 1];
        if (end - begin != 2 || e->isUp == f->isUp) {
            topology->badEdgeCount++;
            continue;
        }
        const int32_t ends[2] = {e->low, e->high};
        for (int i = 0; i < 2; i++) {
            join(fans, 3 * e->face + cornerOfNode(topology->boundary[e->face], 3, ends[i]),
                 3 * f->face + cornerOfNode(topology->boundary[f->face], 3, ends[i]));
        }
    }
    free(edges);
}

static int32_t countLoose(int32_t nodeCount, const int32_t* cells, int32_t cellCount) {
    uint8_t* isUsed = srCorpusAlloc(NULL, nodeCount, 1);
    memset(isUsed, 0, (size_t)nodeCount);
    int32_t looseCount = nodeCount;
    for (int64_t i = 0; i < 4 * (int64_t)cellCount; i++) {
        looseCount -= !isUsed[cells[i]];
        isUsed[cells[i]] = 1;
    }
    free(isUsed);
    return looseCount;
}

srTopology srCreateTopology(int32_t nodeCount, const int32_t* cells, int32_t cellCount) {
    srTopology topology = {0};
    srCellFace* faces = srCorpusAlloc(NULL, 4 * (int64_t)cellCount, sizeof(srCellFace));
    topology.boundary = srCorpusAlloc(NULL, 4 * (int64_t)cellCount, sizeof(topology.boundary[0]));
    topology.boundaryCells = srCorpusAlloc(NULL, 4 * (int64_t)cellCount, sizeof(int32_t));
    for (int32_t i = 0; i < 4 * cellCount; i++) {
        faces[i] = sortFace(cells + 4 * (int64_t)(i / 4), i / 4, i % 4);
    }

    // cells around each node
    int32_t* fans = makeSets(4 * cellCount);
    pairFaces(&topology, faces, cells, cellCount, fans);
    topology.badVertexCount = countExtraSets(fans, cells, 4 * cellCount, nodeCount);
    free(fans);

    // boundary faces around each node
    fans = makeSets(3 * topology.boundaryCount);
    pairEdges(&topology, fans);
    topology.badVertexCount +=
        countExtraSets(fans, &topology.boundary[0][0], 3 * topology.boundaryCount, nodeCount);
    free(fans);

    topology.looseNodeCount = countLoose(nodeCount, cells, cellCount);
    free(faces);
    return topology;
}

void srDestroyTopology(srTopology* topology) {
    free(topology->boundary);
    free(topology->boundaryCells);
    *topology = (srTopology){0};
}
