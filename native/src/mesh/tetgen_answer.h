// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the helper program around TetGen answered, looked at as if a stranger had sent it. Lives here: the
// reading and the judging. Does not: the order and the running (tetgen.h).

#pragma once

#include "core/process.h"
#include "mesh/tetgen.h"

/// `sr_success` with any fate; a mesh, in the arena, only with `sr_tetgenMade`. `sr_errorOutOfMemory` is the
/// one failure. The mesh has the surface's points first, and its triangles as outer faces. The surface must
/// be one that could be asked for: at least a triangle, indices in range.
SR_MUST_USE srResult srReadTetgenAnswer(const srTetgenInput* input, const srProcessAnswer* answer,
                                        srArena* arena, srTetgenFate* outFate, srTetgenMesh* outMesh);
