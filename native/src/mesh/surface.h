// SPDX-License-Identifier: GPL-3.0-or-later
//
// The artist's mesh as we take it: any polygon soup, cut into triangles. Counts what is odd about it; never
// refuses what has triangles.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

/// Triangles over points. Owns its arrays.
typedef struct srSurface {
    srVec3* points;
    int32_t pointCount;
    int32_t (*triangles)[3];
    int32_t triangleCount;
    srVec3 lower; ///< Bounds of the points that triangles use.
    srVec3 upper;
    double size; ///< Diagonal of the bounds.
} srSurface;

typedef struct srSurfaceReport {
    int32_t nonFinitePointCount; ///< Triangles that use them are left out.
    int32_t degenerateCount;     ///< Triangles of no area or with a corner twice: left out.
    int32_t borderEdgeCount;     ///< Edges of one triangle.
    int32_t nonManifoldEdgeCount;
    int32_t isolatedPointCount;
} srSurfaceReport;

/// `points` is 3 floats a vertex. `triangleCorners` is 3 vertex indices a triangle. `sr_errorBadMesh` when an
/// index is out of range or when no triangle is left.
SR_MUST_USE srResult srCreateSurface(const float* points, int32_t pointCount, const int32_t* triangleCorners,
                                     int32_t triangleCount, srSurface* outSurface,
                                     srSurfaceReport* outReport);

/// Accepts a zeroed surface.
void srDestroySurface(srSurface* surface);
