// SPDX-License-Identifier: GPL-3.0-or-later
//
// The zero of a field as a closed surface: marching tetrahedra on a body-centred cubic lattice. Always
// closed, always with one fan around each point, and never crossing itself, as each tetrahedron has its own
// triangles; corners are cut off by less than a cube, and what decimate.h makes of it gets most of that back.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/hull.h"
#include "mesh/lattice.h"
#include "mesh/progress.h"
#include "mesh/solid.h"

/// `phi` is one number a point of the lattice, below zero inside; above zero within a cube of the lattice's
/// rim. No inside: success, and no triangles.
SR_MUST_USE srResult srContourLattice(const srLattice* lattice, const double* phi, srArena* arena,
                                      srHull* outHull);

/// The surface `offset` cubes outside of a solid. Parts nearer to one another than about two offsets and a
/// cube are joined. `spacing` grows where memory wants it. Equal bits on any number of workers.
SR_MUST_USE srResult srContourSolid(const srSolid* solid, double spacing, double offset,
                                    const srProgress* progress, srArena* arena, srHull* outHull);
