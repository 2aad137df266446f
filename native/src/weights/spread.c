// SPDX-License-Identifier: GPL-3.0-or-later
//
// One sparse factor for all columns.
//
// For every column, w minimises   w' L w + sum_v a_v ((B w)_v - p_v)^2,   so   (L + B' D B) w = B' D p,   D =
// diag(a). Symbols: L Laplacian (n x n), B embedding (vertices x n, four entries a row), p values on the
// skin, w values of nodes.

#include "weights/spread.h"

#include "core/alloc.h"
#include "math/cholesky.h"
#include "math/csc.h"
#include "math/dissect.h"
#include "weights/laplacian.h"

#include <math.h>
#include <string.h>

// How much stronger the skin speaks than smoothness, where it lies. At 100 painted steps a cell wide survive,
// and gaps between far-apart vertices are still bridged smoothly.
#define SKIN_STRENGTH 100.0

// A share of the Laplacian's diagonal, so that a part of the cage without skin has a solution too (zero).
#define ANCHOR 1e-9

#define DISSECTED_FROM 15000 // nodes

struct srSpread {
    const srCage* cage;
    const srEmbedding* embedding;
    double* strengths; // a_v; zero for vertices that say nothing
    srCholesky* factor;
};

static double B(const srSpread* s, int32_t vertex, int corner) {
    return (double)s->embedding->weights[vertex][corner];
}

bool srIsEmbedded(const srEmbedding* embedding, int32_t vertex) {
    return embedding->nodes[vertex][0] != embedding->nodes[vertex][1];
}

// a_v = SKIN_STRENGTH * (L's diagonal around v) / (how many vertices share v's nodes), both averaged with
// |B|. The diagonal brings the unit of L, so scale does not matter; the count makes a hundred vertices in a
// cell as strong as one.
static srResult chooseStrengths(srSpread* s, const srTriplet* laplacian, int32_t laplacianCount) {
    int32_t nodeCount = s->cage->nodeCount;
    double* diagonal = SR_ALLOC_ZERO(double, nodeCount);
    double* crowd = SR_ALLOC_ZERO(double, nodeCount);
    if (diagonal == NULL || crowd == NULL) {
        SR_FREE(diagonal, nodeCount);
        SR_FREE(crowd, nodeCount);
        return srFailOutOfMemory("spreading over the cage");
    }
    for (int32_t entry = 0; entry < laplacianCount; entry++) {
        diagonal[laplacian[entry].row] +=
            laplacian[entry].row == laplacian[entry].column ? laplacian[entry].value : 0.0;
    }
    for (int32_t v = 0; v < s->embedding->pointCount; v++) {
        for (int c = 0; c < 4 && s->strengths[v] > 0.0; c++) {
            crowd[s->embedding->nodes[v][c]] += fabs(B(s, v, c));
        }
    }
    for (int32_t v = 0; v < s->embedding->pointCount; v++) {
        double around = 0.0, shared = 0.0;
        for (int c = 0; c < 4; c++) {
            around += fabs(B(s, v, c)) * diagonal[s->embedding->nodes[v][c]];
            shared += fabs(B(s, v, c)) * crowd[s->embedding->nodes[v][c]];
        }
        s->strengths[v] = s->strengths[v] > 0.0 ? SKIN_STRENGTH * around / shared : 0.0;
    }
    SR_FREE(diagonal, nodeCount);
    SR_FREE(crowd, nodeCount);
    return sr_success;
}

// Appends the lower triangle of B' D B. Vertices of one cell speak of the same ten entries: they are summed
// first, so that a fine skin costs no more than a coarse one once they are.
static srResult addSkin(const srSpread* s, srTriplet* triplets, int32_t* inOutCount) {
    int32_t count = *inOutCount, cellCount = s->cage->cellCount;
    double (*sums)[10] = srAllocZero((size_t)cellCount, sizeof(sums[0]));
    if (sums == NULL) {
        return srFailOutOfMemory("spreading over the cage");
    }
    for (int32_t v = 0; v < s->embedding->pointCount; v++) {
        int32_t cell = s->embedding->cells[v];
        for (int a = 0, entry = 0; a < 4 && s->strengths[v] > 0.0; a++) {
            for (int b = 0; b <= a; b++) {
                sums[cell][entry++] += s->strengths[v] * B(s, v, a) * B(s, v, b);
            }
        }
    }
    for (int32_t cell = 0; cell < cellCount; cell++) {
        const int32_t* nodes = s->cage->cells[cell];
        for (int a = 0, entry = 0; a < 4; a++) {
            for (int b = 0; b <= a; b++, entry++) {
                int32_t row = nodes[a] > nodes[b] ? nodes[a] : nodes[b];
                int32_t column = nodes[a] > nodes[b] ? nodes[b] : nodes[a];
                if (sums[cell][entry] != 0.0) {
                    triplets[count++] = (srTriplet){row, column, sums[cell][entry]};
                }
            }
        }
    }
    srFree(sums, (size_t)cellCount, sizeof(sums[0]));
    *inOutCount = count;
    return sr_success;
}

// Entries of the Laplacian's diagonal once more, very small.
static int32_t addAnchor(srTriplet* triplets, int32_t laplacianCount, int32_t count) {
    for (int32_t entry = 0; entry < laplacianCount; entry++) {
        if (triplets[entry].row == triplets[entry].column) {
            triplets[count] = triplets[entry];
            triplets[count++].value *= ANCHOR;
        }
    }
    return count;
}

static srResult assemble(srSpread* s, srCsc* outA) {
    int32_t cellCount = s->cage->cellCount;
    int32_t laplacianCount = SR_LAPLACIAN_ENTRIES * cellCount;
    int64_t capacity = (int64_t)laplacianCount + 14 * (int64_t)cellCount;
    if (capacity > INT32_MAX) {
        return srFail(sr_errorTooLarge,
                      "Too many cells and vertices to spread the skin's values over the cage.");
    }
    srTriplet* triplets = SR_ALLOC(srTriplet, capacity);
    if (triplets == NULL) {
        return srFailOutOfMemory("spreading over the cage");
    }
    srFillLaplacian(s->cage, triplets);
    srResult result = chooseStrengths(s, triplets, laplacianCount);
    if (result == sr_success) {
        int32_t count = addAnchor(triplets, laplacianCount, laplacianCount);
        result = addSkin(s, triplets, &count);
        if (result == sr_success) {
            result = srCreateCsc(s->cage->nodeCount, s->cage->nodeCount, triplets, count, outA);
        }
    }
    SR_FREE(triplets, capacity);
    return result;
}

static srResult tellProgress(const srProgress* progress, double fraction) {
    return progress != NULL ? srReportProgress(progress, fraction) : sr_success;
}

// Minimum degree is good enough for a cage of usual size; dissection takes two fifths of the memory off a
// large one (97,000 nodes of a thick bar: 447 MB instead of 754).
static srResult factor(srSpread* s, const srCsc* A, const srProgress* progress) {
    int32_t nodeCount = s->cage->nodeCount;
    srResult result = sr_success;
    int32_t* order = nodeCount >= DISSECTED_FROM ? SR_ALLOC(int32_t, nodeCount) : NULL;
    if (nodeCount >= DISSECTED_FROM && order == NULL) {
        return srFailOutOfMemory("spreading over the cage");
    }
    SR_TRY_CLEANUP(tellProgress(progress, 0.1));
    if (order != NULL) {
        SR_TRY_CLEANUP(srDissect(A, s->cage->nodes, order));
    }
    SR_TRY_CLEANUP(tellProgress(progress, 0.15));
    SR_TRY_CLEANUP(srAnalyzeCholesky(A, order, &s->factor));
    SR_TRY_CLEANUP(tellProgress(progress, 0.2));
    SR_TRY_CLEANUP(srCholesky_Factor(s->factor, A));
    SR_TRY_CLEANUP(tellProgress(progress, 0.5));

cleanup:
    SR_FREE(order, nodeCount);
    return result;
}

// every heard vertex begins with a strength of one
static srResult allocateSpread(srSpread* s, const uint8_t* isHeard) {
    s->strengths = SR_ALLOC(double, s->embedding->pointCount);
    if (s->strengths == NULL) {
        return srFailOutOfMemory("spreading over the cage");
    }
    for (int32_t v = 0; v < s->embedding->pointCount; v++) {
        bool isSomewhere = srIsEmbedded(s->embedding, v) && s->embedding->cells[v] != SR_NULL_INDEX;
        s->strengths[v] = isHeard[v] && isSomewhere ? 1.0 : 0.0;
    }
    return sr_success;
}

srResult srCreateSpread(const srCage* cage, const srEmbedding* embedding, const uint8_t* isHeard,
                        const srProgress* progress, srSpread** outSpread) {
    srResult result = sr_success;
    srCsc A = {0};
    srSpread* s = SR_ALLOC_ZERO(srSpread, 1);
    if (s == NULL) {
        return srFailOutOfMemory("spreading over the cage");
    }
    s->cage = cage;
    s->embedding = embedding;
    SR_TRY_CLEANUP(allocateSpread(s, isHeard));
    SR_TRY_CLEANUP(tellProgress(progress, 0.0));
    SR_TRY_CLEANUP(assemble(s, &A));
    SR_TRY_CLEANUP(factor(s, &A, progress));
    *outSpread = s;

cleanup:
    srDestroyCsc(&A);
    if (result != sr_success) {
        srDestroySpread(s);
    }
    return result;
}

void srDestroySpread(srSpread* s) {
    if (s == NULL) {
        return;
    }
    SR_FREE(s->strengths, s->embedding->pointCount);
    srDestroyCholesky(s->factor);
    SR_FREE(s, 1);
}

void srSpread_Say(const srSpread* s, int32_t vertex, double value, double* column) {
    for (int c = 0; c < 4 && s->strengths[vertex] > 0.0; c++) {
        column[s->embedding->nodes[vertex][c]] += s->strengths[vertex] * value * B(s, vertex, c);
    }
}

srResult srSpread_Solve(srSpread* s, double* columns, int32_t columnCount) {
    return srCholesky_Solve(s->factor, columns, columnCount);
}
