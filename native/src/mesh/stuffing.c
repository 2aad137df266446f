// SPDX-License-Identifier: GPL-3.0-or-later
//
// Walking the scaffold's tetrahedra and cutting them. What is left of one is a tetrahedron, a pyramid or a
// wedge. Four-sided faces that two tetrahedra share are halved by a rule that both follow.

#include "mesh/stuffing.h"

#include <string.h>

#define TETS_PER_REPORT 32768

typedef struct Stuffing {
    const srWarp* warp;
    int32_t* nodeOfPoint;
    int32_t* nodeOfCut;
    srRawCells* out;
    int32_t tet;
} Stuffing;

static int32_t pointNode(Stuffing* s, int32_t point) {
    if (s->nodeOfPoint[point] == SR_NULL_INDEX) {
        s->nodeOfPoint[point] = s->out->nodeCount;
        s->out->nodes[s->out->nodeCount++] = srWarp_Point(s->warp, point);
    }
    return s->nodeOfPoint[point];
}

static int32_t cutNode(Stuffing* s, int32_t inside, int32_t outside) {
    int32_t cut = srWarp_FindCut(s->warp, inside, outside);
    if (s->nodeOfCut[cut] == SR_NULL_INDEX) {
        srVec3 from = s->warp->scaffold->points[inside];
        srVec3 to = s->warp->scaffold->points[outside];
        s->nodeOfCut[cut] = s->out->nodeCount;
        s->out->nodes[s->out->nodeCount++] = srMulAdd(from, s->warp->cuts[cut], srSub(to, from));
    }
    return s->nodeOfCut[cut];
}

// Which way round does not matter: srCreateCage turns it.
static void addCell(Stuffing* s, int32_t a, int32_t b, int32_t c, int32_t d) {
    int32_t* cell = s->out->cells[s->out->cellCount];
    cell[0] = a, cell[1] = b, cell[2] = c, cell[3] = d;
    s->out->tets[s->out->cellCount++] = s->tet;
}

static int32_t squaredLength(const int32_t a[3], const int32_t b[3]) {
    int32_t x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// How many coordinates of a are farther from the middle than b's, odd or even: the parity of Labelle and
// Shewchuk, in a form that mirroring leaves alone.
static bool isOddBeyond(const int32_t a[3], const int32_t b[3]) {
    int count = 0;
    for (int axis = 0; axis < 3; axis++) {
        count += (a[axis] < 0 ? -a[axis] : a[axis]) > (b[axis] < 0 ? -b[axis] : b[axis]);
    }
    return (count & 1) != 0;
}

static bool isBefore(const int32_t a[3], const int32_t b[3]) {
    for (int axis = 0; axis < 2; axis++) {
        if (a[axis] != b[axis]) {
            return a[axis] < b[axis];
        }
    }
    return a[2] < b[2];
}

// A face a b outside with a and b inside: does its four-sided rest (a, b, cut of b, cut of a) get the
// diagonal from a (else from b)? Looks only at the face, so both tetrahedra answer alike. The diagonal ends
// in the cut of the longer edge; of edges of one length the parity decides, as in the paper, and where even
// that is the same (across the middle planes, and in halved tetrahedra) the coordinates do. The three in this
// order rank the points around an outside one, so that the sides of a wedge never chase each other in a
// circle.
static bool startsAt(const Stuffing* s, int32_t a, int32_t b, int32_t outside) {
    const srScaffold* scaffold = s->warp->scaffold;
    const int32_t *p = scaffold->coords[a], *q = scaffold->coords[b], *o = scaffold->coords[outside];
    int32_t lengthA = squaredLength(p, o), lengthB = squaredLength(q, o);
    if (lengthA != lengthB) {
        return lengthA < lengthB;
    }
    bool oddA = isOddBeyond(p, o), oddB = isOddBeyond(q, o);
    return oddA != oddB ? oddA : isBefore(p, q);
}

// Three cells from a wedge with triangles top and bottom, edges top[i]-bottom[i]. `owner01` is the index (0
// or 1) whose top corner the diagonal of the side between edges 0 and 1 starts at, and so on. Not all three
// may own one.
static void addWedge(Stuffing* s, const int32_t top[3], const int32_t bottom[3], int owner01, int owner12,
                     int owner20) {
    int owned[3] = {0, 0, 0};
    owned[owner01]++;
    owned[owner12]++;
    owned[owner20]++;
    int x = 0, y = 0, z = 0;
    for (int i = 0; i < 3; i++) {
        x = owned[i] == 2 ? i : x;
        y = owned[i] == 1 ? i : y;
        z = owned[i] == 0 ? i : z;
    }
    addCell(s, top[x], top[y], top[z], bottom[z]);
    addCell(s, top[x], top[y], bottom[y], bottom[z]);
    addCell(s, top[x], bottom[x], bottom[y], bottom[z]);
}

static double nodeDistance(const Stuffing* s, int32_t a, int32_t b) {
    return srDistance(s->out->nodes[a], s->out->nodes[b]);
}

// Two inside (a, b), two outside (c, d): a wedge between the triangles (a, ac, ad) and (b, bc, bd). The side
// of the four cuts lies on the cage's skin and is free.
static void addWedgeOfEdge(Stuffing* s, const int32_t inside[2], const int32_t outside[2]) {
    int32_t a = inside[0], b = inside[1], c = outside[0], d = outside[1];
    int32_t top[3] = {pointNode(s, a), cutNode(s, a, c), cutNode(s, a, d)};
    int32_t bottom[3] = {pointNode(s, b), cutNode(s, b, c), cutNode(s, b, d)};
    int owner01 = startsAt(s, a, b, c) ? 0 : 1;
    int owner20 = startsAt(s, a, b, d) ? 0 : 2;
    int owner12 = nodeDistance(s, top[1], bottom[2]) <= nodeDistance(s, top[2], bottom[1]) ? 1 : 2;
    owner12 = owner01 == 1 && owner20 == 0 ? 1 : owner12;
    owner12 = owner01 == 0 && owner20 == 2 ? 2 : owner12;
    addWedge(s, top, bottom, owner01, owner12, owner20);
}

static void addWedgeOfFace(Stuffing* s, const int32_t inside[3], int32_t outside) {
    int32_t top[3], bottom[3];
    int owners[3];
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        top[i] = pointNode(s, inside[i]);
        bottom[i] = cutNode(s, inside[i], outside);
        owners[i] = startsAt(s, inside[i], inside[next], outside) ? i : next;
    }
    addWedge(s, top, bottom, owners[0], owners[1], owners[2]);
}

static void addPyramid(Stuffing* s, const int32_t inside[2], int32_t outside, int32_t onLevel) {
    int32_t a = inside[0], b = inside[1];
    int32_t nodeA = pointNode(s, a), nodeB = pointNode(s, b), apex = pointNode(s, onLevel);
    int32_t cutA = cutNode(s, a, outside), cutB = cutNode(s, b, outside);
    if (startsAt(s, a, b, outside)) {
        addCell(s, apex, nodeA, nodeB, cutB);
        addCell(s, apex, nodeA, cutB, cutA);
    } else {
        addCell(s, apex, nodeA, nodeB, cutA);
        addCell(s, apex, nodeB, cutB, cutA);
    }
}

// The one inside point with what is left of its edges; or all of a tetrahedron that nothing cuts.
static void addCorner(Stuffing* s, const int32_t tet[4], int32_t inside) {
    int32_t nodes[4];
    for (int corner = 0; corner < 4; corner++) {
        bool isCut = s->warp->signs[tet[corner]] < 0;
        nodes[corner] = isCut ? cutNode(s, inside, tet[corner]) : pointNode(s, tet[corner]);
    }
    addCell(s, nodes[0], nodes[1], nodes[2], nodes[3]);
}

static void addTet(Stuffing* s, const int32_t tet[4]) {
    int32_t inside[4], outside[4], onLevel = SR_NULL_INDEX;
    int insideCount = 0, outsideCount = 0;
    for (int corner = 0; corner < 4; corner++) {
        int8_t sign = s->warp->signs[tet[corner]];
        if (sign > 0) {
            inside[insideCount++] = tet[corner];
        } else if (sign < 0) {
            outside[outsideCount++] = tet[corner];
        } else {
            onLevel = tet[corner];
        }
    }
    if (insideCount == 0) {
        return;
    }
    if (insideCount == 1 || outsideCount == 0) {
        addCorner(s, tet, inside[0]);
    } else if (insideCount == 3) {
        addWedgeOfFace(s, inside, outside[0]);
    } else if (outsideCount == 2) {
        addWedgeOfEdge(s, inside, outside);
    } else {
        addPyramid(s, inside, outside[0], onLevel);
    }
}

// No more cells and nodes than this can come of the signs.
static void boundCounts(const srWarp* warp, int64_t* outNodes, int64_t* outCells) {
    const srScaffold* scaffold = warp->scaffold;
    *outNodes = warp->cutCount;
    *outCells = 0;
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        *outNodes += warp->signs[point] >= 0;
    }
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        int insideCount = 0;
        for (int c = 0; c < 4; c++) {
            insideCount += warp->signs[scaffold->tets[t][c]] > 0;
        }
        *outCells += insideCount == 0 ? 0 : insideCount == 2 || insideCount == 3 ? 3 : 1;
    }
}

srResult srStuff(const srWarp* warp, srArena* arena, const srProgress* progress, srRawCells* outCells) {
    const srScaffold* scaffold = warp->scaffold;
    int64_t nodeBound, cellBound;
    boundCounts(warp, &nodeBound, &cellBound);
    if (nodeBound > INT32_MAX / 16 || cellBound > INT32_MAX / 16) {
        return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
    }
    srRawCells cells = {0};
    Stuffing s = {.warp = warp, .out = &cells};
    s.nodeOfPoint = SR_PUSH(arena, int32_t, scaffold->pointCount, "nodes of points");
    s.nodeOfCut = SR_PUSH(arena, int32_t, warp->cutCount + 1, "nodes of cuts");
    cells.nodes = SR_PUSH(arena, srVec3, nodeBound, "nodes");
    cells.cells = srArena_Push(arena, (size_t)cellBound, sizeof(cells.cells[0]), "cells");
    cells.tets = SR_PUSH(arena, int32_t, cellBound, "tets of cells");
    if (s.nodeOfPoint == NULL || s.nodeOfCut == NULL || cells.nodes == NULL || cells.cells == NULL ||
        cells.tets == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    memset(s.nodeOfPoint, 0xff, (size_t)scaffold->pointCount * sizeof(int32_t));
    memset(s.nodeOfCut, 0xff, (size_t)warp->cutCount * sizeof(int32_t));
    for (s.tet = 0; s.tet < scaffold->tetCount; s.tet++) {
        if (s.tet % TETS_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, (double)s.tet / scaffold->tetCount));
        }
        addTet(&s, scaffold->tets[s.tet]);
    }
    *outCells = cells;
    return sr_success;
}
