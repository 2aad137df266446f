// SPDX-License-Identifier: GPL-3.0-or-later
//
// Convex things that do not meet have a plane between them, and for triangles few planes have to be tried:
// those of the triangles, those along an edge of each, and within a common plane those across an edge.

#include "mesh/crossings.h"

#include <math.h>
#include <string.h>

// Lengths below this part of the triangles' size count as none.
#define TOLERANCE 1e-10

// Boxes of the grid: so many for each triangle at most.
#define BOXES_PER_TRIANGLE 4.0
#define ROOM_FOR_MORE 2

// Pairs between two looks at the caller's wish to go on
#define TRIANGLES_PER_REPORT 4096

// ---- two triangles
// ------------------------------------------------------------------------------------------

static srVec3 normalOf(const srVec3 t[3]) {
    return srCross(srSub(t[1], t[0]), srSub(t[2], t[0]));
}

// Whether both lie on different sides of a plane across `axis`, with air between them.
static bool separates(srVec3 axis, const srVec3 a[3], const srVec3 b[3], double size) {
    double length = srLength(axis);
    double leastA = HUGE_VAL, mostA = -HUGE_VAL, leastB = HUGE_VAL, mostB = -HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        double x = srDot(axis, srSub(a[i], a[0])), y = srDot(axis, srSub(b[i], a[0]));
        leastA = x < leastA ? x : leastA;
        mostA = x > mostA ? x : mostA;
        leastB = y < leastB ? y : leastB;
        mostB = y > mostB ? y : mostB;
    }
    double gap = TOLERANCE * size * length;
    return leastB - mostA > gap || leastA - mostB > gap;
}

static double sizeOf(const srVec3 a[3], const srVec3 b[3]) {
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        srVec3 x = srSub(a[i], a[0]), y = srSub(b[i], a[0]);
        double xx = srDot(x, x), yy = srDot(y, y);
        square = xx > square ? xx : square;
        square = yy > square ? yy : square;
    }
    return sqrt(square);
}

static bool areApart(const srVec3 a[3], const srVec3 b[3]) {
    double size = sizeOf(a, b);
    srVec3 normalA = normalOf(a), normalB = normalOf(b);
    if (separates(normalA, a, b, size) || separates(normalB, a, b, size)) {
        return true;
    }
    for (int i = 0; i < 3; i++) {
        srVec3 edgeA = srSub(a[(i + 1) % 3], a[i]), edgeB = srSub(b[(i + 1) % 3], b[i]);
        if (separates(srCross(normalA, edgeA), a, b, size) ||
            separates(srCross(normalB, edgeB), a, b, size)) {
            return true;
        }
        for (int k = 0; k < 3; k++) {
            if (separates(srCross(edgeA, srSub(b[(k + 1) % 3], b[k])), a, b, size)) {
                return true;
            }
        }
    }
    return false;
}

// ---- with one corner in common
// ------------------------------------------------------------------------------

static bool isSameDirection(srVec3 a, srVec3 b) {
    srVec3 across = srCross(a, b);
    double scale = srDot(a, a) * srDot(b, b);
    return srDot(a, b) > 0.0 && srDot(across, across) <= TOLERANCE * TOLERANCE * scale;
}

static int sideOf(srVec3 axis, srVec3 ray, double axisLength) {
    double x = srDot(axis, ray);
    double tolerance = TOLERANCE * axisLength * srLength(ray);
    return x > tolerance ? 1 : x < -tolerance ? -1 : 0;
}

// Whether a plane through the corner, across `axis`, has rays a on one side and rays b on the other. Rays
// within the plane must not meet there.
static bool separatesRays(srVec3 axis, const srVec3 a[2], const srVec3 b[2]) {
    double length = srLength(axis);
    int sidesA[2], sidesB[2], flatA = 0, flatB = 0, sumA = 0, sumB = 0;
    for (int i = 0; i < 2; i++) {
        sidesA[i] = sideOf(axis, a[i], length);
        sidesB[i] = sideOf(axis, b[i], length);
        flatA += sidesA[i] == 0;
        flatB += sidesB[i] == 0;
        sumA += sidesA[i];
        sumB += sidesB[i];
    }
    bool isMixed = sidesA[0] * sidesA[1] < 0 || sidesB[0] * sidesB[1] < 0;
    if (isMixed || sumA * sumB > 0 || (flatA == 2 && flatB > 0) || (flatB == 2 && flatA > 0)) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            if (sidesA[i] == 0 && sidesB[k] == 0 && isSameDirection(a[i], b[k])) {
                return false;
            }
        }
    }
    return true;
}

static bool areRaysApart(const srVec3 a[2], const srVec3 b[2]) {
    srVec3 normalA = srCross(a[0], a[1]), normalB = srCross(b[0], b[1]);
    if (separatesRays(normalA, a, b) || separatesRays(normalB, a, b)) {
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (separatesRays(srCross(normalA, a[i]), a, b) || separatesRays(srCross(normalB, b[i]), a, b) ||
            separatesRays(srCross(a[i], b[0]), a, b) || separatesRays(srCross(a[i], b[1]), a, b)) {
            return true;
        }
    }
    return false;
}

// With an edge in common they cross where one is folded onto the other.
static bool isFold(srVec3 edge, srVec3 a, srVec3 b) {
    double square = srDot(edge, edge);
    srVec3 heightA = srSub(a, srScale(srDot(a, edge) / square, edge)),
           heightB = srSub(b, srScale(srDot(b, edge) / square, edge));
    return !(square > 0.0) || isSameDirection(heightA, heightB);
}

static bool isFlat(const srVec3 t[3]) {
    srVec3 normal = normalOf(t);
    double size = sizeOf(t, t);
    return !(srDot(normal, normal) > TOLERANCE * TOLERANCE * size * size * size * size);
}

bool srDoTrianglesCross(const srVec3* points, const int32_t a[3], const int32_t b[3]) {
    const srVec3 x[3] = {points[a[0]], points[a[1]], points[a[2]]};
    const srVec3 y[3] = {points[b[0]], points[b[1]], points[b[2]]};
    return srDoCornersCross(x, a, y, b);
}

bool srDoCornersCross(const srVec3 x[3], const int32_t a[3], const srVec3 y[3], const int32_t b[3]) {
    int common[3], commonB[3], count = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            if (a[i] == b[k] && count < 3) {
                common[count] = i;
                commonB[count++] = k;
            }
        }
    }
    if (count == 0) {
        return !areApart(x, y);
    }
    if (count == 3 || isFlat(x) || isFlat(y)) {
        return true;
    }
    srVec3 corner = x[common[0]];
    if (count == 1) {
        int i = common[0], k = commonB[0];
        const srVec3 raysA[2] = {srSub(x[(i + 1) % 3], corner), srSub(x[(i + 2) % 3], corner)};
        const srVec3 raysB[2] = {srSub(y[(k + 1) % 3], corner), srSub(y[(k + 2) % 3], corner)};
        return !areRaysApart(raysA, raysB);
    }
    srVec3 edge = srSub(x[common[1]], corner);
    return isFold(edge, srSub(x[3 - common[0] - common[1]], corner),
                  srSub(y[3 - commonB[0] - commonB[1]], corner));
}

// ---- many
// ---------------------------------------------------------------------------------------------------

static int32_t clampIndex(double x, int32_t count) {
    return x <= 0.0 ? 0 : x >= (double)(count - 1) ? count - 1 : (int32_t)x;
}

void srTriangleGrid_FindBoxes(const srTriangleGrid* grid, srVec3 lower, srVec3 upper, int32_t outLow[3],
                              int32_t outHigh[3]) {
    srVec3 low = srSub(lower, grid->origin), high = srSub(upper, grid->origin);
    const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
    for (int i = 0; i < 3; i++) {
        outLow[i] = clampIndex(lows[i] / grid->spacing, grid->counts[i]);
        outHigh[i] = clampIndex(highs[i] / grid->spacing, grid->counts[i]);
    }
}

static void boxOf(const srVec3 corners[3], srVec3* lower, srVec3* upper) {
    *lower = srMin(srMin(corners[0], corners[1]), corners[2]);
    *upper = srMax(srMax(corners[0], corners[1]), corners[2]);
}

bool srTriangleGrid_Add(srTriangleGrid* grid, const srVec3 corners[3], int32_t triangle) {
    srVec3 lower, upper;
    int32_t low[3], high[3];
    boxOf(corners, &lower, &upper);
    srTriangleGrid_FindBoxes(grid, lower, upper, low, high);
    int64_t needed = (int64_t)(high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
    if (needed > grid->entryCapacity - grid->entryCount) {
        return false;
    }
    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            for (int32_t x = low[0]; x <= high[0]; x++) {
                int32_t box = srTriangleGrid_Box(grid, x, y, z);
                grid->entries[grid->entryCount][0] = triangle;
                grid->entries[grid->entryCount][1] = grid->heads[box];
                grid->heads[box] = grid->entryCount++;
            }
        }
    }
    return true;
}

static void cornersOf(const srHull* hull, int32_t triangle, srVec3 outCorners[3]) {
    for (int c = 0; c < 3; c++) {
        outCorners[c] = hull->points[hull->triangles[triangle][c]];
    }
}

// Boxes about as large as the triangles, and not too many of them.
static void layOut(const srHull* hull, srTriangleGrid* grid) {
    srVec3 lower = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, upper = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double edgeSum = 0.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srVec3 c[3], low, high;
        cornersOf(hull, t, c);
        boxOf(c, &low, &high);
        lower = srMin(lower, low);
        upper = srMax(upper, high);
        edgeSum += srLength(srSub(c[1], c[0])) + srLength(srSub(c[2], c[1])) + srLength(srSub(c[0], c[2]));
    }
    srVec3 extent = srSub(upper, lower);
    double spacing = fmax(edgeSum / (3.0 * fmax(hull->triangleCount, 1.0)), 1e-6 * srLength(extent));
    spacing = spacing > 0.0 ? spacing : 1.0;
    double most = BOXES_PER_TRIANGLE * hull->triangleCount + 64.0, boxes;
    do {
        boxes = (floor(extent.x / spacing) + 1.0) * (floor(extent.y / spacing) + 1.0) *
                (floor(extent.z / spacing) + 1.0);
        spacing *= boxes > most ? 1.26 : 1.0;
    } while (boxes > most);
    grid->origin = lower;
    grid->spacing = spacing;
    grid->counts[0] = (int32_t)(extent.x / spacing) + 1;
    grid->counts[1] = (int32_t)(extent.y / spacing) + 1;
    grid->counts[2] = (int32_t)(extent.z / spacing) + 1;
}

srResult srCreateTriangleGrid(const srHull* hull, srArena* arena, srTriangleGrid* outGrid) {
    srTriangleGrid grid = {0};
    layOut(hull, &grid);
    int32_t boxCount = grid.counts[0] * grid.counts[1] * grid.counts[2];
    int64_t needed = 0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srVec3 c[3], lower, upper;
        int32_t low[3], high[3];
        cornersOf(hull, t, c);
        boxOf(c, &lower, &upper);
        srTriangleGrid_FindBoxes(&grid, lower, upper, low, high);
        needed += (int64_t)(high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
    }
    if (ROOM_FOR_MORE * needed + 64 > INT32_MAX) {
        return srFail(sr_errorTooLarge, "The surface of the cage has too many long triangles.");
    }
    grid.entryCapacity = (int32_t)(ROOM_FOR_MORE * needed + 64);
    grid.heads = SR_PUSH(arena, int32_t, boxCount, "grid of triangles");
    grid.entries = srArena_Push(arena, (size_t)grid.entryCapacity, sizeof(int32_t[2]), "grid of triangles");
    if (grid.heads == NULL || grid.entries == NULL) {
        return srFailOutOfMemory("the surface of the cage");
    }
    memset(grid.heads, 0xff, (size_t)boxCount * sizeof(int32_t));
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srVec3 c[3];
        cornersOf(hull, t, c);
        srTriangleGrid_Add(&grid, c, t);
    }
    *outGrid = grid;
    return sr_success;
}

// A pair shares several boxes: it is looked at in the one where both begin.
static bool isFirstBox(const srTriangleGrid* grid, const int32_t box[3], const srVec3 a[3],
                       const srVec3 b[3]) {
    srVec3 lowA, highA, lowB, highB;
    int32_t beginA[3], beginB[3], end[3];
    boxOf(a, &lowA, &highA);
    boxOf(b, &lowB, &highB);
    if (lowA.x > highB.x || lowB.x > highA.x || lowA.y > highB.y || lowB.y > highA.y || lowA.z > highB.z ||
        lowB.z > highA.z) {
        return false;
    }
    srTriangleGrid_FindBoxes(grid, lowA, lowA, beginA, end);
    srTriangleGrid_FindBoxes(grid, lowB, lowB, beginB, end);
    for (int i = 0; i < 3; i++) {
        if (box[i] != (beginA[i] > beginB[i] ? beginA[i] : beginB[i])) {
            return false;
        }
    }
    return true;
}

// What crosses triangle t among those of higher number.
static int32_t countFor(const srHull* hull, const srTriangleGrid* grid, int32_t t) {
    srVec3 corners[3], lower, upper;
    int32_t low[3], high[3], box[3], count = 0;
    cornersOf(hull, t, corners);
    boxOf(corners, &lower, &upper);
    srTriangleGrid_FindBoxes(grid, lower, upper, low, high);
    for (box[2] = low[2]; box[2] <= high[2]; box[2]++) {
        for (box[1] = low[1]; box[1] <= high[1]; box[1]++) {
            for (box[0] = low[0]; box[0] <= high[0]; box[0]++) {
                int32_t entry = grid->heads[srTriangleGrid_Box(grid, box[0], box[1], box[2])];
                for (; entry != SR_NULL_INDEX; entry = grid->entries[entry][1]) {
                    int32_t other = grid->entries[entry][0];
                    srVec3 others[3];
                    if (other <= t) {
                        continue;
                    }
                    cornersOf(hull, other, others);
                    count += isFirstBox(grid, box, corners, others) &&
                             srDoTrianglesCross(hull->points, hull->triangles[t], hull->triangles[other]);
                }
            }
        }
    }
    return count;
}

srResult srCountCrossings(const srHull* hull, int32_t most, srArena* arena, const srProgress* progress,
                          int32_t* outCount) {
    srArenaMark mark = srArena_GetMark(arena);
    srTriangleGrid grid;
    *outCount = 0;
    if (hull->triangleCount == 0) {
        return sr_success;
    }
    SR_TRY(srCreateTriangleGrid(hull, arena, &grid));
    srResult result = sr_success;
    for (int32_t t = 0; t < hull->triangleCount && *outCount < most && result == sr_success; t++) {
        *outCount += countFor(hull, &grid, t);
        if (t % TRIANGLES_PER_REPORT == 0 && progress != NULL) {
            result = srReportProgress(progress, t / (double)hull->triangleCount);
        }
    }
    srArena_Release(arena, mark);
    return result;
}
