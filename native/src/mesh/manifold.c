// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rounds of: find neighbours through faces; part cells at nodes around which no chain of faces leads from one
// to the other; look at the skin's edges and nodes; remove the least cell at each that is not right. Each
// round but the last removes a cell, so it ends; most cages need one.

#include "mesh/manifold.h"

#include "mesh/faces.h"
#include "mesh/sort.h"

#include <math.h>
#include <string.h>

typedef struct Repair {
    srRawCells* cells;
    srArena* arena;
    int32_t* opposite; // of each face: the same face of the neighbour, or SR_NULL_INDEX
    int32_t* roots;    // union-find over corners of cells
    uint8_t* isDoomed;
    srKeyed* keys;
    srKeyed* scratch;
    int32_t keyRoom;
} Repair;

static void getFace(const Repair* r, int32_t face, int32_t out[3]) {
    for (int c = 0; c < 3; c++) {
        out[c] = r->cells->cells[face / 4][srFaceCorners[face % 4][c]];
    }
}

// Corners that faces hold together, as trees in `roots`.
static void joinCorners(Repair* r) {
    int32_t n[3];
    srClearRoots(r->roots, 4 * r->cells->cellCount);
    for (int32_t face = 0; face < 4 * r->cells->cellCount; face++) {
        int32_t other = r->opposite[face];
        if (other <= face) {
            continue;
        }
        getFace(r, face, n);
        for (int c = 0; c < 3; c++) {
            int32_t here = 4 * (face / 4) + srFaceCorners[face % 4][c];
            srJoinRoots(r->roots, here, 4 * (other / 4) + srCornerOf(r->cells->cells[other / 4], n[c]));
        }
    }
}

// A node for each tree: the first of a node keeps its number, others get new ones.
static srResult partNodes(Repair* r) {
    srRawCells* cells = r->cells;
    int32_t cornerCount = 4 * cells->cellCount, extra = 0;
    int32_t* owners = SR_PUSH(r->arena, int32_t, cells->nodeCount, "owners of nodes");
    int32_t* newNodes = SR_PUSH(r->arena, int32_t, cornerCount, "new nodes");
    if (owners == NULL || newNodes == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    memset(owners, 0xff, (size_t)cells->nodeCount * sizeof(int32_t));
    for (int32_t corner = 0; corner < cornerCount; corner++) {
        int32_t node = cells->cells[corner / 4][corner % 4];
        if (srFindRoot(r->roots, corner) != corner) {
            continue;
        }
        if (owners[node] == SR_NULL_INDEX) {
            owners[node] = corner;
            newNodes[corner] = node;
        } else {
            newNodes[corner] = cells->nodeCount + extra++;
        }
    }
    if (extra == 0) {
        return sr_success;
    }
    srVec3* nodes = SR_PUSH(r->arena, srVec3, cells->nodeCount + extra, "nodes");
    if (nodes == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    memcpy(nodes, cells->nodes, (size_t)cells->nodeCount * sizeof(srVec3));
    for (int32_t corner = 0; corner < cornerCount; corner++) {
        int32_t* node = &cells->cells[corner / 4][corner % 4];
        int32_t renamed = newNodes[srFindRoot(r->roots, corner)];
        nodes[renamed] = cells->nodes[*node];
        *node = renamed;
    }
    cells->nodes = nodes;
    cells->nodeCount += extra;
    return sr_success;
}

static double volumeOf(const Repair* r, int32_t cell) {
    const int32_t* n = r->cells->cells[cell];
    const srVec3* p = r->cells->nodes;
    srVec3 a = srSub(p[n[1]], p[n[0]]), b = srSub(p[n[2]], p[n[0]]), c = srSub(p[n[3]], p[n[0]]);
    return fabs(srDot(a, srCross(b, c)));
}

// The skin's edges, three a face, equal ones side by side; the value is face * 3 + which edge of it.
static int32_t listSkinEdges(Repair* r) {
    int32_t count = 0, n[3];
    for (int32_t face = 0; face < 4 * r->cells->cellCount; face++) {
        if (r->opposite[face] != SR_NULL_INDEX) {
            continue;
        }
        getFace(r, face, n);
        for (int c = 0; c < 3; c++) {
            r->keys[count++] = (srKeyed){srEdgeKey(n[c], n[(c + 1) % 3]), 3 * face + c};
        }
    }
    srSortKeyed(r->keys, r->scratch, count);
    return count;
}

static int32_t countSkinEdges(const Repair* r) {
    int32_t count = 0;
    for (int32_t face = 0; face < 4 * r->cells->cellCount; face++) {
        count += r->opposite[face] == SR_NULL_INDEX ? 3 : 0;
    }
    return count;
}

// Of a run of items whose cells are at one bad place, the cell of the least volume is doomed.
static void doomLeast(Repair* r, const int32_t* cells, int32_t count) {
    int32_t least = cells[0];
    for (int32_t i = 0; i < count; i++) {
        if (r->isDoomed[cells[i]]) {
            return;
        }
        double difference = volumeOf(r, cells[i]) - volumeOf(r, least);
        least = difference < 0.0 || (difference == 0.0 && cells[i] < least) ? cells[i] : least;
    }
    r->isDoomed[least] = 1;
}

// Edges of more than two faces; joins the corners of faces across those of two.
static void checkEdges(Repair* r, int32_t count, int32_t* cells) {
    for (int32_t begin = 0, end = 0; begin < count; begin = end) {
        for (end = begin; end < count && r->keys[end].key == r->keys[begin].key; end++) {
            cells[end - begin] = r->keys[end].value / 12;
        }
        if (end - begin != 2) {
            doomLeast(r, cells, end - begin);
            continue;
        }
        int32_t nodes[2] = {(int32_t)(r->keys[begin].key >> 32), (int32_t)(r->keys[begin].key & UINT32_MAX)};
        for (int e = 0; e < 2; e++) {
            int32_t corners[2];
            for (int side = 0; side < 2; side++) {
                int32_t face = r->keys[begin + side].value / 3, n[3];
                getFace(r, face, n);
                corners[side] = 3 * face + (n[0] == nodes[e] ? 0 : n[1] == nodes[e] ? 1 : 2);
            }
            srJoinRoots(r->roots, corners[0], corners[1]);
        }
    }
}

// Nodes with more than one fan of faces.
static void checkNodes(Repair* r, int32_t cornerCount, int32_t* cells) {
    for (int32_t i = 0; i < cornerCount; i++) {
        int32_t face = r->keys[i].value / 3, n[3];
        getFace(r, face, n);
        r->keys[i].key = (uint64_t)n[r->keys[i].value % 3];
    }
    srSortKeyed(r->keys, r->scratch, cornerCount);
    for (int32_t begin = 0, end = 0; begin < cornerCount; begin = end) {
        bool isBad = false;
        int32_t root = srFindRoot(r->roots, r->keys[begin].value);
        for (end = begin; end < cornerCount && r->keys[end].key == r->keys[begin].key; end++) {
            isBad = isBad || srFindRoot(r->roots, r->keys[end].value) != root;
            cells[end - begin] = r->keys[end].value / 12;
        }
        if (isBad) {
            doomLeast(r, cells, end - begin);
        }
    }
}

static int32_t removeDoomed(Repair* r) {
    srRawCells* cells = r->cells;
    int32_t kept = 0, before = cells->cellCount;
    for (int32_t cell = 0; cell < before; cell++) {
        if (!r->isDoomed[cell]) {
            memmove(cells->cells[kept], cells->cells[cell], sizeof(cells->cells[0]));
            cells->tets[kept++] = cells->tets[cell];
        }
    }
    cells->cellCount = kept;
    return before - kept;
}

static srResult lookAtSkin(Repair* r) {
    srArenaMark mark = srArena_GetMark(r->arena);
    int32_t count = countSkinEdges(r);
    r->keys = SR_PUSH(r->arena, srKeyed, count, "skin");
    r->scratch = SR_PUSH(r->arena, srKeyed, count, "skin");
    int32_t* cells = SR_PUSH(r->arena, int32_t, count, "skin");
    int32_t* cornerRoots = r->roots;
    r->roots = SR_PUSH(r->arena, int32_t, 12 * r->cells->cellCount, "fans");
    if (r->keys == NULL || r->scratch == NULL || cells == NULL || r->roots == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    srClearRoots(r->roots, 12 * r->cells->cellCount);
    listSkinEdges(r);
    checkEdges(r, count, cells);
    checkNodes(r, count, cells);
    r->roots = cornerRoots;
    srArena_Release(r->arena, mark);
    return sr_success;
}

srResult srMakeManifold(srRawCells* cells, srArena* arena, const srProgress* progress,
                        int32_t* outRemovedCount) {
    Repair r = {.cells = cells, .arena = arena};
    int32_t cellCount = cells->cellCount;
    r.opposite = SR_PUSH(arena, int32_t, 4 * cellCount, "neighbours");
    r.roots = SR_PUSH(arena, int32_t, 4 * cellCount, "corners");
    r.isDoomed = SR_PUSH(arena, uint8_t, cellCount, "doomed cells");
    if (r.opposite == NULL || r.roots == NULL || r.isDoomed == NULL) {
        return srFailOutOfMemory("the cells of the cage");
    }
    int32_t removed = 1;
    *outRemovedCount = 0;
    for (double share = 0.0; removed > 0; share += 0.5 * (1.0 - share)) {
        SR_TRY(srReportProgress(progress, share));
        SR_TRY(srPairFaces((const int32_t (*)[4])cells->cells, cells->cellCount, cells->nodeCount, arena,
                           r.opposite));
        joinCorners(&r);
        SR_TRY(partNodes(&r));
        SR_TRY(srReportProgress(progress, share + 0.25 * (1.0 - share)));
        memset(r.isDoomed, 0, (size_t)cells->cellCount);
        SR_TRY(lookAtSkin(&r));
        removed = removeDoomed(&r);
        *outRemovedCount += removed;
    }
    return sr_success;
}
