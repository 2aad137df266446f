// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rotations and decompositions with NEON.

#include "math/rotation_table.h"

#if defined(SR_HAS_NEON)
#define SR_SIMD_NEON
#define SR_PATH_TABLE srRotationTableNeon
#include "math/rotation_paths.inl"
#endif
