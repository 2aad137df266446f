// SPDX-License-Identifier: GPL-3.0-or-later
//
// What judges of weights compute for themselves, another way than the library does.

#pragma once

#include "weights/biharmonic.h"
#include "weights/biharmonic_system.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int descending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

/// The nearest place with nothing below zero and a sum of one, by sorting. At most 32 numbers.
static inline void projectBySorting(const double* y, int32_t count, double* out) {
    double sorted[32], sum = 0.0, threshold = 0.0;
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

/// The nearest place between zero and the ceilings with a sum of one, by halving.
static inline void projectByHalving(const double* y, const double* ceilings, int32_t count, double* out) {
    double low = -1e9, high = 1e9;
    for (int k = 0; k < 200; k++) {
        double middle = 0.5 * (low + high), sum = 0.0;
        for (int32_t j = 0; j < count; j++) {
            out[j] = fmin(fmax(y[j] - middle, 0.0), ceilings[j]);
            sum += out[j];
        }
        low = sum > 1.0 ? middle : low;
        high = sum > 1.0 ? high : middle;
    }
}

/// Squares that residuals are made of, in the metric: of weights, of what they are apart from smooth ones, of
/// what is left of forces, of what bounds take.
typedef struct srTestResiduals {
    double all, apart, left, cut;
} srTestResiduals;

/// Adds those of a system's nodes, of weights as they are handed out and of the smooth x that belongs to
/// them.
static inline void addResiduals(const srBiharmonicSystem* system, const double* x,
                                const srBiharmonicAnswer* answer, srTestResiduals* out) {
    const srCsc* A = &system->problem.A;
    int32_t m = system->problem.columnCount;
    double* forces = calloc((size_t)system->rowCount * (size_t)m, sizeof(double));
    memcpy(forces, system->loads, (size_t)system->rowCount * (size_t)m * sizeof(double));
    for (int32_t c = 0; c < A->columnCount; c++) {
        for (int32_t e = A->columnStarts[c]; e < A->columnStarts[c + 1]; e++) {
            for (int32_t j = 0; j < m; j++) {
                forces[A->rows[e] * m + j] -= A->values[e] * x[c * m + j];
                forces[c * m + j] -= A->rows[e] != c ? A->values[e] * x[A->rows[e] * m + j] : 0.0;
            }
        }
    }
    for (int32_t i = 0; i < system->nodeCount; i++) {
        int32_t r = system->rowOfNode[i];
        const float* row = answer->weights + system->columnCount * (int64_t)i;
        const float* most = answer->ceilings + system->columnCount * (int64_t)i;
        double s[32], back[32], ceilings[32];
        for (int32_t j = 0; r >= 0 && j < m; j++) {
            ceilings[j] = (double)most[system->columns[j]];
            s[j] = (double)row[system->columns[j]] + forces[r * m + j] / system->metric[r];
        }
        if (r >= 0) {
            projectByHalving(s, ceilings, m, back);
        }
        for (int32_t j = 0; r >= 0 && j < m; j++) {
            double here = (double)row[system->columns[j]], far = x[r * m + j] - here;
            out->all += system->metric[r] * here * here;
            out->apart += system->metric[r] * far * far;
            out->left += system->metric[r] * (back[j] - here) * (back[j] - here);
            out->cut += system->metric[r] * (s[j] - back[j]) * (s[j] - back[j]);
        }
    }
    free(forces);
}

/// Primal and dual residual of weights as they are handed out, with the ceilings and the smooth ones that
/// came with them, and how far any is above its ceiling. Nothing of the library's own account is used.
static inline srResult measureReturned(const srCage* cage, const srAnchors* anchors,
                                       const srBiharmonicAnswer* answer, double* outPrimal, double* outDual) {
    srAnchorRows rows = {0};
    srStiffness stiffness = {0};
    srPieces pieces = {0};
    srTestResiduals sums = {0};
    srResult result = srCreateAnchorRows(cage, anchors, &rows);
    result = result == sr_success ? srCreateStiffness(cage, &stiffness) : result;
    result = result == sr_success ? srCreatePieces(cage, &rows, &pieces) : result;
    for (int32_t i = 0; result == sr_success && i < cage->nodeCount; i++) {
        srBiharmonicSystem system = {0};
        if (pieces.pieceOfNode[i] != i || !pieces.isHeard[i]) {
            continue;
        }
        result = srCreateBiharmonicSystem(cage, &stiffness, &rows, &pieces, i, anchors->columnCount, &system);
        int32_t m = system.problem.columnCount;
        double* x = calloc((size_t)system.rowCount * (size_t)m + 1, sizeof(double));
        for (int32_t node = 0; result == sr_success && node < cage->nodeCount; node++) {
            int64_t row = system.rowOfNode[node];
            for (int32_t j = 0; row >= 0 && j < m; j++) {
                x[m * row + j] = answer->smooth[anchors->columnCount * (int64_t)node + system.columns[j]];
            }
        }
        if (result == sr_success && system.rowCount > 0 && m > 1) {
            addResiduals(&system, x, answer, &sums);
        }
        free(x);
        srDestroyBiharmonicSystem(&system);
    }
    srDestroyPieces(&pieces);
    srDestroyStiffness(&stiffness);
    srDestroyAnchorRows(&rows);
    *outPrimal = sqrt(sums.apart / fmax(sums.all, 1e-300));
    *outDual = sqrt(sums.left / fmax(sums.cut, fmax(1e-6 * sums.all, 1e-300)));
    return result;
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

/// A node on the water line, and what there is of its island.
typedef struct srTestShore {
    float height;
    int32_t node;
} srTestShore;

static inline int higherFirst(const void* a, const void* b) {
    const srTestShore *x = a, *y = b;
    return x->height != y->height ? (x->height < y->height) - (x->height > y->height)
                                  : (x->node > y->node) - (x->node < y->node);
}

static inline int32_t findIsland(int32_t* islands, int32_t node) {
    while (islands[node] != node) {
        node = islands[node] = islands[islands[node]];
    }
    return node;
}

/// Where a column is held: by node.
static inline void markAnchors(const srAnchorRows* rows, int32_t column, bool* out) {
    for (int32_t i = 0; i < rows->nodeCount; i++) {
        out[i] = false;
        for (int c = 0; c < 3 && rows->isFixed[i]; c++) {
            const srAnchorValue* value = &rows->fixedValues[i];
            out[i] = out[i] || (value->columns[c] == column && value->values[c] > 0.0);
        }
    }
    for (int32_t k = 0; k < 12 * rows->sampleCount; k++) {
        const srAnchorSample* sample = &rows->samples[k / 12];
        int c = k % 3, corner = k / 3 % 4;
        if (sample->value.columns[c] == column && sample->value.values[c] > 0.0 &&
            sample->weights[corner] > 0.0) {
            out[sample->nodes[corner]] = true;
        }
    }
}

/// The highest peak of any column off its anchors, above the place where one may leave it for them. As water
/// falls, islands come up and are joined: one without an anchor ends where it is joined to one that has one.
static inline double findHighestPeak(const srCage* cage, const srAnchorRows* rows, int32_t columns,
                                     const float* weights) {
    size_t n = (size_t)cage->nodeCount;
    srTestShore* shores = calloc(n, sizeof(*shores));
    int32_t* islands = calloc(n, sizeof(*islands));
    int32_t* starts = calloc(n + 2, sizeof(*starts));
    int32_t* neighbours = calloc(2 * (size_t)cage->edgeCount, sizeof(*neighbours));
    float* tops = calloc(n, sizeof(*tops));
    bool* isHeld = calloc(n, sizeof(*isHeld));
    double highest = 0.0;
    for (int32_t e = 0; e < 2 * cage->edgeCount; e++) {
        starts[cage->edges[e / 2][e % 2] + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) {
        starts[i] += starts[i - 1];
    }
    for (int32_t e = 0; e < 2 * cage->edgeCount; e++) {
        neighbours[starts[cage->edges[e / 2][e % 2] + 1]++] = cage->edges[e / 2][1 - e % 2];
    }
    for (int32_t j = 0; j < columns; j++) {
        markAnchors(rows, j, isHeld);
        for (size_t i = 0; i < n; i++) {
            shores[i] = (srTestShore){weights[i * (size_t)columns + (size_t)j], (int32_t)i};
            islands[i] = -1;
        }
        qsort(shores, n, sizeof(*shores), higherFirst);
        for (size_t k = 0; k < n; k++) {
            int32_t node = shores[k].node;
            islands[node] = node;
            tops[node] = shores[k].height;
            for (int32_t e = starts[node]; e < starts[node + 1]; e++) {
                int32_t next = neighbours[e];
                if (islands[next] < 0) {
                    continue;
                }
                int32_t here = findIsland(islands, node), there = findIsland(islands, next);
                if (here != there) {
                    if (isHeld[here] != isHeld[there]) {
                        float top = isHeld[here] ? tops[there] : tops[here];
                        highest = fmax(highest, (double)(top - shores[k].height));
                    }
                    islands[there] = here;
                    tops[here] = tops[here] > tops[there] ? tops[here] : tops[there];
                    isHeld[here] = isHeld[here] || isHeld[there];
                }
            }
        }
    }
    free(shores);
    free(islands);
    free(starts);
    free(neighbours);
    free(tops);
    free(isHeld);
    return highest;
}
