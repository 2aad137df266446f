// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job's flags in the public shape.

#include "api/status.h"

#include <string.h>

// as much as there is room for, without half a UTF-8 character at its end
static void copyText(const char* text, char* out, size_t room) {
    size_t size = strlen(text);
    if (size >= room) {
        size = room - 1;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
            --size;
        }
    }
    memcpy(out, text, size);
    out[size] = '\0';
}

void srReadJobStatus(srJob* job, srJobStatus* outStatus) {
    *outStatus = (srJobStatus){.phase = sr_phaseRunning, .result = sr_errorNotReady};
    outStatus->progress = srJob_GetProgress(job);
    if (!srJob_Wait(job, 0.0)) {
        return;
    }

    // asking a job for its result leaves its sentence here, but nothing fails in this call
    char before[SR_ERROR_TEXT_SIZE];
    copyText(srGetErrorText(), before, sizeof(before));
    outStatus->progress = srJob_GetProgress(job);
    outStatus->result = srJob_GetResult(job);
    outStatus->phase = outStatus->result == sr_success ? sr_phaseDone : sr_phaseFailed;
    if (outStatus->phase == sr_phaseFailed) {
        copyText(srGetErrorText(), outStatus->message, sizeof(outStatus->message));
    }
    srSetErrorText(before);
}

srResult srWaitForJob(srJob* job, double seconds) {
    if (!srJob_Wait(job, seconds)) {
        return srFail(sr_errorNotReady, "Still at work.");
    }
    return srJob_GetResult(job);
}
