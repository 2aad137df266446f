// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bins, and the crossing of a segment with a triangle.
//
// A way between two samples is straight and the flesh may be bent: where it is thin, the way leaves through
// one side of a fold and comes back on the other, into the same flesh. That is told from a gap by the skin:
// within the hollow it goes on from where the way leaves to where it comes back, and both places face about
// the same way. Fingers side by side have a valley between them too, but their skins meet at the web alone.

#include "mesh/walls.h"

#include "core/roots.h"
#include "mesh/sort.h"

#include <math.h>
#include <string.h>

#define MAX_BIN_COUNT (1 << 23)
#define TRIANGLES_PER_REPORT 16384

// A bin of a fine skin is made shorter, to hold about so many triangles, at most to a share of what it was.
#define TRIANGLES_PER_BIN 8.0
#define SHORTEST_BIN 0.25

// A triangle is of the skin at an end when it faces the same way, by the cosine, and its plane passes the
// foot, by the distance in lengths of the way.
#define SAME_SHEET_COSINE 0.7
#define SAME_SHEET_REACH 0.35

// Triangles are this much larger than they are, in shares of themselves, so that nothing slips through
// between two.
#define SLACK 1e-6

// A hollow is at most half as deep as it is wide, its sides face less than a right angle apart: at a right
// angle gaps between blocks end. Ways that pass more skin than this, or hollows that hold more, are not
// looked into.
#define HOLLOW_COSINE 0.1
#define HOLLOW_DEPTH 0.5
#define MOST_CROSSINGS 16
#define MOST_NEAR 512

typedef struct Range {
    int32_t first[3], last[3];
} Range;

static int32_t binOf(const srWalls* walls, double x, double lower, int axis) {
    double bin = (x - lower) / walls->binEdge;
    int32_t last = walls->counts[axis] - 1;
    return bin <= 0.0 ? 0 : bin >= last ? last : (int32_t)bin;
}

static Range rangeOf(const srWalls* walls, srVec3 lower, srVec3 upper) {
    srVec3 o = walls->lower;
    return (Range){
        {binOf(walls, lower.x, o.x, 0), binOf(walls, lower.y, o.y, 1), binOf(walls, lower.z, o.z, 2)},
        {binOf(walls, upper.x, o.x, 0), binOf(walls, upper.y, o.y, 1), binOf(walls, upper.z, o.z, 2)},
    };
}

static int32_t binIndex(const srWalls* walls, int32_t i, int32_t j, int32_t k) {
    return (k * walls->counts[1] + j) * walls->counts[0] + i;
}

// Whether the triangle's plane passes a bin, with slack; large slanted triangles have large boxes.
static bool planeMeetsBin(const srWalls* walls, srVec3 point, srVec3 normal, int32_t i, int32_t j,
                          int32_t k) {
    double half = 0.5 * walls->binEdge;
    srVec3 centre = srMulAdd(walls->lower, walls->binEdge, (srVec3){i + 0.5, j + 0.5, k + 0.5});
    double reach = half * (fabs(normal.x) + fabs(normal.y) + fabs(normal.z));
    return fabs(srDot(normal, srSub(centre, point))) <= 1.001 * reach;
}

// `ends` null: only count, into starts[bin + 1].
static void enterTriangle(srWalls* walls, int32_t triangle, int32_t* ends) {
    const int32_t* c = walls->surface.triangles[triangle];
    const srVec3* p = walls->surface.points;
    srVec3 normal = srCross(srSub(p[c[1]], p[c[0]]), srSub(p[c[2]], p[c[0]]));
    Range range =
        rangeOf(walls, srMin(p[c[0]], srMin(p[c[1]], p[c[2]])), srMax(p[c[0]], srMax(p[c[1]], p[c[2]])));
    for (int32_t k = range.first[2]; k <= range.last[2]; k++) {
        for (int32_t j = range.first[1]; j <= range.last[1]; j++) {
            for (int32_t i = range.first[0]; i <= range.last[0]; i++) {
                if (!planeMeetsBin(walls, p[c[0]], normal, i, j, k)) {
                    continue;
                }
                int32_t bin = binIndex(walls, i, j, k);
                if (ends == NULL) {
                    walls->starts[bin + 1]++;
                } else {
                    walls->triangles[ends[bin]++] = triangle;
                }
            }
        }
    }
}

static srResult enterAll(srWalls* walls, int32_t* ends, const srProgress* progress) {
    int32_t count = walls->surface.triangleCount;
    for (int32_t t = 0; t < count; t++) {
        if (t % TRIANGLES_PER_REPORT == 0) {
            SR_TRY(srReportProgress(progress, (double)t / count));
        }
        enterTriangle(walls, t, ends);
    }
    return sr_success;
}

static int64_t countBins(srWalls* walls) {
    const srSurface* surface = &walls->surface;
    srVec3 extent = srScale(1.0 / walls->binEdge, srSub(surface->upper, surface->lower));
    double product = (extent.x + 1.0) * (extent.y + 1.0) * (extent.z + 1.0);
    if (!(product < MAX_BIN_COUNT)) {
        return MAX_BIN_COUNT + 1;
    }
    walls->counts[0] = (int32_t)extent.x + 1;
    walls->counts[1] = (int32_t)extent.y + 1;
    walls->counts[2] = (int32_t)extent.z + 1;
    return (int64_t)walls->counts[0] * walls->counts[1] * walls->counts[2];
}

static double fitBinEdge(const srSurface* surface, double binEdge) {
    double area = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srVec3 a = surface->points[c[0]];
        area += 0.5 * srLength(srCross(srSub(surface->points[c[1]], a), srSub(surface->points[c[2]], a)));
    }
    double wanted =
        surface->triangleCount > 0 ? sqrt(TRIANGLES_PER_BIN * area / surface->triangleCount) : 0.0;
    return fmin(fmax(wanted, SHORTEST_BIN * binEdge), binEdge);
}

srResult srCreateWalls(const srSurface* surface, double binEdge, srArena* arena, const srProgress* progress,
                       srWalls* outWalls) {
    srWalls walls = {.surface = *surface, .lower = surface->lower};
    walls.binEdge = fitBinEdge(surface, binEdge);
    while (countBins(&walls) > MAX_BIN_COUNT) {
        walls.binEdge *= 1.25;
    }
    size_t binCount = (size_t)countBins(&walls);
    srProgress counting = srPartOfProgress(progress, 0.0, 0.5),
               filling = srPartOfProgress(progress, 0.5, 1.0);
    walls.starts = SR_PUSH(arena, int32_t, binCount + 1, "bins");
    int32_t* ends = SR_PUSH(arena, int32_t, binCount + 1, "bins");
    if (walls.starts == NULL || ends == NULL) {
        return srFailOutOfMemory("the skin's bins");
    }
    memset(walls.starts, 0, (binCount + 1) * sizeof(int32_t));
    SR_TRY(enterAll(&walls, NULL, &counting));
    int64_t count = 0;
    for (size_t bin = 0; bin < binCount; bin++) {
        count += walls.starts[bin + 1];
        if (count > INT32_MAX) {
            return srFail(sr_errorTooLarge, "The skin has too many triangles for a cage of so many nodes.");
        }
        walls.starts[bin + 1] = (int32_t)count;
    }
    memcpy(ends, walls.starts, (binCount + 1) * sizeof(int32_t));
    walls.triangles = SR_PUSH(arena, int32_t, count, "bins");
    if (walls.triangles == NULL) {
        return srFailOutOfMemory("the skin's bins");
    }
    SR_TRY(enterAll(&walls, ends, &filling));
    *outWalls = walls;
    return sr_success;
}

static bool isOfSheet(const srWayEnd* end, srVec3 unitNormal, srVec3 point, double length) {
    return srDot(unitNormal, end->out) > SAME_SHEET_COSINE &&
           fabs(srDot(unitNormal, srSub(end->foot, point))) <= SAME_SHEET_REACH * length;
}

static bool isOfOtherPiece(const srWalls* walls, int32_t triangle, const srWayEnd* a, const srWayEnd* b) {
    return a->piece == b->piece && a->piece != SR_NULL_INDEX && triangle < walls->piecedCount &&
           walls->pieces[triangle] != a->piece;
}

// Where the way a + t (b - a) meets the triangle (Moeller and Trumbore 1997), going out: `normal` is along
// it. Below zero where it does not.
static double findExit(const srWalls* walls, const int32_t* c, srVec3 normal, srVec3 a, srVec3 b) {
    const srVec3* p = walls->surface.points;
    srVec3 way = srSub(b, a), from = srSub(a, p[c[0]]);
    double along = srDot(way, normal), t = -srDot(from, normal);
    if (t < -SLACK * along || t > (1.0 + SLACK) * along) {
        return -1.0; // most triangles of a bin
    }
    double area = srLength(normal), length = srLength(way);
    if (along <= 1e-9 * area * length) {
        return -1.0;
    }

    // weights of the second and third corner where the way passes the plane
    srVec3 e = srSub(p[c[1]], p[c[0]]), f = srSub(p[c[2]], p[c[0]]);
    srVec3 at = srMulAdd(from, t / along, way);
    double square = area * area;
    double v = srDot(normal, srCross(at, f)) / square;
    double w = srDot(normal, srCross(e, at)) / square;
    return v < -SLACK || w < -SLACK || v + w > 1.0 + SLACK ? -1.0 : fmax(t / along, 0.0);
}

static bool leavesThrough(const srWalls* walls, const int32_t* c, srVec3 normal, const srWayEnd* a,
                          const srWayEnd* b) {
    if (findExit(walls, c, normal, a->place, b->place) < 0.0) {
        return false;
    }
    srVec3 unit = srScale(1.0 / srLength(normal), normal), point = walls->surface.points[c[0]];
    double length = srDistance(a->place, b->place);
    return !(isOfSheet(a, unit, point, length) && isOfSheet(b, unit, point, length));
}

enum {
    thereLeaves = 1,
    backLeaves = 2,
};

// A triangle is left on the way there or on the way back.
static int leavesHow(const srWalls* walls, int32_t triangle, const srWayEnd* a, const srWayEnd* b,
                     int wanted) {
    const int32_t* c = walls->surface.triangles[triangle];
    const srVec3* p = walls->surface.points;
    srVec3 normal = srCross(srSub(p[c[1]], p[c[0]]), srSub(p[c[2]], p[c[0]]));
    double along = srDot(srSub(b->place, a->place), normal);
    int how = along > 0.0 ? thereLeaves : along < 0.0 ? backLeaves : 0;
    if ((how & wanted) == 0 || isOfOtherPiece(walls, triangle, a, b)) {
        return 0;
    }
    bool leaves =
        how == thereLeaves ? leavesThrough(walls, c, normal, a, b) : leavesThrough(walls, c, normal, b, a);
    return leaves ? how : 0;
}

// Which of the wanted ways leave.
static int findWays(const srWalls* walls, const srWayEnd* a, const srWayEnd* b, int wanted) {
    Range range = rangeOf(walls, srMin(a->place, b->place), srMax(a->place, b->place));
    int found = 0;
    for (int32_t k = range.first[2]; k <= range.last[2]; k++) {
        for (int32_t j = range.first[1]; j <= range.last[1]; j++) {
            for (int32_t i = range.first[0]; i <= range.last[0]; i++) {
                int32_t bin = binIndex(walls, i, j, k);
                for (int32_t place = walls->starts[bin]; place < walls->starts[bin + 1]; place++) {
                    found |= leavesHow(walls, walls->triangles[place], a, b, wanted & ~found);
                    if (found == wanted) {
                        return found;
                    }
                }
            }
        }
    }
    return found;
}

typedef struct Crossing {
    double share; // of the way
    srVec3 place, normal;
    int32_t triangle;
    bool isOut;
} Crossing;

typedef struct Crossings {
    Crossing items[MOST_CROSSINGS]; // along the way
    int count;
    bool areTooMany;
} Crossings;

// In order. At an edge the way meets two triangles, and a triangle is in several bins: both count once.
static void addCrossing(Crossings* all, const Crossing* crossing) {
    int place = all->count;
    for (int i = 0; i < all->count; i++) {
        const Crossing* known = &all->items[i];
        if (known->isOut == crossing->isOut && fabs(known->share - crossing->share) <= SLACK) {
            return;
        }
    }
    all->areTooMany = all->areTooMany || all->count == MOST_CROSSINGS;
    if (!all->areTooMany) {
        for (; place > 0 && all->items[place - 1].share > crossing->share; place--) {
            all->items[place] = all->items[place - 1];
        }
        all->items[place] = *crossing;
        all->count++;
    }
}

static void lookAtTriangle(const srWalls* walls, int32_t triangle, const srWayEnd* a, const srWayEnd* b,
                           Crossings* all) {
    const int32_t* c = walls->surface.triangles[triangle];
    const srVec3* p = walls->surface.points;
    srVec3 normal = srCross(srSub(p[c[1]], p[c[0]]), srSub(p[c[2]], p[c[0]]));
    srVec3 way = srSub(b->place, a->place);
    bool isOut = srDot(way, normal) > 0.0;
    if (isOfOtherPiece(walls, triangle, a, b)) {
        return;
    }
    double exit = isOut ? findExit(walls, c, normal, a->place, b->place)
                        : findExit(walls, c, normal, b->place, a->place);
    if (exit >= 0.0) {
        double share = isOut ? exit : 1.0 - exit;
        Crossing crossing = {share, srMulAdd(a->place, share, way), srScale(1.0 / srLength(normal), normal),
                             triangle, isOut};
        addCrossing(all, &crossing);
    }
}

// Whether some of the segment is in a box.
static bool meetsBox(srVec3 a, srVec3 b, srVec3 lower, srVec3 upper) {
    const double from[3] = {a.x, a.y, a.z}, to[3] = {b.x, b.y, b.z};
    const double low[3] = {lower.x, lower.y, lower.z}, high[3] = {upper.x, upper.y, upper.z};
    double first = 0.0, last = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        double way = to[axis] - from[axis];
        if (way == 0.0) {
            last = from[axis] < low[axis] || from[axis] > high[axis] ? -1.0 : last;
            continue;
        }
        double x = (low[axis] - from[axis]) / way, y = (high[axis] - from[axis]) / way;
        first = fmax(first, fmin(x, y));
        last = fmin(last, fmax(x, y));
    }
    return first <= last;
}

// The triangles in the bins of a box, each once and in order; none where there are too many.
static int32_t gatherNear(const srWalls* walls, srVec3 lower, srVec3 upper, srKeyed* outNear) {
    Range range = rangeOf(walls, lower, upper);
    srKeyed scratch[MOST_NEAR];
    int32_t count = 0, kept = 0;
    for (int32_t k = range.first[2]; k <= range.last[2]; k++) {
        for (int32_t j = range.first[1]; j <= range.last[1]; j++) {
            for (int32_t i = range.first[0]; i <= range.last[0]; i++) {
                int32_t bin = binIndex(walls, i, j, k);
                for (int32_t place = walls->starts[bin]; place < walls->starts[bin + 1]; place++) {
                    if (count == MOST_NEAR) {
                        return 0;
                    }
                    outNear[count++] = (srKeyed){(uint64_t)walls->triangles[place], 0};
                }
            }
        }
    }
    srSortKeyed(outNear, scratch, count);
    for (int32_t i = 0; i < count; i++) {
        if (kept == 0 || outNear[kept - 1].key != outNear[i].key) {
            outNear[kept++] = outNear[i];
        }
    }
    return kept;
}

// Whether the skin goes on from one crossing to the other without leaving a box, from edge to edge.
static bool isOneSkin(const srWalls* walls, const Crossing* from, const Crossing* to, srVec3 lower,
                      srVec3 upper) {
    srKeyed near[MOST_NEAR], edges[3 * MOST_NEAR], scratch[3 * MOST_NEAR];
    int32_t roots[MOST_NEAR], edgeCount = 0, first = SR_NULL_INDEX, last = SR_NULL_INDEX;
    int32_t count = gatherNear(walls, lower, upper, near);
    for (int32_t i = 0; i < count; i++) {
        const int32_t* c = walls->surface.triangles[near[i].key];
        first = near[i].key == (uint64_t)from->triangle ? i : first;
        last = near[i].key == (uint64_t)to->triangle ? i : last;
        for (int side = 0; side < 3; side++) {
            int32_t a = c[side], b = c[(side + 1) % 3];
            if (meetsBox(walls->surface.points[a], walls->surface.points[b], lower, upper)) {
                edges[edgeCount++] = (srKeyed){srEdgeKey(a, b), i};
            }
        }
    }
    if (first == SR_NULL_INDEX || last == SR_NULL_INDEX) {
        return false;
    }
    srSortKeyed(edges, scratch, edgeCount);
    srClearRoots(roots, count);
    for (int32_t e = 0, next = 0; e < edgeCount; e = next) {
        for (next = e + 1; next < edgeCount && edges[next].key == edges[e].key; next++) {
        }
        if (next - e == 2) { // where more meet, parts only touch
            srJoinRoots(roots, edges[e].value, edges[e + 1].value);
        }
    }
    return srFindRoot(roots, first) == srFindRoot(roots, last);
}

static bool isHollow(const srWalls* walls, const Crossing* from, const Crossing* to) {
    if (!from->isOut || to->isOut || srDot(from->normal, to->normal) < HOLLOW_COSINE) {
        return false;
    }
    double margin = HOLLOW_DEPTH * srDistance(from->place, to->place);
    const srVec3 beside = {margin, margin, margin};
    return isOneSkin(walls, from, to, srSub(srMin(from->place, to->place), beside),
                     srAdd(srMax(from->place, to->place), beside));
}

// Whether a way that leaves comes back each time, into the flesh that it left.
static bool onlyCutsHollows(const srWalls* walls, const srWayEnd* a, const srWayEnd* b) {
    Range range = rangeOf(walls, srMin(a->place, b->place), srMax(a->place, b->place));
    Crossings all = {.count = 0};
    for (int32_t k = range.first[2]; k <= range.last[2]; k++) {
        for (int32_t j = range.first[1]; j <= range.last[1]; j++) {
            for (int32_t i = range.first[0]; i <= range.last[0]; i++) {
                int32_t bin = binIndex(walls, i, j, k);
                for (int32_t place = walls->starts[bin]; place < walls->starts[bin + 1]; place++) {
                    lookAtTriangle(walls, walls->triangles[place], a, b, &all);
                }
            }
        }
    }
    bool cuts = !all.areTooMany && all.count > 0 && all.count % 2 == 0;
    for (int i = 0; i < all.count && cuts; i += 2) {
        cuts = isHollow(walls, &all.items[i], &all.items[i + 1]);
    }
    return cuts;
}

bool srWalls_Leaves(const srWalls* walls, const srWayEnd* a, const srWayEnd* b) {
    return findWays(walls, a, b, thereLeaves) != 0;
}

void srWalls_LeavesBothWays(const srWalls* walls, const srWayEnd* a, const srWayEnd* b, bool* outThere,
                            bool* outBack) {
    int found = findWays(walls, a, b, thereLeaves | backLeaves);
    found = found != 0 && onlyCutsHollows(walls, a, b) ? 0 : found;
    *outThere = (found & thereLeaves) != 0;
    *outBack = (found & backLeaves) != 0;
}
