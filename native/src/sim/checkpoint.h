// SPDX-License-Identifier: GPL-3.0-or-later
//
// The simulated rows of a shot in a file, so that a shot whose process died goes on where it stood. A file of
// our own machine and version, told to be whole by hashes; nothing to send away.

#pragma once

#include "core/error.h"
#include "sim/simulation.h"

typedef struct srCheckpoint srCheckpoint;

/// Opens or makes the file, and gives the simulation the rows that it has of this very shot. What else there
/// is in it is dropped. The motion must be recorded as far as anybody wants to go on.
SR_MUST_USE srResult srOpenCheckpoint(srSimulation* simulation, const char* path,
                                      srCheckpoint** outCheckpoint);

/// Rows that are in the file.
int32_t srCheckpoint_GetRowCount(const srCheckpoint* checkpoint);

/// Adds the next row, which is ready. `sr_errorCancelled` when the shot has changed since the file was
/// opened.
SR_MUST_USE srResult srCheckpoint_Add(srCheckpoint* checkpoint);

/// Removes the file when it is not needed any more or has no row. Accepts null.
void srCloseCheckpoint(srCheckpoint* checkpoint, bool isDone);
