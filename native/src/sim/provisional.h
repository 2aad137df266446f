// SPDX-License-Identifier: GPL-3.0-or-later
//
// A provisional frame: somebody looks at a row that is not ready, and gets what it may come to before the
// rows up to it are done. Between those who ask and read, in any thread, and the worker that makes it.

#pragma once

#include "core/error.h"
#include "core/thread.h"
#include "math/vec3.h"

#include <stdint.h>

/// Owns its parts. All but the lock are guarded by it; `made` is the worker's own.
typedef struct srProvisional {
    srMutex* lock;
    int32_t wishedRow; ///< `SR_NULL_INDEX`: nobody asked.
    int32_t shownRow;  ///< Which row `shown` is of; `SR_NULL_INDEX`: of none.
    srVec3f* shown;
    srVec3f* made;
    int32_t nodeCount;
} srProvisional;

SR_MUST_USE srResult srCreateProvisional(int32_t nodeCount, srProvisional* outProvisional);

/// Accepts a zeroed one.
void srDestroyProvisional(srProvisional* provisional);

/// Of several wishes the last one counts.
void srProvisional_Ask(srProvisional* provisional, int32_t row);

/// What is there is of another shot now. The wish stays.
void srProvisional_Forget(srProvisional* provisional);

/// The worker, about to do `nextRow`, takes the wish; `SR_NULL_INDEX` when there is none that is worth it.
int32_t srProvisional_TakeWish(srProvisional* provisional, int32_t nextRow);

/// The worker hands out what it wrote to `made`.
void srProvisional_Publish(srProvisional* provisional, int32_t row);

/// The row that is there, or `SR_NULL_INDEX`.
int32_t srProvisional_GetRow(srProvisional* provisional);

/// Offsets of `row`, which stay as they are until `srProvisional_EndRead`; null (and nothing to end) when
/// there are none.
const srVec3f* srProvisional_BeginRead(srProvisional* provisional, int32_t row);
void srProvisional_EndRead(srProvisional* provisional);
