// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that computes weights, what it was given and what it found: what the id of weights stands for.

#pragma once

#include "core/job.h"
#include "softrig/weights.h"

typedef struct srWeighing srWeighing;

/// Copies the definition, which was checked, and starts.
SR_MUST_USE srResult srStartWeighing(const srWeightsDef* def, srWeighing** outWeighing);

/// Cancels; what still runs is freed by its own thread, when it has seen that. Accepts null.
void srDestroyWeighing(srWeighing* weighing);

srJob* srWeighing_GetJob(srWeighing* weighing);

/// `sr_errorNotReady` or the reason of the failure while there are none; skinVertexCount x columnCount.
SR_MUST_USE srResult srWeighing_GetValues(srWeighing* weighing, const float** outValues,
                                          int32_t* outVertexCount, int32_t* outColumnCount);

/// Likewise.
SR_MUST_USE srResult srWeighing_GetReport(srWeighing* weighing, srWeightsReport* outReport);
