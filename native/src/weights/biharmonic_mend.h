// SPDX-License-Identifier: GPL-3.0-or-later
//
// What cut peaks leave is no minimum any more. Lives here: the smoothest rows around them that let no peak
// rise again. Does not: finding peaks (biharmonic_peaks.h).

#pragma once

#include "weights/biharmonic_system.h"

/// Lowers the energy by moving rows within a few edges of those that have a ceiling below one: row after row
/// to the least there is, all others staying, between zero and `ceilings` (nodeCount x columnCount, none
/// below the weight that is there) and with a sum of one. Nodes that are given stay, and so do rows whose
/// piece has no bone. On one thread.
SR_MUST_USE srResult srMendRows(const srStiffness* stiffness, const srAnchorRows* rows,
                                const srPieces* pieces, int32_t columnCount, const float* ceilings,
                                float* weights);
