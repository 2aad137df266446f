// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with what each processor has.

#define SR_SOLVER_TABLE srSolverTableScalar
#include "solver/solver_paths.inl"
