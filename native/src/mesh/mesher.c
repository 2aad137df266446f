// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a surface to a cage: the search for its spacing, what else is tried where none gives the count, and
// the cage of the cells that are best.

#include "mesh/mesher.h"

#include "core/alloc.h"
#include "mesh/gaps.h"
#include "mesh/halving.h"
#include "mesh/least.h"
#include "mesh/mending.h"
#include "mesh/quality.h"
#include "mesh/search.h"
#include "mesh/axes.h"

#include <math.h>
#include <string.h>

// Where no spacing gives the count: a box has as many layers of nodes as fit, and all of its sides change at
// once. Then the lattice is tried shifted, where cells stay as they are, for layers come in odd numbers or in
// even ones; and stretched, so that each axis changes at a spacing of its own.
#define BOX_TOLERANCE 0.1
#define GROWTH_WEIGHT 0.5

// A cage so many times as large as the inside is one of a chain of cubes around it: no lattice of about as
// many nodes is near to the shape.
#define HOPELESS_GROWTH 8.0

// Flesh is missing from one smaller than this share of the inside.
#define LEAST_GROWTH 0.98

#define STRETCH_COUNT 6
#define LARGEST_JUMP 0.7
#define MOST_CUBES 2e5
#define OTHER_GROWTH 1.1
#define LARGE_OTHER_GROWTH 1.25
#define SHEET_OTHER_GROWTH 1.5
#define USUAL_GROWTH 1.25

// Long is what is so many times as long as wide. It has a few layers of nodes across, and counts jump from
// one number of layers to the next. There a lattice whose count is near is kept across and stretched along:
// first by little, then by as much as cells bear, and corrected by what it counted.
#define LONG_RATIO 3.0
#define LITTLE_LENGTHENING 1.2
#define LARGEST_LENGTHENING 1.6
#define LENGTHENING_COUNT 3
#define NEAR_COUNT 32
#define NEARS_TRIED 4

// Where even that gives too many nodes, ever coarser lattices until one has too few, whose edges are halved
#define COARSER_STEP 1.04
#define COARSER_COUNT 16

// Samples that are worth a better count, if the first search did not take more: a second or two.
#define WORTH_WORK 1.2e6
#define HOPELESS_WORK 5e5

// From which count on a cage keeps to the shape is looked for in such steps, up to so many wanted counts.
#define ASK_STEP 1.06
#define ASK_COUNT 24
#define MOST_ASKED 4
#define SURELY_ASKED 1500.0
#define ASK_WORK 2e5

// Of the whole progress: until so much is done
#define FIRST_SHARE 0.85
#define WALKED_SHARE 0.89
#define STRETCHED_SHARE 0.945
#define MENDED_SHARE 0.95
#define LEAST_SHARE 0.955
#define HALVED_SHARE 0.96
#define FINISHED_SHARE 0.97

// What stays of a gap between parts, in thicknesses of sheets, at least
#define LEAST_GAP 3.0

#define MIN_TARGET 8
#define MAX_TARGET 1000000

static srResult checkSettings(const srMesherSettings* settings) {
    if (settings->targetNodeCount < MIN_TARGET || settings->targetNodeCount > MAX_TARGET) {
        return srFail(sr_errorInvalidValue, "A cage of %d nodes was asked for; %d to %d can be made.",
                      settings->targetNodeCount, MIN_TARGET, MAX_TARGET);
    }
    return sr_success;
}

static srResult finishMesh(const srMeshing* meshing, const srTrial* trial, const srProgress* progress,
                           srMesh* mesh) {
    const srRawCells* cells = &trial->cells;
    if (cells->cellCount == 0) {
        return srFail(sr_errorNoInside, "What the surface encloses is too thin for a cage of %d nodes.",
                      meshing->settings->targetNodeCount);
    }
    return srTrial_MakeMesh(meshing, trial, progress, mesh);
}

// What sheets are given is known from the lattice alone.
static double insideVolume(const srMeshing* meshing, const srTrial* trial) {
    return meshing->solid.sheets.triangleCount > 0 ? trial->insideVolume
                                                   : srTrial_LeastVolume(meshing, trial);
}

static void fillReport(const srMeshing* meshing, const srTrial* trial, const srMesh* mesh,
                       srMesherReport* report) {
    report->spacing = trial->spacing;
    report->latticePointCount = trial->latticePointCount;
    report->insideVolume = insideVolume(meshing, trial);
    report->removedCellCount = trial->removedCount;
    report->pieceCount = trial->pieceCount;
    report->splitTetCount = trial->copies.splitCount;
    report->copyCount = trial->copies.copyCount;
    srMeasureCells(&mesh->cage, &report->minDihedralDegrees, &report->maxDihedralDegrees, &report->volume);
    srCountDihedrals(&mesh->cage, report->dihedralCounts, 18);
    srCountAspects(&mesh->cage, report->aspectCounts, 10);
}

// A lattice whose count was near to the wanted one, and what it was along the axes.
typedef struct Near {
    srNear lattice;
    srVec3 stretch;
} Near;

// A mesh under way: in the surface's own space, or in one that is stretched.
typedef struct Attempt {
    srVec3 stretch;
    srSurface stretched; // without points when nothing is
    srMeshing meshing;
    srSearch search;
    double mostWork;        // when nothing else is begun
    Near nears[NEAR_COUNT]; // of every search
    int nearCount;
} Attempt;

static void destroyAttempt(Attempt* attempt) {
    srDestroyMeshing(&attempt->meshing);
    srDestroySearch(&attempt->search);
    srDestroySurface(&attempt->stretched);
    *attempt = (Attempt){0};
}

static srVec3 mulEach(srVec3 a, srVec3 b) {
    return (srVec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static srResult stretchSurface(const srSurface* surface, srVec3 stretch, srSurface* out) {
    *out = (srSurface){
        .points = SR_ALLOC(srVec3, surface->pointCount),
        .triangles = srAlloc((size_t)surface->triangleCount, sizeof(out->triangles[0])),
        .pointCount = surface->pointCount,
        .triangleCount = surface->triangleCount,
        .lower = mulEach(surface->lower, stretch),
        .upper = mulEach(surface->upper, stretch),
        .size = surface->size, // by which settings are meant
    };
    if (out->points == NULL || out->triangles == NULL) {
        return srFailOutOfMemory("the cage");
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        out->points[p] = mulEach(surface->points[p], stretch);
    }
    memcpy(out->triangles, surface->triangles, (size_t)surface->triangleCount * sizeof(out->triangles[0]));
    return sr_success;
}

static srResult runAttempt(const srSurface* surface, const srMesherSettings* settings, Attempt* attempt) {
    attempt->meshing.surface = surface;
    attempt->meshing.settings = settings;
    SR_TRY(srCreateMeshing(&attempt->meshing));
    return srSearch_Run(&attempt->meshing, &attempt->search);
}

static double workLeft(const Attempt* attempt) {
    return attempt->mostWork - attempt->search.work;
}

static double errorOf(const Attempt* attempt) {
    return srSearch_Error(&attempt->meshing, &attempt->search);
}

// The axes by extent, the thinnest first: there the fewest layers are.
static void orderAxes(const srSurface* surface, int order[3]) {
    srVec3 extent = srSub(surface->upper, surface->lower);
    const double extents[3] = {extent.x, extent.y, extent.z};
    for (int axis = 0; axis < 3; axis++) {
        int place = axis;
        for (; place > 0 && extents[order[place - 1]] > extents[axis]; place--) {
            order[place] = order[place - 1];
        }
        order[place] = axis;
    }
}

// Volumes stay the same.
static srVec3 stretchOf(const srSurface* surface, int number) {
    static const double stretches[STRETCH_COUNT][3] = {
        {1.06, 1.0, 1.0 / 1.06},    {1.0 / 1.06, 1.0, 1.06}, {1.16, 1.0 / 1.077, 1.0 / 1.077},
        {1.0 / 1.16, 1.077, 1.077}, {1.0, 1.1, 1.0 / 1.1},   {1.1, 1.0 / 1.1, 1.0},
    };
    int order[3];
    double stretch[3];
    orderAxes(surface, order);
    for (int place = 0; place < 3; place++) {
        stretch[order[place]] = stretches[number][place];
    }
    return (srVec3){stretch[0], stretch[1], stretch[2]};
}

static bool isOfFewCubes(const Attempt* attempt, double spacing) {
    srVec3 cubes = srScale(1.0 / spacing, srSub(attempt->meshing.upper, attempt->meshing.lower));
    return (cubes.x + 1.0) * (cubes.y + 1.0) * (cubes.z + 1.0) < MOST_CUBES;
}

// Fingers that are wider than a cell are told apart by few copies, thinner ones by many: the same count may
// be that of a coarse lattice with copies and of one half as coarse, which keeps to the shape.
static bool isWorthWalking(const Attempt* attempt) {
    const srTrial* best = &attempt->search.best;
    return best->cells.cellCount > 0 && fabs(best->growth - 1.0) > SR_COUNT_TOLERANCE &&
           isOfFewCubes(attempt, best->spacing) &&
           (errorOf(attempt) > SR_MET_TOLERANCE ||
            srTrial_IsLarger(&attempt->meshing, best, SR_LARGEST_GROWTH));
}

// Where the count is met already, for a cage that is smaller.
static srResult walkFingers(const srProgress* progress, Attempt* attempt) {
    bool isMet = errorOf(attempt) <= SR_MET_TOLERANCE;
    const srWalk walk = {isMet ? srTrial_Volume(&attempt->search.best) : HUGE_VAL,
                         isMet ? attempt->search.best.spacing : HUGE_VAL, HUGE_VAL, workLeft(attempt)};
    return srSearch_Walk(&attempt->meshing, &walk, progress, &attempt->search);
}

// From how many nodes on a count near the wanted one is had and the shape is kept to, if that is not so: by
// making finer cages until one has more nodes and is not too large, or as far as lattices go and it is worth
// it. A count that is met from above only is one that the shape needs, too.
static srResult findLeastNodes(const srProgress* progress, const Attempt* attempt, int32_t* outCount) {
    const srMeshing* meshing = &attempt->meshing;
    int32_t target = meshing->settings->targetNodeCount, made = attempt->search.best.cells.nodeCount;
    double spacing = attempt->search.best.spacing, work = 0.0, mostWork = fmax(workLeft(attempt), ASK_WORK);
    double least = fmax(made, (1.0 - SR_LARGEST_MISS) * target), count = made;
    bool isLarge = srTrial_IsLarger(meshing, &attempt->search.best, SR_LIMIT_OF_GROWTH);
    bool isEnough = made == 0 || (count >= least && !isLarge);
    *outCount = isEnough && made <= (1.0 + SR_LARGEST_MISS) * target ? 0 : made;
    for (int step = 0; !isEnough && step < ASK_COUNT && count < MOST_ASKED * target && work < mostWork;
         step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)ASK_COUNT, (step + 1) / (double)ASK_COUNT);
        spacing /= ASK_STEP;
        srTrial trial = srStartTrial(spacing, SR_NOT_SHIFTED);
        srResult result = isOfFewCubes(attempt, spacing) ? srRunTrial(meshing, &part, 1.0, HUGE_VAL, &trial)
                                                         : srReportProgress(&part, 1.0);
        work += srTrial_Work(&trial);
        if (result == sr_success && trial.isWhole) {
            bool isFinest = trial.spacing != spacing;
            count = trial.cells.nodeCount;
            *outCount = count > *outCount ? trial.cells.nodeCount : *outCount;
            isEnough = isFinest || (count >= least && !srTrial_IsLarger(meshing, &trial, SR_LIMIT_OF_GROWTH));
        }
        srDestroyTrial(&trial);
        SR_TRY(result);
    }
    return sr_success;
}

// A search whose counts copies do not change.
static bool isOfBox(const srSearch* search) {
    return search->best.cells.cellCount > 0 && fabs(search->best.growth - 1.0) <= SR_COUNT_TOLERANCE;
}

// Where the skin pinches itself all over, as one given twice may, so many cells are left out that flesh is
// missing.
static bool isTooSmall(const srMeshing* meshing, const srTrial* trial) {
    return trial->removedCount > 0 &&
           srTrial_Volume(trial) < LEAST_GROWTH * srTrial_LeastVolume(meshing, trial);
}

// What is wrong with the best: first of all flesh that is missing, then a count that is not met, by how much
// it is not, and what the cage is too large by.
static double missOf(const srMeshing* meshing, const srSearch* search) {
    double least = srTrial_LeastVolume(meshing, &search->best), miss = srSearch_Error(meshing, search);
    miss += isTooSmall(meshing, &search->best) ? 1.0 : 0.0;
    bool hasSize = meshing->solid.sheets.triangleCount == 0 && least > 0.0;
    double growth = hasSize ? srTrial_Volume(&search->best) / least : 1.0;
    double excess = GROWTH_WEIGHT * fmax(growth - SR_LIMIT_OF_GROWTH, 0.0);
    return (miss > SR_MET_TOLERANCE ? 1.0 : 0.0) + miss + excess / (1.0 + excess);
}

// Whether another search found what is better. It may not fall into more pieces.
static bool isBetter(const srMeshing* meshing, const srSearch* other, const Attempt* best) {
    return other->best.cells.cellCount > 0 && other->best.pieceCount <= best->search.best.pieceCount &&
           missOf(meshing, other) < missOf(&best->meshing, &best->search);
}

// Boxes jump by a part of the count, and fill their bounds: crumbs far apart do neither, and cost much. Where
// there are fingers every trial costs as much as all those of a box.
static bool isMissed(const Attempt* best) {
    double error = errorOf(best);
    bool isHopeless = srTrial_IsLarger(&best->meshing, &best->search.best, HOPELESS_GROWTH);
    if (isHopeless && error <= SR_MET_TOLERANCE) {
        return false;
    }
    return error < LARGEST_JUMP && isOfFewCubes(best, best->search.best.spacing) &&
           (isOfBox(&best->search)
                ? missOf(&best->meshing, &best->search) > BOX_TOLERANCE
                : error > SR_MET_TOLERANCE || isTooSmall(&best->meshing, &best->search.best));
}

static bool isWorthTrying(const Attempt* best) {
    return isMissed(best) && workLeft(best) > 0.0;
}

// Where each axis has a spacing at which it changes, what lies between two of them is soon passed over.
static srResult searchBox(const srMeshing* meshing, const srWalk* walk, const srProgress* progress,
                          srSearch* search) {
    return isOfBox(search) && srSearch_Error(meshing, search) > SR_MET_TOLERANCE
               ? srSearch_Walk(meshing, walk, progress, search)
               : sr_success;
}

static void addNears(const srSearch* search, srVec3 stretch, Attempt* best) {
    for (int i = 0; i < SR_NEAR_COUNT && best->nearCount < NEAR_COUNT; i++) {
        if (search->nears[i].count > 0.0) {
            best->nears[best->nearCount++] = (Near){search->nears[i], stretch};
        }
    }
}

static bool isLong(const srSurface* surface) {
    int order[3];
    orderAxes(surface, order);
    srVec3 extent = srSub(surface->upper, surface->lower);
    const double extents[3] = {extent.x, extent.y, extent.z};
    return extents[order[2]] >= LONG_RATIO * extents[order[1]];
}

// How large what has a better count may be. Cages of a few cubes are as large as their cubes are, not as the
// inside, and those of sheets as thick.
static double largestOther(const Attempt* best) {
    const srTrial* trial = &best->search.best;
    bool isLarge = srTrial_IsLarger(&best->meshing, trial, SR_LIMIT_OF_GROWTH);
    double growth = best->meshing.solid.sheets.triangleCount > 0 ? SHEET_OTHER_GROWTH
                    : isLarge                                    ? LARGE_OTHER_GROWTH
                                                                 : OTHER_GROWTH;
    return fmax(growth * srTrial_Volume(trial), USUAL_GROWTH * srTrial_LeastVolume(&best->meshing, trial));
}

// Along the axis on which the lattice is shifted layers come in even numbers. There are as many lattices as
// axes: shifted along two it is as along the third. It has cells of one size only, so not where detail is.
static srResult tryShifts(const srProgress* progress, Attempt* best) {
    int order[3];
    orderAxes(best->meshing.surface, order);
    int count = isLong(best->meshing.surface) ? 1 : 3;
    for (int place = 0; place < count && isWorthTrying(best); place++) {
        srProgress part = srPartOfProgress(progress, place / 3.0, (place + 1) / 3.0);
        srProgress walking = srPartOfProgress(&part, 0.5, 1.0);
        srSearch search = {.shiftedAxis = order[place], .largest = largestOther(best)};
        srWalk walk = {search.largest, HUGE_VAL, SR_MET_TOLERANCE, workLeft(best)};
        best->meshing.progress = srPartOfProgress(&part, 0.0, 0.5);
        srResult result = srSearch_Run(&best->meshing, &search);
        if (result == sr_success && !isLong(best->meshing.surface)) {
            result = searchBox(&best->meshing, &walk, &walking, &search);
        }
        addNears(&search, best->stretch, best);
        best->search.work += search.work;
        best->search.trialCount += search.trialCount;
        if (result == sr_success && isBetter(&best->meshing, &search, best)) {
            srSearch_Take(&best->search, &search.best);
        }
        srDestroySearch(&search);
        SR_TRY(result);
    }
    return sr_success;
}

static srResult runStretched(const Attempt* best, const srProgress* progress, Attempt* attempt) {
    const srWalk walk = {attempt->search.largest, HUGE_VAL, SR_MET_TOLERANCE, workLeft(best)};
    srProgress walking = srPartOfProgress(progress, 0.5, 1.0);
    attempt->meshing.progress = srPartOfProgress(progress, 0.0, 0.5);
    SR_TRY(runAttempt(&attempt->stretched, best->meshing.settings, attempt));
    return searchBox(&attempt->meshing, &walk, &walking, &attempt->search);
}

// The one that is better takes the other's place.
static void takeAttempt(Attempt* best, Attempt* attempt) {
    attempt->meshing.repaired = best->meshing.repaired;
    attempt->search.trialCount = best->search.trialCount;
    attempt->search.work = best->search.work;
    attempt->mostWork = best->mostWork;
    attempt->nearCount = best->nearCount;
    memcpy(attempt->nears, best->nears, sizeof(best->nears));
    destroyAttempt(best);
    *best = *attempt;
    best->meshing.surface = &best->stretched; // it moved with what holds it
    *attempt = (Attempt){0};
}

// What came of another attempt, which is over: it takes the best one's place where it is better.
static srResult endAttempt(srResult result, Attempt* best, Attempt* attempt) {
    best->search.work += attempt->search.work;
    best->search.trialCount += attempt->search.trialCount;
    if (result == sr_success && isBetter(&attempt->meshing, &attempt->search, best)) {
        takeAttempt(best, attempt);
    }
    destroyAttempt(attempt);
    return result == sr_errorNoInside ? sr_success : result;
}

static srResult tryStretches(const srSurface* surface, const srProgress* progress, Attempt* best) {
    for (int number = 0; number < STRETCH_COUNT && isWorthTrying(best); number++) {
        Attempt attempt = {.stretch = stretchOf(surface, number),
                           .search = {.shiftedAxis = SR_NOT_SHIFTED, .largest = largestOther(best)}};
        srProgress part =
            srPartOfProgress(progress, number / (double)STRETCH_COUNT, (number + 1) / (double)STRETCH_COUNT);
        srResult result = stretchSurface(surface, attempt.stretch, &attempt.stretched);
        if (result == sr_success) {
            result = runStretched(best, &part, &attempt);
        }
        addNears(&attempt.search, attempt.stretch, best);
        SR_TRY(endAttempt(result, best, &attempt));
    }
    return sr_success;
}

// The lattice whose count is nearest to the wanted one, within a factor, is used up.
static bool takeNear(double largest, Attempt* best, Near* outNear) {
    double target = best->meshing.settings->targetNodeCount, nearest = log(largest);
    int chosen = -1;
    for (int i = 0; i < best->nearCount; i++) {
        double ratio = fabs(log(target / best->nears[i].lattice.count));
        if (ratio <= nearest) {
            nearest = ratio;
            chosen = i;
        }
    }
    if (chosen >= 0) {
        *outNear = best->nears[chosen];
        best->nears[chosen] = best->nears[--best->nearCount];
    }
    return chosen >= 0;
}

// Longer by a factor along the longest axis, and thinner across; the volume stays.
static srVec3 lengthen(const srSurface* surface, double factor) {
    int order[3];
    double stretch[3];
    orderAxes(surface, order);
    stretch[order[0]] = stretch[order[1]] = cbrt(1.0 / factor);
    stretch[order[2]] = cbrt(factor * factor);
    return (srVec3){stretch[0], stretch[1], stretch[2]};
}

static srResult runLengthened(const srSurface* surface, const srMesherSettings* settings, const Near* near,
                              double factor, const srProgress* progress, Attempt* attempt) {
    srProgress trying = srPartOfProgress(progress, 0.5, 1.0);
    attempt->stretch = mulEach(near->stretch, lengthen(surface, factor));
    SR_TRY(stretchSurface(surface, attempt->stretch, &attempt->stretched));
    attempt->meshing.progress = srPartOfProgress(progress, 0.0, 0.5);
    attempt->meshing.surface = &attempt->stretched;
    attempt->meshing.settings = settings;
    SR_TRY(srCreateMeshing(&attempt->meshing));
    return srSearch_Try(&attempt->meshing, near->lattice.spacing * cbrt(1.0 / factor), &trying,
                        &attempt->search);
}

static srResult tryLength(const srSurface* surface, const Near* near, double largest,
                          const srProgress* progress, Attempt* best) {
    double target = best->meshing.settings->targetNodeCount, factor = target / near->lattice.count;
    double error = fabs(log(factor));
    for (int number = 0; number < LENGTHENING_COUNT && isMissed(best) && factor < largest * largest &&
                         factor * largest * largest > 1.0;
         number++) {
        factor = fmin(fmax(factor, 1.0 / largest), largest);
        Attempt attempt = {
            .search = {.shiftedAxis = near->lattice.shiftedAxis, .largest = largestOther(best)}};
        srProgress part = srPartOfProgress(progress, number / (double)LENGTHENING_COUNT,
                                           (number + 1) / (double)LENGTHENING_COUNT);
        srResult result = runLengthened(surface, best->meshing.settings, near, factor, &part, &attempt);
        double count = attempt.search.nears[0].count;
        bool isNearer = count > 0.0 && fabs(log(count / target)) < error;
        factor =
            isNearer ? factor * target / count : HUGE_VAL; // else layers across changed: nothing to learn
        SR_TRY(endAttempt(result, best, &attempt));
    }
    return sr_success;
}

// From what was tried so far, the nearest count first.
static srResult tryLengths(const srSurface* surface, double largest, const srProgress* progress,
                           Attempt* best) {
    Near near;
    for (int number = 0; number < NEARS_TRIED && isMissed(best) && takeNear(largest, best, &near); number++) {
        srProgress part =
            srPartOfProgress(progress, number / (double)NEARS_TRIED, (number + 1) / (double)NEARS_TRIED);
        SR_TRY(tryLength(surface, &near, largest, &part, best));
    }
    return sr_success;
}

// What else there is where no spacing gives the count.
static srResult tryOthers(const srSurface* surface, const srProgress* progress, Attempt* best) {
    srProgress little = srPartOfProgress(progress, 0.0, 0.1), shifting = srPartOfProgress(progress, 0.1, 0.3);
    srProgress much = srPartOfProgress(progress, 0.3, 0.5), stretching = srPartOfProgress(progress, 0.5, 0.9);
    srProgress last = srPartOfProgress(progress, 0.9, 1.0);
    bool isThin = isLong(surface);
    addNears(&best->search, best->stretch, best);
    if (isThin) {
        SR_TRY(tryLengths(surface, LITTLE_LENGTHENING, &little, best));
    }
    if (best->meshing.settings->detail == NULL) {
        SR_TRY(tryShifts(&shifting, best));
    }
    if (isThin) {
        SR_TRY(tryLengths(surface, LARGEST_LENGTHENING, &much, best));
    }
    SR_TRY(tryStretches(surface, &stretching, best));
    return tryLengths(surface, LARGEST_LENGTHENING, &last, best);
}

// A cage of too few nodes gets more where its edges are long: it stays what it is in shape, volume and
// pieces.
static srResult halveBest(const srProgress* progress, Attempt* best) {
    srTrial* trial = &best->search.best;
    return srHalveEdges(&trial->cells, best->meshing.settings->targetNodeCount, trial->arena, progress,
                        &trial->cells);
}

// One of too many makes way for the first coarser one of fewer, halved, that is better.
static srResult halveCoarser(double spacing, const srProgress* progress, Attempt* best, bool* outIsEnough) {
    int32_t target = best->meshing.settings->targetNodeCount;
    srProgress trying = srPartOfProgress(progress, 0.0, 0.8), halving = srPartOfProgress(progress, 0.8, 1.0);
    srSearch search = {.shiftedAxis = best->search.best.shiftedAxis};
    search.best = srStartTrial(spacing, search.shiftedAxis);
    srTrial* trial = &search.best;
    srResult result = srRunTrial(&best->meshing, &trying, 1.0, HUGE_VAL, trial);
    best->search.trialCount++;
    best->search.work += srTrial_Work(trial);
    bool isFit = result == sr_success && trial->cells.cellCount > 0 && trial->cells.nodeCount <= target &&
                 srTrial_Volume(trial) < largestOther(best);
    if (isFit) {
        result = srHalveEdges(&trial->cells, target, trial->arena, &halving, &trial->cells);
    }
    *outIsEnough = isFit && result == sr_success && isBetter(&best->meshing, &search, best);
    if (*outIsEnough) {
        srSearch_Take(&best->search, trial);
    }
    srDestroySearch(&search);
    return result;
}

// The last resort: lattices whose counts jump over the wanted one meet it so from below.
static srResult tryHalving(const srProgress* progress, Attempt* best) {
    double spacing = best->search.best.spacing;
    bool isEnough = best->search.best.cells.cellCount == 0 || errorOf(best) <= SR_MET_TOLERANCE;
    if (!isEnough && best->search.best.cells.nodeCount < best->meshing.settings->targetNodeCount) {
        return halveBest(progress, best);
    }
    for (int step = 0; step < COARSER_COUNT && !isEnough; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)COARSER_COUNT, (step + 1) / (double)COARSER_COUNT);
        spacing *= COARSER_STEP;
        SR_TRY(halveCoarser(spacing, &part, best, &isEnough));
    }
    return sr_success;
}

// A cage that is too large makes way for the coarsest that is not, if that has no more nodes than are wanted:
// edges are halved for what is missing. Else its nodes are what the shape needs.
static srResult takeLeast(srTrial* least, const srProgress* progress, Attempt* best, Attempt* asked,
                          int32_t* outCount) {
    int32_t target = best->meshing.settings->targetNodeCount, count = least->cells.nodeCount;
    if (count > (1.0 + SR_LARGEST_MISS) * target) {
        *outCount = count > best->search.best.cells.nodeCount ? count : 0;
        return sr_success;
    }
    SR_TRY(srHalveEdges(&least->cells, target, least->arena, progress, &least->cells));
    if (fabs(least->cells.nodeCount / (double)target - 1.0) <= fmax(errorOf(best), SR_LARGEST_MISS)) {
        srSearch_Take(&asked->search, least);
        asked->search.shiftedAxis = asked->search.best.shiftedAxis;
        takeAttempt(best, asked);
    }
    return sr_success;
}

static srResult askShape(const srSurface* surface, const srProgress* progress, Attempt* best, Attempt* asked,
                         int32_t* outCount) {
    const srMesherSettings* settings = best->meshing.settings;
    srProgress preparing = srPartOfProgress(progress, 0.0, 0.1);
    srProgress looking = srPartOfProgress(progress, 0.1, 0.9), halving = srPartOfProgress(progress, 0.9, 1.0);
    srTrial least;
    SR_TRY(stretchSurface(surface, asked->stretch, &asked->stretched));
    asked->meshing.progress = preparing;
    asked->meshing.surface = &asked->stretched;
    asked->meshing.settings = settings;
    SR_TRY(srCreateMeshing(&asked->meshing));
    const srLeastLimits limits = {fmax(MOST_ASKED * (double)settings->targetNodeCount, SURELY_ASKED),
                                  WORTH_WORK, MOST_CUBES, asked->meshing.solid.pieceCount};
    SR_TRY(srFindLeast(&asked->meshing, &limits, &looking, &least));
    srResult result =
        least.cells.cellCount > 0 ? takeLeast(&least, &halving, best, asked, outCount) : sr_success;
    srDestroyTrial(&least);
    return result;
}

// Whatever was asked for, what a shape needs is the same; so who asks for as much as was told gets it.
static srResult tryLeast(const srSurface* surface, const srProgress* progress, Attempt* best,
                         int32_t* outCount) {
    *outCount = 0;
    if (best->search.best.cells.cellCount == 0 ||
        !srTrial_IsLarger(&best->meshing, &best->search.best, SR_LIMIT_OF_GROWTH)) {
        return sr_success;
    }
    Attempt asked = {.stretch = {1.0, 1.0, 1.0}, .search = {.shiftedAxis = SR_NOT_SHIFTED}};
    srResult result = askShape(surface, progress, best, &asked, outCount);
    destroyAttempt(&asked);
    return result == sr_errorNoInside ? sr_success : result;
}

static void unstretch(srVec3 stretch, srCage* cage) {
    srVec3 back = {1.0 / stretch.x, 1.0 / stretch.y, 1.0 / stretch.z};
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        cage->nodes[node] = mulEach(cage->nodes[node], back);
    }
}

static srResult meshPlaced(const srSurface* surface, const srMesherSettings* settings,
                           const srProgress* whole, srMesh* outMesh, srMesherReport* outReport) {
    srResult result = sr_success;
    srMesh mesh = {0};
    srMesherReport report = {0};
    srProgress walking = srPartOfProgress(whole, FIRST_SHARE, WALKED_SHARE);
    srProgress trying = srPartOfProgress(whole, WALKED_SHARE, STRETCHED_SHARE);
    srProgress mending = srPartOfProgress(whole, STRETCHED_SHARE, MENDED_SHARE);
    srProgress least = srPartOfProgress(whole, MENDED_SHARE, LEAST_SHARE);
    srProgress halving = srPartOfProgress(whole, LEAST_SHARE, HALVED_SHARE);
    srProgress asking = srPartOfProgress(whole, HALVED_SHARE, FINISHED_SHARE);
    srProgress finishing = srPartOfProgress(whole, FINISHED_SHARE, 1.0);
    Attempt attempt = {.stretch = {1.0, 1.0, 1.0},
                       .search = {.shiftedAxis = SR_NOT_SHIFTED, .largest = HUGE_VAL}};

    // find the cells, make them a cage
    attempt.meshing.progress = srPartOfProgress(whole, 0.0, FIRST_SHARE);
    SR_TRY_CLEANUP(runAttempt(surface, settings, &attempt));
    bool isHopeless = srTrial_IsLarger(&attempt.meshing, &attempt.search.best, HOPELESS_GROWTH);
    attempt.mostWork = fmax(isHopeless ? HOPELESS_WORK : WORTH_WORK, 2.0 * attempt.search.work);
    if (isWorthWalking(&attempt)) {
        SR_TRY_CLEANUP(walkFingers(&walking, &attempt));
    }
    SR_TRY_CLEANUP(tryOthers(surface, &trying, &attempt));
    SR_TRY_CLEANUP(srMendTears(&attempt.meshing, attempt.search.work, &mending, &attempt.search.best));
    SR_TRY_CLEANUP(tryLeast(surface, &least, &attempt, &report.leastNodeCount));
    SR_TRY_CLEANUP(tryHalving(&halving, &attempt));
    if (report.leastNodeCount == 0) {
        SR_TRY_CLEANUP(findLeastNodes(&asking, &attempt, &report.leastNodeCount));
    }
    SR_TRY_CLEANUP(finishMesh(&attempt.meshing, &attempt.search.best, &finishing, &mesh));
    unstretch(attempt.stretch, &mesh.cage);
    report.trialCount = attempt.search.trialCount;
    report.solid = attempt.meshing.repaired;
    fillReport(&attempt.meshing, &attempt.search.best, &mesh, &report);
    SR_TRY_CLEANUP(srReportProgress(whole, 1.0));
    *outMesh = mesh;
    *outReport = report;

cleanup:
    destroyAttempt(&attempt);
    if (result != sr_success) {
        srDestroyMesh(&mesh);
    }
    return result;
}

// Parts that lie far apart are meshed nearer to each other; a cage that reaches from one to the other is made
// once more with them where they are.
static srResult meshApart(const srSurface* surface, const srMesherSettings* settings, srMesh* outMesh,
                          srMesherReport* outReport) {
    const srSolidSettings usual = srDefaultSolidSettings();
    double thickness = (settings->solid != NULL ? settings->solid : &usual)->sheetThickness;
    srProgress whole = {settings->progress, settings->progressContext, 0.0F, 1.0F};
    srProgress again = {settings->progress, settings->progressContext, 1.0F, 1.0F};
    srGaps gaps;
    srSurface closed;
    if (!srFindGaps(surface, LEAST_GAP * thickness * surface->size, &gaps)) {
        return meshPlaced(surface, settings, &whole, outMesh, outReport);
    }
    SR_TRY(srCloseGaps(surface, &gaps, &closed));
    srResult result = meshPlaced(&closed, settings, &whole, outMesh, outReport);
    srDestroySurface(&closed);
    if (result != sr_success || srOpenGaps(&gaps, &outMesh->cage)) {
        return result;
    }
    srDestroyMesh(outMesh);
    return meshPlaced(surface, settings, &again, outMesh, outReport);
}

srResult srMeshSurface(const srSurface* surface, const srMesherSettings* settings, srMesh* outMesh,
                       srMesherReport* outReport) {
    srAxes axes;
    srSurface turned;
    SR_TRY(checkSettings(settings));
    if (!srFindAxes(surface, &axes)) {
        return meshApart(surface, settings, outMesh, outReport);
    }
    SR_TRY(srTurnIntoAxes(surface, &axes, &turned));
    srResult result = meshApart(&turned, settings, outMesh, outReport);
    srDestroySurface(&turned);
    if (result == sr_success) {
        srTurnOutOfAxes(&axes, outMesh->cage.nodes, outMesh->cage.nodeCount);
    }
    return result;
}

void srDestroyMesh(srMesh* mesh) {
    SR_FREE(mesh->pointCells, mesh->pointCount);
    srDestroyCage(&mesh->cage);
    *mesh = (srMesh){0};
}
