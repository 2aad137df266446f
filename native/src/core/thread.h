// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads, locks and the clock of the operating system, and nothing else of it. Waits are in seconds.

#pragma once

#include "core/error.h"

typedef struct srThread srThread;
typedef struct srMutex srMutex;
typedef struct srCondition srCondition;

typedef void srThreadFcn(void* context);

/// Starts a thread that blocks all signals; join it exactly once. `sr_errorOutOfMemory` when the system has
/// no more.
SR_MUST_USE srResult srStartThread(srThreadFcn* body, void* context, srThread** outThread);

/// Waits for the end and frees the thread. Accepts null.
void srJoinThread(srThread* thread);

/// Null when memory is gone.
srMutex* srCreateMutex(void);

/// Accepts null.
void srDestroyMutex(srMutex* mutex);

void srLock(srMutex* mutex);
bool srTryLock(srMutex* mutex);
void srUnlock(srMutex* mutex);

/// The one lock that is always there, for what is static in the library (the registry of ids).
void srLockProcess(void);
void srUnlockProcess(void);

/// Null when memory is gone.
srCondition* srCreateCondition(void);

/// Accepts null.
void srDestroyCondition(srCondition* condition);

/// Waits with `mutex` held, at most `seconds` (negative: for ever). False when time ran out. May wake for
/// nothing.
bool srWait(srCondition* condition, srMutex* mutex, double seconds);
void srWakeAll(srCondition* condition);

/// Tells the processor that this is a loop that waits.
void srPause(void);

/// Lets another thread go first.
void srYield(void);

/// Seconds of a clock that never goes back. For reports and time-outs; never for a result.
double srGetSeconds(void);

/// Logical cores that this process may use, at least 1.
int32_t srGetCoreCount(void);
