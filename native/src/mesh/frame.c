// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/frame.h"

#include "core/alloc.h"
#include "core/parallel.h"

#define CELLS_PER_BLOCK 1024

typedef struct Filling {
    const srCage* cage;
    srFrame* frames;
} Filling;

// The gradient of a corner's weight is the area vector of the face opposite to it over three volumes.
static void fillRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Filling* filling = context;
    const srVec3* nodes = filling->cage->nodes;
    for (int32_t cell = begin; cell < end; cell++) {
        const int32_t* n = filling->cage->cells[cell];
        srVec3 a = nodes[n[0]];
        srVec3 ab = srSub(nodes[n[1]], a), ac = srSub(nodes[n[2]], a), ad = srSub(nodes[n[3]], a);
        srVec3 across = srCross(ac, ad);
        double scale = 1.0 / srDot(ab, across);
        filling->frames[cell] = (srFrame){
            a, {srScale(scale, across), srScale(scale, srCross(ad, ab)), srScale(scale, srCross(ab, ac))}};
    }
}

srResult srCreateFrames(const srCage* cage, srFrame** outFrames) {
    srFrame* frames = SR_ALLOC(srFrame, cage->cellCount);
    if (frames == NULL) {
        return srFailOutOfMemory("the frames of cells");
    }
    Filling filling = {cage, frames};
    srParallelFor(fillRange, cage->cellCount, CELLS_PER_BLOCK, &filling);
    *outFrames = frames;
    return sr_success;
}
