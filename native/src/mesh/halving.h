// SPDX-License-Identifier: GPL-3.0-or-later
//
// More nodes for cells that are too few: edges are halved, and with each all cells around it. The cage stays
// what it is, in shape, volume and pieces; cells get smaller. Does not: whether it is worth it (mesher.c).

#pragma once

#include "mesh/progress.h"
#include "mesh/stuffing.h"

/// Halves edges, the longest first, until there are about as many nodes as wanted; fewer where halving any
/// more would spoil the angles. Cells that mirror each other through the middle planes of all stay so, but
/// for rounding. New arrays come from the arena; `cells` may be what it is given.
SR_MUST_USE srResult srHalveEdges(const srRawCells* cells, int32_t wantedNodes, srArena* arena,
                                  const srProgress* progress, srRawCells* outCells);
