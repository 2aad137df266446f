// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of interpolation with NEON.

#include "mesh/blend_kernels.h"

#if defined(__aarch64__)
#define SR_SIMD_NEON
#define SR_TABLE srBlendNeon
#include "mesh/blend_kernels.inl"
#endif
