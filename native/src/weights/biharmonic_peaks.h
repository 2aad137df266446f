// SPDX-License-Identifier: GPL-3.0-or-later
//
// A smoothest function may rise once more away from its bone, most of all where cells are flat. Lives here:
// finding such peaks and levelling them. Does not: the weights themselves (biharmonic.h).

#pragma once

#include "mesh/progress.h"
#include "weights/biharmonic_anchors.h"

typedef struct srPeakReport {
    int32_t peakCount;  ///< Levelled in the first round.
    int32_t roundCount; ///< Until there were none; zero: all was left as it is.
    int32_t mendCount;  ///< How often rows around were mended after it (biharmonic_mend.h).
} srPeakReport;

/// How high a peak of a column is: how far one must go down from it at least to come, from node to node along
/// edges, to its anchors or to a higher one. Where that is more than `limit`, it is made so, and the rows of
/// the nodes around with it: bounds and sums stay, nodes that are given do, and so does all, to the bit, when
/// there is no such peak. Where a column has no anchor in a piece of the cage, rows there are left alone. In
/// order of nodes, on one thread; the caller may cancel.
SR_MUST_USE srResult srLevelPeaks(const srCage* cage, const srAnchorRows* rows, int32_t columnCount,
                                  double limit, const srProgress* progress, float* weights,
                                  srPeakReport* outReport);
