// SPDX-License-Identifier: GPL-3.0-or-later
//
// One collapse of an edge: whether it may be, and doing it. Inner to decimate.c.

#pragma once

#include "mesh/crossings.h"
#include "mesh/hull.h"
#include "mesh/quadric.h"

#include <stdbool.h>
#include <stdint.h>

/// Most points around an end of an edge: with more it is left alone.
#define SR_MOST_AROUND 48

/// One collapse, as it must be known to take it back.
typedef struct srCollapseStep {
    int32_t a, b;                 ///< What is left of the edge, and what is gone.
    srVec3 place;                 ///< Where a was,
    srQuadric before;             ///< and what it stood for.
    int32_t firstTouch, ofA, ofB; ///< Its triangles in the log: those of a, those of b, and the two gone.
} srCollapseStep;

/// All collapses since the surface was looked at for the last time. Each triangle knows the last one that
/// changed it, and each of these the one before: so they can be taken back in any order that time allows.
typedef struct srCollapseLog {
    srCollapseStep* steps;
    int32_t stepCount, stepCapacity;
    int32_t (*touches)[2]; ///< A triangle, and the step that changed it before, or `SR_NULL_INDEX`.
    int32_t touchCount, touchCapacity;
    int32_t* lastSteps; ///< By triangle.
} srCollapseLog;

/// A surface that is being thinned. Everything belongs to the arena of decimate.c.
typedef struct srCollapse {
    srVec3* points;
    srQuadric* quadrics; ///< By point.
    int32_t pointCount;
    int32_t (*triangles)[3]; ///< The first corner of one that is gone is ~ what it was.
    int32_t triangleCount;
    int32_t aliveCount; ///< Of the triangles, those that are not gone.
    int32_t* starts;    ///< The triangles around each point when the pass began: still so for one that is not
                        ///< locked, but for those that are gone.
    int32_t* around;
    uint8_t* isLocked;  ///< By point: it was an end of an edge that has collapsed in this pass.
    uint8_t* isCareful; ///< By point: triangles have crossed there.
    uint32_t* keys;     ///< Of decimate.c: costs,
    int32_t* order;     ///< and edges in their order.
    int32_t* keyCounts;
    srTriangleGrid* grid; ///< Of the places where points are careful: null when none are.
    srCollapseLog log;
    bool isPatient; ///< All edges are tried, not only the cheaper ones.
    int32_t* heirs; ///< By point of the first surface: where it has come to, or `SR_NULL_INDEX`.
    int32_t heirCount;
} srCollapse;

static inline bool srCollapse_IsThere(const srCollapse* collapse, int32_t triangle) {
    return collapse->triangles[triangle][0] >= 0;
}

/// Begins a pass: fills `starts` and `around`, unlocks all.
void srCollapse_LinkPoints(srCollapse* collapse);

/// The corner `step` behind a point, in the triangle's sense.
static inline int32_t srCollapse_Neighbour(const int32_t triangle[3], int32_t point, int step) {
    int at = triangle[0] == point ? 0 : triangle[1] == point ? 1 : 2;
    return triangle[(at + step) % 3];
}

/// Draws edge a b together to where the error is least, unless something forbids it; then a is what is left.
bool srCollapse_Try(srCollapse* collapse, int32_t a, int32_t b);
