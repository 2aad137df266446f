// SPDX-License-Identifier: GPL-3.0-or-later
//
// A wish and an answer under one lock, which is never held for longer than a reader needs to copy.

#include "sim/provisional.h"

#include "core/alloc.h"

srResult srCreateProvisional(int32_t nodeCount, srProvisional* outProvisional) {
    *outProvisional =
        (srProvisional){.wishedRow = SR_NULL_INDEX, .shownRow = SR_NULL_INDEX, .nodeCount = nodeCount};
    outProvisional->lock = srCreateMutex();
    outProvisional->shown = SR_ALLOC_ZERO(srVec3f, nodeCount);
    outProvisional->made = SR_ALLOC_ZERO(srVec3f, nodeCount);
    if (outProvisional->lock == NULL || outProvisional->shown == NULL || outProvisional->made == NULL) {
        srDestroyProvisional(outProvisional);
        return srFailOutOfMemory("a provisional frame");
    }
    return sr_success;
}

void srDestroyProvisional(srProvisional* provisional) {
    SR_FREE(provisional->shown, provisional->nodeCount);
    SR_FREE(provisional->made, provisional->nodeCount);
    srDestroyMutex(provisional->lock);
    *provisional = (srProvisional){0};
}

void srProvisional_Ask(srProvisional* provisional, int32_t row) {
    srLock(provisional->lock);
    provisional->wishedRow = row;
    srUnlock(provisional->lock);
}

void srProvisional_Forget(srProvisional* provisional) {
    srLock(provisional->lock);
    provisional->shownRow = SR_NULL_INDEX;
    srUnlock(provisional->lock);
}

int32_t srProvisional_TakeWish(srProvisional* provisional, int32_t nextRow) {
    srLock(provisional->lock);
    int32_t row = provisional->wishedRow;
    provisional->wishedRow = SR_NULL_INDEX;
    srUnlock(provisional->lock);
    return row > nextRow ? row : SR_NULL_INDEX; // the next row is done as quickly, and right
}

void srProvisional_Publish(srProvisional* provisional, int32_t row) {
    srLock(provisional->lock);
    srVec3f* before = provisional->shown;
    provisional->shown = provisional->made;
    provisional->made = before;
    provisional->shownRow = row;
    srUnlock(provisional->lock);
}

int32_t srProvisional_GetRow(srProvisional* provisional) {
    srLock(provisional->lock);
    int32_t row = provisional->shownRow;
    srUnlock(provisional->lock);
    return row;
}

const srVec3f* srProvisional_BeginRead(srProvisional* provisional, int32_t row) {
    srLock(provisional->lock);
    if (provisional->shownRow == row) {
        return provisional->shown;
    }
    srUnlock(provisional->lock);
    return NULL;
}

void srProvisional_EndRead(srProvisional* provisional) {
    srUnlock(provisional->lock);
}
