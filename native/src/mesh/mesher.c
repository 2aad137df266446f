// SPDX-License-Identifier: GPL-3.0-or-later
//
// The search for the spacing that gives the wanted number of nodes, around one meshing: sample, scaffold,
// split, cut, warp, stuff, mend.

#include "mesh/mesher.h"

#include "core/alloc.h"
#include "mesh/contacts.h"
#include "mesh/copies.h"
#include "mesh/field.h"
#include "mesh/homes.h"
#include "mesh/manifold.h"
#include "mesh/progress.h"
#include "mesh/quality.h"
#include "mesh/sampling.h"
#include "mesh/splinters.h"
#include "mesh/stuffing.h"

#include <math.h>
#include <string.h>

// How far outside of the skin the cage's skin lies, in cubes of the lattice. The lattice's widest gap between
// planes of points is sqrt(1/2) cubes (planes x + y = const); a sheet of any direction, however thin, becomes
// a slab of twice the offset, and with half the gap it always holds a whole plane of points: an ear or a fin
// is never lost. 1/4 was considered: slimmer, but it loses thin sheets in the unlucky directions.
#define THIN_OFFSET 0.4

// Where flesh is thick: what the cage's flat faces cut off a round skin.
#define THICK_OFFSET 0.12

// Where that would make the cage too large, because all of the shape is only a cube or two thick, less of it.
#define THICK_STEPS 4
#define LARGEST_GROWTH 1.2
#define LIMIT_OF_GROWTH 1.3

// Smaller than the inside a cage shall not be: the offset grows, in steps, at most to the thin one.
#define LEAST_VOLUME 1.0
#define LARGEST_STEP 13

// Pieces of the skin that are smaller than this share of a cube get no cells of their own.
#define CRUMB_SIZE 0.5

// The volume that triangles enclose counts overlaps twice; the one sampled is right to some per cent.
#define SAMPLED_SLACK 1.08

// Meshings for one cage, and when the count is near enough to stop
#define TRIAL_COUNT 9
#define PLAIN_TRIAL_COUNT 4
#define COUNT_TOLERANCE 0.05
#define COUNT_PATIENCE 0.012

// Where no spacing gives the count: a box has as many layers of nodes as fit, and all of its sides change at
// once. Then the lattice is tried stretched, so that each axis changes at a spacing of its own.
#define STRETCH_TOLERANCE 0.14
#define LARGEST_MISS 0.15
#define STRETCH_COUNT 6
#define LARGEST_JUMP 0.7
#define MOST_CUBES 2e5
#define STRETCHED_GROWTH 1.1

// Where copies change the count, it rises and falls as the spacing grows. Then spacings are walked through,
// the finest first, from where as many nodes as are wanted, and some more, would be without copies.
#define WALK_MARGIN 1.3
#define WALK_STEP 1.025
#define WALK_COUNT 40
#define PASSED_SHARE 0.6

// From which count on a cage keeps to the shape is looked for in such steps, up to so many wanted counts.
#define ASK_STEP 1.06
#define ASK_COUNT 24
#define MOST_ASKED 4

// Of the whole progress: until so much is done
#define FIRST_SHARE 0.85
#define WALKED_SHARE 0.9
#define STRETCHED_SHARE 0.95
#define FINISHED_SHARE 0.97

// Points of a lattice, and how many a wanted node is worth: most of them lie outside of what is long and
// askew.
#define MAX_POINT_COUNT (1 << 23)
#define SMALL_POINT_COUNT (1 << 20)
#define POINTS_PER_NODE 4096

// A cage along a piece of skin has at least so many nodes a cube.
#define LEAST_NODES_PER_CUBE 2.0

#define MIN_TARGET 8
#define MAX_TARGET 1000000

#define SCRATCH_SIZE ((size_t)1 << 20)

// Of the whole progress: until the solid is there
#define SOLID_SHARE 0.15

typedef struct Meshing {
    const srSurface* surface;
    const srMesherSettings* settings;
    srSolid solid;
    srContacts contacts;
    double* pieceSizes;  // of the solid's pieces
    double measured;     // volume of the inside where skins may overlap, ...
    double measuredAt;   // ... and the spacing at which it was measured; 0: not measured
    srVec3 lower, upper; // of the solid
    srProgress progress; // of all that is done with it
} Meshing;

// One spacing tried. Everything lives in its arena.
typedef struct Trial {
    srArena* arena;
    srScaffold scaffold; // before the split
    srFlesh flesh;
    srCopies copies;
    srRawCells cells;
    double spacing;
    int offsetStep; // of the offset where flesh is thick; below zero: not chosen yet
    int32_t latticePointCount;
    int32_t insideCount; // points of the scaffold inside
    double insideVolume;
    int32_t removedCount;
    int32_t pieceCount;
    double growth; // of the count by copies
    bool isWhole;  // with copies
} Trial;

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

static int32_t largestLattice(const srMesherSettings* settings) {
    double most = fmax(POINTS_PER_NODE * (double)settings->targetNodeCount, SMALL_POINT_COUNT);
    int32_t limited = (int32_t)fmin(most, MAX_POINT_COUNT);
    return settings->detail != NULL ? limited / 8 : limited;
}

// No finer cage of the longest piece has as few nodes as are wanted: a needle's area would have it so.
static double leastSpacing(const Meshing* meshing) {
    double longest = 0.0;
    for (int32_t piece = 0; piece < meshing->solid.pieceCount; piece++) {
        longest = fmax(longest, meshing->pieceSizes[piece]);
    }
    return LEAST_NODES_PER_CUBE * longest / meshing->settings->targetNodeCount;
}

// The lattice of this spacing, or of the finest that memory is worth.
static void makeLattice(const Meshing* meshing, double* spacing, srLattice* outLattice) {
    double beyond = meshing->solid.halfThickness;
    int32_t most = largestLattice(meshing->settings);
    *spacing = fmax(*spacing, leastSpacing(meshing));
    while (!srMakeLattice(meshing->lower, meshing->upper, beyond + THIN_OFFSET * *spacing, *spacing, most,
                          outLattice) ||
           !srLattice_Pad(outLattice, 2, most)) {
        *spacing *= 1.1;
    }
}

// A trial's part of the whole progress: the first half, then half of what is left, and so on.
static srProgress partOfTrial(const Meshing* meshing, int trial) {
    srProgress whole = srPartOfProgress(&meshing->progress, SOLID_SHARE, 1.0);
    double begin = 1.0 - 1.0 / (1 << trial);
    return srPartOfProgress(&whole, begin, 0.5 + 0.5 * begin);
}

static srResult sampleScaffold(const Meshing* meshing, const srProgress* progress, Trial* trial) {
    srLattice lattice;
    makeLattice(meshing, &trial->spacing, &lattice);
    trial->latticePointCount = lattice.pointCount;
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    const srSampling sampling = {&field, meshing->surface, meshing->settings->detail, THIN_OFFSET};
    return srSampleScaffold(&lattice, &sampling, trial->arena, progress, &trial->scaffold,
                            &trial->insideVolume);
}

// What deviation is good enough after so many trials.
static double toleranceOf(int number) {
    return COUNT_TOLERANCE + COUNT_PATIENCE * number;
}

static srResult splitScaffold(const Meshing* meshing, const srProgress* progress, Trial* trial) {
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    srFleshSource source = {&field, &meshing->contacts};
    srProgress growing = srPartOfProgress(progress, 0.0, 0.8),
               splitting = srPartOfProgress(progress, 0.8, 1.0);
    if (meshing->settings->gluesContacts) {
        trial->copies.scaffold = trial->scaffold;
        return sr_success;
    }
    SR_TRY(srCreateFlesh(&trial->scaffold, &source, trial->arena, &growing, &trial->flesh));
    return srSplitScaffold(&trial->scaffold, &trial->flesh, trial->arena, &splitting, &trial->copies);
}

static void applyOffset(const srScaffold* scaffold, int step, double* scratch, double* level) {
    srScaffold_OffsetLevel(scaffold, fmin(THICK_OFFSET * step / THICK_STEPS, THIN_OFFSET), THIN_OFFSET,
                           scratch, level);
}

// The offset where flesh is thick, in steps: as much as the volume allows; a little more where parts would
// come off otherwise that hang together under the offset of thin flesh.
static int chooseOffset(const srScaffold* scaffold, double* scratch, double* level, int32_t* roots) {
    double inside = srScaffold_EstimateVolume(scaffold, scaffold->phi);
    applyOffset(scaffold, 4 * THICK_STEPS, scratch, level);
    int32_t fewest = srScaffold_CountPieces(scaffold, level, scratch, roots);
    int step = THICK_STEPS;
    applyOffset(scaffold, step, scratch, level);
    while (step > 0 && srScaffold_EstimateVolume(scaffold, level) > LARGEST_GROWTH * inside) {
        applyOffset(scaffold, --step, scratch, level);
    }
    int chosen = step;
    while (srScaffold_CountPieces(scaffold, level, scratch, roots) > fewest) {
        applyOffset(scaffold, ++step, scratch, level);
        if (srScaffold_EstimateVolume(scaffold, level) > LIMIT_OF_GROWTH * inside) {
            return chosen;
        }
    }
    return step;
}

static double volumeOf(const srRawCells* cells) {
    double volume = 0.0;
    for (int32_t cell = 0; cell < cells->cellCount; cell++) {
        const int32_t* n = cells->cells[cell];
        srVec3 a = cells->nodes[n[0]];
        srVec3 b = srSub(cells->nodes[n[1]], a), c = srSub(cells->nodes[n[2]], a),
               d = srSub(cells->nodes[n[3]], a);
        volume += fabs(srDot(b, srCross(c, d))) / 6.0;
    }
    return volume;
}

typedef struct Levels {
    double* level;
    double* scratch;
    int32_t* roots;
} Levels;

static srResult stuffLevel(const Meshing* meshing, const Levels* levels, const srProgress* progress,
                           Trial* trial) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    srProgress cutting = srPartOfProgress(progress, 0.0, 0.5),
               stuffing = srPartOfProgress(progress, 0.5, 1.0);
    srWarp warp;
    applyOffset(scaffold, trial->offsetStep, levels->scratch, levels->level);
    trial->insideCount = 0;
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        trial->insideCount += levels->level[point] < 0.0;
    }
    SR_TRY(srCreateWarp(scaffold, &field, levels->level, trial->arena, &cutting, &warp));
    return srStuff(&warp, trial->arena, &stuffing, &trial->cells);
}

// What the cage may not fall short of. The volume that the triangles enclose counts overlaps twice; and where
// they leave openings, cones over these stand for what is missing, which may say too little.
static double leastVolume(const Meshing* meshing, const Trial* trial) {
    double inside = fmin(meshing->solid.volume, SAMPLED_SLACK * trial->insideVolume);
    bool isFiner = meshing->measuredAt > 0.0 && meshing->measuredAt < trial->spacing;
    if (isFiner) {
        inside =
            meshing->solid.isWatertight ? fmin(inside, meshing->measured) : fmax(inside, meshing->measured);
    }
    return LEAST_VOLUME * inside;
}

static srResult stuffScaffold(const Meshing* meshing, const srProgress* progress, Trial* trial) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    Levels levels = {SR_PUSH(trial->arena, double, scaffold->pointCount, "levels"),
                     SR_PUSH(trial->arena, double, scaffold->pointCount, "levels"),
                     SR_PUSH(trial->arena, int32_t, scaffold->pointCount, "pieces")};
    if (levels.level == NULL || levels.scratch == NULL || levels.roots == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    if (trial->offsetStep < 0) {
        trial->offsetStep = chooseOffset(scaffold, levels.scratch, levels.level, levels.roots);
    }
    double least = leastVolume(meshing, trial);
    for (double share = 0.0;; share += 0.5 * (1.0 - share)) {
        srProgress part = srPartOfProgress(progress, share, 0.5 + 0.5 * share);
        srArenaMark mark = srArena_GetMark(trial->arena);
        SR_TRY(stuffLevel(meshing, &levels, &part, trial));
        if (trial->offsetStep >= LARGEST_STEP || volumeOf(&trial->cells) >= least) {
            return sr_success;
        }
        srArena_Release(trial->arena, mark);
        trial->offsetStep++;
    }
}

static srResult dropSplinters(const Meshing* meshing, Trial* trial) {
    srCrumbs crumbs = {&meshing->solid, meshing->pieceSizes, CRUMB_SIZE * trial->spacing};
    return srDropSplinters(&trial->copies, &crumbs, trial->arena, &trial->cells, &trial->pieceCount);
}

static srResult stuffCopies(const Meshing* meshing, const srProgress* progress, Trial* trial) {
    srProgress splitting = srPartOfProgress(progress, 0.0, 0.7);
    srProgress stuffing = srPartOfProgress(progress, 0.7, 0.85);
    srProgress mending = srPartOfProgress(progress, 0.85, 1.0);
    int32_t plainCount = trial->cells.nodeCount;
    SR_TRY(splitScaffold(meshing, &splitting, trial));
    if (trial->copies.copyCount > 0) {
        SR_TRY(stuffScaffold(meshing, &stuffing, trial));
    }
    SR_TRY(srMakeManifold(&trial->cells, trial->arena, &mending, &trial->removedCount));
    SR_TRY(dropSplinters(meshing, trial));
    trial->growth = plainCount > 0 ? trial->cells.nodeCount / (double)plainCount : 1.0;
    trial->isWhole = true;
    return sr_success;
}

// Splitting costs more than all the rest and changes the count but a little: only where the count is as near
// as the tolerance says.
static srResult runTrial(const Meshing* meshing, const srProgress* progress, double growth, double tolerance,
                         Trial* trial) {
    srProgress sampling = srPartOfProgress(progress, 0.0, 0.4);
    srProgress stuffing = srPartOfProgress(progress, 0.4, 0.5);
    srProgress copying = srPartOfProgress(progress, 0.5, 1.0);
    trial->arena = srCreateArena(SCRATCH_SIZE);
    if (trial->arena == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(sampleScaffold(meshing, &sampling, trial));
    trial->copies.scaffold = trial->scaffold;
    SR_TRY(stuffScaffold(meshing, &stuffing, trial));
    SR_TRY(dropSplinters(meshing, trial));
    double error = fabs(growth * trial->cells.nodeCount / meshing->settings->targetNodeCount - 1.0);
    trial->growth = growth;
    return error <= tolerance ? stuffCopies(meshing, &copying, trial) : sr_success;
}

static double countOf(const Trial* trial) {
    return trial->isWhole ? trial->cells.nodeCount : trial->growth * trial->cells.nodeCount;
}

// What the last trial counted, carried over to other spacings: inside points go with the volume, the others
// with the area.
static double nextSpacing(const Meshing* meshing, const Trial* trial) {
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

static double chooseSpacing(Bracket* bracket, const Trial* trial, double target, double wished, bool isLast) {
    double error = fabs(countOf(trial) / target - 1.0);
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

// The trial whose count is nearest to the target; without cells when none had one.
static srResult searchSpacing(const Meshing* meshing, Trial* outBest, int32_t* outTrialCount) {
    double target = meshing->settings->targetNodeCount, bestError = HUGE_VAL;
    double size = meshing->surface->size;
    double spacing = findSpacing(meshing->solid.volume, meshing->solid.area, target, 1e-6 * size, size);
    double growth = 1.0;
    int32_t largest = 0;
    Bracket bracket = {0};
    for (int number = 0; number < TRIAL_COUNT && bestError > toleranceOf(number); number++) {
        Trial trial = {.spacing = spacing, .offsetStep = -1};
        srProgress part = partOfTrial(meshing, number);
        // where the search goes on for long, the little that splitting changes matters
        double tolerance = number < PLAIN_TRIAL_COUNT ? toleranceOf(number) : HUGE_VAL;
        srResult result = runTrial(meshing, &part, growth, tolerance, &trial);
        if (result != sr_success) {
            srDestroyArena(trial.arena);
            return result;
        }
        *outTrialCount = number + 1;
        largest = trial.latticePointCount > largest ? trial.latticePointCount : largest;
        growth = trial.growth;
        spacing =
            chooseSpacing(&bracket, &trial, target, nextSpacing(meshing, &trial), number == TRIAL_COUNT - 2);
        double error = fabs(trial.cells.nodeCount / target - 1.0);
        if (trial.isWhole && (outBest->arena == NULL || (trial.cells.cellCount > 0 && error < bestError))) {
            srDestroyArena(outBest->arena);
            *outBest = trial;
            bestError = trial.cells.cellCount > 0 ? error : HUGE_VAL;
        } else {
            srDestroyArena(trial.arena);
        }
    }
    outBest->latticePointCount = largest;
    return sr_success;
}

static srResult checkSettings(const srMesherSettings* settings) {
    if (settings->targetNodeCount < MIN_TARGET || settings->targetNodeCount > MAX_TARGET) {
        return srFail(sr_errorInvalidValue, "A cage of %d nodes was asked for; %d to %d can be made.",
                      settings->targetNodeCount, MIN_TARGET, MAX_TARGET);
    }
    return sr_success;
}

static srResult finishMesh(const Meshing* meshing, const Trial* trial, const srProgress* progress,
                           srMesh* mesh) {
    const srRawCells* cells = &trial->cells;
    if (cells->cellCount == 0) {
        return srFail(sr_errorNoInside, "What the surface encloses is too thin for a cage of %d nodes.",
                      meshing->settings->targetNodeCount);
    }
    int32_t* newCells = SR_PUSH(trial->arena, int32_t, cells->cellCount, "new cells");
    int32_t* homes = SR_PUSH(trial->arena, int32_t, meshing->surface->pointCount, "cells of points");
    mesh->pointCount = meshing->surface->pointCount;
    mesh->pointCells = SR_ALLOC(int32_t, mesh->pointCount);
    if (newCells == NULL || homes == NULL || mesh->pointCells == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srCreateCageMapped(cells->nodes, cells->nodeCount, (const int32_t (*)[4])cells->cells,
                              cells->cellCount, newCells, &mesh->cage));
    srProgress homing = srPartOfProgress(progress, 0.5, 0.9);
    SR_TRY(srReportProgress(progress, 0.5));
    srHomesInput input = {meshing->surface, &meshing->contacts, &trial->scaffold,
                          &trial->flesh,    &trial->copies,     cells};
    SR_TRY(srFindHomes(&input, trial->arena, &homing, homes));
    SR_TRY(srReportProgress(progress, 0.9));
    for (int32_t p = 0; p < mesh->pointCount; p++) {
        mesh->pointCells[p] = homes[p] == SR_NULL_INDEX ? SR_NULL_INDEX : newCells[homes[p]];
    }
    return sr_success;
}

// What sheets are given is known from the lattice alone.
static double insideVolume(const Meshing* meshing, const Trial* trial) {
    return meshing->solid.sheets.triangleCount > 0 ? trial->insideVolume : leastVolume(meshing, trial);
}

static void fillReport(const Meshing* meshing, const Trial* trial, const srMesh* mesh,
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

// Whether what the triangles enclose is not the inside: closed skins may overlap, and open ones end at lids.
static bool needsMeasuring(const srSolid* solid, const srSolidReport* report) {
    return solid->shells.triangleCount > 0 && (!solid->isWatertight || report->patchCount > 1);
}

// The solid, its bounds, and what touches.
static srResult createSolid(Meshing* meshing, srSolidReport* report) {
    const srSolidSettings usual = srDefaultSolidSettings();
    const srSolidSettings* wanted = meshing->settings->solid != NULL ? meshing->settings->solid : &usual;
    srProgress repairing = srPartOfProgress(&meshing->progress, 0.0, 0.6 * SOLID_SHARE),
               measuring = srPartOfProgress(&meshing->progress, 0.6 * SOLID_SHARE, 0.8 * SOLID_SHARE),
               touching = srPartOfProgress(&meshing->progress, 0.8 * SOLID_SHARE, SOLID_SHARE);
    const srSurface *shells = &meshing->solid.shells, *sheets = &meshing->solid.sheets;
    SR_TRY(srReportProgress(&meshing->progress, 0.0));
    SR_TRY(srCreateSolid(meshing->surface, wanted, &repairing, &meshing->solid, report));
    const srSurface* first = shells->triangleCount > 0 ? shells : sheets;
    const srSurface* second = sheets->triangleCount > 0 ? sheets : shells;
    meshing->lower = srMin(first->lower, second->lower);
    meshing->upper = srMax(first->upper, second->upper);
    meshing->pieceSizes = SR_ALLOC(double, meshing->solid.pieceCount);
    if (meshing->pieceSizes == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srMeasurePieces(&meshing->solid, meshing->pieceSizes));
    if (needsMeasuring(&meshing->solid, report)) {
        srField field = srMakeField(&meshing->solid, 0.0);
        field.sheets = NULL; // neither is theirs in the volume of the solid
        SR_TRY(srMeasureInside(&field, meshing->lower, meshing->upper, &measuring, &meshing->measured,
                               &meshing->measuredAt));
    }
    return srCreateContacts(meshing->surface, &meshing->solid, &touching, &meshing->contacts);
}

// A mesh under way: in the surface's own space, or in one that is stretched.
typedef struct Attempt {
    srVec3 stretch;
    srSurface stretched; // without points when nothing is
    Meshing meshing;
    Trial best;
    srSolidReport repaired;
    int32_t trialCount;
} Attempt;

static void destroyAttempt(Attempt* attempt) {
    SR_FREE(attempt->meshing.pieceSizes, attempt->meshing.solid.pieceCount);
    srDestroyContacts(&attempt->meshing.contacts);
    srDestroySolid(&attempt->meshing.solid);
    srDestroyArena(attempt->best.arena);
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
    };
    if (out->points == NULL || out->triangles == NULL) {
        return srFailOutOfMemory("the cage");
    }
    for (int32_t p = 0; p < surface->pointCount; p++) {
        out->points[p] = mulEach(surface->points[p], stretch);
    }
    memcpy(out->triangles, surface->triangles, (size_t)surface->triangleCount * sizeof(out->triangles[0]));
    out->size = srDistance(out->lower, out->upper);
    return sr_success;
}

static srResult runAttempt(const srSurface* surface, const srMesherSettings* settings, Attempt* attempt) {
    attempt->meshing.surface = surface;
    attempt->meshing.settings = settings;
    SR_TRY(createSolid(&attempt->meshing, &attempt->repaired));
    return searchSpacing(&attempt->meshing, &attempt->best, &attempt->trialCount);
}

static double countError(const Attempt* attempt) {
    double target = attempt->meshing.settings->targetNodeCount;
    const srRawCells* cells = &attempt->best.cells;
    return cells->cellCount > 0 ? fabs(cells->nodeCount / target - 1.0) : HUGE_VAL;
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

// Whether the cage is that much larger than the inside. What sheets are given does not count: they have none.
static bool isLarger(const Meshing* meshing, const Trial* trial, double growth) {
    double least = leastVolume(meshing, trial);
    return meshing->solid.sheets.triangleCount == 0 && least > 0.0 &&
           volumeOf(&trial->cells) > growth * least;
}

// Fingers that are wider than a cell are told apart by few copies, thinner ones by many: the same count may
// be that of a coarse lattice with copies and of one half as coarse, which keeps to the shape.
static bool isWorthWalking(const Attempt* attempt) {
    const Trial* best = &attempt->best;
    return best->cells.cellCount > 0 && fabs(best->growth - 1.0) > COUNT_TOLERANCE &&
           isOfFewCubes(attempt, best->spacing) &&
           (countError(attempt) > STRETCH_TOLERANCE || isLarger(&attempt->meshing, best, LARGEST_GROWTH));
}

static void takeTrial(Attempt* attempt, Trial* trial) {
    int32_t before = attempt->best.latticePointCount;
    srDestroyArena(attempt->best.arena);
    attempt->best = *trial;
    attempt->best.latticePointCount = before > trial->latticePointCount ? before : trial->latticePointCount;
    *trial = (Trial){0};
}

// What a walk may find: only what is smaller than `largest` and finer than `coarsest` is taken, and only
// counts within `tolerance` without copies are split.
typedef struct Walk {
    double largest;
    double coarsest;
    double tolerance;
} Walk;

// The finest spacing whose count is near enough; where there is none, the nearest count.
static srResult walkSpacings(const Walk* walk, const srProgress* progress, Attempt* attempt) {
    const Trial* best = &attempt->best;
    double target = attempt->meshing.settings->targetNodeCount;
    double plain = best->cells.nodeCount / best->growth;
    double spacing = best->spacing * sqrt(plain / (WALK_MARGIN * target));
    bool wasMet = countError(attempt) <= STRETCH_TOLERANCE;
    for (int step = 0; step < WALK_COUNT && spacing < walk->coarsest; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)WALK_COUNT, (step + 1) / (double)WALK_COUNT);
        Trial trial = {.spacing = spacing, .offsetStep = -1};
        srResult result = runTrial(&attempt->meshing, &part, 1.0, walk->tolerance, &trial);
        double error = fabs(trial.cells.nodeCount / target - 1.0);
        bool isFit = result == sr_success && trial.isWhole && volumeOf(&trial.cells) < walk->largest;
        bool isMet = isFit && error <= STRETCH_TOLERANCE;
        // what is not split falls as the spacing grows
        bool isPassed = !trial.isWhole && trial.cells.nodeCount < PASSED_SHARE * target;
        attempt->trialCount++;
        spacing = WALK_STEP * fmax(spacing, trial.spacing);
        if (isMet || (isFit && !wasMet && error < countError(attempt))) {
            takeTrial(attempt, &trial);
        }
        srDestroyArena(trial.arena);
        if (result != sr_success || isMet || isPassed) {
            return result;
        }
    }
    return sr_success;
}

// Where the count is met already, for a cage that is smaller.
static srResult walkFingers(const srProgress* progress, Attempt* attempt) {
    bool isMet = countError(attempt) <= STRETCH_TOLERANCE;
    const Walk walk = {isMet ? volumeOf(&attempt->best.cells) : HUGE_VAL,
                       isMet ? attempt->best.spacing : HUGE_VAL, HUGE_VAL};
    return walkSpacings(&walk, progress, attempt);
}

// From how many nodes on the shape is kept to, if it is not: by making finer cages until one is not too
// large, or as far as lattices go and it is worth it. A count that cannot be met is one that the shape needs,
// too.
static srResult findLeastNodes(const srProgress* progress, const Attempt* attempt, int32_t* outCount) {
    const Meshing* meshing = &attempt->meshing;
    int32_t target = meshing->settings->targetNodeCount, count = attempt->best.cells.nodeCount;
    double spacing = attempt->best.spacing;
    bool isLarge = isLarger(meshing, &attempt->best, LIMIT_OF_GROWTH);
    *outCount = isLarge || count > (1.0 + LARGEST_MISS) * target ? count : 0;
    for (int step = 0; isLarge && step < ASK_COUNT && count < MOST_ASKED * target; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)ASK_COUNT, (step + 1) / (double)ASK_COUNT);
        spacing /= ASK_STEP;
        Trial trial = {.spacing = spacing, .offsetStep = -1};
        srResult result = isOfFewCubes(attempt, spacing) ? runTrial(meshing, &part, 1.0, HUGE_VAL, &trial)
                                                         : srReportProgress(&part, 1.0);
        if (result == sr_success && trial.isWhole) {
            count = trial.cells.nodeCount;
            *outCount = count;
            isLarge = isLarger(meshing, &trial, LIMIT_OF_GROWTH) && trial.spacing == spacing;
        }
        srDestroyArena(trial.arena);
        SR_TRY(result);
    }
    return sr_success;
}

// Boxes jump by a part of the count, and fill their bounds: crumbs far apart do neither, and cost much.
static bool isWorthStretching(const Attempt* best) {
    return countError(best) < LARGEST_JUMP && isOfFewCubes(best, best->best.spacing);
}

// Where each axis has a spacing at which it changes, what lies between two of them is soon passed over.
static srResult runStretched(const srMesherSettings* settings, double largest, const srProgress* progress,
                             Attempt* attempt) {
    const Walk walk = {largest, HUGE_VAL, STRETCH_TOLERANCE};
    srProgress walking = srPartOfProgress(progress, 0.5, 1.0);
    attempt->meshing.progress = srPartOfProgress(progress, 0.0, 0.5);
    SR_TRY(runAttempt(&attempt->stretched, settings, attempt));
    bool isBox = attempt->best.cells.cellCount > 0 && fabs(attempt->best.growth - 1.0) <= COUNT_TOLERANCE;
    return isBox && countError(attempt) > STRETCH_TOLERANCE ? walkSpacings(&walk, &walking, attempt)
                                                            : sr_success;
}

static srResult tryStretches(const srSurface* surface, const srMesherSettings* settings,
                             const srProgress* progress, Attempt* best) {
    for (int number = 0; number < STRETCH_COUNT && countError(best) > STRETCH_TOLERANCE; number++) {
        Attempt attempt = {.stretch = stretchOf(surface, number)};
        srProgress part =
            srPartOfProgress(progress, number / (double)STRETCH_COUNT, (number + 1) / (double)STRETCH_COUNT);
        double largest = STRETCHED_GROWTH * volumeOf(&best->best.cells);
        srResult result = stretchSurface(surface, attempt.stretch, &attempt.stretched);
        if (result == sr_success) {
            result = runStretched(settings, largest, &part, &attempt);
        }
        bool isBetter = result == sr_success && countError(&attempt) < countError(best) &&
                        volumeOf(&attempt.best.cells) < largest;
        if (isBetter) {
            attempt.meshing.surface = NULL; // moves with what holds it
            attempt.trialCount += best->trialCount;
            attempt.repaired = best->repaired;
            destroyAttempt(best);
            *best = attempt;
            best->meshing.surface = &best->stretched;
        } else {
            destroyAttempt(&attempt);
        }
        if (result != sr_success && result != sr_errorNoInside) {
            return result;
        }
    }
    return sr_success;
}

static void unstretch(srVec3 stretch, srCage* cage) {
    srVec3 back = {1.0 / stretch.x, 1.0 / stretch.y, 1.0 / stretch.z};
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        cage->nodes[node] = mulEach(cage->nodes[node], back);
    }
}

srResult srMeshSurface(const srSurface* surface, const srMesherSettings* settings, srMesh* outMesh,
                       srMesherReport* outReport) {
    SR_TRY(checkSettings(settings));
    srResult result = sr_success;
    srMesh mesh = {0};
    srMesherReport report = {0};
    srProgress whole = {settings->progress, settings->progressContext, 0.0f, 1.0f};
    srProgress walking = srPartOfProgress(&whole, FIRST_SHARE, WALKED_SHARE);
    srProgress stretching = srPartOfProgress(&whole, WALKED_SHARE, STRETCHED_SHARE);
    srProgress asking = srPartOfProgress(&whole, STRETCHED_SHARE, FINISHED_SHARE);
    srProgress finishing = srPartOfProgress(&whole, FINISHED_SHARE, 1.0);
    Attempt attempt = {.stretch = {1.0, 1.0, 1.0}};

    // find the cells, make them a cage
    attempt.meshing.progress = srPartOfProgress(&whole, 0.0, FIRST_SHARE);
    SR_TRY_CLEANUP(runAttempt(surface, settings, &attempt));
    if (isWorthWalking(&attempt)) {
        SR_TRY_CLEANUP(walkFingers(&walking, &attempt));
    }
    if (isWorthStretching(&attempt)) {
        SR_TRY_CLEANUP(tryStretches(surface, settings, &stretching, &attempt));
    }
    SR_TRY_CLEANUP(findLeastNodes(&asking, &attempt, &report.leastNodeCount));
    SR_TRY_CLEANUP(finishMesh(&attempt.meshing, &attempt.best, &finishing, &mesh));
    unstretch(attempt.stretch, &mesh.cage);
    report.trialCount = attempt.trialCount;
    report.solid = attempt.repaired;
    fillReport(&attempt.meshing, &attempt.best, &mesh, &report);
    SR_TRY_CLEANUP(srReportProgress(&whole, 1.0));
    *outMesh = mesh;
    *outReport = report;

cleanup:
    destroyAttempt(&attempt);
    if (result != sr_success) {
        srDestroyMesh(&mesh);
    }
    return result;
}

void srDestroyMesh(srMesh* mesh) {
    SR_FREE(mesh->pointCells, mesh->pointCount);
    srDestroyCage(&mesh->cage);
    *mesh = (srMesh){0};
}
