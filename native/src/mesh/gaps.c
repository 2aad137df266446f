// SPDX-License-Identifier: GPL-3.0-or-later
//
// Finding empty layers by a row of bins along each axis, and moving.

#include "mesh/gaps.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

// Bins along an axis: what is wide compared with all that is there is many bins wide.
#define BIN_COUNT 2048

// Gaps are worth it that leave less than this of the length.
#define LARGEST_SHARE 0.5

static double* coordinate(srVec3* x, int axis) {
    return axis == 0 ? &x->x : axis == 1 ? &x->y : &x->z;
}

static double at(srVec3 x, int axis) {
    return *coordinate(&x, axis);
}

// How many triangles lie over each bin of an axis.
static void coverBins(const srSurface* surface, int axis, int32_t covers[BIN_COUNT + 1]) {
    double lower = at(surface->lower, axis), bin = (at(surface->upper, axis) - lower) / BIN_COUNT;
    memset(covers, 0, (BIN_COUNT + 1) * sizeof(int32_t));
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        double a = at(surface->points[c[0]], axis), b = at(surface->points[c[1]], axis);
        double d = at(surface->points[c[2]], axis);
        double first = floor((fmin(a, fmin(b, d)) - lower) / bin),
               last = floor((fmax(a, fmax(b, d)) - lower) / bin);
        covers[(int)fmin(fmax(first, 0.0), BIN_COUNT - 1)]++;
        covers[(int)fmin(fmax(last, 0.0), BIN_COUNT - 1) + 1]--;
    }
    for (int i = 1; i <= BIN_COUNT; i++) {
        covers[i] += covers[i - 1];
    }
}

// Empty layers of an axis that are longer than what is kept of each.
static void addGaps(const srSurface* surface, int axis, const int32_t* covers, double kept, srGaps* gaps) {
    double lower = at(surface->lower, axis), bin = (at(surface->upper, axis) - lower) / BIN_COUNT;
    double removed = 0.0;
    int begin = 0;
    for (int i = 0; i < BIN_COUNT - 1; i++) {
        begin = covers[i] > 0 ? i + 1 : begin;
        bool isEnd = covers[i] == 0 && covers[i + 1] > 0;
        double length = (i + 1 - begin) * bin;
        if (isEnd && length > kept && gaps->count < SR_MOST_GAPS) {
            double middle = lower + (begin + 0.5 * (i + 1 - begin)) * bin;
            double start = lower + begin * bin - removed;
            gaps->gaps[gaps->count++] = (srGap){axis, middle, start + 0.5 * kept, length - kept};
            removed += length - kept;
        }
    }
}

static double countCovered(const int32_t* covers) {
    int count = 0;
    for (int i = 0; i < BIN_COUNT; i++) {
        count += covers[i] > 0;
    }
    return count;
}

bool srFindGaps(const srSurface* surface, double least, srGaps* outGaps) {
    int32_t covers[3][BIN_COUNT + 1];
    srVec3 extent = srSub(surface->upper, surface->lower);
    double widest = least, removed = 0.0;
    *outGaps = (srGaps){.count = 0};
    for (int axis = 0; axis < 3; axis++) {
        if (!(at(extent, axis) > 0.0)) {
            continue;
        }
        coverBins(surface, axis, covers[axis]);
        widest = fmax(widest, countCovered(covers[axis]) / BIN_COUNT * at(extent, axis));
    }
    for (int axis = 0; axis < 3; axis++) {
        if (at(extent, axis) > 0.0) {
            addGaps(surface, axis, covers[axis], widest, outGaps);
        }
    }
    for (int g = 0; g < outGaps->count; g++) {
        removed = fmax(removed, outGaps->gaps[g].length / at(extent, outGaps->gaps[g].axis));
    }
    return removed > LARGEST_SHARE;
}

static srVec3 moveTogether(const srGaps* gaps, srVec3 x) {
    srVec3 moved = x;
    for (int g = 0; g < gaps->count; g++) {
        const srGap* gap = &gaps->gaps[g];
        *coordinate(&moved, gap->axis) -= at(x, gap->axis) > gap->before ? gap->length : 0.0;
    }
    return moved;
}

srResult srCloseGaps(const srSurface* surface, const srGaps* gaps, srSurface* outSurface) {
    srSurface closed = {
        .points = SR_ALLOC(srVec3, surface->pointCount),
        .pointCount = surface->pointCount,
        .triangles = srAlloc((size_t)surface->triangleCount, sizeof(closed.triangles[0])),
        .triangleCount = surface->triangleCount,
        .lower = moveTogether(gaps, surface->lower),
        .upper = moveTogether(gaps, surface->upper),
        .size = surface->size,
    };
    if (closed.points == NULL || closed.triangles == NULL) {
        srDestroySurface(&closed);
        return srFailOutOfMemory("the surface");
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        closed.points[p] = moveTogether(gaps, surface->points[p]);
    }
    memcpy(closed.triangles, surface->triangles,
           (size_t)surface->triangleCount * sizeof(closed.triangles[0]));
    *outSurface = closed;
    return sr_success;
}

static srVec3 moveApart(const srGaps* gaps, srVec3 x) {
    srVec3 moved = x;
    for (int g = 0; g < gaps->count; g++) {
        const srGap* gap = &gaps->gaps[g];
        *coordinate(&moved, gap->axis) += at(x, gap->axis) > gap->after ? gap->length : 0.0;
    }
    return moved;
}

static bool isAcross(const srGap* gap, const srCage* cage, const int32_t cell[4]) {
    int beyond = 0;
    for (int c = 0; c < 4; c++) {
        beyond += at(cage->nodes[cell[c]], gap->axis) > gap->after;
    }
    return beyond != 0 && beyond != 4;
}

bool srOpenGaps(const srGaps* gaps, srCage* cage) {
    for (int g = 0; g < gaps->count; g++) {
        for (int32_t cell = 0; cell < cage->cellCount; cell++) {
            if (isAcross(&gaps->gaps[g], cage, cage->cells[cell])) {
                return false;
            }
        }
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        cage->nodes[node] = moveApart(gaps, cage->nodes[node]);
    }
    return true;
}
