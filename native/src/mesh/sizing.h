// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long the edges of a conforming cage shall be and where: one length, shorter where detail is painted;
// and what else shall be where: nodes along bones, nothing within hollows. Inner to conform.c.

#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "mesh/bvh.h"
#include "mesh/hull.h"
#include "mesh/tetgen.h"

/// How many nodes a cage of so much flesh has at about equal edges.
double srExpectNodes(double volume, double area, double length);

/// The length at which that is the target; `size` bounds it.
double srFindLength(double volume, double area, double target, double size);

/// The surface and its paint must outlive it.
typedef struct srSizing {
    const srSurface* surface;
    const float* detail; ///< Null: the same everywhere.
    srBvh* tree;         ///< Of the surface; null without detail.
    double length;
} srSizing;

typedef struct srSegments {
    const srVec3* ends; ///< Two each.
    int32_t count;
} srSegments;

/// `detail` may be null.
SR_MUST_USE srResult srCreateSizing(const srSurface* surface, const float* detail, double length,
                                    srSizing* outSizing);

/// Accepts a zeroed one.
void srDestroySizing(srSizing* sizing);

/// The wanted length at a place: that of the nearest place of the skin.
double srSizing_LengthAt(const srSizing* sizing, srVec3 x);

/// By point of a hull: how many times shorter than elsewhere; null without detail.
SR_MUST_USE srResult srSizing_FindFineness(const srSizing* sizing, const srHull* hull, srArena* arena,
                                           float** outFineness);

/// How many triangles of the wanted sizes cover the hull.
double srSizing_ExpectTriangles(const srSizing* sizing, const srHull* hull);

/// The wanted lengths on a grid around the hull.
SR_MUST_USE srResult srSizing_MakeGrid(const srSizing* sizing, const srHull* hull, srArena* arena,
                                       srSizeGrid* outGrid);

/// Points along segments, about a length apart from one another and from the hull, as far as they lie inside.
SR_MUST_USE srResult srSizing_PlaceOnSpine(const srSizing* sizing, const srHull* hull,
                                           const srSegments* segments, srArena* arena, srVec3** outPoints,
                                           int32_t* outCount);

/// A point within each part of a hull that faces inwards: the hollows in the flesh.
SR_MUST_USE srResult srFindHollows(const srHull* hull, srArena* arena, srVec3** outPoints, int32_t* outCount);
