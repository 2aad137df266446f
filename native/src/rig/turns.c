// SPDX-License-Identifier: GPL-3.0-or-later
//
// The blended linear part of each node's maps, and its nearest rotation. A mirroring one is turned inside out
// before and after: the nearest rotation of a reflection means nothing.

#include "rig/turns.h"

#include "core/parallel.h"
#include "math/rotation.h"

#define NODES_PER_BLOCK 256
#define NODES_AT_ONCE 64

typedef struct TurnJob {
    const srNodeWeights* weights;
    const srMat34* maps;
    srMat3* outTurns;
} TurnJob;

static srMat3 blendLinearParts(const TurnJob* job, int32_t node) {
    srMat3 A = {{{0}}};
    for (int32_t entry = job->weights->starts[node]; entry < job->weights->starts[node + 1]; ++entry) {
        const srMat34* map = &job->maps[job->weights->bones[entry]];
        double weight = job->weights->weights[entry];
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                A.m[i][j] += weight * map->m[i][j];
            }
        }
    }
    return A;
}

static srMat3 negate(const srMat3* A) {
    srMat3 B;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B.m[i][j] = -A->m[i][j];
        }
    }
    return B;
}

// of at most NODES_AT_ONCE nodes; lanes without a node repeat the last one
static void turnGroup(const TurnJob* job, int32_t begin, int32_t end) {
    srMat3Block parts[NODES_AT_ONCE / SR_BLOCK_LANES] = {0}, turns[NODES_AT_ONCE / SR_BLOCK_LANES];
    bool isMirrored[NODES_AT_ONCE];
    int32_t blockCount = (end - begin + SR_BLOCK_LANES - 1) / SR_BLOCK_LANES;
    for (int32_t k = 0; k < blockCount * SR_BLOCK_LANES; ++k) {
        srMat3 A = blendLinearParts(job, begin + k < end ? begin + k : end - 1);
        isMirrored[k] = srDeterminant3(&A) < 0.0;
        srMat3 F = isMirrored[k] ? negate(&A) : A;
        srSetLane(&parts[k / SR_BLOCK_LANES], k % SR_BLOCK_LANES, &F);
    }
    srFindRotations(parts, turns, blockCount);
    for (int32_t k = 0; k < end - begin; ++k) {
        srMat3 R = srGetLane(&turns[k / SR_BLOCK_LANES], k % SR_BLOCK_LANES);
        job->outTurns[begin + k] = isMirrored[k] ? negate(&R) : R;
    }
}

static void turnRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    for (int32_t node = begin; node < end; node += NODES_AT_ONCE) {
        turnGroup(context, node, end - node < NODES_AT_ONCE ? end : node + NODES_AT_ONCE);
    }
}

void srTurnNodes(const srNodeWeights* weights, const srMat34* maps, srMat3* outTurns) {
    TurnJob job = {weights, maps, outTurns};
    srParallelFor(turnRange, weights->nodeCount, NODES_PER_BLOCK, &job);
}

// up to the bone without a parent; the skin object's map is its own root
static int32_t climb(const int32_t* parents, int32_t boneCount, int32_t map) {
    while (map < boneCount && parents != NULL && parents[map] != SR_NULL_INDEX) {
        map = parents[map];
    }
    return map;
}

static double sumMass(const srNodeWeights* weights, const double* masses, const int32_t* parents,
                      int32_t boneCount, int32_t root) {
    double sum = 0.0;
    for (int32_t node = 0; node < weights->nodeCount; ++node) {
        for (int32_t entry = weights->starts[node]; entry < weights->starts[node + 1]; ++entry) {
            if (climb(parents, boneCount, weights->bones[entry]) == root) {
                sum += masses[node] * weights->weights[entry];
            }
        }
    }
    return sum;
}

int32_t srFindRootMap(const srNodeWeights* weights, const double* masses, const int32_t* parents,
                      int32_t boneCount) {
    int32_t best = boneCount;
    double most = sumMass(weights, masses, parents, boneCount, boneCount);
    for (int32_t bone = 0; bone < boneCount; ++bone) {
        if (climb(parents, boneCount, bone) != bone) {
            continue;
        }
        double mass = sumMass(weights, masses, parents, boneCount, bone);
        if (mass > most) {
            most = mass;
            best = bone;
        }
    }
    return best;
}
