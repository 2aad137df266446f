// SPDX-License-Identifier: GPL-3.0-or-later
//
// One lock for a few numbers, one condition for all who wait: the thread for rows, readers for ready ones,
// and writers for the row under way.

#include "sim/worker.h"

#include "core/alloc.h"
#include "core/thread.h"

struct srWorker {
    srRowFcn* body;
    void* context;
    srThread* thread;

    srMutex* lock; // guards all below
    srCondition* changed;
    srWorkerStatus status;
    bool isAtWork;
    bool isPaused;
    bool isHalted;
};

// false when there will be none any more
static bool awaitRow(srWorker* worker, int32_t* outRow) {
    srLock(worker->lock);
    const srWorkerStatus* status = &worker->status;
    while (!worker->isHalted && (worker->isPaused || status->readyCount >= status->rowCount)) {
        srWait(worker->changed, worker->lock, -1.0);
    }
    *outRow = status->readyCount;
    worker->isAtWork = !worker->isHalted;
    bool isGiven = worker->isAtWork;
    srUnlock(worker->lock);
    return isGiven;
}

static void publishRow(srWorker* worker, int32_t row, bool isDone, double seconds) {
    srLock(worker->lock);
    worker->status.readyCount = isDone ? row + 1 : row;
    worker->status.seconds += seconds;
    worker->isAtWork = false;
    srWakeAll(worker->changed);
    srUnlock(worker->lock);
}

static void workThroughRows(void* context) {
    srWorker* worker = context;
    int32_t row;
    while (awaitRow(worker, &row)) {
        double start = srGetSeconds();
        bool isDone = worker->body(row, worker->context);
        publishRow(worker, row, isDone, srGetSeconds() - start);
    }
}

static srResult startThread(srWorker* worker) {
    worker->lock = srCreateMutex();
    worker->changed = srCreateCondition();
    if (worker->lock == NULL || worker->changed == NULL) {
        return srFailOutOfMemory("a thread");
    }
    return srStartThread(workThroughRows, worker, &worker->thread);
}

srResult srStartWorker(srRowFcn* body, void* context, srWorker** outWorker) {
    srWorker* worker = SR_ALLOC_ZERO(srWorker, 1);
    if (worker == NULL) {
        return srFailOutOfMemory("a thread");
    }
    worker->body = body;
    worker->context = context;
    srResult result = startThread(worker);
    if (result != sr_success) {
        srDestroyWorker(worker);
        return result;
    }
    *outWorker = worker;
    return sr_success;
}

void srDestroyWorker(srWorker* worker) {
    if (worker == NULL) {
        return;
    }
    if (worker->thread != NULL) {
        srWorker_Halt(worker);
        srJoinThread(worker->thread);
    }
    srDestroyCondition(worker->changed);
    srDestroyMutex(worker->lock);
    SR_FREE(worker, 1);
}

void srWorker_Halt(srWorker* worker) {
    srLock(worker->lock);
    worker->isHalted = true;
    srWakeAll(worker->changed);
    srUnlock(worker->lock);
}

void srWorker_Pause(srWorker* worker) {
    srLock(worker->lock);
    worker->isPaused = true;
    while (worker->isAtWork) {
        srWait(worker->changed, worker->lock, -1.0);
    }
    srUnlock(worker->lock);
}

void srWorker_Resume(srWorker* worker, int32_t firstVoidRow, int32_t rowCount) {
    srLock(worker->lock);
    srWorkerStatus* status = &worker->status;
    if (firstVoidRow < status->readyCount) {
        status->readyCount = firstVoidRow;
        status->revision += 1;
        status->seconds = 0.0;
    }
    status->rowCount = rowCount;
    worker->isPaused = false;
    srWakeAll(worker->changed);
    srUnlock(worker->lock);
}

void srWorker_Skip(srWorker* worker, int32_t readyCount) {
    srLock(worker->lock);
    srWorkerStatus* status = &worker->status;
    status->readyCount = readyCount > status->readyCount ? readyCount : status->readyCount;
    worker->isPaused = false;
    srWakeAll(worker->changed);
    srUnlock(worker->lock);
}

bool srWorker_IsWanted(srWorker* worker) {
    srLock(worker->lock);
    bool isWanted = !worker->isPaused && !worker->isHalted;
    srUnlock(worker->lock);
    return isWanted;
}

void srWorker_Extend(srWorker* worker, int32_t rowCount) {
    srLock(worker->lock);
    worker->status.rowCount = rowCount;
    srWakeAll(worker->changed);
    srUnlock(worker->lock);
}

bool srWorker_WaitRow(srWorker* worker, int32_t row, double seconds) {
    double end = srGetSeconds() + seconds;
    srLock(worker->lock);
    const srWorkerStatus* status = &worker->status;
    while (status->readyCount <= row && row < status->rowCount && !worker->isHalted) {
        double left = seconds < 0.0 ? -1.0 : end - srGetSeconds();
        if (seconds >= 0.0 && !(left > 0.0)) {
            break;
        }
        srWait(worker->changed, worker->lock, left);
    }
    bool isReady = status->readyCount > row;
    srUnlock(worker->lock);
    return isReady;
}

srWorkerStatus srWorker_GetStatus(srWorker* worker) {
    srLock(worker->lock);
    srWorkerStatus status = worker->status;
    srUnlock(worker->lock);
    return status;
}
