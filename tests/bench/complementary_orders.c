// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bar on two bones, the outer of which bends or twists by a right angle in some frames and then stands. How
// far the flesh is, at the end of the way, from where it comes to rest there.

#include "complementary_orders.h"

#include "complementary_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    fewestFrames = 96,
    mostFrames = 768,
    standingFrames = 400,
    across = 3,
    along = 12,
    boneCount = 2
};

typedef struct Scene {
    srBenchCharacter character;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    srVec3* arrays[6];
    srVec3* moving; // offsets at the end of the way
    void* scratch;
} Scene;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

static void makeScene(Scene* s) {
    *s = (Scene){0};
    if (!srBenchMakeBar(across, along, boneCount, mostFrames + standingFrames, &s->character)) {
        exit(1);
    }
    const srBenchCharacter* c = &s->character;
    srComplementaryShape shape = {
        .nodes = c->cage.nodes,
        .nodeCount = c->cage.nodeCount,
        .cells = (const int32_t (*)[4])c->cage.cells,
        .cellCount = c->cage.cellCount,
        .weights = c->weights,
        .holds = c->holds,
    };
    check(srCreateComplementaryRest(&shape, &s->rest));
    check(srCreateComplementaryTuning(&s->rest, &s->tuning));
    size_t n = (size_t)c->cage.nodeCount;
    for (int k = 0; k < 6; ++k) {
        s->arrays[k] = calloc(n, sizeof(srVec3));
    }
    s->moving = calloc(n, sizeof(srVec3));
}

static void freeScene(Scene* s) {
    srDestroyComplementaryTuning(&s->rest, &s->tuning);
    srDestroyComplementaryRest(&s->rest);
    for (int k = 0; k < 6; ++k) {
        free(s->arrays[k]);
    }
    free(s->moving);
    free(s->scratch);
    srBenchFreeCharacter(&s->character);
}

static void tune(Scene* s, double poseCorrection) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srMakeMaterial(4e4, 0.45, 1000.0);
    dials.frameSeconds = s->character.frameSeconds;
    dials.frequency = 2.0;
    dials.dampingRate = 2.0 * log(50.0);
    dials.poseCorrection = poseCorrection;
    dials.largestOffset = 1e3;
    dials.tolerance = 1e-8;
    dials.newtonLimit = 100;
    dials.innerLimit = 2000;
    check(srComplementaryTuning_Set(&s->tuning, &s->rest, &dials));
    free(s->scratch);
    s->scratch = aligned_alloc(64, srComplementary_GetScratchSize(&s->rest, &s->tuning));
}

// about the middle of the bar, whose axis is z
static void moveBones(srBenchCharacter* character, bool isTwist, int32_t frames) {
    double middle = 0.5 * along / across;
    for (int32_t f = 0; f <= character->frameCount; ++f) {
        double angle = 0.5 * 3.14159265358979323846 * fmin((double)f / frames, 1.0);
        double c = cos(angle), s = sin(angle);
        const double still[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        const double bent[12] = {1, 0, 0, 0, 0, c, -s, s * middle, 0, s, c, middle - c * middle};
        const double twisted[12] = {c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0};
        memcpy(character->maps[f * boneCount], still, sizeof(still));
        memcpy(character->maps[f * boneCount + 1], isTwist ? twisted : bent, sizeof(bent));
    }
}

// in parts of the bar's length
static double measureDelay(Scene* s, bool isTwist, int32_t frames) {
    size_t n = (size_t)s->rest.nodeCount;
    moveBones(&s->character, isTwist, frames);
    for (int k = 0; k < 6; ++k) {
        memset(s->arrays[k], 0, sizeof(srVec3) * n);
    }
    srVec3** a = s->arrays;
    srComplementaryState state = {a[0], a[1], {a[2], a[3]}, a[4], s->scratch, a[5]};
    for (int32_t frame = 1; frame <= frames + standingFrames; ++frame) {
        srComplementaryMotion motion = srBenchMoveTo(&s->character, frame);
        srComplementaryStats stats;
        srComplementary_StepFrame(&s->rest, &s->tuning, &motion, &state, &stats);
        if (frame == frames) {
            memcpy(s->moving, state.offsets, n * sizeof(srVec3));
        }
    }
    double longest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        longest = fmax(longest, srDistance(s->moving[i], state.offsets[i]));
    }
    return longest * across / along;
}

void srBenchMeasureOrders(srBenchReport* out) {
    Scene s;
    makeScene(&s);
    for (int kind = 0; kind < 4; ++kind) {
        bool isTwist = kind % 2 == 1;
        double correction = kind / 2, last = 0.0, order = 0.0;
        char caseName[96], metric[96];
        snprintf(caseName, sizeof(caseName), "slow motion, %s by 90 degrees, Pose correction %.0f",
                 isTwist ? "twisted" : "bent", correction);
        tune(&s, correction);
        for (int32_t frames = fewestFrames; frames <= mostFrames; frames *= 2) {
            double delay = measureDelay(&s, isTwist, frames);
            snprintf(metric, sizeof(metric), "in %d frames, behind where it rests, of the length", frames);
            srBench_Add(out, caseName, metric, 100.0 * delay, "%", NULL);
            order = last > 0.0 ? log2(last / delay) : 0.0;
            last = delay;
        }
        srBench_Add(out, caseName, "order against the speed, by the last two", order, "", NULL);
    }
    freeScene(&s);
}
