// SPDX-License-Identifier: GPL-3.0-or-later
//
// To which part of the cage a point belongs that nobody has said it of: clothes, eyes, teeth and hair belong
// where the skin nearest to them does.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

/// `outHints[i]` becomes the cell of the skin vertex nearest to point i, of several the first one;
/// `SR_NULL_INDEX` for a point that is not finite, or when no vertex has a cell. `cells`: one a vertex, or
/// `SR_NULL_INDEX`; vertices without a cell or a finite place are passed over.
SR_MUST_USE srResult srFindNearestHints(const srVec3* vertices, const int32_t* cells, int32_t vertexCount,
                                        const srVec3* points, int32_t pointCount, int32_t* outHints);
