// SPDX-License-Identifier: GPL-3.0-or-later
//
// Baselines of bench_prepare: loops over everything, and conjugate gradients with the diagonal as
// preconditioner.

#include "prepare_plain.h"

#include "math/csc.h"
#include "weights/laplacian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SKIN_STRENGTH 100.0 // as in weights/transfer.c
#define ANCHOR 1e-9         // likewise
#define RESIDUAL 1e-9       // of the right-hand side: what the answer's floats can tell
#define MAX_STEPS 20000

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static double distanceToSegment(srVec3 p, srVec3 a, srVec3 b) {
    srVec3 ab = srSub(b, a);
    double t = srDot(srSub(p, a), ab) / srDot(ab, ab);
    return srDistance(p, srMulAdd(a, t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t, ab));
}

double srScanTriangles(const srSurface* surface, srVec3 p) {
    double best = HUGE_VAL;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        srVec3 a = surface->points[c[0]], b = surface->points[c[1]], d = surface->points[c[2]];
        srVec3 ab = srSub(b, a), ad = srSub(d, a), ap = srSub(p, a), n = srCross(ab, ad);
        double nn = srDot(n, n), v = srDot(srCross(ap, ad), n), w = srDot(srCross(ab, ap), n);
        if (v >= 0.0 && w >= 0.0 && v + w <= nn) {
            best = lesser(best, fabs(srDot(ap, n)) / sqrt(nn));
        } else {
            best = lesser(best, lesser(distanceToSegment(p, a, b),
                                       lesser(distanceToSegment(p, b, d), distanceToSegment(p, d, a))));
        }
    }
    return best;
}

int32_t srScanCells(const srCage* cage, srVec3 p) {
    int32_t found = SR_NULL_INDEX;
    double best = -HUGE_VAL;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        const int32_t* c = cage->cells[cell];
        srVec3 a = cage->nodes[c[0]], ap = srSub(p, a);
        srVec3 ab = srSub(cage->nodes[c[1]], a), ac = srSub(cage->nodes[c[2]], a),
               ad = srSub(cage->nodes[c[3]], a);
        double volume = srDot(ab, srCross(ac, ad));
        double w1 = srDot(ap, srCross(ac, ad)) / volume, w2 = srDot(ap, srCross(ad, ab)) / volume;
        double w3 = srDot(ap, srCross(ab, ac)) / volume;
        double smallest = lesser(lesser(1.0 - w1 - w2 - w3, w1), lesser(w2, w3));
        if (smallest > best) {
            best = smallest;
            found = cell;
        }
    }
    return found;
}

// One system for all bones: the lower triangle of L + B' D B, B' D p column by column
typedef struct System {
    const srCage* cage;
    const srEmbedding* embedding;
    const srPaintedWeights* painted;
    size_t count;
    srCsc A;
    double* diagonal; // of L, then of A
    double* crowd;
    double* strengths;
    double* columns; // right-hand sides, then solutions
    double* work;    // r, z, d, q
} System;

static double B(const System* s, int32_t vertex, int corner) {
    return (double)s->embedding->weights[vertex][corner];
}

static void findStrengths(System* s, const srTriplet* laplacian, int32_t laplacianCount) {
    for (int32_t entry = 0; entry < laplacianCount; entry++) {
        bool isDiagonal = laplacian[entry].row == laplacian[entry].column;
        s->diagonal[laplacian[entry].row] += isDiagonal ? laplacian[entry].value : 0.0;
    }
    for (int32_t v = 0; v < s->painted->vertexCount; v++) {
        for (int c = 0; c < 4; c++) {
            s->crowd[s->embedding->nodes[v][c]] += fabs(B(s, v, c));
        }
    }
    for (int32_t v = 0; v < s->painted->vertexCount; v++) {
        double around = 0.0, shared = 0.0;
        for (int c = 0; c < 4; c++) {
            around += fabs(B(s, v, c)) * s->diagonal[s->embedding->nodes[v][c]];
            shared += fabs(B(s, v, c)) * s->crowd[s->embedding->nodes[v][c]];
        }
        s->strengths[v] = SKIN_STRENGTH * around / shared;
    }
}

static int32_t addVertex(const System* s, int32_t v, srTriplet* triplets, int32_t count) {
    const int32_t* nodes = s->embedding->nodes[v];
    for (int i = 0; i < 16; i++) {
        int a = i / 4, b = i % 4;
        if (nodes[a] >= nodes[b]) {
            triplets[count++] = (srTriplet){nodes[a], nodes[b], s->strengths[v] * B(s, v, a) * B(s, v, b)};
        }
    }
    return count;
}

static void addPainted(const System* s, int32_t v) {
    const srPaintedWeights* painted = s->painted;
    double sum = 0.0;
    for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
        sum += (double)painted->weights[p];
    }
    for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
        double* column = s->columns + (size_t)painted->bones[p] * s->count;
        for (int c = 0; c < 4; c++) {
            column[s->embedding->nodes[v][c]] +=
                s->strengths[v] * B(s, v, c) * (double)painted->weights[p] / sum;
        }
    }
}

static bool assemble(System* s) {
    int32_t laplacianCount = SR_LAPLACIAN_ENTRIES * s->cage->cellCount, count = laplacianCount;
    size_t capacity = 2 * (size_t)laplacianCount + 16 * (size_t)s->painted->vertexCount;
    srTriplet* triplets = malloc(capacity * sizeof(srTriplet));
    if (triplets == NULL) {
        return false;
    }
    srFillLaplacian(s->cage, triplets);
    findStrengths(s, triplets, laplacianCount);
    for (int32_t entry = 0; entry < laplacianCount; entry++) {
        if (triplets[entry].row == triplets[entry].column) {
            triplets[count] = triplets[entry];
            triplets[count++].value *= ANCHOR;
        }
    }
    for (int32_t v = 0; v < s->painted->vertexCount; v++) {
        count = addVertex(s, v, triplets, count);
        addPainted(s, v);
    }
    srResult result = srCreateCsc((int32_t)s->count, (int32_t)s->count, triplets, count, &s->A);
    for (size_t j = 0; result == sr_success && j < s->count; j++) {
        s->diagonal[j] = s->A.values[s->A.columnStarts[j]];
    }
    free(triplets);
    return result == sr_success;
}

// y = A x, of whose lower triangle each entry counts twice
static void multiply(const srCsc* A, const double* x, double* y) {
    memset(y, 0, (size_t)A->rowCount * sizeof(double));
    for (int32_t j = 0; j < A->columnCount; j++) {
        double sum = A->values[A->columnStarts[j]] * x[j];
        for (int32_t p = A->columnStarts[j] + 1; p < A->columnStarts[j + 1]; p++) {
            y[A->rows[p]] += A->values[p] * x[j];
            sum += A->values[p] * x[A->rows[p]];
        }
        y[j] += sum;
    }
}

static double dot(const double* a, const double* b, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// in place; from zero
static bool solveColumn(const System* s, double* x) {
    size_t n = s->count;
    double *r = s->work, *z = r + n, *d = z + n, *q = d + n;
    memcpy(r, x, n * sizeof(double));
    memset(x, 0, n * sizeof(double));
    memset(d, 0, n * sizeof(double));
    double target = RESIDUAL * RESIDUAL * dot(r, r, n), before = 1.0;
    for (int step = 0; step < MAX_STEPS; step++) {
        if (dot(r, r, n) <= target) {
            return true;
        }
        for (size_t i = 0; i < n; i++) {
            z[i] = r[i] / s->diagonal[i];
        }
        double now = dot(r, z, n), beta = step > 0 ? now / before : 0.0;
        for (size_t i = 0; i < n; i++) {
            d[i] = z[i] + beta * d[i];
        }
        multiply(&s->A, d, q);
        double alpha = now / dot(d, q, n);
        for (size_t i = 0; i < n; i++) {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
        before = now;
    }
    return false;
}

static void storeRows(const System* s, float* outWeights) {
    size_t boneCount = (size_t)s->painted->boneCount;
    for (size_t node = 0; node < s->count; node++) {
        double sum = 0.0;
        for (size_t bone = 0; bone < boneCount; bone++) {
            double* w = &s->columns[bone * s->count + node];
            *w = *w < 0.0 ? 0.0 : *w > 1.0 ? 1.0 : *w;
            sum += *w;
        }
        for (size_t bone = 0; bone < boneCount; bone++) {
            outWeights[node * boneCount + bone] = (float)(s->columns[bone * s->count + node] / sum);
        }
    }
}

bool srTransferByGradients(const srCage* cage, const srEmbedding* embedding, const srPaintedWeights* painted,
                           float* outWeights) {
    System s = {.cage = cage, .embedding = embedding, .painted = painted, .count = (size_t)cage->nodeCount};
    s.diagonal = calloc(s.count, sizeof(double));
    s.crowd = calloc(s.count, sizeof(double));
    s.strengths = calloc((size_t)painted->vertexCount, sizeof(double));
    s.columns = calloc(s.count * (size_t)painted->boneCount, sizeof(double));
    s.work = calloc(4 * s.count, sizeof(double));
    bool isFine = s.diagonal != NULL && s.crowd != NULL && s.strengths != NULL && s.columns != NULL &&
                  s.work != NULL && assemble(&s);
    for (int32_t bone = 0; isFine && bone < painted->boneCount; bone++) {
        isFine = solveColumn(&s, s.columns + (size_t)bone * s.count);
    }
    if (isFine) {
        storeRows(&s, outWeights);
    }
    srDestroyCsc(&s.A);
    free(s.diagonal);
    free(s.crowd);
    free(s.strengths);
    free(s.columns);
    free(s.work);
    return isFine;
}
