// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a fault travels: a result code up the call chain, and one sentence for people in the thread's error
// text.

#pragma once

#include "softrig/base.h"

#include <stddef.h>

/// Room for this thread's error text, the closing zero included.
#define SR_ERROR_TEXT_SIZE 512

#if defined(__GNUC__)
#define SR_MUST_USE __attribute__((warn_unused_result))
#define SR_PRINTF(formatIndex, firstArgument) __attribute__((format(printf, formatIndex, firstArgument)))
#else
#define SR_MUST_USE
#define SR_PRINTF(formatIndex, firstArgument)
#endif

/// Leaves the sentence in this thread's error text and returns `result`. Cut at 511 bytes, never within a
/// character; the text that stood there before may be one of the arguments.
srResult srFail(srResult result, const char* format, ...) SR_PRINTF(2, 3);

/// The one sentence for memory that could not be had; `what` names what it was for.
srResult srFailOutOfMemory(const char* what);

/// Replaces this thread's error text (cut as above): how a job's words reach the thread that asks for them.
void srSetErrorText(const char* text);

/// Leaves a function that returns `srResult`, holding nothing, with the first result that is not success.
#define SR_TRY(expression)                                                                                   \
    do {                                                                                                     \
        srResult srTryResult = (expression);                                                                 \
        if (srTryResult != sr_success) {                                                                     \
            return srTryResult;                                                                              \
        }                                                                                                    \
    } while (0)

/// As SR_TRY for a function that holds something: `result` and a label `cleanup:` are in scope.
#define SR_TRY_CLEANUP(expression)                                                                           \
    do {                                                                                                     \
        result = (expression);                                                                               \
        if (result != sr_success) {                                                                          \
            goto cleanup;                                                                                    \
        }                                                                                                    \
    } while (0)

/// For our own bugs only; never for what a caller or a file may do. On in debug and sanitizer builds.
#if defined(SR_ENABLE_ASSERT)
#define SR_ASSERT(condition) ((condition) ? (void)0 : srAssertFailed(#condition, __FILE__, __LINE__))
void srAssertFailed(const char* condition, const char* file, int line);
#else
#define SR_ASSERT(condition) ((void)0)
#endif
