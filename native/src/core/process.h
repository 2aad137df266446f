// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program beside the library: given bytes, asked for bytes, and never trusted. It gets so much time and no
// more; it may crash, stall, flood or be missing, and whatever it does there is no zombie afterwards, no
// signal reaches the host, and nothing of the host's (descriptors, environment, blocked signals) reaches it.

#pragma once

#include "core/error.h"

#include <stdint.h>

/// How it ended.
typedef enum srProcessFate {
    sr_processEnded,     ///< By itself, with a code.
    sr_processMissing,   ///< It could not be started.
    sr_processStalled,   ///< It took longer than it was given, and was killed.
    sr_processCrashed,   ///< By a signal.
    sr_processFlooded,   ///< It wrote more than it was allowed to, and was killed.
    sr_processCancelled, ///< The caller wanted no more of it, and it was killed.
} srProcessFate;

/// Asked every few hundredths of a second; false cancels. `seconds` is how long the program has been running.
typedef bool srProcessWaitFcn(double seconds, void* context);

typedef struct srProcessOrder {
    const char* program;          ///< Path, UTF-8; looked for nowhere else.
    const char* const* arguments; ///< Behind the program's name, null at the end; may be null.
    const void* input;            ///< What it reads from its standard input.
    size_t inputSize;
    size_t mostOutput; ///< Bytes.
    double mostSeconds;
    srProcessWaitFcn* goesOn; ///< May be null.
    void* context;
} srProcessOrder;

/// Owns its bytes.
typedef struct srProcessAnswer {
    srProcessFate fate;
    int code;       ///< Of the exit, or the signal; the system's error for a missing one.
    uint8_t* bytes; ///< What it wrote to its standard output; its standard error goes nowhere.
    size_t byteCount;
    size_t capacity;
    double seconds;
} srProcessAnswer;

/// Runs it to its end. Whatever happens to the program is an answer; the one failure is
/// `sr_errorOutOfMemory`, of ours. Allocates from the hooks; thread-safe.
SR_MUST_USE srResult srRunProcess(const srProcessOrder* order, srProcessAnswer* outAnswer);

/// Ours: what a program that is run here has as its parent's number.
long srGetProcessNumber(void);

/// Accepts a zeroed answer.
void srDestroyProcessAnswer(srProcessAnswer* answer);
