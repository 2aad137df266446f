// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bins, and the crossing of a segment with a triangle.

#include "mesh/walls.h"

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

// The way a + t (b - a) meets the triangle at 0 <= t <= 1 (Moeller and Trumbore 1997), going out: `normal` is
// along it.
static bool leavesThrough(const srWalls* walls, const int32_t* c, srVec3 normal, const srWayEnd* a,
                          const srWayEnd* b) {
    const srVec3* p = walls->surface.points;
    srVec3 way = srSub(b->place, a->place), from = srSub(a->place, p[c[0]]);
    double along = srDot(way, normal), t = -srDot(from, normal);
    if (t < -SLACK * along || t > (1.0 + SLACK) * along) {
        return false; // most triangles of a bin
    }
    double area = srLength(normal), length = srLength(way);
    if (along <= 1e-9 * area * length) {
        return false;
    }

    // weights of the second and third corner where the way passes the plane
    srVec3 e = srSub(p[c[1]], p[c[0]]), f = srSub(p[c[2]], p[c[0]]);
    srVec3 at = srMulAdd(from, t / along, way);
    double square = area * area;
    double v = srDot(normal, srCross(at, f)) / square;
    double w = srDot(normal, srCross(e, at)) / square;
    if (v < -SLACK || w < -SLACK || v + w > 1.0 + SLACK) {
        return false;
    }
    srVec3 unit = srScale(1.0 / area, normal);
    return !(isOfSheet(a, unit, p[c[0]], length) && isOfSheet(b, unit, p[c[0]], length));
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

bool srWalls_Leaves(const srWalls* walls, const srWayEnd* a, const srWayEnd* b) {
    return findWays(walls, a, b, thereLeaves) != 0;
}

void srWalls_LeavesBothWays(const srWalls* walls, const srWayEnd* a, const srWayEnd* b, bool* outThere,
                            bool* outBack) {
    int found = findWays(walls, a, b, thereLeaves | backLeaves);
    *outThere = (found & thereLeaves) != 0;
    *outBack = (found & backLeaves) != 0;
}
