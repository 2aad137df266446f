// SPDX-License-Identifier: GPL-3.0-or-later
//
// Spreading the dials over nodes and cells.
//
// A substep solves, with h' = theta h (flesh.c), for each node
//   m (u - y) / h'^2 + k u + alpha m (u - u_n) / h' = forces of the cells
// with k the pull to the pose and alpha the damping: so the node has the mass m + h'^2 k + alpha h' m, and
// the prediction m (y + alpha h' u_n) over it: u_n, what is left of the move y - u_n, and what the pull takes
// of u_n. BDF2 is the same with (4 u_n - u_n-1) / 3 for u_n, likewise for w, and theta = 2/3. Masses are
// relative to their mean and lengths in rest units, so that nothing depends on the size of the scene.

#include "solver/flesh.h"

#include "core/alloc.h"
#include "elastic/material.h"
#include "math/mat34.h"
#include "solver/coarse.h"
#include "solver/flesh_limits.h"
#include "solver/patches.h"

#include <math.h>

#include <string.h>

#define PI 3.14159265358979323846
#define HARD_HOLD 0.999f // from here on a node follows its bone exactly

// One sweep from multipliers that are zero acts as compliances a + w, b + w, w the mean eigenvalue of W. This
// share of w is subtracted from both, which puts the lowest frequencies right; the rest keeps the sweep from
// overshooting. Not where handles put them right: then it is the sweep that overshoots, the farther the body
// is bent the more (docs/decisions/0043).
#define COMPENSATION 0.8
#define LEAST_COMPLIANCE 0.02

#define MOST_FADED 2.0 // of exp(-x) in a step that fadeBy knows within a hundredth
#define RATE_HALVINGS 50

// Of a node's mass, by what is taken off the damping of few steps: more is needed only when a substep is
// longer than an eighth of the swing, and from 0.3 on what one sweep leaves unsolved feeds it.
#define MOST_GAINED 0.16

#define JACOBI_SWEEPS 8
#define AXES_AGREE 1e-10 // what is left off the diagonal, of the trace: far below a float

#define COARSE_RELIEF (1.0 / 30.0)
// Of several sweeps, by what one leaves unsolved: up to here they are enough for forces in the middle of a
// substep, and from there on not at all
#define SOLVED 0.06
#define UNSOLVED 0.12
#define SUBSTEPS_WITH_HANDLES 3.0 // of ten that are asked for; or so many a swing,
#define SUBSTEPS_A_SWING 13.2
#define SUBSTEPS_TO_BE_CALM 10.0 // of what swings more often than frames show
#define ROUNDED_SUBSTEPS 1e-9

#define PATCHED_POISSON 0.45 // from here on patches keep a part of the volume
#define ROUNDED_POISSON 1e-6 // and only from here on: what was a float, or a product, means the ratio itself

#define LARGEST_RATIO 1e30 // of compliances: no resistance to a change of volume, and yet a number

#define FIBRES_UNSOLVED                                                                                      \
    10.0 // what a sweep may leave of a cell by its fibres; from twice as much on tails tremble
#define LEAST_FACTOR 1e-9    // of a map, where it is divided by
#define SLIGHT_CONTRAST 1.01 // no contrast at all, but for rounding

typedef struct Contrast {
    double stiffness;
    double density;
    double ratio;
    double most; // of the ratio
} Contrast;

typedef struct Moduli {
    double lameMu;
    double lameLambda;
} Moduli;

static double clampTo(double x, double low, double high) {
    return x > low ? (x < high ? x : high) : low; // a NaN gives the low end
}

srResult srCreateFleshTuning(const srFleshRest* rest, srFleshTuning* outTuning) {
    srFleshTuning tuning = {0};
    size_t batchCount = (size_t)rest->batches.batchCount;
    tuning.weights = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.carries = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.pulls = SR_ALLOC_ZERO(float, rest->nodeCount);
    tuning.loosePieces = SR_ALLOC_ZERO(bool, rest->pieces.pieceCount);
    tuning.materials = SR_ALLOC_ZERO(srCellMaterial, batchCount);
    tuning.blocks = SR_ALLOC_ZERO(srCellBlock, batchCount);
    tuning.fibres = rest->fibres != NULL ? SR_ALLOC_ZERO(srCellFibres, batchCount) : NULL;
    tuning.forceMaterials = SR_ALLOC_ZERO(srCellForceMaterial, batchCount);
    tuning.easedMaps = SR_ALLOC_ZERO(float, 2 * (size_t)rest->batches.constraintCount);
    int32_t patchCount = rest->patches != NULL ? rest->patches->patchCount : 0;
    tuning.patchCompliances = patchCount > 0 ? SR_ALLOC_ZERO(float, patchCount) : NULL;
    *outTuning = tuning;
    if (tuning.weights == NULL || (patchCount > 0 && tuning.patchCompliances == NULL) ||
        tuning.carries == NULL || tuning.pulls == NULL ||
        (rest->pieces.pieceCount > 0 && tuning.loosePieces == NULL) ||
        (batchCount > 0 &&
         (tuning.materials == NULL || tuning.easedMaps == NULL || tuning.forceMaterials == NULL ||
          tuning.blocks == NULL || (rest->fibres != NULL && tuning.fibres == NULL)))) {
        srDestroyFleshTuning(rest, outTuning);
        return srFailOutOfMemory("the material");
    }
    srResult result = rest->coarse != NULL ? srCreateCoarse(rest->coarse, &outTuning->coarse) : sr_success;
    if (result != sr_success) {
        srDestroyFleshTuning(rest, outTuning);
    }
    return result;
}

void srDestroyFleshTuning(const srFleshRest* rest, srFleshTuning* tuning) {
    srDestroyCoarse(rest->coarse, tuning->coarse);
    SR_FREE(tuning->patchCompliances, rest->patches != NULL ? rest->patches->patchCount : 0);
    SR_FREE(tuning->weights, rest->nodeCount);
    SR_FREE(tuning->carries, rest->nodeCount);
    SR_FREE(tuning->pulls, rest->nodeCount);
    SR_FREE(tuning->loosePieces, rest->pieces.pieceCount);
    SR_FREE(tuning->easedMaps, 2 * (size_t)rest->batches.constraintCount);
    SR_FREE(tuning->materials, rest->batches.batchCount);
    SR_FREE(tuning->blocks, rest->batches.batchCount);
    SR_FREE(tuning->fibres, rest->batches.batchCount);
    SR_FREE(tuning->forceMaterials, rest->batches.batchCount);
    *tuning = (srFleshTuning){0};
}

static srFleshDials clampDials(const srFleshDials* dials) {
    srFleshDials d = *dials;
    d.youngModulus = clampTo(d.youngModulus, 0.0, 1e15);
    d.poissonRatio = clampTo(d.poissonRatio, 0.0, 0.5);
    d.density = clampTo(d.density, 0.0, 1e9);
    d.frequency = clampTo(d.frequency, 0.0, 1e6);
    d.dampingRate = clampTo(d.dampingRate, -1e9, 1e9);
    d.viscosity = clampTo(d.viscosity, 0.0, 1e9);
    d.swing = clampTo(d.swing, 0.0, 1e6);
    d.poseCorrection = clampTo(d.poseCorrection, 0.0, 1.0);
    srFleshDials_ClampLimits(&d);
    d.substeps = d.substeps < 1 ? 1 : d.substeps;
    d.sweeps = d.sweeps < 1 ? 1 : d.sweeps;
    d.poses = d.poses < 1 ? 1 : d.poses > d.substeps ? d.substeps : d.poses;
    return d;
}

// the factor of a cell or a node
static double mapped(const float* map, int32_t i, double high) {
    return map == NULL ? 1.0 : clampTo((double)map[i], 0.0, high);
}

static double densityOf(const srFleshDials* dials, int32_t cell) {
    return dials->density * mapped(dials->densityMap, cell, 1e9);
}

static bool isPatched(double nu) {
    return nu > PATCHED_POISSON + ROUNDED_POISSON;
}

bool srFleshDials_WantPatches(const srFleshDials* dials) {
    return dials->poissonMap != NULL || isPatched(clampTo(dials->poissonRatio, 0.0, 0.5));
}

static double poissonOf(const srFleshDials* dials, int32_t cell) {
    return dials->poissonMap == NULL ? dials->poissonRatio
                                     : clampTo((double)dials->poissonMap[cell], 0.0, 0.5);
}

// What the cell itself keeps of lambda: all of it up to Poisson's ratio 0.45; from there to 0.5 less and
// less, down to mu, while its patch takes over the rest.
static Moduli findModuli(const srFleshDials* dials, int32_t cell) {
    double young =
        dials->youngModulus * mapped(dials->stiffnessMap, cell, 1e9) / (dials->scale * dials->scale);
    double nu = poissonOf(dials, cell);
    double mu = young / (2.0 * (1.0 + nu));
    if (!isPatched(nu)) {
        return (Moduli){mu, mu * 2.0 * nu / (1.0 - 2.0 * nu)};
    }
    double share = (nu - PATCHED_POISSON) / (0.5 - PATCHED_POISSON);
    double most = 2.0 * PATCHED_POISSON / (1.0 - 2.0 * PATCHED_POISSON);
    return (Moduli){mu, mu * (most + share * (1.0 - most))};
}

// 1 / lambda of what is left to the patch; infinite up to Poisson's ratio 0.45, zero at 0.5
static double patchSoftness(const srFleshDials* dials, int32_t cell) {
    Moduli own = findModuli(dials, cell);
    double nu = poissonOf(dials, cell);
    if (!isPatched(nu)) {
        return (double)INFINITY; // what would be left is rounding
    }
    double whole = (1.0 - 2.0 * nu) / (own.lameMu * 2.0 * nu); // 1 / lambda
    double left = 1.0 - own.lameLambda * whole;
    return left > 0.0 ? whole / left : (double)INFINITY;
}

// exp(-x) as a fraction: bits do not depend on a platform's library
static double fadeBy(double x) {
    double even = 1.0 + x * x / 12.0;
    return (even - 0.5 * x) / (even + 0.5 * x);
}

// The rate r with which steps of h shrink a swing of omega by exp(-rate h / 2) each. A root s of
// s^2 + r s + omega^2 = 0 has the real part -r / 2 and the square omega^2, and a step at the share theta
// makes z = (1 + (1 - theta) h s) / (1 - theta h s) of it, so that |z|^2 = exp(-rate h) is linear in r. Below
// zero where steps alone damp more than that; but all quicker swings they damp even more.
static double findThetaRate(double kept, double omega, double h, double theta) {
    double square = h * h * omega * omega;
    double gain = 1.0 + (1.0 - theta) * (1.0 - theta) * square - kept * (1.0 + theta * theta * square);
    return gain / (h * (1.0 - theta + kept * theta));
}

// Likewise with BDF2, whose z is 1 / (2 - root of 1 + 2 h s): by halves, as |z| falls with r
static double findBdf2Rate(double kept, double omega, double h) {
    double low = -2.0 * omega, high = 2.0 * omega;
    for (int k = 0; k < RATE_HALVINGS; ++k) {
        double r = 0.5 * (low + high);
        double re = 1.0 - h * r, im = 2.0 * h * sqrt(omega * omega - 0.25 * r * r);
        double length = sqrt(re * re + im * im);
        double below = 2.0 - sqrt(0.5 * (length + re));
        bool isKept = kept * (below * below + 0.5 * (length - re)) < 1.0;
        low = isKept ? r : low;
        high = isKept ? high : r;
    }
    return low;
}

static double findDampingRate(const srFleshDials* dials, double h, double theta) {
    double rate = dials->dampingRate;
    double omega = 2.0 * PI * dials->swing;
    double found = rate;
    if (omega > 0.0 && rate < 2.0 * omega && rate * h <= MOST_FADED) { // else it creeps, or is gone in a step
        double kept = fadeBy(rate * h);
        found = dials->integrator == sr_fleshBdf2 ? findBdf2Rate(kept, omega, h)
                                                  : findThetaRate(kept, omega, h, theta);
    }
    return fmax(found, -MOST_GAINED / (theta * h));
}

// masses of nodes, into `weights` for now, and their mean
static void findMasses(srFleshTuning* tuning, const srFleshRest* rest) {
    float* masses = tuning->weights;
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        masses[i] = 0.0f;
    }
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        for (int lane = 0; lane < SR_BATCH_LANES; ++lane) {
            double volume = (double)rest->volumes[b].V[lane];
            if (volume > 0.0) {
                double mass = 0.25 * volume * densityOf(&tuning->dials, rest->batches.members[b][lane]);
                for (int c = 0; c < 4; ++c) {
                    masses[rest->blocks[b].places[c][lane] / SR_ROW_FLOATS] += (float)mass;
                }
            }
        }
    }
    double sum = 0.0;
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        sum += (double)masses[i];
    }
    tuning->massUnit = sum > 0.0 ? sum / rest->nodeCount : 1.0;
}

static void tuneNodes(srFleshTuning* tuning, const srFleshRest* rest) {
    const srFleshDials* dials = &tuning->dials;
    double step = tuning->theta * tuning->h;
    double omega = 2.0 * PI * dials->frequency;
    double asked = fmax(dials->dampingRate, 0.0);
    double given = findDampingRate(dials, tuning->h, tuning->theta) - asked;
    double nu = dials->poissonRatio;
    srMaterial material = {.shearModulus =
                               dials->youngModulus / (2.0 * (1.0 + nu) * dials->scale * dials->scale)};
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        double volume = (double)rest->nodeVolumes[i];
        double mass = (double)tuning->weights[i];
        tuning->weights[i] = 0.0f;
        tuning->carries[i] = 0.0f;
        tuning->pulls[i] = 0.0f;
        if (!(rest->holds[i] < HARD_HOLD) || !(mass > 0.0)) {
            continue;
        }

        // no bond is shorter than the flesh around the node is wide
        double width = srCubeRoot(volume);
        double distance = fmax((double)rest->boneDistances[i], width);
        double hold = clampTo((double)rest->holds[i], 0.0, 1.0);
        double bond = srBondStiffness(&material, hold, volume, distance);
        double square = omega * omega * mapped(dials->pullMap, i, 1e9);
        double pull = step * step * (square + bond / mass);
        double rate = asked * mapped(dials->dampingMap, i, 1e9) + given;
        double whole = 1.0 + rate * step + pull;
        tuning->weights[i] = (float)(tuning->massUnit / (mass * whole));
        tuning->carries[i] = (float)(1.0 / whole);
        tuning->pulls[i] = (float)(pull / whole);
    }
}

// what has a mass, but moves with the rig or is pulled to it, makes its piece one that is not loose
static void findLoosePieces(srFleshTuning* tuning, const srFleshRest* rest) {
    const srFleshPieces* pieces = &rest->pieces;
    tuning->isLoose = true;
    memset(tuning->loosePieces, 0, (size_t)pieces->pieceCount * sizeof(bool));
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        bool* isLoose = &tuning->loosePieces[pieces->seatPieces[pieces->seats[i]]];
        *isLoose = *isLoose || tuning->weights[i] > 0.0f;
    }
    for (int32_t i = 0; i < rest->nodeCount; ++i) {
        bool isMoving = tuning->weights[i] > 0.0f;
        if (isMoving ? tuning->pulls[i] > 0.0f : rest->holds[i] >= HARD_HOLD && rest->nodeVolumes[i] > 0.0f) {
            tuning->loosePieces[pieces->seatPieces[pieces->seats[i]]] = false;
            tuning->isLoose = false;
        }
    }
    tuning->hasLoosePieces = false;
    for (int32_t piece = 0; piece < pieces->pieceCount; ++piece) {
        tuning->hasLoosePieces = tuning->hasLoosePieces || tuning->loosePieces[piece];
    }
}

// W = sum w_a g_a g_a': xx, yy, zz, xy, yz, zx
static void findW(const srCellBlock* block, const float* weights, int lane, double W[6]) {
    double g[4][3] = {{0.0}};
    for (int i = 0; i < 6; ++i) {
        W[i] = 0.0;
    }
    for (int c = 1; c < 4; ++c) {
        for (int axis = 0; axis < 3; ++axis) {
            g[c][axis] = (double)block->gradients[c - 1][axis][lane];
            g[0][axis] -= g[c][axis];
        }
    }
    for (int c = 0; c < 4; ++c) {
        double w = (double)weights[block->places[c][lane] / SR_ROW_FLOATS];
        W[0] += w * g[c][0] * g[c][0];
        W[1] += w * g[c][1] * g[c][1];
        W[2] += w * g[c][2] * g[c][2];
        W[3] += w * g[c][0] * g[c][1];
        W[4] += w * g[c][1] * g[c][2];
        W[5] += w * g[c][2] * g[c][0];
    }
}

// Axes V in which W is diagonal, and its entries there; Jacobi's method
static void findAxes(const double W[6], double V[3][3], double w[3]) {
    double A[3][3] = {{W[0], W[3], W[5]}, {W[3], W[1], W[4]}, {W[5], W[4], W[2]}};
    for (int k = 0; k < 9; ++k) {
        V[k / 3][k % 3] = k % 4 == 0 ? 1.0 : 0.0;
    }
    double small = AXES_AGREE * (A[0][0] + A[1][1] + A[2][2]);
    for (int round = 0, quiet = 0; round < 3 * JACOBI_SWEEPS && quiet < 3; ++round) {
        int p = round % 3, q = (p + 1) % 3;
        quiet = fabs(A[p][q]) <= small ? quiet + 1 : 0;
        if (quiet > 0) {
            continue;
        }
        double half = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
        double t = (half >= 0.0 ? 1.0 : -1.0) / (fabs(half) + sqrt(half * half + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0);
        double s = t * c;
        for (int k = 0; k < 3; ++k) {
            double x = A[k][p], y = A[k][q];
            A[k][p] = c * x - s * y;
            A[k][q] = s * x + c * y;
            x = V[k][p], y = V[k][q];
            V[k][p] = c * x - s * y;
            V[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) {
            double x = A[p][k], y = A[q][k];
            A[p][k] = c * x - s * y;
            A[q][k] = s * x + c * y;
        }
    }
    for (int k = 0; k < 3; ++k) {
        w[k] = fmax(A[k][k], 0.0);
    }
}

// V'x, for the lane of a vector
static void turnLane(double V[3][3], float x[3][SR_LANES_PER_BLOCK], int lane,
                     float out[3][SR_LANES_PER_BLOCK]) {
    double old[3] = {(double)x[0][lane], (double)x[1][lane], (double)x[2][lane]};
    for (int axis = 0; axis < 3; ++axis) {
        out[axis][lane] = (float)(V[0][axis] * old[0] + V[1][axis] * old[1] + V[2][axis] * old[2]);
    }
}

// of a cell's shape functions without their stretch: sum w |g|^2 and sum w (d . g)^2
static void findSpread(const srFleshRest* rest, const float* weights, int32_t b, int lane, double* outAll,
                       double* outAlong) {
    const srCellBlock* block = &rest->blocks[b];
    const srCellFibres* fibres = &rest->fibres[b];
    double g[4][3] = {{0.0}};
    *outAll = *outAlong = 0.0;
    for (int c = 3; c >= 0; --c) {
        float own[3] = {0.0f, 0.0f, 0.0f};
        for (int axis = 0; axis < 3 && c > 0; ++axis) {
            own[axis] = block->gradients[c - 1][axis][lane];
        }
        srUnstretch(fibres, lane, own);
        double along = 0.0, all = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            g[c][axis] = c > 0 ? (double)own[axis] : g[0][axis];
            g[0][axis] -= c > 0 ? g[c][axis] : 0.0;
            along += (double)fibres->d[axis][lane] * g[c][axis];
            all += g[c][axis] * g[c][axis];
        }
        double w = (double)weights[block->places[c][lane] / SR_ROW_FLOATS];
        *outAll += w * all;
        *outAlong += w * along * along;
    }
}

// How many times as stiff along its fibres as across them a cell may be, so that a sweep solves it: no less
// than 1, no more than it is. Without limit where the dials set none.
static double easeFibre(const srFleshTuning* tuning, const srFleshRest* rest, int32_t b, int lane,
                        Moduli moduli) {
    double root = (double)rest->fibres[b].root[lane];
    double factor = root * root;
    if (!(tuning->dials.mostUnsolved > 0.0) || factor <= 1.0) {
        return factor;
    }
    double all, along;
    findSpread(rest, tuning->weights, b, lane, &all, &along);
    double step = tuning->theta * tuning->h;
    double unit = 2.0 / 3.0 * (double)rest->volumes[b].V[lane] * step * step / tuning->massUnit;
    double left = FIBRES_UNSOLVED - unit * (moduli.lameMu + moduli.lameLambda) * all;
    double most = 1.0 + fmax(left, 0.0) / fmax(unit * moduli.lameMu * along, LEAST_FACTOR);
    return fmin(factor, most);
}

// the gradients of a cell's shape functions, and its fibres, less stiff where that is more than sweeps solve
static void layCell(srFleshTuning* tuning, const srFleshRest* rest, int32_t b, int lane, Moduli moduli) {
    const srCellBlock* from = &rest->blocks[b];
    srCellBlock* to = &tuning->blocks[b];
    for (int k = 0; k < 9; ++k) {
        to->gradients[k / 3][k % 3][lane] = from->gradients[k / 3][k % 3][lane];
    }
    if (rest->fibres == NULL) {
        return;
    }
    const srCellFibres* fibres = &rest->fibres[b];
    srCellFibres* eased = &tuning->fibres[b];
    for (int axis = 0; axis < 3; ++axis) {
        eased->d[axis][lane] = fibres->d[axis][lane];
    }
    eased->root[lane] = fibres->root[lane];
    double root = (double)fibres->root[lane];
    double factor = rest->volumes[b].V[lane] > 0.0f ? easeFibre(tuning, rest, b, lane, moduli) : root * root;
    if (factor < root * root) {
        // from I + (root - 1) d d' to I + (eased - 1) d d'
        eased->root[lane] = (float)sqrt(factor);
        float less = (float)(sqrt(factor) / root - 1.0);
        for (int c = 0; c < 3; ++c) {
            float along = 0.0f;
            for (int axis = 0; axis < 3; ++axis) {
                along += fibres->d[axis][lane] * to->gradients[c][axis][lane];
            }
            for (int axis = 0; axis < 3; ++axis) {
                to->gradients[c][axis][lane] += less * along * fibres->d[axis][lane];
            }
        }
    }
}

static void tuneLane(srFleshTuning* tuning, const srFleshRest* rest, int32_t b, int lane,
                     bool isCompensated) {
    srCellMaterial* material = &tuning->materials[b];
    srCellForceMaterial* forces = &tuning->forceMaterials[b];
    double volume = (double)rest->volumes[b].V[lane];
    Moduli moduli = {0.0, 0.0};
    if (volume > 0.0) {
        moduli = findModuli(&tuning->dials, rest->batches.members[b][lane]);
    }
    layCell(tuning, rest, b, lane, moduli);
    // fibres stretch J with F: the square of that is taken from lambda
    double root = rest->fibres != NULL ? (double)tuning->fibres[b].root[lane] : 1.0;
    moduli.lameLambda /= root > 0.0 ? root * root : 1.0;
    double step = tuning->theta * tuning->h;
    double shape = 2.0 * moduli.lameMu * volume * step * step / tuning->massUnit;
    double bulk = moduli.lameLambda * volume * step * step / tuning->massUnit;
    forces->shape[lane] = (float)shape;
    forces->volume[lane] = (float)bulk;
    double ratio = LARGEST_RATIO;
    double W[6] = {0.0};
    double V[3][3];
    double w[3];
    if (volume > 0.0) {
        findW(&tuning->blocks[b], tuning->weights, lane, W);
    }
    findAxes(W, V, w);
    for (int corner = 0; corner < 3; ++corner) {
        turnLane(V, tuning->blocks[b].gradients[corner], lane, tuning->blocks[b].gradients[corner]);
    }
    if (rest->fibres != NULL) {
        turnLane(V, tuning->fibres[b].d, lane, tuning->fibres[b].d);
    }
    material->compliance[lane] = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        material->K[axis][lane] = 0.0f;
        material->S[axis][lane] = 0.0f;
    }
    if (shape > 0.0) {
        double mean = (W[0] + W[1] + W[2]) / 3.0;
        double a = 1.0 / shape;
        double b0 = bulk > 0.0 ? 1.0 / bulk : LARGEST_RATIO * a;
        if (isCompensated) {
            a = fmax(a - COMPENSATION * mean, LEAST_COMPLIANCE * mean);
            b0 = fmax(b0 - COMPENSATION * mean, 0.0);
        }
        ratio = fmin(b0 / a, LARGEST_RATIO);
        material->compliance[lane] = (float)a;
        for (int axis = 0; axis < 3; ++axis) {
            material->K[axis][lane] = (float)(w[axis] / (w[axis] + a));
            material->S[axis][lane] = (float)(1.0 / (w[axis] + a));
        }
    }
    material->volumeCompliance[lane] = (float)ratio;
}

static void tuneCells(srFleshTuning* tuning, const srFleshRest* rest, bool hasHandles) {
    bool isCompensated = !hasHandles && !tuning->dials.isUncompensated && tuning->dials.sweeps == 1;
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        memcpy(tuning->blocks[b].places, rest->blocks[b].places, sizeof(rest->blocks[b].places));
        for (int lane = 0; lane < SR_BATCH_LANES; ++lane) {
            tuneLane(tuning, rest, b, lane, isCompensated);
        }
    }
}

// A patch stores lambda (dV)^2 / (2 V); its softness is the mean of its cells'. One cell that does not resist
// is enough for all.
static void tunePatches(srFleshTuning* tuning, const srFleshRest* rest) {
    int32_t patchCount = rest->patches != NULL ? rest->patches->patchCount : 0;
    double step = tuning->theta * tuning->h;
    tuning->hasPatches = false;
    for (int32_t i = 0; i < patchCount; ++i) {
        const srPatch* patch = &rest->patches->patches[i];
        double sum = 0.0;
        for (int lane = 0; lane < SR_LANES_PER_BLOCK; ++lane) {
            if (patch->batches[lane] != SR_NULL_INDEX) {
                int32_t cell = rest->batches.members[patch->batches[lane]][patch->lanes[lane]];
                sum += (double)patch->V[lane] * patchSoftness(&tuning->dials, cell);
            }
        }
        double compliance = sum * tuning->massUnit / (step * step);
        tuning->patchCompliances[i] =
            compliance >= 0.0 && compliance < LARGEST_RATIO ? (float)compliance : -1.0f;
        tuning->hasPatches = tuning->hasPatches || tuning->patchCompliances[i] >= 0.0f;
    }
}

// One sweep is too soft by r = a / w, w the mean eigenvalue of W, and the more so where volume is stiffer
// than shape: here (1 + lambda / mu) / r, the mean over the volume. It shrinks with the square of the
// substeps.
static double findUnsolved(const srFleshTuning* tuning, const srFleshRest* rest) {
    double unsolved = 0.0;
    double whole = 0.0;
    for (int32_t b = 0; b < rest->batches.batchCount; ++b) {
        for (int lane = 0; lane < SR_BATCH_LANES; ++lane) {
            double volume = (double)rest->volumes[b].V[lane];
            double shape = (double)tuning->forceMaterials[b].shape[lane];
            if (volume > 0.0 && shape > 0.0) {
                double W[6];
                findW(&rest->blocks[b], tuning->weights, lane, W);
                double ratio = 2.0 * (double)tuning->forceMaterials[b].volume[lane] / shape;
                unsolved += volume * (1.0 + ratio) * shape * (W[0] + W[1] + W[2]) / 3.0;
                whole += volume;
            }
        }
    }
    return whole > 0.0 ? unsolved / whole : 0.0;
}

// What is needed was found on beams (E from 1e4 to 1e7, Poisson's ratio 0.3 and 0.45): r of about 1 + lambda
// / mu, or a thirtieth of that when the coarse correction does the rest.
int32_t srFleshTuning_ChooseSubsteps(const srFleshTuning* tuning, const srFleshRest* rest) {
    double unsolved = findUnsolved(tuning, rest) * (srCoarse_IsReady(tuning->coarse) ? COARSE_RELIEF : 1.0);
    return (int32_t)clampTo(ceil(tuning->dials.substeps * sqrt(unsolved)), 1.0, 64.0);
}

int32_t srFindSubstepsWithHandles(int32_t asked, double frequency, double frameSeconds) {
    double swings = frequency * frameSeconds; // a frame
    bool isShown = swings < SR_MOST_SWINGS_SHOWN;
    double least = isShown ? SUBSTEPS_A_SWING * swings : SUBSTEPS_TO_BE_CALM;
    double ofTen = isShown ? fmax(least, SUBSTEPS_WITH_HANDLES) : 10.0;
    return (int32_t)fmax(ceil(fmax(0.1 * asked * ofTen, least) - ROUNDED_SUBSTEPS), 1.0);
}

double srFleshTuning_FindFrequency(const srFleshTuning* tuning, const srFleshRest* rest) {
    if (!srCoarse_IsReady(tuning->coarse)) {
        return 0.0;
    }
    double growth = srCoarse_FindLeast(tuning->coarse, rest->coarse, tuning);
    double step = tuning->theta * tuning->h;
    return growth > 1.0 ? sqrt(growth - 1.0) / (2.0 * PI * step) : 0.0;
}

double srFleshDials_FindTheta(const srFleshDials* dials) {
    if (dials->integrator == sr_fleshBdf2) {
        return 2.0 / 3.0;
    }
    double middle = srFleshDials_WantPatches(dials) ? SR_PATCHED_THETA : 0.5;
    double least = dials->sweeps > 1 ? middle : SR_LEAST_THETA;
    double h = dials->frameSeconds / dials->substeps;
    return clampTo(0.5 * (1.0 + dials->viscosity / h), least, 1.0);
}

static int32_t cellOf(const srFleshRest* rest, int32_t b, int lane) {
    return rest->volumes[b].V[lane] > 0.0f ? rest->batches.members[b][lane] : SR_NULL_INDEX;
}

// What maps make of the body. What most of it is like: of stiffness the harmonic mean, of density the plain
// one, and of the one over the other the harmonic one; and the most of that.
static Contrast findContrast(const srFleshRest* rest, const float* stiffnessMap, const float* densityMap) {
    double softness = 0.0, density = 0.0, slowness = 0.0, whole = 0.0, most = 0.0;
    for (int32_t k = 0; k < rest->batches.batchCount * SR_BATCH_LANES; ++k) {
        int32_t cell = cellOf(rest, k / SR_BATCH_LANES, k % SR_BATCH_LANES);
        if (cell != SR_NULL_INDEX) {
            double volume = (double)rest->volumes[k / SR_BATCH_LANES].V[k % SR_BATCH_LANES];
            double s = fmax(mapped(stiffnessMap, cell, 1e9), LEAST_FACTOR);
            double d = fmax(mapped(densityMap, cell, 1e9), LEAST_FACTOR);
            softness += volume / s;
            density += volume * d;
            slowness += volume * d / s;
            whole += volume;
            most = fmax(most, s / d);
        }
    }
    return (Contrast){whole / softness, density / whole, whole / slowness, most};
}

double srFleshRest_FindContrast(const srFleshRest* rest, const float* stiffnessMap, const float* densityMap) {
    Contrast contrast = findContrast(rest, stiffnessMap, densityMap);
    double quicker = sqrt(contrast.most / contrast.ratio);
    return quicker > 1.0 ? quicker : 1.0; // also where there is no cell
}

static double findCellUnsolved(const srFleshTuning* tuning, const srFleshRest* rest, int32_t b, int lane) {
    Moduli moduli = findModuli(&tuning->dials, rest->batches.members[b][lane]);
    double step = tuning->theta * tuning->h;
    double W[6];
    findW(&rest->blocks[b], tuning->weights, lane, W);
    double stiffness = 2.0 * (moduli.lameMu + moduli.lameLambda) * (double)rest->volumes[b].V[lane];
    return stiffness * step * step / tuning->massUnit * (W[0] + W[1] + W[2]) / 3.0;
}

// Cells that maps make so stiff or so light that a sweep cannot solve them get as much less contrast as it
// takes: first the greater of the two is made less, then both. What is as the body mostly is stays.
static void easeMaps(srFleshTuning* tuning, const srFleshRest* rest) {
    srFleshDials* dials = &tuning->dials;
    Contrast usual = findContrast(rest, dials->stiffnessMap, dials->densityMap);
    float* stiffness = tuning->easedMaps;
    float* density = tuning->easedMaps + rest->batches.constraintCount;
    for (int32_t k = 0; k < rest->batches.batchCount * SR_BATCH_LANES; ++k) {
        int32_t b = k / SR_BATCH_LANES;
        int lane = k % SR_BATCH_LANES;
        int32_t cell = cellOf(rest, b, lane);
        if (cell == SR_NULL_INDEX) {
            continue;
        }
        double s = mapped(dials->stiffnessMap, cell, 1e9);
        double d = fmax(mapped(dials->densityMap, cell, 1e9), LEAST_FACTOR);
        double less = findCellUnsolved(tuning, rest, b, lane) / dials->mostUnsolved;
        less = fmax(fmin(less, s / (d * usual.ratio * SLIGHT_CONTRAST)), 1.0);
        double stiffer = fmax(s / usual.stiffness, 1.0);
        double lighter = fmax(usual.density / d, 1.0);
        double first = fmin(less, fmax(stiffer, lighter) / fmin(stiffer, lighter));
        double each = sqrt(less / first);
        stiffness[cell] = (float)(s / (each * (stiffer > lighter ? first : 1.0)));
        density[cell] = (float)(d * each * (stiffer > lighter ? 1.0 : first));
    }
    dials->stiffnessMap = stiffness;
    dials->densityMap = density;
}

static void tuneAll(srFleshTuning* tuning, const srFleshRest* rest, double theta) {
    tuning->theta = theta;
    findMasses(tuning, rest);
    tuneNodes(tuning, rest);
    bool isPainted = tuning->dials.stiffnessMap != NULL || tuning->dials.densityMap != NULL;
    if (isPainted && tuning->dials.mostUnsolved > 0.0) {
        easeMaps(tuning, rest);
        findMasses(tuning, rest);
        tuneNodes(tuning, rest);
    }
    findLoosePieces(tuning, rest);
    tuneCells(tuning, rest, tuning->coarse != NULL);
    tunePatches(tuning, rest);
    if (tuning->coarse != NULL) {
        srCoarse_Set(tuning->coarse, rest->coarse, rest, tuning);
        if (!srCoarse_IsReady(tuning->coarse)) {
            tuneCells(tuning, rest, false);
        }
    }
}

srResult srFleshTuning_Set(srFleshTuning* tuning, const srFleshRest* rest, const srFleshDials* dials) {
    tuning->dials = clampDials(dials);
    tuning->h = tuning->dials.frameSeconds / tuning->dials.substeps;
    double theta = srFleshDials_FindTheta(&tuning->dials);
    tuneAll(tuning, rest, theta);
    if (tuning->dials.sweeps > 1 && theta < SR_LEAST_THETA) {
        // what sweeps leave unsolved feeds a swing whose forces are taken in the middle
        double unsolved = findUnsolved(tuning, rest) / tuning->dials.sweeps;
        double late = clampTo((unsolved - SOLVED) / (UNSOLVED - SOLVED), 0.0, 1.0);
        if (late > 0.0) {
            tuneAll(tuning, rest, theta + late * (SR_LEAST_THETA - theta));
        }
    }
    tuning->dials.stiffnessMap = NULL;
    tuning->dials.poissonMap = NULL;
    tuning->dials.densityMap = NULL;
    tuning->dials.dampingMap = NULL;
    tuning->dials.pullMap = NULL;
    return sr_success;
}
