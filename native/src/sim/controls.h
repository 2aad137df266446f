// SPDX-License-Identifier: GPL-3.0-or-later
//
// The tape's second track: what the artist keys beside the rig (gravity, wind, travel, cuts), a row a frame.

#pragma once

#include "core/error.h"
#include "softrig/shot.h"

/// Owns its array.
typedef struct srControlTrack {
    srFrameControls* rows;
    int32_t rowCount;
} srControlTrack;

/// All rows start as srDefaultFrameControls().
SR_MUST_USE srResult srCreateControlTrack(int32_t rowCount, srControlTrack* outTrack);

/// Accepts a zeroed track.
void srDestroyControlTrack(srControlTrack* track);

srFrameControls srMakeDefaultControls(void);

/// The first of the given rows that differs from what is there; firstRow + rowCount when none does.
int32_t srControlTrack_FindChange(const srControlTrack* track, int32_t firstRow, int32_t rowCount,
                                  const srFrameControls* rows);

/// Rows must lie within the track.
void srControlTrack_Write(srControlTrack* track, int32_t firstRow, int32_t rowCount,
                          const srFrameControls* rows);
