// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/thin.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "math/linear_kernels.h"

enum {
    floatRows = 8,
    doubleRows = 4
};

static size_t countElements(const srThin* T, int32_t slabRows) {
    return ((size_t)T->rowCount + (size_t)slabRows - 1) / (size_t)slabRows * (size_t)slabRows *
           (size_t)T->columnCount;
}

// Where an entry stands.
static size_t placeOf(const srThin* T, int32_t row, int32_t column, int32_t slabRows) {
    size_t slab = (size_t)(row / slabRows) * (size_t)T->columnCount;
    return (slab + (size_t)column) * (size_t)slabRows + (size_t)(row % slabRows);
}

srResult srCreateThin(const double* rows, int32_t rowCount, int32_t columnCount, int kinds, srThin* outThin) {
    if (rowCount < 1 || columnCount < 1 || kinds < 1 || kinds > (sr_factorFloat | sr_factorDouble)) {
        return srFail(sr_errorInvalidValue, "A matrix of %d x %d (kinds %d) cannot be made.", rowCount,
                      columnCount, kinds);
    }
    srThin T = {.rowCount = rowCount, .columnCount = columnCount};
    bool isFloat = (kinds & sr_factorFloat) != 0, isDouble = (kinds & sr_factorDouble) != 0;
    T.floatSlabs = isFloat ? SR_ALLOC_ZERO(float, countElements(&T, floatRows)) : NULL;
    T.doubleSlabs = isDouble ? SR_ALLOC_ZERO(double, countElements(&T, doubleRows)) : NULL;
    if ((isFloat && T.floatSlabs == NULL) || (isDouble && T.doubleSlabs == NULL)) {
        srDestroyThin(&T);
        return srFailOutOfMemory("a dense matrix");
    }
    for (int32_t r = 0; r < rowCount; r++) {
        for (int32_t c = 0; c < columnCount; c++) {
            double value = rows[(size_t)r * (size_t)columnCount + (size_t)c];
            if (isFloat) {
                T.floatSlabs[placeOf(&T, r, c, floatRows)] = (float)value;
            }
            if (isDouble) {
                T.doubleSlabs[placeOf(&T, r, c, doubleRows)] = value;
            }
        }
    }
    *outThin = T;
    return sr_success;
}

void srDestroyThin(srThin* T) {
    SR_FREE(T->floatSlabs, countElements(T, floatRows));
    SR_FREE(T->doubleSlabs, countElements(T, doubleRows));
    *T = (srThin){0};
}

// A piece is of whole slabs, three at a time; each row's sum is the same in any.
void srThin_MulAddFloatRange(const srThin* T, const float* x, float* y, int32_t begin, int32_t end) {
    srThin part = *T; // some of its rows
    part.floatSlabs += (size_t)begin * (size_t)part.columnCount;
    part.rowCount = end - begin;
    srGetLinearKernels()->mulAddThinFloat(&part, x, y + 3 * (size_t)begin);
}

typedef struct Product {
    const srThin* T;
    const float* x;
    float* y;
} Product;

static void mulAddRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Product* product = context;
    srThin_MulAddFloatRange(product->T, product->x, product->y, begin, end);
}

void srThin_MulAddFloat(const srThin* T, const float* x, float* y) {
    Product product = {T, x, y};
    srParallelFor(mulAddRange, T->rowCount, SR_THIN_PIECE, &product);
}

void srThin_MulAddDouble(const srThin* T, const double* x, double* y) {
    srGetLinearKernels()->mulAddThinDouble(T, x, y);
}

size_t srThin_GetScratchCount(const srThin* T) {
    return 3 * (size_t)floatRows * (size_t)T->columnCount;
}

void srThin_MulAddTransposedFloat(const srThin* T, const float* x, float* y, float* scratch) {
    srGetLinearKernels()->mulAddTransposedThinFloat(T, x, y, scratch);
}

void srThin_MulAddTransposedDouble(const srThin* T, const double* x, double* y, double* scratch) {
    srGetLinearKernels()->mulAddTransposedThinDouble(T, x, y, scratch);
}
