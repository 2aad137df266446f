// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bar of flesh for tests of the fast solver, with its motion and its state.

#pragma once

#include "support/support.h"

#include "core/hash.h"
#include "core/parallel.h"
#include "math/simd_path.h"
#include "solver/fem.h"
#include "solver/flesh.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct FleshBody {
    srCage cage;
    srFleshRest rest;
    srFleshTuning tuning;
    srFleshState state;
    float* holds;
    float* distances;
    srVec3f* from;
    srVec3f* to;
    srVec3f* jump;
    srVec3f* loads;
} FleshBody;

static __attribute__((unused)) srFleshDials fleshDials(double young, double poisson) {
    return (srFleshDials){
        .youngModulus = young,
        .poissonRatio = poisson,
        .density = 1000.0,
        .scale = 1.0,
        .frequency = 0.0,
        .dampingRate = 0.0,
        .frameSeconds = 1.0 / 24.0,
        .largestOffset = 1.0,
        .substeps = 5,
        .sweeps = 1,
        .poses = 1,
    };
}

static __attribute__((unused)) void fleshTune(FleshBody* body, const srFleshDials* dials) {
    assert_success(srFleshTuning_Set(&body->tuning, &body->rest, dials));
    srDestroyFleshScratch(body->state.scratch);
    assert_success(srCreateFleshScratch(&body->rest, dials, &body->state.scratch));
}

static void fleshSetPose(srVec3f* p, const FleshBody* body) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        p[i] = srToFloat(body->cage.nodes[i]);
    }
}

static srFleshShape fleshShapeOf(const FleshBody* body, int32_t handleCount) {
    return (srFleshShape){
        .nodes = body->cage.nodes,
        .nodeCount = body->cage.nodeCount,
        .cells = (const int32_t (*)[4])body->cage.cells,
        .cellCount = body->cage.cellCount,
        .holds = body->holds,
        .boneDistances = body->distances,
        .handleCount = handleCount,
    };
}

// the same body of another shape; to be tuned
static __attribute__((unused)) void fleshRemake(FleshBody* body, const srFleshShape* shape) {
    srDestroyFleshScratch(body->state.scratch);
    body->state.scratch = NULL;
    srDestroyFleshTuning(&body->rest, &body->tuning);
    srDestroyFleshRest(&body->rest);
    assert_success(srCreateFleshRest(shape, &body->rest));
    assert_success(srCreateFleshTuning(&body->rest, &body->tuning));
}

// A bar on the plane y = 0; held there if `hold` is 1.
static __attribute__((unused)) void fleshCreate(FleshBody* body, const int32_t counts[3], double spacing,
                                                float hold, int32_t handleCount) {
    *body = (FleshBody){0};
    assert_success(srTestCreateBarCage(counts, spacing, &body->cage));
    size_t nodeCount = (size_t)body->cage.nodeCount;
    body->holds = calloc(nodeCount, sizeof(float));
    body->distances = calloc(nodeCount, sizeof(float));
    srVec3f** arrays[] = {&body->state.offsets,
                          &body->state.velocities,
                          &body->state.earlierOffsets,
                          &body->state.earlierVelocities,
                          &body->from,
                          &body->to,
                          &body->jump,
                          &body->loads};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); ++k) {
        *arrays[k] = calloc(nodeCount, sizeof(srVec3f));
        assert_non_null(*arrays[k]);
    }
    for (size_t i = 0; i < nodeCount; ++i) {
        body->holds[i] = body->cage.nodes[i].y < 0.5 * spacing ? hold : 0.0f;
    }
    srFleshShape shape = fleshShapeOf(body, handleCount);
    assert_success(srCreateFleshRest(&shape, &body->rest));
    assert_success(srCreateFleshTuning(&body->rest, &body->tuning));
    fleshSetPose(body->from, body);
    fleshSetPose(body->to, body);
    srFleshDials dials = fleshDials(1e5, 0.3);
    fleshTune(body, &dials);
}

static __attribute__((unused)) void fleshDestroy(FleshBody* body) {
    srDestroyFleshScratch(body->state.scratch);
    srDestroyFleshTuning(&body->rest, &body->tuning);
    srDestroyFleshRest(&body->rest);
    srDestroyCage(&body->cage);
    free(body->holds);
    free(body->distances);
    free(body->state.offsets);
    free(body->state.velocities);
    free(body->state.earlierOffsets);
    free(body->state.earlierVelocities);
    free(body->from);
    free(body->to);
    free(body->jump);
    free(body->loads);
}

static __attribute__((unused)) int32_t fleshStep(FleshBody* body) {
    srPrimaryMotion motion = {body->from, body->to, body->jump, NULL};
    return srFlesh_StepFrame(&body->rest, &body->tuning, &motion, body->loads, &body->state);
}

// the rig moves sideways in a sine of 2 Hz; frames from 1 on
static __attribute__((unused)) void fleshShake(FleshBody* body, int32_t frame, double amplitude) {
    double seconds = body->tuning.dials.frameSeconds;
    double places[3];
    for (int back = 0; back < 3; ++back) {
        places[back] = amplitude * sin(12.566370614359172 * seconds * (frame - back));
    }
    float jump = (float)((places[0] - 2.0 * places[1] + places[2]) / seconds);
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 x = body->cage.nodes[i];
        body->from[i] = srToFloat((srVec3){x.x + places[1], x.y, x.z});
        body->to[i] = srToFloat((srVec3){x.x + places[0], x.y, x.z});
        body->jump[i] = (srVec3f){jump, 0.0f, 0.0f};
    }
}

static __attribute__((unused)) uint64_t fleshHash(const FleshBody* body) {
    size_t bytes = sizeof(srVec3f) * (size_t)body->cage.nodeCount;
    return srHashBytes(srHashBytes(SR_HASH_SEED, body->state.offsets, bytes), body->state.velocities, bytes);
}

static __attribute__((unused)) double fleshLargest(const FleshBody* body) {
    double largest = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        largest = fmax(largest, (double)srLengthF(body->state.offsets[i]));
    }
    return largest;
}

static __attribute__((unused)) bool fleshIsFinite(const FleshBody* body) {
    float sum = 0.0f;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3f u = body->state.offsets[i];
        srVec3f w = body->state.velocities[i];
        sum += 0.0f * (u.x + u.y + u.z) + 0.0f * (w.x + w.y + w.z);
    }
    return sum == 0.0f;
}

static __attribute__((unused)) int32_t fleshTip(const FleshBody* body) {
    int32_t tip = 0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        tip = body->cage.nodes[i].y > body->cage.nodes[tip].y ? i : tip;
    }
    return tip;
}

// for the judges
static __attribute__((unused)) void fleshCopyHeld(const FleshBody* body, bool* out) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        out[i] = body->holds[i] > 0.5f;
    }
}

static __attribute__((unused)) void fleshFillModuli(const srCage* cage, double young, double nu, double* mu,
                                                    double* lambda) {
    for (int32_t cell = 0; cell < cage->cellCount; ++cell) {
        mu[cell] = young / (2.0 * (1.0 + nu));
        lambda[cell] = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    }
}

// A play, which answers with a hash of what it came to, must come to the same bits on 1 to 8 workers, at
// least two of them busy, and on every path.
static __attribute__((unused)) void fleshAssertSameBits(uint64_t (*play)(void)) {
    int32_t before = srParallel_GetWorkerCount();
    srSimdPath path = srGetSimdPath();
    srParallel_SetWorkerCount(1);
    srParallel_Stop();
    uint64_t alone = play();
    for (int32_t workers = 2; workers <= 8; ++workers) {
        int32_t busyCount = 0;
        srParallel_SetWorkerCount(workers);
        // a busy machine may leave all the work to one; then it shows nothing
        for (int try = 0; try < 200 && busyCount < 2; ++try) {
            uint64_t blockCounts[64];
            srParallel_Stop();
            assert_true(play() == alone);
            busyCount = 0;
            for (int32_t w = srParallel_GetBlockCounts(blockCounts, 64) - 1; w >= 0; --w) {
                busyCount += blockCounts[w] > 0;
            }
        }
        assert_true(busyCount >= 2);
    }
    srParallel_SetWorkerCount(1);
    for (int other = 0; other < SR_SIMD_PATH_COUNT; ++other) {
        if (srForceSimdPath((srSimdPath)other)) {
            assert_true(play() == alone);
        }
    }
    srForceSimdPath(path);
    srParallel_SetWorkerCount(before);
}

// of small offsets: finite elements' quadratic form, and that of velocities
static __attribute__((unused)) double fleshEnergy(const FleshBody* body, const Fem* fem) {
    size_t count = 3 * (size_t)(uint32_t)body->cage.nodeCount;
    double* u = calloc(2 * count, sizeof(double));
    assert_non_null(u);
    double energy = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 x = srToDouble(body->state.offsets[i]);
        srVec3 w = srToDouble(body->state.velocities[i]);
        memcpy(u + 3 * (size_t)i, &x, sizeof(x));
        energy += 0.5 * fem->masses[i] * srDot(w, w);
    }
    srCsc_MulAdd(u + count, &fem->K, u);
    for (size_t k = 0; k < count; ++k) {
        energy += 0.5 * u[k] * u[count + k];
    }
    free(u);
    return energy;
}
