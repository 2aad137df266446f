// SPDX-License-Identifier: GPL-3.0-or-later
//
// Q = K M^-1 K, the bilaplacian of mixed linear elements with lumped masses; A = Q + sum of samples alpha B'
// B over free nodes, b = sum of samples alpha B' v - (Q over fixed nodes) w. Rows of b sum to A 1: the
// columns of what solves without bounds sum to one by themselves.
//
// Metric: R = rho D, D proportional to M^(1/3) and of the sum of M, rho = 3 (2 pi)^4 (m/V)^(4/3) for m
// columns and a piece of volume V: the fourth power of the wave number at which m bones share it. Between 1
// and 10 instead of 3 steps are up to twice as many; with powers of M from 0 to 1 a third more at either end.

#include "weights/biharmonic_system.h"

#include "core/alloc.h"
#include "weights/laplacian.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define STIFFNESS_OF_METRIC 3.0

// ---- K and M ----

static void measureMasses(const srCage* cage, double volume, double* masses) {
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int c = 0; c < 4; c++) {
            masses[cage->cells[cell][c]] += 0.25 * srCellVolume(cage, cell) / volume;
        }
    }
}

// Rows of both triangles from the lower one.
static srResult mirror(const srCsc* lower, double scale, srStiffness* out) {
    int32_t n = out->nodeCount, entryCount = 2 * lower->columnStarts[n] - n;
    out->nodes = SR_ALLOC(int32_t, entryCount);
    out->values = SR_ALLOC(double, entryCount);
    int32_t* ends = SR_ALLOC(int32_t, n);
    if (out->nodes == NULL || out->values == NULL || ends == NULL) {
        SR_FREE(out->nodes, entryCount);
        SR_FREE(out->values, entryCount);
        SR_FREE(ends, n);
        out->nodes = NULL;
        out->values = NULL;
        return srFailOutOfMemory("weights");
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = lower->columnStarts[j]; e < lower->columnStarts[j + 1]; e++) {
            out->starts[j + 1]++;
            out->starts[lower->rows[e] + 1] += lower->rows[e] != j;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        out->starts[i + 1] += out->starts[i];
        ends[i] = out->starts[i];
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t e = lower->columnStarts[j]; e < lower->columnStarts[j + 1]; e++) {
            int32_t i = lower->rows[e];
            out->nodes[ends[j]] = i;
            out->values[ends[j]++] = scale * lower->values[e];
            if (i != j) {
                out->nodes[ends[i]] = j;
                out->values[ends[i]++] = scale * lower->values[e];
            }
        }
    }
    SR_FREE(ends, n);
    return sr_success;
}

static srResult checkStiffness(const srStiffness* s) {
    double check = 0.0;
    for (int32_t e = 0; e < s->starts[s->nodeCount]; e++) {
        check += 0.0 * (s->values[e] * s->values[e]);
    }
    for (int32_t i = 0; i < s->nodeCount; i++) {
        check += 0.0 / s->masses[i];
    }
    return check == 0.0
               ? sr_success
               : srFail(sr_errorBadMesh, "The cage has cells that are too flat to compute weights on.");
}

srResult srCreateStiffness(const srCage* cage, srStiffness* outStiffness) {
    srResult result = sr_success;
    int64_t tripletCount = (int64_t)SR_LAPLACIAN_ENTRIES * cage->cellCount;
    if (tripletCount > INT32_MAX) {
        return srFail(sr_errorTooLarge, "Too many cells to compute weights on.");
    }
    srStiffness s = {.nodeCount = cage->nodeCount};
    srCsc lower = {0};
    srTriplet* triplets = SR_ALLOC(srTriplet, tripletCount);
    s.starts = SR_ALLOC_ZERO(int32_t, cage->nodeCount + 1);
    s.masses = SR_ALLOC_ZERO(double, cage->nodeCount);
    if (triplets == NULL || s.starts == NULL || s.masses == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    double volume = 0.0;
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        volume += srCellVolume(cage, cell);
    }
    s.unit = cbrt(volume);
    srFillLaplacian(cage, triplets);
    SR_TRY_CLEANUP(srCreateCsc(cage->nodeCount, cage->nodeCount, triplets, (int32_t)tripletCount, &lower));
    measureMasses(cage, volume, s.masses);
    SR_TRY_CLEANUP(mirror(&lower, 1.0 / s.unit, &s));
    SR_TRY_CLEANUP(checkStiffness(&s));
    *outStiffness = s;

cleanup:
    SR_FREE(triplets, tripletCount);
    srDestroyCsc(&lower);
    if (result != sr_success) {
        srDestroyStiffness(&s);
    }
    return result;
}

void srDestroyStiffness(srStiffness* s) {
    int32_t entryCount = s->starts != NULL ? s->starts[s->nodeCount] : 0;
    SR_FREE(s->nodes, entryCount);
    SR_FREE(s->values, entryCount);
    SR_FREE(s->starts, s->nodeCount + 1);
    SR_FREE(s->masses, s->nodeCount);
    *s = (srStiffness){0};
}

// ---- which nodes ----

static int32_t findPiece(int32_t* pieces, int32_t node) {
    while (pieces[node] != node) {
        pieces[node] = pieces[pieces[node]];
        node = pieces[node];
    }
    return node;
}

static void findPieces(const srCage* cage, int32_t* pieces) {
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        pieces[i] = i;
    }
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        for (int c = 1; c < 4; c++) {
            int32_t a = findPiece(pieces, cage->cells[cell][0]), b = findPiece(pieces, cage->cells[cell][c]);
            pieces[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        pieces[i] = findPiece(pieces, i);
    }
}

static void hearPieces(const srAnchorRows* rows, srPieces* p) {
    for (int32_t k = 0; k < rows->sampleCount; k++) {
        p->isHeard[p->pieceOfNode[rows->samples[k].nodes[0]]] = true;
    }
    for (int32_t i = 0; i < p->nodeCount; i++) {
        p->isHeard[p->pieceOfNode[i]] = p->isHeard[p->pieceOfNode[i]] || rows->isFixed[i];
    }
    for (int32_t i = 0; i < p->nodeCount; i++) {
        p->orphanCount += p->pieceOfNode[i] == i && !p->isHeard[i];
    }
}

srResult srCreatePieces(const srCage* cage, const srAnchorRows* rows, srPieces* outPieces) {
    srPieces p = {.nodeCount = cage->nodeCount};
    p.pieceOfNode = SR_ALLOC(int32_t, p.nodeCount);
    p.isHeard = SR_ALLOC_ZERO(bool, p.nodeCount);
    if (p.pieceOfNode == NULL || p.isHeard == NULL) {
        srDestroyPieces(&p);
        return srFailOutOfMemory("weights");
    }
    findPieces(cage, p.pieceOfNode);
    hearPieces(rows, &p);
    *outPieces = p;
    return sr_success;
}

void srDestroyPieces(srPieces* p) {
    SR_FREE(p->pieceOfNode, p->nodeCount);
    SR_FREE(p->isHeard, p->nodeCount);
    *p = (srPieces){0};
}

// a column counts when it has a share of any sample or fixed node there
static void takeColumns(const srAnchorValue* value, srBiharmonicSystem* s) {
    for (int c = 0; c < 3; c++) {
        s->columnNumber[value->columns[c]] = 0;
    }
}

static void numberRows(const srAnchorRows* rows, const srPieces* pieces, int32_t piece,
                       srBiharmonicSystem* s) {
    for (int32_t j = 0; j < s->columnCount; j++) {
        s->columnNumber[j] = SR_NULL_INDEX;
    }
    for (int32_t k = 0; k < rows->sampleCount; k++) {
        if (pieces->pieceOfNode[rows->samples[k].nodes[0]] == piece) {
            takeColumns(&rows->samples[k].value, s);
        }
    }
    for (int32_t i = 0; i < s->nodeCount; i++) {
        bool isHere = pieces->pieceOfNode[i] == piece;
        s->rowOfNode[i] = isHere && !rows->isFixed[i] ? s->rowCount++ : SR_NULL_INDEX;
        if (isHere && rows->isFixed[i]) {
            takeColumns(&rows->fixedValues[i], s);
        }
    }
    for (int32_t j = 0; j < s->columnCount; j++) {
        if (s->columnNumber[j] == 0) {
            s->columns[s->problem.columnCount] = j;
            s->columnNumber[j] = s->problem.columnCount++;
        }
    }
}

// ---- A and b ----

// Entries of Q, and what fixed nodes give to b. Without `triplets` it counts.
static int64_t addBilaplacian(const srStiffness* K, const srAnchorRows* rows, srBiharmonicSystem* s,
                              srTriplet* triplets) {
    int64_t count = 0;
    for (int32_t k = 0; k < K->nodeCount; k++) {
        for (int32_t a = K->starts[k]; a < K->starts[k + 1]; a++) {
            int32_t i = s->rowOfNode[K->nodes[a]];
            for (int32_t b = K->starts[k]; i != SR_NULL_INDEX && b < K->starts[k + 1]; b++) {
                int32_t j = s->rowOfNode[K->nodes[b]];
                bool isEntry = j != SR_NULL_INDEX && j <= i;
                if (triplets == NULL) {
                    count += isEntry;
                    continue;
                }
                double value = K->values[a] * K->values[b] / K->masses[k];
                if (isEntry) {
                    triplets[count++] = (srTriplet){i, j, value};
                } else if (j == SR_NULL_INDEX) {
                    const srAnchorValue* fixed = &rows->fixedValues[K->nodes[b]];
                    for (int c = 0; c < 3; c++) {
                        s->loads[s->problem.columnCount * (int64_t)i + s->columnNumber[fixed->columns[c]]] -=
                            value * fixed->values[c];
                    }
                }
            }
        }
    }
    return count;
}

// The same of samples, of which a fixed node has its part.
static int64_t addSamples(const srStiffness* K, const srAnchorRows* rows, srBiharmonicSystem* s,
                          srTriplet* triplets) {
    int64_t count = 0;
    for (int32_t k = 0; k < rows->sampleCount; k++) {
        const srAnchorSample* sample = &rows->samples[k];
        double strength = K->unit * sample->strength;
        for (int a = 0; a < 4; a++) {
            int32_t i = s->rowOfNode[sample->nodes[a]];
            if (i == SR_NULL_INDEX || sample->weights[a] == 0.0) {
                continue;
            }
            double* load = s->loads + s->problem.columnCount * (int64_t)i;
            for (int c = 0; c < 3; c++) {
                load[s->columnNumber[sample->value.columns[c]]] +=
                    strength * sample->weights[a] * sample->value.values[c];
            }
            for (int b = 0; b < 4; b++) {
                int32_t j = s->rowOfNode[sample->nodes[b]];
                double value = strength * sample->weights[a] * sample->weights[b];
                if (j != SR_NULL_INDEX && j <= i) {
                    triplets[count++] = (srTriplet){i, j, value};
                } else if (j == SR_NULL_INDEX) {
                    const srAnchorValue* fixed = &rows->fixedValues[sample->nodes[b]];
                    for (int c = 0; c < 3; c++) {
                        load[s->columnNumber[fixed->columns[c]]] -= value * fixed->values[c];
                    }
                }
            }
        }
    }
    return count;
}

static srResult assemble(const srStiffness* K, const srAnchorRows* rows, srBiharmonicSystem* s) {
    int64_t room = addBilaplacian(K, rows, s, NULL) + 16 * (int64_t)rows->sampleCount + 1;
    if (room > INT32_MAX) {
        return srFail(sr_errorTooLarge, "Too many nodes to compute weights on.");
    }
    srTriplet* triplets = SR_ALLOC(srTriplet, room);
    if (triplets == NULL) {
        return srFailOutOfMemory("weights");
    }
    int64_t count = addBilaplacian(K, rows, s, triplets);
    count += addSamples(K, rows, s, triplets + count);
    srResult result = srCreateCsc(s->rowCount, s->rowCount, triplets, (int32_t)count, &s->problem.A);
    SR_FREE(triplets, room);
    return result;
}

static void fillMetric(const srCage* cage, const srStiffness* K, srBiharmonicSystem* s) {
    double sum = 0.0, volume = 0.0;
    for (int32_t i = 0; i < s->nodeCount; i++) {
        int32_t row = s->rowOfNode[i];
        if (row != SR_NULL_INDEX) {
            s->metric[row] = cbrt(K->masses[i]);
            s->places[row] = cage->nodes[i];
            sum += s->metric[row];
            volume += K->masses[i];
        }
    }
    double crowd = s->problem.columnCount / volume, waves = 4.0 * PI * PI * cbrt(crowd * crowd);
    for (int32_t row = 0; row < s->rowCount; row++) {
        s->metric[row] *= STIFFNESS_OF_METRIC * waves * waves * volume / sum;
    }
}

static srResult allocateRows(srBiharmonicSystem* s) {
    s->loads = SR_ALLOC_ZERO(double, (size_t)s->rowCount*(size_t)s->problem.columnCount);
    s->metric = SR_ALLOC(double, s->rowCount);
    s->places = SR_ALLOC(srVec3, s->rowCount);
    if (s->loads == NULL || s->metric == NULL || s->places == NULL) {
        return srFailOutOfMemory("weights");
    }
    s->problem.loads = s->loads;
    s->problem.metric = s->metric;
    s->problem.places = s->places;
    return sr_success;
}

srResult srCreateBiharmonicSystem(const srCage* cage, const srStiffness* stiffness, const srAnchorRows* rows,
                                  const srPieces* pieces, int32_t piece, int32_t columnCount,
                                  srBiharmonicSystem* outSystem) {
    srResult result = sr_success;
    srBiharmonicSystem s = {.nodeCount = cage->nodeCount, .columnCount = columnCount};
    s.rowOfNode = SR_ALLOC(int32_t, s.nodeCount);
    s.columns = SR_ALLOC(int32_t, columnCount);
    s.columnNumber = SR_ALLOC(int32_t, columnCount);
    if (s.rowOfNode == NULL || s.columns == NULL || s.columnNumber == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    numberRows(rows, pieces, piece, &s);
    if (s.rowCount > 0) {
        SR_TRY_CLEANUP(allocateRows(&s));
        SR_TRY_CLEANUP(assemble(stiffness, rows, &s));
        fillMetric(cage, stiffness, &s);
    }
    *outSystem = s;

cleanup:
    if (result != sr_success) {
        srDestroyBiharmonicSystem(&s);
    }
    return result;
}

void srTakeNodes(srBiharmonicSystem* s, int32_t* outNodes) {
    for (int32_t i = 0; i < s->nodeCount; i++) {
        if (s->rowOfNode[i] != SR_NULL_INDEX) {
            outNodes[s->rowOfNode[i]] = i;
        }
    }
    SR_FREE(s->rowOfNode, s->nodeCount);
    s->rowOfNode = NULL;
}

void srDestroyBiharmonicSystem(srBiharmonicSystem* s) {
    SR_FREE(s->loads, (size_t)s->rowCount * (size_t)s->problem.columnCount);
    SR_FREE(s->metric, s->rowCount);
    SR_FREE(s->places, s->rowCount);
    SR_FREE(s->rowOfNode, s->nodeCount);
    SR_FREE(s->columns, s->columnCount);
    SR_FREE(s->columnNumber, s->columnCount);
    srDestroyCsc(&s->problem.A);
    *s = (srBiharmonicSystem){0};
}
