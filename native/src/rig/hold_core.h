// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map of a character without bones: its core goes with the pose, what lies near the skin and what is
// thin is free to swing.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

/// Fills `outHolds`, 0 to 1, one a node: by mass rank as hold.h does for the trunk, the deepest first. How
/// deep a node lies is z of hold_poisson.h, or, in a cage without a node inside, how near to the centre of
/// mass.
SR_MUST_USE srResult srComputeCoreHold(const srVec3* nodes, const double* masses, int32_t nodeCount,
                                       const int32_t (*cells)[4], int32_t cellCount, const bool* isOnBoundary,
                                       double* outHolds);
