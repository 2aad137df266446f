// SPDX-License-Identifier: GPL-3.0-or-later
//
// Painted maps brought from the skin to the nodes of the cage: clamped to their range, smooth inside,
// unpainted where nobody painted.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"
#include "mesh/progress.h"

#include <stdint.h>

/// In this order also in `srNodeMaps.values`.
typedef enum srMapKind {
    sr_mapStiffness, ///< A factor: 0.01 to 100, unpainted 1. Likewise:
    sr_mapMass,
    sr_mapDamping,
    sr_mapHold, ///< A share: 0 to 1, unpainted 0. Likewise:
    sr_mapPin,
    sr_mapKindCount,
} srMapKind;

/// One number a vertex or a node; null is a map that nobody painted.
typedef struct srNodeMaps {
    float* values[sr_mapKindCount];
    int32_t nodeCount;
} srNodeMaps;

/// What a map's values may be, and what stands for "nobody painted here".
typedef struct srMapRange {
    float lowest;
    float highest;
    float unpainted;
} srMapRange;

srMapRange srGetMapRange(srMapKind kind);

/// `painted` holds one pointer a kind, null or with a number a vertex; what is not finite is unpainted. A map
/// that is unpainted everywhere stays null. Factors are spread as logarithms: half and twice are equally far
/// from one. Where a vertex is pinned by exactly 1, so are the nodes that it hangs on: it cannot move.
/// `progress` may be null.
SR_MUST_USE srResult srTransferMaps(const srCage* cage, const srEmbedding* embedding,
                                    const float* const painted[sr_mapKindCount], const srProgress* progress,
                                    srNodeMaps* outMaps);

/// Accepts zeroed maps.
void srDestroyNodeMaps(srNodeMaps* maps);
