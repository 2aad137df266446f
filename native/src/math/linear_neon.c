// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of linear algebra with NEON.

#include "math/linear_kernels.h"

#if defined(__aarch64__)
#define SR_SIMD_NEON
#define SR_TABLE srLinearNeon
#include "math/linear_kernels.inl"
#endif
