// SPDX-License-Identifier: GPL-3.0-or-later
//
// The primary motion of the cage along the tape: where the rig puts the nodes at three frames in a row, and
// what the solver wants to know of it.

#pragma once

#include "core/error.h"
#include "sim/character.h"
#include "sim/tape.h"
#include "solver/xpbd.h"

/// Owns its arrays.
typedef struct srPrimary {
    srVec3* places[3]; ///< Nodes in the world at the frame before the last, the last, and this one.
    srMat34* maps;     ///< Scratch: the rig's maps of one row.
    srVec3f* from;     ///< See `srPrimaryMotion`.
    srVec3f* to;
    srVec3f* velocityJump;
    int32_t nodeCount;
    int32_t mapCount;
    int32_t row; ///< The row of this frame; `SR_NULL_INDEX` before the first.
} srPrimary;

SR_MUST_USE srResult srCreatePrimary(const srCharacter* character, srPrimary* outPrimary);

/// Accepts a zeroed primary.
void srDestroyPrimary(srPrimary* primary);

/// The motion from row - 1 to `row` (at least 1). Cheapest when rows are asked for in order.
/// Before the first row the rig is taken to move as it does after it, so that a shot that begins in full
/// motion begins without a kick.
srPrimaryMotion srPrimary_MoveTo(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                 int32_t row, double frameSeconds);
