// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a bone outside of the cage holds in it: a patch of nodes around the place that it is nearest to. It
// pulls on all of them, least at the rim, so that nothing rises to a tip there. Patches follow edges: what is
// near across a gap is not of them.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

#include <stdbool.h>
#include <stdint.h>

/// Owns its arrays.
typedef struct srAnchorPatches {
    const srCage* cage;
    int32_t* starts; ///< srCage_ListNeighbours
    int32_t* neighbours;
    double* volumes; ///< Of nodes.
    double* pulls;   ///< How strong they are, by node: gathered until the caller takes them.
    int32_t* seen;   ///< Which patch saw a node last.
    int32_t* queue;
    int32_t patchCount;
} srAnchorPatches;

/// `cage` must outlive them.
SR_MUST_USE srResult srCreateAnchorPatches(const srCage* cage, srAnchorPatches* outPatches);

/// Shares the strength out to the nodes that are nearer than `width` to a place of the cell of these corners
/// and hang together with it there, by how near they are and by volume. False where there is none, and
/// nothing is done.
bool srAnchorPatches_Pull(srAnchorPatches* patches, const int32_t corners[4], srVec3 place, double width,
                          double strength);

/// Accepts zeroed ones.
void srDestroyAnchorPatches(srAnchorPatches* patches);
