// SPDX-License-Identifier: GPL-3.0-or-later
//
// The second half of isosurface stuffing: every tetrahedron of the scaffold that the level set leaves
// something of becomes one to three cells.

#pragma once

#include "mesh/warp.h"

/// Cells as they fall out of the scaffold, before srCreateCage. Arrays live in the arena that made them.
typedef struct srRawCells {
    srVec3* nodes;
    int32_t nodeCount;
    int32_t (*cells)[4];
    int32_t* tets; ///< The tetrahedron of the scaffold that each was cut from; ascending.
    int32_t cellCount;
} srRawCells;

/// Without any inside point: success, and no cells.
SR_MUST_USE srResult srStuff(const srWarp* warp, srArena* arena, const srProgress* progress,
                             srRawCells* outCells);
