// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the complementary solver is compared with: one iteration of projective dynamics the plain way, cell by
// cell, with CHOLMOD's solve of three columns.

#pragma once

#include "solver/complementary.h"

/// Seconds of the fastest of `runCount` iterations at the pose `p`; negative without memory.
/// `outSolveSeconds` is the solve's part.
double srBenchTimePlainIteration(const srComplementaryRest* rest, const srComplementaryTuning* tuning,
                                 const srVec3* p, int32_t runCount, double* outSolveSeconds);
