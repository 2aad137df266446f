// SPDX-License-Identifier: GPL-3.0-or-later
//
// The solid and the fine surface are made once; then surface and cells are made for a length of edges until
// the number of nodes is near the wanted one.

#include "mesh/conform.h"

#include "core/alloc.h"
#include "mesh/adjacency.h"
#include "mesh/bvh.h"
#include "mesh/contour.h"
#include "mesh/crossings.h"
#include "mesh/decimate.h"
#include "mesh/division.h"
#include "mesh/embedding.h"
#include "mesh/quality.h"
#include "mesh/relax.h"
#include "mesh/sizing.h"

#include <math.h>
#include <string.h>

// Cubes of the lattice that the contour is taken from, per wanted edge; and how far outside of the skin it
// lies, in those cubes. Half the widest gap between planes of points of that lattice: nothing falls between
// (see mesher.c).
#define CONTOUR_SHARE 0.4
#define CONTOUR_OFFSET 0.4

// A first thinning leaves so many times the wanted triangles; every attempt starts from those.
#define FIRST_FACTOR 2.5

// The artist's own surface is taken where it has so many times the wanted triangles.
#define OWN_FACTOR 1.5

// What is thinner than that, in wanted edges (twice the volume by the area), and far from round (36 pi V^2 /
// A^3, which is 1 for a ball, a half for a cube), has no good cage by the lattice. There large triangles of
// the artist's are divided, if there are no more than so many then.
#define THIN_SHARE 0.75
#define ROUND_SHARE 0.1
#define MOST_DIVIDED 400000
#define PI 3.14159265358979323846

#define RUN_COUNT 5
#define COUNT_TOLERANCE 0.04
#define MIN_TARGET 8
#define MAX_TARGET 1000000

// TetGen's limits when nobody says others
#define USUAL_SECONDS 20.0
#define USUAL_MEGABYTES 2048.0

#define RADIUS_EDGE 1.4
#define WANTED_DIHEDRAL 5.0
// Nodes around flatter cells are moved until they are better; cells of a lattice have 10 degrees and more.
#define RELAXED_DIHEDRAL 10.0
// What is flatter makes a simulation stiff or worse.
#define LEAST_DIHEDRAL 2.0

#define SCRATCH_SIZE ((size_t)1 << 20)
#define SOLID_SHARE 0.2
#define CONTOUR_PART 0.2
#define FIRST_SHARE 0.5

typedef struct Conforming {
    const srConformSettings* settings;
    const srSurface* surface;
    srProgress whole;
    srArena* arena;
    srSolid solid;
    srHull fine;
    const int32_t* heirs; // of the artist's own surface: where its points have come to in `fine`; may be null
    srTetgenLimits limits;
} Conforming;

// One length of edges tried. Lives in the arena.
typedef struct Attempt {
    srHull hull;
    const int32_t* heirs; // by point of the fine surface
    srTetgenMesh mesh;
    double length;
} Attempt;

const char* srDescribeConformFate(const srConformReport* report) {
    static const char* const sentences[sr_conformFateCount] = {
        [sr_conformNoInside] = "The surface encloses too little for TetGen.",
        [sr_conformCrossing] = "The surface for TetGen could not be kept from crossing itself.",
        [sr_conformPoor] = "TetGen's cells were too flat to be simulated.",
        [sr_conformSize] = "TetGen's cage could not be made of the wanted size.",
    };
    static const char* const helper[sr_tetgenFateCount] = {
        [sr_tetgenMissing] = "TetGen's helper program is missing or cannot be started.",
        [sr_tetgenStalled] = "TetGen took too long and was ended.",
        [sr_tetgenStarved] = "TetGen needed more memory than it is allowed.",
        [sr_tetgenCrashed] = "TetGen crashed or was killed.",
        [sr_tetgenRefused] = "TetGen found a fault in the surface.",
        [sr_tetgenForeign] = "TetGen's helper program is of another version.",
        [sr_tetgenGarbled] = "TetGen gave no usable cage.",
    };
    static const char* const made[sr_skinFateCount] = {
        [sr_skinTaken] = "The skin is closed, fine, and crosses itself nowhere: TetGen kept its triangles.",
        [sr_skinOpen] = "TetGen filled a surface around the skin, as the skin is open.",
        [sr_skinSheet] = "TetGen filled a surface around the skin, as some of it is as thin as a sheet.",
        [sr_skinCoarse] = "TetGen filled a surface around the skin, as the skin has too few triangles.",
        [sr_skinPinched] = "TetGen filled a surface around the skin, as parts of it meet at edges or points.",
        [sr_skinCrossing] = "TetGen filled a surface around the skin, as it touches or crosses itself.",
    };
    static const char* const divided =
        "The skin is closed, thin, and crosses itself nowhere: TetGen kept it, in smaller triangles.";
    static const char* const unclean[sr_skinFateCount] = {
        [sr_skinOpen] = "The skin is open.",
        [sr_skinSheet] = "Some of the skin is as thin as a sheet.",
        [sr_skinCoarse] = "The skin has too few triangles for TetGen to keep them.",
        [sr_skinPinched] = "Parts of the skin meet at edges or points.",
        [sr_skinCrossing] = "The skin touches or crosses itself.",
    };
    switch (report->fate) {
    case sr_conformMade:
        return report->isDivided && report->skin == sr_skinTaken ? divided : made[report->skin];
    case sr_conformUnclean:
        return unclean[report->skin];
    case sr_conformHelper:
        return helper[report->tetgen];
    default:
        return sentences[report->fate];
    }
}

// ---- how long edges shall be
// ----------------------------------------------------------------------------------

static double expectTriangles(double area, double length) {
    return area / (0.4330127 * length * length);
}

// ---- the surface
// ------------------------------------------------------------------------------------------------

static srHull hullOf(const srSurface* surface) {
    return (srHull){surface->points, surface->pointCount, surface->triangles, surface->triangleCount};
}

static bool isThin(const Conforming* c, double length) {
    double volume = c->solid.volume, area = c->solid.area;
    return 2.0 * volume < THIN_SHARE * length * area &&
           36.0 * PI * volume * volume < ROUND_SHARE * area * area * area;
}

// The artist's own triangles, if they are closed, fine enough, and cross nowhere.
static srResult takeOwn(Conforming* c, double length, srSkinFate* outFate, bool* outIsDivided) {
    srHull hull = hullOf(&c->solid.shells);
    bool isClosed;
    int32_t crossingCount;
    *outFate = !c->solid.isWatertight              ? sr_skinOpen
               : c->solid.sheets.triangleCount > 0 ? sr_skinSheet
                                                   : sr_skinCoarse;
    bool isFine = hull.triangleCount >= OWN_FACTOR * expectTriangles(c->solid.area, length);
    if (*outFate == sr_skinCoarse && !isFine && isThin(c, length)) {
        SR_TRY(srDivideHull(&hull, length / sqrt(OWN_FACTOR), MOST_DIVIDED, c->arena, &hull));
        isFine = hull.triangleCount > 0;
        *outIsDivided = isFine;
    }
    if (*outFate != sr_skinCoarse || !isFine) {
        return sr_success;
    }
    SR_TRY(srIsHullClosed(&hull, c->arena, &isClosed));
    if (!isClosed) {
        *outFate = sr_skinPinched;
        return sr_success;
    }
    SR_TRY(srCountCrossings(&hull, true, 1, c->arena, NULL, &crossingCount));
    *outFate = crossingCount > 0 ? sr_skinCrossing : sr_skinTaken;
    c->fine = crossingCount > 0 ? c->fine : hull;
    return sr_success;
}

// The shortest length that is painted anywhere.
static double findFinest(const Conforming* c, double length) {
    float most = 0.0f;
    for (int32_t p = 0; p < c->surface->pointCount && c->settings->detail != NULL; p++) {
        most = c->settings->detail[p] > most ? c->settings->detail[p] : most;
    }
    return length * exp2(-fmin((double)most, 1.0));
}

static srResult makeFine(Conforming* c, double wantedLength, srConformReport* report) {
    srProgress part = srPartOfProgress(&c->whole, SOLID_SHARE, SOLID_SHARE + CONTOUR_PART);
    double length = findFinest(c, wantedLength);
    SR_TRY(takeOwn(c, length, &report->skin, &report->isDivided));
    bool isOwn = report->skin == sr_skinTaken;
    if (!isOwn && c->settings->wantsOwnSurface) {
        report->fate = sr_conformUnclean;
        return sr_success;
    }
    if (!isOwn) {
        SR_TRY(srContourSolid(&c->solid, CONTOUR_SHARE * length, CONTOUR_OFFSET, &part, c->arena, &c->fine));
    }
    report->surfaceTriangles = c->fine.triangleCount;
    return sr_success;
}

static int32_t evenTarget(double triangles) {
    double bounded = fmin(fmax(triangles, 8.0), 1e8);
    return 2 * (int32_t)(0.5 * bounded);
}

// ---- one attempt
// ------------------------------------------------------------------------------------------------

static srResult thin(Conforming* c, const srSizing* sizing, const srProgress* progress, Attempt* attempt,
                     srConformReport* report) {
    float* fineness = NULL;
    srProgress part = srPartOfProgress(progress, 0.0, 0.3);
    SR_TRY(srSizing_FindFineness(sizing, &c->fine, c->arena, &fineness));
    srDecimateSettings settings = {evenTarget(srSizing_ExpectTriangles(sizing, &c->fine)), fineness, &part,
                                   false};
    srDecimateReport thinned;
    SR_TRY(srDecimate(&c->fine, &settings, c->arena, &attempt->hull, &thinned));
    attempt->heirs = thinned.heirs;
    report->hullTriangles = attempt->hull.triangleCount;
    report->fate = thinned.crossingCount > 0 ? sr_conformCrossing : report->fate;
    return sr_success;
}

static srResult fill(Conforming* c, const srSizing* sizing, const srProgress* progress, Attempt* attempt,
                     srConformReport* report) {
    srTetgenInput input = {
        .points = attempt->hull.points,
        .pointCount = attempt->hull.pointCount,
        .triangles = (const int32_t (*)[3])attempt->hull.triangles,
        .triangleCount = attempt->hull.triangleCount,
        .radiusEdge = RADIUS_EDGE,
        .minDihedralDegrees = WANTED_DIHEDRAL,
    };
    srVec3 *extras, *holes;
    srSegments spine = {c->settings->spine, c->settings->segmentCount};
    SR_TRY(srSizing_MakeGrid(sizing, &attempt->hull, c->arena, &input.sizes));
    SR_TRY(srSizing_PlaceOnSpine(sizing, &attempt->hull, &spine, c->arena, &extras, &input.extraCount));
    SR_TRY(srFindHollows(&attempt->hull, c->arena, &holes, &input.holeCount));
    input.extras = extras;
    input.holes = holes;
    report->spineCount = input.extraCount;
    report->runCount++;
    srProgress part = srPartOfProgress(progress, 0.3, 1.0);
    SR_TRY(srRunTetgen(&input, &c->limits, &part, c->arena, &report->tetgen, &attempt->mesh));
    report->fate = report->tetgen != sr_tetgenMade ? sr_conformHelper : report->fate;
    return sr_success;
}

static srResult attemptLength(Conforming* c, int number, Attempt* attempt, srConformReport* report) {
    double begin = 1.0 - 1.0 / (1 << number);
    srProgress rest = srPartOfProgress(&c->whole, FIRST_SHARE, 1.0);
    srProgress part = srPartOfProgress(&rest, begin, 0.5 + 0.5 * begin);
    srSizing sizing;
    report->fate = sr_conformMade;
    SR_TRY(srCreateSizing(c->surface, c->settings->detail, attempt->length, &sizing));
    srResult result = thin(c, &sizing, &part, attempt, report);
    if (result == sr_success && report->fate == sr_conformMade) {
        result = fill(c, &sizing, &part, attempt, report);
    }
    srDestroySizing(&sizing);
    return result;
}

// What all attempts have in common.
static srResult thinFirst(Conforming* c, double length, srConformReport* report) {
    float* fineness = NULL;
    srSizing sizing;
    srDecimateReport thinned;
    SR_TRY(srCreateSizing(c->surface, c->settings->detail, length, &sizing));
    int32_t target = evenTarget(FIRST_FACTOR * srSizing_ExpectTriangles(&sizing, &c->fine));
    srResult result = srSizing_FindFineness(&sizing, &c->fine, c->arena, &fineness);
    if (result == sr_success && target < c->fine.triangleCount) {
        srProgress part = srPartOfProgress(&c->whole, SOLID_SHARE + CONTOUR_PART, FIRST_SHARE);
        srDecimateSettings settings = {target, fineness, &part, false};
        result = srDecimate(&c->fine, &settings, c->arena, &c->fine, &thinned);
        c->heirs = result == sr_success ? thinned.heirs : NULL;
        report->fate = result == sr_success && thinned.crossingCount > 0 ? sr_conformCrossing : report->fate;
    }
    srDestroySizing(&sizing);
    return result;
}

static double errorOf(const Conforming* c, const Attempt* attempt) {
    return fabs(attempt->mesh.nodeCount / (double)c->settings->targetNodeCount - 1.0);
}

// Nodes go with between the second and the third power of the length.
static double nextLength(const Conforming* c, const Attempt* attempt) {
    double ratio = attempt->mesh.nodeCount / (double)c->settings->targetNodeCount;
    return attempt->length * pow(ratio, 1.0 / 2.4);
}

static srResult search(Conforming* c, Attempt* best, srConformReport* report) {
    double length =
        srFindLength(c->solid.volume, c->solid.area, c->settings->targetNodeCount, c->surface->size);
    SR_TRY(makeFine(c, length, report));
    if (report->fate == sr_conformUnclean) {
        return sr_success;
    }
    if (c->fine.triangleCount == 0) {
        report->fate = sr_conformNoInside;
        return sr_success;
    }
    SR_TRY(thinFirst(c, length, report));
    for (int number = 0; number < RUN_COUNT && report->fate == sr_conformMade; number++) {
        Attempt attempt = {.length = length};
        srConformReport now = *report;
        SR_TRY(attemptLength(c, number, &attempt, &now));
        report->runCount = now.runCount;
        if (now.fate != sr_conformMade) {
            // what went well before may be good enough
            bool isGood = best->mesh.cellCount > 0 && errorOf(c, best) <= SR_LARGEST_MISS;
            *report = isGood ? *report : now;
            return sr_success;
        }
        if (best->mesh.cellCount == 0 || errorOf(c, &attempt) < errorOf(c, best)) {
            *best = attempt;
            *report = now;
        }
        if (errorOf(c, best) <= COUNT_TOLERANCE) {
            return sr_success;
        }
        length = nextLength(c, &attempt);
    }
    bool isOff = best->mesh.cellCount > 0 && errorOf(c, best) > SR_LARGEST_MISS;
    report->fate = isOff ? sr_conformSize : report->fate;
    return sr_success;
}

// A point of the skin belongs to a cell at the corner of the cage that its edges were drawn to. What lies
// nearest may be across a gap: the thinned skin is not where the skin was.
static int32_t homeOf(const Conforming* c, const Attempt* best, const int32_t* cellsAt, int32_t point) {
    int32_t place = c->solid.places[point];
    place = c->heirs != NULL ? c->heirs[place] : place;
    int32_t node = place != SR_NULL_INDEX ? best->heirs[place] : SR_NULL_INDEX;
    return node != SR_NULL_INDEX ? cellsAt[node] : SR_NULL_INDEX;
}

static bool doShareNode(const srCage* cage, int32_t a, int32_t b) {
    for (int i = 0; i < 16; i++) {
        if (cage->cells[a][i / 4] == cage->cells[b][i % 4]) {
            return true;
        }
    }
    return false;
}

// Where place alone tells a cell beside the one that a way from home leads to, it tells right, and sooner.
static srResult dropNeedlessHomes(const Conforming* c, srMesh* mesh) {
    srEmbedding embedding = {0};
    srAdjacency adjacency = {0};
    srProgress end = srPartOfProgress(&c->whole, 1.0, 1.0);
    srResult result = sr_success;
    SR_TRY_CLEANUP(srCreateEmbeddingWithProgress(&mesh->cage, c->surface->points, NULL, mesh->pointCount,
                                                 &end, &embedding));
    SR_TRY_CLEANUP(srCreateAdjacency(&mesh->cage, &adjacency));
    for (int32_t p = 0; p < mesh->pointCount; p++) {
        int32_t home = mesh->pointCells[p], found = embedding.cells[p];
        double weights[4];
        if (home == SR_NULL_INDEX || found == SR_NULL_INDEX) {
            continue;
        }
        int32_t reached = srWalkToPoint(&adjacency, home, c->surface->points[p], weights);
        mesh->pointCells[p] = doShareNode(&mesh->cage, reached, found) ? SR_NULL_INDEX : home;
    }

cleanup:
    srDestroyAdjacency(&adjacency);
    srDestroyEmbedding(&embedding);
    return result;
}

// Only of the artist's own surface: a contour's points are not the skin's.
static srResult findHomes(Conforming* c, const Attempt* best, const int32_t* newCells, srMesh* mesh) {
    const srTetgenMesh* made = &best->mesh;
    int32_t* cellsAt = SR_PUSH(c->arena, int32_t, made->nodeCount, "cells at nodes");
    mesh->pointCount = c->surface->pointCount;
    mesh->pointCells = SR_ALLOC(int32_t, mesh->pointCount);
    if (cellsAt == NULL || mesh->pointCells == NULL) {
        return srFailOutOfMemory("the cells of points");
    }
    memset(cellsAt, 0xff, (size_t)made->nodeCount * sizeof(int32_t)); // null
    for (int32_t corner = 4 * made->cellCount - 1; corner >= 0; corner--) {
        int32_t cell = newCells[corner / 4], *at = &cellsAt[made->cells[corner / 4][corner % 4]];
        *at = cell != SR_NULL_INDEX ? cell : *at;
    }
    for (int32_t p = 0; p < mesh->pointCount; p++) {
        mesh->pointCells[p] = homeOf(c, best, cellsAt, p);
    }
    return dropNeedlessHomes(c, mesh);
}

// A contour may be larger than the skin; where that overlaps itself, its own volume counts twice. What
// sheets are given, only the contour knows.
static double findInside(const Conforming* c, const srConformReport* report) {
    if (report->skin == sr_skinTaken) {
        return c->solid.volume;
    }
    return c->solid.sheets.triangleCount > 0 ? report->volume : fmin(c->solid.volume, report->volume);
}

static srResult finish(Conforming* c, const Attempt* best, srMesh* mesh, srConformReport* report) {
    double largest;
    int32_t* newCells = SR_PUSH(c->arena, int32_t, best->mesh.cellCount, "new cells");
    if (newCells == NULL) {
        return srFailOutOfMemory("the cage");
    }
    SR_TRY(srRelaxNodes(best->mesh.nodes, best->mesh.nodeCount, (const int32_t (*)[4])best->mesh.cells,
                        best->mesh.cellCount, RELAXED_DIHEDRAL, c->arena));
    SR_TRY(srCreateCageMapped(best->mesh.nodes, best->mesh.nodeCount, (const int32_t (*)[4])best->mesh.cells,
                              best->mesh.cellCount, newCells, &mesh->cage));
    if (report->skin == sr_skinTaken) {
        SR_TRY(findHomes(c, best, newCells, mesh));
    }
    srMeasureCells(&mesh->cage, &report->minDihedralDegrees, &largest, &report->volume);
    report->insideVolume = findInside(c, report);
    report->edgeLength = best->length;
    if (report->minDihedralDegrees < LEAST_DIHEDRAL) {
        report->fate = sr_conformPoor;
        srDestroyMesh(mesh);
    }
    return sr_success;
}

static srResult conform(Conforming* c, srMesh* mesh, srConformReport* report) {
    const srSolidSettings usual = srDefaultSolidSettings();
    const srSolidSettings* wanted = c->settings->solid != NULL ? c->settings->solid : &usual;
    srProgress repairing = srPartOfProgress(&c->whole, 0.0, SOLID_SHARE);
    srResult result = srCreateSolid(c->surface, wanted, &repairing, &c->solid, &report->solid);
    if (result == sr_errorNoInside) {
        report->fate = sr_conformNoInside;
        return sr_success;
    }
    SR_TRY(result);
    Attempt best = {0};
    SR_TRY(search(c, &best, report));
    return report->fate == sr_conformMade ? finish(c, &best, mesh, report) : sr_success;
}

srResult srConformSurface(const srSurface* surface, const srConformSettings* settings, srMesh* outMesh,
                          srConformReport* outReport) {
    Conforming c = {.settings = settings, .surface = surface, .limits = settings->limits};
    c.whole = settings->progress != NULL ? *settings->progress : (srProgress){NULL, NULL, 0.0f, 1.0f};
    c.limits.seconds = c.limits.seconds > 0.0 ? c.limits.seconds : USUAL_SECONDS;
    c.limits.megabytes = c.limits.megabytes > 0.0 ? c.limits.megabytes : USUAL_MEGABYTES;
    srMesh mesh = {0};
    srConformReport report = {.fate = sr_conformMade, .tetgen = sr_tetgenMissing};
    if (settings->targetNodeCount < MIN_TARGET || settings->targetNodeCount > MAX_TARGET) {
        return srFail(sr_errorInvalidValue, "A cage of %d nodes was asked for; %d to %d can be made.",
                      settings->targetNodeCount, MIN_TARGET, MAX_TARGET);
    }
    if (c.limits.program == NULL || c.limits.program[0] == '\0') {
        report.fate = sr_conformHelper;
        *outMesh = mesh;
        *outReport = report;
        return sr_success;
    }
    c.arena = srCreateArena(SCRATCH_SIZE);
    if (c.arena == NULL) {
        return srFailOutOfMemory("the cage");
    }
    srResult result = conform(&c, &mesh, &report);
    srDestroySolid(&c.solid);
    srDestroyArena(c.arena);
    if (result != sr_success) {
        srDestroyMesh(&mesh);
        return result;
    }
    *outMesh = mesh;
    *outReport = report;
    return sr_success;
}
