// SPDX-License-Identifier: GPL-3.0-or-later
//
// Using a blend: vectors on the nodes of the cage brought to the points embedded in it, in every frame. The
// same bits on every path, every machine and any number of workers.

#pragma once

#include "mesh/blend.h"

/// Bytes of scratch that srInterpolate needs; it starts at a multiple of 64.
size_t srBlend_GetScratchSize(const srBlend* blend);

/// 3 floats a point of the caller's order. `vectors`: one a node of the cage. Points without shares get
/// zeros, and zero vectors give zeros exactly.
void srInterpolate(const srBlend* blend, const srVec3f* vectors, void* scratch, float* outPoints);
