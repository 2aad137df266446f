// SPDX-License-Identifier: GPL-3.0-or-later
//
// A smoothest function may rise once more away from its bone, most of all where cells are flat. Lives here:
// finding such peaks, as bounds that a problem did not know, and levelling them where nothing is solved any
// more. Does not: the weights themselves (biharmonic.h).

#pragma once

#include "mesh/progress.h"
#include "weights/biharmonic_anchors.h"

typedef struct srPeakReport {
    int32_t peakCount;  ///< Levelled in the first round.
    int32_t roundCount; ///< Until there were none; zero: all was left as it is.
} srPeakReport;

typedef struct srPeakBounds {
    double limit;
    double rest;    ///< How high above its foot what is higher may be, when it is solved for anew.
    float* weights; ///< Are left as they are.
    float* ceilings;
    float* past; ///< Two a weight, zeros at first: what the next time is to know of this one.
} srPeakBounds;

/// Lowers `ceilings` (nodeCount x columnCount) on and around peaks higher than `limit`, as below; those of a
/// row stay above one together. `outCount`: such peaks.
SR_MUST_USE srResult srBoundPeaks(const srCage* cage, const srAnchorRows* rows, int32_t columnCount,
                                  const srPeakBounds* bounds, const srProgress* progress, int32_t* outCount);

/// How high a peak of a column is: how far one must go down from it at least to come, from node to node along
/// edges, to its anchors or to a higher one. Where that is more than `limit`, it is made so, and the rows of
/// the nodes around with it: bounds and sums stay, nodes that are given do, and so does all, to the bit, when
/// there is no such peak. Where a column has no anchor in a piece of the cage, rows there are left alone. In
/// order of nodes, on one thread; the caller may cancel.
SR_MUST_USE srResult srLevelPeaks(const srCage* cage, const srAnchorRows* rows, int32_t columnCount,
                                  double limit, const srProgress* progress, float* weights,
                                  srPeakReport* outReport);
