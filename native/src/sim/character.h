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
#include "sim/audience.h"
#include "sim/source.h"
#include "softrig/character.h"
#include "solver/xpbd.h"
#include "weights/maps.h"

/// The rest. Owns its parts; constant once it is made, but for the painted maps and what the report says of
/// them: these change while the audience stands still.
typedef struct srCharacter {
    srCharacterReport report;
    srCage cage;
    srEmbedding embedding;
    srBlend blend; ///< Of the skin: what a frame brings offsets to it with.
    srRig rig;
    srNodeWeights weights; ///< Of nodes on the rig's maps; the last map is the skin object's own.
    srVec3* boneAxes;      ///< Unit vectors in skin space, one a bone; null where it is not known.
    int32_t rootMap;       ///< Which of the maps carries the character: what "travel" is measured by.
    srXpbdRest body;
    srNodeMaps maps;
    srAudience* audience; ///< The shots of the character.
} srCharacter;

/// Makes the rest from the source, stage by stage; `job` (nullable) is told the progress and asked for
/// cancel.
SR_MUST_USE srResult srPrepareCharacter(const srSource* source, srJob* job, srCharacter* outCharacter);

/// Other painted maps (`detail` is not looked at); shots begin anew when anything differs. From any thread,
/// and nothing has changed when it fails.
SR_MUST_USE srResult srCharacter_ChangeMaps(srCharacter* character, const srCharacterMaps* maps);

/// The report as it is now, from any thread.
srCharacterReport srCharacter_CopyReport(const srCharacter* character);

/// The maps as the solver reads them.
srXpbdMaps srCharacter_GetMaps(const srCharacter* character);

/// Zeros for the vertices all of whose cell is pinned, so that they are in the pose to the bit: what makes
/// the skin smooth (mesh/blend.h) leans on nodes farther out.
void srCharacter_KeepPinned(const srCharacter* character, float* offsets);

/// Counts the nodes that obey their bone exactly, by bones or by maps, for the report.
void srCharacter_CountHeld(srCharacter* character);

/// Accepts a zeroed character.
void srDestroyCharacterRest(srCharacter* character);
