// SPDX-License-Identifier: GPL-3.0-or-later
//
// A list under a lock.

#include "sim/audience.h"

#include "core/alloc.h"
#include "core/thread.h"

struct srAudience {
    srMutex* lock;
    srListener* first;
};

srAudience* srCreateAudience(void) {
    srAudience* audience = SR_ALLOC_ZERO(srAudience, 1);
    if (audience != NULL) {
        audience->lock = srCreateMutex();
    }
    if (audience != NULL && audience->lock == NULL) {
        SR_FREE(audience, 1);
        return NULL;
    }
    return audience;
}

void srDestroyAudience(srAudience* audience) {
    if (audience != NULL) {
        SR_ASSERT(audience->first == NULL);
        srDestroyMutex(audience->lock);
        SR_FREE(audience, 1);
    }
}

void srAudience_Join(srAudience* audience, srListener* listener) {
    listener->previous = NULL;
    listener->next = audience->first;
    if (audience->first != NULL) {
        audience->first->previous = listener;
    }
    audience->first = listener;
}

void srAudience_Leave(srAudience* audience, srListener* listener) {
    srLock(audience->lock);
    if (listener->next != NULL) {
        listener->next->previous = listener->previous;
    }
    if (listener->previous != NULL) {
        listener->previous->next = listener->next;
    } else if (audience->first == listener) {
        audience->first = listener->next;
    }
    srUnlock(audience->lock);
}

void srAudience_Hush(srAudience* audience) {
    srLock(audience->lock);
    for (srListener* listener = audience->first; listener != NULL; listener = listener->next) {
        listener->hush(listener->context);
    }
}

void srAudience_Resume(srAudience* audience) {
    for (srListener* listener = audience->first; listener != NULL; listener = listener->next) {
        listener->resume(listener->context);
    }
    srUnlock(audience->lock);
}

void srAudience_Hold(srAudience* audience) {
    srLock(audience->lock);
}

void srAudience_Release(srAudience* audience) {
    srUnlock(audience->lock);
}
