// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of interpolation with AVX2.

#include "mesh/blend_kernels.h"

#if defined(__AVX2__)
#define SR_SIMD_AVX2
#define SR_TABLE srBlendAvx2
#include "mesh/blend_kernels.inl"
#endif
