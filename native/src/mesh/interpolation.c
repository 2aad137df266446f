// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two loops: maps of nodes, then points.

#include "mesh/interpolation.h"

#include "core/parallel.h"
#include "math/simd_path.h"
#include "mesh/blend_kernels.h"

#define MAPS_PER_BLOCK 512
#define POINTS_PER_BLOCK 4096

typedef struct Interpolation {
    const srBlendKernels* kernels;
    const srBlend* blend;
    float* rows; // vectors as x, y, z, 0
    float* maps;
    float* outPoints;
} Interpolation;

static const srBlendKernels* getKernels(void) {
    switch (srGetSimdPath()) {
#if defined(SR_HAS_AVX2)
    case sr_simdAvx2:
    case sr_simdAvx512:
        return &srBlendAvx2;
#endif
#if defined(SR_HAS_NEON)
    case sr_simdNeon:
        return &srBlendNeon;
#endif
    default:
        return &srBlendScalar;
    }
}

static void fillRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Interpolation* job = context;
    job->kernels->fillMaps(job->blend, job->rows, job->maps, begin, end);
}

static void blendRange(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Interpolation* job = context;
    job->kernels->blendPoints(job->blend, job->maps, job->outPoints, begin, end);
}

// Maps come first: they are larger, and each is one line of the cache.
size_t srBlend_GetScratchSize(const srBlend* blend) {
    return ((size_t)blend->mapCount * SR_MAP_FLOATS + (size_t)blend->nodeCount * 4) * sizeof(float);
}

void srInterpolate(const srBlend* blend, const srVec3f* vectors, void* scratch, float* outPoints) {
    float* maps = scratch;
    float* rows = maps + (size_t)blend->mapCount * SR_MAP_FLOATS;
    for (int32_t node = 0; node < blend->nodeCount; node++) {
        float* row = rows + 4 * (size_t)node;
        row[0] = vectors[node].x;
        row[1] = vectors[node].y;
        row[2] = vectors[node].z;
        row[3] = 0.0f;
    }
    Interpolation job = {getKernels(), blend, rows, maps, outPoints};
    srParallelFor(fillRange, blend->mapCount, MAPS_PER_BLOCK, &job);
    srParallelFor(blendRange, blend->pointCount, POINTS_PER_BLOCK, &job);
}
