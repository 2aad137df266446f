// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the position-based solvers with what each processor has.

#define SR_TABLE srSolverScalar
#include "solver/solver_kernels.inl"
