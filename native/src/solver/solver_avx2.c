// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with AVX2.

#include "solver/solver_kernels.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_SOLVER_TABLE srSolverTableAvx2
#include "solver/solver_paths.inl"
#endif
