// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of the solvers with NEON.

#include "solver/newton_kernels.h"

#if defined(SR_HAS_NEON)
#define SR_SIMD_NEON
#define SR_NEWTON_TABLE srNewtonTableNeon
#include "solver/newton_paths.inl"
#endif
