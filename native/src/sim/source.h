// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a character is prepared from: the library's own copy of a `srCharacterDef`, so that the caller's
// arrays may go while a thread prepares. Already checked by the api room.

#pragma once

#include "core/error.h"
#include "softrig/character.h"

/// `def` with every array pointer replaced by our own copy, or null where it was null.
typedef struct srSource {
    srCharacterDef def;
} srSource;

SR_MUST_USE srResult srCopySource(const srCharacterDef* def, srSource* outSource);

/// Accepts a zeroed source.
void srDestroySource(srSource* source);
