// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where copies of cells lie at one place, a point of the skin belongs to one of them: which.

#pragma once

#include "mesh/copies.h"
#include "mesh/stuffing.h"

typedef struct srHomesInput {
    const srSurface* surface;
    const srContacts* contacts;
    const srScaffold* scaffold; ///< Before the split.
    const srFlesh* flesh;
    const srCopies* copies;
    const srRawCells* cells; ///< Cut from the copies.
} srHomesInput;

/// For each point of the surface the raw cell that it belongs to; `SR_NULL_INDEX` where no copies are near,
/// or where that is not known.
SR_MUST_USE srResult srFindHomes(const srHomesInput* input, srArena* arena, const srProgress* progress,
                                 int32_t* outCells);
