// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rotations and decompositions with AVX2.

#include "math/rotation_table.h"

#if defined(SR_HAS_AVX2)
#define SR_SIMD_AVX2
#define SR_PATH_TABLE srRotationTableAvx2
#include "math/rotation_paths.inl"
#endif
