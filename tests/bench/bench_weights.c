// SPDX-License-Identifier: GPL-3.0-or-later
//
// Joint bounded biharmonic weights on one worker: of a body with arms, made here, on the library's own cage
// and on the same cage full of slivers, and with --data DIR of the OBJ files of a folder; with --only WORDS
// of those alone with WORDS in their names. The baseline in the same run is a step of the same splitting the
// plain way: CHOLMOD's solve of all columns in double. Times are what the thread had of its core, the least
// of three.

#include "weights_scene.h"

#include "report.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "math/cholesky.h"
#include "mesh/quality.h"
#include "weights/biharmonic_skin.h"
#include "weights/biharmonic_system.h"
#include "weights/second_opinion.h"
#include "weights/skin_smooth.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    runCount = 3,
    mostDropped = 16, // bones that are also solved one by one, for that takes long
    mostFiles = 64
};

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

// of this thread alone
static double getSeconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        return srGetSeconds();
    }
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* take(size_t count, size_t size) {
    void* block = calloc(count, size);
    if (block == NULL) {
        exit(1);
    }
    return block;
}

// a plain step's solve
static double timePlainStep(const srBenchWeights* scene) {
    srAnchorRows rows;
    srStiffness stiffness;
    srPieces pieces;
    srBiharmonicSystem system;
    srCholesky* cholesky;
    int32_t piece = 0;
    check(srCreateAnchorRows(&scene->cage, &scene->anchors, &rows));
    check(srCreateStiffness(&scene->cage, &stiffness));
    check(srCreatePieces(&scene->cage, &rows, &pieces));
    while (!pieces.isHeard[piece]) {
        ++piece;
    }
    check(srCreateBiharmonicSystem(&scene->cage, &stiffness, &rows, &pieces, piece,
                                   scene->anchors.columnCount, &system));
    srCsc* A = &system.problem.A;
    for (int32_t j = 0; j < A->columnCount; ++j) {
        A->values[A->columnStarts[j]] += system.metric[j];
    }
    check(srCreateCholesky(A, &cholesky));
    size_t count = (size_t)system.rowCount * (size_t)system.problem.columnCount;
    double* X = take(count, sizeof(double));
    double best = (double)INFINITY;
    for (int run = 0; run < runCount; ++run) {
        for (size_t k = 0; k < count; ++k) {
            X[k] = 1.0 + 0.1 * (double)(k % 7);
        }
        double start = getSeconds();
        check(srCholesky_Solve(cholesky, X, system.problem.columnCount));
        best = fmin(best, getSeconds() - start);
    }
    free(X);
    srDestroyCholesky(cholesky);
    srDestroyBiharmonicSystem(&system);
    srDestroyPieces(&pieces);
    srDestroyStiffness(&stiffness);
    srDestroyAnchorRows(&rows);
    return best;
}

static double findWorstSum(const float* weights, int32_t nodeCount, int32_t columns) {
    double worst = 0.0;
    for (int32_t i = 0; i < nodeCount; ++i) {
        double sum = 0.0;
        for (int32_t j = 0; j < columns; ++j) {
            double w = (double)weights[i * columns + j];
            sum += w;
            worst = fmax(worst, fmax(-w, w - 1.0));
        }
        worst = fmax(worst, fabs(sum - 1.0));
    }
    return worst;
}

static double findPeak(const srBenchWeights* scene, const float* weights) {
    srAnchorRows rows;
    check(srCreateAnchorRows(&scene->cage, &scene->anchors, &rows));
    double height = findHighestPeak(&scene->cage, &rows, scene->anchors.columnCount, weights);
    srDestroyAnchorRows(&rows);
    return height;
}

// Of the usual way: each bone alone against all others, then rows divided by their sums.
static double measureDropped(const srBenchWeights* scene) {
    int32_t n = scene->cage.nodeCount, columns = scene->anchors.columnCount;
    srAnchors alone = scene->anchors;
    int32_t* sides = take((size_t)alone.pointCount, sizeof(int32_t));
    float* pairs = take(2 * (size_t)n, sizeof(float));
    float* weights = take((size_t)n * (size_t)columns, sizeof(float));
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    srBiharmonicReport report;
    alone.columns = sides;
    alone.columnCount = 2;
    for (int32_t j = 0; j < columns; ++j) {
        for (int32_t p = 0; p < alone.pointCount; ++p) {
            sides[p] = scene->anchors.columns[p] != j;
        }
        check(srSolveBiharmonic(&scene->cage, &alone, &settings, NULL,
                                &(srBiharmonicAnswer){.weights = pairs}, &report));
        for (int32_t i = 0; i < n; ++i) {
            weights[(size_t)i * (size_t)columns + (size_t)j] = pairs[2 * i];
        }
    }
    for (int32_t i = 0; i < n; ++i) {
        float* row = weights + (size_t)i * (size_t)columns;
        float sum = 0.0f;
        for (int32_t j = 0; j < columns; ++j) {
            sum += row[j];
        }
        for (int32_t j = 0; j < columns && sum > 0.0f; ++j) {
            row[j] /= sum;
        }
    }
    srAnchorRows rows;
    double energy;
    check(srCreateAnchorRows(&scene->cage, &scene->anchors, &rows));
    check(srMeasureBiharmonicEnergy(&scene->cage, &rows, weights, columns, &energy));
    srDestroyAnchorRows(&rows);
    free(sides);
    free(pairs);
    free(weights);
    return energy;
}

// From nodes to vertices, and there smooth.
static void benchSkin(srBenchReport* out, const char* caseName, const srBenchWeights* scene,
                      const float* weights) {
    const srProgress nobody = {0};
    int32_t columns = scene->anchors.columnCount;
    double bringing = (double)INFINITY, smoothing = (double)INFINITY;
    float* values = take((size_t)scene->surface.pointCount * (size_t)columns, sizeof(float));
    for (int run = 0; run < runCount; ++run) {
        double start = getSeconds();
        check(srBringWeightsToPoints(&scene->cage, &scene->embedding, scene->surface.points, weights, columns,
                                     values));
        double middle = getSeconds();
        check(srSmoothOnSkin(&scene->surface, srFindSmoothLength(&scene->surface, scene->spacing), columns,
                             &nobody, values));
        bringing = fmin(bringing, middle - start);
        smoothing = fmin(smoothing, getSeconds() - middle);
    }
    srBench_Add(out, caseName, "vertices of the skin", scene->surface.pointCount, "", NULL);
    srBench_Add(out, caseName, "to the skin", bringing, "s", NULL);
    srBench_Add(out, caseName, "smoothing on the skin", smoothing, "s", NULL);
    free(values);
}

// A cage that nodes were moved about in is no longer that of its skin.
static void benchScene(srBenchReport* out, const char* name, const srBenchWeights* scene, const char* goal,
                       bool wantsSkin) {
    int32_t columns = scene->anchors.columnCount;
    char caseName[160];
    snprintf(caseName, sizeof(caseName), "%s, %d nodes, %d bones", name, scene->cage.nodeCount, columns);
    size_t count = (size_t)scene->cage.nodeCount * (size_t)columns;
    float* weights = take(count, sizeof(float));
    srBiharmonicAnswer answer = {weights, take(count, sizeof(double)), take(count, sizeof(float))};
    srSimplexSettings settings = srDefaultBiharmonicSettings();
    srBiharmonicReport report;
    double best = (double)INFINITY, clockBest = (double)INFINITY, least, largest, volume;
    for (int run = 0; run < runCount; ++run) {
        double start = getSeconds(), clockStart = srGetSeconds();
        check(srSolveBiharmonic(&scene->cage, &scene->anchors, &settings, NULL, &answer, &report));
        best = fmin(best, getSeconds() - start);
        clockBest = fmin(clockBest, srGetSeconds() - clockStart);
    }
    srMeasureCells(&scene->cage, &least, &largest, &volume);
    double plain = timePlainStep(scene);
    srBench_Add(out, caseName, "all", best, "s", goal);
    srBench_Add(out, caseName, "all, by the clock", clockBest, "s", NULL);
    srBench_Add(out, caseName, "steps", report.loop.iterationCount, "", NULL);
    double primal, dual;
    check(measureReturned(&scene->cage, &scene->anchors, &answer, &primal, &dual));
    srBench_Add(out, caseName, "primal residual, as handed out", primal, "", "<= 1e-4");
    srBench_Add(out, caseName, "dual residual, as handed out", dual, "", "<= 1e-4");
    srBench_Add(out, caseName, "bounds and sums off by",
                findWorstSum(weights, scene->cage.nodeCount, columns), "", "<= 1e-6");
    srBench_Add(out, caseName, "highest peak off its bone", findPeak(scene, weights), "", "<= 0.02");
    srBench_Add(out, caseName, "peaks that became bounds", report.boundCount, "", NULL);
    srBench_Add(out, caseName, "solved once more with them", report.solveCount, "times", NULL);
    srBench_Add(out, caseName, "peaks cut after all", report.peaks.peakCount, "", "<= 0");
    srBench_Add(out, caseName, "energy", report.energy, "", NULL);
    if (columns <= mostDropped) {
        srBench_Add(out, caseName, "energy / that of dropping sums", report.energy / measureDropped(scene),
                    "", "< 1");
    }
    srBench_Add(out, caseName, "smallest angle of a cell", least, "degrees", NULL);
    srBench_Add(out, caseName, "a plain step's solve (baseline)", 1e3 * plain, "ms", NULL);
    srBench_Add(out, caseName, "all / (steps x a plain step's solve)",
                best / (report.loop.iterationCount * plain), "", NULL);
    if (wantsSkin) {
        benchSkin(out, caseName, scene, weights);
    }
    free(answer.ceilings);
    free(answer.smooth);
    free(weights);
}

typedef struct Size {
    int32_t nodeCount, boneCount;
    const char* goal;
    const char* sliverGoal;
} Size;

static const Size SIZES[] = {{4447, 16, "<= 0.35", NULL}, {11000, 24, "<= 1.8", "<= 4"}};

static void benchArms(srBenchReport* out, const char* only) {
    const char *plain = "arms", *slivers = "arms in slivers";
    for (int k = 0; k < 2 && srBench_IsWanted(only, slivers); ++k) {
        srBenchWeights scene;
        srBenchMakeArms(SIZES[k].nodeCount, SIZES[k].boneCount, &scene);
        if (srBench_IsWanted(only, plain)) {
            benchScene(out, plain, &scene, SIZES[k].goal, true);
        }
        srBenchMakeSlivers(&scene);
        benchScene(out, slivers, &scene, SIZES[k].sliverGoal, false);
        srBenchFreeWeights(&scene);
    }
}

static int compareNames(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static void benchFolder(srBenchReport* out, const char* folder, const char* only) {
    char* names[mostFiles];
    int count = 0;
    DIR* directory = opendir(folder);
    if (directory == NULL) {
        fprintf(stderr, "%s: there is no such folder\n", folder);
        return;
    }
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".obj") == 0 && count < mostFiles &&
            srBench_IsWanted(only, entry->d_name)) {
            names[count++] = memcpy(take(length + 1, 1), entry->d_name, length);
        }
    }
    closedir(directory);
    qsort(names, (size_t)count, sizeof(names[0]), compareNames);
    for (int f = 0; f < count; ++f) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", folder, names[f]);
        for (int k = 0; k < 2; ++k) {
            srBenchWeights scene;
            if (srBenchReadWeights(path, SIZES[k].nodeCount, SIZES[k].boneCount, &scene)) {
                bool isThatLarge = scene.cage.nodeCount < 1.05 * SIZES[k].nodeCount;
                benchScene(out, names[f], &scene, isThatLarge ? SIZES[k].goal : NULL, true);
                srBenchFreeWeights(&scene);
            }
        }
        free(names[f]);
    }
}

int main(int argc, char** argv) {
    const char *folder = NULL, *only = srBench_TakeOnly(&argc, argv);
    int kept = 1;
    for (int a = 1; a < argc; ++a) {
        if (strcmp(argv[a], "--data") == 0 && a + 1 < argc) {
            folder = argv[++a];
        } else {
            argv[kept++] = argv[a];
        }
    }
    srBenchReport* out = srBench_Open(kept, argv, "weights");
    if (out != NULL) {
        srParallel_SetWorkerCount(1);
        benchArms(out, only);
        if (folder != NULL) {
            benchFolder(out, folder, only);
        } else {
            fprintf(stderr, "No --data DIR given: meshes from files are left out.\n");
        }
        srParallel_Stop();
    }
    return srBench_Close(out);
}
