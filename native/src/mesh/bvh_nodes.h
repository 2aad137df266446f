// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the tree is made of, for those who build it and walk it (bvh.c, winding.c). Nobody else includes this.

#pragma once

#include "mesh/bvh.h"

// Below this depth halves by count: however unfortunate the triangles, a walk needs no more than
// SR_BVH_STACK_SIZE places.
#define SR_BVH_DEPTH_OF_SAH 40
#define SR_BVH_STACK_SIZE 96

typedef struct srBox {
    srVec3 lower, upper;
} srBox;

/// Nodes lie in depth-first order: the first child follows its parent. Boxes are rounded outward to float: a
/// walk reads half as much.
typedef struct srBvhNode {
    float lower[3];
    float upper[3];
    int32_t index; // leaf: first triangle in the tree's order; inner node: second child
    int32_t count; // leaf: triangles; 0 for an inner node
} srBvhNode;

/// A symmetric tensor of rank 3: its ten different components.
typedef struct srCubic {
    double xxx, yyy, zzz, xxy, xxz, yyx, yyz, zzx, zzy, xyz;
} srCubic;

/// All triangles of a node, seen from afar. With the area vector a(x) of the piece of surface at x:
/// A = sum a, M = sum (x - p) a, S = sum (x - p) (x - p) a, M and S symmetrised and less their traces, which
/// nobody sees from outside.
typedef struct srMoments {
    srVec3 center; ///< p, the centroid by area.
    double radius; ///< Reaches every corner.
    srVec3 A;
    srVec3 diagonal;    ///< Of M: xx, yy, zz.
    srVec3 offDiagonal; ///< Of M: yz, zx, xy.
    srCubic S;
    double area;
} srMoments;

typedef struct srBvhTriangle {
    srVec3 a, b, c;
    int32_t index; // in the surface
} srBvhTriangle;

struct srBvh {
    srBvhNode* nodes;
    srMoments* moments; // of the node at the same place
    srBvhTriangle* triangles;
    int32_t* placeOf; // surface triangle -> place in `triangles`
    int32_t nodeCount;
    int32_t triangleCount;
};
