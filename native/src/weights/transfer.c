// SPDX-License-Identifier: GPL-3.0-or-later
//
// One column a bone, spread over the cage a batch at a time; then rows that sum to one.

#include "weights/transfer.h"

#include "core/alloc.h"
#include "mesh/sort.h"
#include "weights/spread.h"

#include <math.h>
#include <string.h>

// Rows that sum to less are of parts of the cage where nobody says anything: they are filled afterwards.
#define HEARD_SUM 1e-3

// Bones solved at once
#define BATCH_SIZE 16

typedef struct Transfer {
    const srCage* cage;
    const srEmbedding* embedding;
    const srPaintedWeights* painted;
    srSpread* spread;
    const srProgress* progress; // may be null
    double* weightSums;         // of a vertex's painted weights
    uint8_t* isHeard;           // vertices that say something
    uint8_t* isUsed;            // bones that some vertex is painted for
    int32_t* columnOf;          // of a bone in the batch
    double* batch;              // columns being solved
    float* rows;                // the result: node by node, bone by bone
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

// Sums of painted weights and used bones; returns how many vertices say something.
static int32_t readPainted(Transfer* t) {
    const srPaintedWeights* painted = t->painted;
    int32_t heardCount = 0;
    memset(t->isUsed, 0, (size_t)painted->boneCount);
    for (int32_t v = 0; v < painted->vertexCount; v++) {
        t->weightSums[v] = 0.0;
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            t->weightSums[v] += srIsEmbedded(t->embedding, v) ? entryOf(painted, p) : 0.0;
        }
        t->isHeard[v] = t->weightSums[v] > 0.0;
        heardCount += t->isHeard[v];
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            t->isUsed[painted->bones[p]] |= t->isHeard[v] && entryOf(painted, p) > 0.0;
        }
    }
    return heardCount;
}

// What the skin says of the bones of a batch, one column each.
static void fillBatch(const Transfer* t) {
    const srPaintedWeights* painted = t->painted;
    size_t nodeCount = (size_t)t->cage->nodeCount;
    memset(t->batch, 0, nodeCount * BATCH_SIZE * sizeof(double));
    for (int32_t v = 0; v < painted->vertexCount; v++) {
        for (int32_t p = painted->vertexStarts[v]; p < painted->vertexStarts[v + 1]; p++) {
            int32_t column = t->columnOf[painted->bones[p]];
            if (column != SR_NULL_INDEX && t->isHeard[v]) {
                srSpread_Say(t->spread, v, entryOf(painted, p) / t->weightSums[v],
                             t->batch + (size_t)column * nodeCount);
            }
        }
    }
}

static void storeBatch(const Transfer* t, const int32_t* bones, int32_t boneCount) {
    size_t nodeCount = (size_t)t->cage->nodeCount, rowLength = (size_t)t->painted->boneCount;
    for (int32_t column = 0; column < boneCount; column++) {
        for (size_t node = 0; node < nodeCount; node++) {
            double w = t->batch[(size_t)column * nodeCount + node];
            t->rows[node * rowLength + (size_t)bones[column]] = (float)(w < 0.0 ? 0.0 : w > 1.0 ? 1.0 : w);
        }
    }
}

static srResult tellProgress(const Transfer* t, double fraction) {
    return t->progress != NULL ? srReportProgress(t->progress, fraction) : sr_success;
}

// Solves for used bones, a batch at a time; the columns of the others stay exactly zero.
static srResult solveBones(Transfer* t) {
    int32_t boneCount = t->painted->boneCount;
    memset(t->rows, 0, (size_t)t->cage->nodeCount * (size_t)boneCount * sizeof(float));
    for (int32_t bone = 0; bone < boneCount;) {
        int32_t bones[BATCH_SIZE];
        int32_t count = 0;
        memset(t->columnOf, 0xff, (size_t)boneCount * sizeof(int32_t)); // all SR_NULL_INDEX
        for (; bone < boneCount && count < BATCH_SIZE; bone++) {
            if (t->isUsed[bone]) {
                t->columnOf[bone] = count;
                bones[count++] = bone;
            }
        }
        SR_TRY(tellProgress(t, 0.5 + 0.5 * (double)bone / boneCount));
        fillBatch(t);
        SR_TRY(srSpread_Solve(t->spread, t->batch, count));
        storeBatch(t, bones, count);
    }
    return sr_success;
}

// Makes a row sum to one; false when it says nothing.
static bool normalizeRow(float* row, int32_t boneCount) {
    double sum = 0.0;
    for (int32_t bone = 0; bone < boneCount; bone++) {
        sum += (double)row[bone];
    }
    for (int32_t bone = 0; bone < boneCount && sum > HEARD_SUM; bone++) {
        row[bone] = (float)((double)row[bone] / sum);
    }
    return sum > HEARD_SUM;
}

// Bits that ascend with the number.
static uint64_t keyOf(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

// The heard node nearest to another: from its place among all by x, outwards until x alone is farther.
static int32_t findNearest(const srCage* cage, const srKeyed* heard, int32_t heardCount, int32_t node) {
    srVec3 p = cage->nodes[node];
    int32_t above = 0, end = heardCount;
    while (above < end) {
        int32_t middle = above + (end - above) / 2;
        bool isBelow = heard[middle].key < keyOf(p.x);
        above = isBelow ? middle + 1 : above;
        end = isBelow ? end : middle;
    }
    int32_t nearest = 0, below = above - 1;
    double best = HUGE_VAL;
    while (below >= 0 || above < heardCount) {
        double down = below >= 0 ? p.x - cage->nodes[heard[below].value].x : HUGE_VAL;
        double up = above < heardCount ? cage->nodes[heard[above].value].x - p.x : HUGE_VAL;
        if (fmin(down, up) * fmin(down, up) > best) {
            break;
        }
        int32_t other = down < up ? heard[below--].value : heard[above++].value;
        srVec3 d = srSub(cage->nodes[other], p);
        double squared = srDot(d, d);
        bool isNearer = squared < best || (squared == best && other < nearest);
        nearest = isNearer ? other : nearest;
        best = isNearer ? squared : best;
    }
    return nearest;
}

// A part of the cage without painted skin is connected to nothing that has some: there nearness is all that
// is left.
static srResult fillUnheard(Transfer* t, const uint8_t* isHeard, int32_t heardCount) {
    int32_t nodeCount = t->cage->nodeCount;
    size_t rowLength = (size_t)t->painted->boneCount;
    srKeyed* heard = SR_ALLOC(srKeyed, heardCount);
    srKeyed* scratch = SR_ALLOC(srKeyed, heardCount);
    srResult result = sr_success;
    if (heard == NULL || scratch == NULL) {
        result = srFailOutOfMemory("the transfer of weights");
        goto cleanup;
    }
    int32_t count = 0;
    for (int32_t node = 0; node < nodeCount; node++) {
        if (isHeard[node]) {
            heard[count++] = (srKeyed){keyOf(t->cage->nodes[node].x), node};
        }
    }
    srSortKeyed(heard, scratch, count);
    for (int32_t node = 0; node < nodeCount; node++) {
        if (!isHeard[node]) {
            int32_t source = findNearest(t->cage, heard, count, node);
            memcpy(t->rows + (size_t)node * rowLength, t->rows + (size_t)source * rowLength,
                   rowLength * sizeof(float));
        }
    }

cleanup:
    SR_FREE(heard, heardCount);
    SR_FREE(scratch, heardCount);
    return result;
}

static srResult finishRows(Transfer* t) {
    int32_t nodeCount = t->cage->nodeCount, heardCount = 0;
    uint8_t* isHeard = SR_ALLOC(uint8_t, nodeCount);
    if (isHeard == NULL) {
        return srFailOutOfMemory("the transfer of weights");
    }
    for (int32_t node = 0; node < nodeCount; node++) {
        isHeard[node] =
            normalizeRow(t->rows + (size_t)node * (size_t)t->painted->boneCount, t->painted->boneCount);
        heardCount += isHeard[node];
    }
    srResult result =
        heardCount < nodeCount && heardCount > 0 ? fillUnheard(t, isHeard, heardCount) : sr_success;
    SR_FREE(isHeard, nodeCount);
    return result;
}

static srResult allocateTransfer(Transfer* t) {
    t->weightSums = SR_ALLOC(double, t->painted->vertexCount);
    t->isHeard = SR_ALLOC(uint8_t, t->painted->vertexCount);
    t->isUsed = SR_ALLOC(uint8_t, t->painted->boneCount);
    t->columnOf = SR_ALLOC(int32_t, t->painted->boneCount);
    t->batch = SR_ALLOC(double, (size_t)t->cage->nodeCount* BATCH_SIZE);
    bool complete = t->weightSums != NULL && t->isHeard != NULL && t->isUsed != NULL && t->columnOf != NULL &&
                    t->batch != NULL;
    return complete ? sr_success : srFailOutOfMemory("the transfer of weights");
}

static void freeTransfer(Transfer* t) {
    SR_FREE(t->weightSums, t->painted->vertexCount);
    SR_FREE(t->isHeard, t->painted->vertexCount);
    SR_FREE(t->isUsed, t->painted->boneCount);
    SR_FREE(t->columnOf, t->painted->boneCount);
    SR_FREE(t->batch, (size_t)t->cage->nodeCount * BATCH_SIZE);
    srDestroySpread(t->spread);
}

srResult srTransferWeights(const srCage* cage, const srEmbedding* embedding, const srPaintedWeights* painted,
                           const srProgress* progress, float* outWeights) {
    SR_TRY(checkPainted(embedding, painted));
    if (painted->vertexCount < 1) {
        return srFail(sr_errorInvalidValue, "No vertex has a weight for any bone.");
    }
    srResult result = sr_success;
    Transfer t = {
        .cage = cage, .embedding = embedding, .painted = painted, .progress = progress, .rows = outWeights};
    SR_TRY_CLEANUP(allocateTransfer(&t));
    if (readPainted(&t) == 0) {
        result = srFail(sr_errorInvalidValue, "No vertex has a weight for any bone.");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateSpread(cage, embedding, t.isHeard, progress, &t.spread));
    SR_TRY_CLEANUP(solveBones(&t));
    SR_TRY_CLEANUP(finishRows(&t));

cleanup:
    freeTransfer(&t);
    return result;
}
