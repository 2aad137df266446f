// SPDX-License-Identifier: GPL-3.0-or-later
//
// Walking the lattice's tetrahedra and cutting them. What is left of one is a tetrahedron, a pyramid or a
// wedge. Four-sided faces that two tetrahedra share are halved by a rule that both follow.

#include "mesh/stuffing.h"

#include "core/alloc.h"

// Corners 0 and 1 are neighbouring centres of cubes, 2 and 3 neighbouring corners of the face between them:
// edges 01 and 23 are long, the others short.
typedef struct Tet {
    int32_t points[4];
    int offsets[4][3]; // in half cubes, from anywhere
} Tet;

typedef struct Stuffing {
    const srWarp* warp;
    int32_t* nodeOfPoint;
    int32_t* nodeOfCut;
    srRawCells* out; // arrays null: only count
} Stuffing;

static int32_t takeNode(Stuffing* s, int32_t* slot, srVec3 position) {
    if (*slot == SR_NULL_INDEX) {
        *slot = s->out->nodeCount++;
        if (s->out->nodes != NULL) {
            s->out->nodes[*slot] = position;
        }
    }
    return *slot;
}

static int32_t pointNode(Stuffing* s, const Tet* tet, int corner) {
    int32_t point = tet->points[corner];
    return takeNode(s, &s->nodeOfPoint[point], srWarp_Point(s->warp, point));
}

static int32_t cutNode(Stuffing* s, const Tet* tet, int inside, int outside) {
    int offset[3];
    for (int axis = 0; axis < 3; axis++) {
        offset[axis] = tet->offsets[outside][axis] - tet->offsets[inside][axis];
    }
    int direction = srFindDirection(offset);
    int32_t point = tet->points[inside];
    int32_t cut = srWarp_FindCut(s->warp, point, direction);
    srVec3 position = srMulAdd(srLattice_Point(s->warp->lattice, point), s->warp->cuts[cut],
                               srLattice_Step(s->warp->lattice, direction));
    return takeNode(s, &s->nodeOfCut[cut], position);
}

// Which way round does not matter: srCreateCage turns it.
static void addCell(Stuffing* s, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (s->out->cells != NULL) {
        int32_t* cell = s->out->cells[s->out->cellCount];
        cell[0] = a, cell[1] = b, cell[2] = c, cell[3] = d;
    }
    s->out->cellCount++;
}

static bool isLong(int a, int b) {
    return a / 2 == b / 2;
}

// How many coordinates of a are greater than b's, odd or even.
static bool isOddAbove(const Tet* tet, int a, int b) {
    int count = 0;
    for (int axis = 0; axis < 3; axis++) {
        count += tet->offsets[a][axis] > tet->offsets[b][axis];
    }
    return (count & 1) != 0;
}

// A face a b outside with a and b inside: does its four-sided rest (a, b, cut of b, cut of a) get the
// diagonal from a (else from b)? Looks only at the face, so both tetrahedra answer alike. If one of the cut
// edges is long, the diagonal ends in its cut. If both are short, a b is long and the parity rule of Labelle
// and Shewchuk decides.
static bool startsAt(const Tet* tet, int a, int b, int outside) {
    if (isLong(a, outside)) {
        return false;
    }
    if (isLong(b, outside)) {
        return true;
    }
    return isOddAbove(tet, a, outside);
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
    return s->out->nodes != NULL ? srDistance(s->out->nodes[a], s->out->nodes[b]) : 0.0;
}

// Two inside (a, b), two outside (c, d): a wedge between the triangles (a, ac, ad) and (b, bc, bd). The side
// of the four cuts lies on the cage's skin and is free.
static void addWedgeOfEdge(Stuffing* s, const Tet* tet, const int inside[2], const int outside[2]) {
    int a = inside[0], b = inside[1], c = outside[0], d = outside[1];
    int32_t top[3] = {pointNode(s, tet, a), cutNode(s, tet, a, c), cutNode(s, tet, a, d)};
    int32_t bottom[3] = {pointNode(s, tet, b), cutNode(s, tet, b, c), cutNode(s, tet, b, d)};
    int owner01 = startsAt(tet, a, b, c) ? 0 : 1;
    int owner20 = startsAt(tet, a, b, d) ? 0 : 2;
    int owner12 = nodeDistance(s, top[1], bottom[2]) <= nodeDistance(s, top[2], bottom[1]) ? 1 : 2;
    owner12 = owner01 == 1 && owner20 == 0 ? 1 : owner12;
    owner12 = owner01 == 0 && owner20 == 2 ? 2 : owner12;
    addWedge(s, top, bottom, owner01, owner12, owner20);
}

static void addWedgeOfFace(Stuffing* s, const Tet* tet, const int inside[3], int outside) {
    int32_t top[3], bottom[3];
    int owners[3];
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        top[i] = pointNode(s, tet, inside[i]);
        bottom[i] = cutNode(s, tet, inside[i], outside);
        owners[i] = startsAt(tet, inside[i], inside[next], outside) ? i : next;
    }
    addWedge(s, top, bottom, owners[0], owners[1], owners[2]);
}

static void addPyramid(Stuffing* s, const Tet* tet, const int inside[2], int outside, int onLevel) {
    int a = inside[0], b = inside[1];
    int32_t nodeA = pointNode(s, tet, a), nodeB = pointNode(s, tet, b), apex = pointNode(s, tet, onLevel);
    int32_t cutA = cutNode(s, tet, a, outside), cutB = cutNode(s, tet, b, outside);
    if (startsAt(tet, a, b, outside)) {
        addCell(s, apex, nodeA, nodeB, cutB);
        addCell(s, apex, nodeA, cutB, cutA);
    } else {
        addCell(s, apex, nodeA, nodeB, cutA);
        addCell(s, apex, nodeB, cutB, cutA);
    }
}

// The one inside point with what is left of its edges; or all of a tetrahedron that nothing cuts.
static void addCorner(Stuffing* s, const Tet* tet, int inside) {
    int32_t nodes[4];
    for (int corner = 0; corner < 4; corner++) {
        bool isCut = s->warp->signs[tet->points[corner]] < 0;
        nodes[corner] = isCut ? cutNode(s, tet, inside, corner) : pointNode(s, tet, corner);
    }
    addCell(s, nodes[0], nodes[1], nodes[2], nodes[3]);
}

static void addTet(Stuffing* s, const Tet* tet) {
    int inside[4], outside[4];
    int insideCount = 0, outsideCount = 0, onLevel = 0;
    for (int corner = 0; corner < 4; corner++) {
        int8_t sign = s->warp->signs[tet->points[corner]];
        if (sign > 0) {
            inside[insideCount++] = corner;
        } else if (sign < 0) {
            outside[outsideCount++] = corner;
        } else {
            onLevel = corner;
        }
    }
    if (insideCount == 0) {
        return;
    }
    if (insideCount == 1 || outsideCount == 0) {
        addCorner(s, tet, inside[0]);
    } else if (insideCount == 3) {
        addWedgeOfFace(s, tet, inside, outside[0]);
    } else if (outsideCount == 2) {
        addWedgeOfEdge(s, tet, inside, outside);
    } else {
        addPyramid(s, tet, inside, outside[0], onLevel);
    }
}

// The four tetrahedra around the long edge from a cube's centre along an axis.
static void addTetsOfEdge(Stuffing* s, int32_t centre, int axis) {
    static const int ring[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const srLattice* lattice = s->warp->lattice;
    Tet tet = {.points = {centre, srLattice_Neighbour(lattice, centre, 2 * axis)}};
    tet.offsets[1][axis] = 2;
    for (int turn = 0; turn < 4; turn++) {
        for (int end = 0; end < 2; end++) {
            int* offset = tet.offsets[2 + end];
            offset[axis] = 1;
            offset[(axis + 1) % 3] = ring[(turn + end) % 4][0];
            offset[(axis + 2) % 3] = ring[(turn + end) % 4][1];
            tet.points[2 + end] = srLattice_Neighbour(lattice, centre, srFindDirection(offset));
        }
        addTet(s, &tet);
    }
}

static void addTetsOfLayer(Stuffing* s, int32_t k) {
    const srLattice* lattice = s->warp->lattice;
    for (int32_t j = 0; j < lattice->ny - 1; j++) {
        for (int32_t i = 0; i < lattice->nx - 1; i++) {
            int32_t centre = 2 * ((k * lattice->ny + j) * lattice->nx + i) + 1;
            for (int axis = 0; axis < 3; axis++) {
                addTetsOfEdge(s, centre, axis);
            }
        }
    }
}

// The outermost cubes hold no inside point, so the last layer and the ends of rows can be left out.
static srResult addAllTets(Stuffing* s, const srProgress* progress) {
    s->out->nodeCount = 0;
    s->out->cellCount = 0;
    for (int32_t point = 0; point < s->warp->lattice->pointCount; point++) {
        s->nodeOfPoint[point] = SR_NULL_INDEX;
    }
    for (int32_t cut = 0; cut < s->warp->cutCount; cut++) {
        s->nodeOfCut[cut] = SR_NULL_INDEX;
    }
    for (int32_t k = 0; k < s->warp->lattice->nz - 1; k++) {
        SR_TRY(srReportProgress(progress, (double)k / s->warp->lattice->nz));
        addTetsOfLayer(s, k);
    }
    return sr_success;
}

srResult srStuff(const srWarp* warp, const srProgress* progress, srRawCells* outCells) {
    srResult result = sr_success;
    srRawCells cells = {0};
    int32_t nodeCount = 0, cellCount = 0;
    int32_t pointCount = warp->lattice->pointCount, cutCount = warp->cutCount + 1;
    srProgress counting = srPartOfProgress(progress, 0.0, 0.5);
    srProgress filling = srPartOfProgress(progress, 0.5, 1.0);
    Stuffing s = {.warp = warp, .out = &cells};
    s.nodeOfPoint = SR_ALLOC(int32_t, pointCount);
    s.nodeOfCut = SR_ALLOC(int32_t, cutCount);
    if (s.nodeOfPoint == NULL || s.nodeOfCut == NULL) {
        result = srFailOutOfMemory("the cells of the cage");
        goto cleanup;
    }

    // count, allocate, fill
    SR_TRY_CLEANUP(addAllTets(&s, &counting));
    nodeCount = cells.nodeCount;
    cellCount = cells.cellCount;
    if (cellCount > 0) {
        cells.nodes = SR_ALLOC(srVec3, nodeCount);
        cells.cells = srAlloc((size_t)cellCount, sizeof(cells.cells[0]));
        if (cells.nodes == NULL || cells.cells == NULL) {
            result = srFailOutOfMemory("the cells of the cage");
            goto cleanup;
        }
        SR_TRY_CLEANUP(addAllTets(&s, &filling));
    }
    *outCells = cells;

cleanup:
    SR_FREE(s.nodeOfPoint, pointCount);
    SR_FREE(s.nodeOfCut, cutCount);
    if (result != sr_success) {
        SR_FREE(cells.nodes, nodeCount);
        SR_FREE(cells.cells, cellCount);
    }
    return result;
}

void srDestroyRawCells(srRawCells* cells) {
    SR_FREE(cells->nodes, cells->nodeCount);
    SR_FREE(cells->cells, cells->cellCount);
    *cells = (srRawCells){0};
}
