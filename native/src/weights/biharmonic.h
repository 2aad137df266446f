// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bounded biharmonic weights (Jacobson et al. 2011) on the nodes of a cage, all columns as one problem: the
// smoothest weights that are between zero and one, sum to one everywhere, and are one on their bones. Lives
// here: from a cage and its bones to weights of nodes. Does not: the loop (biharmonic_loop.h), the skin
// (biharmonic_skin.h).

#pragma once

#include "weights/biharmonic_anchors.h"
#include "weights/biharmonic_loop.h"
#include "weights/biharmonic_peaks.h"

/// Residuals to 1e-4, at most 3,000 steps.
srSimplexSettings srDefaultBiharmonicSettings(void);

typedef struct srBiharmonicReport {
    srSimplexReport loop; ///< Of what is handed out; steps of all times that it was solved.
    int32_t boundCount;   ///< Peaks that became bounds,
    int32_t solveCount;   ///< and how often it was solved again with them.
    srPeakReport peaks; ///< Cut after all: only where bounds came to no end, and then `loop` is of before it.
    double energy;      ///< As srMeasureBiharmonicEnergy has it.
    int32_t sampleCount;
    int32_t fixedCount;   ///< Nodes on bones.
    int32_t outsideCount; ///< Columns whose bones are outside: they count where the cage is nearest.
    int32_t orphanCount;  ///< Pieces of the cage without any bone: they go with the nearest node that has.
    double matrixSeconds; ///< Of bones and cells,
    double loopSeconds;   ///< and of problems and their solutions.
} srBiharmonicReport;

/// What is filled, node by node (nodeCount x columnCount).
typedef struct srBiharmonicAnswer {
    float* weights;
    double* smooth;  ///< x of srSolveSimplexProblem, for judges; zero on nodes that are given. May be null.
    float* ceilings; ///< How high each weight was allowed to be: one where nothing was a bound, zero for the
                     ///< columns that a piece does not hear. May be null.
} srBiharmonicAnswer;

/// Weights are in [0, 1], rows sum to one to rounding of floats, and so they are smoothest; away from its
/// bones none has a peak of more than a fiftieth. The same bits on any number of workers. Fails as
/// srCreateAnchorRows, and with `sr_errorBadMesh` for cells that are too flat to compute with. Not reaching
/// the tolerance is told in the report alone.
SR_MUST_USE srResult srSolveBiharmonic(const srCage* cage, const srAnchors* anchors,
                                       const srSimplexSettings* settings, const srProgress* progress,
                                       const srBiharmonicAnswer* answer, srBiharmonicReport* outReport);

/// sum_j w_j' Q w_j / 2 over all columns, and half of what samples pull: what is minimised. Lengths are in
/// units of the cube root of the cage's volume.
SR_MUST_USE srResult srMeasureBiharmonicEnergy(const srCage* cage, const srAnchorRows* rows,
                                               const float* weights, int32_t columnCount, double* outEnergy);
