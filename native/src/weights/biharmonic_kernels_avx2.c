// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of bounded biharmonic weights with AVX2.

#include "weights/biharmonic_kernels.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_BIHARMONIC_TABLE srBiharmonicTableAvx2
#include "weights/biharmonic_paths.inl"
#endif
