// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the skin goes on and the cage does not: edges of the skin whose two ends are in cells that hang
// together far off only, or not at all. Whatever the cage is for jumps there. Does not: mend (mending.h).

#pragma once

#include "core/arena.h"
#include "mesh/cage.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

typedef struct srTearsInput {
    const srSurface* surface;
    const int8_t* turns; ///< By triangle: 0 for one that bounds no flesh (contacts.h), which tells nothing.
    const srCage* cage;
    const int32_t* cells; ///< By point of the surface: the cell that it is in, or `SR_NULL_INDEX`.
    double spacing;       ///< About how large cells are.
} srTearsInput;

/// Edges, each once, in an order that follows from the input alone; some of one triangle alone are not looked
/// at. The array lives in the arena.
typedef struct srTears {
    int32_t (*edges)[2];
    int32_t count;
} srTears;

SR_MUST_USE srResult srFindTears(const srTearsInput* input, srArena* arena, const srProgress* progress,
                                 srTears* outTears);
