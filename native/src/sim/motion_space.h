// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a character's recorded motion is made of: affine motions of the whole, and the few vectors beside them
// that its deformation nearly consists of. What the solver leaves to the animation when bones do not say it
// (docs/decisions/0037).

#pragma once

#include "math/span.h"
#include "sim/character.h"
#include "sim/tape.h"

/// Vectors over the cage's nodes, orthonormal by their volumes. Owns its parts.
typedef struct srMotionSpace {
    srSpan span;
    uint64_t hash;  ///< Of the vectors.
    bool isFitted;  ///< To the whole tape as it is; else there are affine motions alone.
    srVec3* places; ///< Scratch: of a row.
    srMat34* maps;
    int32_t nodeCount;
    int32_t mapCount;
} srMotionSpace;

/// Affine motions alone.
SR_MUST_USE srResult srCreateMotionSpace(const srCharacter* character, srMotionSpace* outSpace);

/// Accepts a zeroed space.
void srDestroyMotionSpace(srMotionSpace* space);

/// Fits it to all rows of the tape, so that what is left of the deformation is a hundredth (root of mean
/// squares over rows and mass), in SR_SPAN_LARGEST vectors at most. `isWanted` is asked before each row;
/// false, and affine motions alone, when it was given up.
bool srMotionSpace_Fit(srMotionSpace* space, const srCharacter* character, const srTape* tape,
                       bool (*isWanted)(void* context), void* context);

/// The tape changed. The vectors stay until the next fit.
void srMotionSpace_Forget(srMotionSpace* space);
