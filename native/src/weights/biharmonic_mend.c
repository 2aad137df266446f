// SPDX-License-Identifier: GPL-3.0-or-later
//
// Of one row the energy is a |w|^2 / 2 + g' w with the same a for all columns, a = sum_k K_ik^2 / M_k + sum
// of samples alpha b_i^2; so its least place among what is allowed is the nearest one to w - g / a. K w is
// kept for the rows around and changes with each row that moves: g = K M^-1 (K w) + what samples pull.

#include "weights/biharmonic_mend.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

#define RING_COUNT 3
#define SWEEP_LIMIT 40  // there and back
#define LEAST_MOVE 1e-4 // of any weight in a sweep
#define SHIFT_LIMIT 60

typedef struct Mending {
    const srStiffness* K;
    const srAnchorRows* rows;
    const srPieces* pieces;
    int32_t columnCount;
    const float* ceilings;
    float* weights;
    int32_t* slots; // of nodes whose slope is kept, or SR_NULL_INDEX
    int32_t* kept;  // those nodes: first the ones that move
    int32_t movedCount;
    int32_t keptCount;
    double* slopes;        // K w, slot by slot
    int32_t* sampleStarts; // by slot of what moves, movedCount + 1
    int32_t* samples;
    int32_t sampleCount; // in those lists
    double *wanted, *before;
    bool* isNear;
} Mending;

static float* rowOf(const Mending* m, int32_t node) {
    return m->weights + m->columnCount * (int64_t)node;
}

static const float* ceilingOf(const Mending* m, int32_t node) {
    return m->ceilings + m->columnCount * (int64_t)node;
}

// ---- who moves ----

static bool mayMove(const Mending* m, int32_t node) {
    return !m->rows->isFixed[node] && m->pieces->isHeard[m->pieces->pieceOfNode[node]];
}

static void keep(Mending* m, int32_t node) {
    if (m->slots[node] == SR_NULL_INDEX) {
        m->slots[node] = m->keptCount;
        m->kept[m->keptCount++] = node;
    }
}

static void keepNeighbours(Mending* m, int32_t node, bool wantsAll) {
    for (int32_t e = m->K->starts[node]; e < m->K->starts[node + 1]; e++) {
        if (wantsAll || mayMove(m, m->K->nodes[e])) {
            keep(m, m->K->nodes[e]);
        }
    }
}

static void findRows(Mending* m) {
    for (int32_t i = 0; i < m->K->nodeCount; i++) {
        bool isCut = false;
        for (int32_t j = 0; mayMove(m, i) && j < m->columnCount; j++) {
            isCut = isCut || ceilingOf(m, i)[j] < 1.0f;
        }
        m->slots[i] = SR_NULL_INDEX;
        if (isCut) {
            keep(m, i);
        }
    }
    for (int32_t ring = 0, first = 0; ring < RING_COUNT; ring++) {
        for (int32_t end = m->keptCount; first < end; first++) {
            keepNeighbours(m, m->kept[first], false);
        }
    }
    m->movedCount = m->keptCount;
    for (int32_t s = 0; s < m->movedCount; s++) {
        keepNeighbours(m, m->kept[s], true);
    }
}

// Without `ends` it counts.
static void listSamples(Mending* m, int32_t* ends) {
    for (int32_t k = 0; k < m->rows->sampleCount; k++) {
        const srAnchorSample* sample = &m->rows->samples[k];
        for (int c = 0; c < 4; c++) {
            int32_t slot = m->slots[sample->nodes[c]];
            bool isMoved = slot != SR_NULL_INDEX && slot < m->movedCount && sample->weights[c] != 0.0;
            if (isMoved && ends == NULL) {
                m->sampleStarts[slot + 1]++;
            } else if (isMoved) {
                m->samples[ends[slot]++] = 4 * k + c;
            }
        }
    }
}

static srResult prepare(Mending* m) {
    int32_t n = m->K->nodeCount, columns = m->columnCount;
    m->slots = SR_ALLOC(int32_t, n);
    m->kept = SR_ALLOC(int32_t, n);
    m->wanted = SR_ALLOC(double, columns);
    m->before = SR_ALLOC(double, columns);
    m->isNear = SR_ALLOC(bool, columns);
    if (m->slots == NULL || m->kept == NULL || m->wanted == NULL || m->before == NULL || m->isNear == NULL) {
        return srFailOutOfMemory("weights");
    }
    findRows(m);
    if (m->keptCount == 0) {
        return sr_success; // nothing has a ceiling
    }
    m->slopes = SR_ALLOC_ZERO(double, (size_t)m->keptCount*(size_t)columns);
    m->sampleStarts = SR_ALLOC_ZERO(int32_t, m->movedCount + 1);
    int32_t* ends = SR_ALLOC(int32_t, m->movedCount);
    if (m->slopes == NULL || m->sampleStarts == NULL || ends == NULL) {
        SR_FREE(ends, m->movedCount);
        return srFailOutOfMemory("weights");
    }
    listSamples(m, NULL);
    for (int32_t s = 0; s < m->movedCount; s++) {
        m->sampleStarts[s + 1] += m->sampleStarts[s];
        ends[s] = m->sampleStarts[s];
    }
    m->sampleCount = m->sampleStarts[m->movedCount];
    m->samples = SR_ALLOC(int32_t, m->sampleCount + 1); // there may be none around
    srResult result = m->samples != NULL ? sr_success : srFailOutOfMemory("weights");
    if (result == sr_success) {
        listSamples(m, ends);
    }
    SR_FREE(ends, m->movedCount);
    return result;
}

static void release(Mending* m) {
    SR_FREE(m->slots, m->K->nodeCount);
    SR_FREE(m->kept, m->K->nodeCount);
    SR_FREE(m->wanted, m->columnCount);
    SR_FREE(m->before, m->columnCount);
    SR_FREE(m->isNear, m->columnCount);
    SR_FREE(m->slopes, (size_t)m->keptCount * (size_t)m->columnCount);
    SR_FREE(m->sampleStarts, m->movedCount + 1);
    SR_FREE(m->samples, m->sampleCount + 1);
}

// ---- one row ----

static void fillSlopes(Mending* m) {
    for (int32_t s = 0; s < m->keptCount; s++) {
        int32_t node = m->kept[s];
        double* slope = m->slopes + m->columnCount * (int64_t)s;
        for (int32_t e = m->K->starts[node]; e < m->K->starts[node + 1]; e++) {
            const float* row = rowOf(m, m->K->nodes[e]);
            for (int32_t j = 0; j < m->columnCount; j++) {
                slope[j] += m->K->values[e] * (double)row[j];
            }
        }
    }
}

// Adds a sample's part of g to `wanted`; returns its part of a.
static double addPull(const Mending* m, int32_t entry) {
    const srAnchorSample* sample = &m->rows->samples[entry / 4];
    double share = sample->weights[entry % 4], pull = m->K->unit * sample->strength * share;
    for (int c = 0; c < 4; c++) {
        const float* row = rowOf(m, sample->nodes[c]);
        for (int32_t j = 0; j < m->columnCount; j++) {
            m->wanted[j] += pull * sample->weights[c] * (double)row[j];
        }
    }
    for (int c = 0; c < 3; c++) {
        m->wanted[sample->value.columns[c]] -= pull * sample->value.values[c];
    }
    return pull * share;
}

// A column that no neighbour has is one of another piece, and no slack.
static void findNear(const Mending* m, int32_t node) {
    memset(m->isNear, 0, (size_t)m->columnCount * sizeof(bool));
    for (int32_t e = m->K->starts[node]; e < m->K->starts[node + 1]; e++) {
        const float* row = rowOf(m, m->K->nodes[e]);
        for (int32_t j = 0; j < m->columnCount; j++) {
            m->isNear[j] = m->isNear[j] || row[j] > 0.0f;
        }
    }
}

static double bound(const Mending* m, const float* ceilings, int32_t column, double shift) {
    double most = m->isNear[column] ? (double)ceilings[column] : 0.0;
    return fmin(fmax(m->wanted[column] - shift, 0.0), most);
}

// The nearest allowed row: all columns shifted alike. Their sum falls with the shift, piece by piece
// straight.
static double findShift(const Mending* m, const float* ceilings) {
    double low = INFINITY, high = -(double)INFINITY, shift = 0.0;
    for (int32_t j = 0; j < m->columnCount; j++) {
        low = fmin(low, m->wanted[j] - 1.0);
        high = fmax(high, m->wanted[j]);
    }
    for (int k = 0; k < SHIFT_LIMIT; k++) {
        double sum = 0.0, slope = 0.0;
        for (int32_t j = 0; j < m->columnCount; j++) {
            double w = bound(m, ceilings, j, shift), free = m->wanted[j] - shift;
            sum += w;
            slope += w == free && w > 0.0;
        }
        if (fabs(sum - 1.0) < 1e-12) {
            break;
        }
        low = sum > 1.0 ? fmax(low, shift) : low;
        high = sum < 1.0 ? fmin(high, shift) : high;
        double next = slope > 0.0 ? shift + (sum - 1.0) / slope : 0.5 * (low + high);
        shift = next > low && next < high ? next : 0.5 * (low + high);
    }
    return shift;
}

// Returns how far the weight went that moved most.
static double moveRow(Mending* m, int32_t slot) {
    const srStiffness* K = m->K;
    int32_t node = m->kept[slot];
    float* row = rowOf(m, node);
    double a = 0.0, most = 0.0;
    memset(m->wanted, 0, (size_t)m->columnCount * sizeof(double));
    for (int32_t e = K->starts[node]; e < K->starts[node + 1]; e++) {
        double value = K->values[e] / K->masses[K->nodes[e]];
        const double* slope = m->slopes + m->columnCount * (int64_t)m->slots[K->nodes[e]];
        a += K->values[e] * value;
        for (int32_t j = 0; j < m->columnCount; j++) {
            m->wanted[j] += value * slope[j];
        }
    }
    for (int32_t e = m->sampleStarts[slot]; e < m->sampleStarts[slot + 1]; e++) {
        a += addPull(m, m->samples[e]);
    }
    findNear(m, node);
    for (int32_t j = 0; j < m->columnCount; j++) {
        m->before[j] = (double)row[j];
        m->wanted[j] = m->before[j] - m->wanted[j] / a;
    }
    double shift = findShift(m, ceilingOf(m, node));
    for (int32_t j = 0; j < m->columnCount; j++) {
        row[j] = (float)bound(m, ceilingOf(m, node), j, shift);
        m->before[j] = (double)row[j] - m->before[j];
        most = fmax(most, fabs(m->before[j]));
    }
    for (int32_t e = K->starts[node]; e < K->starts[node + 1]; e++) {
        double* slope = m->slopes + m->columnCount * (int64_t)m->slots[K->nodes[e]];
        for (int32_t j = 0; j < m->columnCount; j++) {
            slope[j] += K->values[e] * m->before[j];
        }
    }
    return most;
}

srResult srMendRows(const srStiffness* stiffness, const srAnchorRows* rows, const srPieces* pieces,
                    int32_t columnCount, const float* ceilings, float* weights) {
    Mending m = {.K = stiffness,
                 .rows = rows,
                 .pieces = pieces,
                 .columnCount = columnCount,
                 .ceilings = ceilings,
                 .weights = weights};
    srResult result = prepare(&m);
    if (result == sr_success) {
        fillSlopes(&m);
        double most = 1.0;
        for (int sweep = 0; sweep < SWEEP_LIMIT && most > LEAST_MOVE; sweep++) {
            most = 0.0;
            for (int32_t s = 0; s < m.movedCount; s++) {
                int32_t slot = sweep % 2 == 0 ? s : m.movedCount - 1 - s;
                most = fmax(most, moveRow(&m, slot));
            }
        }
    }
    release(&m);
    return result;
}
