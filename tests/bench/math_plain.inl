// SPDX-License-Identifier: GPL-3.0-or-later
//
// Plain scalar C for one number type REAL; NAME adds its suffix, ROOT is its square root, SMALL its
// precision.

static void NAME(multiply)(const REAL A[9], const REAL B[9], REAL C[9]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

// A' B
static void NAME(multiplyTransposed)(const REAL A[9], const REAL B[9], REAL C[9]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
        }
    }
}

static REAL NAME(squares)(const REAL A[9]) {
    REAL sum = 0;
    for (int i = 0; i < 9; i++) {
        sum += A[i] * A[i];
    }
    return sum;
}

static void NAME(cofactors)(const REAL F[9], REAL C[9]) {
    C[0] = F[4] * F[8] - F[5] * F[7], C[1] = F[5] * F[6] - F[3] * F[8], C[2] = F[3] * F[7] - F[4] * F[6];
    C[3] = F[2] * F[7] - F[1] * F[8], C[4] = F[0] * F[8] - F[2] * F[6], C[5] = F[1] * F[6] - F[0] * F[7];
    C[6] = F[1] * F[5] - F[2] * F[4], C[7] = F[2] * F[3] - F[0] * F[5], C[8] = F[0] * F[4] - F[1] * F[3];
}

void NAME(srPlainRotation)(const REAL F[9], REAL R[9]) {
    REAL C[9], S[9], Q[9];
    NAME(cofactors)(F, C);
    REAL n = NAME(squares)(F), c = NAME(squares)(C), d = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
    REAL bound = ROOT(3 * n) * (d > 0 ? (REAL)1 : (REAL)1 / 3);
    REAL e = c + 2 * d * bound;
    REAL x = ROOT(n + 2 * ROOT(e > 0 ? e : 0));
    for (int step = 0; step < 4; step++) {
        REAL k = (x * x - n) / 2, z = k * x - d, p = k * k - (2 * d * x + c);
        x -= p * z / (2 * z * z - p * (x * x + k) / 2);
    }

    // R = ((k + n) F + x C - F F' F) / z
    REAL k = (x * x - n) / 2, inverse = 1 / (k * x - d);
    NAME(multiplyTransposed)(F, F, S);
    NAME(multiply)(F, S, Q);
    for (int i = 0; i < 9; i++) {
        Q[i] = inverse * ((k + n) * F[i] + x * C[i] - Q[i]);
    }

    // one step of Newton and Schulz
    NAME(multiplyTransposed)(Q, Q, S);
    for (int i = 0; i < 9; i++) {
        S[i] = (i % 4 == 0 ? (REAL)1.5 : 0) - S[i] / 2;
    }
    NAME(multiply)(Q, S, R);
}

static REAL NAME(columnProduct)(const REAL A[9], int p, int q) {
    return A[p] * A[q] + A[3 + p] * A[3 + q] + A[6 + p] * A[6 + q];
}

static void NAME(turnColumns)(REAL A[9], int p, int q, REAL c, REAL s) {
    for (int i = 0; i < 9; i += 3) {
        REAL a = A[i + p], b = A[i + q];
        A[i + p] = c * a + s * b;
        A[i + q] = c * b - s * a;
    }
}

static int NAME(turnPlain)(REAL B[9], REAL V[9], int p, int q) {
    REAL pp = NAME(columnProduct)(B, p, p), qq = NAME(columnProduct)(B, q, q),
         pq = NAME(columnProduct)(B, p, q);
    if (pq * pq <= SMALL * SMALL * pp * qq) {
        return 0;
    }
    REAL zeta = (pp - qq) / (2 * pq);
    REAL t = (zeta > 0 ? 1 : -1) / ((zeta > 0 ? zeta : -zeta) + ROOT(1 + zeta * zeta));
    REAL c = 1 / ROOT(1 + t * t);
    NAME(turnColumns)(B, p, q, c, c * t);
    NAME(turnColumns)(V, p, q, c, c * t);
    return 1;
}

static void NAME(sortPlain)(REAL B[9], REAL V[9], int p, int q) {
    if (NAME(columnProduct)(B, p, p) < NAME(columnProduct)(B, q, q)) {
        NAME(turnColumns)(B, p, q, 0, 1);
        NAME(turnColumns)(V, p, q, 0, 1);
    }
}

void NAME(srPlainSvd)(const REAL F[9], REAL U[9], REAL s[3], REAL V[9]) {
    REAL B[9];
    for (int i = 0; i < 9; i++) {
        B[i] = F[i];
        V[i] = i % 4 == 0;
    }
    for (int sweep = 0; sweep < 12; sweep++) {
        int turned = NAME(turnPlain)(B, V, 0, 1);
        turned += NAME(turnPlain)(B, V, 0, 2);
        turned += NAME(turnPlain)(B, V, 1, 2);
        if (turned == 0) {
            break;
        }
    }
    NAME(sortPlain)(B, V, 0, 1);
    NAME(sortPlain)(B, V, 0, 2);
    NAME(sortPlain)(B, V, 1, 2);
    for (int j = 0; j < 2; j++) {
        s[j] = ROOT(NAME(columnProduct)(B, j, j));
        for (int i = 0; i < 9; i += 3) {
            U[i + j] = B[i + j] / s[j];
        }
    }
    U[2] = U[3] * U[7] - U[6] * U[4];
    U[5] = U[6] * U[1] - U[0] * U[7];
    U[8] = U[0] * U[4] - U[3] * U[1];
    s[2] = U[2] * B[2] + U[5] * B[5] + U[8] * B[8];
}

void NAME(srPlainJacobiRotation)(const REAL F[9], REAL R[9]) {
    REAL U[9], V[9], s[3];
    NAME(srPlainSvd)(F, U, s, V);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
        }
    }
}
