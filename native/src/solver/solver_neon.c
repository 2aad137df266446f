// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with NEON.

#include "solver/solver_kernels.h"

#if defined(SR_HAS_NEON)
#define SR_SIMD_NEON
#define SR_SOLVER_TABLE srSolverTableNeon
#include "solver/solver_paths.inl"
#endif
