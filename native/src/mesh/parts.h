// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parts of a surface by its own indices, wherever its points lie. A part that encloses something keeps its
// triangles also where they lie on those of another: two bodies in contact, not one wall too many.

#pragma once

#include "mesh/buckets.h"
#include "mesh/surface.h"

typedef struct srPart {
    srVec3 areaVector; ///< Sum of its triangles'; nearly zero for one that is closed.
    double area;
    int32_t triangleCount; ///< With three places for corners.
    int32_t twin;          ///< An earlier part on whose triangles some of its own lie; or `SR_NULL_INDEX`.
    int32_t twinCount;     ///< ... how many.
    bool hasDoubles;       ///< Triangles that lie on each other.
    bool isWhole;          ///< Encloses something, once, and is no copy of its twin: it keeps its triangles.
    bool isTorn;           ///< Triangles of it are left out.
} srPart;

typedef struct srParts {
    int32_t* numbers; ///< By point of the surface.
    int32_t pointCount;
    srPart* parts;
    int32_t partCount;
} srParts;

/// Parts as they are alone: whole are those that enclose something.
SR_MUST_USE srResult srCreateParts(const srSurface* surface, srParts* outParts);

/// `runs` holds triangles of the surface; those with the same key in a bucket lie on each other. Those that
/// lie on themselves or are copies are not whole.
void srJudgeParts(const srSurface* surface, const srBuckets* runs, srParts* parts);

/// Accepts zeroed parts.
void srDestroyParts(srParts* parts);

/// That of a triangle of the surface.
static inline int32_t srPartOf(const srParts* parts, const srSurface* surface, int32_t triangle) {
    return parts->numbers[surface->triangles[triangle][0]];
}
