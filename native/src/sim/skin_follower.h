// SPDX-License-Identifier: GPL-3.0-or-later
//
// For characters that something else than bones moves: from where the deformed skin is to where that puts the
// cage's nodes, in skin space, as the tape keeps it.

#pragma once

#include "core/error.h"
#include "sim/character.h"

typedef struct srSkinFollower srSkinFollower;

/// `restPositions`: the undeformed skin that the character was prepared from, 3 floats a vertex.
SR_MUST_USE srResult srCreateSkinFollower(const srCharacter* character, const float* restPositions,
                                          srSkinFollower** outFollower);

/// Accepts null.
void srDestroySkinFollower(srSkinFollower* follower);

/// The nodes for a deformed skin, in single precision; they are the follower's, until the next call. A skin
/// at rest has its nodes at rest, to the bit.
const srVec3f* srSkinFollower_Place(srSkinFollower* follower, const float* positions);
