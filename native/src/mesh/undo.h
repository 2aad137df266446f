// SPDX-License-Identifier: GPL-3.0-or-later
//
// Taking collapses back: those that made triangles cross. Inner to decimate.c.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/collapse.h"

/// Room for the log of a surface of so many triangles.
SR_MUST_USE srResult srCreateCollapseLog(int32_t triangleCount, srArena* arena, srCollapseLog* outLog);

/// Forgets all steps.
void srCollapse_ClearLog(srCollapse* collapse);

/// Whether another collapse fits.
bool srCollapse_HasRoom(const srCollapse* collapse);

/// Writes down the collapse of edge a b before it is done: `around` are the triangles of a, then those of b,
/// without the two that will be gone.
void srCollapse_Remember(srCollapse* collapse, int32_t a, int32_t b, const int32_t* around, int32_t ofA,
                         int32_t ofB, const int32_t gone[2]);

/// Looks at all of the surface, takes back what made triangles cross, and makes the points there careful.
/// Pairs are left only if they crossed when the log was cleared. Returns in `outUndone` how many were taken
/// back.
SR_MUST_USE srResult srCollapse_Mend(srCollapse* collapse, srArena* arena, int32_t* outUndone);
