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
#define WALK_JUMP 1.35
#define PASSED_SHARE 0.6

// What is larger than the inside by more than that is no lattice to start from.
#define NEAR_GROWTH 1.25

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

// What trials counted. The growth by copies is learned on the way: counts without are told by the last one.
typedef struct Record {
    double spacings[TRIAL_COUNT], counts[TRIAL_COUNT];
    bool areWhole[TRIAL_COUNT];
    int count;
} Record;

static double plainCountOf(const srTrial* trial) {
    return trial->isWhole ? trial->cells.nodeCount / trial->growth : trial->cells.nodeCount;
}

static void addToRecord(const srTrial* trial, Record* record) {
    record->spacings[record->count] = trial->spacing;
    record->counts[record->count] = trial->cells.nodeCount;
    record->areWhole[record->count++] = trial->isWhole;
}

// Between the narrowest known spacings that give too many and too few nodes; at last the one whose count was
// nearest. Counts jump where a flat side of the shape meets a plane of the lattice, and there the law of
// volume and area leads round in circles.
static double chooseSpacing(const Record* record, double growth, double target, double wished) {
    double tooFine = 0.0, tooCoarse = 0.0, best = wished, bestError = HUGE_VAL; // 0: not known
    for (int i = 0; i < record->count; i++) {
        double spacing = record->spacings[i];
        double count = record->areWhole[i] ? record->counts[i] : growth * record->counts[i];
        if (fabs(count / target - 1.0) < bestError) {
            bestError = fabs(count / target - 1.0);
            best = spacing;
        }
        if (count > target) {
            tooFine = fmax(tooFine, spacing);
        } else if (tooCoarse == 0.0 || spacing < tooCoarse) {
            tooCoarse = spacing;
        }
    }
    if (record->count == TRIAL_COUNT - 1) {
        return best;
    }
    bool isBeyond = (tooFine > 0.0 && wished <= tooFine) || (tooCoarse > 0.0 && wished >= tooCoarse);
    return isBeyond && tooFine > 0.0 && tooCoarse > 0.0 ? sqrt(tooFine * tooCoarse) : wished;
}

// Whether the same would come of it once more.
static bool isKnown(const Record* record, double spacing) {
    for (int i = 0; i < record->count; i++) {
        if (record->areWhole[i] && record->spacings[i] == spacing) {
            return true;
        }
    }
    return false;
}

void srSearch_Take(srSearch* search, srTrial* trial) {
    int32_t before = search->best.latticePointCount;
    srDestroyTrial(&search->best);
    search->best = *trial;
    search->best.latticePointCount = before > trial->latticePointCount ? before : trial->latticePointCount;
    *trial = (srTrial){0};
}

static bool isNearer(double count, double other, double target) {
    return other == 0.0 || fabs(log(count / target)) < fabs(log(other / target));
}

// Into its place among the nearest, but not beside one of the same count.
static void noteNear(const srMeshing* meshing, const srTrial* trial, srSearch* search) {
    double least = srTrial_LeastVolume(meshing, trial), count = countOf(trial);
    bool isLarge = meshing->solid.sheets.triangleCount == 0 && srTrial_Volume(trial) > NEAR_GROWTH * least;
    if (!(count > 0.0) || isLarge) {
        return;
    }
    srNear noted = {trial->spacing, count, trial->shiftedAxis};
    for (int i = 0; i < SR_NEAR_COUNT && noted.count != search->nears[i].count; i++) {
        if (isNearer(noted.count, search->nears[i].count, meshing->settings->targetNodeCount)) {
            srNear pushed = search->nears[i];
            search->nears[i] = noted;
            noted = pushed;
        }
    }
}

srResult srSearch_Try(const srMeshing* meshing, double spacing, const srProgress* progress,
                      srSearch* search) {
    srTrial trial = srStartTrial(spacing, search->shiftedAxis);
    srResult result = srRunTrial(meshing, progress, 1.0, HUGE_VAL, &trial);
    search->trialCount++;
    search->work += srTrial_Work(&trial);
    if (result == sr_success) {
        noteNear(meshing, &trial, search);
        bool isBetter =
            countError(&trial, meshing->settings->targetNodeCount) < srSearch_Error(meshing, search);
        if (trial.cells.cellCount > 0 && isBetter && srTrial_Volume(&trial) < search->largest) {
            srSearch_Take(search, &trial);
        }
    }
    srDestroyTrial(&trial);
    return result;
}

srResult srSearch_Run(const srMeshing* meshing, srSearch* search) {
    double target = meshing->settings->targetNodeCount, size = meshing->surface->size;
    double spacing = findSpacing(meshing->solid.volume, meshing->solid.area, target, 1e-6 * size, size);
    double growth = 1.0, plainError = HUGE_VAL;
    int32_t largest = 0;
    Record record = {.count = 0};
    for (int number = 0; number < TRIAL_COUNT && srSearch_Error(meshing, search) > toleranceOf(number);
         number++) {
        srTrial trial = srStartTrial(spacing, search->shiftedAxis);
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
        search->work += srTrial_Work(&trial);
        addToRecord(&trial, &record);
        noteNear(meshing, &trial, search);
        double share = plainCountOf(&trial) / (WALK_MARGIN * target), error = fabs(log(share));
        if (error < plainError) {
            plainError = error;
            search->plainSpacing = trial.spacing * sqrt(share);
        }
        spacing = chooseSpacing(&record, growth, target, nextSpacing(meshing, &trial));
        bool isBetter = countError(&trial, target) < srSearch_Error(meshing, search);
        bool isEmpty = trial.cells.cellCount == 0, isLarge = srTrial_Volume(&trial) >= search->largest;
        if (trial.isWhole && isBetter && isLarge) {
            spacing = fmin(spacing, trial.spacing / WALK_STEP);
        }
        if (trial.isWhole && (isEmpty ? search->best.arena == NULL : isBetter && !isLarge)) {
            srSearch_Take(search, &trial);
        }
        srDestroyTrial(&trial);
        if (isKnown(&record, spacing)) {
            break;
        }
    }
    search->best.latticePointCount = largest;
    return sr_success;
}

// How much coarser the next spacing is. Where all steps would take too much work: more where counts, the
// lesser of the last two, are far above the wanted one. Copies make them rise and fall, most times by no more
// than so much around a law that is no steeper than that of volumes.
static double stepFrom(double count, double target, bool isDear) {
    double excess = count / ((1.0 + SR_MET_TOLERANCE) * WALK_JUMP * target);
    return isDear ? fmax(WALK_STEP, cbrt(excess)) : WALK_STEP;
}

srResult srSearch_Walk(const srMeshing* meshing, const srWalk* walk, const srProgress* progress,
                       srSearch* search) {
    double target = meshing->settings->targetNodeCount;
    double spacing = search->plainSpacing;
    double mostWork = search->work + walk->mostWork, before = HUGE_VAL;
    bool wasMet = srSearch_Error(meshing, search) <= SR_MET_TOLERANCE;
    for (int step = 0; step < WALK_COUNT && spacing < walk->coarsest && search->work < mostWork; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)WALK_COUNT, (step + 1) / (double)WALK_COUNT);
        srTrial trial = srStartTrial(spacing, search->shiftedAxis);
        srResult result = srRunTrial(meshing, &part, 1.0, walk->tolerance, &trial);
        double error = fabs(trial.cells.nodeCount / target - 1.0);
        bool isWorse = search->best.cells.cellCount > 0 && trial.pieceCount > search->best.pieceCount;
        bool isFit =
            result == sr_success && trial.isWhole && !isWorse && srTrial_Volume(&trial) < walk->largest;
        bool isMet = isFit && error <= SR_MET_TOLERANCE;
        // what is not split falls as the spacing grows
        bool isPassed = !trial.isWhole && trial.cells.nodeCount < PASSED_SHARE * target;
        search->trialCount++;
        search->work += srTrial_Work(&trial);
        bool isDear = trial.isWhole && srTrial_Work(&trial) * (WALK_COUNT - step) > mostWork - search->work;
        spacing =
            fmax(spacing, trial.spacing) * stepFrom(fmin(before, trial.cells.nodeCount), target, isDear);
        before = trial.cells.nodeCount;
        if (isMet || (isFit && !wasMet && error < srSearch_Error(meshing, search))) {
            srSearch_Take(search, &trial);
        }
        srDestroyTrial(&trial);
        if (result != sr_success || isMet || isPassed) {
            return result;
        }
    }
    return sr_success;
}
