// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which nodes lie on the boundary, and what each weighs.

#include "sim/holds.h"

#include "core/alloc.h"
#include "mesh/boundary.h"
#include "rig/hold_core.h"

srResult srCreateCoreHolds(const srCage* cage, double** outHolds) {
    srBoundary boundary = {0};
    srResult result = sr_success;
    bool* isOnBoundary = SR_ALLOC_ZERO(bool, cage->nodeCount);
    double* volumes = SR_ALLOC(double, cage->nodeCount);
    double* holds = SR_ALLOC(double, cage->nodeCount);
    *outHolds = NULL;
    if (isOnBoundary == NULL || volumes == NULL || holds == NULL) {
        result = srFailOutOfMemory("the hold map");
        goto cleanup;
    }
    SR_TRY_CLEANUP(srCreateBoundary(cage, &boundary));
    for (int32_t face = 0; face < boundary.faceCount; ++face) {
        for (int c = 0; c < 3; ++c) {
            isOnBoundary[boundary.faces[face][c]] = true;
        }
    }
    srCage_LumpVolumes(cage, volumes);
    SR_TRY_CLEANUP(srComputeCoreHold(cage->nodes, volumes, cage->nodeCount, (const int32_t (*)[4])cage->cells,
                                     cage->cellCount, isOnBoundary, holds));
    *outHolds = holds;
    holds = NULL;

cleanup:
    srDestroyBoundary(&boundary);
    SR_FREE(isOnBoundary, cage->nodeCount);
    SR_FREE(volumes, cage->nodeCount);
    SR_FREE(holds, cage->nodeCount);
    return result;
}
