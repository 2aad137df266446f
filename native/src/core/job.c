// SPDX-License-Identifier: GPL-3.0-or-later
//
// One thread a job. Progress, cancel and the end are atomics, so that asking never waits; the lock is only
// for those who want to sleep until the end, and for who leaves a job while it ends.

#include "core/job.h"

#include "core/alloc.h"
#include "core/error.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <string.h>

struct srJob {
    srJobFcn* body;
    void* context;
    srThread* thread;
    srMutex* mutex;
    srCondition* ended;
    _Atomic float progress;
    atomic_bool isCancelled;
    atomic_bool isEnded; // set with the mutex held, after the two below are written
    srResult result;
    char errorText[SR_ERROR_TEXT_SIZE];

    // of one that nobody waits for
    srReleaseFcn* release; // guarded by the mutex
    atomic_bool isReleased;
    srJob* next;
};

// Jobs that nobody waits for any more, until their threads are joined; guarded by the process lock.
static srJob* abandoned;

static void keepErrorText(srJob* job) {
    const char* text = srGetErrorText();
    if (text[0] == '\0') {
        text = job->result == sr_errorCancelled ? "The work was cancelled." : srGetResultName(job->result);
    }
    strncpy(job->errorText, text, sizeof(job->errorText) - 1);
}

static void runJob(void* context) {
    srJob* job = context;
    job->result = job->body(job, job->context);
    if (job->result == sr_success) {
        atomic_store_explicit(&job->progress, 1.0f, memory_order_relaxed);
    } else {
        keepErrorText(job);
    }

    srLock(job->mutex);
    atomic_store_explicit(&job->isEnded, true, memory_order_release);
    srWakeAll(job->ended);
    srReleaseFcn* release = job->release;
    srUnlock(job->mutex);
    if (release != NULL) {
        release(job->context);
        atomic_store_explicit(&job->isReleased, true, memory_order_release);
    }
}

static void freeJob(srJob* job) {
    srDestroyCondition(job->ended);
    srDestroyMutex(job->mutex);
    SR_FREE(job, 1);
}

srResult srStartJob(srJobFcn* body, void* context, srJob** outJob) {
    srJob* job = SR_ALLOC_ZERO(srJob, 1);
    if (job == NULL) {
        return srFailOutOfMemory("a job");
    }
    srResult result = sr_success;
    job->body = body;
    job->context = context;
    atomic_init(&job->progress, 0.0f);
    atomic_init(&job->isCancelled, false);
    atomic_init(&job->isEnded, false);
    atomic_init(&job->isReleased, false);
    job->mutex = srCreateMutex();
    job->ended = srCreateCondition();
    if (job->mutex == NULL || job->ended == NULL) {
        result = srFailOutOfMemory("a job");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srStartThread(runJob, job, &job->thread));
    *outJob = job;
    return sr_success;

cleanup:
    freeJob(job);
    return result;
}

void srDestroyJob(srJob* job) {
    if (job != NULL) {
        srJob_Cancel(job);
        srJoinThread(job->thread);
        freeJob(job);
    }
}

// False when the work had ended already: then nobody else releases its context.
static bool leaveToThread(srJob* job, srReleaseFcn* release) {
    srLock(job->mutex);
    bool isRunning = !atomic_load_explicit(&job->isEnded, memory_order_relaxed);
    job->release = isRunning ? release : NULL;
    srUnlock(job->mutex);
    return isRunning;
}

void srAbandonJob(srJob* job, srReleaseFcn* release) {
    void* context = job->context;
    srJob_Cancel(job);
    if (leaveToThread(job, release)) {
        srLockProcess();
        job->next = abandoned;
        abandoned = job;
        srUnlockProcess();
    } else {
        srDestroyJob(job);
        release(context);
    }
}

// Unlinks one that may be joined.
static srJob* takeAbandoned(bool mayRun) {
    srLockProcess();
    srJob** link = &abandoned;
    while (*link != NULL && !mayRun && !atomic_load_explicit(&(*link)->isReleased, memory_order_acquire)) {
        link = &(*link)->next;
    }
    srJob* job = *link;
    if (job != NULL) {
        *link = job->next;
    }
    srUnlockProcess();
    return job;
}

bool srJoinAbandonedJobs(bool waits) {
    for (srJob* job = takeAbandoned(waits); job != NULL; job = takeAbandoned(waits)) {
        srJoinThread(job->thread);
        freeJob(job);
    }
    srLockProcess();
    bool areAllJoined = abandoned == NULL;
    srUnlockProcess();
    return areAllJoined;
}

void srJob_SetProgress(srJob* job, float progress) {
    atomic_store_explicit(&job->progress, progress, memory_order_relaxed);
}

bool srJob_IsCancelled(const srJob* job) {
    return atomic_load_explicit(&job->isCancelled, memory_order_relaxed);
}

void srJob_Cancel(srJob* job) {
    atomic_store_explicit(&job->isCancelled, true, memory_order_relaxed);
}

float srJob_GetProgress(const srJob* job) {
    return atomic_load_explicit(&job->progress, memory_order_relaxed);
}

static bool isEnded(const srJob* job) {
    return atomic_load_explicit(&job->isEnded, memory_order_acquire);
}

bool srJob_Wait(srJob* job, double seconds) {
    double end = srGetSeconds() + seconds;
    srLock(job->mutex);
    while (!isEnded(job)) {
        double left = seconds < 0.0 ? -1.0 : end - srGetSeconds();
        if (seconds >= 0.0 && left <= 0.0) {
            break;
        }
        srWait(job->ended, job->mutex, left);
    }
    srUnlock(job->mutex);
    return isEnded(job);
}

srResult srJob_GetResult(srJob* job) {
    if (!isEnded(job)) {
        return srFail(sr_errorNotReady, "The work is still going on (%.0f %% done).",
                      100.0 * (double)srJob_GetProgress(job));
    }
    if (job->result != sr_success) {
        srSetErrorText(job->errorText);
    }
    return job->result;
}
