// SPDX-License-Identifier: GPL-3.0-or-later
//
// All kernels of one path, in float, with narrow panels and in double, and their table: include it with
// SR_TABLE (the table's name) defined.

#include "math/linear_kernels.h"
#include "math/simd_rows.h"

#define SR_JOIN3(a, b, c) a##b##c
#define SR_JOIN(a, b, c) SR_JOIN3(a, b, c)

#define SR_T float
#define SR_V srFloatW
#define SR_LANES SR_FLOAT_LANES
#define SR_OF(before, after) SR_JOIN(before, Float, after)
#define SR_NAME(before, after) SR_JOIN(before, Float, after)
#define SR_NARROW 0
#define SR_STARTS floatStarts
#define SR_PANELS floatPanels
#define SR_SLABS floatSlabs
#include "math/panel_kernels.inl"
#undef SR_NAME
#undef SR_NARROW
#undef SR_STARTS
#undef SR_PANELS

#define SR_NAME(before, after) SR_JOIN(before, Narrow, after)
#define SR_NARROW 1
#define SR_STARTS narrow.starts
#define SR_PANELS narrow.words
#include "math/panel_kernels.inl"
#undef SR_T
#undef SR_V
#undef SR_LANES
#undef SR_OF
#undef SR_NAME
#undef SR_NARROW
#undef SR_STARTS
#undef SR_PANELS
#undef SR_SLABS

#define SR_T double
#define SR_V srDoubleW
#define SR_LANES SR_DOUBLE_LANES
#define SR_OF(before, after) SR_JOIN(before, Double, after)
#define SR_NAME(before, after) SR_JOIN(before, Double, after)
#define SR_NARROW 0
#define SR_STARTS doubleStarts
#define SR_PANELS doublePanels
#define SR_SLABS doubleSlabs
#include "math/panel_kernels.inl"

#include "math/small_kernels.inl"

const srLinearKernels SR_TABLE = {
    .forwardFloat = forwardFloat,
    .forwardNarrow = forwardNarrow,
    .forwardDouble = forwardDouble,
    .backwardFloat = backwardFloat,
    .backwardNarrow = backwardNarrow,
    .backwardDouble = backwardDouble,
    .mulAddThinFloat = mulAddThinFloat,
    .mulAddThinDouble = mulAddThinDouble,
    .mulAddTransposedThinFloat = mulAddTransposedThinFloat,
    .mulAddTransposedThinDouble = mulAddTransposedThinDouble,
    .factorSmall = factorSmall,
    .solveSmall = solveSmall,
    .solveSmallOne = solveSmallOne,
    .addTurned = addTurned,
};
