// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points that ride on the cage, and the room that it takes to bring them offsets: the skin, and each
// follower.

#pragma once

#include "core/error.h"
#include "math/mat34.h"
#include "mesh/blend.h"

/// Scratch is its own; used by one thread at a time.
typedef struct srPassenger {
    const srBlend* blend; ///< The owner's.
    srVec3f* localOffsets;
    void* blendScratch;
    float* laterOffsets; ///< Of the points, at the later of two frames.
} srPassenger;

/// `blend` must outlive it.
SR_MUST_USE srResult srCreatePassenger(const srBlend* blend, srPassenger* outPassenger);

/// Accepts a zeroed one.
void srDestroyPassenger(srPassenger* passenger);

/// From offsets of the nodes in the world to offsets of the points, 3 floats each, in a space of their own:
/// `toLocal` turns and scales the former into it.
void srPassenger_Bring(const srPassenger* passenger, const srMat34* toLocal, const srVec3f* nodeOffsets,
                       float* outOffsets);

/// In single precision, and zero where it is beyond any scene: an object of almost no size makes any offset
/// huge.
srVec3f srMakeSaneOffset(srVec3 offset);
