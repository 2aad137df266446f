// SPDX-License-Identifier: GPL-3.0-or-later
//
// Around the sweeps: the caller's rows into the factor's order and back, scales, refinement. Inside, rows are
// padded to four numbers; callers keep three, because four of theirs would save only 3 % (4 of 125 us at
// 6,000 nodes).

#include "math/solve.h"

#include "math/linear_kernels.h"

#include <math.h>
#include <string.h>

#define ROW 4

static size_t roundUp(size_t size) {
    return (size + 63) / 64 * 64;
}

// The right-hand side as the sweeps want it: size + 1 rows of x, y, z, 0 in the factor's order, scaled; the
// last row, where padding points, is zero.
static size_t sizeOfRows(const srFactor* f, size_t elementSize) {
    return roundUp(ROW * ((size_t)f->size + 1) * elementSize);
}

// The sweeps take four elements a column of the widest group, or three SR_SLAB_ROWS a slab of the tallest.
static size_t countSweepScratch(const srFactor* f) {
    size_t columns = ROW * (size_t)f->mostColumns, slabs = 3 * SR_SLAB_ROWS * (size_t)f->mostSlabs;
    return columns > slabs ? columns : slabs;
}

static size_t sizeOfSweep(const srFactor* f, size_t elementSize) {
    return sizeOfRows(f, elementSize) + roundUp(countSweepScratch(f) * elementSize);
}

size_t srFactor_GetScratchSize(const srFactor* f) {
    size_t element = (f->kinds & sr_factorDouble) ? sizeof(double) : sizeof(float);
    return sizeOfSweep(f, element) + roundUp(3 * (size_t)f->size * sizeof(double));
}

static srResult failNotFinite(void) {
    return srFail(sr_errorNotFinite, "A solve's right-hand side is not finite, or its solution too large.");
}

static void sweepFloat(const srFactor* f, float* w) {
    memset(w + ROW * (size_t)f->size, 0, ROW * sizeof(float));
    srGetLinearKernels()->sweepFloat(f, w, (float*)((char*)w + sizeOfRows(f, sizeof(float))));
}

static void sweepDouble(const srFactor* f, double* w) {
    memset(w + ROW * (size_t)f->size, 0, ROW * sizeof(double));
    srGetLinearKernels()->sweepDouble(f, w, (double*)((char*)w + sizeOfRows(f, sizeof(double))));
}

srResult srFactor_SolveFloat(const srFactor* f, const float* b, float* x, void* scratch) {
    if (f->floatPanels == NULL) {
        return srFail(sr_errorInvalidValue, "The factor has no panels in float.");
    }
    float* w = scratch;
    for (int32_t k = 0; k < f->size; k++) {
        const float* from = b + 3 * (int64_t)f->order[k];
        float scale = f->scales[k], *row = w + ROW * (int64_t)k;
        row[0] = scale * from[0];
        row[1] = scale * from[1];
        row[2] = scale * from[2];
        row[3] = 0.0f;
    }
    sweepFloat(f, w);

    // what is not finite makes the sum a NaN
    float check = 0.0f;
    for (int32_t k = 0; k < f->size; k++) {
        float* to = x + 3 * (int64_t)f->order[k];
        float scale = f->scales[k], *row = w + ROW * (int64_t)k;
        to[0] = scale * row[0];
        to[1] = scale * row[1];
        to[2] = scale * row[2];
        check += 0.0f * to[0] + 0.0f * to[1] + 0.0f * to[2];
    }
    if (check != 0.0f) {
        memset(x, 0, 3 * (size_t)f->size * sizeof(float));
        return failNotFinite();
    }
    return sr_success;
}

// x += scale * solution for right-hand side b / scale; what is not finite makes the answer a NaN.
static double addSolution(const srFactor* f, const double* b, double* x, double scale, void* scratch) {
    double* w = scratch;
    float* wFloat = scratch;
    double inverse = 1.0 / scale, check = 0.0;
    bool isFloat = f->floatPanels != NULL;
    for (int32_t k = 0; k < f->size; k++) {
        const double* from = b + 3 * (int64_t)f->order[k];
        double factor = (double)f->scales[k];
        for (int c = 0; c < ROW; c++) {
            double value = c < 3 ? inverse * from[c] * factor : 0.0;
            if (isFloat) {
                wFloat[ROW * (int64_t)k + c] = (float)value;
            } else {
                w[ROW * (int64_t)k + c] = value;
            }
        }
    }
    if (isFloat) {
        sweepFloat(f, wFloat);
    } else {
        sweepDouble(f, w);
    }
    for (int32_t k = 0; k < f->size; k++) {
        double* to = x + 3 * (int64_t)f->order[k];
        double factor = (double)f->scales[k];
        for (int c = 0; c < 3; c++) {
            double value = isFloat ? (double)wFloat[ROW * (int64_t)k + c] : w[ROW * (int64_t)k + c];
            to[c] += scale * (value * factor);
            check += 0.0 * to[c];
        }
    }
    return check;
}

// The power of two above the largest number's size; zero for zeros, a NaN when one is not finite.
static double scaleOf(const double* b, size_t count) {
    double most = 0.0, check = 0.0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(b[i]);
        most = size > most ? size : most;
        check += 0.0 * size;
    }
    if (check != 0.0) {
        return check;
    }
    int exponent;
    frexp(most, &exponent);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent; // its inverse is a number too
    return most > 0.0 ? ldexp(1.0, exponent) : 0.0;
}

srResult srFactor_SolveDouble(const srFactor* f, const double* b, double* x, void* scratch) {
    if (f->doublePanels == NULL) {
        return srFail(sr_errorInvalidValue, "The factor has no panels in double.");
    }
    double* w = scratch;
    for (int32_t k = 0; k < f->size; k++) {
        const double* from = b + 3 * (int64_t)f->order[k];
        double scale = (double)f->scales[k], *row = w + ROW * (int64_t)k;
        row[0] = scale * from[0];
        row[1] = scale * from[1];
        row[2] = scale * from[2];
        row[3] = 0.0;
    }
    sweepDouble(f, w);
    double check = 0.0;
    for (int32_t k = 0; k < f->size; k++) {
        double* to = x + 3 * (int64_t)f->order[k];
        double scale = (double)f->scales[k], *row = w + ROW * (int64_t)k;
        to[0] = scale * row[0];
        to[1] = scale * row[1];
        to[2] = scale * row[2];
        check += 0.0 * to[0] + 0.0 * to[1] + 0.0 * to[2];
    }
    if (check != 0.0) {
        memset(x, 0, 3 * (size_t)f->size * sizeof(double));
        return failNotFinite();
    }
    return sr_success;
}

srResult srFactor_SolveRefined(const srFactor* f, const srCsc* A, const double* b, double* x,
                               int32_t stepCount, void* scratch) {
    size_t count = 3 * (size_t)f->size;
    if (A->columnCount != f->size || A->rowCount != f->size || stepCount < 0) {
        return srFail(sr_errorInvalidValue, "A refinement's matrix has %d columns, its factor %d.",
                      A->columnCount, f->size);
    }
    double* residual =
        (double*)((char*)scratch + srFactor_GetScratchSize(f)) - roundUp(count * sizeof(double)) / 8;
    memset(x, 0, count * sizeof(double));
    memcpy(residual, b, count * sizeof(double));
    for (int32_t step = 0; step <= stepCount; step++) {
        double scale = scaleOf(residual, count);
        if (scale == 0.0) {
            break;
        }
        if (!(scale > 0.0) || addSolution(f, residual, x, scale, scratch) != 0.0) {
            memset(x, 0, count * sizeof(double));
            return failNotFinite();
        }
        if (step < stepCount) {
            memcpy(residual, b, count * sizeof(double));
            srCsc_SubSymmetric3(residual, A, x);
        }
    }
    return sr_success;
}
