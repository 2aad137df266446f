// SPDX-License-Identifier: GPL-3.0-or-later
//
// The coarsest lattice whose cage keeps to the shape: how many nodes that takes is how many the shape needs.
// It follows from the shape alone, whatever was asked for. Does not: what becomes of it (mesher.c).

#pragma once

#include "mesh/trial.h"

typedef struct srLeastLimits {
    double mostNodes;   ///< Nothing finer is looked at from there on, ...
    double mostWork;    ///< ... or once it took that, by srTrial_Work, ...
    double mostCubes;   ///< ... or on so many cubes.
    int32_t mostPieces; ///< That it may fall into.
} srLeastLimits;

/// Whether the cage is that many times as large as the inside, or larger. Never where there are sheets: what
/// they are given is no inside.
bool srTrial_IsLarger(const srMeshing* meshing, const srTrial* trial, double growth);

/// The coarsest first, as it is and shifted: with copies, at most `SR_LIMIT_OF_GROWTH` times as large as the
/// inside. Without cells where there is none within the limits.
SR_MUST_USE srResult srFindLeast(const srMeshing* meshing, const srLeastLimits* limits,
                                 const srProgress* progress, srTrial* outTrial);
