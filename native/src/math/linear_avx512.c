// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of linear algebra with AVX-512: those of AVX2, with sixteen floats where panels are narrow.

#include "math/linear_kernels.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_SIMD_TWICE
#define SR_TABLE srLinearAvx512
#include "math/linear_kernels.inl"
#endif
