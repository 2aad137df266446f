// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dials over nodes and cells, and what is factored: A, and S = C A^-1 C' with the responses A^-1 C' of the
// cage to the rig's rows.
//
// A step of size h: backward Euler has u = u_n + h w, w = w_n + h a. BDF2 has u = (4 u_n - u_(n-1)) / 3 +
// (2/3) h w and the same of w: the same formula with 2/3 of the step and other starting points. So have the
// formulas that are less late (settle.h), with (1 + t) / (2 + t) of the step. So one matrix
// M/h^2 + alpha M/h + k + L serves all.

#include "solver/complementary.h"

#include "core/alloc.h"
#include "math/cholesky.h"
#include "math/small.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
// of the Laplacian: what the preconditioner's diagonal has at least, where there is neither mass nor pull
#define LEAST_DIAGONAL 1e-6
#define LARGEST_SOFTNESS 1e30 // m^3/Pa, of a patch
#define LEAST_KEPT 1e-9       // of the shear modulus: rounding of Poisson's ratio 0
#define TRANSPOSED_NODES 8    // at a time
// Numbers of the factor's panels, from which on they are narrow: several times what a core has of cache for
// itself
#define MOST_WIDE (1 << 18)
#define UNSOLVED 0.05        // of what damping takes: what a step may leave unsolved,
#define UNSOLVED_A_TURN 0.25 // or that for each radian which a swing turns in it,
#define LEAST_TOLERANCE 2e-4 // and that where damping takes next to nothing
#define LAMBDA_SHARE 0.25    // 0.1 to 1 differ by a fortieth of the products

srComplementaryDials srDefaultComplementaryDials(void) {
    return (srComplementaryDials){
        .scale = 1.0,
        .frameSeconds = 1.0 / 24.0,
        .substeps = 2,
        .integrator = sr_integratorBdf2,
        .tolerance = 2e-2,
        .newtonLimit = 20,
        .innerLimit = 200,
    };
}

static srResult copyPattern(const srCsc* pattern, srCsc* A) {
    int32_t entryCount = pattern->columnStarts[pattern->columnCount];
    A->rowCount = pattern->rowCount;
    A->columnCount = pattern->columnCount;
    A->columnStarts = SR_ALLOC(int32_t, pattern->columnCount + 1);
    A->rows = SR_ALLOC(int32_t, entryCount);
    A->values = SR_ALLOC(double, entryCount);
    if (A->columnStarts == NULL || A->rows == NULL || A->values == NULL) {
        return srFailOutOfMemory("the solver's matrix");
    }
    memcpy(A->columnStarts, pattern->columnStarts, sizeof(int32_t) * ((size_t)pattern->columnCount + 1));
    memcpy(A->rows, pattern->rows, sizeof(int32_t) * (size_t)entryCount);
    return sr_success;
}

static void freeMatrix(const srCsc* pattern, srCsc* A) {
    int32_t entryCount = pattern->columnStarts == NULL ? 0 : pattern->columnStarts[pattern->columnCount];
    SR_FREE(A->columnStarts, pattern->columnCount + 1);
    SR_FREE(A->rows, entryCount);
    SR_FREE(A->values, entryCount);
    *A = (srCsc){0};
}

static srResult buildTuning(const srComplementaryRest* rest, srComplementaryTuning* tuning) {
    tuning->masses = SR_ALLOC_ZERO(double, rest->nodeCount);
    tuning->diagonal = SR_ALLOC_ZERO(double, rest->nodeCount);
    tuning->drags = SR_ALLOC_ZERO(double, rest->nodeCount);
    tuning->diagonalF = SR_ALLOC_ZERO(float, rest->nodeCount);
    if (tuning->masses == NULL || tuning->drags == NULL || tuning->diagonal == NULL ||
        tuning->diagonalF == NULL) {
        return srFailOutOfMemory("the material");
    }
    if (rest->rows.rowCount > 0) {
        tuning->schur = SR_ALLOC_ZERO(double, srSmallCount(rest->rows.rowCount));
        if (tuning->schur == NULL) {
            return srFailOutOfMemory("the material");
        }
    }
    SR_TRY(srCreateCellShapes(&rest->layout, &tuning->shapes));
    SR_TRY(copyPattern(&rest->pattern, &tuning->A));
    return srAnalyzeCholesky(&rest->pattern, rest->order, &tuning->cholesky);
}

srResult srCreateComplementaryTuning(const srComplementaryRest* rest, srComplementaryTuning* outTuning) {
    *outTuning = (srComplementaryTuning){0};
    srResult result = buildTuning(rest, outTuning);
    if (result != sr_success) {
        srDestroyComplementaryTuning(rest, outTuning);
    }
    return result;
}

void srDestroyComplementaryTuning(const srComplementaryRest* rest, srComplementaryTuning* tuning) {
    SR_FREE(tuning->masses, rest->nodeCount);
    SR_FREE(tuning->diagonal, rest->nodeCount);
    SR_FREE(tuning->drags, rest->nodeCount);
    SR_FREE(tuning->diagonalF, rest->nodeCount);
    SR_FREE(tuning->schur, srSmallCount(rest->rows.rowCount));
    srDestroyCellShapes(&rest->layout, &tuning->shapes);
    freeMatrix(&rest->pattern, &tuning->A);
    srDestroyCholesky(tuning->cholesky);
    srDestroyFactor(&tuning->factor);
    srDestroyThin(&tuning->responses);
    *tuning = (srComplementaryTuning){0};
}

// what a cell is made of
static srMaterial findMaterial(const srComplementaryDials* dials, int32_t cell) {
    srMaterial material = dials->material;
    if (dials->cellPoissons != NULL) {
        material = srMakeMaterial(material.youngModulus, (double)dials->cellPoissons[cell], material.density);
    }
    double factor = dials->cellStiffnesses == NULL ? 1.0 : (double)dials->cellStiffnesses[cell];
    material.youngModulus *= factor;
    material.shearModulus *= factor;
    material.bulkModulus *= factor;
    return material;
}

// B of a cell of world size, of which the mirror turns the first column round
static srMat3 worldInverse(const srComplementaryRest* rest, const srComplementaryDials* dials, int32_t cell) {
    srMat3 B = rest->inverses[cell];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double factor = dials->isMirrored && j == 0 ? -1.0 : 1.0;
            B.m[i][j] *= factor / dials->scale;
        }
    }
    return B;
}

static void setNumbers(srCellNumbers* numbers, srCellNumbersf* numbersF, int lane, double value) {
    numbers->x[lane] = value;
    numbersF->x[lane] = (float)value;
}

// one lane; returns V / lambda of what its patch keeps
static double tuneLane(srComplementaryTuning* tuning, const srMaterial* material, double volume,
                       int32_t block, int lane) {
    srCellShapes* shapes = &tuning->shapes;
    double lambda = srFindCellLambda(material, shapes->model);
    double weight = 2.0 * material->shearModulus * volume;
    setNumbers(&shapes->weights[block], &shapes->weightsF[block], lane, weight);
    setNumbers(&shapes->bulkWeights[block], &shapes->bulkWeightsF[block], lane, lambda * volume);
    setNumbers(&shapes->volumes[block], &shapes->volumesF[block], lane, volume);
    shapes->masses[block].x[lane] = 0.25 * material->density * volume;
    shapes->patchVolumes[block] += volume;
    tuning->restEnergy += shapes->model == sr_elasticArap ? 0.0 : 2.0 * weight;
    double kept = srLameLambda(material) - lambda;
    bool isKept = kept > LEAST_KEPT * material->shearModulus;
    return volume > 0.0 ? (isKept ? volume / kept : (double)INFINITY) : 0.0;
}

// A patch stores lambda (dV)^2 / (2 V), its 1 / lambda the mean of its cells': one that does not resist is
// enough for all.
static void tuneCells(srComplementaryTuning* tuning, const srComplementaryRest* rest) {
    const srComplementaryDials* dials = &tuning->dials;
    srCellShapes* shapes = &tuning->shapes;
    double volumeScale = dials->scale * dials->scale * dials->scale;
    tuning->restEnergy = 0.0;
    shapes->model = dials->model;
    shapes->keepsVolumes = false;
    int32_t real = 0; // lanes that are left over take the shape of the last real one
    for (int32_t block = 0; block < rest->layout.blockCount; ++block) {
        double softness = 0.0;
        shapes->patchVolumes[block] = 0.0;
        for (int lane = 0; lane < SR_BLOCK_LANES; ++lane) {
            int32_t cell = rest->layout.cells[SR_BLOCK_LANES * block + lane];
            real = cell == SR_NULL_INDEX ? real : cell;
            srMat3 B = worldInverse(rest, dials, real);
            srSetLane(&shapes->inverses[block], lane, &B);
            for (int k = 0; k < 9; ++k) {
                shapes->inversesF[block].m[k / 3][k % 3][lane] = (float)B.m[k / 3][k % 3];
            }
            srMaterial material = findMaterial(dials, real);
            double volume = cell == SR_NULL_INDEX ? 0.0 : rest->volumes[cell] * volumeScale;
            softness += tuneLane(tuning, &material, volume, block, lane);
        }
        double stiffness = softness > 0.0 && softness <= LARGEST_SOFTNESS ? 1.0 / softness : 0.0;
        shapes->patchStiffnesses[block] = stiffness;
        shapes->keepsVolumes = shapes->keepsVolumes || stiffness > 0.0;
    }
}

static double factorOf(const float* factors, int32_t i) {
    return factors == NULL ? 1.0 : (double)factors[i];
}

static void tuneNodes(srComplementaryTuning* tuning, const srComplementaryRest* rest) {
    const srComplementaryDials* dials = &tuning->dials;
    double volumeScale = dials->scale * dials->scale * dials->scale;
    double omega = 2.0 * PI * dials->frequency;
    double h = tuning->h;
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double mass = dials->material.density * rest->nodeVolumes[i] * volumeScale;
        mass *= factorOf(dials->nodeMasses, i);
        tuning->masses[i] = mass;
        tuning->drags[i] =
            mass * tuning->dampingRate * factorOf(dials->nodeDampings, i) / tuning->dampingStep;
        tuning->diagonal[i] =
            mass * (1.0 / (h * h) + omega * omega * factorOf(dials->nodePulls, i)) + tuning->drags[i];
        tuning->diagonalF[i] = (float)tuning->diagonal[i];
    }
}

// What stands for a cell in the preconditioner: shear waves have mu, pressure waves 2 mu + lambda, and
// between the two lies what needs the fewest products.
static double findStiffness(const srMaterial* material) {
    return 2.0 * material->shearModulus + LAMBDA_SHARE * srLameLambda(material);
}

// Whether the matrix keeps what a pair of corners shares: a fixed node stands by itself, so that solving
// leaves zeros at it.
static bool isShared(const srComplementaryRest* rest, int32_t cell, const int pair[2]) {
    const int32_t* corners = rest->corners[cell];
    return rest->isFixed == NULL || pair[0] == pair[1] ||
           !(rest->isFixed[corners[pair[0]]] || rest->isFixed[corners[pair[1]]]);
}

// the Laplacian, 2 mu V g_a . g_b with the rows of B as gradients of the last three corners
static void addLaplacian(srComplementaryTuning* tuning, const srComplementaryRest* rest) {
    static const int PAIRS[10][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1},
                                     {2, 2}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};
    const srComplementaryDials* dials = &tuning->dials;
    for (int32_t cell = 0; cell < rest->cellCount; ++cell) {
        const srMat3* B = &rest->inverses[cell];
        double g[4][3];
        for (int j = 0; j < 3; ++j) {
            for (int a = 1; a < 4; ++a) {
                g[a][j] = B->m[a - 1][j];
            }
            g[0][j] = -(g[1][j] + g[2][j] + g[3][j]);
        }
        srMaterial material = findMaterial(dials, cell);
        double weight = findStiffness(&material) * rest->volumes[cell] * dials->scale;
        for (int pair = 0; pair < 10; ++pair) {
            const double *a = g[PAIRS[pair][0]], *b = g[PAIRS[pair][1]];
            if (isShared(rest, cell, PAIRS[pair])) {
                tuning->A.values[rest->entries[cell][pair]] +=
                    weight * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            }
        }
    }
}

// A, with a diagonal that is never lost
static void assemble(srComplementaryTuning* tuning, const srComplementaryRest* rest) {
    srCsc* A = &tuning->A;
    memset(A->values, 0, sizeof(double) * (size_t)A->columnStarts[A->columnCount]);
    addLaplacian(tuning, rest);
    double sum = 0.0;
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double* entry = &A->values[A->columnStarts[i]];
        double least = LEAST_DIAGONAL * *entry;
        double whole = *entry + tuning->diagonal[i];
        sum += whole * whole;
        *entry += tuning->diagonal[i] > least ? tuning->diagonal[i] : least;
        *entry = *entry > 0.0 ? *entry : 1.0; // a node without mass and stiffness
    }
    tuning->diagonalLength = sqrt(sum);
}

// S = C W of the columns W; C has few entries a row, and those that are zero change no sum
static void multiplyRows(const srRigRows* rows, const double* columns, double* entries, int32_t* nodes,
                         double* schur) {
    size_t n = (size_t)rows->nodeCount, stride = (size_t)srSmallStride(rows->rowCount);
    for (int32_t k = 0; k < rows->rowCount; ++k) {
        srRigRows_GetRow(rows, k, entries);
        int32_t count = 0;
        for (int32_t i = 0; i < rows->nodeCount; ++i) {
            nodes[count] = i;
            count += entries[i] != 0.0;
        }
        for (int32_t j = 0; j <= k; ++j) {
            const double* column = columns + (size_t)j * n;
            double sum = 0.0;
            for (int32_t e = 0; e < count; ++e) {
                sum += entries[nodes[e]] * column[nodes[e]];
            }
            schur[(size_t)j * stride + (size_t)k] = sum;
        }
    }
}

// from r columns of n to n rows of r, some nodes at a time, so that what is read of a column is a cache line
static void transpose(const double* columns, size_t n, size_t r, double* outRows) {
    for (size_t first = 0; first < n; first += TRANSPOSED_NODES) {
        size_t end = n - first < TRANSPOSED_NODES ? n : first + TRANSPOSED_NODES;
        for (size_t k = 0; k < r; ++k) {
            for (size_t i = first; i < end; ++i) {
                outRows[i * r + k] = columns[k * n + i];
            }
        }
    }
}

// Scratch of finding responses.
typedef struct Responding {
    double* columns; // C', then A^-1 C'
    double* rows;    // the same, transposed
    double* entries;
    int32_t* nodes;
    float* three;  // points a node, of three columns
    void* scratch; // of a solve
    size_t scratchSize;
} Responding;

static srResult allocateResponding(Responding* r, const srComplementaryRest* rest, const srFactor* factor) {
    size_t count = (size_t)rest->nodeCount * (size_t)rest->rows.rowCount;
    r->scratchSize = srFactor_GetScratchSize(factor);
    r->columns = SR_ALLOC(double, count);
    r->rows = SR_ALLOC(double, count);
    r->entries = SR_ALLOC(double, rest->nodeCount);
    r->nodes = SR_ALLOC(int32_t, rest->nodeCount);
    r->three = SR_ALLOC(float, 3 * (int64_t)rest->nodeCount);
    r->scratch = srAlloc(r->scratchSize, 1);
    bool isWhole = r->columns != NULL && r->rows != NULL && r->entries != NULL && r->nodes != NULL &&
                   r->three != NULL && r->scratch != NULL;
    return isWhole ? sr_success : srFailOutOfMemory("the rig's responses");
}

static void freeResponding(Responding* r, const srComplementaryRest* rest) {
    size_t count = (size_t)rest->nodeCount * (size_t)rest->rows.rowCount;
    SR_FREE(r->columns, count);
    SR_FREE(r->rows, count);
    SR_FREE(r->entries, rest->nodeCount);
    SR_FREE(r->nodes, rest->nodeCount);
    SR_FREE(r->three, 3 * (int64_t)rest->nodeCount);
    srFree(r->scratch, r->scratchSize, 1);
}

// What a frame's own solve makes of the columns, three by three.
static srResult solveInFloat(const srFactor* factor, int32_t columnCount, Responding* r) {
    size_t n = (size_t)factor->size;
    for (int32_t first = 0; first < columnCount; first += 3) {
        size_t count = columnCount - first < 3 ? (size_t)(columnCount - first) : 3;
        double* columns = r->columns + (size_t)first * n;
        for (size_t i = 0; i < n; ++i) {
            for (size_t c = 0; c < 3; ++c) {
                r->three[3 * i + c] = c < count ? (float)columns[c * n + i] : 0.0f;
            }
        }
        SR_TRY(srFactor_SolveFloat(factor, r->three, r->three, r->scratch));
        for (size_t i = 0; i < n; ++i) {
            for (size_t c = 0; c < count; ++c) {
                columns[c * n + i] = (double)r->three[3 * i + c];
            }
        }
    }
    return sr_success;
}

// Fills the columns with A^-1 C', A being what a frame solves with, and the factor of C A^-1 C'.
static srResult findResponses(srComplementaryTuning* tuning, const srComplementaryRest* rest, Responding* r) {
    int32_t n = rest->nodeCount, rowCount = rest->rows.rowCount;
    for (int32_t k = 0; k < rowCount; ++k) {
        srRigRows_GetRow(&rest->rows, k, r->columns + (size_t)k * (size_t)n);
    }
    if (tuning->factor.narrow.words != NULL) {
        SR_TRY(solveInFloat(&tuning->factor, rowCount, r));
    } else {
        SR_TRY(srCholesky_Solve(tuning->cholesky, r->columns, rowCount));
    }
    multiplyRows(&rest->rows, r->columns, r->entries, r->nodes, tuning->schur);
    int32_t bad = srFactorSmall(tuning->schur, rowCount);
    return bad == SR_NULL_INDEX
               ? sr_success
               : srFail(sr_errorInvalidValue, "Stiffnesses or masses differ too much for the bones (row %d).",
                        bad);
}

// A^-1 C' and the factor of C A^-1 C'. Rows that hardly differ may be one to a factor with narrow panels:
// then it gets its floats back.
static srResult respond(srComplementaryTuning* tuning, const srComplementaryRest* rest) {
    int32_t n = rest->nodeCount, rowCount = rest->rows.rowCount;
    Responding r = {0};
    srResult result = sr_success;
    SR_TRY_CLEANUP(allocateResponding(&r, rest, &tuning->factor));
    result = findResponses(tuning, rest, &r);
    if (result != sr_success && tuning->factor.narrow.words != NULL) {
        srFactor_Widen(&tuning->factor);
        result = findResponses(tuning, rest, &r);
    }
    SR_TRY_CLEANUP(result);
    transpose(r.columns, (size_t)n, (size_t)rowCount, r.rows);
    srDestroyThin(&tuning->responses);
    SR_TRY_CLEANUP(srCreateThin(r.rows, n, rowCount, sr_factorFloat, &tuning->responses));

cleanup:
    freeResponding(&r, rest);
    return result;
}

// What a step may leave unsolved, in parts of the forces that keep u from going on as it goes, M w / h, of
// which damping is alpha h. In short steps all of it pulls the same way, step after step; in long ones, in
// which a swing turns far, less and less does.
static double findUnsolved(double omega, double dampingRate, double substep) {
    double part = fmax(UNSOLVED, UNSOLVED_A_TURN * omega * substep);
    return fmax(part * dampingRate * substep, LEAST_TOLERANCE);
}

// h of u = base + h w, from substep, formula and how a swing shall settle
static void tuneSteps(srComplementaryTuning* tuning, const srComplementaryDials* dials) {
    double substep = dials->frameSeconds / dials->substeps;
    srSettling settling = {.lateness = 1.0, .dampingRate = dials->dampingRate};
    if (dials->swingFrequency > 0.0) {
        double omega = 2.0 * PI * dials->swingFrequency;
        settling = srFindSettling(dials->integrator, omega, dials->dampingRate, substep);
        double unsolved = findUnsolved(omega, dials->dampingRate, substep);
        tuning->dials.tolerance = fmin(dials->tolerance, unsolved);
    }
    tuning->lateness = settling.lateness;
    tuning->dampingRate = settling.dampingRate;
    bool isEuler = dials->integrator == sr_integratorBackwardEuler;
    tuning->dampingStep = isEuler ? substep : 2.0 / 3.0 * substep;
    tuning->h = tuning->dampingStep;
    if (tuning->lateness < 1.0) {
        tuning->h = substep * (1.0 + tuning->lateness) / (2.0 + tuning->lateness);
    }
}

srResult srComplementaryTuning_Set(srComplementaryTuning* tuning, const srComplementaryRest* rest,
                                   const srComplementaryDials* dials) {
    if (dials->model != sr_elasticArap && dials->poseCorrection < 1.0) {
        return srFail(sr_errorInvalidValue,
                      "This material has no Pose correction of %g: set it to 1, or choose ARAP.",
                      dials->poseCorrection);
    }
    tuning->dials = *dials;
    tuneSteps(tuning, dials);
    tuneCells(tuning, rest);
    tuneNodes(tuning, rest);
    assemble(tuning, rest);

    // what was painted is spread now, and its arrays may go
    tuning->dials.cellStiffnesses = tuning->dials.cellPoissons = NULL;
    tuning->dials.nodePulls = tuning->dials.nodeMasses = tuning->dials.nodeDampings = NULL;
    SR_TRY(srCholesky_Factor(tuning->cholesky, &tuning->A));
    if (tuning->factor.bytes == NULL) {
        SR_TRY(srCreateFactor(tuning->cholesky, sr_factorFloat, &tuning->factor));
    } else {
        SR_TRY(srFactor_Refill(&tuning->factor, tuning->cholesky));
    }
    if (tuning->factor.floatStarts[tuning->factor.groupCount] > MOST_WIDE) {
        SR_TRY(srFactor_Narrow(&tuning->factor));
    }
    return rest->rows.rowCount > 0 ? respond(tuning, rest) : sr_success;
}
