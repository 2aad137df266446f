// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pieces by union-find over the nodes of cells.

#include "mesh/splinters.h"

#include "mesh/faces.h"

#include <math.h>
#include <string.h>

#define SPLINTER_SHARE 2e-3

typedef struct Piece {
    double volume;
    uint8_t isFirm; // has a cell of a tetrahedron that was not split
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

srResult srDropSplinters(const srCopies* copies, srArena* arena, srRawCells* cells, int32_t* outPieceCount) {
    int32_t* roots = SR_PUSH(arena, int32_t, cells->nodeCount, "pieces");
    Piece* pieces = SR_PUSH(arena, Piece, cells->nodeCount, "pieces");
    if (roots == NULL || pieces == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    srClearRoots(roots, cells->nodeCount);
    memset(pieces, 0, (size_t)cells->nodeCount * sizeof(Piece));
    for (int32_t i = 0; i < 4 * cells->cellCount; i++) {
        srJoinRoots(roots, cells->cells[i / 4][0], cells->cells[i / 4][i % 4]);
    }
    double total = 0.0;
    for (int32_t cell = 0; cell < cells->cellCount; cell++) {
        Piece* piece = &pieces[srFindRoot(roots, cells->cells[cell][0])];
        double volume = volumeOf(cells, cell);
        piece->volume += volume;
        piece->isFirm |= !isOfSplit(copies, cells->tets[cell]);
        total += volume;
    }

    // keep cells of the others
    int32_t kept = 0;
    for (int32_t cell = 0; cell < cells->cellCount; cell++) {
        const Piece* piece = &pieces[srFindRoot(roots, cells->cells[cell][0])];
        if (piece->isFirm || piece->volume > SPLINTER_SHARE * total) {
            memmove(cells->cells[kept], cells->cells[cell], sizeof(cells->cells[0]));
            cells->tets[kept++] = cells->tets[cell];
        }
    }
    *outPieceCount = 0;
    for (int32_t node = 0; node < cells->nodeCount; node++) {
        const Piece* piece = &pieces[node];
        *outPieceCount += piece->volume > 0.0 && (piece->isFirm || piece->volume > SPLINTER_SHARE * total);
    }
    cells->cellCount = kept;
    packNodes(cells, roots);
    return sr_success;
}
