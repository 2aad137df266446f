// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a cage to the hold map of a character without bones (rig/hold_core.h).

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

/// Makes an array of one number a node, which the caller frees.
SR_MUST_USE srResult srCreateCoreHolds(const srCage* cage, double** outHolds);
