// SPDX-License-Identifier: GPL-3.0-or-later
//
// By the law of volume and area, by halving, and by walking.

#include "mesh/search.h"

#include <math.h>

// Meshings for one cage, and when the count is near enough to stop
#define TRIAL_COUNT 9
#define PLAIN_TRIAL_COUNT 4
#define COUNT_PATIENCE 0.012

// Where copies change the count, it rises and falls as the spacing grows. Then spacings are walked through,
// the finest first, from where as many nodes as are wanted, and some more, would be without copies.
#define WALK_MARGIN 1.3
#define WALK_STEP 1.025
#define WALK_COUNT 40
#define PASSED_SHARE 0.6

// Nodes expected at a spacing h: the lattice has two points a cube, and the skin takes roughly three a
// square. Only where the search starts.
static double expectNodes(double volume, double area, double h) {
    return 2.0 * volume / (h * h * h) + 3.0 * area / (h * h);
}

// The spacing at which `inside` points and `skin` nodes, both counted at spacing 1, become the target.
static double findSpacing(double volume, double area, double target, double low, double high) {
    for (int halving = 0; halving < 60; halving++) {
        double middle = sqrt(low * high);
        bool isTooFine = expectNodes(volume, area, middle) > target;
        low = isTooFine ? middle : low;
        high = isTooFine ? high : middle;
    }
    return sqrt(low * high);
}

// A trial's part of the whole progress: the first half, then half of what is left, and so on.
static srProgress partOfTrial(const srMeshing* meshing, int trial) {
    srProgress whole = srPartOfProgress(&meshing->progress, SR_SOLID_SHARE, 1.0);
    double begin = 1.0 - 1.0 / (1 << trial);
    return srPartOfProgress(&whole, begin, 0.5 + 0.5 * begin);
}

// What deviation is good enough after so many trials.
static double toleranceOf(int number) {
    return SR_COUNT_TOLERANCE + COUNT_PATIENCE * number;
}

// Splitting changes the count but a little: only where the count is as near as the tolerance says.
srResult srRunTrial(const srMeshing* meshing, const srProgress* progress, double growth, double tolerance,
                    srTrial* trial) {
    srProgress plain = srPartOfProgress(progress, 0.0, 0.5), copying = srPartOfProgress(progress, 0.5, 1.0);
    SR_TRY(srTrial_Run(meshing, &plain, trial));
    double error = fabs(growth * trial->cells.nodeCount / meshing->settings->targetNodeCount - 1.0);
    trial->growth = growth;
    return error <= tolerance ? srTrial_Split(meshing, &copying, trial) : sr_success;
}

double srSearch_Error(const srMeshing* meshing, const srSearch* search) {
    const srRawCells* cells = &search->best.cells;
    return cells->cellCount > 0 ? fabs(cells->nodeCount / (double)meshing->settings->targetNodeCount - 1.0)
                                : HUGE_VAL;
}

void srDestroySearch(srSearch* search) {
    srDestroyTrial(&search->best);
    *search = (srSearch){0};
}

static double countOf(const srTrial* trial) {
    return trial->isWhole ? trial->cells.nodeCount : trial->growth * trial->cells.nodeCount;
}

static double countError(const srTrial* trial, double target) {
    return fabs(countOf(trial) / target - 1.0);
}

// What the last trial counted, carried over to other spacings: inside points go with the volume, the others
// with the area.
static double nextSpacing(const srMeshing* meshing, const srTrial* trial) {
    double h = trial->spacing, target = meshing->settings->targetNodeCount, count = countOf(trial);
    if (trial->cells.cellCount == 0) {
        return 0.6 * h;
    }
    double inside = fmin(trial->insideCount, count);
    return findSpacing(0.5 * inside * h * h * h, (count - inside) / 3.0 * h * h, target, 0.25 * h, 4.0 * h);
}

// The narrowest known spacings that give too many and too few nodes. Counts jump where a flat side of the
// shape meets a plane of the lattice, and there the law of volume and area leads round in circles.
typedef struct Bracket {
    double tooFine, tooCoarse; // 0: not known
    double best, bestError;    // the spacing whose count was nearest
} Bracket;

static double chooseSpacing(Bracket* bracket, const srTrial* trial, double target, double wished,
                            bool isLast) {
    double error = countError(trial, target);
    if (bracket->best == 0.0 || error < bracket->bestError) {
        bracket->best = trial->spacing;
        bracket->bestError = error;
    }
    if (isLast) {
        return bracket->best;
    }
    if (countOf(trial) > target) {
        bracket->tooFine = fmax(bracket->tooFine, trial->spacing);
    } else if (bracket->tooCoarse == 0.0 || trial->spacing < bracket->tooCoarse) {
        bracket->tooCoarse = trial->spacing;
    }
    bool isBeyond = (bracket->tooFine > 0.0 && wished <= bracket->tooFine) ||
                    (bracket->tooCoarse > 0.0 && wished >= bracket->tooCoarse);
    bool isClosed = bracket->tooFine > 0.0 && bracket->tooCoarse > 0.0;
    return isBeyond && isClosed ? sqrt(bracket->tooFine * bracket->tooCoarse) : wished;
}

// Keeps the trial as the best one.
static void takeTrial(srSearch* search, srTrial* trial) {
    int32_t before = search->best.latticePointCount;
    srDestroyTrial(&search->best);
    search->best = *trial;
    search->best.latticePointCount = before > trial->latticePointCount ? before : trial->latticePointCount;
    *trial = (srTrial){0};
}

srResult srSearch_Run(const srMeshing* meshing, srSearch* search) {
    double target = meshing->settings->targetNodeCount, size = meshing->surface->size;
    double spacing = findSpacing(meshing->solid.volume, meshing->solid.area, target, 1e-6 * size, size);
    double growth = 1.0;
    int32_t largest = 0;
    Bracket bracket = {0};
    for (int number = 0; number < TRIAL_COUNT && srSearch_Error(meshing, search) > toleranceOf(number);
         number++) {
        srTrial trial = srStartTrial(spacing);
        srProgress part = partOfTrial(meshing, number);
        // where the search goes on for long, the little that splitting changes matters
        double tolerance = number < PLAIN_TRIAL_COUNT ? toleranceOf(number) : HUGE_VAL;
        srResult result = srRunTrial(meshing, &part, growth, tolerance, &trial);
        if (result != sr_success) {
            srDestroyTrial(&trial);
            return result;
        }
        search->trialCount = number + 1;
        largest = trial.latticePointCount > largest ? trial.latticePointCount : largest;
        growth = trial.growth;
        spacing =
            chooseSpacing(&bracket, &trial, target, nextSpacing(meshing, &trial), number == TRIAL_COUNT - 2);
        bool isNearer =
            trial.cells.cellCount > 0 && countError(&trial, target) < srSearch_Error(meshing, search);
        if (trial.isWhole && (search->best.arena == NULL || isNearer)) {
            takeTrial(search, &trial);
        }
        srDestroyTrial(&trial);
    }
    search->best.latticePointCount = largest;
    return sr_success;
}

srResult srSearch_Walk(const srMeshing* meshing, const srWalk* walk, const srProgress* progress,
                       srSearch* search) {
    const srTrial* best = &search->best;
    double target = meshing->settings->targetNodeCount;
    double plain = best->cells.nodeCount / best->growth;
    double spacing = best->spacing * sqrt(plain / (WALK_MARGIN * target));
    bool wasMet = srSearch_Error(meshing, search) <= SR_MET_TOLERANCE;
    for (int step = 0; step < WALK_COUNT && spacing < walk->coarsest; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)WALK_COUNT, (step + 1) / (double)WALK_COUNT);
        srTrial trial = srStartTrial(spacing);
        srResult result = srRunTrial(meshing, &part, 1.0, walk->tolerance, &trial);
        double error = fabs(trial.cells.nodeCount / target - 1.0);
        bool isFit = result == sr_success && trial.isWhole && srTrial_Volume(&trial) < walk->largest;
        bool isMet = isFit && error <= SR_MET_TOLERANCE;
        // what is not split falls as the spacing grows
        bool isPassed = !trial.isWhole && trial.cells.nodeCount < PASSED_SHARE * target;
        search->trialCount++;
        spacing = WALK_STEP * fmax(spacing, trial.spacing);
        if (isMet || (isFit && !wasMet && error < srSearch_Error(meshing, search))) {
            takeTrial(search, &trial);
        }
        srDestroyTrial(&trial);
        if (result != sr_success || isMet || isPassed) {
            return result;
        }
    }
    return sr_success;
}
