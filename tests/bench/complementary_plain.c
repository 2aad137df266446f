// SPDX-License-Identifier: GPL-3.0-or-later

#include "complementary_plain.h"

#include "core/thread.h"
#include "math/cholesky.h"
#include "math/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// right-hand side: M/h^2 x + sum of w R B' over the cells
static void gather(const srComplementaryRest* rest, const srComplementaryTuning* tuning, const srVec3* x,
                   double* columns) {
    size_t n = (size_t)rest->nodeCount;
    for (size_t i = 0; i < n; ++i) {
        columns[i] = tuning->diagonal[i] * x[i].x;
        columns[n + i] = tuning->diagonal[i] * x[i].y;
        columns[2 * n + i] = tuning->diagonal[i] * x[i].z;
    }
    double weight = 2.0 * tuning->dials.material.shearModulus;
    for (int32_t cell = 0; cell < rest->cellCount; ++cell) {
        const int32_t* c = rest->corners[cell];
        const srMat3* B = &rest->inverses[cell];
        srMat3 D, F;
        for (int k = 0; k < 3; ++k) {
            srVec3 edge = srSub(x[c[k + 1]], x[c[0]]);
            D.m[0][k] = edge.x, D.m[1][k] = edge.y, D.m[2][k] = edge.z;
        }
        F = srMul3(&D, B);
        srMat3 R = srFindRotation(&F);
        for (size_t r = 0; r < 3; ++r) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
                double f = weight * rest->volumes[cell] *
                           (R.m[r][0] * B->m[k][0] + R.m[r][1] * B->m[k][1] + R.m[r][2] * B->m[k][2]);
                columns[r * n + (size_t)c[k + 1]] += f;
                sum += f;
            }
            columns[r * n + (size_t)c[0]] -= sum;
        }
    }
}

double srBenchTimePlainIteration(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                                 const srVec3* p, int32_t runCount, double* outSolveSeconds) {
    size_t n = (size_t)rest->nodeCount;
    srVec3* x = malloc(n * sizeof(srVec3));
    double* columns = malloc(3 * n * sizeof(double));
    double best = x == NULL || columns == NULL ? -1.0 : HUGE_VAL;
    *outSolveSeconds = best;
    for (int32_t run = 0; best > 0.0 && run < runCount; ++run) {
        memcpy(x, p, n * sizeof(srVec3));
        double start = srGetSeconds();
        gather(rest, tuning, x, columns);
        double middle = srGetSeconds();
        if (srCholesky_Solve(tuning->cholesky, columns, 3) != sr_success) {
            best = -1.0;
            break;
        }
        for (size_t i = 0; i < n; ++i) {
            x[i] = (srVec3){columns[i], columns[n + i], columns[2 * n + i]};
        }
        double end = srGetSeconds();
        best = fmin(best, end - start);
        *outSolveSeconds = fmin(*outSolveSeconds, end - middle);
    }
    free(x);
    free(columns);
    return best;
}
