// SPDX-License-Identifier: GPL-3.0-or-later
//
// Compressed columns from triplets: two stable counting sorts, by row and then by column, and one pass that
// sums what fell on the same place.

#include "math/csc.h"

#include "core/alloc.h"

typedef struct Sorting {
    const srTriplet* triplets;
    int32_t count;
    bool byRow; // else by column
    int32_t keyCount;
    int32_t* starts; // keyCount + 1, zeroed
} Sorting;

static int32_t keyOf(const Sorting* sorting, int32_t triplet) {
    return sorting->byRow ? sorting->triplets[triplet].row : sorting->triplets[triplet].column;
}

// Stable counting sort of the indices of triplets, which come in `order` (null: as they are).
static void sortByKey(const Sorting* sorting, const int32_t* order, int32_t* outOrder) {
    int32_t* starts = sorting->starts;
    for (int32_t t = 0; t < sorting->count; t++) {
        starts[keyOf(sorting, t) + 1]++;
    }
    for (int32_t key = 0; key < sorting->keyCount; key++) {
        starts[key + 1] += starts[key];
    }
    for (int32_t t = 0; t < sorting->count; t++) {
        int32_t index = order != NULL ? order[t] : t;
        outOrder[starts[keyOf(sorting, index)]++] = index;
    }
}

static bool isSamePlace(const srTriplet* a, const srTriplet* b) {
    return a->row == b->row && a->column == b->column;
}

// Counts distinct places into `columnStarts`, which is zeroed; returns how many there are.
static int32_t countPlaces(const srTriplet* triplets, const int32_t* order, int32_t count, srCsc* A) {
    for (int32_t t = 0; t < count; t++) {
        if (t == 0 || !isSamePlace(&triplets[order[t - 1]], &triplets[order[t]])) {
            A->columnStarts[triplets[order[t]].column + 1]++;
        }
    }
    for (int32_t column = 0; column < A->columnCount; column++) {
        A->columnStarts[column + 1] += A->columnStarts[column];
    }
    return A->columnStarts[A->columnCount];
}

static void sumPlaces(const srTriplet* triplets, const int32_t* order, int32_t count, srCsc* A) {
    int32_t entry = SR_NULL_INDEX;
    for (int32_t t = 0; t < count; t++) {
        const srTriplet* triplet = &triplets[order[t]];
        if (t == 0 || !isSamePlace(&triplets[order[t - 1]], triplet)) {
            entry++;
            A->rows[entry] = triplet->row;
            A->values[entry] = 0.0;
        }
        A->values[entry] += triplet->value;
    }
}

srResult srCreateCsc(int32_t rowCount, int32_t columnCount, const srTriplet* triplets, int32_t tripletCount,
                     srCsc* outA) {
    srResult result = sr_success;
    srCsc A = {.rowCount = rowCount, .columnCount = columnCount};
    int32_t* rowStarts = SR_ALLOC_ZERO(int32_t, rowCount + 1);
    int32_t* columnStarts = SR_ALLOC_ZERO(int32_t, columnCount + 1);
    int32_t* byRow = SR_ALLOC(int32_t, tripletCount + 1);
    int32_t* order = SR_ALLOC(int32_t, tripletCount + 1);
    A.columnStarts = SR_ALLOC_ZERO(int32_t, columnCount + 1);
    if (rowStarts == NULL || columnStarts == NULL || byRow == NULL || order == NULL ||
        A.columnStarts == NULL) {
        result = srFailOutOfMemory("a sparse matrix");
        goto cleanup;
    }

    // bring triplets into the order of columns, then rows
    sortByKey(&(Sorting){triplets, tripletCount, true, rowCount, rowStarts}, NULL, byRow);
    sortByKey(&(Sorting){triplets, tripletCount, false, columnCount, columnStarts}, byRow, order);

    // merge what fell on the same place
    int32_t entryCount = countPlaces(triplets, order, tripletCount, &A);
    if (entryCount > 0) {
        A.rows = SR_ALLOC(int32_t, entryCount);
        A.values = SR_ALLOC(double, entryCount);
        if (A.rows == NULL || A.values == NULL) {
            result = srFailOutOfMemory("a sparse matrix");
            goto cleanup;
        }
        sumPlaces(triplets, order, tripletCount, &A);
    }
    *outA = A;

cleanup:
    SR_FREE(rowStarts, rowCount + 1);
    SR_FREE(columnStarts, columnCount + 1);
    SR_FREE(byRow, tripletCount + 1);
    SR_FREE(order, tripletCount + 1);
    if (result != sr_success) {
        srDestroyCsc(&A);
    }
    return result;
}

void srDestroyCsc(srCsc* A) {
    int32_t entryCount = A->columnStarts != NULL ? A->columnStarts[A->columnCount] : 0;
    SR_FREE(A->rows, entryCount);
    SR_FREE(A->values, entryCount);
    SR_FREE(A->columnStarts, A->columnCount + 1);
    *A = (srCsc){0};
}

void srCsc_MulAdd(double* y, const srCsc* A, const double* x) {
    for (int32_t j = 0; j < A->columnCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            y[A->rows[p]] += A->values[p] * x[j];
        }
    }
}

void srCsc_SubSymmetric3(double* Y, const srCsc* A, const double* X) {
    for (int32_t j = 0; j < A->columnCount; j++) {
        const double* x = X + 3 * (int64_t)j;
        double* y = Y + 3 * (int64_t)j;
        double sum[3] = {0.0, 0.0, 0.0};
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            int32_t i = A->rows[p];
            double a = A->values[p];
            for (int c = 0; c < 3 && i > j; c++) {
                sum[c] += a * X[3 * (int64_t)i + c];
                Y[3 * (int64_t)i + c] -= a * x[c];
            }
            for (int c = 0; c < 3 && i == j; c++) {
                sum[c] += a * x[c];
            }
        }
        for (int c = 0; c < 3; c++) {
            y[c] -= sum[c];
        }
    }
}
