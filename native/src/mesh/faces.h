// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which faces of tetrahedra are the same.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/roots.h"

#include <stdint.h>

/// Face f of a tetrahedron lies opposite to corner f; outward for positive volume.
extern const int srFaceCorners[4][3];

/// For each face, 4 a tetrahedron, the same face of another tetrahedron, or `SR_NULL_INDEX`. `outOpposite`
/// has room for all faces; scratch comes from the arena and goes back. Of a face in more than two tetrahedra
/// the first two are paired, and so on.
SR_MUST_USE srResult srPairFaces(const int32_t (*tets)[4], int32_t tetCount, int32_t pointCount,
                                 srArena* arena, int32_t* outOpposite);

/// Which corner a point is.
static inline int srCornerOf(const int32_t tet[4], int32_t point) {
    return tet[0] == point ? 0 : tet[1] == point ? 1 : tet[2] == point ? 2 : 3;
}
