// SPDX-License-Identifier: GPL-3.0-or-later
//
// The quadratic problem of bounded biharmonic weights on index arrays, and the loop that solves it. Knows
// matrices, no meshes and no bones.

#pragma once

#include "core/error.h"
#include "math/csc.h"
#include "math/vec3.h"
#include "mesh/progress.h"

/// Over rows i and columns j: minimise sum_j (w_j' A w_j / 2 - b_j' w_j), every row of w in the simplex and
/// below its ceilings. Unit of length, volume and the like are gone: numbers are about one.
typedef struct srSimplexProblem {
    srCsc A;              ///< Symmetric, positive definite; its lower triangle.
    const double* loads;  ///< b, row by row.
    const double* metric; ///< D times rho: positive, one a row.
    const srVec3* places; ///< Of rows: for a good order of elimination.
    int32_t columnCount;  ///< Positive.
} srSimplexProblem;

typedef struct srSimplexSettings {
    double tolerance;       ///< Of both residuals.
    int32_t iterationLimit; ///< Not reaching the tolerance is no failure.
} srSimplexSettings;

/// With y = b - A x, all norms in the metric: primal |x - w| / |w|; dual |D^-1 (y - n)| / |D^-1 n|, n = D (s
/// - w) the multipliers, normal at w to what rows may be, to rounding; where hardly anything is bound, |w| /
/// 1000 stands for |D^-1 n|.
typedef struct srSimplexReport {
    int32_t iterationCount;
    int32_t restartCount; ///< How often mixing led astray and began anew.
    double primalResidual;
    double dualResidual;
    bool isConverged;
    bool isDouble; ///< Floats did not do.
} srSimplexReport;

typedef struct srSimplexTurn {
    const double* ceilings; ///< Row by row, those of a row at least one together. Null: nothing is above one.
    bool areNew;            ///< Other ceilings than the last time, or it is the first.
    bool isRough;           ///< What steps tell of themselves is enough: no x is filled, no residual told.
} srSimplexTurn;

typedef struct srSimplexAnswer {
    double* weights; ///< Rows in the simplex, below their ceilings.
    double* smooth;  ///< x, which obeys no bounds and no rounding either: what residuals are of. Nullable.
    srSimplexReport report;
} srSimplexAnswer;

/// A problem that is solved several times: with a factor of its own, and where it came to.
typedef struct srSimplexLoop srSimplexLoop;

/// Begins at the smoothest without bounds. The problem is kept and must stay as it is.
SR_MUST_USE srResult srCreateSimplexLoop(const srSimplexProblem* problem, const srProgress* progress,
                                         srSimplexLoop** outLoop);

/// Goes on from where it came to, all numbers row by row and in double. Ceilings stay until there are new
/// ones. The same bits on any number of workers.
SR_MUST_USE srResult srSimplexLoop_Solve(srSimplexLoop* loop, const srSimplexSettings* settings,
                                         const srSimplexTurn* turn, const srProgress* progress,
                                         srSimplexAnswer* answer);

/// Accepts null.
void srDestroySimplexLoop(srSimplexLoop* loop);

/// All of it at once, without ceilings. `outSmooth` is nullable.
SR_MUST_USE srResult srSolveSimplexProblem(const srSimplexProblem* problem, const srSimplexSettings* settings,
                                           const srProgress* progress, double* outWeights, double* outSmooth,
                                           srSimplexReport* outReport);
