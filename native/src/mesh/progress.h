// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the mesher's stages report how far they are and hear that they shall stop: a stage owns a part of the
// whole and speaks in fractions of it.

#pragma once

#include "core/error.h"
#include "core/parallel.h"

#include <stdbool.h>

/// Called between stages and rows; returns false to cancel. `fraction` runs from 0 to 1. May be null.
typedef bool srProgressFcn(float fraction, void* context);

typedef struct srProgress {
    srProgressFcn* report; ///< May be null.
    void* context;
    float from; ///< The part of the whole that is this stage's.
    float to;
} srProgress;

/// The part of a stage from one of its fractions to another, as a stage of its own.
srProgress srPartOfProgress(const srProgress* progress, double from, double to);

/// `sr_errorCancelled` when the caller said so.
SR_MUST_USE srResult srReportProgress(const srProgress* progress, double fraction);

/// As srParallelFor with blocks of `blockSize`, reporting from the calling thread every `batchSize` indices.
SR_MUST_USE srResult srParallelForWithProgress(srRangeFcn* body, int32_t count, int32_t blockSize,
                                               int32_t batchSize, void* context, const srProgress* progress);
