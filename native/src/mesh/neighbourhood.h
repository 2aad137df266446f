// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which cell holds a point, when it is known about where the point belongs: only cells that hang together
// with a given one through shared nodes nearby are looked at. So a point of one finger never lands in the
// cells of the next, even where the two overlap.

#pragma once

#include "core/error.h"
#include "mesh/adjacency.h"

/// Rings of cells around the given one that are looked at.
#define SR_HINT_RINGS 3

/// Scratch of searches, one for each worker. Owns its arrays.
typedef struct srNeighbourhood {
    const srCage* cage;
    const srAdjacency* adjacency;
    int32_t* stamps; ///< Which search saw a cell last, worker by worker.
    int32_t* queues;
    int32_t workerCount;
} srNeighbourhood;

/// `cage` and `adjacency` must outlive it.
SR_MUST_USE srResult srCreateNeighbourhood(const srCage* cage, const srAdjacency* adjacency,
                                           int32_t workerCount, srNeighbourhood* outNeighbourhood);

/// Accepts a zeroed one.
void srDestroyNeighbourhood(srNeighbourhood* neighbourhood);

/// Goes from cell `hint` straight to the finite point as far as cells lead; when that cell does not hold the
/// point, looks at the rings around it and around `hint`, nearest rings first, and of a ring takes the cell
/// where the smallest weight is largest. Rings hang together near the point: by what lies little farther from
/// it than the cell where the way ended. Answers the cell and true in `outIsInside`; or, when none holds the
/// point, the cell at the place `outFoot` of their outside that is nearest to it, and false. `search` is not
/// negative, differs from call to call, and each worker has its own number. Thread-safe for different
/// workers.
int32_t srFindCellNear(const srNeighbourhood* neighbourhood, int32_t worker, int32_t search, int32_t hint,
                       srVec3 point, bool* outIsInside, srVec3* outFoot);

/// The place of a cell that is nearest to a point. Thread-safe.
srVec3 srFindNearestOfCell(const srCage* cage, int32_t cell, srVec3 point);
