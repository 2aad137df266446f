// SPDX-License-Identifier: GPL-3.0-or-later
//
// A grid of about as many boxes as there are cells, filled by counting.

#include "mesh/cellgrid.h"

#include "core/alloc.h"
#include "mesh/frame.h"

#include <string.h>

// A point this little outside of a cell, in barycentric weight, lies on its face: rounding must not lose it.
#define FACE_TOLERANCE 1e-12

// The same for a place on the skin, which is rounded itself; and how far around it boxes are looked at, in
// boxes.
#define FOOT_TOLERANCE 1e-6
#define FOOT_REACH 1e-6

struct srCellGrid {
    const srCage* cage;
    srFrame* frames;
    srVec3 lower, upper;
    double boxesPerLength;
    int32_t counts[3];
    int32_t boxCount;
    int32_t* starts;
    int32_t* cells;
};

// Boxes that the bounds of a cell meet
typedef struct Range {
    int32_t low[3], high[3];
} Range;

static int32_t boxIndex(double coordinate, double lower, double boxesPerLength, int32_t count) {
    int32_t index = (int32_t)((coordinate - lower) * boxesPerLength);
    return index < 0 ? 0 : index >= count ? count - 1 : index;
}

static void findBox(const srCellGrid* grid, srVec3 point, int32_t out[3]) {
    out[0] = boxIndex(point.x, grid->lower.x, grid->boxesPerLength, grid->counts[0]);
    out[1] = boxIndex(point.y, grid->lower.y, grid->boxesPerLength, grid->counts[1]);
    out[2] = boxIndex(point.z, grid->lower.z, grid->boxesPerLength, grid->counts[2]);
}

static Range rangeOfCell(const srCellGrid* grid, int32_t cell) {
    const int32_t* corners = grid->cage->cells[cell];
    srVec3 lower = grid->cage->nodes[corners[0]], upper = lower;
    for (int c = 1; c < 4; c++) {
        lower = srMin(lower, grid->cage->nodes[corners[c]]);
        upper = srMax(upper, grid->cage->nodes[corners[c]]);
    }
    Range range;
    findBox(grid, lower, range.low);
    findBox(grid, upper, range.high);
    return range;
}

static int32_t linearIndex(const srCellGrid* grid, int32_t x, int32_t y, int32_t z) {
    return (z * grid->counts[1] + y) * grid->counts[0] + x;
}

// Walks all (box, cell) pairs: counts them, or with `next` writes them.
static int64_t walkPairs(srCellGrid* grid, int32_t* next) {
    int64_t pairCount = 0;
    for (int32_t cell = 0; cell < grid->cage->cellCount; cell++) {
        Range range = rangeOfCell(grid, cell);
        int32_t width = range.high[0] - range.low[0] + 1, depth = range.high[1] - range.low[1] + 1;
        int32_t boxCount = width * depth * (range.high[2] - range.low[2] + 1);
        for (int32_t b = 0; b < boxCount; b++) {
            int32_t box = linearIndex(grid, range.low[0] + b % width, range.low[1] + b / width % depth,
                                      range.low[2] + b / (width * depth));
            if (next != NULL) {
                grid->cells[next[box]++] = cell;
            } else {
                grid->starts[box + 1]++;
            }
        }
        pairCount += boxCount;
    }
    return pairCount;
}

// About one box a cell; long and flat cages get boxes of the same edge, so memory stays in proportion.
static void chooseBoxes(srCellGrid* grid) {
    const srCage* cage = grid->cage;
    grid->lower = grid->upper = cage->nodes[0];
    for (int32_t i = 1; i < cage->nodeCount; i++) {
        grid->lower = srMin(grid->lower, cage->nodes[i]);
        grid->upper = srMax(grid->upper, cage->nodes[i]);
    }
    srVec3 extent = srSub(grid->upper, grid->lower);
    double edge = cbrt(extent.x * extent.y * extent.z / cage->cellCount);
    const double limit = 4.0 * cage->cellCount + 64.0;
    double boxCount = 0.0;
    do {
        double n[3] = {floor(extent.x / edge) + 1.0, floor(extent.y / edge) + 1.0,
                       floor(extent.z / edge) + 1.0};
        boxCount = n[0] * n[1] * n[2];
        for (int axis = 0; axis < 3 && boxCount <= limit; axis++) {
            grid->counts[axis] = (int32_t)n[axis];
        }
        grid->boxesPerLength = 1.0 / edge;
        edge *= 1.2;
    } while (!(boxCount <= limit));
    grid->boxCount = grid->counts[0] * grid->counts[1] * grid->counts[2];
}

static srResult fillGrid(srCellGrid* grid) {
    grid->starts = SR_ALLOC_ZERO(int32_t, grid->boxCount + 1);
    int32_t* next = SR_ALLOC(int32_t, grid->boxCount);
    srResult result = sr_success;
    if (grid->starts == NULL || next == NULL) {
        result = srFailOutOfMemory("the grid over the cage");
        goto cleanup;
    }
    if (walkPairs(grid, NULL) > INT32_MAX) {
        result = srFail(sr_errorTooLarge, "The cage has cells of too different sizes for a grid.");
        goto cleanup;
    }
    for (int32_t box = 0; box < grid->boxCount; box++) {
        grid->starts[box + 1] += grid->starts[box];
        next[box] = grid->starts[box];
    }
    grid->cells = SR_ALLOC(int32_t, grid->starts[grid->boxCount]);
    if (grid->cells == NULL) {
        result = srFailOutOfMemory("the grid over the cage");
        goto cleanup;
    }
    walkPairs(grid, next);

cleanup:
    SR_FREE(next, grid->boxCount);
    return result;
}

srResult srCreateCellGrid(const srCage* cage, srCellGrid** outGrid) {
    srCellGrid* grid = SR_ALLOC_ZERO(srCellGrid, 1);
    if (grid == NULL) {
        return srFailOutOfMemory("the grid over the cage");
    }
    grid->cage = cage;
    chooseBoxes(grid);
    srResult result = srCreateFrames(cage, &grid->frames);
    if (result == sr_success) {
        result = fillGrid(grid);
    }
    if (result != sr_success) {
        srDestroyCellGrid(grid);
        return result;
    }
    *outGrid = grid;
    return sr_success;
}

void srDestroyCellGrid(srCellGrid* grid) {
    if (grid == NULL) {
        return;
    }
    SR_FREE(grid->frames, grid->cage->cellCount);
    SR_FREE(grid->cells, grid->starts != NULL ? grid->starts[grid->boxCount] : 0);
    SR_FREE(grid->starts, grid->boxCount + 1);
    SR_FREE(grid, 1);
}

// The weight of a corner is the volume of the cell with the point in its place, over the cell's own.
void srFindBarycentric(const srCage* cage, int32_t cell, srVec3 point, double outWeights[4]) {
    const int32_t* n = cage->cells[cell];
    srVec3 a = cage->nodes[n[0]];
    srVec3 ab = srSub(cage->nodes[n[1]], a), ac = srSub(cage->nodes[n[2]], a),
           ad = srSub(cage->nodes[n[3]], a);
    srVec3 ap = srSub(point, a);
    double volume = srDot(ab, srCross(ac, ad));
    outWeights[1] = srDot(ap, srCross(ac, ad)) / volume;
    outWeights[2] = srDot(ap, srCross(ad, ab)) / volume;
    outWeights[3] = srDot(ap, srCross(ab, ac)) / volume;
    outWeights[0] = 1.0 - outWeights[1] - outWeights[2] - outWeights[3];
}

static bool isInBounds(const srCellGrid* grid, srVec3 p) {
    return p.x >= grid->lower.x && p.y >= grid->lower.y && p.z >= grid->lower.z && p.x <= grid->upper.x &&
           p.y <= grid->upper.y && p.z <= grid->upper.z;
}

int32_t srCellGrid_Find(const srCellGrid* grid, srVec3 point, double outWeights[4]) {
    if (!isInBounds(grid, point)) {
        return SR_NULL_INDEX;
    }
    int32_t at[3];
    findBox(grid, point, at);
    int32_t box = linearIndex(grid, at[0], at[1], at[2]);
    int32_t found = SR_NULL_INDEX;
    double best = -FACE_TOLERANCE;
    for (int32_t p = grid->starts[box]; p < grid->starts[box + 1]; p++) {
        // most cells of a box are left at the first or second weight
        const srFrame* frame = &grid->frames[grid->cells[p]];
        srVec3 d = srSub(point, frame->corner);
        if (srDot(frame->gradients[0], d) <= best || srDot(frame->gradients[1], d) <= best) {
            continue;
        }
        double w[4];
        srWeigh(frame, point, w);
        double smallest = srSmallestWeight(w);
        if (smallest > best) {
            best = smallest;
            found = grid->cells[p];
            memcpy(outWeights, w, sizeof(w));
        }
    }
    return found;
}

// Offers the cells of one box; `best` is the least sum of squares so far.
static void offerBox(const srCellGrid* grid, int32_t box, const srVec3 footAndPoint[2], double* best,
                     int32_t* found) {
    for (int32_t p = grid->starts[box]; p < grid->starts[box + 1]; p++) {
        double w[4];
        srFindBarycentric(grid->cage, grid->cells[p], footAndPoint[0], w);
        if (srSmallestWeight(w) < -FOOT_TOLERANCE) {
            continue;
        }
        srFindBarycentric(grid->cage, grid->cells[p], footAndPoint[1], w);
        double sum = w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3];
        if (sum < *best || (sum == *best && grid->cells[p] < *found)) {
            *best = sum;
            *found = grid->cells[p];
        }
    }
}

int32_t srCellGrid_FindAt(const srCellGrid* grid, srVec3 foot, srVec3 point, double outWeights[4]) {
    const srVec3 footAndPoint[2] = {foot, point};
    double reach = FOOT_REACH / grid->boxesPerLength, best = HUGE_VAL;
    int32_t low[3], high[3], found = SR_NULL_INDEX;
    findBox(grid, srSub(foot, (srVec3){reach, reach, reach}), low);
    findBox(grid, srAdd(foot, (srVec3){reach, reach, reach}), high);
    for (int corner = 0; corner < 8; corner++) {
        bool isHigh[3] = {(corner & 1) != 0, (corner & 2) != 0, (corner & 4) != 0};
        int32_t box = linearIndex(grid, isHigh[0] ? high[0] : low[0], isHigh[1] ? high[1] : low[1],
                                  isHigh[2] ? high[2] : low[2]);
        offerBox(grid, box, footAndPoint, &best, &found);
    }
    if (found != SR_NULL_INDEX) {
        srFindBarycentric(grid->cage, found, point, outWeights);
    }
    return found;
}
