// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bounded biharmonic weights of small cages against a quadratic program of full matrices, solved by an
// interior point method (Nocedal and Wright 2006, 16.6): from gradients of cells to the weights nothing is
// the library's but where bones are sampled. Its answer is judged by the conditions of a minimum, not by
// itself.

#include "support/scenes.h"
#include "support/support.h"
#include "weights/biharmonic.h"
#include "weights/biharmonic_system.h"
#include "weights/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    mostNodes = 100,
    mostColumns = 4,
    mostUnknowns = mostNodes * mostColumns,
    sceneCount = 4
};

// Nodes whose weights are asked for, and the energy W' A W / 2 - L' W of their weights.
typedef struct Dense {
    srCage cage;
    srVec3 points[2 * mostColumns];
    int32_t columns[2 * mostColumns];
    int32_t elements[mostColumns][3];
    srAnchors anchors;
    srAnchorRows rows;
    int32_t nodes[mostNodes];
    int32_t rowCount;
    double A[mostNodes][mostNodes];
    double loads[mostNodes][mostColumns];
} Dense;

static void addElement(Dense* d, srVec3 from, srVec3 to, int32_t fromColumn, int32_t toColumn) {
    int32_t k = d->anchors.elementCount++;
    d->points[2 * k] = from;
    d->points[2 * k + 1] = to;
    d->columns[2 * k] = fromColumn;
    d->columns[2 * k + 1] = toColumn;
    d->elements[k][0] = 2 * k;
    d->elements[k][1] = d->elements[k][2] = 2 * k + 1;
    d->anchors.points = d->points;
    d->anchors.columns = d->columns;
    d->anchors.elements = (const int32_t (*)[3])d->elements;
    d->anchors.pointCount = 2 * (k + 1);
    int32_t count = 1 + (fromColumn > toColumn ? fromColumn : toColumn);
    d->anchors.columnCount = count > d->anchors.columnCount ? count : d->anchors.columnCount;
}

static srVec3 at(double x, double y, double z) {
    return (srVec3){x, y, z};
}

// A bar of 2 x 8 x 2 cubes of 0.25: bones along its axis on nodes, beside them, in cells that are all
// different, and a control cage with a point.
static void createScene(int scene, Dense* d) {
    memset(d, 0, sizeof(*d));
    assert_success(srTestCreateBarCage((const int32_t[]){2, 8, 2}, 0.25, &d->cage));
    double off = scene == 0 ? 0.0 : 0.03;
    for (int32_t i = 0; i < d->cage.nodeCount && scene == 2; i++) {
        srVec3 shake = {sin(7.0 * i), sin(11.0 * i + 1.0), sin(13.0 * i + 2.0)};
        d->cage.nodes[i] = srAdd(d->cage.nodes[i], srScale(0.04, shake));
    }
    double x = 0.25 + off, z = 0.25 + 0.7 * off;
    if (scene == 3) {
        addElement(d, at(0.25, 0.25, 0.25), at(0.25, 1.0, 0.25), 0, 1);
        addElement(d, at(0.3, 1.2, 0.2), at(0.1, 1.6, 0.3), 1, 2);
        addElement(d, at(0.2, 1.85, 0.35), at(0.2, 1.85, 0.35), 3, 3);
    } else {
        addElement(d, at(x, 0.25, z), at(x, 0.5, z), 0, 0);
        addElement(d, at(x, 0.75, z), at(x, 1.0, z), 1, 1);
        addElement(d, at(x, 1.25, z), at(x, 1.5 + off, z), 2, 2);
        addElement(d, at(x, 1.75, z), at(x, 1.95, z), 3, 3);
    }
    assert_success(srCreateAnchorRows(&d->cage, &d->anchors, &d->rows));
}

static void destroyScene(Dense* d) {
    srDestroyAnchorRows(&d->rows);
    srDestroyCage(&d->cage);
}

// K by node and node, masses, and what is given, all of all nodes; lengths in units of the cube root of the
// volume.
static double fillAll(const Dense* d, double K[mostNodes][mostNodes], double* masses) {
    double volume = 0.0;
    for (int32_t c = 0; c < d->cage.cellCount; c++) {
        const int32_t* k = d->cage.cells[c];
        srVec3 g[4];
        double six = findGradients(&d->cage, c, g);
        assert_true(six > 0.0);
        volume += six / 6.0;
        for (int p = 0; p < 4; p++) {
            masses[k[p]] += six / 24.0;
            for (int q = 0; q < 4; q++) {
                K[k[p]][k[q]] += six / 6.0 * srDot(g[p], g[q]);
            }
        }
    }
    double unit = cbrt(volume);
    for (int32_t i = 0; i < d->cage.nodeCount; i++) {
        masses[i] /= volume;
        for (int32_t k = 0; k < d->cage.nodeCount; k++) {
            K[i][k] /= unit;
        }
    }
    return unit;
}

// Over all nodes first: A = K M^-1 K and samples' B' B, loads B' v; then what is fixed goes to the right.
static void fillProblem(Dense* d) {
    static double K[mostNodes][mostNodes], all[mostNodes][mostNodes], pulls[mostNodes][mostColumns];
    double masses[mostNodes] = {0};
    int32_t n = d->cage.nodeCount;
    assert_true(n <= mostNodes);
    memset(K, 0, sizeof(K));
    memset(all, 0, sizeof(all));
    memset(pulls, 0, sizeof(pulls));
    double unit = fillAll(d, K, masses);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            for (int32_t k = 0; k < n; k++) {
                all[i][j] += K[k][i] * K[k][j] / masses[k];
            }
        }
    }
    for (int32_t s = 0; s < d->rows.sampleCount; s++) {
        const srAnchorSample* sample = &d->rows.samples[s];
        double strength = unit * sample->strength;
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < 4; b++) {
                all[sample->nodes[a]][sample->nodes[b]] += strength * sample->weights[a] * sample->weights[b];
            }
            for (int c = 0; c < 3; c++) {
                pulls[sample->nodes[a]][sample->value.columns[c]] +=
                    strength * sample->weights[a] * sample->value.values[c];
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        if (!d->rows.isFixed[i]) {
            d->nodes[d->rowCount++] = i;
        }
    }
    for (int32_t r = 0; r < d->rowCount; r++) {
        int32_t i = d->nodes[r];
        memcpy(d->loads[r], pulls[i], sizeof(pulls[i]));
        for (int32_t q = 0; q < d->rowCount; q++) {
            d->A[r][q] = all[i][d->nodes[q]];
        }
        for (int32_t k = 0; k < n; k++) {
            for (int c = 0; c < 3 && d->rows.isFixed[k]; c++) {
                const srAnchorValue* fixed = &d->rows.fixedValues[k];
                d->loads[r][fixed->columns[c]] -= all[i][k] * fixed->values[c];
            }
        }
    }
}

// ---- interior point
// ------------------------------------------------------------------------------------------------

// In place, by rows, with pivots; the answer is in b.
static void solveFull(double* M, double* b, int32_t n) {
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++) {
            best = fabs(M[i * n + k]) > fabs(M[best * n + k]) ? i : best;
        }
        for (int32_t j = 0; j < n && best != k; j++) {
            double held = M[k * n + j];
            M[k * n + j] = M[best * n + j];
            M[best * n + j] = held;
        }
        double held = b[k];
        b[k] = b[best];
        b[best] = held;
        for (int32_t i = k + 1; i < n; i++) {
            double factor = M[i * n + k] / M[k * n + k];
            for (int32_t j = k; j < n && factor != 0.0; j++) {
                M[i * n + j] -= factor * M[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++) {
            b[i] -= M[i * n + j] * b[j];
        }
        b[i] /= M[i * n + i];
    }
}

static double gradientOf(const Dense* d, const double* w, int32_t row, int32_t column) {
    double sum = -d->loads[row][column];
    for (int32_t q = 0; q < d->rowCount; q++) {
        sum += d->A[row][q] * w[q * d->anchors.columnCount + column];
    }
    return sum;
}

// One step of Newton's for the middle of the way: gradient + y - z = 0, sums of rows 1, w z = mu.
static void step(const Dense* d, double mu, double* w, double* y, double* z) {
    int32_t m = d->anchors.columnCount, count = d->rowCount * m, all = count + d->rowCount;
    double* M = calloc((size_t)all * (size_t)all, sizeof(double));
    double* b = calloc((size_t)all, sizeof(double));
    for (int32_t k = 0; k < count; k++) {
        int32_t r = k / m;
        for (int32_t q = 0; q < d->rowCount; q++) {
            M[k * all + q * m + k % m] = d->A[r][q];
        }
        M[k * all + k] += z[k] / w[k];
        M[k * all + count + r] = M[(count + r) * all + k] = 1.0;
        b[k] = -(gradientOf(d, w, r, k % m) + y[r] - mu / w[k]);
        b[count + r] -= w[k];
    }
    for (int32_t r = 0; r < d->rowCount; r++) {
        b[count + r] += 1.0;
    }
    solveFull(M, b, all);
    double share = 1.0;
    for (int32_t k = 0; k < count; k++) {
        double move = (mu - z[k] * b[k]) / w[k] - z[k];
        share = b[k] < 0.0 ? fmin(share, -0.99 * w[k] / b[k]) : share;
        share = move < 0.0 ? fmin(share, -0.99 * z[k] / move) : share;
    }
    for (int32_t k = 0; k < count; k++) {
        z[k] += share * ((mu - z[k] * b[k]) / w[k] - z[k]);
        w[k] += share * b[k];
    }
    for (int32_t r = 0; r < d->rowCount; r++) {
        y[r] += share * b[count + r];
    }
    free(M);
    free(b);
}

// Ends where all conditions of a minimum hold; it is the only one, as A is positive definite.
static void solveDensely(const Dense* d, double* w) {
    static double y[mostNodes], z[mostUnknowns];
    int32_t m = d->anchors.columnCount, count = d->rowCount * m;
    memset(y, 0, sizeof(y));
    double mu = 1.0, worst = 1.0;
    for (int32_t k = 0; k < count; k++) {
        w[k] = 1.0 / m;
        z[k] = 1.0;
    }
    for (int steps = 0; steps < 100 && worst > 1e-10; steps++) {
        step(d, mu, w, y, z);
        double gap = 0.0;
        worst = 0.0;
        for (int32_t k = 0; k < count; k++) {
            gap += w[k] * z[k] / count;
            worst = fmax(worst, fmin(fabs(w[k]), fabs(z[k])));
            worst = fmax(worst, fabs(gradientOf(d, w, k / m, k % m) + y[k / m] - z[k]) / d->A[k / m][k / m]);
        }
        mu = 0.1 * gap;
    }
    assert_true(worst <= 1e-10);
    for (int32_t r = 0; r < d->rowCount; r++) {
        double sum = 0.0;
        for (int32_t j = 0; j < m; j++) {
            assert_true(w[r * m + j] >= 0.0 && z[r * m + j] >= 0.0);
            sum += w[r * m + j];
        }
        assert_near(sum, 1.0, 1e-12);
    }
}

static void weights_are_those_of_a_dense_program(void** state) {
    (void)state;
    static Dense d;
    static double expected[mostUnknowns];
    for (int scene = 0; scene < sceneCount; scene++) {
        createScene(scene, &d);
        fillProblem(&d);
        solveDensely(&d, expected);
        float weights[mostUnknowns];
        srSimplexSettings settings = {1e-10, 100000};
        srBiharmonicReport report;
        assert_success(srSolveBiharmonic(&d.cage, &d.anchors, &settings, NULL,
                                         &(srBiharmonicAnswer){.weights = weights}, &report));
        assert_true(report.loop.isConverged);
        assert_int_equal(report.peaks.roundCount, 0);
        int32_t m = d.anchors.columnCount, boundCount = 0;
        double worst = 0.0;
        for (int32_t k = 0; k < d.rowCount * m; k++) {
            double got = (double)weights[d.nodes[k / m] * m + k % m];
            worst = fmax(worst, fabs(got - expected[k]));
            boundCount += expected[k] < 1e-9;
        }
        // a float near one is off by 3e-8 by itself
        assert_near(worst, 0.0, 1e-7);
        assert_true(boundCount > d.rowCount / 2);
        assert_int_equal(d.rowCount + d.rows.fixedCount, d.cage.nodeCount);
        destroyScene(&d);
    }
}

// ---- residuals
// ------------------------------------------------------------------------------------------------

// Of weights w and their smooth x, with full matrices and the metric alone from the library.
static void measureResiduals(const Dense* d, const double* metric, const double* w, const double* x,
                             double* outPrimal, double* outDual) {
    int32_t m = d->anchors.columnCount;
    double all = 0.0, apart = 0.0, left = 0.0, cut = 0.0;
    for (int32_t r = 0; r < d->rowCount; r++) {
        double s[mostColumns], back[mostColumns];
        for (int32_t j = 0; j < m; j++) {
            s[j] = w[r * m + j] - gradientOf(d, x, r, j) / metric[r];
        }
        projectBySorting(s, m, back);
        for (int32_t j = 0; j < m; j++) {
            double here = w[r * m + j];
            all += metric[r] * here * here;
            apart += metric[r] * (x[r * m + j] - here) * (x[r * m + j] - here);
            left += metric[r] * (back[j] - here) * (back[j] - here);
            cut += metric[r] * (s[j] - back[j]) * (s[j] - back[j]);
        }
    }
    *outPrimal = sqrt(apart / all);
    *outDual = sqrt(left / fmax(cut, 1e-6 * all));
}

static void residuals_of_cages_are_true_ones(void** state) {
    (void)state;
    static Dense d;
    static double w[mostUnknowns], x[mostUnknowns];
    const double TOLERANCES[] = {1e-2, 1e-4, 1e-6};
    for (int scene = 0; scene < sceneCount; scene++) {
        srStiffness stiffness;
        srPieces pieces;
        srBiharmonicSystem system;
        createScene(scene, &d);
        fillProblem(&d);
        assert_success(srCreateStiffness(&d.cage, &stiffness));
        assert_success(srCreatePieces(&d.cage, &d.rows, &pieces));
        assert_success(srCreateBiharmonicSystem(&d.cage, &stiffness, &d.rows, &pieces, 0,
                                                d.anchors.columnCount, &system));
        assert_int_equal(system.rowCount, d.rowCount);
        for (int t = 0; t < 3; t++) {
            srSimplexSettings settings = {TOLERANCES[t], 3000};
            srSimplexReport report;
            double primal, dual;
            assert_success(srSolveSimplexProblem(&system.problem, &settings, NULL, w, x, &report));
            assert_true(report.isConverged);
            measureResiduals(&d, system.metric, w, x, &primal, &dual);
            // the nearest normal is at least as near as the one that the library has
            assert_true(primal <= 1.001 * TOLERANCES[t] && dual <= 1.01 * TOLERANCES[t]);
            assert_near(primal, report.primalResidual, 1e-3 * TOLERANCES[t]);
        }
        srDestroyBiharmonicSystem(&system);
        srDestroyPieces(&pieces);
        srDestroyStiffness(&stiffness);
        destroyScene(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(weights_are_those_of_a_dense_program, srTestNothingLeaked),
        cmocka_unit_test_teardown(residuals_of_cages_are_true_ones, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/biharmonic_dense", tests, NULL, NULL);
}
