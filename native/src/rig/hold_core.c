// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth, an order, and the share of all mass that lies deeper.

#include "rig/hold_core.h"

#include "core/alloc.h"
#include "rig/hold.h"
#include "rig/hold_poisson.h"

#include <stdlib.h>

#define SAME_DEPTH 1e-6 // of the deepest: what rounding makes of equal depths

typedef struct DeepNode {
    double depth;
    double mass;
    int32_t node;
} DeepNode;

// the deepest first
static int compareDeep(const void* a, const void* b) {
    const DeepNode* left = a;
    const DeepNode* right = b;
    if (left->depth != right->depth) {
        return left->depth > right->depth ? -1 : 1;
    }
    return left->node < right->node ? -1 : left->node > right->node;
}

// how much nearer to the centre of mass than the farthest node is
static void measureFromCentre(const srVec3* nodes, const double* masses, int32_t nodeCount, DeepNode* deep) {
    srVec3 centre = {0.0, 0.0, 0.0};
    double total = 0.0, farthest = 0.0;
    for (int32_t i = 0; i < nodeCount; ++i) {
        centre = srMulAdd(centre, masses[i], nodes[i]);
        total += masses[i];
    }
    centre = srScale(total > 0.0 ? 1.0 / total : 0.0, centre);
    for (int32_t i = 0; i < nodeCount; ++i) {
        double distance = srDistance(nodes[i], centre);
        farthest = distance > farthest ? distance : farthest;
    }
    for (int32_t i = 0; i < nodeCount; ++i) {
        deep[i].depth = farthest - srDistance(nodes[i], centre);
    }
}

srResult srComputeCoreHold(const srVec3* nodes, const double* masses, int32_t nodeCount,
                           const int32_t (*cells)[4], int32_t cellCount, const bool* isOnBoundary,
                           double* outHolds) {
    DeepNode* deep = SR_ALLOC(DeepNode, nodeCount);
    if (deep == NULL) {
        return srFailOutOfMemory("the hold map");
    }
    srResult result = sr_success;
    SR_TRY_CLEANUP(srComputePoissonHold(nodes, nodeCount, cells, cellCount, isOnBoundary, outHolds));
    double total = 0.0;
    bool hasInside = false;
    for (int32_t i = 0; i < nodeCount; ++i) {
        deep[i] = (DeepNode){masses[i] > 0.0 ? outHolds[i] / masses[i] : 0.0, masses[i], i};
        hasInside = hasInside || deep[i].depth > 0.0;
        total += masses[i];
    }
    if (!hasInside) {
        measureFromCentre(nodes, masses, nodeCount, deep);
    }
    qsort(deep, (size_t)nodeCount, sizeof(DeepNode), compareDeep);
    double tie = nodeCount > 0 ? SAME_DEPTH * deep[0].depth : 0.0, deeper = 0.0;
    for (int32_t begin = 0, end = 0; begin < nodeCount; begin = end) {
        double hold = total > 0.0 ? srHoldOfRank(deeper / total) : 0.0;
        for (; end < nodeCount && deep[begin].depth - deep[end].depth <= tie; ++end) {
            outHolds[deep[end].node] = hold;
            deeper += deep[end].mass;
        }
    }

cleanup:
    SR_FREE(deep, nodeCount);
    return result;
}
