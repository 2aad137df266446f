// SPDX-License-Identifier: GPL-3.0-or-later
//
// store_factor <file>: the factor of a grid's matrix, in float and in double, as it is stored. What
// kernel_bits solves with, on this machine and on others.

#include "math/dissect.h"
#include "math/factor.h"
#include "matrices.h"

#include <stdio.h>

int main(int argc, char** argv) {
    srVec3* positions;
    srCsc A = makeGrid(12, 11, 10, 1e-2, &positions);
    int32_t* order = malloc((size_t)A.columnCount * sizeof(int32_t));
    srCholesky* cholesky = NULL;
    srFactor f = {0};
    bool isDone = argc == 2 && srDissect(&A, positions, order) == sr_success &&
                  srAnalyzeCholesky(&A, order, &cholesky) == sr_success &&
                  srCholesky_Factor(cholesky, &A) == sr_success &&
                  srCreateFactor(cholesky, sr_factorFloat | sr_factorDouble, &f) == sr_success;
    FILE* file = isDone ? fopen(argv[1], "wb") : NULL;
    isDone = file != NULL && fwrite(f.bytes, 1, f.byteCount, file) == f.byteCount;
    isDone = file != NULL && fclose(file) == 0 && isDone;
    if (!isDone) {
        fprintf(stderr, "usage: store_factor <file>\n");
    }
    srDestroyFactor(&f);
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
    free(order);
    free(positions);
    return isDone ? 0 : 2;
}
