// SPDX-License-Identifier: GPL-3.0-or-later
//
// A body-centred cubic lattice over a box: the corners of cubes and their centres. Long edges join corner to
// corner and centre to centre (length 1 in cubes), short ones join a centre to the 8 corners around it
// (sqrt(3) / 2). Index arithmetic only; no surface.

#pragma once

#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

/// Directions 0 .. 5 are long (+x -x +y -y +z -z), 6 .. 13 short (bits x = 1, y = 2, z = 4 of d - 6 mean
/// "positive").
#define SR_DIRECTION_COUNT 14
#define SR_FIRST_SHORT 6

/// Cube (i, j, k) owns two points: its low corner, index 2 c, and its centre, 2 c + 1, with c = (k ny + j) nx
/// + i.
typedef struct srLattice {
    srVec3 origin;
    double spacing; ///< Edge of a cube.
    int32_t nx, ny, nz;
    int32_t pointCount;
    int32_t neighbourSteps[2]
                          [SR_DIRECTION_COUNT]; ///< What to add to the index of a corner [0] or a centre [1].
} srLattice;

/// Cubes around a box with a margin on each side, two rings of cubes more than that, and a corner of cubes
/// in the middle of the box, so that a mirrored shape gets mirrored points. False when there would be more
/// than `maxPointCount` points.
bool srMakeLattice(srVec3 lower, srVec3 upper, double margin, double spacing, int32_t maxPointCount,
                   srLattice* outLattice);

/// More cubes on all sides, until their counts are multiples of 2 `share`; the middle stays. False when there
/// would be more than `maxPointCount` points: then nothing changes.
bool srLattice_Pad(srLattice* lattice, int32_t share, int32_t maxPointCount);

/// One cube more along an axis: the middle of the box is that of a cube there, no corner, and what is
/// mirrored stays so. Layers of corners come in even numbers then instead of odd ones. Moved along two axes
/// it would be as along the third. False when there would be more than `maxPointCount` points: then nothing
/// changes.
bool srLattice_Shift(srLattice* lattice, int axis, int32_t maxPointCount);

/// Cubes of half the size in the same box. Eight times as many points.
srLattice srLattice_Halve(const srLattice* lattice);

srVec3 srLattice_Point(const srLattice* lattice, int32_t point);

/// From a point to its neighbour.
srVec3 srLattice_Step(const srLattice* lattice, int direction);

/// The direction whose step is `offset` half cubes: (2, 0, 0) and the like, or (1, -1, 1) and the like.
int srFindDirection(const int offset[3]);

/// The way back.
static inline int srOpposite(int direction) {
    return direction < SR_FIRST_SHORT ? direction ^ 1 : SR_FIRST_SHORT + (7 ^ (direction - SR_FIRST_SHORT));
}

static inline int32_t srLattice_Neighbour(const srLattice* lattice, int32_t point, int direction) {
    return point + lattice->neighbourSteps[point & 1][direction];
}

/// Length of an edge in cubes.
static inline double srEdgeLength(int direction) {
    return direction < SR_FIRST_SHORT ? 1.0 : 0.86602540378443865;
}
