// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points are sorted into bins; each tetrahedron near a place that is there twice takes those within it and
// asks whose skin they are on: the part with the nearest sample that a way through the flesh leads to, from a
// place a little below the skin. The nearest of all may be across the gap: one outside stands for the flesh
// at its foot, which is as far from here as the gap is wide.

#include "mesh/homes.h"

#include "mesh/sort.h"

#include <math.h>
#include <string.h>

#define BIN_BITS 21
#define BIN_LIMIT (((int64_t)1 << BIN_BITS) - 1)

// How far below the skin the flesh of a point is looked for, in edges of cubes. Straight at the skin two
// parts that touch are equally near. Where flesh is thinner it is looked for half as deep, so many times; the
// last stands for the skin itself.
#define DEPTH_SIZES 0.1
#define HALVING_COUNT 8

#define ASKED_PER_REPORT 512 // points
#define POINTS_PER_BLOCK 512
#define POINTS_PER_BATCH 8192

// A point this little outside of a tetrahedron, in weights, is still within
#define WITHIN 1e-9

typedef struct Search {
    const srHomesInput* in;
    srVec3* below; // of each point: a little under the skin
    srVec3* out;   // and the direction out of it; zero for sheets
    uint8_t* hasPlace;
    srKeyed* points; // by bin
    double depth;    // how far under it at most
    double binEdge;
    int32_t* firstCells; // of each copy
    int32_t* cellsAt;    // of each point of the split scaffold: a cell of a copy with that corner
    uint8_t* isTouched;
    int32_t* homes;
} Search;

// Isolated points belong nowhere; those of sheets are where they are.
static void findNormals(Search* s) {
    const srSurface* surface = s->in->surface;
    memset(s->hasPlace, 0, (size_t)surface->pointCount);
    memset(s->out, 0, (size_t)surface->pointCount * sizeof(srVec3));
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srVec3 a = surface->points[c[0]];
        srVec3 n = srCross(srSub(surface->points[c[1]], a), srSub(surface->points[c[2]], a));
        for (int corner = 0; corner < 3; corner++) {
            s->out[c[corner]] = srMulAdd(s->out[c[corner]], s->in->contacts->turns[t], n);
            s->hasPlace[c[corner]] = 1;
        }
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        double length = srLength(s->out[p]);
        s->out[p] = length > 0.0 ? srScale(1.0 / length, s->out[p]) : (srVec3){0.0, 0.0, 0.0};
    }
}

static void findBelow(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    Search* s = context;
    const srSurface* surface = s->in->surface;
    const srWalls* walls = &s->in->flesh->walls;
    double least = ldexp(s->depth, -HALVING_COUNT);
    for (int32_t p = begin; p < end; p++) {
        if (!s->hasPlace[p]) { // perhaps not finite
            continue;
        }
        srWayEnd from = {srMulAdd(surface->points[p], -least, s->out[p]), surface->points[p], s->out[p],
                         SR_NULL_INDEX};
        srWayEnd to = from;
        to.place = srMulAdd(surface->points[p], -s->depth, s->out[p]);
        for (double half = 0.5 * s->depth; half >= least && srWalls_Leaves(walls, &from, &to); half *= 0.5) {
            to.place = srMulAdd(surface->points[p], -half, s->out[p]);
        }
        s->below[p] = to.place;
    }
}

static int64_t binOf(double x, double lower, double edge) {
    double bin = (x - lower) / edge;
    return bin <= 0.0 ? 0 : bin >= (double)BIN_LIMIT ? BIN_LIMIT : (int64_t)bin;
}

static uint64_t keyOf(int64_t i, int64_t j, int64_t k) {
    return ((uint64_t)k << BIN_BITS | (uint64_t)j) << BIN_BITS | (uint64_t)i;
}

static int32_t binPoints(Search* s, srKeyed* scratch) {
    const srSurface* surface = s->in->surface;
    int32_t count = 0;
    for (int32_t p = 0; p < surface->pointCount; p++) {
        srVec3 x = s->below[p], low = surface->lower;
        if (s->hasPlace[p]) {
            uint64_t key = keyOf(binOf(x.x, low.x, s->binEdge), binOf(x.y, low.y, s->binEdge),
                                 binOf(x.z, low.z, s->binEdge));
            s->points[count++] = (srKeyed){key, p};
        }
    }
    srSortKeyed(s->points, scratch, count);
    return count;
}

static int32_t findKey(const srKeyed* points, int32_t count, uint64_t key) {
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (points[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The least of a point's four weights in a tetrahedron; below zero outside.
static double leastWeight(const srVec3 corners[4], srVec3 x) {
    srVec3 a = srSub(corners[1], corners[0]), b = srSub(corners[2], corners[0]),
           c = srSub(corners[3], corners[0]);
    srVec3 r = srSub(x, corners[0]), bc = srCross(b, c);
    double volume = srDot(a, bc);
    if (volume == 0.0) {
        return -HUGE_VAL;
    }
    double wa = srDot(r, bc) / volume, wb = srDot(r, srCross(c, a)) / volume,
           wc = srDot(r, srCross(a, b)) / volume;
    return fmin(fmin(wa, wb), fmin(wc, 1.0 - wa - wb - wc));
}

// Whether the way from a point to a sample stays in the flesh, there and back.
static bool isReached(const Search* s, int32_t point, const srFleshSample* sample) {
    srWayEnd here = {s->below[point], s->in->surface->points[point], s->out[point], SR_NULL_INDEX};
    srWayEnd there = {sample->anchor, sample->foot, sample->out, SR_NULL_INDEX};
    const srWalls* walls = &s->in->flesh->walls;
    return !srWalls_Leaves(walls, &here, &there) && !srWalls_Leaves(walls, &there, &here);
}

// The copy whose part of the flesh has its skin at the point. Where no way leads to any sample the nearest
// one tells.
static int32_t findCopy(const Search* s, int32_t tet, int32_t point) {
    const srCopies* copies = s->in->copies;
    const srFlesh* flesh = s->in->flesh;
    int32_t place = flesh->places[tet], first = copies->partStarts[tet];
    int32_t partCount = copies->partStarts[tet + 1] - first;
    if (place == SR_NULL_INDEX || partCount == 1) {
        return copies->aliases[first];
    }
    double least = HUGE_VAL, leastReached = HUGE_VAL;
    int best = 0;
    for (int i = 0; i < SR_SAMPLE_COUNT; i++) {
        const srFleshSample* sample = &flesh->samples[flesh->tetSamples[place][i]];
        int label = flesh->labels[place][i];
        double cost =
            srDistance(sample->kind == sr_sampleFringe ? sample->foot : sample->point, s->below[point]);
        if (label < 0 || cost >= leastReached) {
            continue;
        }
        bool reached = isReached(s, point, sample);
        if (reached || (cost < least && leastReached == HUGE_VAL)) {
            best = label;
        }
        least = fmin(least, cost);
        leastReached = reached ? cost : leastReached;
    }
    return copies->aliases[first + best];
}

static double leastWeightIn(const Search* s, int32_t cell, srVec3 x) {
    const srRawCells* cells = s->in->cells;
    srVec3 corners[4];
    for (int c = 0; c < 4; c++) {
        corners[c] = cells->nodes[cells->cells[cell][c]];
    }
    return leastWeight(corners, x);
}

// Of a copy's cells the one that holds the place, or comes nearest to it. Where the cage cuts off a corner of
// the skin a copy has none; then one of those beside that are glued to it.
static int32_t findCell(const Search* s, int32_t copy, srVec3 x) {
    int32_t best = SR_NULL_INDEX;
    double most = -HUGE_VAL;
    for (int32_t cell = s->firstCells[copy]; cell < s->firstCells[copy + 1]; cell++) {
        double weight = leastWeightIn(s, cell, x);
        best = weight > most ? cell : best;
        most = fmax(most, weight);
    }
    for (int c = 0; c < 4 && s->firstCells[copy] == s->firstCells[copy + 1]; c++) {
        int32_t cell = s->cellsAt[s->in->copies->scaffold.tets[copy][c]];
        double weight = cell != SR_NULL_INDEX ? leastWeightIn(s, cell, x) : -HUGE_VAL;
        best = weight > most ? cell : best;
        most = fmax(most, weight);
    }
    return best;
}

// Returns how many were asked for.
static int32_t takePoints(Search* s, int32_t tet, int32_t pointCount) {
    int32_t askedCount = 0;
    const srScaffold* scaffold = s->in->scaffold;
    srVec3 low = s->in->surface->lower, corners[4];
    int64_t first[3] = {BIN_LIMIT, BIN_LIMIT, BIN_LIMIT}, last[3] = {0, 0, 0};
    for (int c = 0; c < 4; c++) {
        corners[c] = scaffold->points[scaffold->tets[tet][c]];
        const int64_t bins[3] = {binOf(corners[c].x, low.x, s->binEdge),
                                 binOf(corners[c].y, low.y, s->binEdge),
                                 binOf(corners[c].z, low.z, s->binEdge)};
        for (int axis = 0; axis < 3; axis++) {
            first[axis] = bins[axis] < first[axis] ? bins[axis] : first[axis];
            last[axis] = bins[axis] > last[axis] ? bins[axis] : last[axis];
        }
    }
    for (int64_t k = first[2]; k <= last[2]; k++) {
        for (int64_t j = first[1]; j <= last[1]; j++) {
            uint64_t end = keyOf(last[0], j, k);
            int32_t place = findKey(s->points, pointCount, keyOf(first[0], j, k));
            for (; place < pointCount && s->points[place].key <= end; place++) {
                int32_t point = s->points[place].value;
                srVec3 x = s->below[point];
                if (s->homes[point] == SR_NULL_INDEX && leastWeight(corners, x) >= -WITHIN) {
                    int32_t copy = findCopy(s, tet, point);
                    s->homes[point] = copy == SR_NULL_INDEX ? SR_NULL_INDEX : findCell(s, copy, x);
                    askedCount++;
                }
            }
        }
    }
    return askedCount;
}

static void listCells(Search* s, int32_t copyCount) {
    const srRawCells* cells = s->in->cells;
    const srScaffold* split = &s->in->copies->scaffold;
    memset(s->cellsAt, 0xff, (size_t)split->pointCount * sizeof(int32_t)); // null
    int32_t cell = 0;
    for (int32_t copy = 0; copy <= copyCount; copy++) {
        for (; cell < cells->cellCount && cells->tets[cell] < copy; cell++) {
            for (int c = 0; c < 4; c++) {
                s->cellsAt[split->tets[cells->tets[cell]][c]] = cell;
            }
        }
        s->firstCells[copy] = cell;
    }
}

// Where a place of the lattice is there twice: as corner of a tetrahedron that was split, or of two that hold
// one part each and were not glued, because their common plane runs through a gap.
static bool touchPoints(const Search* s) {
    const srScaffold *scaffold = s->in->scaffold, *split = &s->in->copies->scaffold;
    bool isAny = false;
    memset(s->isTouched, 0, (size_t)scaffold->pointCount);
    for (int32_t p = 0; p < split->pointCount; p++) {
        s->isTouched[split->bases[p]] |= split->isSplit[p];
        isAny = isAny || split->isSplit[p];
    }
    return isAny;
}

srResult srFindHomes(const srHomesInput* input, srArena* arena, const srProgress* progress,
                     int32_t* outCells) {
    const srScaffold* scaffold = input->scaffold;
    int32_t pointCount = input->surface->pointCount, copyCount = input->copies->scaffold.tetCount;
    memset(outCells, 0xff, (size_t)pointCount * sizeof(int32_t));
    Search s = {.in = input, .homes = outCells};
    s.below = SR_PUSH(arena, srVec3, pointCount, "places");
    s.out = SR_PUSH(arena, srVec3, pointCount, "directions out");
    s.hasPlace = SR_PUSH(arena, uint8_t, pointCount, "places");
    s.points = SR_PUSH(arena, srKeyed, pointCount, "points");
    s.firstCells = SR_PUSH(arena, int32_t, copyCount + 1, "cells of copies");
    s.cellsAt = SR_PUSH(arena, int32_t, input->copies->scaffold.pointCount, "cells at points");
    s.isTouched = SR_PUSH(arena, uint8_t, scaffold->pointCount, "touched points");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, pointCount, "points");
    if (s.below == NULL || s.out == NULL || s.hasPlace == NULL || s.points == NULL || s.firstCells == NULL ||
        s.cellsAt == NULL || s.isTouched == NULL || scratch == NULL) {
        return srFailOutOfMemory("the cells of points");
    }
    if (!touchPoints(&s)) {
        return sr_success;
    }
    double least = HUGE_VAL;
    for (int32_t p = 0; p < scaffold->pointCount; p++) {
        s.binEdge = fmax(s.binEdge, scaffold->sizes[p]);
        least = fmin(least, scaffold->sizes[p]);
    }
    SR_TRY(srReportProgress(progress, 0.1));
    findNormals(&s);
    s.depth = DEPTH_SIZES * least;
    srProgress looking = srPartOfProgress(progress, 0.1, 0.5);
    SR_TRY(
        srParallelForWithProgress(findBelow, pointCount, POINTS_PER_BLOCK, POINTS_PER_BATCH, &s, &looking));
    listCells(&s, copyCount);
    int32_t binned = binPoints(&s, scratch);
    int32_t askedCount = 0;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* p = scaffold->tets[t];
        if (s.isTouched[p[0]] || s.isTouched[p[1]] || s.isTouched[p[2]] || s.isTouched[p[3]]) {
            askedCount += takePoints(&s, t, binned);
        }
        if (askedCount >= ASKED_PER_REPORT) {
            SR_TRY(srReportProgress(progress, 0.5 + 0.5 * t / scaffold->tetCount));
            askedCount = 0;
        }
    }
    return sr_success;
}
