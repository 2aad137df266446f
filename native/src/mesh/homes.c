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

// Where flesh overlaps, the way down leaves the other part and not one's own: there the flesh of a point is
// looked for below the overlap, in such steps of that depth. What overlaps deeper is one.
#define OVERLAP_STEP 0.5
#define OVERLAP_STEPS 10

// Triangles around a point face about one way where their sum is so long, in areas.
#define FLAT_SHARE 0.95

#define ASKED_PER_REPORT 128 // points
#define POINTS_PER_BLOCK 512
#define POINTS_PER_BATCH 2048

// A point this little outside of a tetrahedron, in weights, is still within
#define WITHIN 1e-9

typedef struct Search {
    const srHomesInput* in;
    srVec3* below; // of each point: a little under the skin
    srVec3* out;   // and the direction out of it; zero for sheets
    uint8_t* hasPlace;
    uint8_t* isEdge;       // its triangles face different ways
    uint8_t* overlapSteps; // to below what overlaps it; zero for nothing
    uint8_t* isNear;       // to a place of the lattice that is there twice
    srKeyed* points;       // by bin
    double depth;          // how far under it at most
    double binEdge;
    int32_t* firstCells; // of each copy
    int32_t* cellsAt;    // of each point of the split scaffold: a cell of a copy with that corner
    uint8_t* isTouched;
    int32_t* homes;
    int32_t askedCount; // since the last report
} Search;

// Out of the flesh at a triangle, as long as twice its area; zero for what bounds none.
static srVec3 normalOf(const Search* s, int32_t triangle) {
    const srSurface* surface = s->in->surface;
    const int32_t* c = surface->triangles[triangle];
    srVec3 a = surface->points[c[0]];
    srVec3 n = srCross(srSub(surface->points[c[1]], a), srSub(surface->points[c[2]], a));
    return srScale(s->in->contacts->turns[triangle], n);
}

// Isolated points belong nowhere; those of sheets are where they are.
static void findNormals(Search* s, double* areas) {
    const srSurface* surface = s->in->surface;
    memset(s->hasPlace, 0, (size_t)surface->pointCount);
    memset(s->out, 0, (size_t)surface->pointCount * sizeof(srVec3));
    memset(areas, 0, (size_t)surface->pointCount * sizeof(double));
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srVec3 n = normalOf(s, t);
        for (int corner = 0; corner < 3; corner++) {
            s->out[c[corner]] = srAdd(s->out[c[corner]], n);
            areas[c[corner]] += srLength(n);
            s->hasPlace[c[corner]] = 1;
        }
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        double length = srLength(s->out[p]);
        s->isEdge[p] = length < FLAT_SHARE * areas[p];
        s->out[p] = length > 0.0 ? srScale(1.0 / length, s->out[p]) : (srVec3){0.0, 0.0, 0.0};
    }
}

// Where the flesh of a point goes on below what overlaps it, in so many steps at most; beyond the last of all
// when it does not.
static int findOverlapSteps(const Search* s, srVec3 from, srVec3 out, int most, srVec3* outPlace) {
    for (int step = 1; step <= most; step++) {
        *outPlace = srMulAdd(from, -OVERLAP_STEP * step * s->depth, out);
        double winding = srBvh_WindingNumber(s->in->contacts->tree, *outPlace);
        if (winding < 1.5) {
            return winding > 0.5 ? step : OVERLAP_STEPS + 1;
        }
    }
    return OVERLAP_STEPS + 1;
}

// Whether the point lies within other flesh, and where its own goes on below it.
static bool findBelowOverlap(Search* s, int32_t p, const srWayEnd* from) {
    const srBvh* tree = s->in->contacts->tree;
    srVec3 skin = s->in->surface->points[p], place;
    srWayEnd here = *from, there = *from;
    bool isAlone = true;
    // ways no longer than a bin pass few of them
    double deep = OVERLAP_STEP * OVERLAP_STEPS * s->depth;
    int wayCount = (int)ceil(fmin(deep / s->in->flesh->walls.binEdge, OVERLAP_STEPS));
    for (int way = 1; way <= wayCount && isAlone; way++) {
        there.place = srMulAdd(skin, -deep * way / wayCount, s->out[p]);
        isAlone = !srWalls_Leaves(&s->in->flesh->walls, &here, &there);
        here = there;
    }
    if (tree == NULL || (isAlone && !s->isEdge[p]) || srBvh_WindingNumber(tree, from->place) < 1.5) {
        return false;
    }
    s->overlapSteps[p] = (uint8_t)findOverlapSteps(s, skin, s->out[p], OVERLAP_STEPS, &place);
    s->below[p] = place;
    return s->overlapSteps[p] <= OVERLAP_STEPS;
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
        if (findBelowOverlap(s, p, &from)) {
            continue;
        }
        to.place = srMulAdd(surface->points[p], -s->depth, s->out[p]);
        for (double half = 0.5 * s->depth; half >= least && srWalls_Leaves(walls, &from, &to); half *= 0.5) {
            to.place = srMulAdd(surface->points[p], -half, s->out[p]);
        }
        s->below[p] = to.place;
    }
}

static void lookBelowSide(Search* s, int32_t p, srVec3 normal) {
    // off the planes of the other sides, which what overlaps may share
    srVec3 from = srMulAdd(s->in->surface->points[p], -0.5 * OVERLAP_STEP * s->depth, s->out[p]), place;
    int steps = findOverlapSteps(s, from, normal, s->overlapSteps[p] - 1, &place);
    if (steps < s->overlapSteps[p]) {
        s->overlapSteps[p] = (uint8_t)steps;
        s->below[p] = place;
    }
}

// At an edge the way down between its sides may not leave what overlaps one of them for long: below that side
// it does.
static srResult lookBelowSides(Search* s, const srProgress* progress) {
    const srSurface* surface = s->in->surface;
    int32_t lookedCount = 0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        srVec3 normal = normalOf(s, t);
        double length = srLength(normal);
        for (int corner = 0; corner < 3 && length > 0.0; corner++) {
            int32_t p = surface->triangles[t][corner];
            if (s->isEdge[p] && s->overlapSteps[p] > 1) {
                lookBelowSide(s, p, srScale(1.0 / length, normal));
                lookedCount++;
            }
        }
        if (lookedCount >= ASKED_PER_REPORT) {
            SR_TRY(srReportProgress(progress, (double)t / surface->triangleCount));
            lookedCount = 0;
        }
    }
    return sr_success;
}

static int64_t binOf(double x, double lower, double edge) {
    double bin = (x - lower) / edge;
    return bin <= 0.0 ? 0 : bin >= (double)BIN_LIMIT ? BIN_LIMIT : (int64_t)bin;
}

static uint64_t keyOf(int64_t i, int64_t j, int64_t k) {
    return ((uint64_t)k << BIN_BITS | (uint64_t)j) << BIN_BITS | (uint64_t)i;
}

static int32_t binPoints(Search* s, const srVec3* places, srKeyed* scratch) {
    const srSurface* surface = s->in->surface;
    int32_t count = 0;
    for (int32_t p = 0; p < surface->pointCount; p++) {
        srVec3 x = places[p], low = surface->lower;
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
    bool leavesThere, leavesBack;
    srWalls_LeavesBothWays(&s->in->flesh->walls, &here, &there, &leavesThere, &leavesBack);
    return !leavesThere && !leavesBack;
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

typedef struct BinRange {
    int64_t first[3], last[3];
} BinRange;

// The bins that a tetrahedron and what is so near to it lie in.
static BinRange rangeOf(const Search* s, const srVec3 corners[4], double margin) {
    BinRange range = {{BIN_LIMIT, BIN_LIMIT, BIN_LIMIT}, {0, 0, 0}};
    srVec3 low = s->in->surface->lower;
    for (int c = 0; c < 4; c++) {
        const double at[3] = {corners[c].x - low.x, corners[c].y - low.y, corners[c].z - low.z};
        for (int axis = 0; axis < 3; axis++) {
            int64_t first = binOf(at[axis] - margin, 0.0, s->binEdge);
            int64_t last = binOf(at[axis] + margin, 0.0, s->binEdge);
            range.first[axis] = first < range.first[axis] ? first : range.first[axis];
            range.last[axis] = last > range.last[axis] ? last : range.last[axis];
        }
    }
    return range;
}

// Whether a place of a tetrahedron is there twice.
static bool getCorners(const Search* s, int32_t tet, srVec3 corners[4]) {
    bool isTouched = false;
    for (int c = 0; c < 4; c++) {
        int32_t corner = s->in->scaffold->tets[tet][c];
        corners[c] = s->in->scaffold->points[corner];
        isTouched = isTouched || s->isTouched[corner];
    }
    return isTouched;
}

// All of a bin at once: where its first point is marked, all are.
static void markBin(Search* s, int32_t pointCount, uint64_t key) {
    int32_t place = findKey(s->points, pointCount, key);
    bool isNew = place < pointCount && !s->isNear[s->points[place].value];
    for (; isNew && place < pointCount && s->points[place].key == key; place++) {
        s->isNear[s->points[place].value] = 1;
    }
}

// Only points near a place that is there twice are asked for.
static void leaveFarPoints(Search* s, srKeyed* scratch) {
    const srSurface* surface = s->in->surface;
    int32_t binned = binPoints(s, surface->points, scratch);
    memset(s->isNear, 0, (size_t)surface->pointCount);
    for (int32_t t = 0; t < s->in->scaffold->tetCount; t++) {
        srVec3 corners[4];
        if (!getCorners(s, t, corners)) {
            continue;
        }
        BinRange range = rangeOf(s, corners, OVERLAP_STEP * OVERLAP_STEPS * s->depth);
        for (int64_t k = range.first[2]; k <= range.last[2]; k++) {
            for (int64_t j = range.first[1]; j <= range.last[1]; j++) {
                for (int64_t i = range.first[0]; i <= range.last[0]; i++) {
                    markBin(s, binned, keyOf(i, j, k));
                }
            }
        }
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        s->hasPlace[p] &= s->isNear[p];
    }
}

static void takePoint(Search* s, int32_t tet, const srVec3 corners[4], int32_t point) {
    srVec3 x = s->below[point];
    if (s->homes[point] == SR_NULL_INDEX && leastWeight(corners, x) >= -WITHIN) {
        int32_t copy = findCopy(s, tet, point);
        s->homes[point] = copy == SR_NULL_INDEX ? SR_NULL_INDEX : findCell(s, copy, x);
        s->askedCount++;
    }
}

static void takePoints(Search* s, int32_t tet, int32_t pointCount) {
    srVec3 corners[4];
    if (!getCorners(s, tet, corners)) {
        return;
    }
    BinRange range = rangeOf(s, corners, 0.0);
    for (int64_t k = range.first[2]; k <= range.last[2]; k++) {
        for (int64_t j = range.first[1]; j <= range.last[1]; j++) {
            uint64_t end = keyOf(range.last[0], j, k);
            int32_t place = findKey(s->points, pointCount, keyOf(range.first[0], j, k));
            for (; place < pointCount && s->points[place].key <= end; place++) {
                takePoint(s, tet, corners, s->points[place].value);
            }
        }
    }
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
    s.isEdge = SR_PUSH(arena, uint8_t, pointCount, "edges");
    s.overlapSteps = SR_PUSH(arena, uint8_t, pointCount, "overlaps");
    double* areas = SR_PUSH(arena, double, pointCount, "areas");
    s.isNear = SR_PUSH(arena, uint8_t, pointCount, "places");
    s.points = SR_PUSH(arena, srKeyed, pointCount, "points");
    s.firstCells = SR_PUSH(arena, int32_t, copyCount + 1, "cells of copies");
    s.cellsAt = SR_PUSH(arena, int32_t, input->copies->scaffold.pointCount, "cells at points");
    s.isTouched = SR_PUSH(arena, uint8_t, scaffold->pointCount, "touched points");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, pointCount, "points");
    if (s.below == NULL || s.out == NULL || s.hasPlace == NULL || s.isEdge == NULL ||
        s.overlapSteps == NULL || areas == NULL || s.isNear == NULL || s.points == NULL ||
        s.firstCells == NULL || s.cellsAt == NULL || s.isTouched == NULL || scratch == NULL) {
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
    findNormals(&s, areas);
    memset(s.overlapSteps, 0, (size_t)pointCount);
    s.depth = DEPTH_SIZES * least;
    SR_TRY(srReportProgress(progress, 0.2));
    leaveFarPoints(&s, scratch);
    srProgress looking = srPartOfProgress(progress, 0.3, 0.5), below = srPartOfProgress(progress, 0.5, 0.6);
    SR_TRY(
        srParallelForWithProgress(findBelow, pointCount, POINTS_PER_BLOCK, POINTS_PER_BATCH, &s, &looking));
    SR_TRY(lookBelowSides(&s, &below));
    listCells(&s, copyCount);
    int32_t binned = binPoints(&s, s.below, scratch);
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        takePoints(&s, t, binned);
        if (s.askedCount >= ASKED_PER_REPORT) {
            SR_TRY(srReportProgress(progress, 0.6 + 0.4 * t / scaffold->tetCount));
            s.askedCount = 0;
        }
    }
    return sr_success;
}
