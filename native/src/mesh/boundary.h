// SPDX-License-Identifier: GPL-3.0-or-later
//
// The skin of a cage: the faces that belong to one cell only.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

/// Owns its arrays.
typedef struct srBoundary {
    int32_t (*faces)[3]; ///< Seen from outside counter-clockwise. In ascending order of cells.
    int32_t* cells;      ///< To which cell each belongs.
    int32_t faceCount;
} srBoundary;

/// `sr_errorBadMesh` when there is none, because every cell is there twice.
SR_MUST_USE srResult srCreateBoundary(const srCage* cage, srBoundary* outBoundary);

/// Accepts a zeroed boundary.
void srDestroyBoundary(srBoundary* boundary);
