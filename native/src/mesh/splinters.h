// SPDX-License-Identifier: GPL-3.0-or-later
//
// Splitting leaves a crumb here and there that hangs on nothing: it would fall off the character.

#pragma once

#include "mesh/copies.h"
#include "mesh/stuffing.h"

/// Removes pieces of at most two thousandths of the volume that lie in split tetrahedra only, and nodes that
/// no cell uses. Pieces of the flesh as such, however small, have cells elsewhere. `outPieceCount` is how
/// many pieces are left.
SR_MUST_USE srResult srDropSplinters(const srCopies* copies, srArena* arena, srRawCells* cells,
                                     int32_t* outPieceCount);
