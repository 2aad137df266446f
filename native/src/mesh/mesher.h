// SPDX-License-Identifier: GPL-3.0-or-later
//
// From any surface to a cage: tetrahedra of a body-centred cubic lattice fitted to the signed distance of the
// surface (isosurface stuffing, Labelle and Shewchuk 2007), with copies of them where parts of the flesh only
// touch (virtual nodes, Molino et al. 2004), and a little outside of the skin where it is thin, so that
// nothing is lost.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/solid.h"

/// How far off the wanted one a count may be, and how much larger than the inside a cage: beyond, it is told.
#define SR_LARGEST_MISS 0.15
#define SR_LIMIT_OF_GROWTH 1.3

/// Zero is the default of everything but the target.
typedef struct srMesherSettings {
    int32_t targetNodeCount; ///< Met within about 15 % where the shape allows.
    srProgressFcn* progress;
    void* progressContext;
    const float* detail;          ///< One number a point of the surface: from 0.5 on cells have half the
                                  ///< size there. Null: nowhere.
    const srSolidSettings* solid; ///< What is flesh; null is srDefaultSolidSettings().
    bool gluesContacts; ///< Leaves parts that touch, lie close or overlap a little joined: no copies.
} srMesherSettings;

typedef struct srMesherReport {
    double spacing; ///< Edge of the lattice's cubes near the skin, in the surface's unit.
    double minDihedralDegrees;
    double maxDihedralDegrees;
    int32_t dihedralCounts[18]; ///< Angles from 0 to 10 degrees, from 10 to 20, and so on.
    int32_t aspectCounts[10];   ///< Three times inner by outer radius: from 0 to 0.1 and so on; 1 is regular.
    double volume;              ///< Of all cells.
    double insideVolume;        ///< Of what the field calls inside, to a few per cent.
    int32_t pieceCount;         ///< Pieces that the cage falls into.
    int32_t splitTetCount;      ///< Tetrahedra of the lattice that hold more than one part of the flesh.
    int32_t copyCount;          ///< Copies made of them, the first not counted.
    int32_t removedCellCount;   ///< Cells left out because the skin pinched itself there.
    int32_t trialCount;         ///< Spacings tried.
    int32_t latticePointCount;  ///< Of the largest lattice that was sampled.
    int32_t leastNodeCount;     ///< Where the count is off the wanted one by more than 15 %, or the cage is
                                ///< larger than the inside by more than 0.3: from how many nodes on it is
                                ///< neither, of the cages that were tried; the most where none was. Else 0.
    srSolidReport solid;        ///< What was repaired.
} srMesherReport;

/// Owns its arrays.
typedef struct srMesh {
    srCage cage;
    int32_t*
        pointCells; ///< For each point of the surface a cell of the part of the flesh that it belongs to;
                    ///< `SR_NULL_INDEX` where that is not known. Copies overlap: place alone does not tell.
    int32_t pointCount;
} srMesh;

/// `sr_errorNoInside` when nothing is enclosed at any spacing that the target allows, `sr_errorCancelled`
/// when progress said so.
SR_MUST_USE srResult srMeshSurface(const srSurface* surface, const srMesherSettings* settings,
                                   srMesh* outMesh, srMesherReport* outReport);

/// Accepts a zeroed mesh.
void srDestroyMesh(srMesh* mesh);
