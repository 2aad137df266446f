// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rows of controls, compared field by field: what pads a struct says nothing.

#include "sim/controls.h"

#include "core/alloc.h"

#include <string.h>

srFrameControls srMakeDefaultControls(void) {
    return (srFrameControls){.structSize = sizeof(srFrameControls), .travelFelt = 1.0f};
}

srResult srCreateControlTrack(int32_t rowCount, srControlTrack* outTrack) {
    *outTrack = (srControlTrack){SR_ALLOC(srFrameControls, rowCount), rowCount};
    if (outTrack->rows == NULL) {
        *outTrack = (srControlTrack){0};
        return srFailOutOfMemory("the controls of the frames");
    }
    for (int32_t row = 0; row < rowCount; ++row) {
        outTrack->rows[row] = srMakeDefaultControls();
    }
    return sr_success;
}

void srDestroyControlTrack(srControlTrack* track) {
    SR_FREE(track->rows, track->rowCount);
    *track = (srControlTrack){0};
}

static bool areSame(const srFrameControls* a, const srFrameControls* b) {
    return memcmp(a->gravity, b->gravity, sizeof(a->gravity)) == 0 &&
           memcmp(a->wind, b->wind, sizeof(a->wind)) == 0 && a->windGusts == b->windGusts &&
           a->travelFelt == b->travelFelt && a->pressure == b->pressure && a->isCut == b->isCut;
}

int32_t srControlTrack_FindChange(const srControlTrack* track, int32_t firstRow, int32_t rowCount,
                                  const srFrameControls* rows) {
    int32_t row = firstRow;
    while (row < firstRow + rowCount && areSame(&track->rows[row], &rows[row - firstRow])) {
        ++row;
    }
    return row;
}

void srControlTrack_Write(srControlTrack* track, int32_t firstRow, int32_t rowCount,
                          const srFrameControls* rows) {
    SR_ASSERT(firstRow >= 0 && rowCount <= track->rowCount - firstRow);
    memcpy(track->rows + firstRow, rows, (size_t)rowCount * sizeof(srFrameControls));
}
