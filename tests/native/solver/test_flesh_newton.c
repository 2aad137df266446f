// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where flesh comes to rest far from its pose, against full Newton on the energy that a cell is said to store
// (cell_kernels.inl), in double and dense:
//   mu V |F - Q G|^2 + lambda V (det F - det G)^2 / 2,   G of the pose, Q the rotation nearest to F G'
// Its gradient is written out, its Hessian is that gradient's differences.

#include "flesh_body.h"

static const int32_t BAR[3] = {2, 8, 2};
#define SPACING 0.125
#define LOAD_STEPS 8
#define MOST_STEPS 60
#define DIFFERENCE 1e-6

typedef struct Newton {
    const srCage* cage;
    const bool* isHeld;
    const srVec3* pose;
    double lameMu;
    double lameLambda;
    double density;
    srVec3 load; // m/s^2
    int32_t size;
    double* x;
    double* gradient;
    double* H;
} Newton;

typedef double Matrix[3][3];

static double cofactorOf(const Matrix A, Matrix out) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
            out[i][j] = A[p][r] * A[q][s] - A[p][s] * A[q][r];
        }
    }
    return A[0][0] * out[0][0] + A[0][1] * out[0][1] + A[0][2] * out[0][2];
}

// Higham's iteration: half of a matrix and of its inverse transposed
static void findNearest(const Matrix A, Matrix Q) {
    memcpy(Q, A, sizeof(Matrix));
    for (int step = 0; step < 30; ++step) {
        Matrix n;
        double det = cofactorOf((const double (*)[3])Q, n);
        assert_true(det > 0.0);
        for (int k = 0; k < 9; ++k) {
            Q[k / 3][k % 3] = 0.5 * (Q[k / 3][k % 3] + n[k / 3][k % 3] / det);
        }
    }
}

static void gradientOf(const double x[12], const srVec3 g[4], Matrix F) {
    for (int k = 0; k < 9; ++k) {
        F[k / 3][k % 3] = 0.0;
        for (int c = 0; c < 4; ++c) {
            const double along[3] = {g[c].x, g[c].y, g[c].z};
            F[k / 3][k % 3] += x[3 * c + k / 3] * along[k % 3];
        }
    }
}

static double evaluateCell(const Newton* newton, const double x[12], const double p[12], const srVec3 g[4],
                           double volume, double out[12]) {
    Matrix F, G, B, Q, n, posedN;
    gradientOf(x, g, F);
    gradientOf(p, g, G);
    for (int k = 0; k < 9; ++k) {
        const double* f = F[k / 3];
        const double* e = G[k % 3];
        B[k / 3][k % 3] = f[0] * e[0] + f[1] * e[1] + f[2] * e[2];
    }
    findNearest((const double (*)[3])B, Q);
    double change = cofactorOf((const double (*)[3])F, n) - cofactorOf((const double (*)[3])G, posedN);
    double energy = 0.5 * newton->lameLambda * volume * change * change;
    memset(out, 0, 12 * sizeof(double));
    for (int k = 0; k < 9; ++k) {
        int i = k / 3, j = k % 3;
        double C = F[i][j] - Q[i][0] * G[0][j] - Q[i][1] * G[1][j] - Q[i][2] * G[2][j];
        double P = volume * (2.0 * newton->lameMu * C + newton->lameLambda * change * n[i][j]);
        energy += newton->lameMu * volume * C * C;
        for (int c = 0; c < 4; ++c) {
            const double along[3] = {g[c].x, g[c].y, g[c].z};
            out[3 * c + i] += P * along[j];
        }
    }
    return energy;
}

// energy, gradient and, if asked for, Hessian; what is held has ones on the diagonal
static double evaluate(Newton* newton, const double* x, bool wantsHessian) {
    size_t size = (size_t)newton->size;
    double energy = 0.0;
    memset(newton->gradient, 0, size * sizeof(double));
    if (wantsHessian) {
        memset(newton->H, 0, size * size * sizeof(double));
    }
    for (int32_t cell = 0; cell < newton->cage->cellCount; ++cell) {
        const int32_t* nodes = newton->cage->cells[cell];
        srVec3 g[4];
        double volume = femGradients(newton->cage, cell, g);
        double mine[12], p[12], out[12], less[12];
        for (int c = 0; c < 4; ++c) {
            memcpy(mine + 3 * c, x + 3 * nodes[c], 3 * sizeof(double));
            memcpy(p + 3 * c, &newton->pose[nodes[c]], 3 * sizeof(double));
        }
        energy += evaluateCell(newton, mine, p, g, volume, out);
        double push[3] = {newton->load.x, newton->load.y, newton->load.z};
        for (int k = 0; k < 12; ++k) {
            double force = 0.25 * volume * newton->density * push[k % 3];
            newton->gradient[3 * nodes[k / 3] + k % 3] += out[k] - force;
            energy -= force * mine[k];
        }
        for (int k = 0; wantsHessian && k < 12; ++k) {
            double kept = mine[k];
            mine[k] = kept + DIFFERENCE;
            evaluateCell(newton, mine, p, g, volume, out);
            mine[k] = kept - DIFFERENCE;
            evaluateCell(newton, mine, p, g, volume, less);
            mine[k] = kept;
            size_t column = 3 * (size_t)nodes[k / 3] + (size_t)(k % 3);
            for (int m = 0; m < 12; ++m) {
                size_t row = 3 * (size_t)nodes[m / 3] + (size_t)(m % 3);
                double h = 0.25 * (out[m] - less[m]) / DIFFERENCE;
                newton->H[row * size + column] += h;
                newton->H[column * size + row] += h;
            }
        }
    }
    for (size_t k = 0; k < size; ++k) {
        if (newton->isHeld[k / 3]) {
            newton->gradient[k] = 0.0;
            for (size_t m = 0; wantsHessian && m < size; ++m) {
                newton->H[k * size + m] = newton->H[m * size + k] = m == k ? 1.0 : 0.0;
            }
        }
    }
    return energy;
}

// H = L L' in place, of H + shift I; false when a pivot is not positive
static bool factorDense(double* H, size_t size, double shift) {
    for (size_t j = 0; j < size; ++j) {
        for (size_t i = j; i < size; ++i) {
            double sum = H[i * size + j] + (i == j ? shift : 0.0);
            for (size_t k = 0; k < j; ++k) {
                sum -= H[i * size + k] * H[j * size + k];
            }
            if (i == j && !(sum > 0.0)) {
                return false;
            }
            H[i * size + j] = i == j ? sqrt(sum) : sum / H[j * size + j];
        }
    }
    return true;
}

static void solveDense(const double* L, size_t size, double* b) {
    for (size_t i = 0; i < size; ++i) {
        for (size_t k = 0; k < i; ++k) {
            b[i] -= L[i * size + k] * b[k];
        }
        b[i] /= L[i * size + i];
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; ++k) {
            b[i] -= L[k * size + i] * b[k];
        }
        b[i] /= L[i * size + i];
    }
}

// to where the gradient is rounding; a step is halved until energy falls
static void minimise(Newton* newton, double* direction, double* tried) {
    size_t size = (size_t)newton->size;
    for (int step = 0; step < MOST_STEPS; ++step) {
        double energy = evaluate(newton, newton->x, true);
        double slope = 0.0, shift = 0.0, longest = 0.0;
        while (!factorDense(newton->H, size, shift)) {
            shift = shift > 0.0 ? 4.0 * shift : 1.0;
            evaluate(newton, newton->x, true);
        }
        memcpy(direction, newton->gradient, size * sizeof(double));
        solveDense(newton->H, size, direction);
        for (size_t k = 0; k < size; ++k) {
            slope += direction[k] * newton->gradient[k];
            longest = fmax(longest, fabs(direction[k]));
        }
        if (longest < 1e-9) {
            return;
        }
        double length = fmin(1.0, 0.05 / longest);
        for (int k = 0; k < 20; ++k, length *= 0.5) {
            for (size_t m = 0; m < size; ++m) {
                tried[m] = newton->x[m] - length * direction[m];
            }
            if (evaluate(newton, tried, false) < energy - 1e-4 * length * slope + 1e-13 * fabs(energy)) {
                break;
            }
        }
        memcpy(newton->x, tried, size * sizeof(double));
    }
    fail_msg("Newton did not converge");
}

static void solveStatic(Newton* newton) {
    size_t size = (size_t)newton->size;
    double* direction = calloc(2 * size, sizeof(double));
    newton->gradient = calloc(size, sizeof(double));
    newton->H = calloc(size * size, sizeof(double));
    assert_true(direction != NULL && newton->gradient != NULL && newton->H != NULL);
    srVec3 load = newton->load;
    for (int step = 1; step <= LOAD_STEPS; ++step) {
        newton->load = srScale((double)step / LOAD_STEPS, load);
        minimise(newton, direction, direction + size);
    }
    free(direction);
    free(newton->gradient);
    free(newton->H);
}

// bent to an arc of that many radians, about z
static void bendPose(const srCage* cage, double angle, srVec3* outPose) {
    for (int32_t i = 0; i < cage->nodeCount; ++i) {
        srVec3 x = cage->nodes[i];
        double turn = angle * x.y;
        double radius = angle > 0.0 ? 1.0 / angle : 0.0;
        outPose[i] =
            angle > 0.0 ? (srVec3){radius - (radius - x.x) * cos(turn), (radius - x.x) * sin(turn), x.z} : x;
    }
}

typedef struct Way {
    const char* name;
    int32_t sweeps;
    int32_t substeps;
    int32_t handleCount;
    double tolerance;
} Way;

// mean distance from where Newton comes to rest, of the longest way of a node
static double findAway(const Newton* newton, const Way* way, double young, double nu) {
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, way->handleCount);
    srFleshDials dials = fleshDials(young, nu);
    dials.sweeps = way->sweeps;
    dials.substeps = way->substeps;
    dials.dampingRate = 6.0;
    dials.viscosity = way->sweeps > 1 ? 1.0 : 0.0;
    fleshTune(&body, &dials);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        body.from[i] = body.to[i] = srToFloat(newton->pose[i]);
        body.loads[i] = srToFloat(newton->load);
    }
    for (int frame = 0; frame < 300; ++frame) {
        fleshStep(&body);
    }
    double away = 0.0, whole = 0.0;
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        const double* x = newton->x + 3 * (size_t)i;
        srVec3 moved = srSub((srVec3){x[0], x[1], x[2]}, newton->pose[i]);
        away += srDistance(moved, srToDouble(body.state.offsets[i])) / body.cage.nodeCount;
        whole = fmax(whole, srLength(moved));
    }
    fleshDestroy(&body);
    return away / whole;
}

static void compareAtRest(double angle, double young, double nu, const Way* ways, int wayCount) {
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 1.0f, 0);
    bool* isHeld = calloc((size_t)body.cage.nodeCount, sizeof(bool));
    srVec3* pose = calloc((size_t)body.cage.nodeCount, sizeof(srVec3));
    double* x = calloc(3 * (size_t)body.cage.nodeCount, sizeof(double));
    assert_true(isHeld != NULL && pose != NULL && x != NULL);
    fleshCopyHeld(&body, isHeld);
    bendPose(&body.cage, angle, pose);
    memcpy(x, pose, (size_t)body.cage.nodeCount * sizeof(srVec3));
    Newton newton = {
        .cage = &body.cage,
        .isHeld = isHeld,
        .pose = pose,
        .lameMu = young / (2.0 * (1.0 + nu)),
        .lameLambda = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        .density = 1000.0,
        .load = {-9.8, 0.0, 0.0},
        .size = 3 * body.cage.nodeCount,
        .x = x,
    };
    solveStatic(&newton);
    int32_t tip = fleshTip(&body);
    double sag = srDistance((srVec3){x[3 * tip], x[3 * tip + 1], x[3 * tip + 2]}, pose[tip]);
    print_message("bent by %.1f, E %.0e, Poisson %.2f: sags by %.3f;", angle, young, nu, sag);
    assert_true(sag > 0.2); // of the bar's length of 1
    double errors[8];
    for (int k = 0; k < wayCount; ++k) {
        errors[k] = findAway(&newton, &ways[k], young, nu);
        print_message("  %s %.4f", ways[k].name, errors[k]);
    }
    print_message("\n");
    for (int k = 0; k < wayCount; ++k) {
        assert_near(errors[k], 0.0, ways[k].tolerance);
    }
    free(isHeld);
    free(pose);
    free(x);
    fleshDestroy(&body);
}

static const Way WAYS[] = {
    {"converged", 20, 40, 0, 1e-3},
    {"3 substeps, as artists get it", 1, 3, SR_USUAL_HANDLES, 0.04},
    {"10, with handles", 1, 10, SR_USUAL_HANDLES, 0.01},
    {"40, sweeps alone", 1, 40, 0, 0.01},
};

static void flesh_that_sags_far_rests_where_newton_does(void** state) {
    (void)state;
    compareAtRest(0.0, 5e5, 0.3, WAYS, SR_ARRAY_COUNT(WAYS));
    compareAtRest(0.0, 4e5, 0.45, WAYS, SR_ARRAY_COUNT(WAYS));
    compareAtRest(0.0, 2e5, 0.3, WAYS, SR_ARRAY_COUNT(WAYS));
}

static void under_a_bent_rig_too(void** state) {
    (void)state;
    compareAtRest(1.5, 1e5, 0.3, WAYS, SR_ARRAY_COUNT(WAYS));
    compareAtRest(1.5, 1e5, 0.45, WAYS, SR_ARRAY_COUNT(WAYS));
    compareAtRest(1.0, 3e5, 0.3, WAYS, SR_ARRAY_COUNT(WAYS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flesh_that_sags_far_rests_where_newton_does),
        cmocka_unit_test(under_a_bent_rig_too),
    };
    return cmocka_run_group_tests_name("solver/flesh_newton", tests, NULL, srTestNothingLeaked);
}
