// SPDX-License-Identifier: GPL-3.0-or-later
//
// Who reads what a character shares with its shots, so that it can be changed under them: everybody is made
// to stand still, the change is made, everybody goes on.

#pragma once

#include "core/error.h"

typedef struct srAudience srAudience;

/// One reader; a part of what reads. Callbacks come from the thread that makes the change.
typedef struct srListener {
    void (*hush)(void* context);   ///< Returns when the reader stands still.
    void (*resume)(void* context); ///< What it read may have changed.
    void* context;
    struct srListener* previous; ///< The audience's own. Likewise:
    struct srListener* next;
} srListener;

/// Null when memory is gone.
srAudience* srCreateAudience(void);

/// Accepts null. Nobody listens any more.
void srDestroyAudience(srAudience* audience);

/// To be called between Hold and Release, which began before the listener read anything: else it could miss a
/// change. The listener stays where it is until it leaves.
void srAudience_Join(srAudience* audience, srListener* listener);

/// Waits for a change under way; a listener that never joined may leave too.
void srAudience_Leave(srAudience* audience, srListener* listener);

/// Between these two nobody joins, leaves or reads; one thread at a time.
void srAudience_Hush(srAudience* audience);
void srAudience_Resume(srAudience* audience);

/// Between these two there is no change, and readers read on.
void srAudience_Hold(srAudience* audience);
void srAudience_Release(srAudience* audience);
