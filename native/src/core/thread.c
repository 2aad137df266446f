// SPDX-License-Identifier: GPL-3.0-or-later
//
// POSIX threads behind our own names. This file, file.c and process.c are the only ones that include headers
// of the system.

// for the processors that this process may run on
#define _GNU_SOURCE

#include "core/thread.h"

#include "core/alloc.h"
#include "core/error.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

// longer waits end after this and say that time ran out; it is three years
#define LONGEST_WAIT 1e8

struct srThread {
    pthread_t handle;
    srThreadFcn* body;
    void* context;
};

struct srMutex {
    pthread_mutex_t handle;
};

struct srCondition {
    pthread_cond_t handle;
};

static void* runThread(void* argument) {
    srThread* thread = argument;
    thread->body(thread->context);
    return NULL;
}

srResult srStartThread(srThreadFcn* body, void* context, srThread** outThread) {
    srThread* thread = SR_ALLOC(srThread, 1);
    if (thread == NULL) {
        return srFailOutOfMemory("a thread");
    }
    thread->body = body;
    thread->context = context;

    // signals belong to the host: a new thread inherits the mask, so none can slip in before it has its own
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread->handle, NULL, runThread, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (code != 0) {
        SR_FREE(thread, 1);
        return srFail(sr_errorOutOfMemory, "The system could not start another thread (error %d).", code);
    }
    *outThread = thread;
    return sr_success;
}

void srJoinThread(srThread* thread) {
    if (thread != NULL) {
        pthread_join(thread->handle, NULL);
        SR_FREE(thread, 1);
    }
}

srMutex* srCreateMutex(void) {
    srMutex* mutex = SR_ALLOC(srMutex, 1);
    if (mutex != NULL && pthread_mutex_init(&mutex->handle, NULL) != 0) {
        SR_FREE(mutex, 1);
        return NULL;
    }
    return mutex;
}

void srDestroyMutex(srMutex* mutex) {
    if (mutex != NULL) {
        pthread_mutex_destroy(&mutex->handle);
        SR_FREE(mutex, 1);
    }
}

void srLock(srMutex* mutex) {
    int code = pthread_mutex_lock(&mutex->handle);
    SR_ASSERT(code == 0);
    (void)code;
}

bool srTryLock(srMutex* mutex) {
    return pthread_mutex_trylock(&mutex->handle) == 0;
}

void srUnlock(srMutex* mutex) {
    int code = pthread_mutex_unlock(&mutex->handle);
    SR_ASSERT(code == 0);
    (void)code;
}

static int initCondition(pthread_cond_t* handle) {
    pthread_condattr_t attributes;
    int code = pthread_condattr_init(&attributes);
    if (code != 0) {
        return code;
    }
    // waits must not end early or never because somebody set the wall clock
    code = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (code == 0) {
        code = pthread_cond_init(handle, &attributes);
    }
    pthread_condattr_destroy(&attributes);
    return code;
}

static pthread_mutex_t processMutex = PTHREAD_MUTEX_INITIALIZER;

void srLockProcess(void) {
    pthread_mutex_lock(&processMutex);
}

void srUnlockProcess(void) {
    pthread_mutex_unlock(&processMutex);
}

srCondition* srCreateCondition(void) {
    srCondition* condition = SR_ALLOC(srCondition, 1);
    if (condition != NULL && initCondition(&condition->handle) != 0) {
        SR_FREE(condition, 1);
        return NULL;
    }
    return condition;
}

void srDestroyCondition(srCondition* condition) {
    if (condition != NULL) {
        pthread_cond_destroy(&condition->handle);
        SR_FREE(condition, 1);
    }
}

static struct timespec fromNow(double seconds) {
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    double whole = (double)(int64_t)seconds;
    when.tv_sec += (time_t)whole;
    when.tv_nsec += (long)((seconds - whole) * 1e9);
    if (when.tv_nsec >= 1000000000) {
        when.tv_nsec -= 1000000000;
        when.tv_sec++;
    }
    return when;
}

bool srWait(srCondition* condition, srMutex* mutex, double seconds) {
    if (!(seconds >= 0.0)) {
        pthread_cond_wait(&condition->handle, &mutex->handle);
        return true;
    }
    struct timespec end = fromNow(seconds < LONGEST_WAIT ? seconds : LONGEST_WAIT);
    return pthread_cond_timedwait(&condition->handle, &mutex->handle, &end) != ETIMEDOUT;
}

void srWakeAll(srCondition* condition) {
    pthread_cond_broadcast(&condition->handle);
}

void srPause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void srYield(void) {
    sched_yield();
}

double srGetSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int32_t srGetCoreCount(void) {
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 0) {
        return CPU_COUNT(&allowed);
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT32_MAX ? (int32_t)online : 1;
}
