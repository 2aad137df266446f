// SPDX-License-Identifier: GPL-3.0-or-later
//
// Long work in a thread of the library: progress and cancel as flags that the two sides poll, a result with
// its sentence at the end. The one who starts a job destroys it, or leaves it to itself.

#pragma once

#include "core/error.h"

typedef struct srJob srJob;

/// The work. Polls `srJob_IsCancelled` at least every few milliseconds and then returns `sr_errorCancelled`.
typedef srResult srJobFcn(srJob* job, void* context);

/// `context` must stay alive until the job is destroyed.
SR_MUST_USE srResult srStartJob(srJobFcn* body, void* context, srJob** outJob);

/// Asks the work to stop and waits until it has. Accepts null.
void srDestroyJob(srJob* job);

/// Asks the work to stop and does not wait: what it is in may take longer than anybody should wait. `release`
/// is given the context, to free it: at once if the work has ended, else by its own thread when it does.
typedef void srReleaseFcn(void* context);
void srAbandonJob(srJob* job, srReleaseFcn* release);

/// Joins the threads of abandoned jobs: those that are done, or waits for all. True when none is left.
bool srJoinAbandonedJobs(bool waits);

/// From the work's side. Progress goes from 0 to 1; a job that ended well stands at 1.
void srJob_SetProgress(srJob* job, float progress);
bool srJob_IsCancelled(const srJob* job);

/// From the other side.
void srJob_Cancel(srJob* job);
float srJob_GetProgress(const srJob* job);

/// Waits at most `seconds` (negative: for ever); true when the work has ended. From any thread but the work's
/// own.
bool srJob_Wait(srJob* job, double seconds);

/// `sr_errorNotReady` while it runs; then the work's result, and its sentence becomes this thread's error
/// text.
srResult srJob_GetResult(srJob* job);
