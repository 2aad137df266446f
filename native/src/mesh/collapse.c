// SPDX-License-Identifier: GPL-3.0-or-later
//
// A collapse is forbidden where it would change the topology, turn a triangle over, make a bad one, or make
// triangles cross.

#include "mesh/collapse.h"

#include <math.h>
#include <string.h>

// 1 for equal sides: below this a triangle must not fall, unless one around was as bad.
#define LEAST_QUALITY 0.25

// Cosine of the largest turn of a triangle.
#define LEAST_COSINE 0.5

// Cosine between a triangle and the eye that it counts as facing.
#define LEAST_FACING 0.1

// Points around an edge: with more it is left alone.
#define MOST_AROUND 48

typedef struct Star {
    int32_t triangles[2 * MOST_AROUND]; // of a and b, but for the two of the edge
    int32_t moved[2 * MOST_AROUND];     // which of a and b each has
    srVec3 normals[2 * MOST_AROUND];    // as they are, twice the area long
    srVec3 sum; // of the normals: slivers hardly count in it, and theirs is often noise
    int count;
    int32_t gone[2];
    int goneCount;
} Star;

void srCollapse_LinkPoints(srCollapse* collapse) {
    int32_t* starts = collapse->starts;
    memset(starts, 0, ((size_t)collapse->pointCount + 1) * sizeof(int32_t));
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            starts[collapse->triangles[t][c]]++;
        }
    }
    int32_t sum = 0;
    for (int32_t p = 0; p <= collapse->pointCount; p++) {
        int32_t count = p < collapse->pointCount ? starts[p] : 0;
        sum += count;
        starts[p] = sum;
    }
    for (int32_t t = collapse->triangleCount - 1; t >= 0; t--) {
        for (int c = 0; c < 3; c++) {
            collapse->around[--starts[collapse->triangles[t][c]]] = t;
        }
    }
    memset(collapse->isLocked, 0, (size_t)collapse->pointCount);
}

static bool has(const int32_t triangle[3], int32_t point) {
    return triangle[0] == point || triangle[1] == point || triangle[2] == point;
}

static bool gather(const srCollapse* collapse, int32_t a, int32_t b, Star* star) {
    star->count = star->goneCount = 0;
    for (int end = 0; end < 2; end++) {
        int32_t point = end == 0 ? a : b, other = end == 0 ? b : a;
        int32_t begin = collapse->starts[point], stop = collapse->starts[point + 1];
        if (stop - begin > MOST_AROUND) {
            return false;
        }
        for (int32_t i = begin; i < stop; i++) {
            int32_t t = collapse->around[i];
            if (!has(collapse->triangles[t], other)) {
                star->triangles[star->count] = t;
                star->moved[star->count++] = point;
            } else if (end == 0 && star->goneCount++ < 2) {
                star->gone[star->goneCount - 1] = t;
            }
        }
    }
    return star->goneCount == 2;
}

// Both ends have two neighbours in common and no more, and no point is left with two triangles.
static bool keepsTopology(const srCollapse* collapse, int32_t a, int32_t b) {
    int32_t begin = collapse->starts[a], countA = collapse->starts[a + 1] - begin;
    int32_t other = collapse->starts[b], countB = collapse->starts[b + 1] - other;
    int common = 0;
    for (int32_t i = 0; i < countA; i++) {
        int32_t neighbour = srCollapse_Neighbour(collapse->triangles[collapse->around[begin + i]], a, 1);
        for (int32_t k = 0; k < countB; k++) {
            if (neighbour == srCollapse_Neighbour(collapse->triangles[collapse->around[other + k]], b, 1)) {
                common++;
                if (collapse->starts[neighbour + 1] - collapse->starts[neighbour] < 4) {
                    return false;
                }
            }
        }
    }
    return common == 2 && countA + countB >= 7;
}

// Square of 4 sqrt(3) area / sum of squares
static double squaredQuality(srVec3 a, srVec3 b, srVec3 c, srVec3* outNormal) {
    srVec3 ab = srSub(b, a), ac = srSub(c, a), bc = srSub(c, b);
    *outNormal = srCross(ab, ac);
    double squares = srDot(ab, ab) + srDot(ac, ac) + srDot(bc, bc);
    return squares > 0.0 ? 12.0 * srDot(*outNormal, *outNormal) / (squares * squares) : 0.0;
}

static void place(const srCollapse* collapse, const Star* star, int i, srVec3 target, srVec3 out[3]) {
    const int32_t* t = collapse->triangles[star->triangles[i]];
    for (int c = 0; c < 3; c++) {
        out[c] = t[c] == star->moved[i] ? target : collapse->points[t[c]];
    }
}

static void findNormals(const srCollapse* collapse, Star* star) {
    star->sum = (srVec3){0.0, 0.0, 0.0};
    for (int i = 0; i < star->count; i++) {
        const int32_t* t = collapse->triangles[star->triangles[i]];
        srVec3 x = collapse->points[t[0]];
        star->normals[i] = srCross(srSub(collapse->points[t[1]], x), srSub(collapse->points[t[2]], x));
        star->sum = srAdd(star->sum, star->normals[i]);
    }
}

static bool isTurnLess(srVec3 before, srVec3 after, double cosine) {
    double x = srDot(before, after);
    return x > 0.0 && x * x >= cosine * cosine * srDot(before, before) * srDot(after, after);
}

// Whether the new triangles, seen from somewhere, go once around their corner and all face the eye: then they
// cannot cross one another. Going round once is seen from how often a line through the corner is crossed
// upwards.
static bool isPlainFan(const srVec3 (*x)[3], const int32_t (*names)[3], int count, int32_t a) {
    srVec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        sum = srAdd(sum, srCross(srSub(x[i][1], x[i][0]), srSub(x[i][2], x[i][0])));
    }
    srVec3 axis = fabs(sum.x) < fabs(sum.y) ? (srVec3){1.0, 0.0, 0.0} : (srVec3){0.0, 1.0, 0.0};
    srVec3 up = srCross(sum, axis);
    int crossings = 0;
    for (int i = 0; i < count; i++) {
        int at = names[i][0] == a ? 0 : names[i][1] == a ? 1 : 2;
        srVec3 from = srSub(x[i][(at + 1) % 3], x[i][at]), to = srSub(x[i][(at + 2) % 3], x[i][at]);
        if (!isTurnLess(sum, srCross(from, to), LEAST_FACING)) {
            return false;
        }
        crossings += srDot(up, from) < 0.0 && srDot(up, to) >= 0.0;
    }
    return crossings == 1;
}

static void placeAll(const srCollapse* collapse, const Star* star, int32_t a, srVec3 target,
                     srVec3 (*outPlaces)[3], int32_t (*outNames)[3]) {
    for (int i = 0; i < star->count; i++) {
        const int32_t* t = collapse->triangles[star->triangles[i]];
        place(collapse, star, i, target, outPlaces[i]);
        for (int c = 0; c < 3; c++) {
            outNames[i][c] = t[c] == star->moved[i] ? a : t[c];
        }
    }
}

static bool becomesPlainFan(const srCollapse* collapse, const Star* star, int32_t a, srVec3 target) {
    srVec3 x[2 * MOST_AROUND][3];
    int32_t names[2 * MOST_AROUND][3];
    placeAll(collapse, star, a, target, x, names);
    return isPlainFan((const srVec3(*)[3])x, (const int32_t (*)[3])names, star->count, a);
}

// The square of the worst quality as it is.
static double findWorst(const srCollapse* collapse, const Star* star) {
    double worst = 1.0;
    for (int i = 0; i < star->count; i++) {
        const int32_t* t = collapse->triangles[star->triangles[i]];
        srVec3 normal;
        double quality =
            squaredQuality(collapse->points[t[0]], collapse->points[t[1]], collapse->points[t[2]], &normal);
        worst = quality < worst ? quality : worst;
    }
    return worst;
}

// What moving the star's corner does to its triangles: whether they stay well shaped, and are not turned
// over; and whether that was told by the sum of all alone.
static bool keepsShape(const srCollapse* collapse, const Star* star, srVec3 target, bool* outIsBySum) {
    double worst = 1.0;
    *outIsBySum = false;
    for (int i = 0; i < star->count; i++) {
        srVec3 after, x[3];
        place(collapse, star, i, target, x);
        double quality = squaredQuality(x[0], x[1], x[2], &after);
        worst = quality < worst ? quality : worst;
        if (!isTurnLess(star->normals[i], after, LEAST_COSINE)) {
            *outIsBySum = true;
            if (!isTurnLess(star->sum, after, LEAST_COSINE)) {
                return false;
            }
        }
    }
    return worst >= LEAST_QUALITY * LEAST_QUALITY || (worst > 0.0 && worst >= findWorst(collapse, star));
}

// Where the error is least, or else in the middle or at an end.
static bool findTarget(const srCollapse* collapse, Star* star, int32_t a, int32_t b, srVec3* outTarget) {
    srQuadric sum = srSumQuadrics(&collapse->quadrics[a], &collapse->quadrics[b]);
    findNormals(collapse, star);
    srVec3 x = collapse->points[a], y = collapse->points[b];
    const srVec3 targets[4] = {srQuadric_FindLeast(&sum), srScale(0.5, srAdd(x, y)), x, y};
    int count = collapse->isPatient ? 4 : 1;
    for (int i = 0; i < count; i++) {
        bool isBySum;
        if (keepsShape(collapse, star, targets[i], &isBySum) &&
            (!isBySum || becomesPlainFan(collapse, star, a, targets[i]))) {
            *outTarget = targets[i];
            return true;
        }
    }
    return false;
}

static bool isOfStar(const Star* star, int32_t triangle) {
    for (int i = 0; i < star->count; i++) {
        if (star->triangles[i] == triangle) {
            return true;
        }
    }
    return triangle == star->gone[0] || triangle == star->gone[1];
}

static bool doBoxesMeet(srVec3 lower, srVec3 upper, const srVec3 x[3]) {
    srVec3 low = srMin(srMin(x[0], x[1]), x[2]), high = srMax(srMax(x[0], x[1]), x[2]);
    return low.x <= upper.x && low.y <= upper.y && low.z <= upper.z && high.x >= lower.x &&
           high.y >= lower.y && high.z >= lower.z;
}

// Whether a new triangle crosses one that stays. Its moved corner carries the number a, so that those that
// end there too are compared as neighbours; but all of these are of the star.
static bool crossesOthers(const srCollapse* collapse, const Star* star, const srVec3 x[3],
                          const int32_t names[3]) {
    const srTriangleGrid* grid = collapse->grid;
    int32_t low[3], high[3];
    srVec3 lower = srMin(srMin(x[0], x[1]), x[2]), upper = srMax(srMax(x[0], x[1]), x[2]);
    srTriangleGrid_FindBoxes(grid, lower, upper, low, high);
    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            for (int32_t box = srTriangleGrid_Box(grid, low[0], y, z),
                         last = srTriangleGrid_Box(grid, high[0], y, z);
                 box <= last; box++) {
                int32_t entry = grid->heads[box];
                for (; entry != SR_NULL_INDEX; entry = grid->entries[entry][1]) {
                    int32_t other = grid->entries[entry][0];
                    const int32_t* t = collapse->triangles[other];
                    if (t[0] == SR_NULL_INDEX || isOfStar(star, other)) {
                        continue;
                    }
                    srVec3 corners[3] = {collapse->points[t[0]], collapse->points[t[1]],
                                         collapse->points[t[2]]};
                    if (doBoxesMeet(lower, upper, corners) && srDoCornersCross(x, names, corners, t)) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

static bool doesFanCross(const srVec3 (*x)[3], const int32_t (*names)[3], int count, int32_t a) {
    if (isPlainFan(x, names, count, a)) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) {
            if (srDoCornersCross(x[i], names[i], x[k], names[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool crosses(const srCollapse* collapse, const Star* star, int32_t a, srVec3 target) {
    srVec3 x[2 * MOST_AROUND][3];
    int32_t names[2 * MOST_AROUND][3];
    placeAll(collapse, star, a, target, x, names);
    if (doesFanCross((const srVec3(*)[3])x, (const int32_t (*)[3])names, star->count, a)) {
        return true;
    }
    for (int i = 0; i < star->count; i++) {
        if (crossesOthers(collapse, star, x[i], names[i])) {
            return true;
        }
    }
    return false;
}

// The new triangles into the grid; false when there is no room: what was entered until then is looked at in
// vain, and that is all.
static bool enter(srCollapse* collapse, const Star* star, srVec3 target) {
    bool isIn = true;
    for (int i = 0; i < star->count && isIn; i++) {
        srVec3 x[3];
        place(collapse, star, i, target, x);
        isIn = srTriangleGrid_Add(collapse->grid, x, star->triangles[i]);
    }
    return isIn;
}

static void lock(srCollapse* collapse, const Star* star) {
    for (int i = 0; i < star->count; i++) {
        for (int c = 0; c < 3; c++) {
            collapse->isLocked[collapse->triangles[star->triangles[i]][c]] = 1;
        }
    }
}

bool srCollapse_Try(srCollapse* collapse, int32_t a, int32_t b) {
    Star star;
    if (collapse->isLocked[a] || collapse->isLocked[b] || !gather(collapse, a, b, &star) ||
        !keepsTopology(collapse, a, b)) {
        return false;
    }
    srVec3 target;
    if (!findTarget(collapse, &star, a, b, &target)) {
        return false;
    }
    if (collapse->grid != NULL && (crosses(collapse, &star, a, target) || !enter(collapse, &star, target))) {
        return false;
    }
    lock(collapse, &star);
    for (int i = 0; i < star.count; i++) {
        int32_t* t = collapse->triangles[star.triangles[i]];
        for (int c = 0; c < 3; c++) {
            t[c] = t[c] == b ? a : t[c];
        }
    }
    collapse->triangles[star.gone[0]][0] = SR_NULL_INDEX;
    collapse->triangles[star.gone[1]][0] = SR_NULL_INDEX;
    collapse->points[a] = target;
    collapse->quadrics[a] = srSumQuadrics(&collapse->quadrics[a], &collapse->quadrics[b]);
    collapse->isLocked[a] = collapse->isLocked[b] = 1;
    return true;
}
