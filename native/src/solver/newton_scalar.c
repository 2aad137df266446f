// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with what each processor has.

#define SR_NEWTON_TABLE srNewtonTableScalar
#include "solver/newton_paths.inl"
