// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map by mass rank. Needs no inner nodes, so a thin ear keeps its bone; does not depend on the
// cage's size.

#include "rig/hold.h"

#include "core/alloc.h"

#include <stdlib.h>

#define SMALLEST_INFLUENCE 0.05
#define SAME_DISTANCE 1e-6 // of the farthest: what rounding makes of equal distances

static bool isLoose(const srBoneSegments* bones, int32_t bone) {
    return bones->looseTips != NULL && bones->looseTips[bone] > 0.0f;
}

static double boneLength(const srBoneSegments* bones, int32_t k) {
    return srDistance(bones->heads[k], bones->tails[k]);
}

// cuts the loose length off a chain, from the tip of its last bone
static void loosenChain(const srBoneSegments* bones, const int32_t* childCounts, int32_t leaf,
                        double* gripEnds) {
    // the chain reaches up to the first bone that branches or is not loose
    double chainLength = boneLength(bones, leaf);
    int32_t first = leaf;
    for (int32_t k = bones->parents[leaf]; k != SR_NULL_INDEX && childCounts[k] == 1 && isLoose(bones, k);
         k = bones->parents[k]) {
        chainLength += boneLength(bones, k);
        first = k;
    }

    double loose = chainLength * (double)bones->looseTips[leaf];
    for (int32_t k = leaf; loose > 0.0; k = bones->parents[k]) {
        double length = boneLength(bones, k);
        gripEnds[k] = length > loose ? 1.0 - loose / length : 0.0;
        loose -= length;
        if (k == first) {
            return;
        }
    }
}

// the part of each bone that grips: from its head to `end` (0 to 1); none when end is not positive
static void findGrips(const srBoneSegments* bones, const int32_t* childCounts, double* gripEnds) {
    for (int32_t k = 0; k < bones->boneCount; ++k) {
        gripEnds[k] = 1.0;
    }
    for (int32_t k = 0; k < bones->boneCount; ++k) {
        if (childCounts[k] == 0 && isLoose(bones, k)) {
            loosenChain(bones, childCounts, k, gripEnds);
        }
    }
}

static double distanceToSegment(srVec3 x, srVec3 head, srVec3 tail) {
    srVec3 axis = srSub(tail, head);
    double squared = srDot(axis, axis);
    double t = squared > 0.0 ? srDot(srSub(x, head), axis) / squared : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return srDistance(x, srMulAdd(head, t, axis));
}

// one node under one bone
typedef struct RankedNode {
    int32_t bone;
    int32_t node;
    double distance;
    double mass;
    double weight;
} RankedNode;

// by bone, then from the nearest node outwards
static int compareRanked(const void* a, const void* b) {
    const RankedNode* left = a;
    const RankedNode* right = b;
    if (left->bone != right->bone) {
        return left->bone < right->bone ? -1 : 1;
    }
    if (left->distance != right->distance) {
        return left->distance < right->distance ? -1 : 1;
    }
    return left->node < right->node ? -1 : left->node > right->node;
}

// Of a bone's mass in the trunk, nearest first: the share that obeys exactly, and the one beyond which
// nothing does, so that the belly swings.
#define HELD_SHARE 0.1
#define FREE_SHARE 0.4

// An extremity (hand, foot, head) stays where the rig puts it, or soles would sink into the ground: it holds
// what is its own, and the most of what it shares, or coarse cells at its rim carry the swing of the rest
// into it. In the sample character that stops dead, 400 nodes, the head moves by 1.4 % of the size when it is
// let go below weights of 0.75 to 0.25, and by 0.4 % with these; the belly by 3.9 and 3.5 %.
#define FREE_WEIGHT 0.05
#define HELD_WEIGHT 0.4

static double rise(double from, double to, double x) {
    double t = (x - from) / (to - from);
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return t * t * (3.0 - 2.0 * t);
}

double srHoldOfRank(double share) {
    return rise(FREE_SHARE, HELD_SHARE, share);
}

static int32_t gatherRanked(const srVec3* nodes, const double* masses, const srNodeWeights* weights,
                            const srBoneSegments* bones, const double* gripEnds, RankedNode* ranked) {
    int32_t count = 0;
    for (int32_t i = 0; i < weights->nodeCount; ++i) {
        for (int32_t entry = weights->starts[i]; entry < weights->starts[i + 1]; ++entry) {
            int32_t k = weights->bones[entry];
            if (k >= bones->boneCount || weights->weights[entry] < SMALLEST_INFLUENCE ||
                !(gripEnds[k] > 0.0)) {
                continue;
            }
            srVec3 end = srMulAdd(bones->heads[k], gripEnds[k], srSub(bones->tails[k], bones->heads[k]));
            ranked[count++] = (RankedNode){
                .bone = k,
                .node = i,
                .distance = distanceToSegment(nodes[i], bones->heads[k], end),
                .mass = masses[i] * weights->weights[entry],
                .weight = weights->weights[entry],
            };
        }
    }
    return count;
}

static void holdNode(const RankedNode* ranked, double hold, float* holds, float* distances) {
    if ((float)hold > holds[ranked->node]) {
        holds[ranked->node] = (float)hold;
        distances[ranked->node] = (float)ranked->distance;
    }
}

// The nodes of one bone, nearest first. Nodes at one distance, such as the two of a mirrored pair, have one
// rank.
static void holdTrunk(const RankedNode* ranked, int32_t count, float* holds, float* distances) {
    double total = 0.0;
    for (int32_t j = 0; j < count; ++j) {
        total += ranked[j].mass;
    }
    double nearer = 0.0;
    double tie = SAME_DISTANCE * ranked[count - 1].distance;
    for (int32_t begin = 0, end = 0; begin < count && total > 0.0; begin = end) {
        double hold = srHoldOfRank(nearer / total);
        for (; end < count && ranked[end].distance - ranked[begin].distance <= tie; ++end) {
            holdNode(&ranked[end], hold, holds, distances);
            nearer += ranked[end].mass;
        }
    }
}

static void holdExtremity(const RankedNode* ranked, int32_t count, float* holds, float* distances) {
    for (int32_t j = 0; j < count; ++j) {
        holdNode(&ranked[j], rise(FREE_WEIGHT, HELD_WEIGHT, ranked[j].weight), holds, distances);
    }
}

// Which firm bones are extremities. A foot that follows a control which bends nothing is carried by nobody
// that is here: it is an end all the same where other firm bones do form a chain, and the heaviest bone of
// such chains outweighs it. The heavier one would be a body beside its legs.
static void findExtremities(const srBoneSegments* bones, const double* boneMasses, bool* isExtremity,
                            int32_t* firmChildCounts) {
    int32_t firmBoneCount = 0;
    for (int32_t k = 0; k < bones->boneCount; ++k) {
        firmBoneCount += !isLoose(bones, k);
        if (bones->parents[k] != SR_NULL_INDEX) {
            firmChildCounts[bones->parents[k]] += !isLoose(bones, k);
        }
    }
    double heaviest = 0.0;
    for (int32_t k = 0; k < bones->boneCount; ++k) {
        if (!isLoose(bones, k) && firmChildCounts[k] > 0 && boneMasses[k] > heaviest) {
            heaviest = boneMasses[k];
        }
    }
    for (int32_t k = 0; k < bones->boneCount; ++k) {
        bool isEnd = !isLoose(bones, k) && firmChildCounts[k] == 0;
        bool isCarried = bones->parents[k] != SR_NULL_INDEX || boneMasses[k] < heaviest;
        isExtremity[k] = firmBoneCount > 1 && isEnd && isCarried;
    }
}

srResult srComputeHold(const srVec3* nodes, const double* masses, const srNodeWeights* weights,
                       const srBoneSegments* bones, float* outHolds, float* outDistances) {
    int32_t boneCount = bones->boneCount;
    int32_t entryCount = weights->starts[weights->nodeCount];
    for (int32_t i = 0; i < weights->nodeCount; ++i) {
        outHolds[i] = 0.0f;
        outDistances[i] = 0.0f;
    }
    if (boneCount == 0) {
        return sr_success;
    }

    int32_t* childCounts = SR_ALLOC_ZERO(int32_t, boneCount);
    int32_t* firmChildCounts = SR_ALLOC_ZERO(int32_t, boneCount);
    bool* isExtremity = SR_ALLOC_ZERO(bool, boneCount);
    double* boneMasses = SR_ALLOC_ZERO(double, boneCount);
    double* gripEnds = SR_ALLOC(double, boneCount);
    RankedNode* ranked = SR_ALLOC(RankedNode, entryCount);
    srResult result = sr_success;
    if (childCounts == NULL || firmChildCounts == NULL || isExtremity == NULL || boneMasses == NULL ||
        gripEnds == NULL || ranked == NULL) {
        result = srFailOutOfMemory("the hold map");
        goto cleanup;
    }

    // which part of each bone grips
    for (int32_t k = 0; k < boneCount; ++k) {
        if (bones->parents[k] != SR_NULL_INDEX) {
            childCounts[bones->parents[k]] += 1;
        }
    }
    findGrips(bones, childCounts, gripEnds);

    // each bone holds what is nearest to its grip, an extremity what is its own
    int32_t rankedCount = gatherRanked(nodes, masses, weights, bones, gripEnds, ranked);
    qsort(ranked, (size_t)rankedCount, sizeof(RankedNode), compareRanked);
    for (int32_t j = 0; j < rankedCount; ++j) {
        boneMasses[ranked[j].bone] += ranked[j].mass;
    }
    findExtremities(bones, boneMasses, isExtremity, firmChildCounts);
    for (int32_t begin = 0, end = 0; begin < rankedCount; begin = end) {
        int32_t bone = ranked[begin].bone;
        while (end < rankedCount && ranked[end].bone == bone) {
            ++end;
        }
        if (isExtremity[bone]) {
            holdExtremity(ranked + begin, end - begin, outHolds, outDistances);
        } else {
            holdTrunk(ranked + begin, end - begin, outHolds, outDistances);
        }
    }

cleanup:
    SR_FREE(childCounts, boneCount);
    SR_FREE(firmChildCounts, boneCount);
    SR_FREE(isExtremity, boneCount);
    SR_FREE(boneMasses, boneCount);
    SR_FREE(gripEnds, boneCount);
    SR_FREE(ranked, entryCount);
    return result;
}
