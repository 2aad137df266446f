// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing a character, stage by stage, on one worker: surface and tree, meshing, embedding, transfer of
// weights. The baselines (prepare_plain.c) are the same answers without a tree, a grid or a factor, in the
// same run; where they would take too long, of a sample, scaled up. Before that, whole characters
// (prepare_whole.c), and with --data DIR the meshes of a folder.

#include "prepare_field.h"
#include "prepare_mesher.h"
#include "prepare_plain.h"
#include "prepare_whole.h"
#include "report.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "mesh/bvh.h"
#include "mesh/embedding.h"
#include "mesh/lattice.h"
#include "mesh/mesher.h"
#include "weights/transfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

enum {
    runCount = 3,
    sampleCount = 200,
    fewBones = 10,
    manyBones = 60 // as whole characters have here
};

typedef struct Shape {
    const char* name;
    double bumps; // height of the bumps; 0 is a sphere
    int32_t around;
    int32_t down;
} Shape;

static const Shape shapes[] = {
    {"sphere 3k", 0.0, 56, 28},
    {"blob 3k", 0.35, 56, 28},
    {"sphere 30k", 0.0, 176, 86},
    {"blob 30k", 0.35, 176, 86},
};

// A skin with everything that is made of it; remade run by run.
typedef struct Scene {
    float* points;
    srVec3* vertices;
    int32_t* triangles;
    double* heights; // of vertices, from 0 at the top to 1
    int32_t* starts;
    int32_t* bones;
    float* weights;
    int32_t vertexCount;
    int32_t triangleCount;
    srSurface surface;
    srBvh* bvh;
    srCage cage;
    srEmbedding embedding;
} Scene;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

static void placeVertex(Scene* scene, const Shape* shape, int32_t v, double theta, double phi) {
    double radius = 1.0 + shape->bumps * sin(3.0 * theta) * cos(2.0 * phi);
    srVec3 p = {radius * sin(theta) * cos(phi), radius * sin(theta) * sin(phi), 1.5 * radius * cos(theta)};
    scene->vertices[v] = p;
    scene->points[3 * v] = (float)p.x;
    scene->points[3 * v + 1] = (float)p.y;
    scene->points[3 * v + 2] = (float)p.z;
    scene->heights[v] = theta / PI;
}

// Two bones fade into each other from top to bottom.
static srPaintedWeights paintBones(Scene* scene, int32_t boneCount) {
    for (int32_t v = 0; v < scene->vertexCount; v++) {
        double at = (boneCount - 1.001) * scene->heights[v];
        int32_t bone = (int32_t)at;
        scene->starts[v] = 2 * v;
        scene->bones[2 * v] = bone;
        scene->bones[2 * v + 1] = bone + 1;
        scene->weights[2 * v] = (float)(1.0 - (at - bone));
        scene->weights[2 * v + 1] = (float)(at - bone);
    }
    scene->starts[scene->vertexCount] = 2 * scene->vertexCount;
    return (srPaintedWeights){scene->starts, scene->bones, scene->weights, scene->vertexCount, boneCount};
}

static void addTriangle(Scene* scene, int32_t a, int32_t b, int32_t c) {
    int32_t* t = scene->triangles + 3 * scene->triangleCount++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static void fillSkin(Scene* scene, const Shape* shape) {
    int32_t around = shape->around, rings = shape->down - 1, south = scene->vertexCount - 1;
    placeVertex(scene, shape, 0, 0.0, 0.0);
    placeVertex(scene, shape, south, PI, 0.0);
    for (int32_t i = 0; i < around * rings; i++) {
        placeVertex(scene, shape, 1 + i, PI * (i / around + 1) / shape->down,
                    2.0 * PI * (i % around) / around);
    }
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, last = (rings - 1) * around;
        addTriangle(scene, 0, 1 + i, 1 + next);
        addTriangle(scene, south, 1 + last + next, 1 + last + i);
        for (int32_t ring = 0; ring < rings - 1; ring++) {
            int32_t here = 1 + ring * around, below = here + around;
            addTriangle(scene, here + i, below + i, below + next);
            addTriangle(scene, here + i, below + next, here + next);
        }
    }
}

static Scene makeSkin(const Shape* shape) {
    Scene scene = {.vertexCount = 2 + shape->around * (shape->down - 1)};
    size_t count = (size_t)scene.vertexCount;
    scene.points = malloc(3 * count * sizeof(float));
    scene.vertices = malloc(count * sizeof(srVec3));
    scene.triangles = malloc(6 * count * sizeof(int32_t));
    scene.heights = malloc(count * sizeof(double));
    scene.starts = malloc((count + 1) * sizeof(int32_t));
    scene.bones = malloc(2 * count * sizeof(int32_t));
    scene.weights = malloc(2 * count * sizeof(float));
    fillSkin(&scene, shape);
    return scene;
}

static void freeSkin(Scene* scene) {
    free(scene->points);
    free(scene->vertices);
    free(scene->triangles);
    free(scene->heights);
    free(scene->starts);
    free(scene->bones);
    free(scene->weights);
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

// A point of the sample: a vertex moved in or out a little, as lattice points near the skin are.
static srVec3 samplePoint(const Scene* scene, int32_t i) {
    srVec3 p = scene->vertices[(int32_t)((int64_t)i * scene->vertexCount / sampleCount)];
    return srScale(0.9 + 0.04 * (i % 6), p);
}

static void benchTree(srBenchReport* report, Scene* scene, const char* caseName) {
    double seconds = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        srSurfaceReport found;
        srDestroyBvh(scene->bvh);
        srDestroySurface(&scene->surface);
        double start = srGetSeconds();
        check(srCreateSurface(scene->points, scene->vertexCount, scene->triangles, scene->triangleCount,
                              &scene->surface, &found));
        check(srCreateBvh(&scene->surface, &scene->bvh));
        seconds = lesser(seconds, srGetSeconds() - start);
    }

    double start = srGetSeconds(), worst = 0.0;
    double distances[sampleCount];
    for (int32_t i = 0; i < sampleCount; i++) {
        distances[i] = srBvh_Distance(scene->bvh, samplePoint(scene, i), NULL);
    }
    double tree = srGetSeconds() - start;
    start = srGetSeconds();
    for (int32_t i = 0; i < sampleCount; i++) {
        double difference = fabs(srScanTriangles(&scene->surface, samplePoint(scene, i)) - distances[i]);
        worst = difference > worst ? difference : worst;
    }
    double scan = srGetSeconds() - start;
    srBench_Add(report, caseName, "surface and tree", 1e3 * seconds, "ms", NULL);
    srBench_Add(report, caseName, "surface and tree, baseline: 200 queries without", 1e3 * scan, "ms", NULL);
    srBench_Add(report, caseName, "surface and tree, queries until it pays",
                seconds * sampleCount / (scan - tree), "", "<= 1000");
    srBench_Add(report, caseName, "nearest point, tree", 1e6 * tree / sampleCount, "us", NULL);
    srBench_Add(report, caseName, "nearest point, baseline: all triangles", 1e6 * scan / sampleCount, "us",
                NULL);
    srBench_Add(report, caseName, "nearest point, times faster", scan / tree, "", ">= 10");
    srBench_Add(report, caseName, "nearest point, largest difference", worst, "m", "<= 1e-9");
}

// What the distances of one lattice of that spacing cost without a tree; the mesher tries up to five, and
// does more with them
static double scanLattice(const srSurface* surface, double spacing) {
    srLattice lattice;
    double sum = 0.0; // so that the scan is not optimised away
    if (!srMakeLattice(surface->lower, surface->upper, 0.4 * spacing, spacing, INT32_MAX / 4, &lattice)) {
        return HUGE_VAL;
    }
    double start = srGetSeconds();
    for (int32_t i = 0; i < sampleCount; i++) {
        int32_t point = (int32_t)((int64_t)i * lattice.pointCount / sampleCount);
        sum += srScanTriangles(surface, srLattice_Point(&lattice, point));
    }
    double seconds = srGetSeconds() - start;
    return sum > 0.0 ? seconds / sampleCount * lattice.pointCount : 0.0;
}

static void benchMeshing(srBenchReport* report, Scene* scene, const char* caseName, int32_t target) {
    const srMesherSettings settings = {.targetNodeCount = target};
    srMesherReport found = {0};
    double seconds = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        srMesh made;
        srDestroyCage(&scene->cage);
        double start = srGetSeconds();
        check(srMeshSurface(&scene->surface, &settings, &made, &found));
        scene->cage = made.cage;
        made.cage = (srCage){0};
        srDestroyMesh(&made);
        seconds = lesser(seconds, srGetSeconds() - start);
    }
    double scan = scanLattice(&scene->surface, found.spacing);
    srBench_Add(report, caseName, "meshing", seconds, "s", "<= 1");
    srBench_Add(report, caseName, "meshing, baseline: distances of one lattice", scan, "s", NULL);
    srBench_Add(report, caseName, "meshing, times faster than that alone", scan / seconds, "", ">= 1");
    srBench_Add(report, caseName, "nodes of target", scene->cage.nodeCount / (double)target, "", NULL);
    srBench_Add(report, caseName, "cells", scene->cage.cellCount, "", NULL);
    srBench_Add(report, caseName, "smallest dihedral angle", found.minDihedralDegrees, "degrees", ">= 9.5");
    srBench_Add(report, caseName, "largest dihedral angle", found.maxDihedralDegrees, "degrees", "<= 164.8");
}

static void benchEmbedding(srBenchReport* report, Scene* scene, const char* caseName) {
    double seconds = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        srDestroyEmbedding(&scene->embedding);
        double start = srGetSeconds();
        check(srCreateEmbedding(&scene->cage, scene->vertices, NULL, scene->vertexCount, &scene->embedding));
        seconds = lesser(seconds, srGetSeconds() - start);
    }
    double start = srGetSeconds();
    int64_t sum = 0; // so that the scan is not optimised away
    for (int32_t i = 0; i < sampleCount; i++) {
        sum += srScanCells(&scene->cage, scene->vertices[(int64_t)i * scene->vertexCount / sampleCount]);
    }
    double scan = (srGetSeconds() - start) / sampleCount * scene->vertexCount;
    srBench_Add(report, caseName, "embedding", 1e3 * seconds, "ms", NULL);
    srBench_Add(report, caseName, "embedding, baseline: all cells", sum >= 0 ? 1e3 * scan : 0.0, "ms", NULL);
    srBench_Add(report, caseName, "embedding, times faster", scan / seconds, "", ">= 10");
    srBench_Add(report, caseName, "vertices outside", scene->embedding.outsideCount, "", NULL);
    srBench_Add(report, caseName, "largest sum of weights", scene->embedding.largestWeightSum, "", "<= 4");
}

// One factorisation serves all bones, the baseline begins anew with each: how much quicker that is depends on
// how many there are.
static void benchTransfer(srBenchReport* report, Scene* scene, const char* caseName, int32_t boneCount) {
    const srPaintedWeights painted = paintBones(scene, boneCount);
    size_t size = sizeof(float) * (size_t)boneCount * (size_t)scene->cage.nodeCount;
    float* weights = malloc(size);
    double seconds = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        double start = srGetSeconds();
        check(srTransferWeights(&scene->cage, &scene->embedding, &painted, NULL, weights));
        seconds = lesser(seconds, srGetSeconds() - start);
    }
    float* plain = malloc(size);
    double gradients = HUGE_VAL, worst = 0.0;
    for (int run = 0; run < runCount; run++) {
        double start = srGetSeconds();
        if (!srTransferByGradients(&scene->cage, &scene->embedding, &painted, plain)) {
            fprintf(stderr, "The baseline of the transfer does not converge or has no memory.\n");
            exit(1);
        }
        gradients = lesser(gradients, srGetSeconds() - start);
    }
    for (int32_t i = 0; i < boneCount * scene->cage.nodeCount; i++) {
        double difference = fabs((double)weights[i] - (double)plain[i]);
        worst = difference > worst ? difference : worst;
    }
    free(weights);
    free(plain);
    char metric[64];
    snprintf(metric, sizeof(metric), "transfer of %d bones", boneCount);
    srBench_Add(report, caseName, metric, 1e3 * seconds, "ms", NULL);
    snprintf(metric, sizeof(metric), "%d bones, baseline: conjugate gradients", boneCount);
    srBench_Add(report, caseName, metric, 1e3 * gradients, "ms", NULL);
    snprintf(metric, sizeof(metric), "%d bones, times faster", boneCount);
    srBench_Add(report, caseName, metric, gradients / seconds, "", boneCount == manyBones ? ">= 2" : ">= 1");
    snprintf(metric, sizeof(metric), "%d bones, largest difference", boneCount);
    srBench_Add(report, caseName, metric, worst, "", "<= 1e-5");
}

static void benchShape(srBenchReport* report, const Shape* shape) {
    const int32_t targets[] = {1000, 4000};
    Scene scene = makeSkin(shape);
    benchTree(report, &scene, shape->name);
    for (int t = 0; t < 2; t++) {
        char caseName[64];
        snprintf(caseName, sizeof(caseName), "%s, %d nodes", shape->name, targets[t]);
        benchMeshing(report, &scene, caseName, targets[t]);
        benchEmbedding(report, &scene, caseName);
        benchTransfer(report, &scene, caseName, fewBones);
        benchTransfer(report, &scene, caseName, manyBones);
    }
    srBenchMesherTargets(report, shape->name, &scene.surface);
    srDestroyEmbedding(&scene.embedding);
    srDestroyCage(&scene.cage);
    srDestroyBvh(scene.bvh);
    srDestroySurface(&scene.surface);
    freeSkin(&scene);
}

int main(int argc, char** argv) {
    const char* folder = srTakeDataFolder(&argc, argv);
    srBenchReport* report = srBench_Open(argc, argv, "prepare");
    if (report == NULL) {
        return srBench_Close(report);
    }
    srBenchWhole(report);
    if (folder != NULL && !srBenchFolder(report, folder)) {
        srBench_Close(report);
        return 2;
    }
    srBenchField(report);
    srParallel_SetWorkerCount(1);
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        benchShape(report, &shapes[s]);
    }
    return srBench_Close(report);
}
