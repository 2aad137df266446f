// SPDX-License-Identifier: GPL-3.0-or-later
//
// All kernels of one path, in float and in double: include it with SR_BIHARMONIC_TABLE, the name of the table
// to make, defined.

#include "weights/biharmonic_kernels.h"

#include "math/simd.h"

#define SR_JOIN2(a, b) a##b
#define SR_JOIN(a, b) SR_JOIN2(a, b)

#define SR_T float
#define SR_V srFloatW
#define SR_MASK srMaskFloatW
#define SR_LANES SR_FLOAT_LANES
#define SR_NAME(name) SR_JOIN(name, Float)
#define SR_LOAD srLoadFloatW
#define SR_STORE srStoreFloatW
#define SR_SPLAT srSplatFloatW
#define SR_STARTS floatStarts
#define SR_PANELS floatPanels
#include "weights/biharmonic_kernels.inl"
#undef SR_T
#undef SR_V
#undef SR_MASK
#undef SR_LANES
#undef SR_NAME
#undef SR_LOAD
#undef SR_STORE
#undef SR_SPLAT
#undef SR_STARTS
#undef SR_PANELS

#define SR_T double
#define SR_V srDoubleW
#define SR_MASK srMaskDoubleW
#define SR_LANES SR_DOUBLE_LANES
#define SR_NAME(name) SR_JOIN(name, Double)
#define SR_LOAD srLoadDoubleW
#define SR_STORE srStoreDoubleW
#define SR_SPLAT srSplatDoubleW
#define SR_STARTS doubleStarts
#define SR_PANELS doublePanels
#include "weights/biharmonic_kernels.inl"

const srBiharmonicTable SR_BIHARMONIC_TABLE = {
    .inFloat = {reflectFloat, sweepFloat, advanceFloat, mixFloat},
    .inDouble = {reflectDouble, sweepDouble, advanceDouble, mixDouble},
};
