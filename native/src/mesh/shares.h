// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whose share a place of the cage is: barycentric weights, averaged over a small ball around the place, so
// that they change smoothly where the place crosses from cell to cell. Inner to blend.c.

#pragma once

#include "mesh/adjacency.h"

/// Nodes that shares may be of, before they are cut.
#define SR_SHARE_ROOM 52

typedef struct srShares {
    int32_t nodes[SR_SHARE_ROOM];
    double shares[SR_SHARE_ROOM]; ///< Positive, largest first; they sum to one.
    int32_t count;
} srShares;

/// The shares of `place`, which lies in `cell` or on its outside, averaged over a ball of `radius`: at most
/// `most` of them. Follows the cage across faces alone. Thread-safe.
void srFindShares(const srCage* cage, const srAdjacency* adjacency, int32_t cell, srVec3 place, double radius,
                  int32_t most, srShares* outShares);
