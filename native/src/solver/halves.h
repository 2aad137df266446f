// SPDX-License-Identifier: GPL-3.0-or-later
//
// Neighbours in space brought together in an order, for whatever wants them in equal runs.

#pragma once

#include "math/vec3.h"

#include <stdint.h>

/// Sorts `order` (indices of `points`) so that each run of `runLength`, from the first on, holds points near
/// each other: halves of halves along the longest side. Only the last run may be shorter.
void srHalvePoints(const srVec3* points, int32_t* order, int32_t count, int32_t runLength);
