// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with AVX2.

#include "solver/newton_kernels.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_NEWTON_TABLE srNewtonTableAvx2
#include "solver/newton_paths.inl"
#endif
