// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names what a row is simulated from: rows of equal hash are the same bits, whenever and wherever they were
// simulated by this version of the library.

#pragma once

#include "core/error.h"
#include "sim/stepper.h"

/// Of all that every row depends on: the character with its painted maps, dials, frame rate; of a loop the
/// whole motion too. The maps must not change meanwhile.
SR_MUST_USE srResult srHashShotSource(const srShotSource* source, uint64_t* outHash);

/// Continues the hash of the row before (of row 0: the one above) by a recorded row's motion and controls.
uint64_t srHashSourceRow(uint64_t hash, const srShotSource* source, int32_t row);
