// SPDX-License-Identifier: GPL-3.0-or-later

#include "sim/passenger.h"

#include "core/alloc.h"
#include "mesh/interpolation.h"

#define LARGEST_COORDINATE 1e30f // of an offset, in whatever object it is

srResult srCreatePassenger(const srBlend* blend, srPassenger* outPassenger) {
    *outPassenger = (srPassenger){
        .blend = blend,
        .localOffsets = SR_ALLOC(srVec3f, blend->nodeCount),
        .blendScratch = srAlloc(srBlend_GetScratchSize(blend), 1),
        .laterOffsets = SR_ALLOC(float, 3 * (size_t)blend->pointCount),
    };
    if (outPassenger->localOffsets == NULL || outPassenger->blendScratch == NULL ||
        outPassenger->laterOffsets == NULL) {
        srDestroyPassenger(outPassenger);
        return srFailOutOfMemory("what rides on a cage");
    }
    return sr_success;
}

void srDestroyPassenger(srPassenger* passenger) {
    const srBlend* blend = passenger->blend;
    if (blend != NULL) {
        SR_FREE(passenger->localOffsets, blend->nodeCount);
        srFree(passenger->blendScratch, srBlend_GetScratchSize(blend), 1);
        SR_FREE(passenger->laterOffsets, 3 * (size_t)blend->pointCount);
    }
    *passenger = (srPassenger){0};
}

srVec3f srMakeSaneOffset(srVec3 offset) {
    const srVec3f zero = {0.0f, 0.0f, 0.0f};
    srVec3f local = srToFloat(offset);
    bool isSane = fabsf(local.x) < LARGEST_COORDINATE && fabsf(local.y) < LARGEST_COORDINATE &&
                  fabsf(local.z) < LARGEST_COORDINATE;
    // the sum turns -0 into 0
    return isSane ? srMulAddF(zero, 1.0f, local) : zero;
}

void srPassenger_Bring(const srPassenger* passenger, const srMat34* toLocal, const srVec3f* nodeOffsets,
                       float* outOffsets) {
    const srBlend* blend = passenger->blend;
    for (int32_t i = 0; i < blend->nodeCount; ++i) {
        passenger->localOffsets[i] = srMakeSaneOffset(srMulVector34(toLocal, srToDouble(nodeOffsets[i])));
    }
    srInterpolate(blend, passenger->localOffsets, passenger->blendScratch, outOffsets);
}
