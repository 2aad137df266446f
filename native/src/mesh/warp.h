// SPDX-License-Identifier: GPL-3.0-or-later
//
// The first half of isosurface stuffing: where the level set cuts the scaffold's edges, and which of its
// points are moved onto it because it passes too close to them.

#pragma once

#include "mesh/field.h"
#include "mesh/scaffold.h"

/// Signs are 1 inside, 0 on the level set (moved there), -1 outside. An edge from an inside to an outside
/// point has a cut, and belongs to its inside point. Arrays live in the arena that made them.
typedef struct srWarp {
    const srScaffold* scaffold;
    int8_t* signs;
    int32_t* warpTargets; ///< Where a point of sign 0 was moved to: towards this point ...
    double* warpShares;   ///< ... by this share of the edge.
    int32_t* firstCuts;   ///< Of the inside point's cuts; one more at the end.
    int32_t* cutEnds;     ///< The outside point; ascending for each inside point.
    double* cuts;         ///< Share of the edge, from the inside point.
    int32_t cutCount;
} srWarp;

/// `scaffold` must outlive the warp. `level` is below zero inside; `field` finds cuts where the field jumps.
SR_MUST_USE srResult srCreateWarp(const srScaffold* scaffold, const srField* field, const double* level,
                                  srArena* arena, const srProgress* progress, srWarp* outWarp);

/// The index into `cuts` of the edge from an inside to an outside point.
int32_t srWarp_FindCut(const srWarp* warp, int32_t inside, int32_t outside);

/// Where an inside point is, or where a point of sign 0 was moved to.
srVec3 srWarp_Point(const srWarp* warp, int32_t point);
