// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cutting edges and warping points, after Labelle and Shewchuk 2007. A cut nearer to a point than a certain
// share of its edge "violates" the point, which then moves onto it. With the shares below they prove dihedral
// angles within 10.7 and 164.8 degrees whatever the level set; with our rule for thin parts random fields
// give 9.8 to 159 (test_stuffing.c).

#include "mesh/warp.h"

#include "mesh/faces.h"
#include "mesh/sort.h"

#include <math.h>
#include <string.h>

#define LONG_SHARE 0.24999
#define SHORT_SHARE 0.41189

// Edges along the diagonal of a square, which only tetrahedra between cells of two sizes have. Tried on skins
// with half of them painted: 0.3 gives angles from 4.2 degrees on, 0.35 from 11, 0.45 from 12 and to 158; at
// random cuts 0.25 to 0.35 are best.
#define SQUARE_SHARE 0.35

// Halvings where the field jumps, across holes of the surface: 1/64 of an edge is far below LONG_SHARE.
#define HALVING_COUNT 6

// More neighbours than any point has: 14 in a lattice of one size
#define MAX_RING 64

#define CUTS_PER_BLOCK 256
#define CUTS_PER_BATCH 8192
#define TETS_PER_REPORT 65536

static double violationShare(const srScaffold* scaffold, int32_t a, int32_t b) {
    const int32_t *from = scaffold->coords[a], *to = scaffold->coords[b];
    int axes = (from[0] != to[0]) + (from[1] != to[1]) + (from[2] != to[2]);
    return axes == 1 ? LONG_SHARE : axes == 2 ? SQUARE_SHARE : SHORT_SHARE;
}

static double edgeLength(const srScaffold* scaffold, int32_t a, int32_t b) {
    return srDistance(scaffold->points[a], scaffold->points[b]);
}

int32_t srWarp_FindCut(const srWarp* warp, int32_t inside, int32_t outside) {
    int32_t cut = warp->firstCuts[inside];
    while (warp->cutEnds[cut] != outside) {
        cut++;
    }
    return cut;
}

srVec3 srWarp_Point(const srWarp* warp, int32_t point) {
    srVec3 position = warp->scaffold->points[point];
    if (warp->signs[point] != 0) {
        return position;
    }
    srVec3 target = warp->scaffold->points[warp->warpTargets[point]];
    return srMulAdd(position, warp->warpShares[point], srSub(target, position));
}

// Edges between inside and outside, as often as tetrahedra name them. `keys` null: only count.
static srResult listCuts(const srWarp* warp, srKeyed* keys, const srProgress* progress, int32_t* outCount) {
    const srScaffold* scaffold = warp->scaffold;
    int64_t count = 0;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        if (t % TETS_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, (double)t / scaffold->tetCount));
        }
        const int32_t* tet = scaffold->tets[t];
        for (int e = 0; e < 16; e++) {
            int32_t a = tet[e / 4], b = tet[e % 4];
            if (warp->signs[a] > 0 && warp->signs[b] < 0) {
                if (keys != NULL) {
                    keys[count] = (srKeyed){srPairKey(a, b), 0};
                }
                count++;
            }
        }
    }
    if (count > INT32_MAX / 2) {
        return srFail(sr_errorTooLarge, "The cage would need too many nodes.");
    }
    *outCount = (int32_t)count;
    return sr_success;
}

static int32_t removeDoubles(srKeyed* keys, int32_t count) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (i == 0 || keys[i].key != keys[kept - 1].key) {
            keys[kept++] = keys[i];
        }
    }
    return kept;
}

static srResult fillCutEdges(srWarp* warp, const srKeyed* keys, srArena* arena) {
    int32_t pointCount = warp->scaffold->pointCount;
    warp->cutEnds = SR_PUSH(arena, int32_t, warp->cutCount + 1, "cut edges");
    warp->cuts = SR_PUSH(arena, double, warp->cutCount + 1, "cuts");
    if (warp->cutEnds == NULL || warp->cuts == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    int32_t cut = 0;
    for (int32_t point = 0; point < pointCount; point++) {
        warp->firstCuts[point] = cut;
        for (; cut < warp->cutCount && (int32_t)(keys[cut].key >> 32) == point; cut++) {
            warp->cutEnds[cut] = (int32_t)(keys[cut].key & UINT32_MAX);
        }
    }
    warp->firstCuts[pointCount] = warp->cutCount;
    return sr_success;
}

static srResult findCutEdges(srWarp* warp, srArena* arena, const srProgress* progress) {
    int32_t count = 0;
    srProgress counting = srPartOfProgress(progress, 0.0, 0.5),
               listing = srPartOfProgress(progress, 0.5, 1.0);
    SR_TRY(listCuts(warp, NULL, &counting, &count));
    srKeyed* keys = SR_PUSH(arena, srKeyed, count, "edge keys");
    srKeyed* scratch = SR_PUSH(arena, srKeyed, count, "edge keys");
    if (keys == NULL || scratch == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    SR_TRY(listCuts(warp, keys, &listing, &count));
    srSortKeyed(keys, scratch, count);
    warp->cutCount = removeDoubles(keys, count);
    return fillCutEdges(warp, keys, arena);
}

typedef struct Cutting {
    srWarp* warp;
    const srField* field;
    const double* level;
} Cutting;

// A distance changes no faster than one goes: if phi does, the edge passes a hole of the surface, where the
// sign flips at |w| = 1/2, and only halving finds the place. Copies have distances of their own, without
// holes.
static double findCut(const Cutting* cutting, int32_t inside, int32_t outside) {
    const srScaffold* scaffold = cutting->warp->scaffold;
    double from = cutting->level[inside], to = cutting->level[outside];
    double rise = scaffold->phi[outside] - scaffold->phi[inside];
    bool isSplit = scaffold->isSplit[inside] || scaffold->isSplit[outside];
    if (isSplit || rise <= 1.01 * edgeLength(scaffold, inside, outside)) {
        return from / (from - to);
    }
    srVec3 start = scaffold->points[inside];
    srVec3 step = srSub(scaffold->points[outside], start);
    double low = 0.0, high = 1.0;
    for (int halving = 0; halving < HALVING_COUNT; halving++) {
        double middle = 0.5 * (low + high);
        bool isInside = srField_Value(cutting->field, srMulAdd(start, middle, step)) < 0.0;
        low = isInside ? middle : low;
        high = isInside ? high : middle;
    }
    return 0.5 * (low + high);
}

static void findCutsOfRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Cutting* cutting = context;
    srWarp* warp = cutting->warp;
    for (int32_t point = begin; point < end; point++) {
        for (int32_t cut = warp->firstCuts[point]; cut < warp->firstCuts[point + 1]; cut++) {
            warp->cuts[cut] = findCut(cutting, point, warp->cutEnds[cut]);
        }
    }
}

// The violating cut nearest to an inside point, or SR_NULL_INDEX.
static int32_t findViolation(const srWarp* warp, int32_t point) {
    int32_t nearest = SR_NULL_INDEX;
    double nearestLength = HUGE_VAL;
    for (int32_t cut = warp->firstCuts[point]; cut < warp->firstCuts[point + 1]; cut++) {
        int32_t end = warp->cutEnds[cut];
        double length = warp->cuts[cut] * edgeLength(warp->scaffold, point, end);
        if (warp->cuts[cut] < violationShare(warp->scaffold, point, end) && length < nearestLength) {
            nearestLength = length;
            nearest = cut;
        }
    }
    return nearest;
}

// What becomes of a point
enum {
    isOut,
    staysInside,
    isViolated,
    isGone, // onto the level set
    isHeld
};

// Around which points tetrahedra lie: those of point p are tets[starts[p]] .. tets[starts[p + 1] - 1].
typedef struct Stars {
    int32_t* starts;
    int32_t* tets;
} Stars;

static srResult createStars(const srScaffold* scaffold, srArena* arena, Stars* stars) {
    int32_t* next = SR_PUSH(arena, int32_t, scaffold->pointCount, "stars");
    stars->starts = SR_PUSH(arena, int32_t, scaffold->pointCount + 1, "stars");
    stars->tets = SR_PUSH(arena, int32_t, 4 * (size_t)scaffold->tetCount, "stars");
    if (next == NULL || stars->starts == NULL || stars->tets == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    memset(stars->starts, 0, ((size_t)scaffold->pointCount + 1) * sizeof(int32_t));
    for (int32_t i = 0; i < 4 * scaffold->tetCount; i++) {
        stars->starts[scaffold->tets[i / 4][i % 4] + 1]++;
    }
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        stars->starts[point + 1] += stars->starts[point];
        next[point] = stars->starts[point];
    }
    for (int32_t i = 0; i < 4 * scaffold->tetCount; i++) {
        stars->tets[next[scaffold->tets[i / 4][i % 4]]++] = i / 4;
    }
    return sr_success;
}

// Neighbours of a point, as they are found, and what hangs together among them.
typedef struct Ring {
    int32_t points[MAX_RING];
    int32_t roots[MAX_RING];
    int count;
    int pieces;
} Ring;

static int placeInRing(Ring* ring, int32_t point) {
    for (int i = 0; i < ring->count; i++) {
        if (ring->points[i] == point) {
            return i;
        }
    }
    ring->points[ring->count] = point;
    ring->roots[ring->count] = ring->count;
    ring->pieces++;
    return ring->count++;
}

// Whether the inside hangs together as before without a point: its inside neighbours do, from tetrahedron to
// tetrahedron around it, and there are some.
static bool canGo(const srScaffold* scaffold, const Stars* stars, const uint8_t* fates, int32_t point) {
    Ring ring = {.count = 0};
    for (int32_t i = stars->starts[point]; i < stars->starts[point + 1]; i++) {
        const int32_t* tet = scaffold->tets[stars->tets[i]];
        int first = -1;
        for (int c = 0; c < 4; c++) {
            bool isInside = tet[c] != point && fates[tet[c]] != isOut && fates[tet[c]] != isGone;
            if (!isInside) {
                continue;
            }
            if (ring.count == MAX_RING) {
                return false;
            }
            int place = placeInRing(&ring, tet[c]);
            ring.pieces -= first >= 0 && srJoinRoots(ring.roots, first, place);
            first = place;
        }
    }
    return ring.pieces == 1;
}

// Marks points that share a tetrahedron with one of this fate.
static void markNeighbours(const srScaffold* scaffold, const uint8_t* fates, uint8_t fate, uint8_t* marks) {
    memset(marks, 0, (size_t)scaffold->pointCount);
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        const int32_t* tet = scaffold->tets[t];
        if (fates[tet[0]] == fate || fates[tet[1]] == fate || fates[tet[2]] == fate ||
            fates[tet[3]] == fate) {
            marks[tet[0]] = marks[tet[1]] = marks[tet[2]] = marks[tet[3]] = 1;
        }
    }
}

// Where a part is so thin that all its inside points are violated, warping would flatten it to nothing: such
// points, and violated points next to them, stay where they are; their cuts move away from them instead. Of
// the others one after the other goes onto the level set, but only while the inside hangs together without
// it.
static srResult chooseFates(const srWarp* warp, srArena* arena, uint8_t* fates, uint8_t* marks) {
    const srScaffold* scaffold = warp->scaffold;
    Stars stars;
    SR_TRY(createStars(scaffold, arena, &stars));
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        bool isFree = warp->signs[point] > 0 && findViolation(warp, point) == SR_NULL_INDEX;
        fates[point] = warp->signs[point] < 0 ? isOut : isFree ? staysInside : isViolated;
    }
    markNeighbours(scaffold, fates, staysInside, marks);
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        fates[point] = fates[point] == isViolated && !marks[point] ? isHeld : fates[point];
    }
    markNeighbours(scaffold, fates, isHeld, marks);
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        if (fates[point] == isViolated) {
            fates[point] = !marks[point] && canGo(scaffold, &stars, fates, point) ? isGone : isHeld;
        }
    }
    return sr_success;
}

static void warpInsidePoints(srWarp* warp, const uint8_t* fates) {
    const srScaffold* scaffold = warp->scaffold;
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        if (fates[point] == isHeld) {
            for (int32_t cut = warp->firstCuts[point]; cut < warp->firstCuts[point + 1]; cut++) {
                double least = violationShare(scaffold, point, warp->cutEnds[cut]);
                warp->cuts[cut] = fmax(warp->cuts[cut], least);
            }
        } else if (fates[point] == isGone) {
            int32_t cut = findViolation(warp, point);
            warp->warpTargets[point] = warp->cutEnds[cut];
            warp->warpShares[point] = warp->cuts[cut];
            warp->signs[point] = 0;
        }
    }
}

// Outside points take the nearest violating cut of edges that inside points own.
static void warpOutsidePoints(srWarp* warp) {
    const srScaffold* scaffold = warp->scaffold;
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        for (int32_t cut = warp->firstCuts[point]; cut < warp->firstCuts[point + 1]; cut++) {
            int32_t outside = warp->cutEnds[cut];
            double share = 1.0 - warp->cuts[cut];
            if (warp->signs[point] <= 0 || share >= violationShare(scaffold, point, outside)) {
                continue;
            }
            double length = share * edgeLength(scaffold, point, outside);
            double known = HUGE_VAL;
            if (warp->signs[outside] == 0) {
                known = warp->warpShares[outside] * edgeLength(scaffold, outside, warp->warpTargets[outside]);
            }
            if (length < known) {
                warp->signs[outside] = 0;
                warp->warpTargets[outside] = point;
                warp->warpShares[outside] = share;
            }
        }
    }
}

static srResult allocatePoints(srArena* arena, srWarp* warp) {
    int32_t pointCount = warp->scaffold->pointCount;
    warp->signs = SR_PUSH(arena, int8_t, pointCount, "signs");
    warp->warpTargets = SR_PUSH(arena, int32_t, pointCount, "warps");
    warp->warpShares = SR_PUSH(arena, double, pointCount, "warps");
    warp->firstCuts = SR_PUSH(arena, int32_t, pointCount + 1, "cuts of points");
    if (warp->signs == NULL || warp->warpTargets == NULL || warp->warpShares == NULL ||
        warp->firstCuts == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    return sr_success;
}

srResult srCreateWarp(const srScaffold* scaffold, const srField* field, const double* level, srArena* arena,
                      const srProgress* progress, srWarp* outWarp) {
    srWarp warp = {.scaffold = scaffold};
    srProgress listing = srPartOfProgress(progress, 0.0, 0.5), cutting = srPartOfProgress(progress, 0.5, 1.0);
    Cutting context = {&warp, field, level};
    SR_TRY(allocatePoints(arena, &warp));
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        warp.signs[point] = level[point] < 0.0 ? 1 : -1;
    }

    // cut edges between inside and outside
    SR_TRY(findCutEdges(&warp, arena, &listing));
    SR_TRY(srParallelForWithProgress(findCutsOfRange, scaffold->pointCount, CUTS_PER_BLOCK, CUTS_PER_BATCH,
                                     &context, &cutting));

    // move points that cuts come too close to
    uint8_t* fates = SR_PUSH(arena, uint8_t, scaffold->pointCount, "fates");
    uint8_t* marks = SR_PUSH(arena, uint8_t, scaffold->pointCount, "marks");
    if (fates == NULL || marks == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    SR_TRY(chooseFates(&warp, arena, fates, marks));
    warpInsidePoints(&warp, fates);
    warpOutsidePoints(&warp);
    *outWarp = warp;
    return sr_success;
}
