// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bringing motion from the cage to the skin, on one worker: what it costs a frame, beside plain loops in the
// same run; how smooth it is; what making it costs; and the way back, from the skin to the cage.

#include "embed_shape.h"
#include "report.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "math/simd_path.h"
#include "mesh/interpolation.h"
#include "weights/skin_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    frameCount = 200,
    makeCount = 5,
    plainNodes = 4
};

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

// What plain loops read: some nodes and weights a vertex, vectors of three floats
typedef struct Plain {
    int32_t* nodes;
    float* weights;
    int32_t count; // a vertex
} Plain;

static Plain makePlain(const srEmbedding* embedding, int32_t count) {
    Plain plain = {.count = count};
    size_t total = (size_t)embedding->pointCount * (size_t)count;
    plain.nodes = malloc(total * sizeof(int32_t));
    plain.weights = malloc(total * sizeof(float));
    for (size_t i = 0; i < total; i++) {
        size_t v = i / (size_t)count, c = i % (size_t)count;
        plain.nodes[i] = embedding->nodes[v][c % 4];
        plain.weights[i] = embedding->weights[v][c % 4] * (c < 4 ? 1.0f : 0.0f);
    }
    return plain;
}

static void freePlain(Plain* plain) {
    free(plain->nodes);
    free(plain->weights);
}

static void interpolatePlainly(const Plain* plain, const srVec3f* vectors, int32_t vertexCount, float* out) {
    for (int32_t v = 0; v < vertexCount; v++) {
        const int32_t* nodes = plain->nodes + (size_t)v * (size_t)plain->count;
        const float* weights = plain->weights + (size_t)v * (size_t)plain->count;
        srVec3f sum = {0.0f, 0.0f, 0.0f};
        for (int32_t c = 0; c < plain->count; c++) {
            sum = srMulAddF(sum, weights[c], vectors[nodes[c]]);
        }
        memcpy(out + 3 * (size_t)v, &sum, sizeof(sum));
    }
}

// Bytes a second that one core brings from and to memory
static double measureMemory(void) {
    const size_t size = (size_t)1 << 25;
    char* from = calloc(size, 1);
    char* to = calloc(size, 1);
    double seconds = HUGE_VAL;
    for (int run = 0; run < 10; run++) {
        double start = srGetSeconds();
        memcpy(to, from, size);
        seconds = lesser(seconds, srGetSeconds() - start);
        from[run] = to[size - 1 - (size_t)run];
    }
    free(from);
    free(to);
    return 2.0 * (double)size / seconds;
}

static double bytesPerVertex(const srBlend* blend) {
    double shares = (double)blend->shareCount * (sizeof(float) + sizeof(uint16_t));
    double maps =
        (double)blend->mapCount * 64.0 * 2.0 + (double)blend->slopeStarts[blend->mapCount] * sizeof(srSlope);
    double points = (double)blend->pointCount * (2 * 3 * sizeof(float) + sizeof(int32_t));
    return (shares + maps + points) / blend->pointCount;
}

// The least time of each of the loops, in turns, so that a busy machine is busy for all
static void timeFrames(Shape* shape, void* scratch, float* out, double outSeconds[SR_SIMD_PATH_COUNT + 2]) {
    int32_t meanShares = (int32_t)lround((double)shape->blend.shareCount / shape->vertexCount);
    Plain plains[2] = {makePlain(&shape->embedding, plainNodes), makePlain(&shape->embedding, meanShares)};
    for (int kind = 0; kind < SR_SIMD_PATH_COUNT + 2; kind++) {
        outSeconds[kind] = HUGE_VAL;
    }
    for (int frame = 0; frame < frameCount; frame++) {
        for (int kind = 0; kind < SR_SIMD_PATH_COUNT + 2; kind++) {
            bool isPath = kind < SR_SIMD_PATH_COUNT;
            if (isPath && !srForceSimdPath((srSimdPath)kind)) {
                continue;
            }
            double start = srGetSeconds();
            if (isPath) {
                srInterpolate(&shape->blend, shape->vectors, scratch, out);
            } else {
                interpolatePlainly(&plains[kind - SR_SIMD_PATH_COUNT], shape->vectors, shape->vertexCount,
                                   out);
            }
            outSeconds[kind] = lesser(outSeconds[kind], srGetSeconds() - start);
        }
    }
    freePlain(&plains[0]);
    freePlain(&plains[1]);
}

static void benchFrame(srBenchReport* report, Shape* shape) {
    const char* name = "100,000 vertices, 4,000 nodes";
    const srBlend* blend = &shape->blend;
    void* scratch = srAlloc(srBlend_GetScratchSize(blend), 1);
    float* out = malloc(12 * (size_t)shape->vertexCount);
    double seconds[SR_SIMD_PATH_COUNT + 2];
    char text[64];
    srSimdPath best = srGetSimdPath();
    moveRoughly(shape);
    timeFrames(shape, scratch, out, seconds);
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        if (srForceSimdPath((srSimdPath)path)) {
            snprintf(text, sizeof(text), "blended, %s", srGetSimdPathName((srSimdPath)path));
            srBench_Add(report, name, text, 1e3 * seconds[path], "ms", path == (int)best ? "<= 0.6" : NULL);
        }
    }
    srForceSimdPath(best);
    double plain = seconds[SR_SIMD_PATH_COUNT], same = seconds[SR_SIMD_PATH_COUNT + 1];
    double memory = measureMemory(), bytes = bytesPerVertex(blend);
    srBench_Add(report, name, "baseline: straight, 4 nodes, plain loop", 1e3 * plain, "ms", NULL);
    srBench_Add(report, name, "baseline: plain loop, as many nodes as shares", 1e3 * same, "ms", NULL);
    srBench_Add(report, name, "blended over straight", seconds[best] / plain, "", "<= 3");
    srBench_Add(report, name, "shares a vertex", (double)blend->shareCount / shape->vertexCount, "", NULL);
    srBench_Add(report, name, "bytes moved a vertex", bytes, "", NULL);
    srBench_Add(report, name, "memory's speed", 1e-9 * memory, "GB/s", NULL);
    srBench_Add(report, name, "share of it", bytes * shape->vertexCount / seconds[best] / memory, "", NULL);
    srFree(scratch, srBlend_GetScratchSize(blend), 1);
    free(out);
}

// Largest angle between neighbouring faces, in that of the shape at rest
static void benchMotion(srBenchReport* report, Shape* shape, const char* name, const char* goal) {
    size_t size = 12 * (size_t)shape->vertexCount;
    float* straight = malloc(size);
    float* blended = malloc(size);
    float* zero = calloc(1, size);
    void* scratch = srAlloc(srBlend_GetScratchSize(&shape->blend), 1);
    Plain plain = makePlain(&shape->embedding, plainNodes);
    interpolatePlainly(&plain, shape->vectors, shape->vertexCount, straight);
    srInterpolate(&shape->blend, shape->vectors, scratch, blended);
    double rest = findLargestAngle(shape, zero);
    double before = findLargestAngle(shape, straight) / rest, after = findLargestAngle(shape, blended) / rest;
    srBench_Add(report, name, "largest jump of normals, straight", before, "of rest's", NULL);
    srBench_Add(report, name, "largest jump of normals, blended", after, "of rest's", NULL);
    srBench_Add(report, name, "blended over straight", after / before, "", goal);
    freePlain(&plain);
    srFree(scratch, srBlend_GetScratchSize(&shape->blend), 1);
    free(straight);
    free(blended);
    free(zero);
}

static void benchSmoothness(srBenchReport* report, int32_t nodes) {
    char name[64];
    Shape shape;
    check(createShape(&shape, 300, 150, nodes));
    snprintf(name, sizeof(name), "smooth motion, %d nodes", nodes);
    moveSmoothly(&shape);
    benchMotion(report, &shape, name, "<= 0.5");
    snprintf(name, sizeof(name), "rough motion, %d nodes", nodes);
    moveRoughly(&shape);
    benchMotion(report, &shape, name, "<= 0.5");
    destroyShape(&shape);
}

static void benchMaking(srBenchReport* report, Shape* shape, int32_t workers) {
    char name[64];
    double embedding = HUGE_VAL, hinted = HUGE_VAL, blend = HUGE_VAL;
    srParallel_SetWorkerCount(workers);
    for (int run = 0; run < makeCount; run++) {
        srEmbedding made, again;
        srBlend blended;
        double start = srGetSeconds();
        check(srCreateEmbedding(&shape->cage, shape->vertices, NULL, shape->vertexCount, &made));
        embedding = lesser(embedding, srGetSeconds() - start);
        start = srGetSeconds();
        check(srCreateEmbedding(&shape->cage, shape->vertices, made.cells, shape->vertexCount, &again));
        hinted = lesser(hinted, srGetSeconds() - start);
        start = srGetSeconds();
        check(srCreateBlend(&shape->cage, &made, shape->vertices, &blended));
        blend = lesser(blend, srGetSeconds() - start);
        srDestroyBlend(&blended);
        srDestroyEmbedding(&made);
        srDestroyEmbedding(&again);
    }
    srParallel_SetWorkerCount(1);
    snprintf(name, sizeof(name), "45,000 vertices, 4,000 nodes, %d worker%s", workers,
             workers > 1 ? "s" : "");
    srBench_Add(report, name, "embedding", 1e3 * embedding, "ms", NULL);
    srBench_Add(report, name, "embedding with hints", 1e3 * hinted, "ms", NULL);
    srBench_Add(report, name, "blend", 1e3 * blend, "ms", NULL);
    srBench_Add(report, name, "embedding and blend", 1e3 * (embedding + blend), "ms",
                workers > 1 ? "<= 60" : NULL);
}

static srVec3 sheared(srVec3 p) {
    return (srVec3){0.3 * p.x - 1.1 * p.y + 0.2 * p.z + 1.0, 0.9 * p.x + 0.1 * p.y - 0.4 * p.z,
                    -0.5 * p.x + 0.7 * p.y + 1.3 * p.z};
}

// The largest distance between where nodes are and should be
static double placeBy(const Shape* shape, const srSkinMap* map, srVec3 (*motion)(srVec3), void* scratch,
                      double* outSeconds, double* outFit) {
    float* skin = malloc(12 * (size_t)shape->vertexCount);
    srVec3* nodes = malloc(sizeof(srVec3) * (size_t)shape->cage.nodeCount);
    double worst = 0.0;
    *outFit = 0.0;
    *outSeconds = HUGE_VAL;
    for (int32_t v = 0; v < shape->vertexCount; v++) {
        srVec3f p = srToFloat(motion(shape->vertices[v]));
        memcpy(skin + 3 * (size_t)v, &p, sizeof(p));
    }
    for (int run = 0; run < 4 * makeCount; run++) {
        double start = srGetSeconds();
        srSkinMap_PlaceNodes(map, skin, scratch, nodes, NULL);
        *outSeconds = lesser(*outSeconds, srGetSeconds() - start);
    }
    for (int32_t node = 0; node < shape->cage.nodeCount; node++) {
        worst = fmax(worst, srDistance(nodes[node], motion(shape->cage.nodes[node])));
    }
    for (int32_t v = 0; v < shape->vertexCount; v++) {
        srVec3 q = {0.0, 0.0, 0.0};
        for (int c = 0; c < 4; c++) {
            q = srMulAdd(q, (double)shape->embedding.weights[v][c], nodes[shape->embedding.nodes[v][c]]);
        }
        *outFit = fmax(*outFit, srDistance(q, motion(shape->vertices[v])));
    }
    free(skin);
    free(nodes);
    return worst;
}

static void benchSkinMap(srBenchReport* report, Shape* shape) {
    const char* name = "skin to cage, 45,000 vertices, 4,000 nodes";
    const double size = 3.0; // of the shape
    double making = HUGE_VAL, seconds, fit;
    srSkinMap map = {0};
    for (int run = 0; run < 3; run++) {
        srDestroySkinMap(&map);
        double start = srGetSeconds();
        check(srCreateSkinMap(&shape->cage, &shape->embedding, shape->vertices, &map));
        making = lesser(making, srGetSeconds() - start);
    }
    void* scratch = srAlloc(srSkinMap_GetScratchSize(&map), 1);
    srBench_Add(report, name, "making", 1e3 * making, "ms", NULL);
    double worst = placeBy(shape, &map, sheared, scratch, &seconds, &fit);
    srBench_Add(report, name, "a frame", 1e3 * seconds, "ms", NULL);
    srBench_Add(report, name, "affine motion, largest error", worst / size, "of size", "<= 1e-6");
    worst = placeBy(shape, &map, wave, scratch, &seconds, &fit);
    srBench_Add(report, name, "smooth motion, largest error on the skin", 1e3 * fit / size,
                "permille of size", NULL);
    srBench_Add(report, name, "smooth motion, largest error of a node", 1e3 * worst / size,
                "permille of size", NULL);
    srFree(scratch, srSkinMap_GetScratchSize(&map), 1);
    srDestroySkinMap(&map);
}

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "embed");
    if (report == NULL) {
        return srBench_Close(report);
    }
    Shape shape;
    srParallel_SetWorkerCount(1);
    check(createShape(&shape, 448, 224, 4000));
    benchFrame(report, &shape);
    destroyShape(&shape);
    benchSmoothness(report, 300);
    benchSmoothness(report, 1000);
    benchSmoothness(report, 4000);
    check(createShape(&shape, 300, 150, 4000));
    benchMaking(report, &shape, 1);
    benchMaking(report, &shape, 2);
    benchSkinMap(report, &shape);
    destroyShape(&shape);
    srParallel_Stop();
    return srBench_Close(report);
}
