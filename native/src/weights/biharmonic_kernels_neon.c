// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of bounded biharmonic weights with NEON.

#include "weights/biharmonic_kernels.h"

#if defined(SR_HAS_NEON)
#define SR_SIMD_NEON
#define SR_BIHARMONIC_TABLE srBiharmonicTableNeon
#include "weights/biharmonic_paths.inl"
#endif
