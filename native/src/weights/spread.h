// SPDX-License-Identifier: GPL-3.0-or-later
//
// The smoothest values on the nodes of a cage that agree with values on its skin: what painted weights and
// painted maps have in common. Follows the cells' connectivity alone, never nearness in space, so that
// nothing spills between parts that only touch.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"
#include "mesh/progress.h"

#include <stdint.h>

/// The factor of L + B' D B: L the cotangent Laplacian of the cage, B the embedding, D the strengths of the
/// skin's vertices.
typedef struct srSpread srSpread;

/// `isHeard` has one byte a vertex: zero says nothing. A vertex that is nowhere (four times one node) says
/// nothing either. Cage and embedding must outlive the spread. `progress` (nullable) is asked between phases,
/// over its first half.
SR_MUST_USE srResult srCreateSpread(const srCage* cage, const srEmbedding* embedding, const uint8_t* isHeard,
                                    const srProgress* progress, srSpread** outSpread);

/// Accepts null.
void srDestroySpread(srSpread* spread);

/// False for a vertex that is nowhere.
bool srIsEmbedded(const srEmbedding* embedding, int32_t vertex);

/// Adds what a heard vertex says to a column of right-hand sides, one number a node; columns begin as zeros.
void srSpread_Say(const srSpread* spread, int32_t vertex, double value, double* column);

/// Turns columns of what was said into values on the nodes, in place. A part of the cage where nobody is
/// heard gets zeros.
SR_MUST_USE srResult srSpread_Solve(srSpread* spread, double* columns, int32_t columnCount);
