// SPDX-License-Identifier: GPL-3.0-or-later
//
// Judges for the solvers, in double and by other means: linear finite elements on the same cage (factor and
// solve), their lowest frequency, and for incompressible flesh mixed elements (P1 with bubble / P1). Index
// arrays and dense loops; nothing is shared with what is judged but sparse factorisation.

#pragma once

#include "support/support.h"

#include "math/cholesky.h"
#include "mesh/cage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fem {
    const srCage* cage;
    const bool* isHeld;
    srCsc K;        // 3 nodes x 3 nodes, both triangles; held rows and columns are the identity's
    double* masses; // a node
    srCholesky* factor;
} Fem;

// gradients of the four shape functions; the volume
static double femGradients(const srCage* cage, int32_t cell, srVec3 g[4]) {
    const int32_t* n = cage->cells[cell];
    srVec3 e[3];
    for (int c = 0; c < 3; ++c) {
        e[c] = srSub(cage->nodes[n[c + 1]], cage->nodes[n[0]]);
    }
    double sixVolumes = srDot(e[0], srCross(e[1], e[2]));
    g[1] = srScale(1.0 / sixVolumes, srCross(e[1], e[2]));
    g[2] = srScale(1.0 / sixVolumes, srCross(e[2], e[0]));
    g[3] = srScale(1.0 / sixVolumes, srCross(e[0], e[1]));
    g[0] = srScale(-1.0, srAdd(g[1], srAdd(g[2], g[3])));
    return sixVolumes / 6.0;
}

static void femAdd(srTriplet* triplets, int32_t* count, const bool* isHeld, int32_t row, int32_t column,
                   double value) {
    if (!isHeld[row / 3] && !isHeld[column / 3]) {
        triplets[(*count)++] = (srTriplet){row, column, value};
    }
}

// mu and lambda a cell
static __attribute__((unused)) void femCreate(const srCage* cage, const bool* isHeld, const double* mu,
                                              const double* lambda, double density, Fem* out) {
    *out = (Fem){.cage = cage, .isHeld = isHeld};
    out->masses = calloc((size_t)cage->nodeCount, sizeof(double));
    srTriplet* triplets =
        malloc(((size_t)cage->cellCount * 144 + 3 * (size_t)cage->nodeCount) * sizeof(srTriplet));
    assert_non_null(out->masses);
    assert_non_null(triplets);
    int32_t count = 0;
    for (int32_t cell = 0; cell < cage->cellCount; ++cell) {
        srVec3 g[4];
        double volume = femGradients(cage, cell, g);
        for (int a = 0; a < 4; ++a) {
            out->masses[cage->cells[cell][a]] += 0.25 * density * volume;
            for (int b = 0; b < 4; ++b) {
                double ga[3] = {g[a].x, g[a].y, g[a].z};
                double gb[3] = {g[b].x, g[b].y, g[b].z};
                for (int i = 0; i < 3; ++i) {
                    for (int j = 0; j < 3; ++j) {
                        double value =
                            volume * (mu[cell] * (ga[j] * gb[i] + (i == j ? srDot(g[a], g[b]) : 0.0)) +
                                      lambda[cell] * ga[i] * gb[j]);
                        femAdd(triplets, &count, isHeld, 3 * cage->cells[cell][a] + i,
                               3 * cage->cells[cell][b] + j, value);
                    }
                }
            }
        }
    }
    for (int32_t i = 0; i < 3 * cage->nodeCount; ++i) {
        if (isHeld[i / 3]) {
            triplets[count++] = (srTriplet){i, i, 1.0};
        }
    }
    assert_success(srCreateCsc(3 * cage->nodeCount, 3 * cage->nodeCount, triplets, count, &out->K));
    free(triplets);
    assert_success(srCreateCholesky(&out->K, &out->factor));
}

static __attribute__((unused)) void femDestroy(Fem* fem) {
    srDestroyCholesky(fem->factor);
    srDestroyCsc(&fem->K);
    free(fem->masses);
}

// displacements under forces, in place
static __attribute__((unused)) void femSolve(const Fem* fem, double* x) {
    for (int32_t i = 0; i < 3 * fem->cage->nodeCount; ++i) {
        x[i] = fem->isHeld[i / 3] ? 0.0 : x[i];
    }
    assert_success(srCholesky_Solve(fem->factor, x, 1));
}

// Hz, by inverse iteration from `x`, which becomes the mode
static __attribute__((unused)) double femLowestFrequency(const Fem* fem, double* x) {
    int32_t count = 3 * fem->cage->nodeCount;
    double eigenvalue = 0.0;
    for (int round = 0; round < 60; ++round) {
        double before = 0.0;
        for (int32_t i = 0; i < count; ++i) {
            double m = fem->isHeld[i / 3] ? 0.0 : fem->masses[i / 3];
            before += m * x[i] * x[i];
        }
        double dotted = 0.0;
        double scale = 1.0 / sqrt(before);
        double* old = malloc((size_t)count * sizeof(double));
        assert_non_null(old);
        for (int32_t i = 0; i < count; ++i) {
            old[i] = scale * x[i];
            x[i] = fem->isHeld[i / 3] ? 0.0 : fem->masses[i / 3] * old[i];
        }
        femSolve(fem, x);
        for (int32_t i = 0; i < count; ++i) {
            double m = fem->isHeld[i / 3] ? 0.0 : fem->masses[i / 3];
            dotted += m * x[i] * old[i];
        }
        free(old);
        eigenvalue = 1.0 / dotted;
    }
    return sqrt(eigenvalue) / 6.283185307179586;
}

// Gaussian elimination with partial pivots, in place
static void femSolveDense(double* A, double* x, int32_t n) {
    for (int32_t k = 0; k < n; ++k) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < n; ++i) {
            pivot = fabs(A[(size_t)i * n + k]) > fabs(A[(size_t)pivot * n + k]) ? i : pivot;
        }
        assert_true(A[(size_t)pivot * n + k] != 0.0);
        for (int32_t j = 0; j < n && pivot != k; ++j) {
            double kept = A[(size_t)k * n + j];
            A[(size_t)k * n + j] = A[(size_t)pivot * n + j];
            A[(size_t)pivot * n + j] = kept;
        }
        double kept = x[k];
        x[k] = x[pivot];
        x[pivot] = kept;
        for (int32_t i = k + 1; i < n; ++i) {
            double factor = A[(size_t)i * n + k] / A[(size_t)k * n + k];
            if (factor != 0.0) {
                for (int32_t j = k; j < n; ++j) {
                    A[(size_t)i * n + j] -= factor * A[(size_t)k * n + j];
                }
                x[i] -= factor * x[k];
            }
        }
    }
    for (int32_t k = n - 1; k >= 0; --k) {
        for (int32_t j = k + 1; j < n; ++j) {
            x[k] -= A[(size_t)k * n + j] * x[j];
        }
        x[k] /= A[(size_t)k * n + k];
    }
}

// Displacements under forces, in place, of flesh that keeps its volume (Poisson's ratio 0.5): linear
// pressure, linear displacement with a bubble a cell (Arnold, Brezzi, Fortin 1984), the bubbles eliminated.
// For small cages: dense.
static __attribute__((unused)) void femSolveMixed(const srCage* cage, const bool* isHeld, double mu,
                                                  double* x) {
    int32_t n = 4 * cage->nodeCount; // three displacements and a pressure a node
    double* A = calloc((size_t)n * (size_t)n, sizeof(double));
    double* b = calloc((size_t)n, sizeof(double));
    assert_non_null(A);
    assert_non_null(b);
    for (int32_t cell = 0; cell < cage->cellCount; ++cell) {
        srVec3 g[4];
        double V = femGradients(cage, cell, g);
        double G[4][3];
        for (int a = 0; a < 4; ++a) {
            memcpy(G[a], &g[a], sizeof(G[a]));
        }
        // the bubble 256 l1 l2 l3 l4: its integral, and that of grad grad'
        double whole = 256.0 / 840.0 * V;
        double D[3][3] = {{0.0}};
        for (int k = 0; k < 144; ++k) {
            int a = k / 36, c = k / 9 % 4, i = k / 3 % 3, j = k % 3;
            D[i][j] += 65536.0 * V * (a == c ? 48.0 : 24.0) / 362880.0 * G[a][i] * G[c][j];
        }
        double trace = D[0][0] + D[1][1] + D[2][2];
        double bubble[9];
        for (int k = 0; k < 9; ++k) {
            bubble[k] = mu * (D[k / 3][k % 3] + (k / 3 == k % 3 ? trace : 0.0));
        }
        const int32_t* nodes = cage->cells[cell];
        for (int c = 0; c < 4; ++c) {
            double column[3] = {whole * G[c][0], whole * G[c][1], whole * G[c][2]};
            double copy[9];
            memcpy(copy, bubble, sizeof(copy));
            femSolveDense(copy, column, 3);
            for (int a = 0; a < 4; ++a) {
                double S = whole * (G[a][0] * column[0] + G[a][1] * column[1] + G[a][2] * column[2]);
                A[(size_t)(4 * nodes[a] + 3) * n + 4 * nodes[c] + 3] -= S;
                for (int i = 0; i < 3; ++i) {
                    A[(size_t)(4 * nodes[a] + i) * n + 4 * nodes[c] + 3] -= 0.25 * V * G[a][i];
                    A[(size_t)(4 * nodes[c] + 3) * n + 4 * nodes[a] + i] -= 0.25 * V * G[a][i];
                    for (int j = 0; j < 3; ++j) {
                        A[(size_t)(4 * nodes[a] + i) * n + 4 * nodes[c] + j] +=
                            V * mu * (G[a][j] * G[c][i] + (i == j ? srDot(g[a], g[c]) : 0.0));
                    }
                }
            }
        }
    }
    for (int32_t i = 0; i < n; ++i) {
        b[i] = i % 4 < 3 ? x[3 * (i / 4) + i % 4] : 0.0;
        if (i % 4 < 3 && isHeld[i / 4]) {
            for (int32_t j = 0; j < n; ++j) {
                A[(size_t)i * n + j] = 0.0;
                A[(size_t)j * n + i] = 0.0;
            }
            A[(size_t)i * n + i] = 1.0;
            b[i] = 0.0;
        }
    }
    femSolveDense(A, b, n);
    for (int32_t i = 0; i < n; ++i) {
        if (i % 4 < 3) {
            x[3 * (i / 4) + i % 4] = b[i];
        }
    }
    free(A);
    free(b);
}
