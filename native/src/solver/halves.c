// SPDX-License-Identifier: GPL-3.0-or-later
//
// Hoare's selection about the middle, again and again.

#include "solver/halves.h"

#include <stdbool.h>

typedef struct Side {
    const srVec3* points;
    int axis;
} Side;

static double coordinateOf(const Side* side, int32_t i) {
    srVec3 x = side->points[i];
    return side->axis == 0 ? x.x : side->axis == 1 ? x.y : x.z;
}

// a total order: equal coordinates go by index
static bool isBefore(const Side* side, int32_t i, int32_t j) {
    double x = coordinateOf(side, i), y = coordinateOf(side, j);
    return x != y ? x < y : i < j;
}

// the first `half` are before all others along the side
static void select(const Side* side, int32_t* order, int32_t count, int32_t half) {
    int32_t first = 0, last = count - 1;
    while (first < last) {
        int32_t pivot = order[first + (last - first) / 2], i = first, j = last;
        while (i <= j) {
            while (isBefore(side, order[i], pivot)) {
                ++i;
            }
            while (isBefore(side, pivot, order[j])) {
                --j;
            }
            if (i <= j) {
                int32_t kept = order[i];
                order[i++] = order[j];
                order[j--] = kept;
            }
        }
        if (half <= j) {
            last = j;
        } else if (half >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static int findLongestAxis(const srVec3* points, const int32_t* order, int32_t count) {
    srVec3 lower = points[order[0]], upper = lower;
    for (int32_t i = 1; i < count; ++i) {
        lower = srMin(lower, points[order[i]]);
        upper = srMax(upper, points[order[i]]);
    }
    srVec3 sides = srSub(upper, lower);
    return sides.x >= sides.y && sides.x >= sides.z ? 0 : sides.y >= sides.z ? 1 : 2;
}

void srHalvePoints(const srVec3* points, int32_t* order, int32_t count, int32_t runLength) {
    if (count <= runLength) {
        return;
    }
    // whole runs on the left; as deep as the logarithm of the count
    int32_t half = (count / 2 + runLength - 1) / runLength * runLength;
    Side side = {points, findLongestAxis(points, order, count)};
    select(&side, order, count, half);
    srHalvePoints(points, order, half, runLength);
    srHalvePoints(points, order + half, count - half, runLength);
}
