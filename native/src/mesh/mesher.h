// SPDX-License-Identifier: GPL-3.0-or-later
//
// From any surface to a cage: a body-centred cubic lattice fitted to the signed distance of the surface
// (isosurface stuffing, Labelle and Shewchuk 2007), on a level set a little outside of the skin, so that what
// is thinner than a cell is not lost.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/surface.h"

/// Called between stages and rows; returns false to cancel. `fraction` runs from 0 to 1. May be null.
typedef bool srProgressFcn(float fraction, void* context);

typedef struct srMesherSettings {
    int32_t targetNodeCount; ///< Met within about 15 % where the shape allows.
    srProgressFcn* progress;
    void* progressContext;
} srMesherSettings;

typedef struct srMesherReport {
    double spacing; ///< Edge of the lattice's cubes, in the surface's unit.
    double minDihedralDegrees;
    double maxDihedralDegrees;
    double volume; ///< Of all cells.
} srMesherReport;

/// `sr_errorNoInside` when nothing is enclosed at any spacing that the target allows, `sr_errorCancelled`
/// when progress said so.
SR_MUST_USE srResult srMeshSurface(const srSurface* surface, const srMesherSettings* settings,
                                   srCage* outCage, srMesherReport* outReport);
