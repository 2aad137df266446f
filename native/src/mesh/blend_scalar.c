// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of interpolation with what each processor has.

#define SR_TABLE srBlendScalar
#include "mesh/blend_kernels.inl"
