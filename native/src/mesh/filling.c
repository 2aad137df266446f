// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which mesher is better was measured (docs/benchmarks.md, `bench meshers`; docs/decisions/0024).

#include "mesh/filling.h"

// What TetGen takes of the whole progress before the lattice mesher may have to begin
#define TETGEN_SHARE 0.6

typedef struct Rest {
    srProgressFcn* report;
    void* context;
    float from;
} Rest;

static bool reportRest(float fraction, void* context) {
    const Rest* rest = context;
    return rest->report(rest->from + (1.0f - rest->from) * fraction, rest->context);
}

static srResult fillByLattice(const srSurface* surface, const srFillingSettings* settings, double from,
                              srMesh* outMesh, srFillingReport* report) {
    Rest rest = {settings->lattice.progress, settings->lattice.progressContext, (float)from};
    srMesherSettings lattice = settings->lattice;
    if (lattice.progress != NULL) {
        lattice.progress = reportRest;
        lattice.progressContext = &rest;
    }
    report->route = sr_fillingLattice;
    return srMeshSurface(surface, &lattice, outMesh, &report->lattice);
}

static srResult fillByTetgen(const srSurface* surface, const srFillingSettings* settings, srMesh* outMesh,
                             srFillingReport* report) {
    srProgress whole = {settings->lattice.progress, settings->lattice.progressContext, 0.0f, 1.0f};
    srProgress part = srPartOfProgress(&whole, 0.0, TETGEN_SHARE);
    srConformSettings conform = {
        .targetNodeCount = settings->lattice.targetNodeCount,
        // only there it was measured; and what touches is one body in a contour
        .wantsOwnSurface = settings->route == sr_fillingAutomatic,
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

srResult srFillSurface(const srSurface* surface, const srFillingSettings* settings, srMesh* outMesh,
                       srFillingReport* outReport) {
    const srConformReport missing = {.fate = sr_conformHelper, .tetgen = sr_tetgenMissing};
    bool wantsLattice = settings->route == sr_fillingLattice;
    srFillingReport report = {.note = wantsLattice ? "The lattice was asked for."
                                                   : srDescribeConformFate(&missing)};
    srMesh mesh = {0};
    bool isGiven = settings->limits.program != NULL && settings->limits.program[0] != '\0';
    bool asksTetgen =
        settings->route == sr_fillingTetgen || (settings->route == sr_fillingAutomatic && isGiven);
    if (asksTetgen) {
        srResult result = fillByTetgen(surface, settings, &mesh, &report);
        // what the surface is no good for there may do here
        if (result == sr_errorCancelled || result == sr_errorOutOfMemory || result == sr_errorInvalidValue) {
            return result;
        }
        report.note = result == sr_success ? srDescribeConformFate(&report.conform)
                                           : "The surface for TetGen could not be made.";
    }
    if (mesh.cage.cellCount == 0) {
        report.isInstead = !wantsLattice;
        SR_TRY(fillByLattice(surface, settings, asksTetgen ? TETGEN_SHARE : 0.0, &mesh, &report));
    }
    *outMesh = mesh;
    *outReport = report;
    return sr_success;
}
