// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inexact Newton with a line search. All of it stays in C u = 0, where the gradient is P g.

#include "solver/complementary_inner.h"

#include "core/parallel.h"

#include <math.h>

#define SMALLEST_FORCE 1e-14  // of the problem's force scale: nothing is left to be done below
#define SMALLEST_CHANGE 1e-12 // of the energies that were summed up
#define FORCING 0.3
#define TIGHTEST 0.3 // of that
#define SURPRISES 3.0
#define ENOUGH 0.8    // of the tolerance, for a step that may be the last
#define DECREASE 1e-4 // of what the slope promises
#define LONGER                                                                                               \
    2.0 // than a step that had to be cut, or that was as good as it could be: the next one's radius
#define SHORTER 0.5 // than one that gained little
#define NEXT                                                                                                 \
    0.5 // of a step that went as it should: one that is to be longer follows a direction that hardly bends
#define MOST_TRIALS 12

typedef struct Pass {
    srComplementaryProblem* problem;
    srComplementaryPlace* place;
    const srComplementaryPlace* from; // null: the place is where it shall be
    double t;                         // how much of the step from there leads to it
    double* sums;
} Pass;

// The place itself, points = p + u, gradient and energy of the quadratic part. Sums are kept for each
// coordinate, as an addition takes longer than it takes to begin another.
static void startRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Pass* pass = context;
    const srComplementaryProblem* problem = pass->problem;
    const double *diagonal = problem->tuning->diagonal, *loads = problem->loads, *primary = problem->primary;
    double* restrict offsets = pass->place->offsets;
    double* restrict gradient = pass->place->gradient;
    double* restrict points = problem->points;
    double energies[SR_POINT] = {0.0}, sizes[SR_POINT] = {0.0};
    for (size_t k = SR_POINT * (size_t)begin; pass->from != NULL && k < SR_POINT * (size_t)end; ++k) {
        offsets[k] = pass->from->offsets[k] + pass->t * problem->step[k];
    }
    for (size_t i = (size_t)begin; i < (size_t)end; ++i) {
        for (size_t c = 0; c < SR_POINT; ++c) {
            size_t k = SR_POINT * i + c;
            double u = offsets[k], force = diagonal[i] * u, work = loads[k] * u;
            double stored = 0.5 * force * u;
            points[k] = primary[k] + u;
            gradient[k] = force - loads[k];
            energies[c] += stored - work;
            sizes[c] += stored + fabs(work);
        }
    }
    size_t block = (size_t)begin / SR_NODES_PER_BLOCK;
    pass->sums[2 * block] = energies[0] + energies[1] + energies[2];
    pass->sums[2 * block + 1] = sizes[0] + sizes[1] + sizes[2];
}

static void evaluate(Pass* pass) {
    srComplementaryProblem* problem = pass->problem;
    srComplementaryPlace* place = pass->place;
    const srComplementaryRest* rest = problem->rest;
    int32_t n = rest->nodeCount;
    pass->sums = problem->partials;
    srParallelFor(startRange, n, SR_NODES_PER_BLOCK, pass);
    place->energy = 0.0;
    place->energySize = 0.0;
    for (int32_t block = 0; block < srCountNodeBlocks(n); ++block) {
        place->energy += pass->sums[2 * block];
        place->energySize += pass->sums[2 * block + 1];
    }
    double elastic = srCells_Evaluate(&rest->layout, &problem->tuning->shapes, &problem->stretches,
                                      problem->points, place->gradient, &place->turns, problem->partials);
    place->energy += elastic;
    place->energySize += fabs(elastic) + problem->tuning->restEnergy;
    srClearFixed(rest, place->gradient);
    place->residual = sqrt(srRigRows_ProjectAndDot(&rest->rows, place->gradient, place->gradient, n,
                                                   problem->rowScratch, problem->partials));
    problem->stats->evaluateCount += 1;
}

void srComplementary_Evaluate(srComplementaryProblem* problem, srComplementaryPlace* place) {
    Pass pass = {.problem = problem, .place = place};
    evaluate(&pass);
}

static void swapPlaces(srComplementaryProblem* problem) {
    srComplementaryPlace place = problem->places[0];
    problem->places[0] = problem->places[1];
    problem->places[1] = place;
}

// A change of energy that rounding hides is judged by the residual instead.
static bool isBetter(const srComplementaryPlace* from, const srComplementaryPlace* to, double promised) {
    double change = to->energy - from->energy;
    if (change <= DECREASE * promised) {
        return true;
    }
    return change <= SMALLEST_CHANGE * from->energySize && to->residual < from->residual;
}

// The longest of a few steps that lowers the energy enough; the place moves there. Returns by how much of
// what was promised, were the energy a parabola it would be a half; zero when no step does.
static double searchLine(srComplementaryProblem* problem, double slope, double* outPart) {
    srComplementaryPlace *from = &problem->places[0], *to = &problem->places[1];
    if (!(slope < 0.0)) {
        return 0.0;
    }
    Pass pass = {.problem = problem, .place = to, .from = from, .t = 1.0};
    for (int trial = 0; trial < MOST_TRIALS; ++trial) {
        evaluate(&pass);
        if (isBetter(from, to, pass.t * slope)) {
            double share = (to->energy - from->energy) / (pass.t * slope);
            *outPart = pass.t;
            swapPlaces(problem);
            return share > DECREASE ? share : DECREASE;
        }
        // the lowest point of the parabola through what is known, within reason
        double excess = to->energy - from->energy - pass.t * slope;
        double t = -0.5 * slope * pass.t * pass.t / excess;
        pass.t = t > 0.1 * pass.t && t < 0.5 * pass.t ? t : t > 0.1 * pass.t ? 0.5 * pass.t : 0.1 * pass.t;
    }
    return 0.0;
}

// The better the Hessian told what became of the last step, the further it is followed in the next:
// `surprise` is how far the residual was from what it promised, in parts of that before (Eisenstat and Walker
// 1996).
static double findForcing(double residual, double tolerance, double surprise) {
    // forces may grow while the energy falls
    double forcing = FORCING * (residual < 1.0 ? sqrt(residual) : 1.0);
    forcing = fmin(forcing, fmax(SURPRISES * surprise, TIGHTEST * forcing));
    double enough = ENOUGH * tolerance / residual;
    return forcing > enough ? forcing : enough;
}

bool srComplementary_IsNegligible(const srComplementaryProblem* problem, double residual) {
    return !(residual > SMALLEST_FORCE * problem->forceScale);
}

// How far the next step may go, by what became of this one.
static double findRadius(double radius, double length, double part, double share) {
    if (part < 1.0) {
        return LONGER * part * length;
    }
    if (share < 0.1) {
        return SHORTER * length;
    }
    if (length > 0.99 * radius) {
        return share > 0.3 ? LONGER * radius : radius;
    }
    return fmin(radius, NEXT * length);
}

double srComplementary_Minimize(srComplementaryProblem* problem, const double* guess) {
    const srComplementaryDials* dials = &problem->tuning->dials;
    double unit = problem->places[0].residual;
    if (srComplementary_IsNegligible(problem, unit)) {
        return 0.0;
    }
    double radius = HUGE_VAL, surprise = HUGE_VAL;
    int32_t innerLimit = problem->stats->innerCount + dials->innerLimit;
    for (int32_t k = 0; k < dials->newtonLimit; ++k) {
        double residual = problem->places[0].residual / unit;
        int32_t left = innerLimit - problem->stats->innerCount;
        bool isDone = residual <= dials->tolerance ||
                      srComplementary_IsNegligible(problem, problem->places[0].residual);
        if (isDone || left <= 0) {
            break;
        }
        // the last step goes as far as it may
        double forcing = k + 1 < dials->newtonLimit ? findForcing(residual, dials->tolerance, surprise)
                                                    : fmin(FORCING, ENOUGH * dials->tolerance / residual);
        double before = problem->places[0].residual;
        srComplementaryStep step = srComplementary_FindStep(problem, &problem->places[0], forcing, radius,
                                                            left, k == 0 ? guess : NULL);
        problem->stats->newtonCount += 1;
        double part = 1.0, share = searchLine(problem, step.slope, &part);
        if (share == 0.0) {
            break;
        }
        surprise = part < 1.0 ? HUGE_VAL : fabs(problem->places[0].residual - step.residual) / before;
        radius = findRadius(radius, step.length, part, share);
    }
    bool isNothing = srComplementary_IsNegligible(problem, problem->places[0].residual);
    return isNothing ? 0.0 : problem->places[0].residual / unit;
}
