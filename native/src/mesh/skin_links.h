// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the skin goes on within a tetrahedron, from edge to edge: what lies below it there is one flesh,
// however it is bent. Inner to flesh.c.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

/// The array lives in the arena that made it.
typedef struct srSkinLinks {
    srSurface surface; ///< By value; who owns its arrays must outlive the links.
    int32_t* others;   ///< The triangle across each side, 3 t + s; `SR_NULL_INDEX` where there are not two.
} srSkinLinks;

SR_MUST_USE srResult srCreateSkinLinks(const srSurface* surface, srArena* arena, const srProgress* progress,
                                       srSkinLinks* outLinks);

/// Makes one tree of those items whose triangles hang together by edges that come into the tetrahedron, each
/// of its faces moved out by `margin`. An item without a triangle has `SR_NULL_INDEX`. Where more than two
/// triangles share an edge, parts only touch. At most 127 items; thread-safe.
void srSkinLinks_Join(const srSkinLinks* links, const srVec3 corners[4], double margin,
                      const int32_t* triangles, int itemCount, int32_t* roots);
