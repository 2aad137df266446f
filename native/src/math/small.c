// SPDX-License-Identifier: GPL-3.0-or-later
//
// Padding: the matrix is made up to whole blocks of four with ones on the diagonal, so that kernels know no
// rest.

#include "math/small.h"

#include "math/linear_kernels.h"

#include <string.h>

int32_t srFactorSmall(double* A, int32_t size) {
    int32_t stride = srSmallStride(size);
    for (int32_t j = 0; j < stride; j++) {
        double* column = A + (size_t)j * (size_t)stride;
        int32_t first = j < size ? size : 0;
        memset(column + first, 0, (size_t)(stride - first) * sizeof(double));
        if (j >= size) {
            column[j] = 1.0;
        }
    }
    return srGetLinearKernels()->factorSmall(A, stride, stride);
}

void srSolveSmall(const double* L, int32_t size, double* X) {
    int32_t stride = srSmallStride(size);
    memset(X + 4 * (size_t)size, 0, 4 * (size_t)(stride - size) * sizeof(double));
    srGetLinearKernels()->solveSmall(L, stride, stride, X);
}

void srSolveSmallOne(const double* L, int32_t size, double* x) {
    int32_t stride = srSmallStride(size);
    memset(x + size, 0, (size_t)(stride - size) * sizeof(double));
    srGetLinearKernels()->solveSmallOne(L, stride, stride, x);
}

void srAddTurned(const double* B, const double* R, double* A, int32_t stride) {
    srGetLinearKernels()->addTurned(B, R, A, stride);
}
