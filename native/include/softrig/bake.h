// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing a shot to disk as a point cache (PC2) of offsets of the skin or of a follower: little-endian,
// "POINTCACHE2", one row of float32 xyz a vertex and sample; the header's start frame is 0, as Blender wants
// it, its sampling rate the frames from a row to the next. The same numbers that `srShot_ReadOffsets` and
// `srFollower_ReadOffsets` give, bit for bit.

#pragma once

#include "softrig/base.h"
#include "softrig/character.h"
#include "softrig/id.h"

typedef struct srBakeDef {
    size_t structSize; ///< Set by `srDefaultBakeDef`.
    srShotId shot;
    srFollowerId follower; ///< One of the shot's; null (the default) is the skin.
    const char* path;      ///< UTF-8, not empty. Written beside it and moved over it when whole. A link is
                           ///< followed; what is there and is not a plain file is refused.
    int32_t firstFrame;    ///< The range must be within the shot's; of a loop it may reach a frame further at
                           ///< either end, for shutters that are open there.
    int32_t frameCount;
    int32_t samplesPerFrame;    ///< Rows for each frame but the last, which has one: 1 (the default) is whole
                                ///< frames alone, 4 also a quarter, a half and three quarters. 1 .. 100.
    const char* checkpointPath; ///< UTF-8; null (the default) is none. A file that the simulated frames are
                                ///< kept in until the whole shot is baked, so that a bake that was cancelled,
                                ///< killed or out of disk goes on where it stood, with the same bits.
} srBakeDef;

SR_API srBakeDef srDefaultBakeDef(void);

/// Starts to write in a thread of the library; frames that are still being simulated are waited for. The bake
/// fails with `sr_errorInvalidValue` at a frame that is not recorded, and with `sr_errorCancelled` when
/// frames that were ready become void meanwhile (other dials, other motion): a file never mixes two states of
/// a shot.
///
/// With a checkpoint: frames that it has of this very shot (character, motion and dials to the bit) are taken
/// from there instead of being simulated again; what it has of another is dropped; damaged bytes are dropped
/// with all behind them. Each further frame is added to it, those before `firstFrame` too. The file is
/// removed when the bake of the whole shot ends well and is kept otherwise. `sr_errorFile` while another bake
/// has it.
SR_API srResult srStartBake(const srBakeDef* def, srBakeId* outBake);

SR_API srResult srBake_GetStatus(srBakeId bake, srJobStatus* outStatus);

/// As `srCharacter_Wait`.
SR_API srResult srBake_Wait(srBakeId bake, double seconds);

/// Cancels if it still runs (the file that was there before stays untouched) and forgets the bake.
SR_API srResult srDestroyBake(srBakeId bake);
