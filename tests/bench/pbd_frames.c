// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whole frames: skinning of the cage, pull to the pose, five substeps. A body two cubes thick, because cages
// of characters are mostly surface; and how cost grows from a thousand nodes to a million.

#include "core/parallel.h"
#include "core/thread.h"
#include "limits.h"
#include "measure.h"
#include "pbd_parts.h"
#include "rig/skinning.h"

#include <stdio.h>
#include <stdlib.h>

#define BONES 16
#define ROUNDS 60
#define THREAD_ROUNDS 101

// seconds of skinning all nodes by 16 bones, four a node
typedef struct Skinning {
    srNodeWeights weights;
    srMat34 maps[BONES];
    srVec3* placed;
} Skinning;

static bool createSkinning(const srCage* cage, Skinning* out) {
    *out = (Skinning){.placed = calloc((size_t)cage->nodeCount, sizeof(srVec3))};
    float* dense = calloc((size_t)cage->nodeCount * BONES, sizeof(float));
    bool isComplete = dense != NULL && out->placed != NULL;
    for (int32_t k = 0; isComplete && k < 4 * cage->nodeCount; ++k) {
        int32_t node = k / 4;
        int32_t bone = ((int32_t)(cage->nodes[node].y / 0.4) + k % 4) % BONES;
        dense[(size_t)node * BONES + (size_t)bone] = 0.25f;
    }
    for (int b = 0; b < BONES; ++b) {
        out->maps[b] = srIdentity34();
        out->maps[b].m[0][3] = 0.01 * b;
    }
    isComplete =
        isComplete && srCreateNodeWeights(dense, cage->nodeCount, BONES, &out->weights) == sr_success;
    free(dense);
    return isComplete;
}

// a way to step a frame
typedef struct Way {
    const char* what;
    int32_t handleCount;
    int32_t substeps;
    int32_t sweeps;
    srFleshIntegrator integrator;
    const char* goal;
} Way;

static const Way WAYS[] = {
    {"", 0, 5, 1, sr_fleshTheta, "<= 1.2"},
    {", coarse correction", SR_USUAL_HANDLES, 5, 1, sr_fleshTheta, "<= 2.2"},
    // as artists get it, by the choice of how long swings last
    {", swings fade", SR_USUAL_HANDLES, 3, 1, sr_fleshTheta, NULL},
    {", swings last", SR_USUAL_HANDLES, 3, 1, sr_fleshBdf2, NULL},
    {", swings are kept", SR_USUAL_HANDLES, 10, 12, sr_fleshTheta, NULL},
};

static void benchFrame(srBenchReport* report, const Way* way) {
    static const int32_t COUNTS[3] = {2, 40, 38};
    srBenchFlesh flesh;
    Skinning skinning;
    if (!srBenchCreateFlesh(COUNTS, way->handleCount, way->substeps, &flesh)) {
        return;
    }
    srFleshDials dials = flesh.tuning.dials;
    dials.sweeps = way->sweeps;
    dials.integrator = way->integrator;
    char caseName[96];
    snprintf(caseName, sizeof(caseName), "%d nodes, %d cells, %d substeps", flesh.cage.nodeCount,
             flesh.cage.cellCount, way->substeps);
    if (createSkinning(&flesh.cage, &skinning) && srBenchTuneFlesh(&flesh, &dials)) {
        double least[2] = {1e9, 1e9};
        for (int32_t frame = 1; frame <= ROUNDS; ++frame) {
            double start = srGetSeconds();
            srSkinNodes(&skinning.weights, skinning.maps, flesh.cage.nodes, skinning.placed);
            double skinned = srGetSeconds() - start;
            double solved = srBenchStepFlesh(&flesh, frame);
            least[0] = skinned < least[0] ? skinned : least[0];
            least[1] = solved < least[1] ? solved : least[1];
        }
        char metric[96];
        snprintf(metric, sizeof(metric), "a frame%s: skinning", way->what);
        srBench_Add(report, caseName, metric, 1e3 * least[0], "ms", NULL);
        snprintf(metric, sizeof(metric), "a frame%s: whole", way->what);
        srBench_Add(report, caseName, metric, 1e3 * (least[0] + least[1]), "ms", way->goal);
    }
    srDestroyNodeWeights(&skinning.weights);
    free(skinning.placed);
    srBenchDestroyFlesh(&flesh);
}

void srBenchFrames(srBenchReport* report) {
    for (size_t k = 0; k < sizeof(WAYS) / sizeof(WAYS[0]); ++k) {
        benchFrame(report, &WAYS[k]);
    }
}

// The same body let go, beside a rig that stands: what its momenta cost to keep. Held and loose in turns;
// held by a single node, so that the rest is alike.
void srBenchLoose(srBenchReport* report) {
    static const int32_t COUNTS[3] = {2, 40, 38};
    srBenchFlesh bodies[2] = {0};
    double least[2] = {1e9, 1e9};
    bool isComplete = true;
    for (int k = 0; k < 2; ++k) {
        isComplete = srBenchCreateFlesh(COUNTS, SR_USUAL_HANDLES, 5, &bodies[k]) && isComplete;
        for (int32_t i = 0; isComplete && i < bodies[k].cage.nodeCount; ++i) {
            bodies[k].rest.holds[i] = k == 0 && i == 0 ? 1.0f : 0.0f;
        }
        srFleshDials dials = bodies[k].tuning.dials;
        dials.frequency = 0.0;
        dials.dampingRate = 0.0;
        isComplete = isComplete && srBenchTuneFlesh(&bodies[k], &dials);
        for (int32_t i = 0; isComplete && i < bodies[k].cage.nodeCount; ++i) {
            bodies[k].from[i] = srToFloat(bodies[k].cage.nodes[i]);
            bodies[k].to[i] = bodies[k].from[i];
            bodies[k].state.velocities[i].x = 0.01f * bodies[k].from[i].z;
        }
    }
    for (int32_t round = 0; isComplete && round < 2 * ROUNDS; ++round) {
        double seconds = srBenchPlayFlesh(&bodies[round % 2]);
        least[round % 2] = seconds < least[round % 2] ? seconds : least[round % 2];
    }
    if (isComplete) {
        char caseName[96];
        snprintf(caseName, sizeof(caseName), "%d nodes, %d cells, 5 substeps", bodies[0].cage.nodeCount,
                 bodies[0].cage.cellCount);
        srBench_Add(report, caseName, "a frame of loose flesh", 1e3 * least[1], "ms", NULL);
        srBench_Add(report, caseName, "its momenta, a node and substep",
                    1e9 * (least[1] - least[0]) / (5.0 * bodies[0].cage.nodeCount), "ns", NULL);
    }
    srBenchDestroyFlesh(&bodies[0]);
    srBenchDestroyFlesh(&bodies[1]);
}

// somebody else's work on a core
typedef struct Burden {
    volatile bool isOver;
} Burden;

static void carryBurden(void* context) {
    Burden* burden = context;
    while (!burden->isOver) {
        srPause();
    }
}

// median milliseconds of a frame alone and shared, in turns
static void timeThreads(srBenchFlesh* flesh, double out[2]) {
    static double times[2][THREAD_ROUNDS];
    int32_t frame = 0;
    for (int workers = 1; workers <= 2; ++workers) {
        srParallel_SetWorkerCount(workers);
        for (int round = 0; round < THREAD_ROUNDS; ++round) {
            times[workers - 1][round] = 1e3 * srBenchStepFlesh(flesh, ++frame);
        }
        out[workers - 1] = srBenchMedian(times[workers - 1], THREAD_ROUNDS);
    }
    srParallel_SetWorkerCount(1);
}

static void benchThreads(srBenchReport* report, const int32_t counts[3], const char* goal) {
    srBenchFlesh flesh;
    if (!srBenchCreateFlesh(counts, 0, 5, &flesh)) {
        return;
    }
    char caseName[96];
    double times[2];
    snprintf(caseName, sizeof(caseName), "%d nodes, 5 substeps, two workers", flesh.cage.nodeCount);
    timeThreads(&flesh, times);
    srBench_Add(report, caseName, "one worker / two", times[0] / times[1], "", goal);
    Burden burden = {false};
    srThread* thread = NULL;
    if (srStartThread(carryBurden, &burden, &thread) == sr_success) {
        timeThreads(&flesh, times);
        burden.isOver = true;
        srJoinThread(thread);
        srBench_Add(report, caseName, "a core busy: two workers / one", times[1] / times[0], "", "<= 1.1");
    }
    srBenchDestroyFlesh(&flesh);
}

void srBenchThreads(srBenchReport* report) {
    static const int32_t SMALL[3] = {13, 19, 13};
    static const int32_t LARGE[3] = {20, 24, 20};
    benchThreads(report, SMALL, ">= 1.7");
    benchThreads(report, LARGE, ">= 1.85");
}

// what a frame of `substeps` reads and writes of cells and rows, each once a pass
static size_t countBytes(const srBenchFlesh* flesh, int32_t substeps) {
    size_t sweep = sizeof(srCellBlock) + sizeof(srCellMaterial) + sizeof(srCellPose) + 2 * sizeof(srCellTurn);
    size_t pose = sizeof(srCellBlock) + sizeof(srCellPose) + sizeof(srCellTurn);
    size_t rows = 16 * (size_t)flesh->cage.nodeCount;
    return (size_t)flesh->rest.batches.batchCount * ((size_t)substeps * sweep + pose) +
           rows * (7 * (size_t)substeps + 4);
}

void srBenchSizes(srBenchReport* report) {
    static const int32_t SIDES[] = {9, 20, 45, 99};
    for (size_t k = 0; k < sizeof(SIDES) / sizeof(SIDES[0]); ++k) {
        int32_t counts[3] = {SIDES[k], SIDES[k], SIDES[k]};
        srBenchFlesh flesh;
        if (!srBenchCreateFlesh(counts, 0, 2, &flesh)) {
            continue;
        }
        double least = 1e9;
        for (int32_t frame = 1; frame <= (k < 3 ? 30 : 5); ++frame) {
            double seconds = srBenchStepFlesh(&flesh, frame);
            least = seconds < least ? seconds : least;
        }
        char caseName[96];
        snprintf(caseName, sizeof(caseName), "%d nodes, %d cells, 2 substeps", flesh.cage.nodeCount,
                 flesh.cage.cellCount);
        size_t bytes = countBytes(&flesh, 2);
        srBench_Add(report, caseName, "a cell and substep", 0.5e9 * least / flesh.cage.cellCount, "ns", NULL);
        srBench_Add(report, caseName, "bytes moved by it", 0.5 * (double)bytes / flesh.cage.cellCount,
                    "bytes", NULL);
        srBench_Add(report, caseName, "share of a copy's rate", 100.0 * srBenchTimeCopy(bytes) / least, "%",
                    NULL);
        srBenchDestroyFlesh(&flesh);
    }
}
