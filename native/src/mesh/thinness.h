// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whether what encloses little is thin as a leaf is, in one direction, or as a rope is, in two: a leaf gets
// the thickness of sheets, a rope stays as it is. Seen place by place, so that neither its length nor its
// bends matter.

#pragma once

#include "mesh/patches.h"

/// Whether a closed patch, facing away from its inside, is a leaf on most of its area.
bool srIsLeaf(const srPatches* patches, const srPatch* patch);
