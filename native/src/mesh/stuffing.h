// SPDX-License-Identifier: GPL-3.0-or-later
//
// The second half of isosurface stuffing: every tetrahedron of the lattice that the level set leaves
// something of becomes one to three cells.

#pragma once

#include "mesh/warp.h"

/// Cells as they fall out of the lattice, before srCreateCage. Owns its arrays.
typedef struct srRawCells {
    srVec3* nodes;
    int32_t nodeCount;
    int32_t (*cells)[4];
    int32_t cellCount;
} srRawCells;

/// Without any inside point: success, and nothing in `outCells`.
SR_MUST_USE srResult srStuff(const srWarp* warp, const srProgress* progress, srRawCells* outCells);

/// Accepts zeroed cells.
void srDestroyRawCells(srRawCells* cells);
