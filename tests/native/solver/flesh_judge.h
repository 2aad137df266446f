// SPDX-License-Identifier: GPL-3.0-or-later
//
// Finite elements on a test's bar of flesh, their first swing, and the bar put into it.

#pragma once

#include "flesh_body.h"

// finite elements on the bar, their first mode and its Hz
typedef struct Judge {
    bool* isHeld;
    double* moduli;
    double* mode;
    Fem fem;
    double frequency;
    double scale; // of the mode: its tip at what it starts from
} Judge;

static __attribute__((unused)) void createJudge(const FleshBody* body, double young, double nu, double start,
                                                Judge* out) {
    size_t nodeCount = (size_t)(uint32_t)body->cage.nodeCount;
    size_t cellCount = (size_t)(uint32_t)body->cage.cellCount;
    out->isHeld = calloc(nodeCount, sizeof(bool));
    out->moduli = calloc(2 * cellCount, sizeof(double));
    out->mode = calloc(3 * nodeCount, sizeof(double));
    assert_true(out->isHeld != NULL && out->moduli != NULL && out->mode != NULL);
    fleshCopyHeld(body, out->isHeld);
    fleshFillModuli(&body->cage, young, nu, out->moduli, out->moduli + cellCount);
    femCreate(&body->cage, out->isHeld, out->moduli, out->moduli + cellCount, 1000.0, &out->fem);
    for (size_t i = 0; i < nodeCount; ++i) {
        out->mode[3 * i] = body->cage.nodes[i].y;
    }
    out->frequency = femLowestFrequency(&out->fem, out->mode);
    out->scale = start / out->mode[3 * (size_t)fleshTip(body)];
}

static __attribute__((unused)) void destroyJudge(Judge* judge) {
    femDestroy(&judge->fem);
    free(judge->isHeld);
    free(judge->moduli);
    free(judge->mode);
}

static __attribute__((unused)) void putAt(FleshBody* body, const double* mode, double scale) {
    body->state.pastSeconds = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 u = {mode[3 * i], mode[3 * i + 1], mode[3 * i + 2]};
        body->state.offsets[i] = srToFloat(srScale(scale, u));
        body->state.velocities[i] = (srVec3f){0.0f, 0.0f, 0.0f};
    }
}
