// SPDX-License-Identifier: GPL-3.0-or-later
//
// Splitting leaves a chip here and there that hangs on nothing: it would fall off the character. And what is
// smaller than a cell and hangs on nothing, a button or an eyelash, is better off following the cell beside
// it than as cells that take more nodes than it has corners.

#pragma once

#include "mesh/copies.h"
#include "mesh/solid.h"
#include "mesh/stuffing.h"

/// How small pieces of the skin are.
typedef struct srCrumbs {
    const srSolid* solid;
    const double* pieceSizes; ///< Diagonals of the bounds of its pieces, from srMeasurePieces.
    double size;              ///< What is smaller may be left out.
} srCrumbs;

SR_MUST_USE srResult srMeasurePieces(const srSolid* solid, double* outSizes);

/// Removes pieces in split tetrahedra only of at most two thousandths of the volume; of those of at most
/// three hundredths of the largest one what lies around crumbs of the skin, and where tetrahedra are split,
/// or there is but one of the lattice's points, chips: most of the skin's piece that they lie along is
/// elsewhere; and nodes that no cell uses. `outPieceCount` is how many pieces are left: the largest always
/// is. `crumbs` may be null.
SR_MUST_USE srResult srDropSplinters(const srCopies* copies, const srCrumbs* crumbs, srArena* arena,
                                     srRawCells* cells, int32_t* outPieceCount);
