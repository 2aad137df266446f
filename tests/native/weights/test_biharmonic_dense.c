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
    mostColumns = 8,
    mostElements = 12,
    mostUnknowns = mostNodes * mostColumns,
    sceneCount = 11
};

// Nodes whose weights are asked for, and the energy W' A W / 2 - L' W of their weights.
typedef struct Dense {
    srCage cage;
    srVec3 points[3 * mostElements];
    int32_t columns[3 * mostElements];
    int32_t elements[mostElements][3];
    srAnchors anchors;
    srAnchorRows rows;
    int32_t nodes[mostNodes];
    int32_t rowCount;
    double A[mostNodes][mostNodes];
    double loads[mostNodes][mostColumns];
} Dense;

// A point, a segment or a triangle.
static void addElement(Dense* d, int32_t cornerCount, const srVec3* places, const int32_t* columns) {
    int32_t k = d->anchors.elementCount++, first = d->anchors.pointCount;
    for (int32_t c = 0; c < 3; c++) {
        d->elements[k][c] = first + (c < cornerCount ? c : cornerCount - 1);
    }
    for (int32_t c = 0; c < cornerCount; c++) {
        d->points[first + c] = places[c];
        d->columns[first + c] = columns[c];
        d->anchors.columnCount =
            columns[c] < d->anchors.columnCount ? d->anchors.columnCount : columns[c] + 1;
    }
    d->anchors.points = d->points;
    d->anchors.columns = d->columns;
    d->anchors.elements = (const int32_t (*)[3])d->elements;
    d->anchors.pointCount = first + cornerCount;
}

static void addSegment(Dense* d, srVec3 from, srVec3 to, int32_t fromColumn, int32_t toColumn) {
    addElement(d, 2, (const srVec3[]){from, to}, (const int32_t[]){fromColumn, toColumn});
}

static srVec3 at(double x, double y, double z) {
    return (srVec3){x, y, z};
}

// The twelve triangles of a box, each corner a column.
static void addBox(Dense* d, srVec3 low, srVec3 high) {
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, from = face % 2 << axis;
        for (int half = 0; half < 2; half++) {
            const int32_t corners[] = {from, from + u + v, half == 0 ? from + u : from + v};
            srVec3 places[3];
            for (int c = 0; c < 3; c++) {
                places[c] = at(corners[c] & 1 ? high.x : low.x, corners[c] & 2 ? high.y : low.y,
                               corners[c] & 4 ? high.z : low.z);
            }
            addElement(d, 3, places, corners);
        }
    }
}

static void addPoints(Dense* d, double off) {
    const srVec3 places[] = {
        {0.25, 0.25, 0.25}, {0.25, 0.75, 0.25}, {0.5, 1.25, 0.0}, {0.25, 1.75, 0.25}, {0.0, 1.25, 0.5}};
    for (int32_t j = 0; j < SR_ARRAY_COUNT(places); j++) {
        srVec3 place =
            srAdd(places[j], (srVec3){off - off * places[j].x, off, 0.7 * off - off * places[j].z});
        addElement(d, 1, &place, &j);
    }
}

static void addBones(Dense* d, double off) {
    double x = 0.25 + off, z = 0.25 + 0.7 * off;
    addSegment(d, at(x, 0.25, z), at(x, 0.5, z), 0, 0);
    addSegment(d, at(x, 0.75, z), at(x, 1.0, z), 1, 1);
    addSegment(d, at(x, 1.25, z), at(x, 1.5 + off, z), 2, 2);
    addSegment(d, at(x, 1.75, z), at(x, 1.95, z), 3, 3);
}

static void addAnchors(int scene, Dense* d) {
    switch (scene) {
    case 3: // of segments, and a point
        addSegment(d, at(0.25, 0.25, 0.25), at(0.25, 1.0, 0.25), 0, 1);
        addSegment(d, at(0.3, 1.2, 0.2), at(0.1, 1.6, 0.3), 1, 2);
        addElement(d, 1, &(srVec3){0.2, 1.85, 0.35}, &(int32_t){3});
        break;
    case 4:
        addPoints(d, 0.0);
        break;
    case 5:
    case 6:
        addPoints(d, 0.03);
        break;
    case 7: // on nodes
        addBox(d, at(0.0, 0.25, 0.0), at(0.5, 1.75, 0.5));
        break;
    case 8: // between them
        addBox(d, at(0.1, 0.3, 0.08), at(0.42, 1.7, 0.41));
        break;
    case 9: // around the whole
        addBox(d, at(-0.1, -0.15, -0.05), at(0.6, 2.1, 0.55));
        break;
    case 10: // one outside, and one of which little is inside
        addSegment(d, at(0.25, 0.25, 0.25), at(0.25, 0.9, 0.25), 0, 0);
        addSegment(d, at(0.56, 1.1, 0.2), at(0.56, 1.3, 0.3), 1, 1);
        addSegment(d, at(0.4, 1.7, 0.25), at(0.7, 1.8, 0.25), 2, 2);
        break;
    default:
        addBones(d, scene == 0 ? 0.0 : 0.03);
    }
}

// A bar of 2 x 8 x 2 cubes of 0.25, with bones along its axis on nodes and beside them, with points and with
// control cages; in some scenes cells are all different.
static void createScene(int scene, Dense* d) {
    memset(d, 0, sizeof(*d));
    assert_success(srTestCreateBarCage((const int32_t[]){2, 8, 2}, 0.25, &d->cage));
    bool isShaken = scene == 2 || scene == 6 || scene == 8;
    for (int32_t i = 0; i < d->cage.nodeCount && isShaken; i++) {
        srVec3 shake = {sin(7.0 * i), sin(11.0 * i + 1.0), sin(13.0 * i + 2.0)};
        d->cage.nodes[i] = srAdd(d->cage.nodes[i], srScale(0.04, shake));
    }
    addAnchors(scene, d);
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

// What the interior point method moves: weights and their room below ceilings, which is no difference, for it
// may be less than their rounding; multipliers of sums, of zeros and of ceilings.
typedef struct Way {
    double ceilings[mostUnknowns];
    double w[mostUnknowns], room[mostUnknowns], y[mostNodes], z[mostUnknowns], u[mostUnknowns];
} Way;

static double shorten(double share, double value, double move) {
    return move < 0.0 ? fmin(share, -0.99 * value / move) : share;
}

// One step of Newton's for the middle of the way: gradient + y - z + u = 0, sums of rows 1, w z = (c - w) u =
// mu.
static void step(const Dense* d, double mu, Way* way) {
    int32_t m = d->anchors.columnCount, count = d->rowCount * m, all = count + d->rowCount;
    double *w = way->w, *room = way->room, *y = way->y, *z = way->z, *u = way->u;
    double* M = calloc((size_t)all * (size_t)all, sizeof(double));
    double* b = calloc((size_t)all, sizeof(double));
    for (int32_t k = 0; k < count; k++) {
        int32_t r = k / m;
        for (int32_t q = 0; q < d->rowCount; q++) {
            M[k * all + q * m + k % m] = d->A[r][q];
        }
        M[k * all + k] += z[k] / w[k] + u[k] / room[k];
        M[k * all + count + r] = M[(count + r) * all + k] = 1.0;
        b[k] = -(gradientOf(d, w, r, k % m) + y[r] - mu / w[k] + mu / room[k]);
        b[count + r] -= w[k];
    }
    for (int32_t r = 0; r < d->rowCount; r++) {
        b[count + r] += 1.0;
    }
    solveFull(M, b, all);
    double share = 1.0;
    for (int32_t k = 0; k < count; k++) {
        share = shorten(share, w[k], b[k]);
        share = shorten(share, room[k], -b[k]);
        share = shorten(share, z[k], (mu - z[k] * b[k]) / w[k] - z[k]);
        share = shorten(share, u[k], (mu + u[k] * b[k]) / room[k] - u[k]);
    }
    for (int32_t k = 0; k < count; k++) {
        z[k] += share * ((mu - z[k] * b[k]) / w[k] - z[k]);
        u[k] += share * ((mu + u[k] * b[k]) / room[k] - u[k]);
        w[k] += share * b[k];
        room[k] -= share * b[k];
    }
    for (int32_t r = 0; r < d->rowCount; r++) {
        y[r] += share * b[count + r];
    }
    free(M);
    free(b);
}

// Ends where all conditions of a minimum hold; it is the only one, as A is positive definite.
static void solveDensely(const Dense* d, Way* way) {
    int32_t m = d->anchors.columnCount, count = d->rowCount * m;
    double mu = 1.0, worst = 1.0;
    memset(way->y, 0, sizeof(way->y));
    for (int32_t k = 0; k < count; k++) {
        way->w[k] = fmin(1.0 / m, 0.5 * way->ceilings[k]);
        way->room[k] = way->ceilings[k] - way->w[k];
        way->z[k] = way->u[k] = 1.0;
    }
    for (int steps = 0; steps < 100 && worst > 1e-10; steps++) {
        step(d, mu, way);
        double gap = 0.0;
        worst = 0.0;
        for (int32_t k = 0; k < count; k++) {
            double room = way->room[k];
            double force = gradientOf(d, way->w, k / m, k % m) + way->y[k / m] - way->z[k] + way->u[k];
            gap += 0.5 * (way->w[k] * way->z[k] + room * way->u[k]) / count;
            worst =
                fmax(worst, fmax(fmin(fabs(way->w[k]), fabs(way->z[k])), fmin(fabs(room), fabs(way->u[k]))));
            worst = fmax(worst, fabs(force) / d->A[k / m][k / m]);
        }
        mu = 0.1 * gap;
    }
    assert_true(worst <= 1e-10);
    for (int32_t r = 0; r < d->rowCount; r++) {
        double sum = 0.0;
        for (int32_t k = r * m; k < (r + 1) * m; k++) {
            assert_true(way->w[k] >= 0.0 && way->z[k] >= 0.0);
            assert_true(way->room[k] >= 0.0 && way->u[k] >= 0.0);
            assert_near(way->w[k] + way->room[k], way->ceilings[k], 1e-14);
            sum += way->w[k];
        }
        assert_near(sum, 1.0, 1e-12);
    }
}

// Ceilings, where the library found peaks, are part of the program.
static void weights_are_those_of_a_dense_program(void** state) {
    (void)state;
    static Dense d;
    static Way way;
    int32_t ceilingCount = 0;
    for (int scene = 0; scene < sceneCount; scene++) {
        createScene(scene, &d);
        fillProblem(&d);
        float weights[mostUnknowns], ceilings[mostUnknowns];
        srSimplexSettings settings = {1e-10, 100000};
        srBiharmonicReport report;
        srBiharmonicAnswer answer = {.weights = weights, .ceilings = ceilings};
        assert_success(srSolveBiharmonic(&d.cage, &d.anchors, &settings, NULL, &answer, &report));
        assert_true(report.loop.isConverged);
        assert_int_equal(report.peaks.roundCount, 0);
        int32_t m = d.anchors.columnCount, boundCount = 0;
        for (int32_t k = 0; k < d.rowCount * m; k++) {
            float ceiling = ceilings[d.nodes[k / m] * m + k % m];
            // one is a bound that zeros of others give: twice, there would be no room between them
            way.ceilings[k] = ceiling < 1.0f ? (double)ceiling : 2.0;
            ceilingCount += ceiling < 1.0f;
        }
        solveDensely(&d, &way);
        double worst = 0.0;
        for (int32_t k = 0; k < d.rowCount * m; k++) {
            double got = (double)weights[d.nodes[k / m] * m + k % m];
            worst = fmax(worst, fabs(got - way.w[k]));
            boundCount += way.w[k] < 1e-9;
        }
        print_message("scene %d: %d columns, %d samples, %d nodes fixed, %d at zero, %d peaks, off by %.1e\n",
                      scene, m, d.rows.sampleCount, d.rows.fixedCount, boundCount, report.boundCount, worst);
        // a float near one is off by 3e-8 by itself
        assert_near(worst, 0.0, 1e-7);
        assert_true(boundCount > d.rowCount / 2);
        assert_int_equal(d.rowCount + d.rows.fixedCount, d.cage.nodeCount);
        destroyScene(&d);
    }
    assert_true(ceilingCount > 0);
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
