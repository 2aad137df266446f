// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells of several sizes: which cubes of which size have a centre. Level 0 are the largest cubes, of which
// all have one; each level has cubes of half the size. A cube of a level lies between a corner and the centre
// of a cube one level up: its diagonal is the short edge between them. With a centre it is cut into
// tetrahedra of its own size; without, it belongs to the larger tetrahedra around that edge. Lives here: the
// marks, and the rule that neighbours differ by one level at most. Does not: tetrahedra (scaffold.h).

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/lattice.h"
#include "mesh/surface.h"

#define SR_MAX_LEVELS 3

/// Arrays live in the arena that made them.
typedef struct srGrading {
    srLattice lattice; ///< Of the smallest cubes.
    int32_t levelCount;
    int32_t counts[SR_MAX_LEVELS][3];  ///< Cubes along each axis.
    uint8_t* isCentred[SR_MAX_LEVELS]; ///< Null for level 0.
} srGrading;

/// The lattice as it is: one level.
srGrading srGradeAlike(const srLattice* lattice);

/// Levels without any mark. The counts of the lattice, whose cubes are the smallest, are multiples of
/// 2^levelCount.
SR_MUST_USE srResult srCreateGrading(const srLattice* lattice, int32_t levelCount, srArena* arena,
                                     srGrading* outGrading);

/// False outside of the lattice and beyond the last level.
bool srGrading_HasCentre(const srGrading* grading, int32_t level, const int32_t cube[3]);

/// Half the size of a level's cubes, in half cubes of the smallest size.
int32_t srGrading_GetStep(const srGrading* grading, int32_t level);

/// The point of the smallest cubes' lattice at a place in half cubes from its low corner; all three odd is a
/// centre, all three even a corner.
int32_t srGrading_PointAt(const srGrading* grading, const int32_t place[3]);

/// Centres for cubes of a level that have a corner or their centre where `phi`, one number a point of the
/// lattice, is above -depth.
void srGrading_MarkShallow(srGrading* grading, int32_t level, const double* phi, double depth);

/// Centres for cubes of a level within `reach` of triangles whose corners have on the mean at least `least`.
/// `values` is one number a point of the surface.
void srGrading_MarkSkin(srGrading* grading, int32_t level, const srSurface* surface, const float* values,
                        float least, double reach);

/// Adds what is missing between cubes of very different sizes. Call it when all is marked.
void srGrading_Close(srGrading* grading);
