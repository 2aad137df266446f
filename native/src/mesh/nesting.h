// SPDX-License-Identifier: GPL-3.0-or-later
//
// Patches that lie within others, and patches that touch: which hang together as pieces.

#pragma once

#include "mesh/patches.h"

/// Sets `piece` of all patches: those that share a point are one piece.
SR_MUST_USE srResult srJoinPieces(srPatches* patches);

/// Decides for patches that are nested whether they are cavities (turned then) or swallowed, and joins each
/// to the piece of the largest patch around it. Sets how many were turned.
SR_MUST_USE srResult srSettleNested(srPatches* patches, bool fillsCavities, const srProgress* progress,
                                    int32_t* outTurnedCount);
