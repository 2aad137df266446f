// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of linear algebra with AVX2.

#include "math/linear_kernels.h"

#if defined(__AVX2__)
#define SR_SIMD_AVX2
#define SR_TABLE srLinearAvx2
#include "math/linear_kernels.inl"
#endif
