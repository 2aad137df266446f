// SPDX-License-Identifier: GPL-3.0-or-later
//
// The position-based family: what a constraint costs against plain C, what a frame costs, what a second core
// brings, and how cost grows. Times are the least of many rounds, baseline and candidate in turns.

#include "pbd_parts.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_RATE 24.0

static srResult createParts(const int32_t counts[3], int32_t handleCount, int32_t substeps,
                            srBenchFlesh* flesh, float* holds, float* distances) {
    const double spacing = 0.1;
    SR_TRY(srTestCreateBarCage(counts, spacing, &flesh->cage));
    for (int32_t i = 0; i < flesh->cage.nodeCount; ++i) {
        // a bone along one edge of the bar
        holds[i] = flesh->cage.nodes[i].y < 0.5 * spacing ? 1.0f : 0.1f;
        distances[i] = (float)flesh->cage.nodes[i].x;
    }
    srFleshShape shape = {
        .nodes = flesh->cage.nodes,
        .nodeCount = flesh->cage.nodeCount,
        .cells = (const int32_t (*)[4])flesh->cage.cells,
        .cellCount = flesh->cage.cellCount,
        .holds = holds,
        .boneDistances = distances,
        .handleCount = handleCount,
    };
    SR_TRY(srCreateFleshRest(&shape, &flesh->rest));
    SR_TRY(srCreateFleshTuning(&flesh->rest, &flesh->tuning));
    srFleshDials dials = {
        .youngModulus = 1e5,
        .poissonRatio = 0.45,
        .density = 1000.0,
        .scale = 1.0,
        .frequency = 2.0,
        .dampingRate = 2.0 * 3.912 * FRAME_RATE / 24.0,
        .frameSeconds = 1.0 / FRAME_RATE,
        .largestOffset = 10.0,
        .substeps = substeps,
        .sweeps = 1,
        .poses = 1,
    };
    SR_TRY(srFleshTuning_Set(&flesh->tuning, &flesh->rest, &dials));
    return srCreateFleshScratch(&flesh->rest, &dials, &flesh->state.scratch);
}

bool srBenchCreateFlesh(const int32_t counts[3], int32_t handleCount, int32_t substeps, srBenchFlesh* out) {
    *out = (srBenchFlesh){0};
    size_t nodeCount = (size_t)(counts[0] + 1) * (size_t)(counts[1] + 1) * (size_t)(counts[2] + 1);
    float* holds = calloc(nodeCount, sizeof(float));
    float* distances = calloc(nodeCount, sizeof(float));
    srVec3f** arrays[] = {&out->state.offsets,
                          &out->state.velocities,
                          &out->state.earlierOffsets,
                          &out->state.earlierVelocities,
                          &out->from,
                          &out->to,
                          &out->jump};
    bool isComplete = holds != NULL && distances != NULL;
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); ++k) {
        *arrays[k] = calloc(nodeCount, sizeof(srVec3f));
        isComplete = isComplete && *arrays[k] != NULL;
    }
    isComplete =
        isComplete && createParts(counts, handleCount, substeps, out, holds, distances) == sr_success;
    free(holds);
    free(distances);
    if (!isComplete) {
        srBenchDestroyFlesh(out);
    }
    return isComplete;
}

void srBenchDestroyFlesh(srBenchFlesh* flesh) {
    srDestroyFleshScratch(flesh->state.scratch);
    srDestroyFleshTuning(&flesh->rest, &flesh->tuning);
    srDestroyFleshRest(&flesh->rest);
    srDestroyCage(&flesh->cage);
    free(flesh->state.offsets);
    free(flesh->state.velocities);
    free(flesh->state.earlierOffsets);
    free(flesh->state.earlierVelocities);
    free(flesh->from);
    free(flesh->to);
    free(flesh->jump);
    *flesh = (srBenchFlesh){0};
}

bool srBenchTuneFlesh(srBenchFlesh* flesh, const srFleshDials* dials) {
    srDestroyFleshScratch(flesh->state.scratch);
    flesh->state.scratch = NULL;
    return srFleshTuning_Set(&flesh->tuning, &flesh->rest, dials) == sr_success &&
           srCreateFleshScratch(&flesh->rest, dials, &flesh->state.scratch) == sr_success;
}

double srBenchPlayFlesh(srBenchFlesh* flesh) {
    srPrimaryMotion motion = {flesh->from, flesh->to, flesh->jump, NULL};
    double start = srGetSeconds();
    srFlesh_StepFrame(&flesh->rest, &flesh->tuning, &motion, NULL, &flesh->state);
    return srGetSeconds() - start;
}

double srBenchStepFlesh(srBenchFlesh* flesh, int32_t frame) {
    double places[3];
    for (int back = 0; back < 3; ++back) {
        places[back] = 0.1 * sin(2.0 * 3.14159265358979 * 2.0 * (frame - back) / FRAME_RATE);
    }
    float jump = (float)((places[0] - 2.0 * places[1] + places[2]) * FRAME_RATE);
    for (int32_t i = 0; i < flesh->cage.nodeCount; ++i) {
        srVec3 x = flesh->cage.nodes[i];
        flesh->from[i] = srToFloat((srVec3){x.x + places[1], x.y, x.z});
        flesh->to[i] = srToFloat((srVec3){x.x + places[0], x.y, x.z});
        flesh->jump[i] = (srVec3f){jump, 0.0f, 0.0f};
    }
    return srBenchPlayFlesh(flesh);
}

int main(int argc, char** argv) {
    srBenchReport* report = srBench_Open(argc, argv, "pbd");
    if (report != NULL) {
        srParallel_SetWorkerCount(1);
        srBenchConstraints(report);
        srBenchFrames(report);
        srBenchLoose(report);
        srBenchThreads(report);
        srBenchSizes(report);
    }
    return srBench_Close(report);
}
