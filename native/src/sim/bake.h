// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bake under way: a thread that waits for frames and writes them as a point cache. What a bake's id stands
// for.

#pragma once

#include "core/job.h"
#include "sim/following.h"
#include "softrig/bake.h"

typedef struct srBake srBake;

/// `simulation` and `following` must outlive the bake; `def` has been checked; its path is copied. A null
/// `following` bakes the skin.
SR_MUST_USE srResult srCreateBake(srSimulation* simulation, srFollowing* following, const srBakeDef* def,
                                  srBake** outBake);

/// Cancels and waits. Accepts null.
void srDestroyBakeWork(srBake* bake);

srJob* srBake_GetJob(srBake* bake);
