// SPDX-License-Identifier: GPL-3.0-or-later
//
// The few vectors that many are nearly made of (proper orthogonal decomposition), in a weighted metric, from
// a stream: what has come is kept as a summary, to which a block of newcomers is added (Brand 2006). No BLAS:
// the same bits on every machine and for any number of workers. For preparing.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdint.h>

#define SR_SPAN_FIXED 4      ///< Vectors at most that are spanned whatever comes.
#define SR_SPAN_LARGEST 32   ///< Vectors at most beside them, at the end.
#define SR_SPAN_SUMMARY 40   ///< Likewise in between.
#define SR_SPAN_NEWCOMERS 24 ///< Eight rows of places.

/// Vectors have one number a node; after srSpan_Finish they are orthonormal in the metric, the fixed ones
/// first. Owns its arrays.
typedef struct srSpan {
    int32_t nodeCount;
    int32_t fixedCount;
    int32_t vectorCount; ///< Fixed ones and others.
    double* vectors;     ///< One after the other.
    double* roots;       ///< Of the metric.
    double* columns;     ///< Summary and newcomers, times the roots.
    double* products;    ///< Of columns with each other.
    double* turns;       ///< Eigenvectors of the products.
    int32_t summaryCount;
    int32_t columnCount;
    double total; ///< Squared length of all that came, beside the fixed ones.
    double lost;  ///< Of what was left out of summaries.
    double left; ///< After srSpan_Finish: what is not spanned, as a share (root of squares) of all that came.
} srSpan;

/// `masses` is the metric, one a node, 0 or more.
SR_MUST_USE srResult srCreateSpan(const double* masses, int32_t nodeCount, srSpan* outSpan);

/// Accepts a zeroed span.
void srDestroySpan(srSpan* span);

/// Back to nothing, room and metric apart.
void srSpan_Clear(srSpan* span);

/// Fixes all affine functions of the places: 1 and the three coordinates, or fewer where places lie in a
/// plane, on a line, in a point. Before the first srSpan_AddPlaces.
void srSpan_FixAffine(srSpan* span, const srVec3* places);

/// Adds three vectors, the coordinates of `places`: so what is spanned does not depend on how space is
/// turned. What is not spanned by the fixed ones counts; when shorter than `least` it counts for nothing,
/// when longer than `most` for `most`. Places that are not finite are left out.
void srSpan_AddPlaces(srSpan* span, const srVec3* places, double least, double most);

/// The fewest vectors, SR_SPAN_LARGEST at most, that leave no more than `part` of all that came.
void srSpan_Finish(srSpan* span, double part);

/// Vectors beside the fixed ones.
static inline int32_t srSpan_CountShapes(const srSpan* span) {
    return span->vectorCount - span->fixedCount;
}
