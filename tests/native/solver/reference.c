// SPDX-License-Identifier: GPL-3.0-or-later
//
// One substep minimises over x = p + u, with C u = 0,
//   m/(2 H^2) |x - X - H V|^2 + alpha m/(2 H) |u - U|^2 + k/2 |u|^2 - f.u + sum of the cells,
// X, U, V what the formula takes from the past (backward Euler: X = x, V = velocity, H = h; BDF2: X = (4 x -
// x_before) / 3, V and U likewise, H = 2/3 h). Its stationary points are the steps of the formula.

#include "reference.h"

#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DEPENDENT 1e-8      // what is left of a unit row that depends on others
#define MOST_STEPS 200      // of Newton's method
#define SMALLEST_STEP 1e-14 // of the coordinates
#define SURE_STEP 1e-6      // below it energies tell nothing, and Newton needs no line search

static double* allocate(size_t count) {
    double* block = calloc(count, sizeof(double));
    assert_non_null(block);
    return block;
}

static double dotOf(const double* x, const double* y, size_t count) {
    double sum = 0.0;
    for (size_t k = 0; k < count; ++k) {
        sum += x[k] * y[k];
    }
    return sum;
}

static void measureCells(srReference* r) {
    for (int32_t cell = 0; cell < r->shape->cellCount; ++cell) {
        const int32_t* c = r->shape->cells[cell];
        double D[3][3];
        for (int j = 0; j < 3; ++j) {
            srVec3 edge = srSub(r->shape->nodes[c[j + 1]], r->shape->nodes[c[0]]);
            D[0][j] = edge.x, D[1][j] = edge.y, D[2][j] = edge.z;
        }
        double J = 0.0;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                int a = (i + 1) % 3, b = (i + 2) % 3, d = (j + 1) % 3, e = (j + 2) % 3;
                double cofactor = D[a][d] * D[b][e] - D[a][e] * D[b][d];
                r->inverses[cell][j][i] = cofactor;
                J += i == 0 ? D[0][j] * cofactor : 0.0;
            }
        }
        for (int k = 0; k < 9; ++k) {
            r->inverses[cell][k / 3][k % 3] /= J;
        }
        r->volumes[cell] = J / 6.0;
    }
}

void srCreateReference(const srComplementaryShape* shape, srReference* outReference) {
    size_t n = (size_t)shape->nodeCount, cellCount = (size_t)shape->cellCount;
    size_t rowCount = 4 * (size_t)shape->weights.boneCount;
    srReference r = {.shape = shape, .nodeCount = shape->nodeCount};
    r.volumes = allocate(cellCount);
    r.inverses = calloc(cellCount, sizeof(*r.inverses));
    r.stretches = calloc(cellCount, sizeof(*r.stretches));
    r.masses = allocate(n);
    r.rows = allocate(n * (rowCount + 1));
    r.patchStiffnesses = allocate(cellCount);
    r.targets = allocate(cellCount);
    r.way = allocate(3 * n);
    double** vectors[] = {&r.primary,   &r.offsets,   &r.places[0],  &r.places[1],
                          &r.speeds[0], &r.speeds[1], &r.inertia[0], &r.inertia[1],
                          &r.pulls,     &r.gradient,  &r.before};
    for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); ++v) {
        *vectors[v] = allocate(3 * n);
    }
    r.hessian = allocate(9 * n * n);
    size_t side = 3 * (n + rowCount);
    r.system = allocate(side * (side + 1));
    measureCells(&r);
    *outReference = r;
    srReference_Begin(outReference, shape->nodes);
}

void srDestroyReference(srReference* reference) {
    void* blocks[] = {reference->volumes,   reference->inverses,   reference->stretches,
                      reference->masses,    reference->rows,       reference->primary,
                      reference->offsets,   reference->places[0],  reference->places[1],
                      reference->speeds[0], reference->speeds[1],  reference->inertia[0],
                      reference->pulls,     reference->inertia[1], reference->gradient,
                      reference->hessian,   reference->system,     reference->before,
                      reference->way,       reference->targets,    reference->patchStiffnesses};
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); ++b) {
        free(blocks[b]);
    }
    *reference = (srReference){0};
}

// Gram and Schmidt, twice over; what hardly sticks out of the rows before it is left out
static void addRow(srReference* r, double* row) {
    size_t n = (size_t)r->nodeCount;
    double length = sqrt(dotOf(row, row, n));
    for (int pass = 0; pass < 2 && length > 0.0; ++pass) {
        for (size_t i = 0; i < n && pass == 0; ++i) {
            row[i] /= length;
        }
        for (int32_t k = 0; k < r->rowCount; ++k) {
            const double* other = r->rows + (size_t)k * n;
            double share = dotOf(other, row, n);
            for (size_t i = 0; i < n; ++i) {
                row[i] -= share * other[i];
            }
        }
    }
    double left = sqrt(dotOf(row, row, n));
    if (length > 0.0 && left > DEPENDENT) {
        for (size_t i = 0; i < n; ++i) {
            row[i] /= left;
        }
        r->rowCount += 1;
    }
}

// J' M D, bone after bone: w [1, X] m d
static void makeRows(srReference* r) {
    const srComplementaryShape* shape = r->shape;
    r->rowCount = 0;
    for (int32_t bone = 0; bone < shape->weights.boneCount; ++bone) {
        for (int c = 0; c < 4; ++c) {
            double* row = r->rows + (size_t)r->rowCount * (size_t)r->nodeCount;
            memset(row, 0, sizeof(double) * (size_t)r->nodeCount);
            for (int32_t i = 0; i < r->nodeCount; ++i) {
                srVec3 X = shape->nodes[i];
                const double columns[4] = {1.0, X.x, X.y, X.z};
                for (int32_t e = shape->weights.starts[i]; e < shape->weights.starts[i + 1]; ++e) {
                    double share = shape->weights.bones[e] == bone ? shape->weights.weights[e] : 0.0;
                    row[i] += share * columns[c] * r->masses[i] * shape->holds[i];
                }
            }
            addRow(r, row);
        }
    }
}

static void copyPoints(double* out, const srVec3* points, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        out[3 * i] = points[i].x;
        out[3 * i + 1] = points[i].y;
        out[3 * i + 2] = points[i].z;
    }
}

void srReference_Begin(srReference* reference, const srVec3* places) {
    size_t size = 3 * sizeof(double) * (size_t)reference->nodeCount;
    for (int k = 0; k < 2; ++k) {
        copyPoints(reference->places[k], places, reference->nodeCount);
        memset(reference->speeds[k], 0, size);
    }
    memset(reference->offsets, 0, size);
    memset(reference->before, 0, size);
    reference->stepCount = 0;
}

// F of a cell whose corners are at `points` + `more`
static void deform(const srReference* r, int32_t cell, const double* points, const double* more,
                   double F[3][3]) {
    const int32_t* c = r->shape->cells[cell];
    for (int i = 0; i < 3; ++i) {
        double edges[3];
        for (int j = 0; j < 3; ++j) {
            edges[j] = points[3 * c[j + 1] + i] - points[3 * c[0] + i];
            edges[j] += more != NULL ? more[3 * c[j + 1] + i] - more[3 * c[0] + i] : 0.0;
        }
        for (int j = 0; j < 3; ++j) {
            F[i][j] = 0.0;
            for (int k = 0; k < 3; ++k) {
                F[i][j] += edges[k] * r->inverses[cell][k][j];
            }
        }
    }
}

static double paintedOf(const srReference* r, int32_t cell) {
    const float* factors = r->dials.cellStiffnesses;
    return factors != NULL ? (double)factors[cell] : 1.0;
}

static double poissonOf(const srReference* r, int32_t cell) {
    const srMaterial* material = &r->dials.material;
    return r->dials.cellPoissons != NULL ? (double)r->dials.cellPoissons[cell]
                                         : 0.5 - material->youngModulus / (6.0 * material->bulkModulus);
}

// of the energies that are written for the material's own Poisson's ratio
static double weightOf(const srReference* r, int32_t cell) {
    double mu = r->dials.material.youngModulus / (2.0 * (1.0 + poissonOf(r, cell)));
    double share = r->dials.cellPoissons != NULL ? mu / r->dials.material.shearModulus : 1.0;
    return r->volumes[cell] * paintedOf(r, cell) * share;
}

// V / lambda of a patch's cells, summed up, inverted
static void stiffenPatches(srReference* r) {
    memset(r->patchStiffnesses, 0, sizeof(double) * (size_t)r->shape->cellCount);
    for (int32_t cell = 0; cell < r->shape->cellCount && r->patches != NULL; ++cell) {
        double nu = poissonOf(r, cell);
        double lambda = r->dials.material.youngModulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        r->patchStiffnesses[r->patches[cell]] += r->volumes[cell] / (lambda * paintedOf(r, cell));
    }
    for (int32_t patch = 0; patch < r->shape->cellCount; ++patch) {
        double softness = r->patchStiffnesses[patch];
        r->patchStiffnesses[patch] = softness > 0.0 ? 1.0 / softness : 0.0;
    }
}

void srReference_Tune(srReference* reference, const srComplementaryDials* dials, srReferenceModel model) {
    reference->dials = *dials;
    double mu = dials->material.shearModulus;
    reference->material = (srReferenceMaterial){model, mu, dials->material.bulkModulus - 2.0 / 3.0 * mu, 0.0};
    memset(reference->masses, 0, sizeof(double) * (size_t)reference->nodeCount);
    for (int32_t cell = 0; cell < reference->shape->cellCount; ++cell) {
        for (int c = 0; c < 4; ++c) {
            reference->masses[reference->shape->cells[cell][c]] +=
                0.25 * dials->material.density * reference->volumes[cell];
        }
    }
    makeRows(reference);
    stiffenPatches(reference);
    reference->pressure = 0.0;
}

static void findCofactor(double F[3][3], double C[3][3]) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            int a = (i + 1) % 3, b = (i + 2) % 3, d = (j + 1) % 3, e = (j + 2) % 3;
            C[i][j] = F[a][d] * F[b][e] - F[a][e] * F[b][d];
        }
    }
}

static double volumeOf(const srReference* r, int32_t cell, double F[3][3]) {
    double C[3][3];
    findCofactor(F, C);
    return r->volumes[cell] * (F[0][0] * C[0][0] + F[0][1] * C[0][1] + F[0][2] * C[0][2]);
}

// what patches want their volumes to be
static void poseVolumes(srReference* r) {
    memset(r->targets, 0, sizeof(double) * (size_t)r->shape->cellCount);
    for (int32_t cell = 0; cell < r->shape->cellCount && r->patches != NULL; ++cell) {
        double F[3][3], c = r->dials.poseCorrection;
        deform(r, cell, r->primary, NULL, F);
        double volume = (1.0 - c) * volumeOf(r, cell, F) + c * r->volumes[cell];
        r->targets[r->patches[cell]] += (1.0 + r->pressure) * volume;
    }
}

// stretches of the posed cells, and gravity
static void pose(srReference* r, const srVec3* forces) {
    const srVec3 none = {0.0, 0.0, 0.0};
    poseVolumes(r);
    r->material.pressure = r->pressure;
    for (int32_t i = 0; i < r->nodeCount; ++i) {
        copyPoints(r->pulls + 3 * i, forces != NULL ? &forces[i] : &none, 1);
    }
    const srComplementaryDials* d = &r->dials;
    const double gravity[3] = {d->gravity.x, d->gravity.y, d->gravity.z};
    const double rest[3] = {d->restGravity.x, d->restGravity.y, d->restGravity.z};
    for (int32_t cell = 0; cell < r->shape->cellCount; ++cell) {
        double F[3][3], R[3][3];
        deform(r, cell, r->primary, NULL, F);
        srReferenceRotation(F, R);
        for (int k = 0; k < 9; ++k) {
            int i = k / 3, j = k % 3;
            double S = R[0][i] * F[0][j] + R[1][i] * F[1][j] + R[2][i] * F[2][j];
            r->stretches[cell][i][j] = (1.0 - d->poseCorrection) * S + (i == j ? d->poseCorrection : 0.0);
        }
        for (int i = 0; i < 3; ++i) {
            double pull = gravity[i] - R[i][0] * rest[0] - R[i][1] * rest[1] - R[i][2] * rest[2];
            for (int c = 0; c < 4; ++c) {
                r->pulls[3 * r->shape->cells[cell][c] + i] +=
                    0.25 * d->material.density * r->volumes[cell] * pull;
            }
        }
    }
}

// how F of a cell moves with its corners: x_a moves it by e_i g_a'
static void findGradients(const srReference* r, int32_t cell, double g[4][3]) {
    for (int j = 0; j < 3; ++j) {
        for (int a = 1; a < 4; ++a) {
            g[a][j] = r->inverses[cell][a - 1][j];
        }
        g[0][j] = -(g[1][j] + g[2][j] + g[3][j]);
    }
}

// adds B' H B of a cell, V times
static void scatter(srReference* r, int32_t cell, double V, double P[3][3], double H[9][9]) {
    const int32_t* nodes = r->shape->cells[cell];
    size_t stride = 3 * (size_t)r->nodeCount;
    double g[4][3];
    findGradients(r, cell, g);
    for (int a = 0; a < 12; ++a) {
        size_t row = 3 * (size_t)nodes[a / 3] + (size_t)(a % 3);
        for (int j = 0; j < 3; ++j) {
            r->gradient[row] += V * P[a % 3][j] * g[a / 3][j];
        }
        for (int b = 0; b < 12; ++b) {
            double sum = 0.0;
            for (int k = 0; k < 9; ++k) {
                sum += g[a / 3][k / 3] * H[3 * (a % 3) + k / 3][3 * (b % 3) + k % 3] * g[b / 3][k % 3];
            }
            r->hessian[row * stride + 3 * (size_t)nodes[b / 3] + (size_t)(b % 3)] += V * sum;
        }
    }
}

// p d(cof F) of a cell, and V cof F to its patch's way; cofactors are of second order, so that differences of
// them are exact
static void scatterVolume(srReference* r, int32_t cell, double F[3][3], double p) {
    double C[3][3], H[9][9], g[4][3];
    findCofactor(F, C);
    findGradients(r, cell, g);
    for (int k = 0; k < 9; ++k) {
        double ends[2][3][3];
        for (int side = 0; side < 2; ++side) {
            double moved[3][3];
            memcpy(moved, F, sizeof(moved));
            moved[k / 3][k % 3] += side == 0 ? -1.0 : 1.0;
            findCofactor(moved, ends[side]);
        }
        for (int j = 0; j < 9; ++j) {
            H[j][k] = 0.5 * p * (ends[1][j / 3][j % 3] - ends[0][j / 3][j % 3]);
        }
    }
    for (int a = 0; a < 12; ++a) {
        size_t row = 3 * (size_t)r->shape->cells[cell][a / 3] + (size_t)(a % 3);
        for (int j = 0; j < 3; ++j) {
            r->way[row] += r->volumes[cell] * C[a % 3][j] * g[a / 3][j];
        }
    }
    for (int k = 0; k < 9; ++k) {
        C[k / 3][k % 3] *= p;
    }
    scatter(r, cell, r->volumes[cell], C, H);
}

// K / 2 (volume - target)^2 of a patch
static double evaluatePatch(srReference* r, int32_t patch, const double* u, bool isWhole) {
    double F[3][3], volume = 0.0, K = r->patchStiffnesses[patch];
    size_t count = 3 * (size_t)r->nodeCount;
    if (!(K > 0.0)) {
        return 0.0;
    }
    for (int32_t cell = 0; cell < r->shape->cellCount; ++cell) {
        if (r->patches[cell] == patch) {
            deform(r, cell, r->primary, u, F);
            volume += volumeOf(r, cell, F);
        }
    }
    double excess = volume - r->targets[patch];
    memset(r->way, 0, count * sizeof(double));
    for (int32_t cell = 0; cell < r->shape->cellCount && isWhole; ++cell) {
        if (r->patches[cell] == patch) {
            deform(r, cell, r->primary, u, F);
            scatterVolume(r, cell, F, K * excess);
        }
    }
    for (size_t a = 0; a < count && isWhole; ++a) {
        for (size_t b = 0; b < count && r->way[a] != 0.0; ++b) {
            r->hessian[a * count + b] += K * r->way[a] * r->way[b];
        }
    }
    return 0.5 * K * excess * excess;
}

// energy at u; gradient and Hessian too if wanted. Without time there is no inertia.
static double evaluate(srReference* r, const double* u, double H, bool isWhole) {
    size_t count = 3 * (size_t)r->nodeCount;
    double energy = 0.0, omega = 2.0 * PI * r->dials.frequency;
    if (isWhole) {
        memset(r->gradient, 0, count * sizeof(double));
        memset(r->hessian, 0, count * count * sizeof(double));
    }
    for (size_t k = 0; k < count; ++k) {
        double m = r->masses[k / 3],
               painted = r->dials.nodePulls != NULL ? (double)r->dials.nodePulls[k / 3] : 1.0;
        const double factors[3] = {H > 0.0 ? m / (H * H) : 0.0, H > 0.0 ? m * r->dials.dampingRate / H : 0.0,
                                   m * omega * omega * painted};
        const double offs[3] = {r->primary[k] + u[k] - r->inertia[0][k], u[k] - r->inertia[1][k], u[k]};
        energy -= r->pulls[k] * u[k];
        for (int t = 0; t < 3; ++t) {
            energy += 0.5 * factors[t] * offs[t] * offs[t];
            r->gradient[k] += isWhole ? factors[t] * offs[t] : 0.0;
            r->hessian[k * (count + 1)] += isWhole ? factors[t] : 0.0;
        }
        r->gradient[k] -= isWhole ? r->pulls[k] : 0.0;
    }
    for (int32_t cell = 0; cell < r->shape->cellCount; ++cell) {
        double F[3][3], P[3][3], C[9][9];
        deform(r, cell, r->primary, u, F);
        double V = weightOf(r, cell);
        energy += V * srReferenceEnergy(&r->material, F, r->stretches[cell], isWhole ? P : NULL,
                                        isWhole ? C : NULL);
        if (isWhole) {
            scatter(r, cell, V, P, C);
        }
        energy += evaluatePatch(r, cell, u, isWhole); // there are fewer patches than cells
    }
    return energy;
}

// Gauss with row pivots on `side` rows of side + 1 numbers; the last column becomes the solution.
static void solveDense(double* A, size_t side) {
    size_t stride = side + 1;
    for (size_t k = 0; k < side; ++k) {
        size_t pivot = k;
        for (size_t i = k + 1; i < side; ++i) {
            pivot = fabs(A[i * stride + k]) > fabs(A[pivot * stride + k]) ? i : pivot;
        }
        for (size_t j = k; j < stride && pivot != k; ++j) {
            double kept = A[k * stride + j];
            A[k * stride + j] = A[pivot * stride + j];
            A[pivot * stride + j] = kept;
        }
        for (size_t i = k + 1; i < side; ++i) {
            double factor = A[i * stride + k] / A[k * stride + k];
            for (size_t j = k + 1; j < stride && factor != 0.0; ++j) {
                A[i * stride + j] -= factor * A[k * stride + j];
            }
        }
    }
    for (size_t k = side; k-- > 0;) {
        double sum = A[k * stride + side];
        for (size_t j = k + 1; j < side; ++j) {
            sum -= A[k * stride + j] * A[j * stride + side];
        }
        A[k * stride + side] = sum / A[k * stride + k];
    }
}

// [H + shift, C'; C, 0] [d; multipliers] = [-g; -C u]; d
static void solveSaddle(srReference* r, const double* u, double shift, double* d) {
    size_t n = (size_t)r->nodeCount, count = 3 * n, side = count + 3 * (size_t)r->rowCount, stride = side + 1;
    memset(r->system, 0, sizeof(double) * side * stride);
    for (size_t i = 0; i < count; ++i) {
        memcpy(r->system + i * stride, r->hessian + i * count, count * sizeof(double));
        r->system[i * stride + i] += shift * r->masses[i / 3];
        r->system[i * stride + side] = -r->gradient[i];
    }
    for (size_t row = count; row < side; ++row) {
        const double* values = r->rows + (row - count) / 3 * n;
        size_t axis = (row - count) % 3;
        for (size_t i = 0; i < n; ++i) {
            r->system[row * stride + 3 * i + axis] = values[i];
            r->system[(3 * i + axis) * stride + row] = values[i];
            r->system[row * stride + side] -= values[i] * u[3 * i + axis];
        }
    }
    solveDense(r->system, side);
    for (size_t i = 0; i < count; ++i) {
        d[i] = r->system[i * stride + side];
    }
}

// a way downhill: with more and more of the masses added while the Hessian bends the other way
static void findWay(srReference* r, const double* u, double H, double* d) {
    size_t count = 3 * (size_t)r->nodeCount;
    double shift = 0.0, step = H > 0.0 ? 1.0 / (H * H) : 1.0;
    for (int try = 0; try < 40; ++try) {
        solveSaddle(r, u, shift, d);
        double bend = 0.0;
        for (size_t i = 0; i < count; ++i) {
            bend += d[i] * (dotOf(r->hessian + i * count, d, count) + shift * r->masses[i / 3] * d[i]);
        }
        if (bend > 0.0 && dotOf(d, r->gradient, count) < 0.0) {
            return;
        }
        shift = shift > 0.0 ? 4.0 * shift : step;
    }
}

// |g - C' C g|; changes g
static double findForce(srReference* r) {
    size_t n = (size_t)r->nodeCount;
    for (int32_t row = 0; row < 3 * r->rowCount; ++row) {
        const double* values = r->rows + (size_t)(row / 3) * n;
        double* g = r->gradient + row % 3;
        double sum = 0.0;
        for (size_t i = 0; i < n; ++i) {
            sum += values[i] * g[3 * i];
        }
        for (size_t i = 0; i < n; ++i) {
            g[3 * i] -= sum * values[i];
        }
    }
    return sqrt(dotOf(r->gradient, r->gradient, 3 * n));
}

static void minimize(srReference* r, double H) {
    size_t count = 3 * (size_t)r->nodeCount;
    double* d = allocate(count);
    double* u = allocate(count);
    double extent = 0.0, longest = 1.0;
    (void)evaluate(r, r->offsets, H, true);
    double first = findForce(r);
    for (size_t k = 0; k < count; ++k) {
        extent = fmax(extent, fabs(r->primary[k]));
    }
    for (int step = 0; step < MOST_STEPS && longest > SMALLEST_STEP * extent; ++step) {
        double energy = evaluate(r, r->offsets, H, true);
        findWay(r, r->offsets, H, d);
        longest = 0.0;
        for (size_t k = 0; k < count; ++k) {
            longest = fmax(longest, fabs(d[k]));
        }
        double t = 1.0, slope = dotOf(d, r->gradient, count);
        for (; t > 1e-12; t *= 0.5) {
            for (size_t k = 0; k < count; ++k) {
                u[k] = r->offsets[k] + t * d[k];
            }
            if (longest < SURE_STEP * extent || evaluate(r, u, H, false) <= energy + 1e-4 * t * slope) {
                break;
            }
        }
        memcpy(r->offsets, u, count * sizeof(double));
        r->stepCount += 1;
    }
    (void)evaluate(r, r->offsets, H, true);
    double last = findForce(r);
    r->residual = first > 0.0 ? last / first : 0.0;
    free(d);
    free(u);
}

static void stepOnce(srReference* r, const srVec3* forces) {
    bool isBdf2 = r->dials.integrator == sr_integratorBdf2;
    double h = r->dials.frameSeconds / r->dials.substeps, H = isBdf2 ? 2.0 / 3.0 * h : h;
    size_t count = 3 * (size_t)r->nodeCount;
    double* past = allocate(2 * count); // X, then V
    for (size_t k = 0; k < count; ++k) {
        const double *x0 = r->places[0], *x1 = r->places[1], *v0 = r->speeds[0], *v1 = r->speeds[1];
        past[k] = isBdf2 ? (4.0 * x0[k] - x1[k]) / 3.0 : x0[k];
        past[count + k] = isBdf2 ? (4.0 * v0[k] - v1[k]) / 3.0 : v0[k];
        r->inertia[0][k] = past[k] + H * past[count + k];
        r->inertia[1][k] = isBdf2 ? (4.0 * r->offsets[k] - r->before[k]) / 3.0 : r->offsets[k];
    }
    memcpy(r->before, r->offsets, count * sizeof(double));
    pose(r, forces);
    minimize(r, H);
    for (size_t k = 0; k < count; ++k) {
        double x = r->primary[k] + r->offsets[k];
        r->places[1][k] = r->places[0][k];
        r->speeds[1][k] = r->speeds[0][k];
        r->places[0][k] = x;
        r->speeds[0][k] = (x - past[k]) / H;
    }
    free(past);
}

void srReference_Step(srReference* reference, const srVec3* from, const srVec3* to, const srVec3* forces) {
    size_t count = 3 * (size_t)reference->nodeCount;
    double* ends = allocate(2 * count); // from, to
    copyPoints(ends, from, reference->nodeCount);
    copyPoints(ends + count, to, reference->nodeCount);
    for (int32_t substep = 1; substep <= reference->dials.substeps; ++substep) {
        double share = (double)substep / (double)reference->dials.substeps;
        for (size_t k = 0; k < count; ++k) {
            reference->primary[k] = (1.0 - share) * ends[k] + share * ends[count + k];
        }
        stepOnce(reference, forces);
    }
    free(ends);
}

void srReference_Settle(srReference* reference, const srVec3* places, const srVec3* forces) {
    copyPoints(reference->primary, places, reference->nodeCount);
    pose(reference, forces);
    minimize(reference, 0.0);
}
