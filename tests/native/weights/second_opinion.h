// SPDX-License-Identifier: GPL-3.0-or-later
//
// What judges of weights compute for themselves, another way than the library does.

#pragma once

#include "mesh/cage.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int descending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

/// The nearest place with nothing below zero and a sum of one, by sorting. At most 16 numbers.
static inline void projectBySorting(const double* y, int32_t count, double* out) {
    double sorted[16], sum = 0.0, threshold = 0.0;
    memcpy(sorted, y, (size_t)count * sizeof(double));
    qsort(sorted, (size_t)count, sizeof(double), descending);
    for (int32_t j = 0; j < count; j++) {
        sum += sorted[j];
        if (sorted[j] - (sum - 1.0) / (j + 1) > 0.0) {
            threshold = (sum - 1.0) / (j + 1);
        }
    }
    for (int32_t j = 0; j < count; j++) {
        out[j] = fmax(y[j] - threshold, 0.0);
    }
}

/// Of the four linear weights of a cell; returns six times its volume.
static inline double findGradients(const srCage* cage, int32_t cell, srVec3 g[4]) {
    const int32_t* k = cage->cells[cell];
    srVec3 a = cage->nodes[k[0]], u = srSub(cage->nodes[k[1]], a), v = srSub(cage->nodes[k[2]], a);
    srVec3 w = srSub(cage->nodes[k[3]], a);
    double six = srDot(u, srCross(v, w));
    g[1] = srScale(1.0 / six, srCross(v, w));
    g[2] = srScale(1.0 / six, srCross(w, u));
    g[3] = srScale(1.0 / six, srCross(u, v));
    g[0] = srScale(-1.0, srAdd(g[1], srAdd(g[2], g[3])));
    return six;
}
