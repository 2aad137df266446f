// SPDX-License-Identifier: GPL-3.0-or-later
//
// From any surface to a cage by whichever mesher is wanted; and when TetGen does not answer, for whatever
// reason, by the lattice mesher (mesher.h), so that whatever has an inside gets a cage.

#pragma once

#include "mesh/conform.h"
#include "mesh/mesher.h"

typedef enum srFillingRoute {
    sr_fillingAutomatic, ///< Whichever was measured to be better: TetGen where its helper is given and the
                         ///< skin is clean and fine enough to be kept, else the lattice.
    sr_fillingLattice,
    sr_fillingTetgen,
} srFillingRoute;

typedef struct srFillingSettings {
    srFillingRoute route;
    srMesherSettings lattice; ///< Target and progress count for both.
    srTetgenLimits limits;
    const srVec3* spine; ///< As in srConformSettings.
    int32_t segmentCount;
    const float* detail;
} srFillingSettings;

typedef struct srFillingReport {
    srFillingRoute route; ///< Who made the cage; never automatic.
    const char* note;     ///< Why it was that one: a sentence, static; never null.
    bool isInstead;       ///< The lattice, where TetGen was asked for or was to be preferred.
    srMesherReport lattice;
    srConformReport conform;
} srFillingReport;

/// As srMeshSurface. Pieces of the skin that touch, or overlap a little, are filled each by itself (layers.h)
/// unless contacts are glued. `pointCells` of the mesh is null when TetGen filled a contour.
SR_MUST_USE srResult srFillSurface(const srSurface* surface, const srFillingSettings* settings,
                                   srMesh* outMesh, srFillingReport* outReport);
