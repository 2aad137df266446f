// SPDX-License-Identifier: GPL-3.0-or-later
//
// A walk, then breadth first over shared nodes.

#include "mesh/neighbourhood.h"

#include "core/alloc.h"
#include "mesh/cellgrid.h"
#include "mesh/nearest.h"

#include <string.h>

#define FACE_TOLERANCE 1e-12

// Cells hang together near a point where what they share comes so near to it, in distances from the point to
// where the walk ended. Round the corner of a mouth lies the other lip.
#define LINK_DISTANCES 1.5

typedef struct Search {
    const srNeighbourhood* at;
    int32_t* stamps;
    int32_t* queue;
    int32_t stamp;
    int32_t end; // of the queue
    srVec3 point;
    double farthest2; // squared distance of what cells share
} Search;

srResult srCreateNeighbourhood(const srCage* cage, const srAdjacency* adjacency, int32_t workerCount,
                               srNeighbourhood* outNeighbourhood) {
    size_t count = (size_t)workerCount * (size_t)cage->cellCount;
    srNeighbourhood made = {.cage = cage, .adjacency = adjacency, .workerCount = workerCount};
    made.stamps = SR_ALLOC(int32_t, count);
    made.queues = SR_ALLOC(int32_t, count);
    if (made.stamps == NULL || made.queues == NULL) {
        SR_FREE(made.stamps, count);
        SR_FREE(made.queues, count);
        return srFailOutOfMemory("the search for cells");
    }
    memset(made.stamps, 0xff, count * sizeof(int32_t)); // no search yet
    *outNeighbourhood = made;
    return sr_success;
}

void srDestroyNeighbourhood(srNeighbourhood* neighbourhood) {
    if (neighbourhood->cage == NULL) {
        return;
    }
    size_t count = (size_t)neighbourhood->workerCount * (size_t)neighbourhood->cage->cellCount;
    SR_FREE(neighbourhood->stamps, count);
    SR_FREE(neighbourhood->queues, count);
    *neighbourhood = (srNeighbourhood){0};
}

static void enqueue(Search* search, int32_t cell) {
    if (search->stamps[cell] != search->stamp) {
        search->stamps[cell] = search->stamp;
        search->queue[search->end++] = cell;
    }
}

// Whether the node, edge or face that two cells share is near to the point.
static bool areLinked(const Search* search, int32_t cell, int32_t other) {
    const int32_t *a = search->at->cage->cells[cell], *b = search->at->cage->cells[other];
    const srVec3* nodes = search->at->cage->nodes;
    srVec3 shared[4], nearest;
    int count = 0;
    for (int c = 0; c < 4; c++) {
        if (a[c] == b[0] || a[c] == b[1] || a[c] == b[2] || a[c] == b[3]) {
            shared[count++] = nodes[a[c]];
        }
    }
    return srNearestOnTriangle(search->point, shared[0], shared[count > 1], shared[count > 2 ? 2 : 0],
                               &nearest) <= search->farthest2;
}

// The cells that hang together with those of the last ring
static void enqueueRing(Search* search, int32_t begin) {
    const srAdjacency* adjacency = search->at->adjacency;
    int32_t end = search->end;
    for (int32_t corner = 4 * begin; corner < 4 * end; corner++) {
        int32_t cell = search->queue[corner / 4], node = search->at->cage->cells[cell][corner % 4];
        for (int32_t p = adjacency->cellStarts[node]; p < adjacency->cellStarts[node + 1]; p++) {
            int32_t other = adjacency->cells[p];
            if (search->stamps[other] != search->stamp && areLinked(search, cell, other)) {
                search->stamps[other] = search->stamp;
                search->queue[search->end++] = other;
            }
        }
    }
}

static int32_t findHolding(const Search* search, int32_t begin) {
    int32_t found = SR_NULL_INDEX;
    double best = -FACE_TOLERANCE;
    for (int32_t place = begin; place < search->end; place++) {
        double w[4];
        srWeigh(&search->at->adjacency->frames[search->queue[place]], search->point, w);
        double smallest = srSmallestWeight(w);
        if (smallest > best) {
            best = smallest;
            found = search->queue[place];
        }
    }
    return found;
}

static const int faceCorners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

// Nearest place of the face opposite to a corner; squared distance
static double nearestOnFace(const srCage* cage, int32_t cell, int face, srVec3 point, srVec3* outNearest) {
    const int32_t* n = cage->cells[cell];
    const int* c = faceCorners[face];
    return srNearestOnTriangle(point, cage->nodes[n[c[0]]], cage->nodes[n[c[1]]], cage->nodes[n[c[2]]],
                               outNearest);
}

// The nearest place of the queue's faces to the outside; the first cell of the queue stands in where there is
// none, with its own nearest place.
static int32_t findNearest(const Search* search, srVec3* outFoot) {
    const srNeighbourhood* at = search->at;
    int32_t found = search->queue[0];
    double best2 = HUGE_VAL;
    for (int32_t place = 0; place < search->end; place++) {
        int32_t cell = search->queue[place];
        for (int face = 0; face < 4; face++) {
            srVec3 nearest;
            if (at->adjacency->neighbours[cell][face] != SR_NULL_INDEX) {
                continue;
            }
            double distance2 = nearestOnFace(at->cage, cell, face, search->point, &nearest);
            if (distance2 < best2) {
                best2 = distance2;
                found = cell;
                *outFoot = nearest;
            }
        }
    }
    if (best2 == HUGE_VAL) {
        *outFoot = srFindNearestOfCell(at->cage, found, search->point);
    }
    return found;
}

srVec3 srFindNearestOfCell(const srCage* cage, int32_t cell, srVec3 point) {
    double w[4];
    srFindBarycentric(cage, cell, point, w);
    if (srSmallestWeight(w) >= 0.0) {
        return point;
    }
    srVec3 best = point;
    double best2 = HUGE_VAL;
    for (int face = 0; face < 4; face++) {
        srVec3 nearest;
        if (nearestOnFace(cage, cell, face, point, &nearest) < best2) {
            srKeepNearer(point, nearest, &best2, &best);
        }
    }
    return best;
}

int32_t srFindCellNear(const srNeighbourhood* neighbourhood, int32_t worker, int32_t search, int32_t hint,
                       srVec3 point, bool* outIsInside, srVec3* outFoot) {
    double w[4];
    *outIsInside = true;
    *outFoot = point;
    int32_t reached = srWalkToPoint(neighbourhood->adjacency, hint, point, w);
    if (srSmallestWeight(w) >= -FACE_TOLERANCE) {
        return reached;
    }
    size_t offset = (size_t)worker * (size_t)neighbourhood->cage->cellCount;
    Search s = {.at = neighbourhood,
                .stamps = neighbourhood->stamps + offset,
                .queue = neighbourhood->queues + offset,
                .stamp = search,
                .point = point};
    double distance =
        LINK_DISTANCES * srDistance(point, srFindNearestOfCell(neighbourhood->cage, reached, point));
    s.farthest2 = distance * distance;
    enqueue(&s, reached);
    enqueue(&s, hint);
    int32_t begin = 0;
    for (int ring = 0; ring < SR_HINT_RINGS; ring++) {
        int32_t end = s.end;
        enqueueRing(&s, begin);
        begin = end;
        int32_t found = findHolding(&s, begin);
        if (found != SR_NULL_INDEX) {
            return found;
        }
    }
    *outIsInside = false;
    return findNearest(&s, outFoot);
}
