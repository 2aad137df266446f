// SPDX-License-Identifier: GPL-3.0-or-later
//
// A prepared character as bytes and back: docs/character-format.md. Reading trusts nothing; a character that
// was read is as sound as one that was prepared.

#pragma once

#include "core/error.h"
#include "sim/character.h"

#include <stddef.h>

size_t srGetCharacterFileSize(const srCharacter* character);

/// `bytes` has room for as many as the size says. The painted maps must not change meanwhile.
void srWriteCharacterFile(const srCharacter* character, void* bytes);

/// Copies what it needs; the bytes must not change meanwhile. Quickest at addresses that are multiples of 8.
/// `sr_errorBadFile` with a sentence for anything that was not written so.
SR_MUST_USE srResult srReadCharacterFile(const void* bytes, size_t byteCount, srCharacter* outCharacter);
