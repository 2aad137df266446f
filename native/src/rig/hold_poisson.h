// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map as it was published with complementary dynamics (Zhang, Bang, Levin, Jacobson 2020): the
// further inside, the firmer. For comparisons; hold.h is what characters get.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

/// Fills `outHolds`, 0 to 1: m z, m the node's volume and z the solution of -Laplace z = 1 with z = 0 on the
/// boundary (linear finite elements, lumped masses), divided by the largest. A cage without a node inside
/// holds nothing. `sr_errorBadMesh` for a cell of no volume.
SR_MUST_USE srResult srComputePoissonHold(const srVec3* nodes, int32_t nodeCount, const int32_t (*cells)[4],
                                          int32_t cellCount, const bool* isOnBoundary, double* outHolds);
