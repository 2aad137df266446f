// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights/anchor_patches.h"

#include "core/alloc.h"

srResult srCreateAnchorPatches(const srCage* cage, srAnchorPatches* outPatches) {
    int32_t n = cage->nodeCount;
    srAnchorPatches p = {.cage = cage};
    p.starts = SR_ALLOC(int32_t, n + 1);
    p.neighbours = SR_ALLOC(int32_t, 2 * (size_t)cage->edgeCount);
    p.volumes = SR_ALLOC(double, n);
    p.pulls = SR_ALLOC_ZERO(double, n);
    p.seen = SR_ALLOC_ZERO(int32_t, n);
    p.queue = SR_ALLOC(int32_t, n);
    if (p.starts == NULL || p.neighbours == NULL || p.volumes == NULL || p.pulls == NULL || p.seen == NULL ||
        p.queue == NULL) {
        srDestroyAnchorPatches(&p);
        return srFailOutOfMemory("the bones of weights");
    }
    srCage_ListNeighbours(cage, p.starts, p.neighbours);
    srCage_LumpVolumes(cage, p.volumes);
    *outPatches = p;
    return sr_success;
}

void srDestroyAnchorPatches(srAnchorPatches* p) {
    int32_t n = p->cage != NULL ? p->cage->nodeCount : 0;
    SR_FREE(p->starts, n + 1);
    SR_FREE(p->neighbours, p->cage != NULL ? 2 * (size_t)p->cage->edgeCount : 0);
    SR_FREE(p->volumes, n);
    SR_FREE(p->pulls, n);
    SR_FREE(p->seen, n);
    SR_FREE(p->queue, n);
    *p = (srAnchorPatches){0};
}

static double squareTo(const srAnchorPatches* p, int32_t node, srVec3 place) {
    srVec3 d = srSub(p->cage->nodes[node], place);
    return srDot(d, d);
}

static int32_t enqueue(srAnchorPatches* p, int32_t node, srVec3 place, double width, int32_t count) {
    if (p->seen[node] != p->patchCount && squareTo(p, node, place) < width * width) {
        p->seen[node] = p->patchCount;
        p->queue[count++] = node;
    }
    return count;
}

// Nodes of the patch into the queue.
static int32_t findPatch(srAnchorPatches* p, const int32_t corners[4], srVec3 place, double width) {
    int32_t count = 0;
    p->patchCount++;
    for (int c = 0; c < 4; c++) {
        count = enqueue(p, corners[c], place, width, count);
    }
    for (int32_t k = 0; k < count; k++) {
        for (int32_t e = p->starts[p->queue[k]]; e < p->starts[p->queue[k] + 1]; e++) {
            count = enqueue(p, p->neighbours[e], place, width, count);
        }
    }
    return count;
}

static double shareOf(const srAnchorPatches* p, int32_t node, srVec3 place, double width) {
    double inner = 1.0 - squareTo(p, node, place) / (width * width);
    return p->volumes[node] * inner * inner;
}

bool srAnchorPatches_Pull(srAnchorPatches* p, const int32_t corners[4], srVec3 place, double width,
                          double strength) {
    int32_t count = findPatch(p, corners, place, width);
    double sum = 0.0;
    for (int32_t k = 0; k < count; k++) {
        sum += shareOf(p, p->queue[k], place, width);
    }
    for (int32_t k = 0; k < count && sum > 0.0; k++) {
        p->pulls[p->queue[k]] += strength * (shareOf(p, p->queue[k], place, width) / sum);
    }
    return sum > 0.0;
}
