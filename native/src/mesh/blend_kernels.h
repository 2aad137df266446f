// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of interpolation, one table for each path of simd_path.h. Inner to interpolation.c.

#pragma once

#include "mesh/blend.h"

/// A map in memory: four rows x, y, z, 0 - its value at the middle of the cage, and what it gains along x, y,
/// z.
#define SR_MAP_FLOATS 16

typedef struct srBlendKernels {
    /// Maps `begin` to `end` - 1 from rows of four floats a node.
    void (*fillMaps)(const srBlend* blend, const float* rows, float* maps, int32_t begin, int32_t end);
    /// Points `begin` to `end` - 1 in the blend's order, to where the caller wants them.
    void (*blendPoints)(const srBlend* blend, const float* maps, float* outPoints, int32_t begin,
                        int32_t end);
} srBlendKernels;

extern const srBlendKernels srBlendScalar, srBlendAvx2, srBlendNeon;
