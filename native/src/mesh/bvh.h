// SPDX-License-Identifier: GPL-3.0-or-later
//
// A tree of boxes over the triangles of a surface: the nearest point, and how often the surface winds around
// a point.

#pragma once

#include "core/error.h"
#include "mesh/progress.h"
#include "mesh/surface.h"

typedef struct srBvh srBvh;

/// `surface` must outlive the tree. A surface without triangles is refused by an assertion only.
SR_MUST_USE srResult srCreateBvh(const srSurface* surface, srBvh** outBvh);

/// As above with progress; `sr_errorCancelled` within milliseconds when it said so. Equal trees on any number
/// of workers.
SR_MUST_USE srResult srCreateBvhWithProgress(const srSurface* surface, const srProgress* progress,
                                             srBvh** outBvh);

/// Accepts null.
void srDestroyBvh(srBvh* bvh);

/// Distance from `query` to the nearest triangle. `outNearest` may be null. Thread-safe.
double srBvh_Distance(const srBvh* bvh, srVec3 query, srVec3* outNearest);

/// As above, and which triangle that is: of several at the same distance the one of lowest index.
/// `inOutTriangle` may hold a guess on entry (else `SR_NULL_INDEX`): a good one saves time and changes
/// nothing else.
double srBvh_DistanceGuessed(const srBvh* bvh, srVec3 query, int32_t* inOutTriangle, srVec3* outNearest);

/// The generalised winding number (Jacobson et al. 2013), far parts by their first three moments (Barill et
/// al. 2018): about 1 inside, 0 outside, in between where the surface has holes. Within 0.01 of the sum over
/// all triangles. Thread-safe.
double srBvh_WindingNumber(const srBvh* bvh, srVec3 query);
