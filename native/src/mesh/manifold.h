// SPDX-License-Identifier: GPL-3.0-or-later
//
// Makes the skin of raw cells a surface: every edge of it in two of its faces, every node with one fan of
// them. Where cells touch at a node or an edge only, they are parted; what parting cannot mend is left out.

#pragma once

#include "mesh/stuffing.h"

/// Each face is in at most two cells on entry. `outRemovedCount` is how many cells were left out. New arrays
/// come from the arena.
SR_MUST_USE srResult srMakeManifold(srRawCells* cells, srArena* arena, const srProgress* progress,
                                    int32_t* outRemovedCount);
