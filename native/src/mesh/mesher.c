// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a surface to a cage: the search for its spacing, what else is tried where none gives the count, and
// the cage of the cells that are best.

#include "mesh/mesher.h"

#include "core/alloc.h"
#include "mesh/homes.h"
#include "mesh/quality.h"
#include "mesh/search.h"

#include <math.h>
#include <string.h>

// Where no spacing gives the count: a box has as many layers of nodes as fit, and all of its sides change at
// once. Then the lattice is tried stretched, so that each axis changes at a spacing of its own.
#define LARGEST_MISS 0.15
#define STRETCH_COUNT 6
#define LARGEST_JUMP 0.7
#define MOST_CUBES 2e5
#define STRETCHED_GROWTH 1.1

// From which count on a cage keeps to the shape is looked for in such steps, up to so many wanted counts.
#define ASK_STEP 1.06
#define ASK_COUNT 24
#define MOST_ASKED 4

// Of the whole progress: until so much is done
#define FIRST_SHARE 0.85
#define WALKED_SHARE 0.9
#define STRETCHED_SHARE 0.95
#define FINISHED_SHARE 0.97

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

// A mesh under way: in the surface's own space, or in one that is stretched.
typedef struct Attempt {
    srVec3 stretch;
    srSurface stretched; // without points when nothing is
    srMeshing meshing;
    srSearch search;
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
    SR_TRY(srCreateMeshing(&attempt->meshing));
    return srSearch_Run(&attempt->meshing, &attempt->search);
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

// Whether the cage is that much larger than the inside. What sheets are given does not count: they have none.
static bool isLarger(const srMeshing* meshing, const srTrial* trial, double growth) {
    double least = srTrial_LeastVolume(meshing, trial);
    return meshing->solid.sheets.triangleCount == 0 && least > 0.0 && srTrial_Volume(trial) > growth * least;
}

// Fingers that are wider than a cell are told apart by few copies, thinner ones by many: the same count may
// be that of a coarse lattice with copies and of one half as coarse, which keeps to the shape.
static bool isWorthWalking(const Attempt* attempt) {
    const srTrial* best = &attempt->search.best;
    return best->cells.cellCount > 0 && fabs(best->growth - 1.0) > SR_COUNT_TOLERANCE &&
           isOfFewCubes(attempt, best->spacing) &&
           (errorOf(attempt) > SR_MET_TOLERANCE || isLarger(&attempt->meshing, best, SR_LARGEST_GROWTH));
}

// Where the count is met already, for a cage that is smaller.
static srResult walkFingers(const srProgress* progress, Attempt* attempt) {
    bool isMet = errorOf(attempt) <= SR_MET_TOLERANCE;
    const srWalk walk = {isMet ? srTrial_Volume(&attempt->search.best) : HUGE_VAL,
                         isMet ? attempt->search.best.spacing : HUGE_VAL, HUGE_VAL};
    return srSearch_Walk(&attempt->meshing, &walk, progress, &attempt->search);
}

// From how many nodes on the shape is kept to, if it is not: by making finer cages until one is not too
// large, or as far as lattices go and it is worth it. A count that cannot be met is one that the shape needs,
// too.
static srResult findLeastNodes(const srProgress* progress, const Attempt* attempt, int32_t* outCount) {
    const srMeshing* meshing = &attempt->meshing;
    int32_t target = meshing->settings->targetNodeCount, count = attempt->search.best.cells.nodeCount;
    double spacing = attempt->search.best.spacing;
    bool isLarge = isLarger(meshing, &attempt->search.best, SR_LIMIT_OF_GROWTH);
    *outCount = isLarge || count > (1.0 + LARGEST_MISS) * target ? count : 0;
    for (int step = 0; isLarge && step < ASK_COUNT && count < MOST_ASKED * target; step++) {
        srProgress part =
            srPartOfProgress(progress, step / (double)ASK_COUNT, (step + 1) / (double)ASK_COUNT);
        spacing /= ASK_STEP;
        srTrial trial = srStartTrial(spacing);
        srResult result = isOfFewCubes(attempt, spacing) ? srRunTrial(meshing, &part, 1.0, HUGE_VAL, &trial)
                                                         : srReportProgress(&part, 1.0);
        if (result == sr_success && trial.isWhole) {
            count = trial.cells.nodeCount;
            *outCount = count;
            isLarge = isLarger(meshing, &trial, SR_LIMIT_OF_GROWTH) && trial.spacing == spacing;
        }
        srDestroyTrial(&trial);
        SR_TRY(result);
    }
    return sr_success;
}

// Boxes jump by a part of the count, and fill their bounds: crumbs far apart do neither, and cost much.
static bool isWorthStretching(const Attempt* best) {
    return errorOf(best) < LARGEST_JUMP && isOfFewCubes(best, best->search.best.spacing);
}

// Where each axis has a spacing at which it changes, what lies between two of them is soon passed over.
static srResult runStretched(const srMesherSettings* settings, double largest, const srProgress* progress,
                             Attempt* attempt) {
    const srWalk walk = {largest, HUGE_VAL, SR_MET_TOLERANCE};
    srProgress walking = srPartOfProgress(progress, 0.5, 1.0);
    attempt->meshing.progress = srPartOfProgress(progress, 0.0, 0.5);
    SR_TRY(runAttempt(&attempt->stretched, settings, attempt));
    bool isBox = attempt->search.best.cells.cellCount > 0 &&
                 fabs(attempt->search.best.growth - 1.0) <= SR_COUNT_TOLERANCE;
    return isBox && errorOf(attempt) > SR_MET_TOLERANCE
               ? srSearch_Walk(&attempt->meshing, &walk, &walking, &attempt->search)
               : sr_success;
}

static srResult tryStretches(const srSurface* surface, const srMesherSettings* settings,
                             const srProgress* progress, Attempt* best) {
    for (int number = 0; number < STRETCH_COUNT && errorOf(best) > SR_MET_TOLERANCE; number++) {
        Attempt attempt = {.stretch = stretchOf(surface, number)};
        srProgress part =
            srPartOfProgress(progress, number / (double)STRETCH_COUNT, (number + 1) / (double)STRETCH_COUNT);
        double largest = STRETCHED_GROWTH * srTrial_Volume(&best->search.best);
        srResult result = stretchSurface(surface, attempt.stretch, &attempt.stretched);
        if (result == sr_success) {
            result = runStretched(settings, largest, &part, &attempt);
        }
        bool isBetter = result == sr_success && errorOf(&attempt) < errorOf(best) &&
                        srTrial_Volume(&attempt.search.best) < largest;
        if (isBetter) {
            attempt.meshing.surface = NULL; // moves with what holds it
            attempt.search.trialCount += best->search.trialCount;
            attempt.meshing.repaired = best->meshing.repaired;
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
    SR_TRY_CLEANUP(finishMesh(&attempt.meshing, &attempt.search.best, &finishing, &mesh));
    unstretch(attempt.stretch, &mesh.cage);
    report.trialCount = attempt.search.trialCount;
    report.solid = attempt.meshing.repaired;
    fillReport(&attempt.meshing, &attempt.search.best, &mesh, &report);
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
