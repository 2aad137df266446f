// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preconditioned conjugate gradients for H d = -P g within C d = 0, matrix-free and in float. The
// preconditioner is the constant saddle-point system: z = A^-1 (r - C' m) with C z = 0, which is
//   z = A^-1 r - W S^-1 C A^-1 r,   W = A^-1 C', S = C W.
// All its answers have C z = 0, so all directions have too. H may be indefinite: where a direction of
// negative curvature is met, what has been found so far is the step, or at once z, which is the step of
// projective dynamics and lowers the energy always. Where a radius is known that steps may be trusted within,
// they end on it (Steihaug 1983).
//
// Whether a step is good enough is asked of r without what C' y takes of it, before the next z: so no solve
// is in vain, and the forces that are left are those that the next gradient is judged by.

#include "solver/complementary_inner.h"

#include "core/parallel.h"
#include "math/small.h"
#include "solver/pointrows.h"

#include <float.h>
#include <math.h>
#include <string.h>

// solution = preconditioned residuals, three numbers a node. Its product with them, zero when it is not
// finite.
static double precondition(srComplementaryProblem* problem) {
    const srComplementaryRest* rest = problem->rest;
    const srComplementaryTuning* tuning = problem->tuning;
    if (srFactor_SolveFloatRows(&tuning->factor, problem->residuals, problem->solution,
                                problem->solveScratch) != sr_success) {
        return 0.0;
    }
    bool hasRows = rest->rows.rowCount > 0;
    if (hasRows) {
        srRigRows_MultiplyFloat(&rest->rows, problem->solution, problem->rowScratch);
        srSolveSmall(tuning->schur, rest->rows.rowCount, problem->rowScratch);
        for (size_t k = 0; k < (size_t)rest->rows.rowCount; ++k) {
            for (size_t c = 0; c < 3; ++c) {
                problem->packed[3 * k + c] = -(float)problem->rowScratch[SR_POINT * k + c];
            }
        }
    }
    return srDotPacked(problem->residuals, hasRows ? &tuning->responses : NULL, problem->packed,
                       problem->solution, rest->nodeCount, problem->partials);
}

typedef struct Pass {
    srComplementaryProblem* problem;
    const srComplementaryPlace* place;
    const double* guess;
} Pass;

// r = -P g / |P g|, d = 0
static void startRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Pass* pass = context;
    srComplementaryProblem* problem = pass->problem;
    size_t first = SR_POINT * (size_t)begin, bytes = sizeof(float) * SR_POINT * (size_t)(end - begin);
    double scale = -1.0 / pass->place->residual;
    for (size_t k = first; k < SR_POINT * (size_t)end; ++k) {
        problem->residuals[k] = (float)(scale * pass->place->gradient[k]);
    }
    memset(problem->direction + first, 0, bytes);
    memset(problem->search + first, 0, bytes);
    memset(problem->products + first, 0, bytes);
}

// p = guess - u, q its product with the diagonal
static void lookRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Pass* pass = context;
    srComplementaryProblem* problem = pass->problem;
    double scale = 1.0 / pass->place->residual;
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        for (size_t k = SR_POINT * i; k < SR_POINT * (i + 1); ++k) {
            problem->search[k] = (float)(scale * (pass->guess[k] - pass->place->offsets[k]));
            problem->products[k] = problem->tuning->diagonalF[i] * problem->search[k];
        }
    }
}

// q += what cells make of p
static void multiplyHessian(srComplementaryProblem* problem, const srComplementaryPlace* place) {
    srCells_MultiplyHessian(&problem->rest->layout, &problem->tuning->shapes, &problem->stretches,
                            &place->turns, problem->search, problem->products);
    srClearFixedFloat(problem->rest, problem->products);
    problem->stats->innerCount += 1;
}

// The lowest point on the way to a guess, as far as a parabola tells: a product instead of a gradient at the
// guess, and what is right of a bad guess is used too. Returns the length of that step in the metric of H.
static double lookTowards(Pass* pass) {
    srComplementaryProblem* problem = pass->problem;
    int32_t n = problem->rest->nodeCount;
    srParallelFor(lookRange, n, SR_NODES_PER_BLOCK, pass);
    multiplyHessian(problem, pass->place);
    double curvature = srDotRows(problem->search, problem->products, n, problem->partials);
    double slope = srDotRows(problem->search, problem->residuals, n, problem->partials);
    double square = slope * slope / curvature;
    bool isGood = curvature > 0.0 && square > 0.0 && square <= (double)FLT_MAX;
    if (!isGood) {
        memset(problem->search, 0, sizeof(float) * SR_POINT * (size_t)n);
        return 0.0;
    }
    srAdvanceRows((float)(slope / curvature), problem->search, problem->products, problem->direction,
                  problem->residuals, n, problem->partials);
    return sqrt(square);
}

static void finishRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Pass* pass = context;
    srComplementaryProblem* problem = pass->problem;
    for (size_t k = SR_POINT * (size_t)begin; k < SR_POINT * (size_t)end; ++k) {
        problem->step[k] = pass->place->residual * (double)problem->direction[k];
    }
}

// How far d and the search direction p go in the metric of the preconditioner, and their product there: what
// conjugate gradients tell of themselves (Steihaug 1983).
typedef struct Lengths {
    double dd, dp, pp;
} Lengths;

// how far along p the radius is
static double findBorder(const Lengths* lengths, double radius) {
    double left = radius * radius - lengths->dd;
    return (sqrt(lengths->dp * lengths->dp + lengths->pp * left) - lengths->dp) / lengths->pp;
}

srComplementaryStep srComplementary_FindStep(srComplementaryProblem* problem,
                                             const srComplementaryPlace* place, double forcing, double radius,
                                             int32_t limit, const double* guess) {
    const srComplementaryRest* rest = problem->rest;
    int32_t n = rest->nodeCount;
    Pass pass = {problem, place, guess};
    srParallelFor(startRange, n, SR_NODES_PER_BLOCK, &pass);
    double before = 0.0, most = radius / place->residual, left = HUGE_VAL;
    Lengths lengths = {0.0, 0.0, 0.0};
    if (guess != NULL && limit > 1) {
        double length = lookTowards(&pass);
        lengths.dd = length * length;
        --limit;
    }
    for (int32_t k = 0; k < limit; ++k) {
        double rz = precondition(problem);
        if (!(rz > 0.0)) {
            break;
        }
        double turn = k == 0 ? 0.0 : rz / before;
        srTurnRows(problem->solution, (float)turn, problem->tuning->diagonalF, problem->search,
                   problem->products, n);
        before = rz;
        lengths.dp *= turn;
        lengths.pp = rz + turn * turn * lengths.pp;
        multiplyHessian(problem, place);
        double curvature = srDotRows(problem->search, problem->products, n, problem->partials);
        bool isBent = !(curvature > 0.0);
        problem->stats->curvatureCount += isBent;
        double alpha = isBent ? (k == 0 ? 1.0 : 0.0) : rz / curvature;
        double dd = lengths.dd + alpha * (2.0 * lengths.dp + alpha * lengths.pp);
        bool isBorder = dd > most * most || (isBent && most < HUGE_VAL);
        if (isBorder) {
            alpha = findBorder(&lengths, most);
            dd = most * most;
        }
        double square = srAdvanceRows((float)alpha, problem->search, problem->products, problem->direction,
                                      problem->residuals, n, problem->partials);
        lengths.dd = dd;
        lengths.dp += alpha * lengths.pp;
        if (isBent || isBorder) {
            left = HUGE_VAL;
            break;
        }
        // forces that the rig takes up are none
        square -= srRigRows_MeasureRange(&rest->rows, problem->residuals, problem->rowScratch);
        left = sqrt(square > 0.0 ? square : 0.0);
        if (!(left > forcing)) {
            break;
        }
    }
    srParallelFor(finishRange, n, SR_NODES_PER_BLOCK, &pass);
    double slope = srRigRows_ProjectAndDot(&rest->rows, problem->step, place->gradient, n,
                                           problem->rowScratch, problem->partials);
    return (srComplementaryStep){sqrt(lengths.dd) * place->residual, left * place->residual, slope};
}
