// SPDX-License-Identifier: GPL-3.0-or-later
//
// Breadth first from cell to cell across faces, from the cell of one end of an edge until the other's is met.
// Most edges end in the cell where they begin or in the next.

#include "mesh/tears.h"

#include "mesh/adjacency.h"

#include <string.h>

// Cells from one end to the other where nothing is torn: around a node there may be two dozen, and an edge
// as long as a cube passes half a dozen. Longer edges are not looked at: the flesh below the middle of one
// may be anywhere.
#define CELLS_AT_ONCE 8
#define CELLS_A_CUBE 8.0
#define LONGEST_EDGE 3.0 // in cubes

#define TRIANGLES_PER_REPORT 4096

typedef struct Search {
    const srTearsInput* in;
    srAdjacency adjacency;
    int32_t* stamps; // of cells: the last search that met them
    int32_t* queue;
    int32_t stamp;
} Search;

static bool hangTogether(Search* s, int32_t from, int32_t to, int mostCells) {
    int32_t begin = 0, end = 1;
    s->stamp++;
    s->queue[0] = from;
    s->stamps[from] = s->stamp;
    for (int ring = 0; ring < mostCells && begin < end; ring++) {
        for (int32_t last = end; begin < last; begin++) {
            const int32_t* neighbours = s->adjacency.neighbours[s->queue[begin]];
            for (int face = 0; face < 4; face++) {
                int32_t cell = neighbours[face];
                if (cell == to) {
                    return true;
                }
                if (cell != SR_NULL_INDEX && s->stamps[cell] != s->stamp) {
                    s->stamps[cell] = s->stamp;
                    s->queue[end++] = cell;
                }
            }
        }
    }
    return false;
}

static bool isTorn(Search* s, int32_t a, int32_t b) {
    const srVec3* points = s->in->surface->points;
    int32_t from = s->in->cells[a], to = s->in->cells[b];
    if (from == to || from == SR_NULL_INDEX || to == SR_NULL_INDEX) {
        return false;
    }
    double length = srDistance(points[a], points[b]) / s->in->spacing;
    return length <= LONGEST_EDGE && !hangTogether(s, from, to, CELLS_AT_ONCE + (int)(CELLS_A_CUBE * length));
}

// `edges` null: only counts.
static srResult lookAtEdges(Search* s, const srProgress* progress, srTears* tears) {
    const srSurface* surface = s->in->surface;
    int32_t room = tears->count;
    tears->count = 0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        if (t % TRIANGLES_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, t / (double)surface->triangleCount));
        }
        for (int side = 0; side < 3 && s->in->turns[t] != 0; side++) {
            int32_t a = surface->triangles[t][side], b = surface->triangles[t][(side + 1) % 3];
            if (a < b && isTorn(s, a, b)) {
                if (tears->edges != NULL && tears->count < room) {
                    tears->edges[tears->count][0] = a;
                    tears->edges[tears->count][1] = b;
                }
                tears->count++;
            }
        }
    }
    return sr_success;
}

srResult srFindTears(const srTearsInput* input, srArena* arena, const srProgress* progress,
                     srTears* outTears) {
    Search s = {.in = input};
    srTears tears = {0};
    srProgress counting = srPartOfProgress(progress, 0.1, 0.6),
               listing = srPartOfProgress(progress, 0.6, 1.0);
    s.stamps = SR_PUSH(arena, int32_t, input->cage->cellCount, "cells met");
    s.queue = SR_PUSH(arena, int32_t, input->cage->cellCount, "cells met");
    if (s.stamps == NULL || s.queue == NULL) {
        return srFailOutOfMemory("the cage");
    }
    memset(s.stamps, 0, (size_t)input->cage->cellCount * sizeof(int32_t));
    SR_TRY(srCreateAdjacency(input->cage, &s.adjacency));
    srResult result = lookAtEdges(&s, &counting, &tears);
    if (result == sr_success && tears.count > 0) {
        tears.edges = srArena_Push(arena, (size_t)tears.count, sizeof(tears.edges[0]), "tears");
        result = tears.edges != NULL ? lookAtEdges(&s, &listing, &tears) : srFailOutOfMemory("the cage");
    }
    srDestroyAdjacency(&s.adjacency);
    *outTears = tears;
    return result;
}
