// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parts of the bench of the numeric floor.

#pragma once

#include "report.h"

/// Rotations and decompositions of 3 x 3 matrices, on one core, against plain scalar C.
void srBenchMathRotations(srBenchReport* report);

/// Sparse solves, on one core, against CHOLMOD's.
void srBenchMathSolves(srBenchReport* report);
