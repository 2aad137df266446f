// SPDX-License-Identifier: GPL-3.0-or-later
//
// The smallest surface that can be filled in two ways: an octahedron, by four cells around its axis or by
// eight around its centre.

#pragma once

#include "mesh/tetgen.h"

static const srVec3 srFuzzBallPoints[7] = {{1.0, 0.0, 0.0},  {0.0, 1.0, 0.0},  {-1.0, 0.0, 0.0},
                                           {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 0.0, 1.0},
                                           {0.0, 0.0, 0.0}};
static const int32_t srFuzzBallTriangles[8][3] = {{0, 1, 5}, {1, 2, 5}, {2, 3, 5}, {3, 0, 5},
                                                  {1, 0, 4}, {2, 1, 4}, {3, 2, 4}, {0, 3, 4}};
static const int32_t srFuzzBallAxis[4][4] = {{0, 1, 5, 4}, {1, 2, 5, 4}, {2, 3, 5, 4}, {3, 0, 5, 4}};
static const int32_t srFuzzBallCentre[8][4] = {{0, 1, 5, 6}, {1, 2, 5, 6}, {2, 3, 5, 6}, {3, 0, 5, 6},
                                               {1, 0, 4, 6}, {2, 1, 4, 6}, {3, 2, 4, 6}, {0, 3, 4, 6}};

static inline srTetgenInput srFuzzBall(void) {
    return (srTetgenInput){
        .points = srFuzzBallPoints,
        .pointCount = 6,
        .triangles = srFuzzBallTriangles,
        .triangleCount = 8,
        .radiusEdge = 1.4,
    };
}
