// SPDX-License-Identifier: GPL-3.0-or-later
//
// The repair as a list of stages.

#include "mesh/solid.h"

#include "core/alloc.h"
#include "mesh/holes.h"
#include "mesh/patches.h"
#include "mesh/roles.h"

#include <string.h>

srSolidSettings srDefaultSolidSettings(void) {
    return (srSolidSettings){.largestHole = 0.2, .sheetThickness = 0.01};
}

static srResult checkSettings(const srSolidSettings* settings) {
    if (!(settings->largestHole >= 0.0) || !(settings->sheetThickness >= 0.0) ||
        !(settings->sheetThickness <= 1.0)) {
        return srFail(
            sr_errorInvalidValue,
            "Holes up to %g and sheets %g thick, in sizes of the mesh, were asked for; both must be "
            "positive or zero, and the thickness at most 1.",
            settings->largestHole, settings->sheetThickness);
    }
    return sr_success;
}

static void countRoles(const srPatches* patches, srSolidReport* report) {
    report->weldedPointCount = patches->weldedCount;
    report->duplicateCount = patches->duplicateCount;
    report->flippedTriangleCount = patches->flippedTriangleCount;
    report->oneSidedEdgeCount = patches->oneSidedEdgeCount;
    report->patchCount = patches->patchCount;
    report->pieceCount = patches->pieceCount;
    report->isWatertight = true;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        report->turnedPatchCount += patch->isTurned;
        report->cavityCount += patch->role == sr_roleCavity;
        report->swallowedCount += patch->role == sr_roleSwallowed;
        report->sheetCount += patch->role == sr_roleSheet;
        report->thinCount += patch->isThin;
        report->isWatertight &= !srBoundsFlesh(patch) || patch->openCount == 0;
    }
}

static void measureVolume(const srPatches* patches, srSolid* solid) {
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        bool isBounding = srBoundsFlesh(patch);
        solid->volume += isBounding ? patch->volume : 0.0;
        solid->area += isBounding ? patch->area : patch->role == sr_roleSheet ? 2.0 * patch->area : 0.0;
    }
    solid->volume = solid->volume > 0.0 ? solid->volume : 0.0;
}

static void measureBounds(srSurface* surface, double size) {
    surface->size = size;
    if (surface->triangleCount == 0) {
        return;
    }
    surface->lower = surface->points[surface->triangles[0][0]];
    surface->upper = surface->lower;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        for (int c = 0; c < 3; c++) {
            srVec3 p = surface->points[surface->triangles[t][c]];
            surface->lower = srMin(surface->lower, p);
            surface->upper = srMax(surface->upper, p);
        }
    }
}

static double largestCoordinate(const srSurface* surface) {
    srVec3 l = surface->lower, u = surface->upper;
    double low = fmax(fabs(l.x), fmax(fabs(l.y), fabs(l.z)));
    return fmax(low, fmax(fabs(u.x), fmax(fabs(u.y), fabs(u.z))));
}

static bool isRim(const srPatch* patch, const srBorderEdge* edge) {
    return srBoundsFlesh(patch) && !edge->isClosed;
}

static srResult takeRims(const srPatches* patches, srSolid* solid) {
    int32_t count = 0, kept = 0;
    for (int32_t p = 0; p < patches->patchCount; p++) {
        count += srBoundsFlesh(&patches->patches[p]) ? patches->patches[p].openCount : 0;
    }
    if (count == 0) {
        return sr_success;
    }
    solid->rims = SR_ALLOC(srRim, count);
    solid->rimCount = count;
    if (solid->rims == NULL) {
        return srFailOutOfMemory("the rims of the surface");
    }
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        for (int32_t e = patch->firstBorder; e < patch->firstBorder + patch->borderCount; e++) {
            const srBorderEdge* edge = &patches->borders[e];
            if (isRim(patch, edge)) {
                solid->rims[kept++] = (srRim){patches->points[edge->from], patches->points[edge->to]};
            }
        }
    }
    SR_ASSERT(kept == count);
    return sr_success;
}

// Patches to pieces, in place
static void namePieces(const srPatches* patches, int32_t* patchOf, int32_t count) {
    for (int32_t t = 0; t < count; t++) {
        patchOf[t] = patches->patches[patchOf[t]].piece;
    }
}

// A triangle's corners as they were given, or turned round.
static bool isAsGiven(const srPatches* patches, const srSurface* surface, int32_t triangle) {
    const int32_t* given = surface->triangles[patches->sources[triangle]];
    return patches->triangles[triangle][1] == patches->places[given[1]];
}

static srResult nameTriangles(const srPatches* patches, const srSurface* surface, srSolid* solid) {
    solid->surfaceTriangleCount = surface->triangleCount;
    solid->trianglePieces = SR_ALLOC(int32_t, surface->triangleCount);
    solid->turns = SR_ALLOC_ZERO(int8_t, surface->triangleCount);
    if (solid->trianglePieces == NULL || solid->turns == NULL) {
        return srFailOutOfMemory("the repaired surface");
    }
    memset(solid->trianglePieces, 0xff, (size_t)surface->triangleCount * sizeof(int32_t)); // null
    for (int32_t p = 0; p < patches->patchCount; p++) {
        const srPatch* patch = &patches->patches[p];
        bool isBounding = srBoundsFlesh(patch);
        bool isKept = isBounding || (srIsThickened(patch) && solid->halfThickness > 0.0);
        for (int32_t t = patch->firstTriangle; t < patch->firstTriangle + patch->triangleCount && isKept;
             t++) {
            solid->trianglePieces[patches->sources[t]] = patch->piece;
            solid->turns[patches->sources[t]] = !isBounding ? 0 : isAsGiven(patches, surface, t) ? 1 : -1;
        }
    }
    return sr_success;
}

// Triangles to keep, with the points of the patches, which become the solid's.
static srResult takeTriangles(srPatches* patches, const srSurface* surface, srSolid* solid) {
    SR_TRY(takeRims(patches, solid));
    SR_TRY(nameTriangles(patches, surface, solid));
    SR_TRY(srCollectTriangles(patches, srBoundsFlesh, &solid->shells, &solid->shellPieces));
    solid->shells.points = NULL; // still the patches'
    if (solid->halfThickness > 0.0) {
        SR_TRY(srCollectTriangles(patches, srIsThickened, &solid->sheets, &solid->sheetPieces));
    }
    namePieces(patches, solid->shellPieces, solid->shells.triangleCount);
    namePieces(patches, solid->sheetPieces, solid->sheets.triangleCount);
    solid->shells.points = patches->points;
    solid->shells.pointCount = patches->pointCount;
    solid->sheets.points = patches->points;
    solid->sheets.pointCount = patches->pointCount;
    solid->pointCapacity = patches->pointCapacity;
    solid->pieceCount = patches->pieceCount;
    patches->points = NULL;
    solid->places = patches->places;
    solid->surfacePointCount = patches->surfacePointCount;
    patches->places = NULL;
    measureBounds(&solid->shells, patches->size);
    measureBounds(&solid->sheets, patches->size);
    return sr_success;
}

static srResult failWithoutInside(const srSolidReport* report) {
    return srFail(
        sr_errorNoInside,
        "The mesh encloses nothing: its %d part%s flat or open sheets, and sheets get no thickness. "
        "Close the mesh, or give sheets a thickness.",
        report->patchCount, report->patchCount == 1 ? " is" : "s are");
}

srResult srCreateSolid(const srSurface* surface, const srSolidSettings* settings, const srProgress* progress,
                       srSolid* outSolid, srSolidReport* outReport) {
    SR_TRY(checkSettings(settings));
    srResult result = sr_success;
    srPatches patches = {0};
    srSolid solid = {0};
    srSolidReport report = {0};
    srProgress sorting = srPartOfProgress(progress, 0.0, 0.4), holes = srPartOfProgress(progress, 0.4, 0.45);
    srProgress roles = srPartOfProgress(progress, 0.45, 0.95), sheets = srPartOfProgress(progress, 0.95, 1.0);
    double thickness = settings->sheetThickness * surface->size;
    if (thickness > SR_LEAST_THICKNESS * largestCoordinate(surface)) {
        solid.halfThickness = 0.5 * thickness;
    }

    // what belongs together, and what is flesh
    SR_TRY_CLEANUP(srCreatePatches(surface, &sorting, &patches));
    SR_TRY_CLEANUP(srCloseHoles(&patches, settings->largestHole * surface->size, &holes,
                                &report.closedHoleCount, &report.openRimCount));
    srRoleSettings roleSettings = {2.0 * solid.halfThickness, settings->fillsCavities};
    SR_TRY_CLEANUP(srAssignRoles(&patches, &roleSettings, &roles, &solid.shellTree));
    countRoles(&patches, &report);
    measureVolume(&patches, &solid);

    // keep that
    SR_TRY_CLEANUP(takeTriangles(&patches, surface, &solid));
    solid.isWatertight = report.isWatertight;
    report.thickenedTriangleCount = solid.sheets.triangleCount;
    if (solid.shells.triangleCount == 0 && solid.sheets.triangleCount == 0) {
        result = failWithoutInside(&report);
        goto cleanup;
    }
    if (solid.sheets.triangleCount > 0) {
        SR_TRY_CLEANUP(srCreateBvhWithProgress(&solid.sheets, &sheets, &solid.sheetTree));
    }
    *outSolid = solid;
    if (outReport != NULL) {
        *outReport = report;
    }

cleanup:
    srDestroyPatches(&patches);
    if (result != sr_success) {
        srDestroySolid(&solid);
    }
    return result;
}

void srDestroySolid(srSolid* solid) {
    int32_t shellCount = solid->shells.triangleCount, sheetCount = solid->sheets.triangleCount;
    SR_FREE(solid->shells.points, solid->pointCapacity);
    SR_FREE(solid->places, solid->surfacePointCount);
    SR_FREE(solid->trianglePieces, solid->surfaceTriangleCount);
    SR_FREE(solid->turns, solid->surfaceTriangleCount);
    srFree(solid->shells.triangles, (size_t)shellCount, sizeof(solid->shells.triangles[0]));
    srFree(solid->sheets.triangles, (size_t)sheetCount, sizeof(solid->sheets.triangles[0]));
    SR_FREE(solid->shellPieces, shellCount);
    SR_FREE(solid->sheetPieces, sheetCount);
    SR_FREE(solid->rims, solid->rimCount);
    srDestroyBvh(solid->shellTree);
    srDestroyBvh(solid->sheetTree);
    *solid = (srSolid){0};
}

// one piece

static srResult takeSurface(const srSurface* all, const int32_t* pieces, int32_t piece, srSurface* out,
                            int32_t** outPieces) {
    int32_t count = 0, kept = 0;
    for (int32_t t = 0; t < all->triangleCount; t++) {
        count += pieces[t] == piece;
    }
    if (count == 0) {
        return sr_success;
    }
    out->triangles = srAlloc((size_t)count, sizeof(out->triangles[0]));
    *outPieces = SR_ALLOC_ZERO(int32_t, count);
    out->triangleCount = count;
    if (out->triangles == NULL || *outPieces == NULL) {
        return srFailOutOfMemory("a piece of the surface");
    }
    for (int32_t t = 0; t < all->triangleCount; t++) {
        if (pieces[t] == piece) {
            memcpy(out->triangles[kept++], all->triangles[t], sizeof(out->triangles[0]));
        }
    }
    return sr_success;
}

// Volume of shells from the middle of their bounds, and the area of all.
static void measurePiece(srSolid* solid) {
    const srSurface* surfaces[2] = {&solid->shells, &solid->sheets};
    srVec3 middle = srScale(0.5, srAdd(solid->shells.lower, solid->shells.upper));
    for (int s = 0; s < 2; s++) {
        for (int32_t t = 0; t < surfaces[s]->triangleCount; t++) {
            const int32_t* c = surfaces[s]->triangles[t];
            srVec3 a = surfaces[s]->points[c[0]];
            srVec3 n = srCross(srSub(surfaces[s]->points[c[1]], a), srSub(surfaces[s]->points[c[2]], a));
            solid->area += (s == 0 ? 0.5 : 1.0) * srLength(n);
            solid->volume += s == 0 ? srDot(srSub(a, middle), n) / 6.0 : 0.0;
        }
    }
    solid->volume = solid->volume > 0.0 ? solid->volume : 0.0;
}

srResult srTakePiece(const srSolid* solid, int32_t piece, const srProgress* progress, srSolid* outSolid) {
    srResult result = sr_success;
    srSolid taken = {.pieceCount = 1,
                     .pointCapacity = solid->shells.pointCount,
                     .halfThickness = solid->halfThickness,
                     .isWatertight = solid->isWatertight};
    SR_TRY_CLEANUP(takeSurface(&solid->shells, solid->shellPieces, piece, &taken.shells, &taken.shellPieces));
    SR_TRY_CLEANUP(takeSurface(&solid->sheets, solid->sheetPieces, piece, &taken.sheets, &taken.sheetPieces));
    if (taken.shells.triangleCount == 0 && taken.sheets.triangleCount == 0) {
        result = srFail(sr_errorNoInside, "Piece %d of the mesh bounds no inside.", piece);
        goto cleanup;
    }
    taken.shells.points = SR_ALLOC(srVec3, taken.pointCapacity);
    if (taken.shells.points == NULL) {
        result = srFailOutOfMemory("a piece of the surface");
        goto cleanup;
    }
    memcpy(taken.shells.points, solid->shells.points, (size_t)taken.pointCapacity * sizeof(srVec3));
    taken.sheets.points = taken.shells.points;
    taken.shells.pointCount = taken.pointCapacity;
    taken.sheets.pointCount = taken.pointCapacity;
    measureBounds(&taken.shells, solid->shells.size);
    measureBounds(&taken.sheets, solid->sheets.size);
    measurePiece(&taken);
    if (taken.shells.triangleCount > 0) {
        SR_TRY_CLEANUP(srCreateBvhWithProgress(&taken.shells, progress, &taken.shellTree));
    }
    if (taken.sheets.triangleCount > 0) {
        SR_TRY_CLEANUP(srCreateBvhWithProgress(&taken.sheets, progress, &taken.sheetTree));
    }
    *outSolid = taken;

cleanup:
    if (result != sr_success) {
        srDestroySolid(&taken);
    }
    return result;
}
