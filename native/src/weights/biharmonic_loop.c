// SPDX-License-Identifier: GPL-3.0-or-later
//
// Douglas-Rachford splitting with Anderson acceleration.
//
// With P the projection of each row onto the simplex and R = rho D the metric, one step from s is
//     z = P s,   (A + R) x = R (2 z - s) + b,   s <- s + x - z.
// R (s - z) is normal to the simplex at z, so at any time the equation of x reads
//     A x - b + R (s - z) = -R (x - z) :
// x - z is the one residual, of feasibility and, times R, of the forces (Eckstein and Bertsekas 1992). Steps
// are mixed (type II; Walker and Ni 2011): s <- g - sum_q gamma_q dg_q, gamma the least squares solution of
// r = sum_q gamma_q dr_q in the metric, where r = x - z, g = s + r, and d is from step to step. Mixing is no
// contraction: where the residual grows far beyond its least so far, it begins anew from a plain step.
//
// Steps are in float, because their solves are bound by memory. At the end x is refined in double against the
// matrix, so the residuals that are told are true ones.

#include "weights/biharmonic_loop.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/cholesky.h"
#include "math/dissect.h"
#include "math/factor.h"
#include "weights/biharmonic_kernels.h"
#include "weights/biharmonic_row.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 256
#define LANES_AT_ONCE 24
#define ARRAY_COUNT (6 + 2 * SR_BIHARMONIC_MEMORY)

// How tiny the metric's share is in the matrix of the first guess: for pieces that hang on a hair.
#define GUESS_SHARE 1e-9

#define FLOAT_TOLERANCE 1e-5 // below it floats do not get
#define EARLY 0.9            // how far below the tolerance steps go, for the sake of refinement
#define ASTRAY 4.0           // times the least residual
#define MOST_RESTARTS 30     // then plain steps to the end
#define PATIENCE 300         // steps without a tenth of progress, in float
#define REFINEMENTS 4
#define UNBOUND 1e-6       // where bounds bind less, |D^-1 n|^2 is no measure
#define DISSECTED_FROM 560 // entries a row

struct srSimplexLoop {
    const srSimplexProblem* problem;
    const srSimplexSettings* settings; // of this turn
    bool isRough;
    const double* ceilings;
    srProgress progress;
    int32_t size;
    int32_t width;
    bool isDouble;
    srCsc shifted; // A + R
    srCholesky* cholesky;
    srFactor factor;
    srBiharmonicArrays arrays;
    void* block; // of all arrays
    size_t blockCount;
    void* scratch; // of all workers
    size_t scratchCount, scratchEach;
    double* sums; // of all blocks of rows
    int32_t blockOfRows;
    double* state; // s in double, in the problem's order
    bool* isBound; // by row of the problem: it has a ceiling below one
    double* rows;  // two for each worker
    int32_t workerCount;
    double products[SR_BIHARMONIC_MEMORY][SR_BIHARMONIC_MEMORY];
    double shares[SR_BIHARMONIC_MEMORY];
    double stepSums[SR_BIHARMONIC_SUMS]; // of the last step,
    bool isStepped;                      // which was not mixed yet
    int32_t age;                         // steps since mixing began
    double firstResidual;
    double furthest; // share of the way to the tolerance
    srSimplexReport report;
};

typedef srSimplexLoop Loop;

static const srBiharmonicKernels* kernelsOf(const Loop* loop) {
    const srBiharmonicTable* table = srGetBiharmonicTable();
    return loop->isDouble ? &table->inDouble : &table->inFloat;
}

// ---- numbers of either type ----

static double getNumber(const Loop* loop, const void* numbers, int64_t i) {
    return loop->isDouble ? ((const double*)numbers)[i] : (double)((const float*)numbers)[i];
}

static void setNumber(const Loop* loop, void* numbers, int64_t i, double value) {
    if (loop->isDouble) {
        ((double*)numbers)[i] = value;
    } else {
        ((float*)numbers)[i] = (float)value;
    }
}

// from the problem's rows to the loop's
static void loadRows(const Loop* loop, const double* from, void* to) {
    int32_t columns = loop->problem->columnCount;
    for (int32_t k = 0; k < loop->size; k++) {
        const double* row = from + columns * (int64_t)loop->factor.order[k];
        for (int32_t j = 0; j < columns; j++) {
            setNumber(loop, to, loop->width * (int64_t)k + j, row[j]);
        }
    }
}

static void storeRows(const Loop* loop, const void* from, double* to) {
    int32_t columns = loop->problem->columnCount;
    for (int32_t k = 0; k < loop->size; k++) {
        double* row = to + columns * (int64_t)loop->factor.order[k];
        for (int32_t j = 0; j < columns; j++) {
            row[j] = getNumber(loop, from, loop->width * (int64_t)k + j);
        }
    }
}

// ---- matrices ----

static srResult copyMatrix(const srCsc* A, srCsc* out) {
    int32_t entryCount = A->columnStarts[A->columnCount];
    *out = (srCsc){.rowCount = A->rowCount, .columnCount = A->columnCount};
    out->columnStarts = SR_ALLOC(int32_t, A->columnCount + 1);
    out->rows = SR_ALLOC(int32_t, entryCount);
    out->values = SR_ALLOC(double, entryCount);
    if (out->columnStarts == NULL || out->rows == NULL || out->values == NULL) {
        SR_FREE(out->columnStarts, A->columnCount + 1);
        SR_FREE(out->rows, entryCount);
        SR_FREE(out->values, entryCount);
        *out = (srCsc){0};
        return srFailOutOfMemory("weights");
    }
    memcpy(out->columnStarts, A->columnStarts, ((size_t)A->columnCount + 1) * sizeof(int32_t));
    memcpy(out->rows, A->rows, (size_t)entryCount * sizeof(int32_t));
    memcpy(out->values, A->values, (size_t)entryCount * sizeof(double));
    return sr_success;
}

// out += A X for rows of columns, A by its lower triangle
static void addProduct(const srCsc* A, const double* X, int32_t columns, double scale, double* out) {
    for (int32_t j = 0; j < A->columnCount; j++) {
        for (int32_t e = A->columnStarts[j]; e < A->columnStarts[j + 1]; e++) {
            int32_t i = A->rows[e];
            double value = scale * A->values[e];
            for (int32_t c = 0; c < columns; c++) {
                out[columns * (int64_t)i + c] += value * X[columns * (int64_t)j + c];
            }
            for (int32_t c = 0; i != j && c < columns; c++) {
                out[columns * (int64_t)j + c] += value * X[columns * (int64_t)i + c];
            }
        }
    }
}

// the diagonal is the first entry of a column of the lower triangle
static void shift(Loop* loop, double share) {
    const srCsc* A = &loop->problem->A;
    for (int32_t j = 0; j < loop->size; j++) {
        loop->shifted.values[A->columnStarts[j]] =
            A->values[A->columnStarts[j]] + share * loop->problem->metric[j];
    }
}

// Dissecting takes as long as some thirty steps, so it is for factors that fill up.
static srResult analyze(Loop* loop) {
    SR_TRY(srAnalyzeCholesky(&loop->shifted, NULL, &loop->cholesky));
    if (srCholesky_CountEntries(loop->cholesky) < DISSECTED_FROM * (int64_t)loop->size) {
        return sr_success;
    }
    int32_t* order = SR_ALLOC(int32_t, loop->size);
    if (order == NULL) {
        return srFailOutOfMemory("weights");
    }
    srDestroyCholesky(loop->cholesky);
    loop->cholesky = NULL;
    srResult result = srDissect(&loop->shifted, loop->problem->places, order);
    if (result == sr_success) {
        result = srAnalyzeCholesky(&loop->shifted, order, &loop->cholesky);
    }
    SR_FREE(order, loop->size);
    return result;
}

// The smoothest weights without bounds, which sum to one by themselves: begin there. From constants steps are
// three times as many.
static srResult guess(Loop* loop) {
    int32_t columns = loop->problem->columnCount;
    size_t count = (size_t)loop->size * (size_t)columns;
    double* X = SR_ALLOC(double, count);
    if (X == NULL) {
        return srFailOutOfMemory("weights");
    }
    for (int32_t i = 0; i < loop->size; i++) {
        for (int32_t j = 0; j < columns; j++) {
            X[(size_t)j * (size_t)loop->size + (size_t)i] =
                loop->problem->loads[(size_t)i * (size_t)columns + (size_t)j];
        }
    }
    shift(loop, GUESS_SHARE);
    srResult result = srCholesky_Factor(loop->cholesky, &loop->shifted);
    if (result == sr_success) {
        result = srCholesky_Solve(loop->cholesky, X, columns);
    }
    for (int32_t i = 0; result == sr_success && i < loop->size; i++) {
        for (int32_t j = 0; j < columns; j++) {
            double x = X[(size_t)j * (size_t)loop->size + (size_t)i];
            // what is unbounded may be anything; steps begin within reach of the simplex
            loop->state[(size_t)i * (size_t)columns + (size_t)j] = x >= -4.0 && x <= 4.0 ? x : 1.0 / columns;
        }
    }
    SR_FREE(X, count);
    return result;
}

static srResult prepareMatrices(Loop* loop) {
    SR_TRY(copyMatrix(&loop->problem->A, &loop->shifted));
    SR_TRY(analyze(loop));
    SR_TRY(srReportProgress(&loop->progress, 0.3));
    SR_TRY(guess(loop));
    SR_TRY(srReportProgress(&loop->progress, 0.7));
    shift(loop, 1.0);
    return srCholesky_Factor(loop->cholesky, &loop->shifted);
}

// ---- arrays ----

static void freeArrays(Loop* loop) {
    srFree(loop->block, loop->blockCount, 1);
    srFree(loop->scratch, loop->scratchCount, 1);
    srDestroyFactor(&loop->factor);
    loop->block = loop->scratch = NULL;
    loop->factor = (srFactor){0};
}

static size_t roundUp(size_t size) {
    return (size + SR_ALIGNMENT - 1) / SR_ALIGNMENT * SR_ALIGNMENT;
}

static srResult allocateArrays(Loop* loop) {
    size_t element = loop->isDouble ? sizeof(double) : sizeof(float);
    size_t rows = (size_t)loop->size + 1, arraySize = 0;
    if (!srMultiplySizes(rows * element, (size_t)loop->width, &arraySize) ||
        !srMultiplySizes(roundUp(arraySize), ARRAY_COUNT + 1, &loop->blockCount)) {
        return srFail(sr_errorTooLarge, "Too many nodes and bones for weights.");
    }
    arraySize = roundUp(arraySize);
    loop->blockCount = ARRAY_COUNT * arraySize + roundUp(rows * element);
    int32_t tallest = SR_SLAB_ROWS * loop->factor.mostSlabs;
    int32_t most = tallest > loop->factor.mostColumns ? tallest : loop->factor.mostColumns;
    loop->scratchEach = roundUp((size_t)most * LANES_AT_ONCE * element);
    loop->scratchCount = loop->scratchEach * (size_t)srParallel_GetWorkerCount();
    loop->block = srAllocZero(loop->blockCount, 1);
    loop->scratch = srAlloc(loop->scratchCount, 1);
    if (loop->block == NULL || loop->scratch == NULL) {
        return srFailOutOfMemory("weights");
    }
    srBiharmonicArrays* a = &loop->arrays;
    *a = (srBiharmonicArrays){
        .factor = &loop->factor,
        .width = loop->width,
        .columnCount = loop->problem->columnCount,
        .newest = SR_NULL_INDEX,
    };
    void** arrays[6] = {&a->loads, &a->s, &a->z, &a->x, &a->residual, &a->target};
    char* next = loop->block;
    for (int k = 0; k < 6; k++, next += arraySize) {
        *arrays[k] = next;
    }
    for (int q = 0; q < SR_BIHARMONIC_MEMORY; q++, next += 2 * arraySize) {
        a->residualSteps[q] = next;
        a->targetSteps[q] = next + arraySize;
    }
    a->metric = next;
    return sr_success;
}

// Takes the factor over and lays the arrays out, in float or in double.
static srResult layOut(Loop* loop, bool isDouble) {
    freeArrays(loop);
    loop->isDouble = isDouble;
    SR_TRY(srCreateFactor(loop->cholesky, isDouble ? sr_factorDouble : sr_factorFloat, &loop->factor));
    SR_TRY(allocateArrays(loop));
    loadRows(loop, loop->problem->loads, loop->arrays.loads);
    loadRows(loop, loop->state, loop->arrays.s);
    for (int32_t k = 0; k < loop->size; k++) {
        setNumber(loop, loop->arrays.metric, k, loop->problem->metric[loop->factor.order[k]]);
    }
    loop->age = 0;
    loop->isStepped = false;
    return srReportProgress(&loop->progress, 0.05 + 0.9 * loop->furthest);
}

// ---- one step ----

// As the kernel does it, for a row with ceilings.
static void reflectBound(const Loop* loop, int32_t k, double* row) {
    const srBiharmonicArrays* a = &loop->arrays;
    int32_t columns = loop->problem->columnCount, i = loop->factor.order[k];
    int64_t at = loop->width * (int64_t)k;
    double metric = loop->problem->metric[i], *z = row + columns;
    for (int32_t j = 0; j < columns; j++) {
        row[j] = getNumber(loop, a->s, at + j);
    }
    srProjectBelow(row, loop->ceilings + columns * (int64_t)i, columns, z);
    for (int32_t j = 0; j < columns; j++) {
        double force = metric * (2.0 * z[j] - row[j]) + getNumber(loop, a->loads, at + j);
        setNumber(loop, a->z, at + j, z[j]);
        setNumber(loop, a->x, at + j, loop->factor.scales[k] * force);
    }
}

static void reflectRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    const Loop* loop = context;
    kernelsOf(loop)->reflect(&loop->arrays, begin, end);
    for (int32_t k = begin; k < end; k++) {
        if (loop->isBound[loop->factor.order[k]]) {
            reflectBound(loop, k, loop->rows + 2 * loop->problem->columnCount * (int64_t)worker);
        }
    }
}

static void sweepRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    const Loop* loop = context;
    kernelsOf(loop)->sweep(&loop->factor, loop->width, SR_BIHARMONIC_LANES * begin, SR_BIHARMONIC_LANES * end,
                           loop->arrays.x, (char*)loop->scratch + loop->scratchEach * (size_t)worker);
}

static void advanceRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Loop* loop = context;
    kernelsOf(loop)->advance(&loop->arrays, begin, end,
                             loop->sums + SR_BIHARMONIC_SUMS * (int64_t)(begin / BLOCK_ROWS));
}

static void mixRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Loop* loop = context;
    kernelsOf(loop)->mix(&loop->arrays, loop->shares, begin, end);
}

// How columns are handed to workers changes no bit: they do not see each other.
static void sweep(Loop* loop) {
    int32_t groups = loop->width / SR_BIHARMONIC_LANES, workers = srParallel_GetWorkerCount();
    int32_t each = (groups + workers - 1) / workers, most = LANES_AT_ONCE / SR_BIHARMONIC_LANES;
    srParallelFor(sweepRange, groups, each < most ? each : most, loop);
}

static void addSums(const Loop* loop, double out[SR_BIHARMONIC_SUMS]) {
    memset(out, 0, SR_BIHARMONIC_SUMS * sizeof(double));
    for (int32_t b = 0; b < loop->blockOfRows; b++) {
        for (int q = 0; q < SR_BIHARMONIC_SUMS; q++) {
            out[q] += loop->sums[SR_BIHARMONIC_SUMS * (int64_t)b + q];
        }
    }
}

// gamma, by elimination with pivots of the few normal equations; false when they say nothing
static bool findShares(const Loop* loop, const double* products, double* outShares) {
    int32_t count = loop->arrays.historyCount;
    double N[SR_BIHARMONIC_MEMORY][SR_BIHARMONIC_MEMORY + 1], largest = 0.0;
    for (int32_t q = 0; q < count; q++) {
        largest = fmax(largest, loop->products[q][q]);
    }
    for (int32_t q = 0; q < count; q++) {
        memcpy(N[q], loop->products[q], sizeof(loop->products[q]));
        N[q][q] += (loop->isDouble ? 1e-14 : 1e-10) * largest;
        N[q][count] = products[q];
    }
    for (int32_t q = 0; q < count; q++) {
        int32_t pivot = q;
        for (int32_t p = q + 1; p < count; p++) {
            pivot = fabs(N[p][q]) > fabs(N[pivot][q]) ? p : pivot;
        }
        for (int32_t c = 0; c <= count; c++) {
            double swapped = N[q][c];
            N[q][c] = N[pivot][c];
            N[pivot][c] = swapped;
        }
        for (int32_t p = q + 1; p < count; p++) {
            double factor = N[p][q] / N[q][q];
            for (int32_t c = q; c <= count; c++) {
                N[p][c] -= factor * N[q][c];
            }
        }
    }
    double check = 0.0;
    for (int32_t q = count - 1; q >= 0; q--) {
        double sum = N[q][count];
        for (int32_t p = q + 1; p < count; p++) {
            sum -= N[q][p] * outShares[p];
        }
        outShares[q] = sum / N[q][q];
        check += 0.0 * outShares[q];
    }
    return check == 0.0;
}

// The step from s, without mixing; sums are what mixing needs.
static void step(Loop* loop) {
    srBiharmonicArrays* a = &loop->arrays;
    double* sums = loop->stepSums;
    a->newest = loop->age > 0 ? (loop->age - 1) % SR_BIHARMONIC_MEMORY : SR_NULL_INDEX;
    a->historyCount = loop->age < SR_BIHARMONIC_MEMORY ? loop->age : SR_BIHARMONIC_MEMORY;
    srParallelFor(reflectRange, loop->size, BLOCK_ROWS, loop);
    sweep(loop);
    srParallelFor(advanceRange, loop->size, BLOCK_ROWS, loop);
    addSums(loop, sums);
    for (int32_t q = 0; a->newest >= 0 && q < a->historyCount; q++) {
        double product = sums[3 + SR_BIHARMONIC_MEMORY + q];
        loop->products[a->newest][q] = loop->products[q][a->newest] = product;
    }
    loop->isStepped = true;
}

// From the step to the next s.
static void mix(Loop* loop) {
    loop->arrays.historyCount = loop->age < SR_BIHARMONIC_MEMORY ? loop->age : SR_BIHARMONIC_MEMORY;
    if (!findShares(loop, loop->stepSums + 3, loop->shares)) {
        loop->age = loop->arrays.historyCount = 0;
    }
    srParallelFor(mixRange, loop->size, BLOCK_ROWS, loop);
    loop->age++;
    loop->isStepped = false;
}

// Residuals come and go, and a second round in double begins anew; progress stays where it was.
static srResult tellProgress(Loop* loop, double residual) {
    double whole = log(loop->firstResidual / loop->settings->tolerance);
    double done = whole > 0.0 ? log(loop->firstResidual / residual) / whole : 1.0;
    loop->furthest = fmax(loop->furthest, fmin(done, 1.0));
    return srReportProgress(&loop->progress, 0.05 + 0.9 * loop->furthest);
}

// Steps until both residuals are below `tolerance`, the limit is reached, or floats get no further.
static srResult iterate(Loop* loop, double tolerance) {
    double least = (double)INFINITY, mark = (double)INFINITY;
    const double* sums = loop->stepSums;
    int32_t patience = 0;
    while (loop->report.iterationCount < loop->settings->iterationLimit) {
        if (loop->isStepped) {
            mix(loop);
        }
        step(loop);
        loop->report.iterationCount++;
        double residual = sqrt(fmax(sums[0] / sums[1], sums[0] / fmax(sums[2], UNBOUND * sums[1])));
        if (!(residual - residual == 0.0)) {
            return loop->isDouble
                       ? srFail(sr_errorNotFinite, "The weights of this cage cannot be computed: its "
                                                   "cells are too flat.")
                       : sr_success;
        }
        loop->firstResidual = loop->firstResidual > 0.0 ? loop->firstResidual : residual;
        SR_TRY(tellProgress(loop, residual));
        if (residual <= tolerance) {
            return sr_success;
        }
        bool isAstray = sqrt(sums[0]) > ASTRAY * least && loop->age > 0;
        loop->report.restartCount += isAstray;
        loop->age = isAstray || loop->report.restartCount > MOST_RESTARTS ? 0 : loop->age;
        least = isAstray ? sqrt(sums[0]) : fmin(least, sqrt(sums[0]));
        patience = least < 0.9 * mark ? 0 : patience + 1;
        mark = patience == 0 ? least : mark;
        if (patience > PATIENCE && !loop->isDouble) {
            return sr_success;
        }
    }
    return sr_success;
}

// ---- what is true of it ----

// Rows of s to the simplex, once more in double: sums and bounds to rounding.
static void projectState(const Loop* loop, double* weights) {
    int32_t columns = loop->problem->columnCount;
    for (int32_t i = 0; i < loop->size; i++) {
        const double* s = loop->state + columns * (int64_t)i;
        double* w = weights + columns * (int64_t)i;
        if (loop->isBound[i]) {
            srProjectBelow(s, loop->ceilings + columns * (int64_t)i, columns, w);
            continue;
        }
        int32_t count = columns, before = columns + 1;
        double threshold = -1.0;
        for (int32_t j = 0; j < columns; j++) {
            threshold += s[j];
        }
        threshold /= columns;
        while (count < before) {
            double sum = -1.0;
            before = count;
            count = 0;
            for (int32_t j = 0; j < columns; j++) {
                sum += s[j] > threshold ? s[j] : 0.0;
                count += s[j] > threshold;
            }
            threshold = count > 0 ? sum / count : threshold;
        }
        double total = 0.0;
        for (int32_t j = 0; j < columns; j++) {
            w[j] = fmax(s[j] - threshold, 0.0);
            total += w[j];
        }
        for (int32_t j = 0; j < columns; j++) {
            w[j] = total > 0.0 ? fmin(w[j] / total, 1.0) : 1.0 / columns;
        }
    }
}

// defect = R (2 z - s) + b - (A + R) x
static void findDefect(const Loop* loop, const double* weights, const double* smooth, double* defect) {
    int32_t columns = loop->problem->columnCount;
    for (int32_t i = 0; i < loop->size; i++) {
        for (int64_t at = columns * (int64_t)i; at < columns * (int64_t)(i + 1); at++) {
            defect[at] =
                loop->problem->metric[i] * (2.0 * weights[at] - loop->state[at]) + loop->problem->loads[at];
        }
    }
    addProduct(&loop->shifted, smooth, columns, -1.0, defect);
}

// x from what is left of its equation, through the panels that there are
static void refine(Loop* loop, const double* defect, double* smooth) {
    int32_t columns = loop->problem->columnCount;
    srBiharmonicArrays* a = &loop->arrays;
    for (int32_t k = 0; k < loop->size; k++) {
        const double* row = defect + columns * (int64_t)loop->factor.order[k];
        for (int32_t j = 0; j < loop->width; j++) {
            setNumber(loop, a->x, loop->width * (int64_t)k + j,
                      j < columns ? loop->factor.scales[k] * row[j] : 0.0);
        }
    }
    sweep(loop);
    for (int32_t k = 0; k < loop->size; k++) {
        double* row = smooth + columns * (int64_t)loop->factor.order[k];
        for (int32_t j = 0; j < columns; j++) {
            row[j] += loop->factor.scales[k] * getNumber(loop, a->x, loop->width * (int64_t)k + j);
        }
    }
}

// With d the defect: y - n = b - A x - R (s - z) = R (x - z) + d.
static void measure(Loop* loop, const double* weights, const double* smooth, const double* defect) {
    int32_t columns = loop->problem->columnCount;
    double apart = 0.0, size = 0.0, left = 0.0, forces = 0.0;
    for (int32_t i = 0; i < loop->size; i++) {
        double metric = loop->problem->metric[i];
        for (int64_t at = columns * (int64_t)i; at < columns * (int64_t)(i + 1); at++) {
            double r = smooth[at] - weights[at], u = loop->state[at] - weights[at],
                   d = r + defect[at] / metric;
            apart += metric * r * r;
            size += metric * weights[at] * weights[at];
            left += metric * d * d;
            forces += metric * u * u;
        }
    }
    loop->report.primalResidual = sqrt(apart / size);
    loop->report.dualResidual = sqrt(left / fmax(forces, UNBOUND * size));
    loop->report.isDouble = loop->isDouble;
    loop->report.isConverged = loop->report.primalResidual <= loop->settings->tolerance &&
                               loop->report.dualResidual <= loop->settings->tolerance;
}

static srResult conclude(Loop* loop, double* weights, double* smooth) {
    size_t count = (size_t)loop->size * (size_t)loop->problem->columnCount;
    storeRows(loop, loop->arrays.s, loop->state);
    projectState(loop, weights);
    if (loop->isRough) {
        return sr_success;
    }
    double* defect = SR_ALLOC(double, count);
    if (defect == NULL) {
        return srFailOutOfMemory("weights");
    }
    memcpy(smooth, weights, count * sizeof(double));
    for (int k = 0; k < REFINEMENTS; k++) {
        findDefect(loop, weights, smooth, defect);
        measure(loop, weights, smooth, defect);
        if (k > 0 && loop->report.isConverged) {
            break;
        }
        refine(loop, defect, smooth);
    }
    if (!loop->report.isConverged) {
        findDefect(loop, weights, smooth, defect);
        measure(loop, weights, smooth, defect);
    }
    SR_FREE(defect, count);
    return sr_success;
}

static bool isFinite(const Loop* loop) {
    double check = 0.0;
    for (int64_t at = 0; at < loop->problem->columnCount * (int64_t)loop->size; at++) {
        check += 0.0 * loop->state[at];
    }
    return check == 0.0;
}

// In float first where that may do; in double from there on.
static srResult solve(Loop* loop, double* weights, double* smooth) {
    double tolerance = EARLY * loop->settings->tolerance;
    bool inFloat = loop->settings->tolerance >= FLOAT_TOLERANCE && !loop->isDouble;
    for (int attempt = inFloat ? 0 : 1; attempt < 4; attempt++) {
        if (loop->block == NULL || loop->isDouble != (attempt > 0)) {
            srResult result = layOut(loop, attempt > 0);
            if (attempt == 0 && result == sr_errorInvalidValue) {
                continue; // its values are no floats
            }
            SR_TRY(result);
        }
        SR_TRY(iterate(loop, tolerance));
        SR_TRY(conclude(loop, weights, smooth));
        if (!isFinite(loop)) {
            SR_TRY(guess(loop));
            shift(loop, 1.0);
            SR_TRY(srCholesky_Factor(loop->cholesky, &loop->shifted));
            continue;
        }
        if (loop->isRough || loop->report.isConverged ||
            loop->report.iterationCount >= loop->settings->iterationLimit) {
            break;
        }
        tolerance *= attempt > 0 ? 0.3 : 1.0;
    }
    return sr_success;
}

static void findBounds(Loop* loop) {
    int32_t columns = loop->problem->columnCount;
    for (int64_t at = 0; at < columns * (int64_t)loop->size; at++) {
        bool isFirst = at % columns == 0, isBound = loop->ceilings != NULL && loop->ceilings[at] < 1.0;
        loop->isBound[at / columns] = isBound || (!isFirst && loop->isBound[at / columns]);
    }
}

// ---- the whole ----

srResult srCreateSimplexLoop(const srSimplexProblem* problem, const srProgress* progress,
                             srSimplexLoop** outLoop) {
    srResult result = sr_success;
    Loop* loop = SR_ALLOC_ZERO(Loop, 1);
    if (loop == NULL) {
        return srFailOutOfMemory("weights");
    }
    loop->problem = problem;
    loop->size = problem->A.columnCount;
    loop->progress = progress != NULL ? *progress : (srProgress){0};
    loop->width =
        (problem->columnCount + SR_BIHARMONIC_LANES - 1) / SR_BIHARMONIC_LANES * SR_BIHARMONIC_LANES;
    loop->blockOfRows = (loop->size + BLOCK_ROWS - 1) / BLOCK_ROWS;
    loop->workerCount = srParallel_GetWorkerCount();
    loop->state = SR_ALLOC(double, (size_t)loop->size*(size_t)problem->columnCount);
    loop->sums = SR_ALLOC(double, SR_BIHARMONIC_SUMS * loop->blockOfRows);
    loop->isBound = SR_ALLOC(bool, loop->size);
    loop->rows = SR_ALLOC(double, 2 * (size_t)problem->columnCount * (size_t)loop->workerCount);
    if (loop->state == NULL || loop->sums == NULL || loop->isBound == NULL || loop->rows == NULL) {
        result = srFailOutOfMemory("weights");
        goto cleanup;
    }
    SR_TRY_CLEANUP(prepareMatrices(loop));
    SR_TRY_CLEANUP(srReportProgress(&loop->progress, 1.0));
    *outLoop = loop;
    return sr_success;

cleanup:
    srDestroySimplexLoop(loop);
    return result;
}

srResult srSimplexLoop_Solve(srSimplexLoop* loop, const srSimplexSettings* settings,
                             const srSimplexTurn* turn, const srProgress* progress, srSimplexAnswer* answer) {
    size_t count = (size_t)loop->size * (size_t)loop->problem->columnCount;
    bool wantsOwn = answer->smooth == NULL && !turn->isRough;
    double* own = wantsOwn ? SR_ALLOC(double, count) : NULL;
    if (wantsOwn && own == NULL) {
        return srFailOutOfMemory("weights");
    }
    loop->settings = settings;
    loop->isRough = turn->isRough;
    loop->progress = progress != NULL ? *progress : (srProgress){0};
    loop->report = (srSimplexReport){0};
    loop->firstResidual = loop->furthest = 0.0;
    if (turn->areNew) {
        loop->ceilings = turn->ceilings;
        findBounds(loop);
        loop->isStepped = false;
        loop->age = 0;
    }
    srResult result = solve(loop, answer->weights, wantsOwn ? own : answer->smooth);
    result = result == sr_success ? srReportProgress(&loop->progress, 1.0) : result;
    answer->report = loop->report;
    SR_FREE(own, count);
    return result;
}

void srDestroySimplexLoop(srSimplexLoop* loop) {
    if (loop == NULL) {
        return;
    }
    freeArrays(loop);
    srDestroyCholesky(loop->cholesky);
    srDestroyCsc(&loop->shifted);
    SR_FREE(loop->isBound, loop->size);
    SR_FREE(loop->rows, 2 * (size_t)loop->problem->columnCount * (size_t)loop->workerCount);
    SR_FREE(loop->state, (size_t)loop->size * (size_t)loop->problem->columnCount);
    SR_FREE(loop->sums, SR_BIHARMONIC_SUMS * loop->blockOfRows);
    SR_FREE(loop, 1);
}

srResult srSolveSimplexProblem(const srSimplexProblem* problem, const srSimplexSettings* settings,
                               const srProgress* progress, double* outWeights, double* outSmooth,
                               srSimplexReport* outReport) {
    srProgress whole = progress != NULL ? *progress : (srProgress){0};
    srProgress first = srPartOfProgress(&whole, 0.0, 0.2), rest = srPartOfProgress(&whole, 0.2, 1.0);
    srSimplexAnswer answer = {.weights = outWeights, .smooth = outSmooth};
    srSimplexLoop* loop;
    SR_TRY(srCreateSimplexLoop(problem, &first, &loop));
    srResult result = srSimplexLoop_Solve(loop, settings, &(srSimplexTurn){.areNew = true}, &rest, &answer);
    *outReport = answer.report;
    srDestroySimplexLoop(loop);
    return result;
}
