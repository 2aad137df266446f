// SPDX-License-Identifier: GPL-3.0-or-later
//
// Patches that lie within others, and patches that touch: which hang together as pieces.

#pragma once

#include "mesh/patches.h"

/// Sets `piece` of all patches: those that share a point are one piece, or a place, if one that is there is
/// open. Closed ones of different parts only touch there.
SR_MUST_USE srResult srJoinPieces(srPatches* patches);

/// Decides for patches that are nested whether they are cavities (turned then), swallowed, or, within a
/// cavity, shells again; by the smallest patch around each that bounds flesh or a hollow. Whose cavity it is,
/// of its piece it is. Sets how many were turned.
SR_MUST_USE srResult srSettleNested(srPatches* patches, bool fillsCavities, const srProgress* progress,
                                    int32_t* outTurnedCount);

/// Counts pieces that bound flesh or are sheets, and numbers them again; others have none.
SR_MUST_USE srResult srNumberPieces(srPatches* patches);
