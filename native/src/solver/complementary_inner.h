// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the files of the complementary solver share: a substep's problem, its scratch, and the two loops that
// solve it. Inner to complementary*.c.

#pragma once

#include "solver/complementary.h"

#include <string.h>

#define SR_NODES_PER_BLOCK 512 // of loops over nodes

/// A place u: the energy there, its gradient in C g = 0, and how the cells turn.
typedef struct srComplementaryPlace {
    double* offsets;  // u, in rows
    double* gradient; // P g
    srCellTurns turns;
    double energy;
    double energySize; // of what was summed up: below 1e-12 of it differences mean nothing
    double residual;   // |P g|
} srComplementaryPlace;

/// One substep. Rows have four numbers.
typedef struct srComplementaryProblem {
    const srComplementaryRest* rest;
    const srComplementaryTuning* tuning;
    double* primary; // p
    double* pulls;   // forces from outside
    double* loads;   // what pulls at u = 0, elasticity apart: these and inertia
    double* points;  // scratch: p + u
    double* step;    // of Newton's method
    srCellStretches stretches;
    srComplementaryPlace places[2];
    double forceScale; // what stiffness makes of the size of coordinates
    double* partials;  // numbers a chunk, or a block of nodes
    double* rowScratch;
    float* direction; // d, and those of conjugate gradients:
    float* residuals;
    float* search;
    float* products;
    float* packed;   // three numbers a row of the rig
    float* solution; // three numbers a node and one more
    void* solveScratch;
    srComplementaryStats* stats;
} srComplementaryProblem;

/// Nothing pulls at fixed nodes: zeros at them.
static inline void srClearFixed(const srComplementaryRest* rest, double* rows) {
    for (int32_t k = 0; k < rest->fixedCount; ++k) {
        memset(rows + SR_POINT * (size_t)rest->fixedNodes[k], 0, SR_POINT * sizeof(double));
    }
}

static inline void srClearFixedFloat(const srComplementaryRest* rest, float* rows) {
    for (int32_t k = 0; k < rest->fixedCount; ++k) {
        memset(rows + SR_POINT * (size_t)rest->fixedNodes[k], 0, SR_POINT * sizeof(float));
    }
}

/// Fills everything but the offsets.
void srComplementary_Evaluate(srComplementaryProblem* problem, srComplementaryPlace* place);

/// Whether forces of that length are what rounding makes of none.
bool srComplementary_IsNegligible(const srComplementaryProblem* problem, double residual);

/// Minimises from `places[0]`, evaluated, of which the residual counts as one; ends there. `guess` is where
/// the minimum may lie. Returns the residual.
double srComplementary_Minimize(srComplementaryProblem* problem, const double* guess);

/// A step of Newton's method; the vector itself is in `problem->step`.
typedef struct srComplementaryStep {
    double length;   // in the metric of the preconditioner
    double residual; // what |P g| would become were the energy a parabola; infinite where nobody knows
    double slope;    // of the energy along it
} srComplementaryStep;

/// A step that lowers the energy at `place`, by conjugate gradients, until the residual would be below
/// `forcing` of what it was were the energy a parabola, or the step as long as `radius` (in the metric of the
/// preconditioner). Looks towards `guess` first, unless that is null. C step = 0.
srComplementaryStep srComplementary_FindStep(srComplementaryProblem* problem,
                                             const srComplementaryPlace* place, double forcing, double radius,
                                             int32_t limit, const double* guess);

/// The sum of `count` numbers, in order.
static inline double srSumPartials(const double* partials, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        sum += partials[i];
    }
    return sum;
}

static inline int32_t srCountNodeBlocks(int32_t nodeCount) {
    return (nodeCount + SR_NODES_PER_BLOCK - 1) / SR_NODES_PER_BLOCK;
}
