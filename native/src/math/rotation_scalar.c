// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rotations and decompositions with what each processor has.

#define SR_PATH_TABLE srRotationTableScalar
#include "math/rotation_paths.inl"
