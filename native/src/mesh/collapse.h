// SPDX-License-Identifier: GPL-3.0-or-later
//
// One collapse of an edge: whether it may be, and doing it. Inner to decimate.c.

#pragma once

#include "mesh/crossings.h"
#include "mesh/hull.h"
#include "mesh/quadric.h"

#include <stdbool.h>
#include <stdint.h>

/// A surface within a pass. Everything belongs to the arena of decimate.c.
typedef struct srCollapse {
    srVec3* points;
    srQuadric* quadrics; ///< By point.
    int32_t pointCount;
    int32_t (*triangles)[3]; ///< The first corner of one that is gone is `SR_NULL_INDEX`.
    int32_t triangleCount;
    int32_t* starts; ///< The triangles around each point when the pass began: still so for one that is not
                     ///< locked.
    int32_t* around;
    uint8_t* isLocked; ///< By point: something around it has changed in this pass.
    uint32_t* keys;    ///< Of decimate.c: costs,
    int32_t* order;    ///< and edges in their order.
    int32_t* keyCounts;
    srTriangleGrid* grid; ///< Not null: new triangles must not cross any in it.
    bool isChecked;
    bool isPatient; ///< All edges are tried, not only the cheaper ones.
} srCollapse;

/// Begins a pass: fills `starts` and `around`, unlocks all.
void srCollapse_LinkPoints(srCollapse* collapse);

/// The corner `step` behind a point, in the triangle's sense.
static inline int32_t srCollapse_Neighbour(const int32_t triangle[3], int32_t point, int step) {
    int at = triangle[0] == point ? 0 : triangle[1] == point ? 1 : 2;
    return triangle[(at + step) % 3];
}

/// Draws edge a b together to where the error is least, unless something forbids it; then a is what is left.
bool srCollapse_Try(srCollapse* collapse, int32_t a, int32_t b);
