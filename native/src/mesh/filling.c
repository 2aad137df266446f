// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which mesher is better was measured (docs/benchmarks.md, `bench meshers`; docs/decisions/0024).

#include "mesh/filling.h"

#include "mesh/joining.h"

#include <math.h>

// What TetGen takes of the whole progress before the lattice mesher may have to begin
#define TETGEN_SHARE 0.6

// Of the whole, for a skin of several pieces: until TetGen has answered for all of it, until pieces are
// sorted, until layers are filled, and until those are one cage
#define ANSWERED_SHARE 0.3
#define SORTED_SHARE 0.35
#define FILLED_SHARE 0.7
#define JOINED_SHARE 0.75

#define LEAST_TARGET 8

static bool reportPart(float fraction, void* context) {
    const srProgress* part = context;
    return part->report(part->from + (part->to - part->from) * fraction, part->context);
}

static srResult fillByLattice(const srSurface* surface, const srFillingSettings* settings, double from,
                              srMesh* outMesh, srFillingReport* report) {
    srProgress rest = {settings->lattice.progress, settings->lattice.progressContext, (float)from, 1.0f};
    srMesherSettings lattice = settings->lattice;
    if (lattice.progress != NULL) {
        lattice.progress = reportPart;
        lattice.progressContext = &rest;
    }
    report->route = sr_fillingLattice;
    return srMeshSurface(surface, &lattice, outMesh, &report->lattice);
}

static srResult fillByTetgen(const srSurface* surface, const srFillingSettings* settings, bool wantsOwn,
                             srMesh* outMesh, srFillingReport* report) {
    srProgress whole = {settings->lattice.progress, settings->lattice.progressContext, 0.0f, 1.0f};
    srProgress part = srPartOfProgress(&whole, 0.0, TETGEN_SHARE);
    srConformSettings conform = {
        .targetNodeCount = settings->lattice.targetNodeCount,
        .wantsOwnSurface = wantsOwn,
        .limits = settings->limits,
        .spine = settings->spine,
        .segmentCount = settings->segmentCount,
        .detail = settings->detail,
        .solid = settings->lattice.solid,
        .progress = &part,
    };
    report->route = sr_fillingTetgen;
    return srConformSurface(surface, &conform, outMesh, &report->conform);
}

// Leaves a mesh without cells where TetGen is not asked, or made none.
static srResult tryTetgen(const srSurface* surface, const srFillingSettings* settings, bool wantsOwn,
                          srMesh* mesh, srFillingReport* report) {
    const srConformReport missing = {.fate = sr_conformHelper, .tetgen = sr_tetgenMissing};
    bool wantsLattice = settings->route == sr_fillingLattice;
    *report = (srFillingReport){.route = sr_fillingLattice,
                                .note = wantsLattice ? "The lattice was asked for."
                                                     : srDescribeConformFate(&missing),
                                .isInstead = !wantsLattice};
    bool isGiven = settings->limits.program != NULL && settings->limits.program[0] != '\0';
    if (wantsLattice || (settings->route == sr_fillingAutomatic && !isGiven)) {
        return sr_success;
    }
    srResult result = fillByTetgen(surface, settings, wantsOwn, mesh, report);
    // what the surface is no good for there may do here
    if (result == sr_errorCancelled || result == sr_errorOutOfMemory || result == sr_errorInvalidValue) {
        return result;
    }
    report->note = result == sr_success ? srDescribeConformFate(&report->conform)
                                        : "The surface for TetGen could not be made.";
    report->isInstead = mesh->cage.cellCount == 0;
    return sr_success;
}

static srResult fillWhole(const srSurface* surface, const srFillingSettings* settings, srMesh* outMesh,
                          srFillingReport* outReport) {
    // only with the artist's own surface it was measured; and what touches is one body in a contour
    bool wantsOwn = settings->route == sr_fillingAutomatic;
    srFillingReport report;
    srMesh mesh = {0};
    SR_TRY(tryTetgen(surface, settings, wantsOwn, &mesh, &report));
    if (mesh.cage.cellCount == 0) {
        bool wasAsked = report.route == sr_fillingTetgen;
        SR_TRY(fillByLattice(surface, settings, wasAsked ? TETGEN_SHARE : 0.0, &mesh, &report));
    }
    *outMesh = mesh;
    *outReport = report;
    return sr_success;
}

// ---- layers
// ----------------------------------------------------------------------------------------------------

typedef struct Layered {
    const srSurface* surface;
    srLayers layers;
    srMesh meshes[SR_MOST_LAYERS];
    srFillingReport reports[SR_MOST_LAYERS];
    int32_t target;
    int32_t nodeCount; // of all meshes
} Layered;

// `part` has to live as long.
static srFillingSettings settingsWithin(const srFillingSettings* settings, srProgress* part) {
    srFillingSettings own = *settings;
    own.lattice.progress = part->report != NULL ? reportPart : NULL;
    own.lattice.progressContext = part;
    return own;
}

static srResult fillOnce(Layered* l, int layer, const srFillingSettings* settings) {
    srSurface skin;
    l->nodeCount -= l->meshes[layer].cage.nodeCount;
    srDestroyMesh(&l->meshes[layer]);
    SR_TRY(srTakeLayer(&l->layers, l->surface, layer, &skin));
    srResult result = fillWhole(&skin, settings, &l->meshes[layer], &l->reports[layer]);
    srDestroyLayer(&skin);
    l->nodeCount += l->meshes[layer].cage.nodeCount;
    return result;
}

// A cage that is off by its count alone may do: the sum counts.
static bool isTooLarge(const srMesherReport* report) {
    return report->leastNodeCount > 0 && report->volume > SR_LIMIT_OF_GROWTH * report->insideVolume;
}

// Few nodes are many for a button: it gets what its shape needs, where that is little of the whole.
static srResult fillLayer(Layered* l, int layer, const srFillingSettings* settings, srProgress* part,
                          bool* outIsFit) {
    srFillingSettings own = settingsWithin(settings, part);
    own.lattice.targetNodeCount = (int32_t)fmax(round(l->layers.shares[layer] * l->target), LEAST_TARGET);
    SR_TRY(fillOnce(l, layer, &own));
    int32_t least = l->reports[layer].lattice.leastNodeCount;
    if (isTooLarge(&l->reports[layer].lattice) &&
        least - own.lattice.targetNodeCount <= SR_LARGEST_MISS * l->target) {
        srProgress end = srPartOfProgress(part, 1.0, 1.0);
        own = settingsWithin(&own, &end);
        own.lattice.targetNodeCount = least;
        SR_TRY(fillOnce(l, layer, &own));
    }
    *outIsFit = !isTooLarge(&l->reports[layer].lattice);
    return sr_success;
}

// All by TetGen, or all by the lattice: so that one report tells of all. The last layers have the fewest
// pieces, and tell soonest that there are too few nodes.
static srResult fillAll(Layered* l, const srFillingSettings* settings, const srProgress* progress,
                        bool* outAreFit) {
    srFillingSettings own = *settings;
    double begin = 0.0;
    *outAreFit = true;
    for (int layer = l->layers.count - 1; layer >= 0 && *outAreFit; layer--) {
        srProgress part = srPartOfProgress(progress, begin, begin + l->layers.shares[layer]);
        SR_TRY(fillLayer(l, layer, &own, &part, outAreFit));
        own.route = l->reports[layer].route == sr_fillingLattice ? sr_fillingLattice : own.route;
        begin += l->layers.shares[layer];
    }
    for (int layer = 0; layer < l->layers.count && own.route == sr_fillingLattice && *outAreFit; layer++) {
        if (l->reports[layer].route == sr_fillingTetgen) {
            srProgress part = srPartOfProgress(progress, 1.0, 1.0);
            SR_TRY(fillLayer(l, layer, &own, &part, outAreFit));
        }
    }
    *outAreFit = *outAreFit && fabs(l->nodeCount / (double)l->target - 1.0) <= SR_LARGEST_MISS;
    return sr_success;
}

static void addLattice(const srMesherReport* from, srMesherReport* sum) {
    sum->spacing = fmax(sum->spacing, from->spacing);
    sum->minDihedralDegrees = fmin(sum->minDihedralDegrees, from->minDihedralDegrees);
    sum->maxDihedralDegrees = fmax(sum->maxDihedralDegrees, from->maxDihedralDegrees);
    for (int i = 0; i < 18; i++) {
        sum->dihedralCounts[i] += from->dihedralCounts[i];
        sum->aspectCounts[i % 10] += i < 10 ? from->aspectCounts[i] : 0;
    }
    sum->volume += from->volume;
    sum->insideVolume += from->insideVolume;
    sum->pieceCount += from->pieceCount;
    sum->splitTetCount += from->splitTetCount;
    sum->copyCount += from->copyCount;
    sum->removedCellCount += from->removedCellCount;
    sum->trialCount += from->trialCount;
    sum->latticePointCount += from->latticePointCount;
}

static void addConform(const srConformReport* from, srConformReport* sum) {
    sum->surfaceTriangles += from->surfaceTriangles;
    sum->hullTriangles += from->hullTriangles;
    sum->spineCount += from->spineCount;
    sum->runCount += from->runCount;
    sum->minDihedralDegrees = fmin(sum->minDihedralDegrees, from->minDihedralDegrees);
    sum->edgeLength = fmax(sum->edgeLength, from->edgeLength);
    sum->insideVolume += from->insideVolume;
    sum->volume += from->volume;
}

// Reasons are those of a layer that was refused, if there is one.
static srFillingReport sumReports(const Layered* l) {
    srFillingReport sum = l->reports[0];
    for (int layer = 1; layer < l->layers.count; layer++) {
        const srFillingReport* from = &l->reports[layer];
        addLattice(&from->lattice, &sum.lattice);
        addConform(&from->conform, &sum.conform);
        sum.note = from->isInstead && !sum.isInstead ? from->note : sum.note;
        sum.isInstead = sum.isInstead || from->isInstead;
    }
    sum.lattice.leastNodeCount = 0;
    sum.lattice.solid = sum.conform.solid = l->layers.solid;
    return sum;
}

// What one layer alone cannot have all of the skin together may.
static bool isWorthAll(srResult result) {
    return result == sr_errorNoInside || result == sr_errorBadMesh || result == sr_errorTooLarge;
}

// Leaves a mesh without cells where pieces are not to be parted, or so many nodes are too few for that.
static srResult fillLayers(const srSurface* surface, const srFillingSettings* settings,
                           const srProgress* whole, srMesh* mesh, srFillingReport* report) {
    const srSolidSettings usual = srDefaultSolidSettings();
    const srSolidSettings* solid = settings->lattice.solid != NULL ? settings->lattice.solid : &usual;
    srProgress sorting = srPartOfProgress(whole, ANSWERED_SHARE, SORTED_SHARE);
    srProgress filling = srPartOfProgress(whole, SORTED_SHARE, FILLED_SHARE);
    srProgress joining = srPartOfProgress(whole, FILLED_SHARE, JOINED_SHARE);
    Layered l = {.surface = surface, .target = settings->lattice.targetNodeCount};
    bool areFit = false;
    SR_TRY(srCreateLayers(surface, solid, l.target, &sorting, &l.layers));
    srResult result = l.layers.count > 1 ? fillAll(&l, settings, &filling, &areFit) : sr_success;
    if (result == sr_success && areFit) {
        *report = sumReports(&l);
        result = srJoinMeshes(surface, &l.layers, l.meshes, &joining, mesh);
    }
    for (int layer = 0; layer < l.layers.count; layer++) {
        srDestroyMesh(&l.meshes[layer]);
    }
    srDestroyLayers(&l.layers);
    return isWorthAll(result) ? sr_success : result;
}

// Where TetGen takes the skin as it is, its pieces are apart already; else each layer is filled by itself, or
// all of the skin as one.
static srResult fillPieces(const srSurface* surface, const srFillingSettings* settings, srMesh* outMesh,
                           srFillingReport* outReport) {
    srProgress whole = {settings->lattice.progress, settings->lattice.progressContext, 0.0f, 1.0f};
    srProgress first = srPartOfProgress(&whole, 0.0, ANSWERED_SHARE);
    srProgress last = srPartOfProgress(&whole, JOINED_SHARE, 1.0);
    srFillingSettings own = settingsWithin(settings, &first);
    srMesh mesh = {0};
    srFillingReport answer, report;
    SR_TRY(tryTetgen(surface, &own, true, &mesh, &answer));
    report = answer;
    if (mesh.cage.cellCount == 0) {
        bool isHelpless = answer.isInstead && answer.conform.fate == sr_conformHelper;
        own = *settings;
        own.route = isHelpless ? sr_fillingLattice : settings->route;
        SR_TRY(fillLayers(surface, &own, &whole, &mesh, &report));
    }
    if (mesh.cage.cellCount == 0) {
        own = settingsWithin(settings, &last);
        own.route = settings->route == sr_fillingAutomatic ? sr_fillingLattice : settings->route;
        SR_TRY(fillWhole(surface, &own, &mesh, &report));
    }
    if (report.route == sr_fillingLattice && !report.isInstead) {
        report.note = answer.note;
        report.isInstead = answer.isInstead;
    }
    srResult result = srReportProgress(&whole, 1.0);
    if (result != sr_success) {
        srDestroyMesh(&mesh);
        return result;
    }
    *outMesh = mesh;
    *outReport = report;
    return sr_success;
}

srResult srFillSurface(const srSurface* surface, const srFillingSettings* settings, srMesh* outMesh,
                       srFillingReport* outReport) {
    bool isOne = settings->lattice.gluesContacts || settings->lattice.targetNodeCount < LEAST_TARGET;
    if (!isOne) {
        SR_TRY(srIsOnePiece(surface, &isOne));
    }
    return isOne ? fillWhole(surface, settings, outMesh, outReport)
                 : fillPieces(surface, settings, outMesh, outReport);
}
