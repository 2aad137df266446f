// SPDX-License-Identifier: GPL-3.0-or-later
//
// Short shots of prepared characters, and what is asked of them again and again.

#pragma once

#include "support/support.h"

#include "mesh/interpolation.h"
#include "sim/simulation.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>

#define FRAMES 40
#define FIRST_FRAME 101
#define LAST_FRAME (FIRST_FRAME + FRAMES - 1)

static inline srShotDef makeDef(void) {
    srShotDef def = {.firstFrame = FIRST_FRAME, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = (srShotParams){
        .structSize = sizeof(srShotParams),
        .frequency = 2.0f,
        .settleFrames = 24.0f,
        .poissonRatio = 0.45f,
        .density = 1000.0f,
        .substeps = 4,
    };
    return def;
}

static inline srSimulation* startShot(const srCharacter* character) {
    srShotDef def = makeDef();
    srSimulation* simulation = NULL;
    assert_success(srCreateSimulation(character, &def, &simulation));
    return simulation;
}

static inline float* makeRows(const srTestScene* scene, srTestMotion motion) {
    float* rows = malloc(sizeof(float) * (size_t)srTestScene_GetRowFloatCount(scene) * FRAMES);
    assert_non_null(rows);
    srTestScene_WriteRows(scene, motion, 0, FRAMES, rows);
    return rows;
}

static inline void writeAll(srSimulation* simulation, const float* rows) {
    assert_success(srSimulation_WriteTape(simulation, FIRST_FRAME, FRAMES, rows, NULL));
}

static inline void finish(srSimulation* simulation) {
    assert_success(srSimulation_WaitFrame(simulation, LAST_FRAME, -1.0));
}

static inline uint64_t hashOf(srSimulation* simulation, int32_t frame) {
    uint64_t hash = 0;
    assert_success(srSimulation_GetHash(simulation, frame, &hash));
    return hash;
}

// a whole shot at once: what all others must agree with
static inline void simulateAtOnce(const srCharacter* character, const float* rows, uint64_t* hashes) {
    srSimulation* simulation = startShot(character);
    writeAll(simulation, rows);
    finish(simulation);
    for (int32_t i = 0; i < FRAMES; ++i) {
        hashes[i] = hashOf(simulation, FIRST_FRAME + i);
    }
    srDestroySimulation(simulation);
}

static inline void assertHashes(srSimulation* simulation, const uint64_t* hashes) {
    finish(simulation);
    for (int32_t i = 0; i < FRAMES; ++i) {
        assert_true(hashOf(simulation, FIRST_FRAME + i) == hashes[i]);
    }
}

static inline float largest(const float* offsets, int32_t vertexCount) {
    float squared = 0.0f;
    for (int32_t v = 0; v < vertexCount; ++v) {
        const float* u = offsets + 3 * v;
        squared = fmaxf(squared, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    return sqrtf(squared);
}

static inline float* makeOffsets(const srCharacter* character) {
    float* offsets = malloc(12 * (size_t)character->embedding.pointCount);
    assert_non_null(offsets);
    return offsets;
}
