// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ids of what lives long. An id is passed by value and outlives what it names: a stale one is an error code
// (`sr_errorStaleId`), never a crash. The zeroed struct is the null id. Stands alone.

#pragma once

#include <stdint.h>

/// A prepared character: rest shape, cage, embedding, weights. Constant once it is ready.
typedef struct srCharacterId {
    uint32_t index1;     ///< Index + 1; zero is null.
    uint32_t generation; ///< Counts the uses of the slot.
} srCharacterId;

/// One character in one range of frames: tape, state, worker and frame cache.
typedef struct srShotId {
    uint32_t index1;
    uint32_t generation;
} srShotId;

/// Something that rides on a character's cage in a shot.
typedef struct srFollowerId {
    uint32_t index1;
    uint32_t generation;
} srFollowerId;

/// A bake to disk that is under way or has ended.
typedef struct srBakeId {
    uint32_t index1;
    uint32_t generation;
} srBakeId;

/// Weights that are being computed, or have been.
typedef struct srWeightsId {
    uint32_t index1;
    uint32_t generation;
} srWeightsId;
