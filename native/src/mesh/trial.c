// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the level set lies that cells are cut along, and what they are cut from.

#include "mesh/trial.h"

#include "core/alloc.h"
#include "mesh/field.h"
#include "mesh/homes.h"
#include "mesh/manifold.h"
#include "mesh/sampling.h"
#include "mesh/splinters.h"

#include <math.h>

// How far outside of the skin the cage's skin lies, in cubes of the lattice. The lattice's widest gap between
// planes of points is sqrt(1/2) cubes (planes x + y = const); a sheet of any direction, however thin, becomes
// a slab of twice the offset, and with half the gap it always holds a whole plane of points: an ear or a fin
// is never lost. 1/4 was considered: slimmer, but it loses thin sheets in the unlucky directions.
#define THIN_OFFSET 0.4

// Where flesh is thick: what the cage's flat faces cut off a round skin.
#define THICK_OFFSET 0.12

// Where that would make the cage too large, because all of the shape is only a cube or two thick, less of it.
#define THICK_STEPS 4

// Smaller than the inside a cage shall not be: the offset grows, in steps, at most to the thin one.
#define LEAST_VOLUME 1.0
#define LARGEST_STEP 13

// Pieces of the skin that are smaller than this share of a cube get no cells of their own.
#define CRUMB_SIZE 0.5

// The volume that triangles enclose counts overlaps twice; the one sampled is right to some per cent.
#define SAMPLED_SLACK 1.08

// Mean thickness in cubes, below which samples meet it by chance.
#define COARSE_SHARE 0.5

// Points of a lattice, and how many a wanted node is worth: most of them lie outside of what is long and
// askew.
#define MAX_POINT_COUNT (1 << 23)
#define SMALL_POINT_COUNT (1 << 20)
#define POINTS_PER_NODE 4096

// A cage along a piece of skin has at least so many nodes a cube.
#define LEAST_NODES_PER_CUBE 2.0

#define SCRATCH_SIZE ((size_t)1 << 20)

// Whether what the triangles enclose is not the inside: closed skins may overlap, and open ones end at lids.
static bool needsMeasuring(const srMeshing* meshing) {
    const srSolid* solid = &meshing->solid;
    return solid->shells.triangleCount > 0 && (!solid->isWatertight || meshing->repaired.patchCount > 1);
}

srResult srCreateMeshing(srMeshing* meshing) {
    const srSolidSettings usual = srDefaultSolidSettings();
    const srSolidSettings* wanted = meshing->settings->solid != NULL ? meshing->settings->solid : &usual;
    srProgress repairing = srPartOfProgress(&meshing->progress, 0.0, 0.6 * SR_SOLID_SHARE),
               measuring = srPartOfProgress(&meshing->progress, 0.6 * SR_SOLID_SHARE, 0.8 * SR_SOLID_SHARE),
               touching = srPartOfProgress(&meshing->progress, 0.8 * SR_SOLID_SHARE, SR_SOLID_SHARE);
    const srSurface *shells = &meshing->solid.shells, *sheets = &meshing->solid.sheets;
    SR_TRY(srReportProgress(&meshing->progress, 0.0));
    SR_TRY(srCreateSolid(meshing->surface, wanted, &repairing, &meshing->solid, &meshing->repaired));
    const srSurface* first = shells->triangleCount > 0 ? shells : sheets;
    const srSurface* second = sheets->triangleCount > 0 ? sheets : shells;
    meshing->lower = srMin(first->lower, second->lower);
    meshing->upper = srMax(first->upper, second->upper);
    meshing->pieceSizes = SR_ALLOC(double, meshing->solid.pieceCount);
    if (meshing->pieceSizes == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srMeasurePieces(&meshing->solid, meshing->pieceSizes));
    if (needsMeasuring(meshing)) {
        srField field = srMakeField(&meshing->solid, 0.0);
        field.sheets = NULL; // neither is theirs in the volume of the solid
        SR_TRY(srMeasureInside(&field, meshing->lower, meshing->upper, &measuring, &meshing->measured,
                               &meshing->measuredAt));
    }
    return srCreateContacts(meshing->surface, &meshing->solid, &touching, &meshing->contacts);
}

void srDestroyMeshing(srMeshing* meshing) {
    SR_FREE(meshing->pieceSizes, meshing->solid.pieceCount);
    srDestroyContacts(&meshing->contacts);
    srDestroySolid(&meshing->solid);
    *meshing = (srMeshing){0};
}

static int32_t largestLattice(const srMesherSettings* settings) {
    double most = fmax(POINTS_PER_NODE * (double)settings->targetNodeCount, SMALL_POINT_COUNT);
    int32_t limited = (int32_t)fmin(most, MAX_POINT_COUNT);
    return settings->detail != NULL ? limited / 8 : limited;
}

// No finer cage of the longest piece has as few nodes as are wanted: a needle's area would have it so.
static double leastSpacing(const srMeshing* meshing) {
    double longest = 0.0;
    for (int32_t piece = 0; piece < meshing->solid.pieceCount; piece++) {
        longest = fmax(longest, meshing->pieceSizes[piece]);
    }
    return LEAST_NODES_PER_CUBE * longest / meshing->settings->targetNodeCount;
}

static bool placeLattice(const srMeshing* meshing, const srTrial* trial, int32_t most,
                         srLattice* outLattice) {
    const srSolid* solid = &meshing->solid;
    double thickness = solid->sheets.triangleCount > 0 ? solid->halfThickness : 0.0;
    double margin = thickness + THIN_OFFSET * trial->spacing;
    return srMakeLattice(meshing->lower, meshing->upper, margin, trial->spacing, most, outLattice) &&
           (trial->shiftedAxis == SR_NOT_SHIFTED ? srLattice_Pad(outLattice, 2, most)
                                                 : srLattice_Shift(outLattice, trial->shiftedAxis, most));
}

// The lattice of this spacing, or of the finest that memory is worth.
static void makeLattice(const srMeshing* meshing, srTrial* trial, srLattice* outLattice) {
    int32_t most = largestLattice(meshing->settings);
    trial->spacing = fmax(trial->spacing, leastSpacing(meshing));
    while (!placeLattice(meshing, trial, most, outLattice)) {
        trial->spacing *= 1.1;
    }
}

static srResult sampleScaffold(const srMeshing* meshing, const srProgress* progress, srTrial* trial) {
    srLattice lattice;
    makeLattice(meshing, trial, &lattice);
    trial->latticePointCount = lattice.pointCount;
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    const srSampling sampling = {&field, meshing->surface, meshing->settings->detail, THIN_OFFSET,
                                 trial->shiftedAxis != SR_NOT_SHIFTED};
    return srSampleScaffold(&lattice, &sampling, trial->arena, progress, &trial->scaffold,
                            &trial->insideVolume);
}

static srResult splitScaffold(const srMeshing* meshing, const srProgress* progress, srTrial* trial) {
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    srFleshSource source = {&field, &meshing->contacts, trial->torn};
    srProgress growing = srPartOfProgress(progress, 0.0, 0.8),
               splitting = srPartOfProgress(progress, 0.8, 1.0);
    if (meshing->settings->gluesContacts) {
        trial->copies.scaffold = trial->scaffold;
        return sr_success;
    }
    SR_TRY(srCreateFlesh(&trial->scaffold, &source, trial->arena, &growing, &trial->flesh));
    return srSplitScaffold(&trial->scaffold, &trial->flesh, trial->arena, &splitting, &trial->copies);
}

// Where a cage was torn all of the flesh counts as thin: how deep it is there, only neighbours say that lie
// where it widens.
static void applyOffset(const srTrial* trial, int step, double* scratch, double* level) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    srScaffold_OffsetLevel(scaffold, fmin(THICK_OFFSET * step / THICK_STEPS, THIN_OFFSET), THIN_OFFSET,
                           scratch, level);
    for (int32_t point = 0; trial->torn != NULL && point < scaffold->pointCount; point++) {
        if (trial->torn[scaffold->bases[point]]) {
            level[point] = scaffold->phi[point] - THIN_OFFSET * scaffold->sizes[point];
        }
    }
}

// The offset where flesh is thick, in steps: as much as the volume allows; a little more where parts would
// come off otherwise that hang together under the offset of thin flesh.
static int chooseOffset(const srTrial* trial, double* scratch, double* level, int32_t* roots) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    double inside = srScaffold_EstimateVolume(scaffold, scaffold->phi);
    applyOffset(trial, 4 * THICK_STEPS, scratch, level);
    int32_t fewest = srScaffold_CountPieces(scaffold, level, scratch, roots);
    int step = THICK_STEPS;
    applyOffset(trial, step, scratch, level);
    while (step > 0 && srScaffold_EstimateVolume(scaffold, level) > SR_LARGEST_GROWTH * inside) {
        applyOffset(trial, --step, scratch, level);
    }
    int chosen = step;
    while (srScaffold_CountPieces(scaffold, level, scratch, roots) > fewest) {
        applyOffset(trial, ++step, scratch, level);
        if (srScaffold_EstimateVolume(scaffold, level) > SR_LIMIT_OF_GROWTH * inside) {
            return chosen;
        }
    }
    return step;
}

double srTrial_Volume(const srTrial* trial) {
    const srRawCells* cells = &trial->cells;
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

static srResult stuffLevel(const srMeshing* meshing, const Levels* levels, const srProgress* progress,
                           srTrial* trial) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    srField field = srMakeContactField(&meshing->contacts, &meshing->solid);
    srProgress cutting = srPartOfProgress(progress, 0.0, 0.5),
               stuffing = srPartOfProgress(progress, 0.5, 1.0);
    srWarp warp;
    applyOffset(trial, trial->offsetStep, levels->scratch, levels->level);
    trial->insideCount = 0;
    for (int32_t point = 0; point < scaffold->pointCount; point++) {
        trial->insideCount += levels->level[point] < 0.0;
    }
    SR_TRY(srCreateWarp(scaffold, &field, levels->level, trial->arena, &cutting, &warp));
    return srStuff(&warp, trial->arena, &stuffing, &trial->cells);
}

// The volume that the triangles enclose counts overlaps twice; and where they leave openings, cones over
// these stand for what is missing, which may say too little. On a lattice that is coarser than the shape is
// thick, what is sampled says nothing.
double srTrial_LeastVolume(const srMeshing* meshing, const srTrial* trial) {
    const srSolid* solid = &meshing->solid;
    bool isCoarse = 2.0 * solid->volume < COARSE_SHARE * trial->spacing * solid->area;
    double inside = isCoarse ? solid->volume : fmin(solid->volume, SAMPLED_SLACK * trial->insideVolume);
    bool isFiner = meshing->measuredAt > 0.0 && meshing->measuredAt < trial->spacing;
    if (isFiner) {
        inside =
            meshing->solid.isWatertight ? fmin(inside, meshing->measured) : fmax(inside, meshing->measured);
    }
    return LEAST_VOLUME * inside;
}

static srResult stuffScaffold(const srMeshing* meshing, const srProgress* progress, srTrial* trial) {
    const srScaffold* scaffold = &trial->copies.scaffold;
    Levels levels = {SR_PUSH(trial->arena, double, scaffold->pointCount, "levels"),
                     SR_PUSH(trial->arena, double, scaffold->pointCount, "levels"),
                     SR_PUSH(trial->arena, int32_t, scaffold->pointCount, "pieces")};
    if (levels.level == NULL || levels.scratch == NULL || levels.roots == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    if (trial->offsetStep < 0) {
        trial->offsetStep = chooseOffset(trial, levels.scratch, levels.level, levels.roots);
    }
    double least = srTrial_LeastVolume(meshing, trial);
    for (double share = 0.0;; share += 0.5 * (1.0 - share)) {
        srProgress part = srPartOfProgress(progress, share, 0.5 + 0.5 * share);
        srArenaMark mark = srArena_GetMark(trial->arena);
        SR_TRY(stuffLevel(meshing, &levels, &part, trial));
        if (trial->offsetStep >= LARGEST_STEP || srTrial_Volume(trial) >= least) {
            return sr_success;
        }
        srArena_Release(trial->arena, mark);
        trial->offsetStep++;
    }
}

static srResult dropSplinters(const srMeshing* meshing, srTrial* trial) {
    srCrumbs crumbs = {&meshing->solid, meshing->pieceSizes, CRUMB_SIZE * trial->spacing};
    return srDropSplinters(&trial->copies, &crumbs, trial->arena, &trial->cells, &trial->pieceCount);
}

srTrial srStartTrial(double spacing, int shiftedAxis) {
    return (srTrial){.spacing = spacing, .shiftedAxis = shiftedAxis, .offsetStep = -1, .growth = 1.0};
}

srResult srTrial_Run(const srMeshing* meshing, const srProgress* progress, srTrial* trial) {
    srProgress sampling = srPartOfProgress(progress, 0.0, 0.8);
    srProgress stuffing = srPartOfProgress(progress, 0.8, 1.0);
    trial->arena = srCreateArena(SCRATCH_SIZE);
    if (trial->arena == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(sampleScaffold(meshing, &sampling, trial));
    trial->copies.scaffold = trial->scaffold;
    SR_TRY(stuffScaffold(meshing, &stuffing, trial));
    return dropSplinters(meshing, trial);
}

srResult srTrial_Split(const srMeshing* meshing, const srProgress* progress, srTrial* trial) {
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

srResult srTrial_MakeMesh(const srMeshing* meshing, const srTrial* trial, const srProgress* progress,
                          srMesh* outMesh) {
    const srRawCells* cells = &trial->cells;
    int32_t* newCells = SR_PUSH(trial->arena, int32_t, cells->cellCount, "new cells");
    int32_t* homes = SR_PUSH(trial->arena, int32_t, meshing->surface->pointCount, "cells of points");
    outMesh->pointCount = meshing->surface->pointCount;
    outMesh->pointCells = SR_ALLOC(int32_t, outMesh->pointCount);
    if (newCells == NULL || homes == NULL || outMesh->pointCells == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srCreateCageMapped(cells->nodes, cells->nodeCount, (const int32_t (*)[4])cells->cells,
                              cells->cellCount, newCells, &outMesh->cage));
    srProgress homing = srPartOfProgress(progress, 0.5, 0.9);
    SR_TRY(srReportProgress(progress, 0.5));
    srHomesInput input = {meshing->surface, &meshing->contacts, &trial->scaffold,
                          &trial->flesh,    &trial->copies,     cells};
    SR_TRY(srFindHomes(&input, trial->arena, &homing, homes));
    SR_TRY(srReportProgress(progress, 0.9));
    for (int32_t p = 0; p < outMesh->pointCount; p++) {
        outMesh->pointCells[p] = homes[p] == SR_NULL_INDEX ? SR_NULL_INDEX : newCells[homes[p]];
    }
    return sr_success;
}

double srTrial_Work(const srTrial* trial) {
    return trial->latticePointCount + trial->scaffold.tetCount +
           SR_SAMPLE_COUNT * (double)trial->flesh.tetCount;
}

void srDestroyTrial(srTrial* trial) {
    srDestroyArena(trial->arena);
    *trial = (srTrial){0};
}
