// SPDX-License-Identifier: GPL-3.0-or-later
//
// What callers may ask of any job.

#pragma once

#include "core/job.h"
#include "softrig/character.h"

void srReadJobStatus(srJob* job, srJobStatus* outStatus);

/// `srCharacter_Wait` and its like.
SR_MUST_USE srResult srWaitForJob(srJob* job, double seconds);
