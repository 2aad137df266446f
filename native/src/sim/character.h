// SPDX-License-Identifier: GPL-3.0-or-later
//
// A prepared character: everything about it that a step may not change. Reads as the list of what preparing
// makes.

#pragma once

#include "core/error.h"
#include "core/job.h"
#include "mesh/blend.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"
#include "rig/skinning.h"
#include "sim/source.h"
#include "softrig/character.h"
#include "solver/xpbd.h"

/// The rest. Owns its parts; constant once it is made.
typedef struct srCharacter {
    srCharacterReport report;
    srCage cage;
    srEmbedding embedding;
    srBlend blend; ///< Of the skin: what a frame brings offsets to it with.
    srRig rig;
    srNodeWeights weights; ///< Of nodes on the rig's maps; the last map is the skin object's own.
    srXpbdRest body;
} srCharacter;

/// Makes the rest from the source, stage by stage; `job` (nullable) is told the progress and asked for
/// cancel.
SR_MUST_USE srResult srPrepareCharacter(const srSource* source, srJob* job, srCharacter* outCharacter);

/// Accepts a zeroed character.
void srDestroyCharacterRest(srCharacter* character);
