// SPDX-License-Identifier: GPL-3.0-or-later
//
// Symmetric positive definite matrices for the tests of this room, lower triangles, and a dense solve that
// has nothing in common with ours.

#pragma once

#include "math/csc.h"
#include "math/vec3.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The Laplacian of a grid of points plus `mass` on the diagonal; `outPositions` may be null, else free() it.
static inline srCsc makeGrid(int32_t nx, int32_t ny, int32_t nz, double mass, srVec3** outPositions) {
    int32_t n = nx * ny * nz, count = 0;
    srTriplet* triplets = malloc(10 * (size_t)n * sizeof(srTriplet));
    srVec3* positions = malloc((size_t)n * sizeof(srVec3));
    const int32_t steps[3] = {1, nx, nx * ny};
    for (int32_t i = 0; i < n; i++) {
        const int32_t at[3] = {i % nx, i / nx % ny, i / (nx * ny)}, sizes[3] = {nx, ny, nz};
        positions[i] = (srVec3){at[0], at[1], at[2]};
        triplets[count++] = (srTriplet){i, i, mass};
        for (int axis = 0; axis < 3; axis++) {
            if (at[axis] + 1 < sizes[axis]) {
                int32_t j = i + steps[axis];
                triplets[count++] = (srTriplet){i, i, 1.0};
                triplets[count++] = (srTriplet){j, j, 1.0};
                triplets[count++] = (srTriplet){j, i, -1.0};
            }
        }
    }
    srCsc A;
    assert_success(srCreateCsc(n, n, triplets, count, &A));
    free(triplets);
    if (outPositions != NULL) {
        *outPositions = positions;
    } else {
        free(positions);
    }
    return A;
}

/// Random entries, dominant diagonal, so that its condition is below ten; then row and column i times
/// scale(i).
static inline srCsc makeRandom(int32_t n, int32_t perColumn, uint64_t seed, double (*scale)(int32_t)) {
    int32_t count = 0;
    srTriplet* triplets = calloc((size_t)n * ((size_t)perColumn + 1), sizeof(srTriplet));
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = 0; k < perColumn; k++) {
            int32_t i = (int32_t)(n * srTestRandom(&seed));
            triplets[count++] = (srTriplet){i > j ? i : j, i > j ? j : i, srTestRandom(&seed) - 0.5};
        }
        triplets[count++] = (srTriplet){j, j, 3.0 * perColumn};
    }
    for (int32_t t = 0; t < count && scale != NULL; t++) {
        triplets[t].value *= scale(triplets[t].row) * scale(triplets[t].column);
    }
    srCsc A;
    assert_success(srCreateCsc(n, n, triplets, count, &A));
    free(triplets);
    return A;
}

/// A X = B for `columnCount` numbers a row, in place: Gaussian elimination without pivoting, in long double.
static inline void solveDensely(const srCsc* A, double* X, int32_t columnCount) {
    size_t n = (size_t)A->columnCount, m = (size_t)columnCount;
    long double* D = calloc(n * n, sizeof(long double));
    long double* Y = malloc(n * m * sizeof(long double));
    for (int32_t j = 0; j < A->columnCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            D[(size_t)A->rows[p] * n + (size_t)j] = D[(size_t)j * n + (size_t)A->rows[p]] =
                (long double)A->values[p];
        }
    }
    for (size_t i = 0; i < n * m; i++) {
        Y[i] = (long double)X[i];
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            long double factor = D[i * n + k] / D[k * n + k];
            for (size_t j = k; factor != 0.0L && j < n; j++) {
                D[i * n + j] -= factor * D[k * n + j];
            }
            for (size_t c = 0; c < m; c++) {
                Y[i * m + c] -= factor * Y[k * m + c];
            }
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t c = 0; c < m; c++) {
            for (size_t j = i + 1; j < n; j++) {
                Y[i * m + c] -= D[i * n + j] * Y[j * m + c];
            }
            Y[i * m + c] /= D[i * n + i];
            X[i * m + c] = (double)Y[i * m + c];
        }
    }
    free(D);
    free(Y);
}

/// Numbers in [-1/2, 1/2).
static inline double* makeNumbers(size_t count, uint64_t seed) {
    double* numbers = malloc((count + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        numbers[i] = srTestRandom(&seed) - 0.5;
    }
    return numbers;
}
