// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map: which of the flesh obeys its bone exactly (1), and which is free to swing (0). It decides
// whether anything moves at all, and that heads and limbs do not flop.

#pragma once

#include "core/error.h"
#include "math/vec3.h"
#include "rig/skinning.h"

#include <stdint.h>

/// Bones as segments in the space of the nodes.
typedef struct srBoneSegments {
    const srVec3* heads;
    const srVec3* tails;
    const int32_t* parents; ///< `SR_NULL_INDEX` for a root.
    const float* looseTips; ///< Null is 0 for all; see `srCharacterDef`.
    int32_t boneCount;
} srBoneSegments;

/// The hold of what has this share of the mass nearer to the grip than itself: smoothstep((0.4 - r) / 0.3).
double srHoldOfRank(double share);

/// Fills `outHolds` (0 to 1) and `outDistances` (to the bone that grips most; 0 where nothing does), one a
/// node.
///
/// By mass rank: for each bone its nodes (weight 5 % or more) are ordered by distance to the bone's grip; r
/// is the share of the bone's mass (mass times weight) that lies nearer; the hold is smoothstep((0.4 - r) /
/// 0.3), and a node takes the largest over its bones. An extremity holds by weight instead: smoothstep((w -
/// 0.05) / 0.35). An extremity (hand, foot, head) is a firm bone, loose tip 0, that another one carries and
/// that carries none but loose ones itself: handles that stand by themselves (points, corners of a control
/// cage) are none. One that nothing carries, a foot that follows a control, is one where others form chains
/// and the heaviest firm bone of these that carries another outweighs it. The grip is the whole bone, but of
/// a loose chain only its first part; a bone whose grip is gone holds nothing. A loose chain goes from a bone
/// without children up to the first that branches or is not loose itself.
SR_MUST_USE srResult srComputeHold(const srVec3* nodes, const double* masses, const srNodeWeights* weights,
                                   const srBoneSegments* bones, float* outHolds, float* outDistances);
