// SPDX-License-Identifier: GPL-3.0-or-later
//
// Smaller triangles on the same surface, for whoever wants points within large flat sides.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/hull.h"

/// Halves edges until none is longer than `length`, or there are more than `most` triangles: no hull then,
/// its counts are 0. The points of `hull` come first, in their order. What was closed is. Lives in the arena.
SR_MUST_USE srResult srDivideHull(const srHull* hull, double length, int32_t most, srArena* arena,
                                  srHull* outHull);
