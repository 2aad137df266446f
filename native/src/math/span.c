// SPDX-License-Identifier: GPL-3.0-or-later
//
// Columns S = [summary, newcomers]. With S' S = V diag(e) V' the columns of S V are at right angles and have
// the squared lengths e: those of the largest e are the next summary, and the rest is what it loses. V comes
// from Jacobi's rotations, which find small eigenvalues to relative precision.

#include "math/span.h"

#include "core/alloc.h"
#include "core/parallel.h"

#include <string.h>

enum {
    columnRoom = SR_SPAN_SUMMARY + SR_SPAN_NEWCOMERS,
    vectorRoom = SR_SPAN_FIXED + SR_SPAN_LARGEST
};

#define NODES_PER_BLOCK 256
#define MOST_SWEEPS 30
#define RIGHT_ANGLE 1e-15   // cosine, of two columns
#define LEAST_SUMMARY 1e-14 // of the largest squared length: what is below is rounding
#define LEAST_FIXED 1e-9    // of its length, that a fixed vector has beside the others

static double dot(const double* x, const double* y, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static double* columnOf(const srSpan* span, int32_t column) {
    return span->columns + (size_t)column * (size_t)span->nodeCount;
}

static double* vectorOf(const srSpan* span, int32_t vector) {
    return span->vectors + (size_t)vector * (size_t)span->nodeCount;
}

srResult srCreateSpan(const double* masses, int32_t nodeCount, srSpan* outSpan) {
    size_t n = (size_t)nodeCount;
    srSpan span = {
        .nodeCount = nodeCount,
        .vectors = SR_ALLOC_ZERO(double, vectorRoom* n),
        .roots = SR_ALLOC(double, n),
        .columns = SR_ALLOC(double, columnRoom* n),
        .products = SR_ALLOC(double, columnRoom* columnRoom),
        .turns = SR_ALLOC(double, columnRoom* columnRoom),
    };
    *outSpan = span;
    if (span.vectors == NULL || span.roots == NULL || span.columns == NULL || span.products == NULL ||
        span.turns == NULL) {
        srDestroySpan(outSpan);
        return srFailOutOfMemory("the space of a motion");
    }
    for (size_t i = 0; i < n; ++i) {
        span.roots[i] = sqrt(masses[i]);
    }
    return sr_success;
}

void srDestroySpan(srSpan* span) {
    size_t n = (size_t)span->nodeCount;
    SR_FREE(span->vectors, vectorRoom * n);
    SR_FREE(span->roots, n);
    SR_FREE(span->columns, columnRoom * n);
    SR_FREE(span->products, columnRoom * columnRoom);
    SR_FREE(span->turns, columnRoom * columnRoom);
    *span = (srSpan){0};
}

void srSpan_Clear(srSpan* span) {
    span->fixedCount = span->vectorCount = 0;
    span->summaryCount = span->columnCount = 0;
    span->total = span->lost = span->left = 0.0;
}

// x -= what the fixed vectors have of it; twice, because once leaves rounding of what went
static void deflate(const srSpan* span, double* x) {
    for (int32_t pass = 0; pass < 2; ++pass) {
        for (int32_t k = 0; k < span->fixedCount; ++k) {
            const double* fixed = vectorOf(span, k);
            double share = dot(fixed, x, span->nodeCount);
            for (int32_t i = 0; i < span->nodeCount; ++i) {
                x[i] -= share * fixed[i];
            }
        }
    }
}

// Fixed vectors stand times the roots until the end.
static void fix(srSpan* span, double* x) {
    double before = sqrt(dot(x, x, span->nodeCount));
    deflate(span, x);
    double length = sqrt(dot(x, x, span->nodeCount));
    if (!(length > LEAST_FIXED * before)) {
        return;
    }
    for (int32_t i = 0; i < span->nodeCount; ++i) {
        x[i] /= length;
    }
    span->fixedCount += 1;
}

void srSpan_FixAffine(srSpan* span, const srVec3* places) {
    SR_ASSERT(span->fixedCount == 0 && span->columnCount == 0);
    // 1 comes first, so that coordinates lose their origin at once
    for (int32_t c = 0; c < SR_SPAN_FIXED; ++c) {
        double* x = vectorOf(span, span->fixedCount);
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            const double columns[SR_SPAN_FIXED] = {1.0, places[i].x, places[i].y, places[i].z};
            x[i] = span->roots[i] * columns[c];
        }
        fix(span, x);
    }
}

static void multiplyRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const srSpan* span = context;
    for (int32_t r = begin; r < end; ++r) {
        for (int32_t c = 0; c <= r; ++c) {
            double product = dot(columnOf(span, r), columnOf(span, c), span->nodeCount);
            span->products[r * columnRoom + c] = span->products[c * columnRoom + r] = product;
        }
    }
}

// columns (and rows) p and q of a matrix of which A[p][q] shall vanish (Rutishauser 1966)
static void rotate(double* A, double* V, int32_t count, int32_t p, int32_t q) {
    double app = A[p * columnRoom + p], aqq = A[q * columnRoom + q], apq = A[p * columnRoom + q];
    double theta = 0.5 * (aqq - app) / apq;
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int32_t k = 0; k < count; ++k) {
        double *akp = &A[k * columnRoom + p], *akq = &A[k * columnRoom + q];
        double x = *akp, y = *akq;
        *akp = c * x - s * y;
        *akq = s * x + c * y;
        double *vkp = &V[p * columnRoom + k], *vkq = &V[q * columnRoom + k];
        x = *vkp, y = *vkq;
        *vkp = c * x - s * y;
        *vkq = s * x + c * y;
    }
    for (int32_t k = 0; k < count; ++k) {
        double *apk = &A[p * columnRoom + k], *aqk = &A[q * columnRoom + k];
        double x = *apk, y = *aqk;
        *apk = c * x - s * y;
        *aqk = s * x + c * y;
    }
    A[p * columnRoom + p] = app - t * apq;
    A[q * columnRoom + q] = aqq + t * apq;
    A[p * columnRoom + q] = A[q * columnRoom + p] = 0.0;
}

// eigenvalues onto the diagonal of A, eigenvectors into rows of V
static void diagonalize(double* A, double* V, int32_t count) {
    for (int32_t r = 0; r < count; ++r) {
        for (int32_t c = 0; c < count; ++c) {
            V[r * columnRoom + c] = r == c ? 1.0 : 0.0;
        }
    }
    bool isDone = false;
    for (int32_t sweep = 0; sweep < MOST_SWEEPS && !isDone; ++sweep) {
        isDone = true;
        for (int32_t p = 0; p < count; ++p) {
            for (int32_t q = p + 1; q < count; ++q) {
                double limit = sqrt(fabs(A[p * columnRoom + p])) * sqrt(fabs(A[q * columnRoom + q]));
                if (fabs(A[p * columnRoom + q]) > RIGHT_ANGLE * limit) {
                    rotate(A, V, count, p, q);
                    isDone = false;
                }
            }
        }
    }
}

typedef struct Summing {
    srSpan* span;
    int32_t chosen[columnRoom]; // rows of the turns, largest first
    int32_t count;
} Summing;

static void combineRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Summing* summing = context;
    const srSpan* span = summing->span;
    for (int32_t i = begin; i < end; ++i) {
        double row[columnRoom], sums[columnRoom];
        for (int32_t c = 0; c < span->columnCount; ++c) {
            row[c] = columnOf(span, c)[i];
        }
        for (int32_t k = 0; k < summing->count; ++k) {
            sums[k] = dot(span->turns + summing->chosen[k] * columnRoom, row, span->columnCount);
        }
        for (int32_t k = 0; k < summing->count; ++k) {
            columnOf(span, k)[i] = sums[k];
        }
    }
}

static double lengthOf(const srSpan* span, int32_t column) {
    double length = span->products[column * columnRoom + column];
    return length > 0.0 ? length : 0.0;
}

// all columns become `most` or fewer at right angles, longest first; squared lengths on the products'
// diagonal
static void summarize(srSpan* span, int32_t most) {
    srParallelFor(multiplyRange, span->columnCount, 1, span);
    diagonalize(span->products, span->turns, span->columnCount);
    Summing summing = {.span = span};
    bool isTaken[columnRoom] = {false};
    double lengths[columnRoom];
    for (int32_t k = 0; k < span->columnCount; ++k) {
        int32_t longest = SR_NULL_INDEX;
        for (int32_t c = 0; c < span->columnCount; ++c) {
            bool isLonger = longest == SR_NULL_INDEX || lengthOf(span, c) > lengthOf(span, longest);
            longest = !isTaken[c] && isLonger ? c : longest;
        }
        isTaken[longest] = true;
        summing.chosen[k] = longest;
        lengths[k] = lengthOf(span, longest);
        bool isWorth = k < most && lengths[k] > LEAST_SUMMARY * lengths[0];
        summing.count += isWorth;
        span->lost += isWorth ? 0.0 : lengths[k];
    }
    srParallelFor(combineRange, span->nodeCount, NODES_PER_BLOCK, &summing);
    for (int32_t k = 0; k < summing.count; ++k) {
        span->products[k * columnRoom + k] = lengths[k];
    }
    span->summaryCount = span->columnCount = summing.count;
}

void srSpan_AddPlaces(srSpan* span, const srVec3* places, double least, double most) {
    if (span->columnCount + 3 > span->summaryCount + SR_SPAN_NEWCOMERS) {
        summarize(span, SR_SPAN_SUMMARY);
    }
    double squared = 0.0;
    for (int32_t c = 0; c < 3; ++c) {
        double* column = columnOf(span, span->columnCount + c);
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            const double x[3] = {places[i].x, places[i].y, places[i].z};
            column[i] = span->roots[i] * x[c];
        }
        deflate(span, column);
        squared += dot(column, column, span->nodeCount);
    }
    if (!(squared - squared == 0.0) || !(squared > least * least)) {
        return;
    }
    double factor = squared > most * most ? most / sqrt(squared) : 1.0;
    double* columns = columnOf(span, span->columnCount);
    for (size_t i = 0; factor < 1.0 && i < 3 * (size_t)span->nodeCount; ++i) {
        columns[i] *= factor;
    }
    span->total += factor * factor * squared;
    span->columnCount += 3;
}

void srSpan_Finish(srSpan* span, double part) {
    if (span->columnCount > 0) {
        summarize(span, SR_SPAN_SUMMARY);
    }
    double left = span->lost;
    for (int32_t k = 0; k < span->summaryCount; ++k) {
        left += lengthOf(span, k);
    }
    int32_t count = 0;
    for (; count < span->summaryCount && count < SR_SPAN_LARGEST && left > part * part * span->total;
         ++count) {
        double length = lengthOf(span, count);
        double* vector = vectorOf(span, span->fixedCount + count);
        memcpy(vector, columnOf(span, count), (size_t)span->nodeCount * sizeof(double));
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            vector[i] /= sqrt(length);
        }
        left -= length;
    }
    span->vectorCount = span->fixedCount + count;
    span->left = span->total > 0.0 && left > 0.0 ? sqrt(left / span->total) : 0.0;
    for (int32_t k = 0; k < span->vectorCount; ++k) {
        double* vector = vectorOf(span, k);
        for (int32_t i = 0; i < span->nodeCount; ++i) {
            vector[i] = span->roots[i] > 0.0 ? vector[i] / span->roots[i] : 0.0;
        }
    }
}
