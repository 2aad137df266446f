// SPDX-License-Identifier: GPL-3.0-or-later
//
// Four products and sums a point.

#include "mesh/interpolation.h"

#include "core/parallel.h"

#define POINTS_PER_BLOCK 4096

typedef struct Interpolation {
    const srEmbedding* embedding;
    const srVec3f* vectors;
    float* outPoints;
} Interpolation;

static void interpolateRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Interpolation* job = context;
    for (int32_t i = begin; i < end; ++i) {
        const int32_t* nodes = job->embedding->nodes[i];
        const float* weights = job->embedding->weights[i];
        srVec3f sum = srScaleF(weights[0], job->vectors[nodes[0]]);
        for (int c = 1; c < 4; ++c) {
            sum = srMulAddF(sum, weights[c], job->vectors[nodes[c]]);
        }
        float* out = job->outPoints + 3 * (size_t)i;
        out[0] = sum.x;
        out[1] = sum.y;
        out[2] = sum.z;
    }
}

void srInterpolate(const srEmbedding* embedding, const srVec3f* vectors, float* outPoints) {
    Interpolation job = {embedding, vectors, outPoints};
    srParallelFor(interpolateRange, embedding->pointCount, POINTS_PER_BLOCK, &job);
}
