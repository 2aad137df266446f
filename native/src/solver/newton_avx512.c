// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with AVX-512: a block of doubles is one vector.

#include "solver/newton_kernels.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_SIMD_AVX512
#define SR_NEWTON_TABLE srNewtonTableAvx512
#include "solver/newton_paths.inl"
#endif
