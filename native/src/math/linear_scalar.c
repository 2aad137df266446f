// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of linear algebra with what each processor has.

#define SR_TABLE srLinearScalar
#include "math/linear_kernels.inl"
