// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that works through rows in order, and those who wait for it. Knows when a row may be worked on and
// when it is ready; what is done to a row is its body's affair.

#pragma once

#include "core/error.h"

#include <stdint.h>

typedef struct srWorker srWorker;

/// Does one row, in the worker's thread. Rows below it are ready. Must not wait for whoever calls the
/// functions below. Answers false when it gave up because srWorker_IsWanted said no: the row stays undone.
typedef bool srRowFcn(int32_t row, void* context);

/// Starts the thread with no rows to work on. `context` must outlive the worker.
SR_MUST_USE srResult srStartWorker(srRowFcn* body, void* context, srWorker** outWorker);

/// Waits for the row under way. Accepts null.
void srDestroyWorker(srWorker* worker);

/// No row is begun any more, and nobody waits for one. Returns at once.
void srWorker_Halt(srWorker* worker);

/// Waits for the row under way; until `srWorker_Resume` the body is not called and what it uses may be
/// changed.
void srWorker_Pause(srWorker* worker);

/// Rows from `firstVoidRow` on are done anew, up to `rowCount`.
void srWorker_Resume(srWorker* worker, int32_t firstVoidRow, int32_t rowCount);

/// As it was before the pause, but that rows below `readyCount` are ready however it stood.
void srWorker_Skip(srWorker* worker, int32_t readyCount);

/// For a body that takes long: false when somebody waits for it to end, because its row will not be needed.
bool srWorker_IsWanted(srWorker* worker);

/// More rows to work on, while it works.
void srWorker_Extend(srWorker* worker, int32_t rowCount);

/// Waits until a row is ready, at most `seconds` (negative: for ever); false when time ran out or when it is
/// none of the rows to work on.
bool srWorker_WaitRow(srWorker* worker, int32_t row, double seconds);

typedef struct srWorkerStatus {
    int32_t rowCount;   ///< Rows to work on.
    int32_t readyCount; ///< Rows that are ready: the first ones.
    int32_t revision;   ///< How often rows that were ready became void.
    double seconds;     ///< Spent on rows since the last time that some became void.
} srWorkerStatus;

srWorkerStatus srWorker_GetStatus(srWorker* worker);
