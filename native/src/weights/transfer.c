// SPDX-License-Identifier: GPL-3.0-or-later
//
// Harmonic transfer: one sparse factor, one right-hand side a bone.
//
// For every bone, w minimises   w' L w + sum_v a_v ((B w)_v - p_v)^2,   so   (L + B' D B) w = B' D p,   D =
// diag(a). Symbols: L Laplacian (n x n), B embedding (vertices x n, four entries a row), p painted weights, w
// weights of nodes.

#include "weights/transfer.h"

#include "core/alloc.h"
#include "core/arena.h"
#include "math/cholesky.h"
#include "math/csc.h"
#include "weights/laplacian.h"

#include <math.h>
#include <string.h>

// How much stronger the skin speaks than smoothness, where it lies. At 100 painted steps a cell wide survive,
// and gaps between far-apart vertices are still bridged smoothly.
#define SKIN_STRENGTH 100.0

// A share of the Laplacian's diagonal, so that a part of the cage without skin has a solution too (zero);
// such rows are filled afterwards. Rows that sum to less than HEARD_SUM are such rows.
#define ANCHOR 1e-9
#define HEARD_SUM 1e-3

// Bones solved at once
#define BATCH_SIZE 16

#define SCRATCH_SIZE ((size_t)1 << 16)

typedef struct Transfer {
    const srCage* cage;
    const srEmbedding* embedding;
    const srPaintedWeights* painted;
    srArena* arena;
    double* strengths;  // a_v; zero for vertices that say nothing
    double* weightSums; // of a vertex's painted weights
    uint8_t* isUsed;    // bones that some vertex is painted for
    double* rows;       // node by node, bone by bone, in double
    double* batch;      // columns being solved
} Transfer;

static srResult checkPainted(const srEmbedding* embedding, const srPaintedWeights* painted) {
    if (painted->vertexCount != embedding->pointCount || painted->boneCount < 1) {
        return srFail(sr_errorInvalidValue,
                      "Weights are painted for %d vertices and %d bones, but %d vertices are embedded.",
                      painted->vertexCount, painted->boneCount, embedding->pointCount);
    }
    if (painted->vertexCount > 0 && painted->vertexStarts[0] < 0) {
        return srFail(sr_errorInvalidValue, "The weights of vertex 0 start before the array.");
    }
    for (int32_t v = 0; v < painted->vertexCount; v++) {
        if (painted->vertexStarts[v + 1] < painted->vertexStarts[v]) {
            return srFail(sr_errorInvalidValue, "The weights of vertex %d end before they start.", v);
        }
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            if (painted->bones[p] < 0 || painted->bones[p] >= painted->boneCount) {
                return srFail(sr_errorInvalidValue,
                              "Vertex %d has a weight for bone %d, but there are %d bones.", v,
                              painted->bones[p], painted->boneCount);
            }
            if (!isfinite(painted->weights[p])) {
                return srFail(sr_errorNotFinite, "A weight of vertex %d is not finite.", v);
            }
        }
    }
    return sr_success;
}

// What a painted entry counts for: negative ones for nothing.
static double entryOf(const srPaintedWeights* painted, int32_t p) {
    return painted->weights[p] > 0.0f ? (double)painted->weights[p] : 0.0;
}

static double B(const Transfer* t, int32_t vertex, int corner) {
    return (double)t->embedding->weights[vertex][corner];
}

static bool isSomewhere(const srEmbedding* embedding, int32_t vertex) {
    return embedding->nodes[vertex][0] != embedding->nodes[vertex][1];
}

// Sums of painted weights and used bones; returns how many vertices say something.
static int32_t readPainted(Transfer* t) {
    const srPaintedWeights* painted = t->painted;
    int32_t heardCount = 0;
    memset(t->isUsed, 0, (size_t)painted->boneCount);
    for (int32_t v = 0; v < painted->vertexCount; v++) {
        t->weightSums[v] = 0.0;
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            t->weightSums[v] += isSomewhere(t->embedding, v) ? entryOf(painted, p) : 0.0;
        }
        heardCount += t->weightSums[v] > 0.0;
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            t->isUsed[painted->bones[p]] |= t->weightSums[v] > 0.0 && entryOf(painted, p) > 0.0;
        }
    }
    return heardCount;
}

// a_v = SKIN_STRENGTH * (L's diagonal around v) / (how many vertices share v's nodes), both averaged with
// |B|. The diagonal brings the unit of L, so scale does not matter; the count makes a hundred vertices in a
// cell as strong as one.
static srResult chooseStrengths(Transfer* t, const srTriplet* laplacian, int32_t laplacianCount) {
    int32_t nodeCount = t->cage->nodeCount;
    double* diagonal = SR_PUSH(t->arena, double, nodeCount, "diagonal");
    double* crowd = SR_PUSH(t->arena, double, nodeCount, "vertices around nodes");
    if (diagonal == NULL || crowd == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    memset(diagonal, 0, (size_t)nodeCount * sizeof(double));
    memset(crowd, 0, (size_t)nodeCount * sizeof(double));
    for (int32_t entry = 0; entry < laplacianCount; entry++) {
        diagonal[laplacian[entry].row] +=
            laplacian[entry].row == laplacian[entry].column ? laplacian[entry].value : 0.0;
    }
    for (int32_t v = 0; v < t->painted->vertexCount; v++) {
        for (int c = 0; c < 4 && t->weightSums[v] > 0.0; c++) {
            crowd[t->embedding->nodes[v][c]] += fabs(B(t, v, c));
        }
    }
    for (int32_t v = 0; v < t->painted->vertexCount; v++) {
        double around = 0.0, shared = 0.0;
        for (int c = 0; c < 4; c++) {
            around += fabs(B(t, v, c)) * diagonal[t->embedding->nodes[v][c]];
            shared += fabs(B(t, v, c)) * crowd[t->embedding->nodes[v][c]];
        }
        t->strengths[v] = t->weightSums[v] > 0.0 ? SKIN_STRENGTH * around / shared : 0.0;
    }
    return sr_success;
}

// Appends the lower triangle of B' D B.
static int32_t addSkin(const Transfer* t, srTriplet* triplets, int32_t count) {
    for (int32_t v = 0; v < t->painted->vertexCount; v++) {
        const int32_t* nodes = t->embedding->nodes[v];
        for (int a = 0; a < 4 && t->strengths[v] > 0.0; a++) {
            for (int b = 0; b < 4; b++) {
                if (nodes[a] >= nodes[b]) {
                    triplets[count++] =
                        (srTriplet){nodes[a], nodes[b], t->strengths[v] * B(t, v, a) * B(t, v, b)};
                }
            }
        }
    }
    return count;
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

static srResult assemble(Transfer* t, srCsc* outA) {
    int32_t cellCount = t->cage->cellCount, vertexCount = t->painted->vertexCount;
    int32_t laplacianCount = SR_LAPLACIAN_ENTRIES * cellCount;
    int64_t capacity = (int64_t)laplacianCount + 4 * (int64_t)cellCount + 10 * (int64_t)vertexCount;
    if (capacity > INT32_MAX) {
        return srFail(sr_errorTooLarge, "Too many cells and vertices for a transfer of weights.");
    }
    srTriplet* triplets = SR_ALLOC(srTriplet, capacity);
    if (triplets == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    srFillLaplacian(t->cage, triplets);
    srResult result = chooseStrengths(t, triplets, laplacianCount);
    if (result == sr_success) {
        int32_t count = addAnchor(triplets, laplacianCount, laplacianCount);
        count = addSkin(t, triplets, count);
        result = srCreateCsc(t->cage->nodeCount, t->cage->nodeCount, triplets, count, outA);
    }
    SR_FREE(triplets, capacity);
    return result;
}

// B' D p for the bones of a batch, one column each.
static void fillBatch(const Transfer* t, const int32_t* columnOf) {
    const srPaintedWeights* painted = t->painted;
    int32_t nodeCount = t->cage->nodeCount;
    memset(t->batch, 0, (size_t)nodeCount * BATCH_SIZE * sizeof(double));
    for (int32_t v = 0; v < painted->vertexCount; v++) {
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            int32_t column = columnOf[painted->bones[p]];
            if (column == SR_NULL_INDEX || t->strengths[v] <= 0.0) {
                continue;
            }
            double* b = t->batch + (size_t)column * (size_t)nodeCount;
            double share = t->strengths[v] * entryOf(painted, p) / t->weightSums[v];
            for (int c = 0; c < 4; c++) {
                b[t->embedding->nodes[v][c]] += share * B(t, v, c);
            }
        }
    }
}

static void storeBatch(const Transfer* t, const int32_t* bones, int32_t boneCount) {
    size_t nodeCount = (size_t)t->cage->nodeCount, rowLength = (size_t)t->painted->boneCount;
    for (int32_t column = 0; column < boneCount; column++) {
        for (size_t node = 0; node < nodeCount; node++) {
            t->rows[node * rowLength + (size_t)bones[column]] = t->batch[(size_t)column * nodeCount + node];
        }
    }
}

// Solves for used bones, a batch at a time; the columns of the others stay exactly zero.
static srResult solveBones(Transfer* t, srCholesky* factor) {
    int32_t boneCount = t->painted->boneCount;
    int32_t* columnOf = SR_PUSH(t->arena, int32_t, boneCount, "columns of bones");
    if (columnOf == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    for (int32_t bone = 0; bone < boneCount;) {
        int32_t bones[BATCH_SIZE];
        int32_t count = 0;
        memset(columnOf, 0xff, (size_t)boneCount * sizeof(int32_t)); // all SR_NULL_INDEX
        for (; bone < boneCount && count < BATCH_SIZE; bone++) {
            if (t->isUsed[bone]) {
                columnOf[bone] = count;
                bones[count++] = bone;
            }
        }
        fillBatch(t, columnOf);
        SR_TRY(srCholesky_Solve(factor, t->batch, count));
        storeBatch(t, bones, count);
    }
    return sr_success;
}

// Clamps a row and makes it sum to one; false when it says nothing.
static bool normalizeRow(double* row, int32_t boneCount) {
    double sum = 0.0;
    for (int32_t bone = 0; bone < boneCount; bone++) {
        row[bone] = row[bone] < 0.0 ? 0.0 : row[bone] > 1.0 ? 1.0 : row[bone];
        sum += row[bone];
    }
    if (!(sum > HEARD_SUM)) {
        return false;
    }
    for (int32_t bone = 0; bone < boneCount; bone++) {
        row[bone] /= sum;
    }
    return true;
}

static int32_t findNearestHeard(const srCage* cage, const uint8_t* isHeard, int32_t node) {
    int32_t nearest = 0;
    double best = HUGE_VAL;
    for (int32_t other = 0; other < cage->nodeCount; other++) {
        if (!isHeard[other]) {
            continue;
        }
        srVec3 d = srSub(cage->nodes[other], cage->nodes[node]);
        if (srDot(d, d) < best) {
            best = srDot(d, d);
            nearest = other;
        }
    }
    return nearest;
}

static srResult finishRows(Transfer* t, float* outWeights) {
    int32_t nodeCount = t->cage->nodeCount, boneCount = t->painted->boneCount;
    uint8_t* isHeard = SR_PUSH(t->arena, uint8_t, nodeCount, "nodes with weights");
    if (isHeard == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    for (int32_t node = 0; node < nodeCount; node++) {
        isHeard[node] = normalizeRow(t->rows + (size_t)node * (size_t)boneCount, boneCount);
    }
    for (int32_t node = 0; node < nodeCount; node++) {
        int32_t source = isHeard[node] ? node : findNearestHeard(t->cage, isHeard, node);
        for (int32_t bone = 0; bone < boneCount; bone++) {
            outWeights[(size_t)node * (size_t)boneCount + (size_t)bone] =
                (float)t->rows[(size_t)source * (size_t)boneCount + (size_t)bone];
        }
    }
    return sr_success;
}

static srResult allocateTransfer(Transfer* t) {
    size_t nodeCount = (size_t)t->cage->nodeCount, boneCount = (size_t)t->painted->boneCount;
    t->arena = srCreateArena(SCRATCH_SIZE);
    if (t->arena == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    t->strengths = SR_PUSH(t->arena, double, t->painted->vertexCount, "strengths");
    t->weightSums = SR_PUSH(t->arena, double, t->painted->vertexCount, "sums of painted weights");
    t->isUsed = SR_PUSH(t->arena, uint8_t, boneCount, "used bones");
    t->batch = SR_PUSH(t->arena, double, nodeCount* BATCH_SIZE, "columns");
    t->rows = srArena_Push(t->arena, nodeCount, boneCount * sizeof(double), "rows");
    if (t->strengths == NULL || t->weightSums == NULL || t->isUsed == NULL || t->batch == NULL ||
        t->rows == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    memset(t->rows, 0, nodeCount * boneCount * sizeof(double));
    return sr_success;
}

srResult srTransferWeights(const srCage* cage, const srEmbedding* embedding, const srPaintedWeights* painted,
                           float* outWeights) {
    SR_TRY(checkPainted(embedding, painted));
    if (painted->vertexCount < 1) {
        return srFail(sr_errorInvalidValue, "No vertex has a weight for any bone.");
    }
    srResult result = sr_success;
    srCsc A = {0};
    srCholesky* factor = NULL;
    Transfer t = {.cage = cage, .embedding = embedding, .painted = painted};
    SR_TRY_CLEANUP(allocateTransfer(&t));
    if (readPainted(&t) == 0) {
        result = srFail(sr_errorInvalidValue, "No vertex has a weight for any bone.");
        goto cleanup;
    }

    // L + B' D B, factored once
    SR_TRY_CLEANUP(assemble(&t, &A));
    SR_TRY_CLEANUP(srCreateCholesky(&A, &factor));

    // all bones, then rows that sum to one
    SR_TRY_CLEANUP(solveBones(&t, factor));
    SR_TRY_CLEANUP(finishRows(&t, outWeights));

cleanup:
    srDestroyCsc(&A);
    srDestroyCholesky(factor);
    srDestroyArena(t.arena);
    return result;
}
