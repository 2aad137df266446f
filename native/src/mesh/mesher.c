// SPDX-License-Identifier: GPL-3.0-or-later
//
// The search for the spacing that gives the wanted number of nodes, around one meshing: sample, cut, warp,
// stuff.

#include "mesh/mesher.h"

#include "core/alloc.h"
#include "mesh/bvh.h"
#include "mesh/field.h"
#include "mesh/progress.h"
#include "mesh/quality.h"
#include "mesh/stuffing.h"

#include <math.h>

// How far outside of the skin the cage's skin lies, in cubes of the lattice. The lattice's widest gap between
// planes of points is sqrt(1/2) cubes (planes x + y = const); a sheet of any direction, however thin, becomes
// a slab of twice the offset, and with half the gap it always holds a whole plane of points: an ear or a fin
// is never lost. 1/4 was considered: slimmer, but it loses thin sheets in the unlucky directions.
#define OFFSET_SHARE 0.36

// Meshings for one cage, and when the count is near enough to stop
#define TRIAL_COUNT 5
#define COUNT_TOLERANCE 0.04

#define MAX_POINT_COUNT (1 << 23)
#define MIN_TARGET 8
#define MAX_TARGET 1000000

// Probing for an inside: how many triangles, how far below them in sizes of the surface, and how much of the
// view the surface must cover there. An open sheet covers half of it.
#define PROBE_COUNT 1000
#define PROBE_DEPTH 1e-5
#define PROBE_WINDING 0.75

typedef struct Meshing {
    const srSurface* surface;
    const srMesherSettings* settings;
    srBvh* bvh;
    double volume; // what the surface's triangles enclose, if it is closed
    double area;
} Meshing;

static srVec3 doubleAreaVector(const srSurface* surface, int32_t triangle) {
    const int32_t* corners = surface->triangles[triangle];
    srVec3 a = surface->points[corners[0]];
    return srCross(srSub(surface->points[corners[1]], a), srSub(surface->points[corners[2]], a));
}

static srVec3 triangleCentre(const srSurface* surface, int32_t triangle) {
    const int32_t* corners = surface->triangles[triangle];
    srVec3 sum = srAdd(surface->points[corners[0]], surface->points[corners[1]]);
    return srScale(1.0 / 3.0, srAdd(sum, surface->points[corners[2]]));
}

static void measureSurface(Meshing* meshing) {
    const srSurface* surface = meshing->surface;
    srVec3 middle = srScale(0.5, srAdd(surface->lower, surface->upper));
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        srVec3 n = doubleAreaVector(surface, t);
        meshing->area += 0.5 * srLength(n);
        meshing->volume += srDot(srSub(triangleCentre(surface, t), middle), n) / 6.0;
    }
    meshing->volume = fabs(meshing->volume);
}

// Whether the surface encloses anything: some point just beside a triangle sees the surface nearly all round.
static bool enclosesAnything(const Meshing* meshing) {
    const srSurface* surface = meshing->surface;
    int32_t step = surface->triangleCount / PROBE_COUNT + 1;
    for (int32_t t = 0; t < surface->triangleCount; t += step) {
        srVec3 n = doubleAreaVector(surface, t);
        srVec3 depth = srScale(PROBE_DEPTH * surface->size / srLength(n), n);
        srVec3 centre = triangleCentre(surface, t);
        double below = srBvh_WindingNumber(meshing->bvh, srSub(centre, depth));
        double above = srBvh_WindingNumber(meshing->bvh, srAdd(centre, depth));
        if (fabs(below) > PROBE_WINDING || fabs(above) > PROBE_WINDING) {
            return true;
        }
    }
    return false;
}

// Nodes expected at a spacing h: the lattice has two points a cube; the offset's slab and the cuts go with
// the area, roughly three a square. Only where the search starts.
static double expectNodes(const Meshing* meshing, double h) {
    return 2.0 * meshing->volume / (h * h * h) + 3.0 * meshing->area / (h * h);
}

static double estimateSpacing(const Meshing* meshing) {
    double low = 1e-6 * meshing->surface->size, high = meshing->surface->size;
    for (int halving = 0; halving < 60; halving++) {
        double middle = sqrt(low * high);
        bool isTooFine = expectNodes(meshing, middle) > meshing->settings->targetNodeCount;
        low = isTooFine ? middle : low;
        high = isTooFine ? high : middle;
    }
    return sqrt(low * high);
}

// The lattice of this spacing, or of the finest that memory is worth.
static void makeLattice(const Meshing* meshing, double* spacing, srLattice* outLattice) {
    const srSurface* surface = meshing->surface;
    while (!srMakeLattice(surface->lower, surface->upper, OFFSET_SHARE * *spacing, *spacing, MAX_POINT_COUNT,
                          outLattice)) {
        *spacing *= 1.1;
    }
}

// A trial's part of the whole progress: the first half, then half of what is left, and so on.
static srProgress partOfTrial(const Meshing* meshing, int trial) {
    srProgress whole = {meshing->settings->progress, meshing->settings->progressContext, 0.0f, 1.0f};
    double begin = 1.0 - 1.0 / (1 << trial);
    return srPartOfProgress(&whole, begin, 0.5 + 0.5 * begin);
}

static srResult meshOnce(const Meshing* meshing, double* spacing, int trial, srRawCells* outCells) {
    srResult result = sr_success;
    srLattice lattice;
    makeLattice(meshing, spacing, &lattice);
    srWarp warp = {0};
    srField field = {.bvh = meshing->bvh, .offset = OFFSET_SHARE * *spacing};
    double* phi = SR_ALLOC(double, lattice.pointCount);
    if (phi == NULL) {
        return srFailOutOfMemory("the lattice");
    }
    srProgress part = partOfTrial(meshing, trial);
    srProgress sampling = srPartOfProgress(&part, 0.0, 0.9);
    srProgress cutting = srPartOfProgress(&part, 0.9, 0.95);
    srProgress stuffing = srPartOfProgress(&part, 0.95, 1.0);
    SR_TRY_CLEANUP(srField_Sample(&field, &lattice, phi, &sampling));
    SR_TRY_CLEANUP(srCreateWarp(&lattice, &field, phi, &cutting, &warp));
    SR_TRY_CLEANUP(srStuff(&warp, &stuffing, outCells));

cleanup:
    srDestroyWarp(&warp);
    SR_FREE(phi, lattice.pointCount);
    return result;
}

// Logarithms of a spacing and the count it gave
typedef struct Trial {
    double spacing;
    double count;
} Trial;

// Secant on count = c spacing^-k, with k kept between a sheet's 2 and a solid's 3, and some room.
static double nextSpacing(const Meshing* meshing, Trial last, Trial before, bool hasBefore) {
    double k = 2.6;
    if (hasBefore && fabs(last.spacing - before.spacing) > 1e-9) {
        k = -(last.count - before.count) / (last.spacing - before.spacing);
    }
    k = fmin(fmax(k, 1.7), 3.5);
    return exp(last.spacing + (last.count - log(meshing->settings->targetNodeCount)) / k);
}

// The trial whose count is nearest to the target; nothing in `outBest` when none had a cell.
static srResult searchSpacing(const Meshing* meshing, srRawCells* outBest, double* outSpacing) {
    srRawCells best = {0};
    Trial last = {0}, before = {0};
    double bestError = HUGE_VAL;
    double spacing = estimateSpacing(meshing);
    for (int trial = 0; trial < TRIAL_COUNT && bestError > COUNT_TOLERANCE; trial++) {
        srRawCells cells = {0};
        srResult result = meshOnce(meshing, &spacing, trial, &cells);
        if (result != sr_success) {
            srDestroyRawCells(&best);
            return result;
        }
        before = last;
        last = (Trial){log(spacing), log(fmax(cells.nodeCount, 1.0))};
        double error = fabs(cells.nodeCount / (double)meshing->settings->targetNodeCount - 1.0);
        if (cells.cellCount > 0 && error < bestError) {
            srDestroyRawCells(&best);
            best = cells;
            bestError = error;
            *outSpacing = spacing;
        } else {
            srDestroyRawCells(&cells);
        }
        spacing = nextSpacing(meshing, last, before, trial > 0);
    }
    *outBest = best;
    return sr_success;
}

static srResult checkSettings(const srMesherSettings* settings) {
    if (settings->targetNodeCount < MIN_TARGET || settings->targetNodeCount > MAX_TARGET) {
        return srFail(sr_errorInvalidValue, "A cage of %d nodes was asked for; %d to %d can be made.",
                      settings->targetNodeCount, MIN_TARGET, MAX_TARGET);
    }
    return sr_success;
}

srResult srMeshSurface(const srSurface* surface, const srMesherSettings* settings, srCage* outCage,
                       srMesherReport* outReport) {
    SR_TRY(checkSettings(settings));
    srResult result = sr_success;
    srRawCells cells = {0};
    srCage cage = {0};
    srMesherReport report = {0};
    Meshing meshing = {.surface = surface, .settings = settings};
    srProgress whole = {settings->progress, settings->progressContext, 0.0f, 1.0f};
    SR_TRY_CLEANUP(srReportProgress(&whole, 0.0));
    SR_TRY_CLEANUP(srCreateBvh(surface, &meshing.bvh));
    measureSurface(&meshing);
    if (!enclosesAnything(&meshing)) {
        result = srFail(sr_errorNoInside,
                        "The surface encloses nothing: it is open, or its faces point both ways.");
        goto cleanup;
    }

    // find the cells, make them a cage
    SR_TRY_CLEANUP(searchSpacing(&meshing, &cells, &report.spacing));
    if (cells.cellCount == 0) {
        result = srFail(sr_errorNoInside, "What the surface encloses is too thin for a cage of %d nodes.",
                        settings->targetNodeCount);
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateCage(cells.nodes, cells.nodeCount, (const int32_t (*)[4])cells.cells,
                                cells.cellCount, &cage));
    srMeasureCells(&cage, &report.minDihedralDegrees, &report.maxDihedralDegrees, &report.volume);
    SR_TRY_CLEANUP(srReportProgress(&whole, 1.0));
    *outCage = cage;
    *outReport = report;

cleanup:
    srDestroyBvh(meshing.bvh);
    srDestroyRawCells(&cells);
    if (result != sr_success) {
        srDestroyCage(&cage);
    }
    return result;
}
