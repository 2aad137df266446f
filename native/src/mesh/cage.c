// SPDX-License-Identifier: GPL-3.0-or-later
//
// Making a cage of cells that come from anywhere: check, turn, renumber, list edges.

#include "mesh/cage.h"

#include "core/alloc.h"
#include "core/arena.h"
#include "mesh/sort.h"

#include <string.h>

// Cells whose volume is below this share of their longest edge cubed have none: a regular one has 0.12.
#define FLAT_SHARE 1e-12

#define SCRATCH_SIZE ((size_t)1 << 16)

static double sixVolumes(srVec3 a, srVec3 b, srVec3 c, srVec3 d) {
    return srDot(srSub(b, a), srCross(srSub(c, a), srSub(d, a)));
}

double srCellVolume(const srCage* cage, int32_t cell) {
    const int32_t* n = cage->cells[cell];
    return sixVolumes(cage->nodes[n[0]], cage->nodes[n[1]], cage->nodes[n[2]], cage->nodes[n[3]]) / 6.0;
}

static srResult checkInput(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                           int32_t cellCount) {
    if (nodeCount < 4 || cellCount < 1) {
        return srFail(sr_errorBadMesh, "A cage needs at least one cell and four nodes.");
    }
    if (cellCount > INT32_MAX / 12) {
        return srFail(sr_errorTooLarge, "The cage has more cells than can be counted (%d).", cellCount);
    }
    for (int32_t i = 0; i < nodeCount; i++) {
        if (!isfinite(nodes[i].x) || !isfinite(nodes[i].y) || !isfinite(nodes[i].z)) {
            return srFail(sr_errorBadMesh, "Node %d of the cage is not finite.", i);
        }
    }
    for (int32_t i = 0; i < 4 * cellCount; i++) {
        int32_t node = cells[i / 4][i % 4];
        if (node < 0 || node >= nodeCount) {
            return srFail(sr_errorBadMesh, "Cell %d names node %d, but there are %d nodes.", i / 4, node,
                          nodeCount);
        }
    }
    return sr_success;
}

// Copies the cell with positive volume; false when it has none.
static bool copyTurned(const srVec3* nodes, const int32_t cell[4], int32_t out[4]) {
    srVec3 p[4];
    double longest2 = 0.0;
    for (int c = 0; c < 4; c++) {
        p[c] = nodes[cell[c]];
        out[c] = cell[c];
        for (int before = 0; before < c; before++) {
            srVec3 edge = srSub(p[c], p[before]);
            longest2 = fmax(longest2, srDot(edge, edge));
        }
    }
    double volume = sixVolumes(p[0], p[1], p[2], p[3]);
    if (volume < 0.0) {
        out[2] = cell[3];
        out[3] = cell[2];
    }
    return fabs(volume) > FLAT_SHARE * longest2 * sqrt(longest2);
}

// `outNew` holds where each went, or SR_NULL_INDEX.
static int32_t collectCells(const srVec3* nodes, const int32_t (*cells)[4], int32_t cellCount,
                            int32_t (*out)[4], int32_t* outNew) {
    int32_t count = 0;
    for (int32_t cell = 0; cell < cellCount; cell++) {
        bool isKept = copyTurned(nodes, cells[cell], out[count]);
        outNew[cell] = isKept ? count : SR_NULL_INDEX;
        count += isKept;
    }
    return count;
}

// Unique edges of the cells as ascending keys; returns how many. Both arrays have room for six a cell.
static int32_t collectEdges(const int32_t (*cells)[4], int32_t cellCount, srKeyed* edges, srKeyed* scratch) {
    int32_t count = 0;
    for (int32_t cell = 0; cell < cellCount; cell++) {
        for (int a = 0; a < 4; a++) {
            for (int b = a + 1; b < 4; b++) {
                edges[count++] = (srKeyed){srEdgeKey(cells[cell][a], cells[cell][b]), 0};
            }
        }
    }
    srSortKeyed(edges, scratch, count);
    int32_t uniqueCount = 0;
    for (int32_t e = 0; e < count; e++) {
        if (e == 0 || edges[e].key != edges[uniqueCount - 1].key) {
            edges[uniqueCount++].key = edges[e].key;
        }
    }
    return uniqueCount;
}

// Which node is next to which. Neighbours ascend.
typedef struct Graph {
    int32_t* starts;
    int32_t* neighbours;
    int32_t nodeCount;
} Graph;

static void fillGraph(const srKeyed* edges, int32_t edgeCount, Graph* graph, int32_t* next) {
    memset(graph->starts, 0, ((size_t)graph->nodeCount + 1) * sizeof(int32_t));
    for (int32_t e = 0; e < edgeCount; e++) {
        graph->starts[(int32_t)(edges[e].key >> 32) + 1]++;
        graph->starts[(int32_t)(edges[e].key & UINT32_MAX) + 1]++;
    }
    for (int32_t node = 0; node < graph->nodeCount; node++) {
        graph->starts[node + 1] += graph->starts[node];
        next[node] = graph->starts[node];
    }
    for (int32_t e = 0; e < edgeCount; e++) {
        int32_t low = (int32_t)(edges[e].key >> 32), high = (int32_t)(edges[e].key & UINT32_MAX);
        graph->neighbours[next[low]++] = high;
        graph->neighbours[next[high]++] = low;
    }
}

static int32_t degree(const Graph* graph, int32_t node) {
    return graph->starts[node + 1] - graph->starts[node];
}

// Puts new neighbours of a node behind the queue, lowest degree first.
static int32_t enqueueNeighbours(const Graph* graph, int32_t node, int32_t* queue, int32_t end,
                                 uint8_t* isQueued) {
    int32_t first = end;
    for (int32_t p = graph->starts[node]; p < graph->starts[node + 1]; p++) {
        int32_t neighbour = graph->neighbours[p];
        if (isQueued[neighbour]) {
            continue;
        }
        isQueued[neighbour] = 1;
        int32_t place = end++;
        for (; place > first && degree(graph, queue[place - 1]) > degree(graph, neighbour); place--) {
            queue[place] = queue[place - 1];
        }
        queue[place] = neighbour;
    }
    return end;
}

// Breadth first from `queue[begin]`; returns where the queue ends.
static int32_t walk(const Graph* graph, int32_t begin, int32_t* queue, uint8_t* isQueued) {
    int32_t end = begin + 1;
    isQueued[queue[begin]] = 1;
    for (int32_t place = begin; place < end; place++) {
        end = enqueueNeighbours(graph, queue[place], queue, end, isQueued);
    }
    return end;
}

// Cuthill-McKee piece by piece. The node where a walk ends is far out: two walks find a good start for the
// third.
static int32_t orderNodes(const Graph* graph, int32_t* queue, uint8_t* isQueued) {
    int32_t count = 0;
    for (int32_t node = 0; node < graph->nodeCount; node++) {
        if (isQueued[node] || degree(graph, node) == 0) {
            continue;
        }
        queue[count] = node;
        int32_t end = walk(graph, count, queue, isQueued);
        for (int again = 0; again < 2; again++) {
            for (int32_t place = count; place < end; place++) {
                isQueued[queue[place]] = 0;
            }
            queue[count] = queue[end - 1];
            walk(graph, count, queue, isQueued);
        }
        count = end;
    }
    return count;
}

// Moves cells to the order of their lowest nodes; `places` holds where each went.
static void sortCells(int32_t (*cells)[4], int32_t cellCount, srKeyed* keys, srKeyed* scratch,
                      int32_t (*out)[4], int32_t* places) {
    for (int32_t cell = 0; cell < cellCount; cell++) {
        int32_t lowest = cells[cell][0];
        for (int c = 1; c < 4; c++) {
            lowest = cells[cell][c] < lowest ? cells[cell][c] : lowest;
        }
        keys[cell] = (srKeyed){(uint64_t)lowest, cell};
    }
    srSortKeyed(keys, scratch, cellCount);
    for (int32_t place = 0; place < cellCount; place++) {
        memcpy(out[place], cells[keys[place].value], sizeof(out[0]));
        places[keys[place].value] = place;
    }
}

// Scratch of one creation
typedef struct Work {
    srArena* arena;
    int32_t (*cells)[4];
    int32_t* collected; // where a given cell is in `cells`
    int32_t* places;    // where one of `cells` is in the cage
    srKeyed* keys;
    srKeyed* keyScratch;
    Graph graph;
    int32_t* queue;
    int32_t* newNumber;
    uint8_t* isQueued;
} Work;

static srResult allocateWork(int32_t nodeCount, int32_t cellCount, Work* work) {
    work->arena = srCreateArena(SCRATCH_SIZE);
    if (work->arena == NULL) {
        return srFailOutOfMemory("the cage");
    }
    work->cells = srArena_Push(work->arena, (size_t)cellCount, sizeof(work->cells[0]), "cells");
    work->collected = SR_PUSH(work->arena, int32_t, cellCount, "cells");
    work->places = SR_PUSH(work->arena, int32_t, cellCount, "cells");
    work->keys = SR_PUSH(work->arena, srKeyed, 6 * cellCount, "edge keys");
    work->keyScratch = SR_PUSH(work->arena, srKeyed, 6 * cellCount, "edge keys");
    work->graph.starts = SR_PUSH(work->arena, int32_t, nodeCount + 1, "graph");
    work->graph.neighbours = SR_PUSH(work->arena, int32_t, 12 * cellCount, "graph");
    work->queue = SR_PUSH(work->arena, int32_t, nodeCount, "queue");
    work->newNumber = SR_PUSH(work->arena, int32_t, nodeCount, "new numbers");
    work->isQueued = SR_PUSH(work->arena, uint8_t, nodeCount, "marks");
    if (work->cells == NULL || work->collected == NULL || work->places == NULL || work->keys == NULL ||
        work->keyScratch == NULL || work->graph.starts == NULL || work->graph.neighbours == NULL ||
        work->queue == NULL || work->newNumber == NULL || work->isQueued == NULL) {
        return srFailOutOfMemory("the cage");
    }
    work->graph.nodeCount = nodeCount;
    memset(work->isQueued, 0, (size_t)nodeCount);
    return sr_success;
}

// New numbers for nodes that cells use, last of the queue first; returns how many there are.
static int32_t renumber(Work* work, int32_t cellCount, int32_t edgeCount) {
    fillGraph(work->keys, edgeCount, &work->graph, work->newNumber);
    int32_t usedCount = orderNodes(&work->graph, work->queue, work->isQueued);
    for (int32_t place = 0; place < usedCount; place++) {
        work->newNumber[work->queue[place]] = usedCount - 1 - place;
    }
    for (int32_t i = 0; i < 4 * cellCount; i++) {
        work->cells[i / 4][i % 4] = work->newNumber[work->cells[i / 4][i % 4]];
    }
    return usedCount;
}

static srResult fillCage(const srVec3* nodes, Work* work, srCage* cage) {
    cage->nodes = SR_ALLOC(srVec3, cage->nodeCount);
    cage->cells = srAlloc((size_t)cage->cellCount, sizeof(cage->cells[0]));
    cage->edges = srAlloc((size_t)cage->edgeCount, sizeof(cage->edges[0]));
    if (cage->nodes == NULL || cage->cells == NULL || cage->edges == NULL) {
        return srFailOutOfMemory("the cage");
    }
    for (int32_t place = 0; place < cage->nodeCount; place++) {
        cage->nodes[cage->nodeCount - 1 - place] = nodes[work->queue[place]];
    }
    sortCells(work->cells, cage->cellCount, work->keys, work->keyScratch, cage->cells, work->places);
    collectEdges((const int32_t (*)[4])cage->cells, cage->cellCount, work->keys, work->keyScratch);
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        cage->edges[e][0] = (int32_t)(work->keys[e].key >> 32);
        cage->edges[e][1] = (int32_t)(work->keys[e].key & UINT32_MAX);
    }
    return sr_success;
}

srResult srCreateCage(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4], int32_t cellCount,
                      srCage* outCage) {
    return srCreateCageMapped(nodes, nodeCount, cells, cellCount, NULL, outCage);
}

srResult srCreateCageMapped(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                            int32_t cellCount, int32_t* outNewCells, srCage* outCage) {
    SR_TRY(checkInput(nodes, nodeCount, cells, cellCount));
    srResult result = sr_success;
    srCage cage = {0};
    Work work = {0};
    SR_TRY_CLEANUP(allocateWork(nodeCount, cellCount, &work));

    // keep cells with a volume, turned the right way round
    cage.cellCount = collectCells(nodes, cells, cellCount, work.cells, work.collected);
    if (cage.cellCount == 0) {
        result = srFail(sr_errorBadMesh, "None of the %d cells has a volume.", cellCount);
        goto cleanup;
    }

    // renumber
    cage.edgeCount =
        collectEdges((const int32_t (*)[4])work.cells, cage.cellCount, work.keys, work.keyScratch);
    cage.nodeCount = renumber(&work, cage.cellCount, cage.edgeCount);
    SR_TRY_CLEANUP(fillCage(nodes, &work, &cage));
    for (int32_t cell = 0; cell < cellCount && outNewCells != NULL; cell++) {
        int32_t kept = work.collected[cell];
        outNewCells[cell] = kept == SR_NULL_INDEX ? SR_NULL_INDEX : work.places[kept];
    }
    *outCage = cage;

cleanup:
    srDestroyArena(work.arena);
    if (result != sr_success) {
        srDestroyCage(&cage);
    }
    return result;
}

void srDestroyCage(srCage* cage) {
    SR_FREE(cage->nodes, cage->nodeCount);
    SR_FREE(cage->cells, cage->cellCount);
    SR_FREE(cage->edges, cage->edgeCount);
    *cage = (srCage){0};
}

void srCage_LumpVolumes(const srCage* cage, double* outVolumes) {
    memset(outVolumes, 0, (size_t)cage->nodeCount * sizeof(double));
    for (int32_t cell = 0; cell < cage->cellCount; ++cell) {
        for (int c = 0; c < 4; ++c) {
            outVolumes[cage->cells[cell][c]] += 0.25 * srCellVolume(cage, cell);
        }
    }
}

void srCage_ListNeighbours(const srCage* cage, int32_t* outStarts, int32_t* outNeighbours) {
    memset(outStarts, 0, ((size_t)cage->nodeCount + 1) * sizeof(int32_t));
    for (int32_t e = 0; e < cage->edgeCount; e++) {
        outStarts[cage->edges[e][0]]++;
        outStarts[cage->edges[e][1]]++;
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        outStarts[i + 1] += outStarts[i];
    }
    // from the last edge back, so that what was each node's end becomes its start
    for (int32_t e = cage->edgeCount - 1; e >= 0; e--) {
        int32_t a = cage->edges[e][0], b = cage->edges[e][1];
        outNeighbours[--outStarts[a]] = b;
        outNeighbours[--outStarts[b]] = a;
    }
}
