// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reporting between batches of a parallel loop: workers never call the caller's code.

#include "mesh/progress.h"

static float wholeOf(const srProgress* progress, double fraction) {
    return progress->from + (float)fraction * (progress->to - progress->from);
}

srProgress srPartOfProgress(const srProgress* progress, double from, double to) {
    srProgress part = *progress;
    part.from = wholeOf(progress, from);
    part.to = wholeOf(progress, to);
    return part;
}

srResult srReportProgress(const srProgress* progress, double fraction) {
    if (progress->report != NULL && !progress->report(wholeOf(progress, fraction), progress->context)) {
        return srFail(sr_errorCancelled, "The work on the cage was cancelled.");
    }
    return sr_success;
}

typedef struct Batch {
    srRangeFcn* body;
    void* context;
    int32_t first;
} Batch;

static void runShifted(int32_t begin, int32_t end, int32_t worker, void* context) {
    const Batch* batch = context;
    batch->body(batch->first + begin, batch->first + end, worker, batch->context);
}

srResult srParallelForWithProgress(srRangeFcn* body, int32_t count, int32_t blockSize, int32_t batchSize,
                                   void* context, const srProgress* progress) {
    Batch batch = {.body = body, .context = context};
    for (; batch.first < count; batch.first += batchSize) {
        SR_TRY(srReportProgress(progress, (double)batch.first / count));
        int32_t rest = count - batch.first;
        srParallelFor(runShifted, rest < batchSize ? rest : batchSize, blockSize, &batch);
    }
    return sr_success;
}
