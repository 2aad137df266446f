// SPDX-License-Identifier: GPL-3.0-or-later
//
// What bench_embed measures on: an egg of a skin in its cage, with motions of the cage and the angles between
// its faces.

#pragma once

#include "mesh/blend.h"
#include "mesh/mesher.h"

typedef struct Shape {
    srVec3* vertices;
    int32_t* triangles;
    int32_t (*edges)[2]; ///< The two triangles at each edge.
    int32_t vertexCount;
    int32_t triangleCount;
    int32_t edgeCount;
    srSurface surface;
    srCage cage;
    srEmbedding embedding;
    srBlend blend;
    srVec3f* vectors; ///< Offsets of the nodes.
} Shape;

srResult createShape(Shape* shape, int32_t around, int32_t down, int32_t nodeCount);
void destroyShape(Shape* shape);

/// Offsets of a wave as long as the shape.
void moveSmoothly(Shape* shape);

/// Offsets as a shaken cage has them: random, evened out with the neighbours a few times, a tenth of an edge.
void moveRoughly(Shape* shape);

/// The wave itself: where it puts a point.
srVec3 wave(srVec3 p);

/// Radians, with 3 floats of offset a vertex.
double findLargestAngle(const Shape* shape, const float* offsets);
