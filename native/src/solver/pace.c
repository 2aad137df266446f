// SPDX-License-Identifier: GPL-3.0-or-later

#include "solver/pace.h"

#include "core/parallel.h"
#include "core/thread.h"

#include <math.h>

#define SECONDS_ALONE_PER_LOSS 20.0 // so sharing in vain costs a twentieth at most
#define MOST_CREDIT 10e-3           // seconds: what a worker that is interrupted now and then loses at once
#define PARTS_BETWEEN_LOOKS 128     // shared ones; the next is done alone, to know what that takes by now
#define FORGETTING 1.02             // of the best time alone, each part alone

bool srPace_IsForSharing(const srPace* pace) {
    return srParallel_GetWorkerCount() > 1 && pace->aloneSeconds > 0.0 && !(pace->debtSeconds > 0.0) &&
           pace->sharedCount < PARTS_BETWEEN_LOOKS;
}

bool srPace_Begin(srPace* pace) {
    pace->isShared = srPace_IsForSharing(pace);
    pace->startSeconds = srGetSeconds();
    return pace->isShared;
}

void srPace_End(srPace* pace) {
    double seconds = srGetSeconds() - pace->startSeconds;
    if (pace->isShared) {
        double debt = pace->debtSeconds + seconds - pace->aloneSeconds;
        pace->debtSeconds = debt > 0.0 ? SECONDS_ALONE_PER_LOSS * debt : fmax(debt, -MOST_CREDIT);
        ++pace->sharedCount;
        return;
    }
    if (pace->debtSeconds > 0.0) {
        pace->debtSeconds = fmax(pace->debtSeconds - seconds, 0.0);
    }
    if (!(pace->aloneSeconds > 0.0)) {
        pace->debtSeconds = -MOST_CREDIT; // a worker that has just been started may come late
    }
    double best = FORGETTING * pace->aloneSeconds;
    pace->aloneSeconds = best > 0.0 && best < seconds ? best : seconds;
    pace->sharedCount = 0;
}
