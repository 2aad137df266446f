// SPDX-License-Identifier: GPL-3.0-or-later
//
// Who is next to whom in a cage: cells across faces and cells around nodes. It follows the numbers of nodes
// alone, never places: copies of a cell that overlap are strangers.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/frame.h"

/// Owns its arrays.
typedef struct srAdjacency {
    srFrame* frames;          ///< One a cell.
    int32_t (*neighbours)[4]; ///< The cell across the face opposite to each corner; `SR_NULL_INDEX`: outside.
    int32_t* cellStarts;      ///< nodeCount + 1: the cells around node i, ascending, are
    int32_t* cells;           ///< `cells[cellStarts[i]] .. cells[cellStarts[i + 1] - 1]`.
    int32_t nodeCount;
    int32_t cellCount;
} srAdjacency;

/// Where more than two cells share a face the first two are neighbours, the others end there.
/// `sr_errorTooLarge` for more cells than indices can count.
SR_MUST_USE srResult srCreateAdjacency(const srCage* cage, srAdjacency* outAdjacency);

/// Accepts a zeroed one.
void srDestroyAdjacency(srAdjacency* adjacency);

/// Goes straight from `cell` to the point, across faces, and stops in the cell that holds it or where the
/// cage ends; `outWeights` are the point's in that cell. Thread-safe.
int32_t srWalkToPoint(const srAdjacency* adjacency, int32_t cell, srVec3 point, double outWeights[4]);
