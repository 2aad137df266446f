// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bone maps and linear blend skinning. In double: second differences of these positions drive the physics,
// and a float has too few digits for them a hundred metres from the origin.

#include "rig/skinning.h"

#include "core/alloc.h"
#include "core/parallel.h"

#include <string.h>

#define SMALLEST_WEIGHT 1e-4f
#define NODES_PER_BLOCK 512
#define LARGEST_COORDINATE 1e30

srResult srCreateRig(const float* boneRests, const int32_t* boneSpaces, int32_t boneCount, int32_t spaceCount,
                     srRig* outRig) {
    srRig rig = {.boneCount = boneCount, .spaceCount = spaceCount};
    *outRig = rig;
    if (boneCount == 0) {
        return sr_success;
    }
    rig.inverseRests = SR_ALLOC(srMat34, boneCount);
    rig.boneSpaces = SR_ALLOC_ZERO(int32_t, boneCount);
    if (rig.inverseRests == NULL || rig.boneSpaces == NULL) {
        srDestroyRig(&rig);
        return srFailOutOfMemory("the rig");
    }

    for (int32_t k = 0; k < boneCount; ++k) {
        srMat34 rest = srFromColumns16(boneRests + 16 * (size_t)k);
        if (!srInvert34(&rest, &rig.inverseRests[k])) {
            srDestroyRig(&rig);
            return srFail(sr_errorInvalidValue, "Bone %d has a rest matrix of no volume.", k);
        }
    }
    if (boneSpaces != NULL) {
        memcpy(rig.boneSpaces, boneSpaces, (size_t)boneCount * sizeof(int32_t));
    }
    *outRig = rig;
    return sr_success;
}

void srDestroyRig(srRig* rig) {
    SR_FREE(rig->inverseRests, rig->boneCount);
    SR_FREE(rig->boneSpaces, rig->boneCount);
    *rig = (srRig){0};
}

int32_t srRig_GetRowMatrixCount(const srRig* rig) {
    return 1 + rig->spaceCount + rig->boneCount;
}

srMat34 srRig_ReadObject(const float* row) {
    return srFromColumns16(row);
}

void srRig_ReadRow(const srRig* rig, const float* row, srMat34* outMaps) {
    srMat34 object = srRig_ReadObject(row);
    const float* spaces = row + 16;
    const float* poses = spaces + 16 * (size_t)rig->spaceCount;

    for (int32_t k = 0; k < rig->boneCount; ++k) {
        srMat34 space = srFromColumns16(spaces + 16 * (size_t)rig->boneSpaces[k]);
        srMat34 pose = srFromColumns16(poses + 16 * (size_t)k);
        srMat34 inverseSpace;
        srInvert34(&space, &inverseSpace);

        srMat34 toSpace = srMul34(&inverseSpace, &object);
        srMat34 toBone = srMul34(&rig->inverseRests[k], &toSpace);
        srMat34 posed = srMul34(&pose, &toBone);
        outMaps[k] = srMul34(&space, &posed);
    }
    outMaps[rig->boneCount] = object;
}

// what a weight must have to be kept; the largest of a row always has it
static float smallestKept(const float* row, int32_t boneCount) {
    float largest = 0.0f;
    for (int32_t k = 0; k < boneCount; ++k) {
        largest = row[k] > largest ? row[k] : largest;
    }
    return largest < SMALLEST_WEIGHT ? largest : SMALLEST_WEIGHT;
}

static double sumKept(const float* row, int32_t boneCount, int32_t* outKeptCount) {
    float smallest = smallestKept(row, boneCount);
    double sum = 0.0;
    *outKeptCount = 0;
    for (int32_t k = 0; k < boneCount; ++k) {
        if (row[k] >= smallest) {
            sum += (double)row[k];
            *outKeptCount += 1;
        }
    }
    return sum;
}

srResult srCreateNodeWeights(const float* dense, int32_t nodeCount, int32_t boneCount,
                             srNodeWeights* outWeights) {
    srNodeWeights weights = {.nodeCount = nodeCount};
    *outWeights = weights;
    weights.starts = SR_ALLOC_ZERO(int32_t, nodeCount + 1);
    if (weights.starts == NULL) {
        return srFailOutOfMemory("the weights of the cage");
    }
    for (int32_t i = 0; i < nodeCount; ++i) {
        int32_t keptCount;
        sumKept(dense + (size_t)i * (size_t)boneCount, boneCount, &keptCount);
        weights.starts[i + 1] = weights.starts[i] + keptCount;
    }

    int32_t entryCount = weights.starts[nodeCount];
    weights.bones = SR_ALLOC(int32_t, entryCount);
    weights.weights = SR_ALLOC(double, entryCount);
    if (weights.bones == NULL || weights.weights == NULL) {
        srDestroyNodeWeights(&weights);
        return srFailOutOfMemory("the weights of the cage");
    }
    for (int32_t i = 0, entry = 0; i < nodeCount; ++i) {
        const float* row = dense + (size_t)i * (size_t)boneCount;
        int32_t keptCount;
        double sum = sumKept(row, boneCount, &keptCount);
        float smallest = smallestKept(row, boneCount);
        for (int32_t k = 0; k < boneCount; ++k) {
            if (row[k] >= smallest) {
                weights.bones[entry] = k;
                weights.weights[entry] = (double)row[k] / sum;
                ++entry;
            }
        }
    }
    *outWeights = weights;
    return sr_success;
}

void srDestroyNodeWeights(srNodeWeights* weights) {
    if (weights->starts != NULL) {
        int32_t entryCount = weights->starts[weights->nodeCount];
        SR_FREE(weights->bones, entryCount);
        SR_FREE(weights->weights, entryCount);
        SR_FREE(weights->starts, weights->nodeCount + 1);
    }
    *weights = (srNodeWeights){0};
}

typedef struct SkinJob {
    const srNodeWeights* weights;
    const srMat34* maps;
    const srVec3* restNodes;
    srVec3* outNodes;
} SkinJob;

static void skinRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const SkinJob* job = context;
    for (int32_t i = begin; i < end; ++i) {
        srVec3 p = {0.0, 0.0, 0.0};
        for (int32_t entry = job->weights->starts[i]; entry < job->weights->starts[i + 1]; ++entry) {
            const srMat34* map = &job->maps[job->weights->bones[entry]];
            p = srMulAdd(p, job->weights->weights[entry], srMulPoint34(map, job->restNodes[i]));
        }

        // matrices may be finite and their products not: a place that no float can hold becomes the origin
        bool isPlace = fabs(p.x) < LARGEST_COORDINATE && fabs(p.y) < LARGEST_COORDINATE &&
                       fabs(p.z) < LARGEST_COORDINATE;
        job->outNodes[i] = isPlace ? p : (srVec3){0.0, 0.0, 0.0};
    }
}

void srSkinNodes(const srNodeWeights* weights, const srMat34* maps, const srVec3* restNodes,
                 srVec3* outNodes) {
    SkinJob job = {weights, maps, restNodes, outNodes};
    srParallelFor(skinRange, weights->nodeCount, NODES_PER_BLOCK, &job);
}
