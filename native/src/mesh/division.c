// SPDX-License-Identifier: GPL-3.0-or-later
//
// Round by round: all edges that are too long get a point in their middle, triangles are cut along these.

#include "mesh/division.h"

#include "mesh/sort.h"

#include <string.h>

typedef struct Round {
    const srHull* hull;
    srKeyed* edges; // too long ones, ascending; the value is the middle's number
    int32_t edgeCount;
    srHull out;
} Round;

static double lengthOf(const srHull* hull, int32_t a, int32_t b) {
    return srDistance(hull->points[a], hull->points[b]);
}

static srResult findLong(Round* round, double length, srArena* arena) {
    const srHull* hull = round->hull;
    int32_t count = 0;
    srKeyed* edges = SR_PUSH(arena, srKeyed, 3 * hull->triangleCount, "long edges");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, 3 * hull->triangleCount, "long edges");
    if (edges == NULL || scratch == NULL) {
        return srFailOutOfMemory("a finer surface");
    }
    for (int32_t side = 0; side < 3 * hull->triangleCount; side++) {
        int32_t a = hull->triangles[side / 3][side % 3], b = hull->triangles[side / 3][(side + 1) % 3];
        if (lengthOf(hull, a, b) > length) {
            edges[count++] = (srKeyed){srEdgeKey(a, b), 0};
        }
    }
    srSortKeyed(edges, scratch, count);
    for (int32_t e = 0; e < count; e++) {
        if (round->edgeCount == 0 || edges[round->edgeCount - 1].key != edges[e].key) {
            edges[round->edgeCount] = (srKeyed){edges[e].key, hull->pointCount + round->edgeCount};
            round->edgeCount++;
        }
    }
    round->edges = edges;
    return sr_success;
}

// The point in the middle of an edge, or null.
static int32_t middleOf(const Round* round, int32_t a, int32_t b) {
    uint64_t key = srEdgeKey(a, b);
    int32_t low = 0, high = round->edgeCount;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        low = round->edges[middle].key < key ? middle + 1 : low;
        high = round->edges[middle].key < key ? high : middle;
    }
    return low < round->edgeCount && round->edges[low].key == key ? round->edges[low].value : SR_NULL_INDEX;
}

static void add(Round* round, int32_t a, int32_t b, int32_t c) {
    int32_t* out = round->out.triangles[round->out.triangleCount++];
    out[0] = a, out[1] = b, out[2] = c;
}

// With the edge ab cut at m and bc at n: what is left beside b's corner is cut along the shorter diagonal.
static void addCutTwice(Round* round, const int32_t c[3], int32_t m, int32_t n) {
    bool isFromFirst = lengthOf(&round->out, c[0], n) <= lengthOf(&round->out, m, c[2]);
    add(round, m, c[1], n);
    add(round, c[0], m, isFromFirst ? n : c[2]);
    add(round, isFromFirst ? c[0] : m, n, c[2]);
}

static void cut(Round* round, const int32_t corners[3]) {
    int32_t middles[3], count = 0, first = 0;
    for (int i = 0; i < 3; i++) {
        middles[i] = middleOf(round, corners[i], corners[(i + 1) % 3]);
        count += middles[i] != SR_NULL_INDEX;
    }
    // begin with a cut edge, and where there are two with the one before the other
    for (int i = 0; i < 3; i++) {
        bool isNext = count != 2 || middles[(i + 1) % 3] != SR_NULL_INDEX;
        first = middles[i] != SR_NULL_INDEX && isNext ? i : first;
    }
    const int32_t c[3] = {corners[first], corners[(first + 1) % 3], corners[(first + 2) % 3]};
    int32_t m = middles[first], n = middles[(first + 1) % 3], k = middles[(first + 2) % 3];
    if (count == 0) {
        add(round, c[0], c[1], c[2]);
    } else if (count == 1) {
        add(round, c[0], m, c[2]);
        add(round, m, c[1], c[2]);
    } else if (count == 2) {
        addCutTwice(round, c, m, n);
    } else {
        add(round, c[0], m, k);
        add(round, m, c[1], n);
        add(round, k, n, c[2]);
        add(round, m, n, k);
    }
}

static srResult divideOnce(Round* round, srArena* arena) {
    const srHull* hull = round->hull;
    srHull* out = &round->out;
    out->points = SR_PUSH(arena, srVec3, hull->pointCount + round->edgeCount, "points of a finer surface");
    out->triangles =
        srArena_Push(arena, 4 * (size_t)hull->triangleCount, sizeof(out->triangles[0]), "finer surface");
    if (out->points == NULL || out->triangles == NULL) {
        return srFailOutOfMemory("a finer surface");
    }
    memcpy(out->points, hull->points, (size_t)hull->pointCount * sizeof(srVec3));
    out->pointCount = hull->pointCount + round->edgeCount;
    for (int32_t e = 0; e < round->edgeCount; e++) {
        int32_t a = (int32_t)(round->edges[e].key >> 32), b = (int32_t)(round->edges[e].key & UINT32_MAX);
        out->points[round->edges[e].value] = srScale(0.5, srAdd(hull->points[a], hull->points[b]));
    }
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        cut(round, hull->triangles[t]);
    }
    return sr_success;
}

srResult srDivideHull(const srHull* hull, double length, int32_t most, srArena* arena, srHull* outHull) {
    srHull current = *hull;
    *outHull = (srHull){0};
    while (current.triangleCount <= most) {
        Round round = {.hull = &current};
        SR_TRY(findLong(&round, length, arena));
        if (round.edgeCount == 0) {
            *outHull = current;
            return sr_success;
        }
        SR_TRY(divideOnce(&round, arena));
        current = round.out;
    }
    return sr_success;
}
