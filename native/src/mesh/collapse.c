// SPDX-License-Identifier: GPL-3.0-or-later
//
// A collapse is forbidden where it would change the topology, turn a triangle over, make a bad one, or make
// triangles cross.

#include "mesh/collapse.h"

#include "mesh/undo.h"

#include <math.h>
#include <string.h>

// 1 for equal sides: below this a triangle must not fall, unless one around was as bad.
#define LEAST_QUALITY 0.25

// Cosine of the largest turn of a triangle.
#define LEAST_COSINE 0.5

typedef struct Star {
    int32_t triangles[2 * SR_MOST_AROUND]; // of a and b, but for the two of the edge
    int32_t moved[2 * SR_MOST_AROUND];     // which of a and b each has
    srVec3 normals[2 * SR_MOST_AROUND];    // as they are, twice the area long
    srVec3 sum; // of the normals: slivers hardly count in it, and theirs is often noise
    int count;
    int32_t gone[3]; // two, and room
    int goneCount;
    int ofA; // how many of the triangles are of a: they come first
} Star;

void srCollapse_LinkPoints(srCollapse* collapse) {
    int32_t* starts = collapse->starts;
    memset(starts, 0, ((size_t)collapse->pointCount + 1) * sizeof(int32_t));
    for (int32_t t = 0; t < collapse->triangleCount; t++) {
        for (int c = 0; c < 3 && srCollapse_IsThere(collapse, t); c++) {
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
        for (int c = 0; c < 3 && srCollapse_IsThere(collapse, t); c++) {
            collapse->around[--starts[collapse->triangles[t][c]]] = t;
        }
    }
    memset(collapse->isLocked, 0, (size_t)collapse->pointCount);
}

static const uint8_t nextCorner[3] = {1, 2, 0}, lastCorner[3] = {2, 0, 1};

// The triangles around one end; false when they are too many. `outRing` gets its neighbours.
static bool gatherEnd(const srCollapse* collapse, int32_t point, int32_t other, bool isFirst, Star* star,
                      int32_t* outRing, int* outRingCount) {
    int32_t begin = collapse->starts[point], stop = collapse->starts[point + 1];
    *outRingCount = 0;
    if (stop - begin > SR_MOST_AROUND) {
        return false;
    }
    for (int32_t i = begin; i < stop; i++) {
        int32_t number = collapse->around[i];
        const int32_t* t = collapse->triangles[number];
        if (t[0] < 0) {
            continue;
        }
        int at = (t[1] == point) + 2 * (t[2] == point);
        int32_t next = t[nextCorner[at]], last = t[lastCorner[at]];
        bool isKept = (next != other) & (last != other);
        outRing[(*outRingCount)++] = next;
        // written in any case and kept or not: which ones are of the edge follows no pattern to branch on
        star->triangles[star->count] = number;
        star->moved[star->count] = point;
        star->count += isKept;
        star->gone[star->goneCount < 2 ? star->goneCount : 2] = number;
        star->goneCount += isFirst & !isKept;
    }
    return true;
}

static bool hasFour(const srCollapse* collapse, int32_t point) {
    int count = 0;
    for (int32_t i = collapse->starts[point]; i < collapse->starts[point + 1]; i++) {
        count += srCollapse_IsThere(collapse, collapse->around[i]);
    }
    return count >= 4;
}

// The triangles around an edge; false when there are too many, or a collapse would change the topology: both
// ends have two neighbours in common and no more, and no point is left with two triangles.
static bool gather(const srCollapse* collapse, int32_t a, int32_t b, Star* star) {
    int32_t ringA[SR_MOST_AROUND], ringB[SR_MOST_AROUND];
    int countA, countB, common = 0;
    star->count = star->goneCount = 0;
    if (!gatherEnd(collapse, a, b, true, star, ringA, &countA)) {
        return false;
    }
    star->ofA = star->count;
    if (star->goneCount != 2 || !gatherEnd(collapse, b, a, false, star, ringB, &countB)) {
        return false;
    }
    for (int i = 0; i < countA; i++) {
        int found = 0;
        for (int k = 0; k < countB; k++) {
            found += ringA[i] == ringB[k];
        }
        if (found > 0 && !hasFour(collapse, ringA[i])) {
            return false;
        }
        common += found;
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
        if (!isTurnLess(sum, srCross(from, to), SR_LEAST_FACING)) {
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
    srVec3 x[2 * SR_MOST_AROUND][3];
    int32_t names[2 * SR_MOST_AROUND][3];
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

// Whether a new triangle crosses one that stays, or comes to where nothing is known. Its moved corner carries
// the number a, so that those that end there too are compared as neighbours; but all of these are of the
// star.
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
                if (entry == SR_UNKNOWN_BOX) {
                    return true;
                }
                for (; entry != SR_NULL_INDEX; entry = grid->entries[entry][1]) {
                    int32_t other = grid->entries[entry][0];
                    const int32_t* t = collapse->triangles[other];
                    if (t[0] < 0 || isOfStar(star, other)) {
                        continue;
                    }
                    srVec3 corners[3] = {collapse->points[t[0]], collapse->points[t[1]],
                                         collapse->points[t[2]]};
                    if (srDoesTriangleReach(lower, upper, corners) &&
                        srDoCornersCross(x, names, corners, t)) {
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
    srVec3 x[2 * SR_MOST_AROUND][3];
    int32_t names[2 * SR_MOST_AROUND][3];
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

static bool isCarefulStar(const srCollapse* collapse, const Star* star) {
    for (int i = 0; i < star->count; i++) {
        const int32_t* t = collapse->triangles[star->triangles[i]];
        if (collapse->isCareful[t[0]] || collapse->isCareful[t[1]] || collapse->isCareful[t[2]]) {
            return true;
        }
    }
    return false;
}

bool srCollapse_Try(srCollapse* collapse, int32_t a, int32_t b) {
    Star star;
    if (collapse->isLocked[a] || collapse->isLocked[b]) {
        return false;
    }
    // these come from afar, and are wanted when all around the edge has been gathered
    __builtin_prefetch(&collapse->quadrics[a]);
    __builtin_prefetch(&collapse->quadrics[b]);
    __builtin_prefetch(&collapse->quadrics[a].c);
    __builtin_prefetch(&collapse->quadrics[b].c);
    if (!gather(collapse, a, b, &star)) {
        return false;
    }
    srVec3 target;
    if (!findTarget(collapse, &star, a, b, &target)) {
        return false;
    }
    if (collapse->grid != NULL && isCarefulStar(collapse, &star) &&
        (crosses(collapse, &star, a, target) || !enter(collapse, &star, target))) {
        return false;
    }
    srCollapse_Remember(collapse, a, b, star.triangles, star.ofA, star.count - star.ofA, star.gone);
    for (int i = star.ofA; i < star.count; i++) {
        int32_t* t = collapse->triangles[star.triangles[i]];
        for (int c = 0; c < 3; c++) {
            t[c] = t[c] == b ? a : t[c];
        }
    }
    for (int i = 0; i < 2; i++) {
        int32_t* corner = &collapse->triangles[star.gone[i]][0];
        *corner = ~*corner;
    }
    collapse->aliveCount -= 2;
    collapse->points[a] = target;
    collapse->quadrics[a] = srSumQuadrics(&collapse->quadrics[a], &collapse->quadrics[b]);
    collapse->isCareful[a] |= collapse->isCareful[b];
    collapse->isLocked[a] = collapse->isLocked[b] = 1;
    return true;
}
