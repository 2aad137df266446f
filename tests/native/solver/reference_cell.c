// SPDX-License-Identifier: GPL-3.0-or-later
//
// Formulas of reference_cell.h. H is found column by column, from dF with a single one in it.

#include "reference_cell.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SWEEPS 30 // of Jacobi's method; it stops by itself when nothing is left

static const double UNIT[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void multiply(double A[3][3], double B[3][3], double out[3][3]) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
        }
    }
}

// A' B
static void multiplyTransposed(double A[3][3], double B[3][3], double out[3][3]) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out[i][j] = A[0][i] * B[0][j] + A[1][i] * B[1][j] + A[2][i] * B[2][j];
        }
    }
}

static double contract(double A[3][3], double B[3][3]) {
    double sum = 0.0;
    for (int k = 0; k < 9; ++k) {
        sum += A[k / 3][k % 3] * B[k / 3][k % 3];
    }
    return sum;
}

static double trace(double A[3][3]) {
    return A[0][0] + A[1][1] + A[2][2];
}

// the cofactors, dJ/dF
static void findCofactors(double F[3][3], double out[3][3]) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[i][j] = F[a][c] * F[b][d] - F[a][d] * F[b][c];
        }
    }
}

// how they change with dF
static void changeCofactors(double F[3][3], double dF[3][3], double out[3][3]) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[i][j] = dF[a][c] * F[b][d] + F[a][c] * dF[b][d] - dF[a][d] * F[b][c] - F[a][d] * dF[b][c];
        }
    }
}

// one turn of Jacobi's method, which makes A[p][q] zero
static void turnPair(double A[4][4], double V[4][4], int p, int q) {
    double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 4; ++k) {
        double x = A[k][p], y = A[k][q];
        A[k][p] = c * x - s * y;
        A[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 4; ++k) {
        double x = A[p][k], y = A[q][k];
        A[p][k] = c * x - s * y;
        A[q][k] = s * x + c * y;
        x = V[k][p], y = V[k][q];
        V[k][p] = c * x - s * y;
        V[k][q] = s * x + c * y;
    }
}

// the eigenvector of the largest eigenvalue of a symmetric matrix, by Jacobi's method
static void findLargest(double A[4][4], double outVector[4]) {
    double V[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        for (int p = 0; p < 4; ++p) {
            for (int q = p + 1; q < 4; ++q) {
                if (A[p][q] != 0.0) {
                    turnPair(A, V, p, q);
                }
            }
        }
    }
    int best = 0;
    for (int k = 1; k < 4; ++k) {
        best = A[k][k] > A[best][best] ? k : best;
    }
    for (int k = 0; k < 4; ++k) {
        outVector[k] = V[k][best];
    }
}

void srReferenceRotation(double G[3][3], double outQ[3][3]) {
    double x = G[2][1] - G[1][2], y = G[0][2] - G[2][0], z = G[1][0] - G[0][1];
    double N[4][4] = {
        {trace(G), x, y, z},
        {x, G[0][0] - G[1][1] - G[2][2], G[0][1] + G[1][0], G[0][2] + G[2][0]},
        {y, G[0][1] + G[1][0], G[1][1] - G[0][0] - G[2][2], G[1][2] + G[2][1]},
        {z, G[0][2] + G[2][0], G[1][2] + G[2][1], G[2][2] - G[0][0] - G[1][1]},
    };
    double q[4];
    findLargest(N, q);
    double a = q[0], b = q[1], c = q[2], d = q[3];
    double Q[3][3] = {
        {a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)},
        {2.0 * (b * c + a * d), a * a - b * b + c * c - d * d, 2.0 * (c * d - a * b)},
        {2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a - b * b - c * c + d * d},
    };
    memcpy(outQ, Q, sizeof(Q));
}

// A^-1 b of a symmetric matrix, by its cofactors
static void solveThree(double A[3][3], const double b[3], double out[3]) {
    double C[3][3];
    findCofactors(A, C);
    double J = A[0][0] * C[0][0] + A[0][1] * C[0][1] + A[0][2] * C[0][2];
    for (int i = 0; i < 3; ++i) {
        out[i] = (C[0][i] * b[0] + C[1][i] * b[1] + C[2][i] * b[2]) / J;
    }
}

// How the rotation Q of G changes with dG: dQ = Q W, W skew. From Q Y = G with Y symmetric,
//   W Y + Y W = Q' dG - dG' Q,   or with w the axis of W,   (tr(Y) - Y) w = axis(Q' dG - dG' Q).
static void changeRotation(double Q[3][3], double G[3][3], double dG[3][3], double out[3][3]) {
    double Y[3][3], A[3][3], B[3][3], w[3];
    multiplyTransposed(Q, G, Y);
    multiplyTransposed(Q, dG, A);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[i][j] = (i == j ? trace(Y) : 0.0) - 0.5 * (Y[i][j] + Y[j][i]);
        }
    }
    const double axis[3] = {A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]};
    solveThree(B, axis, w);
    double W[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
    multiply(Q, W, out);
}

// what a state of a cell is described by
typedef struct State {
    double mu;
    double lambda;
    double side; // g
    double F[3][3];
    double S[3][3];
    double G[3][3]; // F S, or F
    double Q[3][3];
} State;

// psi = mu |F - Q S|^2
static double arap(State* s, double P[3][3]) {
    double QS[3][3], sum = 0.0;
    multiply(s->Q, s->S, QS);
    for (int k = 0; k < 9; ++k) {
        double off = s->F[k / 3][k % 3] - QS[k / 3][k % 3];
        P[k / 3][k % 3] = 2.0 * s->mu * off;
        sum += s->mu * off * off;
    }
    return sum;
}

static void arapChange(State* s, double dF[3][3], double dP[3][3]) {
    double dG[3][3], dQ[3][3], dQS[3][3];
    multiply(dF, s->S, dG);
    changeRotation(s->Q, s->G, dG, dQ);
    multiply(dQ, s->S, dQS);
    for (int k = 0; k < 9; ++k) {
        dP[k / 3][k % 3] = 2.0 * s->mu * (dF[k / 3][k % 3] - dQS[k / 3][k % 3]);
    }
}

// psi = mu |F - R|^2 + lambda/2 (tr(R' F) - 3 g)^2, g the side of a cube that is as large as it wants to be
static double corotated(State* s, double P[3][3]) {
    double grown = contract(s->Q, s->F) - 3.0 * s->side, sum = 0.5 * s->lambda * grown * grown;
    for (int k = 0; k < 9; ++k) {
        double R = s->Q[k / 3][k % 3], off = s->F[k / 3][k % 3] - R;
        P[k / 3][k % 3] = 2.0 * s->mu * off + s->lambda * grown * R;
        sum += s->mu * off * off;
    }
    return sum;
}

static void corotatedChange(State* s, double dF[3][3], double dP[3][3]) {
    double dR[3][3], grown = contract(s->Q, s->F) - 3.0 * s->side, more = contract(s->Q, dF);
    changeRotation(s->Q, s->F, dF, dR);
    for (int k = 0; k < 9; ++k) {
        int i = k / 3, j = k % 3;
        dP[i][j] = 2.0 * s->mu * (dF[i][j] - dR[i][j]) + s->lambda * (more * s->Q[i][j] + grown * dR[i][j]);
    }
}

// psi = mu/2 (|F|^2 - 3) - mu (J - 1) + mu/2 (J - 1)^2 + lambda/2 (J - g^3)^2: Smith, de Goes, Kim (2018),
// without the logarithm
static double neoHookean(State* s, double P[3][3]) {
    double C[3][3], wanted = s->side * s->side * s->side;
    findCofactors(s->F, C);
    double J = s->F[0][0] * C[0][0] + s->F[0][1] * C[0][1] + s->F[0][2] * C[0][2];
    double slope = s->mu * (J - 2.0) + s->lambda * (J - wanted);
    for (int k = 0; k < 9; ++k) {
        P[k / 3][k % 3] = s->mu * s->F[k / 3][k % 3] + slope * C[k / 3][k % 3];
    }
    return 0.5 * s->mu * (contract(s->F, s->F) - 3.0 + (J - 1.0) * (J - 3.0)) +
           0.5 * s->lambda * (J - wanted) * (J - wanted);
}

static void neoHookeanChange(State* s, double dF[3][3], double dP[3][3]) {
    double C[3][3], dC[3][3], wanted = s->side * s->side * s->side;
    findCofactors(s->F, C);
    changeCofactors(s->F, dF, dC);
    double J = s->F[0][0] * C[0][0] + s->F[0][1] * C[0][1] + s->F[0][2] * C[0][2];
    double slope = s->mu * (J - 2.0) + s->lambda * (J - wanted), more = (s->mu + s->lambda) * contract(C, dF);
    for (int k = 0; k < 9; ++k) {
        int i = k / 3, j = k % 3;
        dP[i][j] = s->mu * dF[i][j] + more * C[i][j] + slope * dC[i][j];
    }
}

// Green's strain (F' F - 1) / 2, and how it changes
static void findStrain(double F[3][3], double E[3][3]) {
    multiplyTransposed(F, F, E);
    for (int k = 0; k < 9; ++k) {
        E[k / 3][k % 3] = 0.5 * (E[k / 3][k % 3] - UNIT[k / 3][k % 3]);
    }
}

// 2 mu E + lambda (tr(E) - wanted)
static void findStress(State* s, double E[3][3], double wanted, double out[3][3]) {
    for (int k = 0; k < 9; ++k) {
        out[k / 3][k % 3] =
            2.0 * s->mu * E[k / 3][k % 3] + s->lambda * (trace(E) - wanted) * UNIT[k / 3][k % 3];
    }
}

// psi = mu |E|^2 + lambda/2 (tr(E) - 3/2 (g^2 - 1))^2
static double stVenantKirchhoff(State* s, double P[3][3]) {
    double E[3][3], stress[3][3];
    double wanted = 1.5 * (s->side * s->side - 1.0);
    findStrain(s->F, E);
    findStress(s, E, wanted, stress);
    multiply(s->F, stress, P);
    return s->mu * contract(E, E) + 0.5 * s->lambda * pow(trace(E) - wanted, 2.0);
}

static void stVenantKirchhoffChange(State* s, double dF[3][3], double dP[3][3]) {
    double E[3][3], A[3][3], dE[3][3], stress[3][3], turned[3][3], strained[3][3];
    findStrain(s->F, E);
    findStress(s, E, 1.5 * (s->side * s->side - 1.0), stress);
    multiply(dF, stress, turned);
    multiplyTransposed(s->F, dF, A);
    for (int k = 0; k < 9; ++k) {
        dE[k / 3][k % 3] = 0.5 * (A[k / 3][k % 3] + A[k % 3][k / 3]);
    }
    findStress(s, dE, 0.0, stress);
    multiply(s->F, stress, strained);
    for (int k = 0; k < 9; ++k) {
        dP[k / 3][k % 3] = turned[k / 3][k % 3] + strained[k / 3][k % 3];
    }
}

typedef struct Model {
    double (*energy)(State* s, double P[3][3]);
    void (*change)(State* s, double dF[3][3], double dP[3][3]);
} Model;

static const Model MODELS[] = {
    {arap, arapChange},
    {corotated, corotatedChange},
    {neoHookean, neoHookeanChange},
    {stVenantKirchhoff, stVenantKirchhoffChange},
};

double srReferenceEnergy(const srReferenceMaterial* material, double F[3][3], double S[3][3],
                         double outP[3][3], double outH[9][9]) {
    State s = {
        .mu = material->lameMu, .lambda = material->lameLambda, .side = cbrt(1.0 + material->pressure)};
    const Model* model = &MODELS[material->model];
    memcpy(s.F, F, sizeof(s.F));
    memcpy(s.S, UNIT, sizeof(s.S));
    if (material->model == sr_referenceArap) {
        memcpy(s.S, S, sizeof(s.S));
    }
    multiply(s.F, s.S, s.G);
    srReferenceRotation(s.G, s.Q);
    double P[3][3];
    double energy = model->energy(&s, P);
    if (outP != NULL) {
        memcpy(outP, P, sizeof(P));
    }
    for (int column = 0; column < 9 && outH != NULL; ++column) {
        double dF[3][3] = {{0.0}}, dP[3][3];
        dF[column / 3][column % 3] = 1.0;
        model->change(&s, dF, dP);
        for (int row = 0; row < 9; ++row) {
            outH[row][column] = dP[row / 3][row % 3];
        }
    }
    return energy;
}
