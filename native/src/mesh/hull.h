// SPDX-License-Identifier: GPL-3.0-or-later
//
// A closed surface on its way to a mesher: made by contour.h or taken from the artist, thinned by decimate.h,
// looked at by crossings.h, filled by tetgen.h.

#pragma once

#include "math/vec3.h"

#include <stdint.h>

/// Triangles seen from outside counter-clockwise. Arrays live in the arena that made them.
typedef struct srHull {
    srVec3* points;
    int32_t pointCount;
    int32_t (*triangles)[3];
    int32_t triangleCount;
} srHull;
