// SPDX-License-Identifier: GPL-3.0-or-later
//
// What ids stand for, and who keeps it alive. An entry lives while its id does, while a call uses it, and
// while another entry stands on it (a shot on its character, a follower or a bake on its shot).

#pragma once

#include "core/error.h"
#include "core/id.h"

typedef enum srKind {
    sr_kindBake,
    sr_kindFollower,
    sr_kindShot,
    sr_kindCharacter,
    sr_kindWeights,
    sr_kindCount,
} srKind;

typedef struct srEntry srEntry;

/// Takes `object` over and gives it an id; on failure the object is freed. The entry holds on to `parent`
/// (nullable), which the caller has acquired and still releases. `sr_errorStaleId` when the parent has lost
/// its id meanwhile.
SR_MUST_USE srResult srRegister(srKind kind, void* object, srEntry* parent, srRawId* outId);

/// The entry of an id, kept alive until `srRelease`; `sr_errorStaleId` with a sentence when there is none.
SR_MUST_USE srResult srAcquire(srKind kind, srRawId id, srEntry** outEntry);

/// Accepts null. The last one frees the object.
void srRelease(srEntry* entry);

void* srEntry_GetObject(const srEntry* entry);

/// Takes the id away and cancels what is under way: the object's work, and the bakes that stand on it or on
/// its followers. The object is freed when nobody uses it any more.
SR_MUST_USE srResult srUnregister(srKind kind, srRawId id);

/// Waits for work that was cancelled and has not ended yet; true when nothing is alive.
bool srRegistry_Settle(void);

/// Takes all ids away, children first; returns how many there were.
int32_t srRegistry_Clear(void);
