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

// Triangles between two looks at the caller's wish to go on
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
                if (grid->heads[box] == SR_UNKNOWN_BOX) {
                    continue;
                }
                grid->entries[grid->entryCount][0] = triangle;
                grid->entries[grid->entryCount][1] = grid->heads[box];
                grid->heads[box] = grid->entryCount++;
            }
        }
    }
    return true;
}

static bool isThere(const srHull* hull, int32_t triangle) {
    return hull->triangles[triangle][0] >= 0;
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
    int32_t count = 0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srVec3 c[3], low, high;
        if (!isThere(hull, t)) {
            continue;
        }
        count++;
        cornersOf(hull, t, c);
        boxOf(c, &low, &high);
        lower = srMin(lower, low);
        upper = srMax(upper, high);
        edgeSum += srLength(srSub(c[1], c[0])) + srLength(srSub(c[2], c[1])) + srLength(srSub(c[0], c[2]));
    }
    lower = count > 0 ? lower : (srVec3){0.0, 0.0, 0.0};
    srVec3 extent = count > 0 ? srSub(upper, lower) : lower;
    double spacing = fmax(edgeSum / (3.0 * fmax(count, 1.0)), 1e-6 * srLength(extent));
    spacing = spacing > 0.0 ? spacing : 1.0;
    double most = BOXES_PER_TRIANGLE * count + 64.0, boxes;
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

// The boxes that a triangle reaches into, and how many these are.
static int64_t findBoxesOf(const srHull* hull, const srTriangleGrid* grid, int32_t triangle,
                           int32_t outLow[3], int32_t outHigh[3]) {
    srVec3 c[3], lower, upper;
    cornersOf(hull, triangle, c);
    boxOf(c, &lower, &upper);
    srTriangleGrid_FindBoxes(grid, lower, upper, outLow, outHigh);
    return (int64_t)(outHigh[0] - outLow[0] + 1) * (outHigh[1] - outLow[1] + 1) *
           (outHigh[2] - outLow[2] + 1);
}

// Boxes that a wanted triangle reaches into, and those next to them, become known.
static void uncoverBoxes(const srHull* hull, const uint8_t* isWanted, srTriangleGrid* grid) {
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* c = hull->triangles[t];
        int32_t low[3], high[3];
        if (!isThere(hull, t) || !(isWanted[c[0]] || isWanted[c[1]] || isWanted[c[2]])) {
            continue;
        }
        findBoxesOf(hull, grid, t, low, high);
        for (int i = 0; i < 3; i++) {
            low[i] -= low[i] > 0;
            high[i] += high[i] + 1 < grid->counts[i];
        }
        for (int32_t z = low[2]; z <= high[2]; z++) {
            for (int32_t y = low[1]; y <= high[1]; y++) {
                int32_t row = srTriangleGrid_Box(grid, low[0], y, z);
                memset(grid->heads + row, 0xff, (size_t)(high[0] - low[0] + 1) * sizeof(int32_t));
            }
        }
    }
}

srResult srCreateTriangleGrid(const srHull* hull, const uint8_t* isWanted, srArena* arena,
                              srTriangleGrid* outGrid) {
    srTriangleGrid grid = {0};
    layOut(hull, &grid);
    int32_t boxCount = grid.counts[0] * grid.counts[1] * grid.counts[2], low[3], high[3];
    int64_t needed = 0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        needed += isThere(hull, t) ? findBoxesOf(hull, &grid, t, low, high) : 0;
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
    for (int32_t box = 0; box < boxCount; box++) {
        grid.heads[box] = isWanted == NULL ? SR_NULL_INDEX : SR_UNKNOWN_BOX;
    }
    if (isWanted != NULL) {
        uncoverBoxes(hull, isWanted, &grid);
    }
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        srVec3 c[3];
        if (isThere(hull, t)) {
            cornersOf(hull, t, c);
            srTriangleGrid_Add(&grid, c, t);
        }
    }
    *outGrid = grid;
    return sr_success;
}

// ---- what crosses what
// --------------------------------------------------------------------------------------

// A fan that goes once around its point and faces an eye everywhere does not cross itself. The eye is where
// the sum of its normals points to; how often it goes round is how often a line is crossed upwards.
static void findPlainPoints(const srHull* hull, srVec3* sums, uint8_t* turns, uint8_t* isPlain) {
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* c = hull->triangles[t];
        if (isThere(hull, t)) {
            const srVec3 x[3] = {hull->points[c[0]], hull->points[c[1]], hull->points[c[2]]};
            srVec3 normal = normalOf(x);
            for (int i = 0; i < 3; i++) {
                sums[c[i]] = srAdd(sums[c[i]], normal);
            }
        }
    }
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* c = hull->triangles[t];
        if (!isThere(hull, t)) {
            continue;
        }
        const srVec3 x[3] = {hull->points[c[0]], hull->points[c[1]], hull->points[c[2]]};
        srVec3 normal = normalOf(x);
        double square = SR_LEAST_FACING * SR_LEAST_FACING * srDot(normal, normal);
        for (int i = 0; i < 3; i++) {
            srVec3 sum = sums[c[i]];
            srVec3 axis = fabs(sum.x) < fabs(sum.y) ? (srVec3){1.0, 0.0, 0.0} : (srVec3){0.0, 1.0, 0.0};
            srVec3 up = srCross(sum, axis);
            double facing = srDot(sum, normal);
            bool isFacing = facing > 0.0 && facing * facing >= square * srDot(sum, sum);
            isPlain[c[i]] = isPlain[c[i]] && isFacing;
            bool isUpwards =
                srDot(up, srSub(x[(i + 1) % 3], x[i])) < 0.0 && srDot(up, srSub(x[(i + 2) % 3], x[i])) >= 0.0;
            turns[c[i]] = (uint8_t)(turns[c[i]] + (isUpwards && turns[c[i]] < 2));
        }
    }
    for (int32_t p = 0; p < hull->pointCount; p++) {
        isPlain[p] = isPlain[p] && turns[p] == 1;
    }
}

srResult srCreateCrossingSearch(const srHull* hull, bool isClosed, srArena* arena,
                                srCrossingSearch* outSearch) {
    srCrossingSearch search = {.hull = hull};
    search.isPlain = SR_PUSH(arena, uint8_t, hull->pointCount, "plain points");
    search.seenBy = SR_PUSH(arena, int32_t, hull->triangleCount, "compared triangles");
    if (search.isPlain == NULL || search.seenBy == NULL) {
        return srFailOutOfMemory("the surface of the cage");
    }
    memset(search.seenBy, 0xff, (size_t)hull->triangleCount * sizeof(int32_t));
    memset(search.isPlain, isClosed, (size_t)hull->pointCount);
    if (isClosed) {
        srArenaMark mark = srArena_GetMark(arena);
        srVec3* sums = SR_PUSH(arena, srVec3, hull->pointCount, "normals");
        uint8_t* turns = SR_PUSH(arena, uint8_t, hull->pointCount, "turns");
        if (sums == NULL || turns == NULL) {
            return srFailOutOfMemory("the surface of the cage");
        }
        memset(sums, 0, (size_t)hull->pointCount * sizeof(srVec3));
        memset(turns, 0, (size_t)hull->pointCount);
        findPlainPoints(hull, sums, turns, search.isPlain);
        srArena_Release(arena, mark);
    }
    SR_TRY(srCreateTriangleGrid(hull, NULL, arena, &search.grid));
    search.firstMoved = search.grid.entryCount;
    *outSearch = search;
    return sr_success;
}

bool srCrossingSearch_Move(srCrossingSearch* search, int32_t triangle) {
    srVec3 x[3];
    cornersOf(search->hull, triangle, x);
    for (int c = 0; c < 3; c++) {
        search->isPlain[search->hull->triangles[triangle][c]] = 0;
    }
    return srTriangleGrid_Add(&search->grid, x, triangle);
}

static bool sharesPlainPoint(const srCrossingSearch* search, const int32_t a[3], const int32_t b[3]) {
    int count = 0; // without branches: which pairs share a point follows no pattern
    for (int i = 0; i < 3; i++) {
        count += ((a[i] == b[0]) | (a[i] == b[1]) | (a[i] == b[2])) & (search->isPlain[a[i]] != 0);
    }
    return count > 0;
}

bool srDoesTriangleReach(srVec3 lower, srVec3 upper, const srVec3 x[3]) {
    srVec3 low, high;
    boxOf(x, &low, &high);
    return low.x <= upper.x && low.y <= upper.y && low.z <= upper.z && high.x >= lower.x &&
           high.y >= lower.y && high.z >= lower.z;
}

int32_t srCrossingSearch_List(srCrossingSearch* search, int32_t triangle, int32_t least, int32_t most,
                              int32_t* outOthers) {
    const srHull* hull = search->hull;
    const int32_t* t = hull->triangles[triangle];
    srVec3 corners[3], lower, upper;
    int32_t low[3], high[3], count = 0, query = search->queryCount++;
    cornersOf(hull, triangle, corners);
    boxOf(corners, &lower, &upper);
    srTriangleGrid_FindBoxes(&search->grid, lower, upper, low, high);
    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            for (int32_t x = low[0]; x <= high[0]; x++) {
                int32_t entry = search->grid.heads[srTriangleGrid_Box(&search->grid, x, y, z)];
                for (; entry >= 0 && count < most; entry = search->grid.entries[entry][1]) {
                    int32_t other = search->grid.entries[entry][0];
                    // before its own entry lie those with smaller numbers, as long as nothing has moved
                    if (other == triangle && least > triangle && entry < search->firstMoved) {
                        break;
                    }
                    // it may lie in several boxes, and in one twice
                    if (other < least || other == triangle || search->seenBy[other] == query) {
                        continue;
                    }
                    search->seenBy[other] = query;
                    srVec3 others[3];
                    if (!isThere(hull, other) || sharesPlainPoint(search, t, hull->triangles[other])) {
                        continue;
                    }
                    cornersOf(hull, other, others);
                    if (srDoesTriangleReach(lower, upper, others) &&
                        srDoCornersCross(corners, t, others, hull->triangles[other])) {
                        if (outOthers != NULL) {
                            outOthers[count] = other;
                        }
                        count++;
                    }
                }
            }
        }
    }
    return count;
}

srResult srCountCrossings(const srHull* hull, bool isClosed, int32_t most, srArena* arena,
                          const srProgress* progress, int32_t* outCount) {
    srArenaMark mark = srArena_GetMark(arena);
    srCrossingSearch search;
    *outCount = 0;
    if (hull->triangleCount == 0) {
        return sr_success;
    }
    SR_TRY(srCreateCrossingSearch(hull, isClosed, arena, &search));
    srResult result = sr_success;
    for (int32_t t = 0; t < hull->triangleCount && *outCount < most && result == sr_success; t++) {
        *outCount += isThere(hull, t) ? srCrossingSearch_List(&search, t, t + 1, most - *outCount, NULL) : 0;
        if (t % TRIANGLES_PER_REPORT == 0 && progress != NULL) {
            result = srReportProgress(progress, t / (double)hull->triangleCount);
        }
    }
    srArena_Release(arena, mark);
    return result;
}
