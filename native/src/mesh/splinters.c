// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pieces by union-find over the nodes of cells.

#include "mesh/splinters.h"

#include "core/alloc.h"
#include "mesh/faces.h"

#include <math.h>
#include <string.h>

#define SPLINTER_SHARE 2e-3

// Cells around crumbs are at most this share of the largest piece: where all is dust, it stays.
#define CRUMB_SHARE 0.03

// A chip is so many times smaller than the piece of the skin that it lies along: most of that is elsewhere.
// Where nothing was split it is at most the cells around one point of the lattice, in crumbs.
#define CHIP_RATIO 2.0
#define FIRM_CHIP_CRUMBS 4.0

typedef struct Piece {
    double volume;
    srVec3 lower, upper;
    int32_t crumbVotes; // nodes nearest to a crumb of the skin, less others
    int32_t chipVotes;  // nodes nearest to a piece of the skin that is far larger, less others
    uint8_t isFirm;     // has a cell of a tetrahedron that was not split
    uint8_t isKept;
} Piece;

static double volumeOf(const srRawCells* cells, int32_t cell) {
    const int32_t* n = cells->cells[cell];
    const srVec3* p = cells->nodes;
    srVec3 a = srSub(p[n[1]], p[n[0]]), b = srSub(p[n[2]], p[n[0]]), c = srSub(p[n[3]], p[n[0]]);
    return fabs(srDot(a, srCross(b, c))) / 6.0;
}

static bool isOfSplit(const srCopies* copies, int32_t copy) {
    if (copies->copyCount == 0) {
        return false;
    }
    int32_t base = copies->scaffold.tetBases[copy];
    return copies->starts[base + 1] - copies->starts[base] > 1;
}

static void widen(srVec3* lower, srVec3* upper, const srSurface* surface, int32_t triangle) {
    for (int c = 0; c < 3; c++) {
        srVec3 x = surface->points[surface->triangles[triangle][c]];
        *lower = srMin(*lower, x);
        *upper = srMax(*upper, x);
    }
}

srResult srMeasurePieces(const srSolid* solid, double* outSizes) {
    srVec3* bounds = SR_ALLOC(srVec3, 2 * solid->pieceCount);
    if (bounds == NULL) {
        return srFailOutOfMemory("the pieces of the surface");
    }
    for (int32_t piece = 0; piece < solid->pieceCount; piece++) {
        bounds[2 * piece] = (srVec3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
        bounds[2 * piece + 1] = (srVec3){-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    }
    for (int32_t t = 0; t < solid->shells.triangleCount; t++) {
        srVec3* of = &bounds[2 * solid->shellPieces[t]];
        widen(&of[0], &of[1], &solid->shells, t);
    }
    for (int32_t t = 0; t < solid->sheets.triangleCount; t++) {
        srVec3* of = &bounds[2 * solid->sheetPieces[t]];
        widen(&of[0], &of[1], &solid->sheets, t);
    }
    for (int32_t piece = 0; piece < solid->pieceCount; piece++) {
        bool isEmpty = bounds[2 * piece].x > bounds[2 * piece + 1].x;
        outSizes[piece] = isEmpty ? 0.0 : srDistance(bounds[2 * piece], bounds[2 * piece + 1]);
    }
    SR_FREE(bounds, 2 * solid->pieceCount);
    return sr_success;
}

// How large the piece of the skin is that is nearest to a place.
static double sizeNear(const srCrumbs* crumbs, srVec3 place) {
    const srSolid* solid = crumbs->solid;
    int32_t shell = SR_NULL_INDEX, sheet = SR_NULL_INDEX;
    double toShell = HUGE_VAL, toSheet = HUGE_VAL;
    if (solid->shellTree != NULL) {
        toShell = srBvh_DistanceGuessed(solid->shellTree, place, &shell, NULL);
    }
    if (solid->sheetTree != NULL) {
        toSheet = srBvh_DistanceGuessed(solid->sheetTree, place, &sheet, NULL);
    }
    int32_t piece = toShell <= toSheet ? solid->shellPieces[shell] : solid->sheetPieces[sheet];
    return crumbs->pieceSizes[piece];
}

// A crumb in the middle of a tetrahedron is near all four of its corners: how many nodes its cells have does
// not tell what is in them.
static void countVotes(const srCrumbs* crumbs, const srRawCells* cells, int32_t* roots, double largest,
                       Piece* pieces) {
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        Piece* piece = &pieces[srFindRoot(roots, node)];
        piece->lower = srMin(piece->lower, cells->nodes[node]);
        piece->upper = srMax(piece->upper, cells->nodes[node]);
    }
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        Piece* piece = &pieces[srFindRoot(roots, node)];
        if (piece->volume <= CRUMB_SHARE * largest) {
            double size = sizeNear(crumbs, cells->nodes[node]);
            double across = srDistance(piece->lower, piece->upper);
            bool isChip =
                size > CHIP_RATIO * across && (!piece->isFirm || across < FIRM_CHIP_CRUMBS * crumbs->size);
            piece->crumbVotes += size < crumbs->size ? 1 : -1;
            piece->chipVotes += isChip ? 1 : -1;
        }
    }
}

static bool isKept(const Piece* piece, double total) {
    bool isSplinter = !piece->isFirm && piece->volume <= SPLINTER_SHARE * total;
    return piece->volume > 0.0 && piece->crumbVotes <= 0 && piece->chipVotes <= 0 && !isSplinter;
}

// Nodes in the order of their old numbers, without those that are not used.
static void packNodes(srRawCells* cells, int32_t* newNodes) {
    int32_t count = 0;
    memset(newNodes, 0xff, (size_t)cells->nodeCount * sizeof(int32_t));
    for (int32_t i = 0; i < 4 * cells->cellCount; i++) {
        newNodes[cells->cells[i / 4][i % 4]] = 0;
    }
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        if (newNodes[node] != SR_NULL_INDEX) {
            cells->nodes[count] = cells->nodes[node];
            newNodes[node] = count++;
        }
    }
    for (int32_t i = 0; i < 4 * cells->cellCount; i++) {
        cells->cells[i / 4][i % 4] = newNodes[cells->cells[i / 4][i % 4]];
    }
    cells->nodeCount = count;
}

srResult srDropSplinters(const srCopies* copies, const srCrumbs* crumbs, srArena* arena, srRawCells* cells,
                         int32_t* outPieceCount) {
    int32_t* roots = SR_PUSH(arena, int32_t, cells->nodeCount, "pieces");
    Piece* pieces = SR_PUSH(arena, Piece, cells->nodeCount, "pieces");
    if (roots == NULL || pieces == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    srClearRoots(roots, cells->nodeCount);
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        pieces[node] = (Piece){.lower = cells->nodes[node], .upper = cells->nodes[node]};
    }
    for (int32_t i = 0; i < 4 * cells->cellCount; i++) {
        srJoinRoots(roots, cells->cells[i / 4][0], cells->cells[i / 4][i % 4]);
    }
    double total = 0.0, largest = 0.0;
    for (int32_t cell = 0; cell < cells->cellCount; cell++) {
        Piece* piece = &pieces[srFindRoot(roots, cells->cells[cell][0])];
        double volume = volumeOf(cells, cell);
        piece->volume += volume;
        piece->isFirm |= !isOfSplit(copies, cells->tets[cell]);
        total += volume;
        largest = fmax(largest, piece->volume);
    }

    if (crumbs != NULL) {
        countVotes(crumbs, cells, roots, largest, pieces);
    }
    *outPieceCount = 0;
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        pieces[node].isKept = isKept(&pieces[node], total);
        *outPieceCount += pieces[node].isKept;
    }

    // keep cells of these
    int32_t kept = 0;
    for (int32_t cell = 0; cell < cells->cellCount; cell++) {
        const Piece* piece = &pieces[srFindRoot(roots, cells->cells[cell][0])];
        if (piece->isKept) {
            memmove(cells->cells[kept], cells->cells[cell], sizeof(cells->cells[0]));
            cells->tets[kept++] = cells->tets[cell];
        }
    }
    cells->cellCount = kept;
    packNodes(cells, roots);
    return sr_success;
}
