// SPDX-License-Identifier: GPL-3.0-or-later
//
// Solid angles and the moments by which far triangles give theirs together. The walk itself is declared in
// bvh.h.

#pragma once

#include "mesh/bvh_nodes.h"

/// Moments of triangles; `count` is positive.
void srSumMoments(const srBvhTriangle* triangles, int32_t count, srMoments* out);

/// Moments of two parts together, which lie in `box`.
void srJoinMoments(const srMoments* a, const srMoments* b, const srBox* box, srMoments* out);

/// Half the solid angle of a triangle (Van Oosterom and Strackee 1983), positive from behind:
/// tan(Omega / 2) = a . (b x c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|)
double srHalfSolidAngle(srVec3 query, srVec3 cornerA, srVec3 cornerB, srVec3 cornerC);
