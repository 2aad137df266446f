// SPDX-License-Identifier: GPL-3.0-or-later
//
// A character that is being prepared by a thread of the library, or has been: what a character's id stands
// for.

#pragma once

#include "core/job.h"
#include "sim/character.h"

typedef struct srPreparation srPreparation;

/// Copies `def` and starts.
SR_MUST_USE srResult srStartPreparation(const srCharacterDef* def, srPreparation** outPreparation);

/// A preparation that has ended already: the character comes from stored bytes (character_file.h).
SR_MUST_USE srResult srOpenPreparation(const void* bytes, size_t byteCount, srPreparation** outPreparation);

/// Cancels; what still runs is freed by its own thread, when it has seen that. Accepts null.
void srDestroyPreparation(srPreparation* preparation);

srJob* srPreparation_GetJob(srPreparation* preparation);

/// The character; `sr_errorNotReady` or the reason of the failure while there is none.
SR_MUST_USE srResult srPreparation_GetCharacter(srPreparation* preparation, srCharacter** outCharacter);
