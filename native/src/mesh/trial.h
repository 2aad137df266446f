// SPDX-License-Identifier: GPL-3.0-or-later
//
// One meshing at a given spacing: sample, scaffold, cut, warp, stuff; and then split, stuff again, mend. The
// surface's solid, which all of them share, is made once. Does not: the choice of the spacing (search.h).
// Inner to the mesher.

#pragma once

#include "core/arena.h"
#include "mesh/contacts.h"
#include "mesh/copies.h"
#include "mesh/mesher.h"
#include "mesh/progress.h"
#include "mesh/stuffing.h"

/// How much larger than the inside a cage shall be at most; where parts would come off otherwise it may be by
/// SR_LIMIT_OF_GROWTH.
#define SR_LARGEST_GROWTH 1.2

#define SR_NOT_SHIFTED (-1)

/// Of the whole progress: until the solid is there.
#define SR_SOLID_SHARE 0.15

/// What all trials of a surface share. Surface and settings must outlive it.
typedef struct srMeshing {
    const srSurface* surface;
    const srMesherSettings* settings;
    srSolid solid;
    srSolidReport repaired;
    srContacts contacts;
    double* pieceSizes;  ///< Of the solid's pieces.
    double measured;     ///< Volume of the inside where skins may overlap, ...
    double measuredAt;   ///< ... and the spacing at which it was measured; 0: not measured.
    srVec3 lower, upper; ///< Of the solid.
    srProgress progress; ///< Of all that is done with it.
} srMeshing;

/// One spacing tried. Everything lives in its arena.
typedef struct srTrial {
    srArena* arena;
    const uint8_t* torn; ///< Nullable. By point of the scaffold before the split: where the last cage of this
                         ///< spacing was torn. There flesh counts as thin, and as one where its skin goes on.
    srScaffold scaffold; ///< Before the split.
    srFlesh flesh;
    srCopies copies;
    srRawCells cells;
    double spacing;
    int shiftedAxis; ///< Along which the lattice is shifted; `SR_NOT_SHIFTED`: nowhere.
    int offsetStep;  ///< Of the offset where flesh is thick; below zero: not chosen yet.
    int32_t latticePointCount;
    int32_t insideCount; ///< Points of the scaffold inside.
    double insideVolume;
    int32_t removedCount;
    int32_t pieceCount;
    double growth; ///< Of the count by copies.
    bool isWhole;  ///< With copies.
} srTrial;

/// The solid, its bounds, and what touches. `meshing` has its surface, settings and progress.
SR_MUST_USE srResult srCreateMeshing(srMeshing* meshing);

/// Accepts a zeroed meshing, and one that was made by half.
void srDestroyMeshing(srMeshing* meshing);

/// A trial of this spacing, or of the finest that memory is worth. Shifted, it has cells of one size.
srTrial srStartTrial(double spacing, int shiftedAxis);

/// Cells without copies.
SR_MUST_USE srResult srTrial_Run(const srMeshing* meshing, const srProgress* progress, srTrial* trial);

/// Cells with copies, from those without. It costs more than all the rest.
SR_MUST_USE srResult srTrial_Split(const srMeshing* meshing, const srProgress* progress, srTrial* trial);

/// The cage of a trial's cells, and the cells of the surface's points.
SR_MUST_USE srResult srTrial_MakeMesh(const srMeshing* meshing, const srTrial* trial,
                                      const srProgress* progress, srMesh* outMesh);

/// About how much was looked at, in samples: the same on every machine.
double srTrial_Work(const srTrial* trial);

/// Of its cells.
double srTrial_Volume(const srTrial* trial);

/// What the cage may not fall short of.
double srTrial_LeastVolume(const srMeshing* meshing, const srTrial* trial);

/// Accepts a zeroed trial.
void srDestroyTrial(srTrial* trial);
