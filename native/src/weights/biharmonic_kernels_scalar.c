// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of bounded biharmonic weights with what each processor has.

#define SR_BIHARMONIC_TABLE srBiharmonicTableScalar
#include "weights/biharmonic_paths.inl"
