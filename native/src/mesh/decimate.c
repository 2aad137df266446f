// SPDX-License-Identifier: GPL-3.0-or-later
//
// In passes: the costs of all edges, the cheaper ones sorted, and those of them collapsed in that order whose
// ends have not changed in this pass. A queue that is kept up to date after every collapse takes several
// times as long and its surfaces are no nearer.

#include "mesh/decimate.h"

#include "core/parallel.h"
#include "mesh/collapse.h"
#include "mesh/crossings.h"
#include "mesh/undo.h"

#include <math.h>
#include <string.h>

// Of the weight of planes: how much a point wants to stay where it was. Makes edges equally long where the
// surface is flat, and every place of least error a single one.
#define POINT_WEIGHT 2e-3

// Looking whether a collapse makes triangles cross costs more than all the rest, and hardly any does. So the
// whole surface is looked at whenever so many of its triangles are left, what made some cross is taken back,
// and there, from then on, each collapse is looked at. After so many looks that found something, all are.
#define LOOK_SHARE 0.25
#define MOST_LOOKS 8

#define MOST_PASSES 200
#define EDGE_BLOCK 4096
#define EDGES_AHEAD 8

// Costs are sorted by the upper bits of a float: sign, exponent, and 3 of the mantissa. Edges of about equal
// cost keep the order of their triangles, and so does the memory that is read. What has no cost comes last.
#define KEY_SHIFT 20
#define KEY_COUNT (1 << 12)
#define NO_COST UINT32_MAX

// Edges of a pass that are tried, of all: the others wait until their turn comes. With more there are fewer
// passes and worse triangles, but not as long as there are many times the wanted number. On contours, 0.25
// throughout takes a fifth longer and gives no better ones; 0.4 throughout costs a twentieth of their
// quality.
#define EARLY_SHARE 0.5
#define LATE_SHARE 0.2
#define EARLY_FACTOR 6.0

static srResult failMemory(void) {
    return srFailOutOfMemory("the surface of the cage");
}

// ---- costs
// --------------------------------------------------------------------------------------------------

// Each triangle belongs to its corners; a third of its area weighs in each.
static void addTriangle(srCollapse* collapse, const int32_t t[3], const float* fineness) {
    srVec3 a = collapse->points[t[0]], b = collapse->points[t[1]], c = collapse->points[t[2]];
    srVec3 normal = srCross(srSub(b, a), srSub(c, a));
    double length = srLength(normal);
    if (!(length > 0.0)) {
        return;
    }
    normal = srScale(1.0 / length, normal);
    for (int i = 0; i < 3; i++) {
        srQuadric* q = &collapse->quadrics[t[i]];
        // the error of a flat place goes with the fourth power of its edges
        double fine = fineness != NULL ? (double)fineness[t[i]] : 1.0;
        double weight = length * fine * fine * fine * fine;
        srQuadric_AddPlane(q, normal, srDot(normal, a), weight);
        srQuadric_AddPoint(q, collapse->points[t[i]], POINT_WEIGHT * weight);
    }
}

static void costRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    srCollapse* collapse = context;
    for (int32_t t = begin; t < end; t++) {
        for (int e = 0; e < 3; e++) {
            int32_t a = collapse->triangles[t][e], b = collapse->triangles[t][(e + 1) % 3];
            uint32_t* key = &collapse->keys[3 * (size_t)t + (size_t)e];
            *key = NO_COST;
            // each edge is seen from both sides, and counts from one; what is gone has none
            if (a < b && srCollapse_IsThere(collapse, t)) {
                srQuadric sum = srSumQuadrics(&collapse->quadrics[a], &collapse->quadrics[b]);
                float cost = (float)srQuadric_At(&sum, srQuadric_FindLeast(&sum));
                memcpy(key, &cost, sizeof(cost));
            }
        }
    }
}

// The cheaper edges in ascending order, as three times the triangle and the side. Returns how many. Which
// slots have a cost follows no pattern, so nothing branches on it: the others are counted as well, and
// written behind the order, all to one place.
static int32_t sortEdges(srCollapse* collapse, double share) {
    int32_t slotCount = 3 * collapse->triangleCount, limit = 0, sum = 0;
    int32_t* counts = collapse->keyCounts;
    memset(counts, 0, KEY_COUNT * sizeof(int32_t));
    for (int32_t slot = 0; slot < slotCount; slot++) {
        counts[collapse->keys[slot] >> KEY_SHIFT]++;
    }
    int32_t edgeCount = slotCount - counts[KEY_COUNT - 1];
    int32_t tried = collapse->isPatient ? edgeCount : (int32_t)(share * edgeCount);
    for (limit = 0; limit < KEY_COUNT - 1 && sum <= tried; limit++) {
        int32_t count = counts[limit];
        counts[limit] = sum;
        sum += count;
    }
    for (int32_t key = limit; key < KEY_COUNT; key++) {
        counts[key] = sum;
    }
    for (int32_t slot = 0; slot < slotCount; slot++) {
        uint32_t key = collapse->keys[slot] >> KEY_SHIFT;
        collapse->order[counts[key]] = slot;
        counts[key] += key < (uint32_t)limit;
    }
    return sum;
}

// ---- passes
// -------------------------------------------------------------------------------------------------

static void compact(srCollapse* collapse) {
    int32_t count = 0;
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        if (srCollapse_IsThere(collapse, t)) {
            memcpy(collapse->triangles[count++], collapse->triangles[t], sizeof(int32_t[3]));
        }
    }
    collapse->triangleCount = count;
}

// What the points that are left have drawn to them since the last time. A point that is gone went in one
// step; those that were taken back left theirs there. Later steps first: then each end is known.
static void followSteps(srCollapse* collapse, int32_t* places) {
    for (int32_t i = collapse->log.stepCount - 1; i >= 0; i--) {
        const srCollapseStep* step = &collapse->log.steps[i];
        if (places[step->b] == SR_NULL_INDEX) {
            places[step->b] = places[step->a];
        }
    }
    for (int32_t p = 0; p < collapse->heirCount; p++) {
        int32_t heir = collapse->heirs[p];
        collapse->heirs[p] = heir != SR_NULL_INDEX ? places[heir] : SR_NULL_INDEX;
    }
}

// Points that no triangle uses are left out, the others keep their order.
static void dropPoints(srCollapse* collapse) {
    int32_t* places = collapse->starts;
    memset(places, 0xff, (size_t)collapse->pointCount * sizeof(int32_t)); // null
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            places[collapse->triangles[t][c]] = 0;
        }
    }
    int32_t count = 0;
    for (int32_t p = 0; p < collapse->pointCount; p++) {
        if (places[p] != SR_NULL_INDEX) {
            collapse->points[count] = collapse->points[p];
            collapse->quadrics[count] = collapse->quadrics[p];
            collapse->isCareful[count] = collapse->isCareful[p];
            places[p] = count++;
        }
    }
    collapse->pointCount = count;
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            collapse->triangles[t][c] = places[collapse->triangles[t][c]];
        }
    }
    followSteps(collapse, places);
}

static srHull hullOf(const srCollapse* collapse) {
    return (srHull){collapse->points, collapse->pointCount, collapse->triangles, collapse->triangleCount};
}

// The places where each collapse is looked at, if there are any.
static srResult makeGrid(srCollapse* collapse, srArena* arena, srTriangleGrid* grid) {
    collapse->grid = NULL;
    if (memchr(collapse->isCareful, 1, (size_t)collapse->pointCount) != NULL) {
        srHull hull = hullOf(collapse);
        SR_TRY(srCreateTriangleGrid(&hull, collapse->isCareful, arena, grid));
        collapse->grid = grid;
    }
    return sr_success;
}

// Collapses until `goal` triangles are left or nothing can be done. Returns how many it did.
static srResult runPass(srCollapse* collapse, int32_t goal, srArena* arena, int32_t* outCount) {
    srArenaMark mark = srArena_GetMark(arena);
    srTriangleGrid grid;
    int32_t before = collapse->aliveCount;
    srCollapse_LinkPoints(collapse);
    srParallelFor(costRange, collapse->triangleCount, EDGE_BLOCK, collapse);
    bool isEarly = collapse->aliveCount > EARLY_FACTOR * goal;
    int32_t edgeCount = sortEdges(collapse, isEarly ? EARLY_SHARE : LATE_SHARE);
    SR_TRY(makeGrid(collapse, arena, &grid));
    for (int32_t i = 0; i < edgeCount && collapse->aliveCount > goal && srCollapse_HasRoom(collapse); i++) {
        int32_t slot = collapse->order[i];
        const int32_t* t = collapse->triangles[slot / 3];
        // neighbours in the order are far apart in memory
        int32_t later = i + EDGES_AHEAD < edgeCount ? i + EDGES_AHEAD : i;
        __builtin_prefetch(collapse->triangles[collapse->order[later] / 3]);
        if (t[0] >= 0) {
            srCollapse_Try(collapse, t[slot % 3], t[(slot % 3 + 1) % 3]);
        }
    }
    collapse->grid = NULL;
    srArena_Release(arena, mark);
    *outCount = (before - collapse->aliveCount) / 2;
    return sr_success;
}

// Takes back what made triangles cross. A look that finds something is one of few.
static srResult look(srCollapse* collapse, int32_t* looksLeft, srArena* arena, srDecimateReport* report) {
    int32_t undoneCount;
    SR_TRY(srCollapse_Mend(collapse, arena, &undoneCount));
    report->undoneCount += undoneCount;
    *looksLeft -= undoneCount > 0;
    if (*looksLeft <= 0) {
        memset(collapse->isCareful, 1, (size_t)collapse->pointCount);
    }
    compact(collapse);
    dropPoints(collapse);
    srCollapse_ClearLog(collapse);
    return sr_success;
}

static srResult runPasses(srCollapse* collapse, int32_t goal, const srProgress* progress, srArena* arena,
                          srDecimateReport* report) {
    int32_t first = collapse->aliveCount, looksLeft = MOST_LOOKS;
    bool isStuck = false;
    for (int pass = 0; pass < MOST_PASSES && collapse->aliveCount > goal && !isStuck; pass++) {
        int32_t count;
        if (progress != NULL) {
            double share = (first - collapse->aliveCount) / (double)(first - goal + 1);
            SR_TRY(srReportProgress(progress, share));
        }
        SR_TRY(runPass(collapse, goal, arena, &count));
        isStuck = count == 0 && collapse->isPatient;
        // when the cheap ones are used up, all are tried
        collapse->isPatient = collapse->isPatient || 100 * (int64_t)count < collapse->aliveCount;
        bool isDue = collapse->aliveCount <= goal || isStuck || pass + 1 == MOST_PASSES ||
                     collapse->aliveCount <= LOOK_SHARE * collapse->triangleCount ||
                     !srCollapse_HasRoom(collapse);
        if (isDue) {
            SR_TRY(look(collapse, &looksLeft, arena, report));
        }
    }
    return sr_success;
}

static srResult allocate(const srHull* hull, srArena* arena, srCollapse* out) {
    *out = (srCollapse){.pointCount = hull->pointCount, .triangleCount = hull->triangleCount};
    out->points = SR_PUSH(arena, srVec3, hull->pointCount, "decimated points");
    out->triangles =
        srArena_Push(arena, (size_t)hull->triangleCount, sizeof(int32_t[3]), "decimated triangles");
    out->heirs = SR_PUSH(arena, int32_t, hull->pointCount, "heirs of points");
    out->heirCount = hull->pointCount;
    bool isThere = out->points != NULL && out->triangles != NULL && out->heirs != NULL;
    return isThere ? sr_success : failMemory();
}

static srResult allocateScratch(srArena* arena, srCollapse* collapse) {
    size_t slotCount = 3 * (size_t)collapse->triangleCount;
    collapse->quadrics = SR_PUSH(arena, srQuadric, collapse->pointCount, "quadrics");
    collapse->starts = SR_PUSH(arena, int32_t, collapse->pointCount + 1, "triangles around points");
    collapse->around = SR_PUSH(arena, int32_t, slotCount, "triangles around points");
    collapse->keys = SR_PUSH(arena, uint32_t, slotCount, "costs of edges");
    collapse->order = SR_PUSH(arena, int32_t, slotCount + 1, "order of edges");
    collapse->keyCounts = SR_PUSH(arena, int32_t, KEY_COUNT, "costs of edges");
    collapse->isLocked = SR_PUSH(arena, uint8_t, collapse->pointCount, "locked points");
    collapse->isCareful = SR_PUSH(arena, uint8_t, collapse->pointCount, "careful points");
    SR_TRY(srCreateCollapseLog(collapse->triangleCount, arena, &collapse->log));
    bool isThere = collapse->quadrics != NULL && collapse->starts != NULL && collapse->around != NULL &&
                   collapse->keys != NULL && collapse->order != NULL && collapse->keyCounts != NULL &&
                   collapse->isLocked != NULL && collapse->isCareful != NULL;
    return isThere ? sr_success : failMemory();
}

static void start(const srHull* hull, const srDecimateSettings* settings, srCollapse* collapse) {
    collapse->aliveCount = hull->triangleCount;
    memcpy(collapse->points, hull->points, (size_t)hull->pointCount * sizeof(srVec3));
    memcpy(collapse->triangles, hull->triangles, (size_t)hull->triangleCount * sizeof(int32_t[3]));
    memset(collapse->quadrics, 0, (size_t)hull->pointCount * sizeof(srQuadric));
    memset(collapse->isCareful, settings->looksAtEach, (size_t)hull->pointCount);
    srCollapse_ClearLog(collapse);
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        addTriangle(collapse, collapse->triangles[t], settings->fineness);
    }
    for (int32_t p = 0; p < hull->pointCount; p++) {
        collapse->heirs[p] = p;
    }
}

srResult srDecimate(const srHull* hull, const srDecimateSettings* settings, srArena* arena, srHull* outHull,
                    srDecimateReport* outReport) {
    srCollapse collapse;
    bool isClosed;
    *outReport = (srDecimateReport){0};
    SR_TRY(srIsHullClosed(hull, arena, &isClosed));
    if (!isClosed) {
        return srFail(sr_errorBadMesh, "Only a closed surface can be decimated.");
    }
    SR_TRY(allocate(hull, arena, &collapse));
    srArenaMark mark = srArena_GetMark(arena);
    SR_TRY(allocateScratch(arena, &collapse));
    start(hull, settings, &collapse);
    SR_TRY(runPasses(&collapse, settings->targetTriangles, settings->progress, arena, outReport));
    srArena_Release(arena, mark);
    *outHull = hullOf(&collapse);
    outReport->heirs = collapse.heirs;
    return srCountCrossings(outHull, true, 1, arena, NULL, &outReport->crossingCount);
}

// ---- closed or not
// ------------------------------------------------------------------------------------------

// The triangles around a point form one fan: from any of them all others are reached by edges at the point.
static bool isFan(const srCollapse* collapse, int32_t point) {
    int32_t begin = collapse->starts[point], count = collapse->starts[point + 1] - begin;
    if (count == 0) {
        return true;
    }
    int32_t t = collapse->around[begin], steps = 0;
    do {
        int32_t last = srCollapse_Neighbour(collapse->triangles[t], point, 2);
        int32_t next = SR_NULL_INDEX, found = 0;
        for (int32_t i = 0; i < count; i++) {
            int32_t other = collapse->around[begin + i];
            if (srCollapse_Neighbour(collapse->triangles[other], point, 1) == last) {
                next = other;
                found++;
            }
        }
        if (found != 1) {
            return false;
        }
        t = next;
        steps++;
    } while (t != collapse->around[begin] && steps <= count);
    return steps == count;
}

srResult srIsHullClosed(const srHull* hull, srArena* arena, bool* outIsClosed) {
    srArenaMark mark = srArena_GetMark(arena);
    srCollapse collapse = {.points = hull->points,
                           .triangles = hull->triangles,
                           .pointCount = hull->pointCount,
                           .triangleCount = hull->triangleCount};
    collapse.starts = SR_PUSH(arena, int32_t, hull->pointCount + 1, "triangles around points");
    collapse.around = SR_PUSH(arena, int32_t, 3 * (size_t)hull->triangleCount, "triangles around points");
    collapse.isLocked = SR_PUSH(arena, uint8_t, hull->pointCount, "locked points");
    if (collapse.starts == NULL || collapse.around == NULL || collapse.isLocked == NULL) {
        return failMemory();
    }
    bool isClosed = hull->triangleCount > 0;
    for (int32_t t = 0; t < hull->triangleCount && isClosed; t++) {
        const int32_t* c = hull->triangles[t];
        isClosed = c[0] != c[1] && c[1] != c[2] && c[2] != c[0];
    }
    if (isClosed) {
        srCollapse_LinkPoints(&collapse);
        for (int32_t p = 0; p < hull->pointCount && isClosed; p++) {
            isClosed = isFan(&collapse, p);
        }
    }
    srArena_Release(arena, mark);
    *outIsClosed = isClosed;
    return sr_success;
}
