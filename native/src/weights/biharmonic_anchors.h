// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where weights are given: bones, points and control cages brought to the nodes of a cage. A node on a anchor
// is fixed, but where two meet that want different things; elsewhere samples along the anchor pull on the
// cell that they lie in, because a cell that is cut by a bone could obey it only with all four corners.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

#include <stdint.h>

/// Points, each the control of a column of weights, joined to elements: three equal numbers are a point, two
/// a segment, three different ones a triangle. On an element weights go straight from point to point; so a
/// bone is a segment between two points of one column, and an edge of a control cage one between two columns.
typedef struct srAnchors {
    const srVec3* points;
    const int32_t* columns; ///< Of each point: 0 .. columnCount - 1.
    int32_t pointCount;
    const int32_t (*elements)[3];
    int32_t elementCount;
    int32_t columnCount;

    const srVec3* hintPoints; ///< Nullable. Places known to be of a cell, such as those of the skin: where
                              ///< cells overlap, a anchor is of the part that they say.
    const int32_t* hintCells; ///< One each, or `SR_NULL_INDEX`.
    int32_t hintCount;
} srAnchors;

/// Weights of one place: `values[c]` of `columns[c]`; a column may repeat.
typedef struct srAnchorValue {
    int32_t columns[3];
    double values[3];
} srAnchorValue;

/// Pulls sum_c weights[c] w(nodes[c]) to its value.
typedef struct srAnchorSample {
    int32_t nodes[4];
    double weights[4];
    double strength; ///< One over a length.
    srAnchorValue value;
} srAnchorSample;

/// Owns its arrays.
typedef struct srAnchorRows {
    srAnchorSample* samples;
    int32_t sampleCount;
    int32_t sampleRoom;
    bool* isFixed; ///< By node; where it is,
    srAnchorValue* fixedValues;
    int32_t nodeCount;
    int32_t fixedCount;
    int32_t outsideCount; ///< Columns with nothing inside; their nearest place counts.
} srAnchorRows;

/// `sr_errorInvalidValue` when there is no element or an index is out of range, `sr_errorNotFinite` when a
/// point is not finite.
SR_MUST_USE srResult srCreateAnchorRows(const srCage* cage, const srAnchors* anchors, srAnchorRows* outRows);

/// Accepts zeroed rows.
void srDestroyAnchorRows(srAnchorRows* rows);
