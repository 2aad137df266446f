// SPDX-License-Identifier: GPL-3.0-or-later
//
// The search for the spacing that gives the wanted number of nodes, around trials of one surface. Does not:
// what else is changed where no spacing gives it (mesher.c).

#pragma once

#include "mesh/trial.h"

#define SR_COUNT_TOLERANCE 0.05

/// A count is met, and nothing else is tried, when it is as near as this.
#define SR_MET_TOLERANCE 0.14

#define SR_NEAR_COUNT 4

/// A lattice whose cage had about as many nodes as are wanted and was not much too large.
typedef struct srNear {
    double spacing;
    double count; ///< 0: there was none.
    int shiftedAxis;
} srNear;

/// The best trial so far, and how many there were.
typedef struct srSearch {
    int shiftedAxis; ///< Of all trials, as theirs.
    double largest;  ///< Only what is smaller becomes the best.
    srTrial best;    ///< Without cells when none had any.
    int32_t trialCount;
    double work;                 ///< By srTrial_Work.
    srNear nears[SR_NEAR_COUNT]; ///< The nearest counts first; those without copies are guessed.
    double plainSpacing; ///< About where as many nodes as are wanted, and some more, are without copies.
} srSearch;

/// What a walk may find: only what is smaller than `largest` and finer than `coarsest` is taken, and only
/// counts within `tolerance` without copies are split.
typedef struct srWalk {
    double largest;
    double coarsest;
    double tolerance;
    double mostWork; ///< No further trial once it took that.
} srWalk;

/// By what share of the wanted count the best misses it; infinite without cells.
double srSearch_Error(const srMeshing* meshing, const srSearch* search);

/// Keeps a trial as the best one; nothing is left in its place.
void srSearch_Take(srSearch* search, srTrial* trial);

/// A trial, which is split when its count, changed by `growth`, is near enough to the wanted one.
SR_MUST_USE srResult srRunTrial(const srMeshing* meshing, const srProgress* progress, double growth,
                                double tolerance, srTrial* trial);

/// The trial whose count is nearest to the target, by law and by halving.
SR_MUST_USE srResult srSearch_Run(const srMeshing* meshing, srSearch* search);

/// One trial more, of this spacing, with copies: taken where it is better.
SR_MUST_USE srResult srSearch_Try(const srMeshing* meshing, double spacing, const srProgress* progress,
                                  srSearch* search);

/// The finest spacing whose count is near enough; where there is none, the nearest count. The search was run.
SR_MUST_USE srResult srSearch_Walk(const srMeshing* meshing, const srWalk* walk, const srProgress* progress,
                                   srSearch* search);

/// Accepts a zeroed search.
void srDestroySearch(srSearch* search);
