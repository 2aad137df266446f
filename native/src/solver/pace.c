// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/pace.h"

#include "core/parallel.h"
#include "core/thread.h"

#define SECONDS_ALONE_PER_LOSS 20.0 // so sharing in vain costs a twentieth at most
#define FORGETTING 1.002            // of the best time alone, each part

bool srPace_Begin(srPace* pace) {
    pace->isShared =
        srParallel_GetWorkerCount() > 1 && pace->aloneSeconds > 0.0 && !(pace->debtSeconds > 0.0);
    pace->startSeconds = srGetSeconds();
    return pace->isShared;
}

void srPace_End(srPace* pace) {
    double seconds = srGetSeconds() - pace->startSeconds;
    if (pace->isShared) {
        double lost = seconds - pace->aloneSeconds;
        pace->debtSeconds = lost > 0.0 ? SECONDS_ALONE_PER_LOSS * lost : 0.0;
        pace->aloneSeconds *= FORGETTING;
        return;
    }
    pace->debtSeconds -= seconds;
    double best = FORGETTING * pace->aloneSeconds;
    pace->aloneSeconds = best > 0.0 && best < seconds ? best : seconds;
}
