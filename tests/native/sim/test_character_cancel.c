// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long preparing works without asking whether it shall stop. Asking is caught by the linker (--wrap);
// time is that of the working thread, alone in its pool, so that a busy machine tells nothing else.

#include "support/support.h"

#include "core/parallel.h"
#include "sim/character.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What is promised. Who shares the core takes its caches, so it is the best of a few runs that counts. A
// build that is not optimised, or watched by a sanitizer, is several times as slow.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LONGEST_SILENCE 0.05
#else
#define LONGEST_SILENCE 1.0
#endif
#define RUN_COUNT 5

bool __real_srJob_IsCancelled(const srJob* job);
bool __wrap_srJob_IsCancelled(const srJob* job);

static double lastAsked, longestSilence;
static float silentSince, silentAt; // progress then, and before the longest

static double threadSeconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void hear(const srJob* job) {
    double now = threadSeconds();
    if (now - lastAsked > longestSilence) {
        longestSilence = now - lastAsked;
        silentAt = silentSince;
    }
    silentSince = srJob_GetProgress(job);
    if (getenv("SR_TEST_SILENCE") != NULL && now - lastAsked > 0.01) {
        printf("%.1f ms until %.3f\n", 1e3 * (now - lastAsked), (double)silentSince);
    }
    lastAsked = now;
}

bool __wrap_srJob_IsCancelled(const srJob* job) {
    hear(job);
    return __real_srJob_IsCancelled(job);
}

// A lumpy ball with weights of two bones on each vertex and every map painted.
typedef struct Ball {
    srCharacterDef def;
    float* points;
    int32_t* triangles;
    int32_t* starts;
    int32_t* bones;
    float* weights;
    float* maps;
    float* rests;
    float* lengths;
    int32_t* parents;
    float toSkin[16];
} Ball;

enum {
    boneCount = 24
};

static void setVertex(Ball* ball, int32_t v, double polar, double turn) {
    double radius = 1.0 + 0.15 * sin(5.0 * polar) * cos(4.0 * turn);
    float* x = ball->points + 3 * (size_t)v;
    x[0] = (float)(radius * sin(polar) * cos(turn));
    x[1] = (float)(radius * sin(polar) * sin(turn));
    x[2] = (float)(1.7 * radius * cos(polar));
    double at = fmin(fmax((double)x[2] / 4.2 + 0.5, 0.0), 0.999) * (boneCount - 1);
    int32_t bone = (int32_t)at;
    ball->starts[v] = 2 * v;
    ball->bones[2 * v] = bone;
    ball->bones[2 * v + 1] = bone + 1;
    ball->weights[2 * v] = (float)(1.0 - (at - bone));
    ball->weights[2 * v + 1] = (float)(at - bone);
    ball->maps[v] = (float)(0.5 + 0.5 * sin(3.0 * polar));
}

static void fillBall(Ball* ball, int32_t around, int32_t rings) {
    int32_t count = around * rings, triangleCount = 0;
    for (int32_t v = 0; v < count; v++) {
        setVertex(ball, v, 3.1415926 * (v / around + 0.5) / rings, 6.2831853 * (v % around) / around);
    }
    ball->starts[count] = 2 * count;
    for (int32_t ring = 0; ring + 1 < rings; ring++) {
        for (int32_t i = 0; i < around; i++) {
            int32_t a = ring * around + i, b = ring * around + (i + 1) % around;
            const int32_t corners[6] = {a, a + around, b + around, a, b + around, b};
            memcpy(ball->triangles + 3 * (size_t)triangleCount, corners, sizeof(corners));
            triangleCount += 2;
        }
    }
    ball->def.skinVertexCount = count;
    ball->def.skinTriangleCount = triangleCount;
}

static void fillBones(Ball* ball) {
    for (int32_t k = 0; k < boneCount; k++) {
        for (int i = 0; i < 16; i++) {
            ball->rests[16 * k + i] = i % 5 == 0 ? 1.0f : 0.0f;
        }
        ball->rests[16 * k + 14] = -2.1f + 4.2f * (float)k / boneCount;
        ball->lengths[k] = 4.2f / boneCount;
        ball->parents[k] = k - 1;
    }
    for (int i = 0; i < 16; i++) {
        ball->toSkin[i] = i % 5 == 0 ? 1.0f : 0.0f;
    }
}

static void makeBall(Ball* ball, int32_t triangleCount, int32_t target) {
    int32_t rings = (int32_t)sqrt(triangleCount / 4.0), around = 2 * rings;
    size_t count = (size_t)around * (size_t)rings;
    *ball = (Ball){
        .def = srDefaultCharacterDef(),
        .points = malloc(3 * count * sizeof(float)),
        .triangles = malloc(6 * count * sizeof(int32_t)),
        .starts = malloc((count + 1) * sizeof(int32_t)),
        .bones = malloc(2 * count * sizeof(int32_t)),
        .weights = malloc(2 * count * sizeof(float)),
        .maps = malloc(count * sizeof(float)),
        .rests = malloc(16 * boneCount * sizeof(float)),
        .lengths = malloc(boneCount * sizeof(float)),
        .parents = malloc(boneCount * sizeof(int32_t)),
    };
    fillBall(ball, around, rings);
    fillBones(ball);
    srCharacterDef* def = &ball->def;
    def->skinPositions = ball->points;
    def->skinTriangles = ball->triangles;
    def->weightStarts = ball->starts;
    def->weightBones = ball->bones;
    def->weightValues = ball->weights;
    def->boneCount = boneCount;
    def->boneRests = ball->rests;
    def->boneLengths = ball->lengths;
    def->boneParents = ball->parents;
    def->spaceCount = 1;
    def->spaceToSkin = ball->toSkin;
    def->targetNodeCount = target;
    def->maps.stiffness = def->maps.mass = def->maps.damping = ball->maps;
    def->maps.hold = def->maps.pin = ball->maps;
}

static void freeBall(Ball* ball) {
    free(ball->points);
    free(ball->triangles);
    free(ball->starts);
    free(ball->bones);
    free(ball->weights);
    free(ball->maps);
    free(ball->rests);
    free(ball->lengths);
    free(ball->parents);
}

typedef struct Work {
    srSource source;
    srCharacter character;
} Work;

static srResult prepareInThread(srJob* job, void* context) {
    Work* work = context;
    lastAsked = threadSeconds();
    srResult result = srPrepareCharacter(&work->source, job, &work->character);
    hear(job);
    return result;
}

static double measureSilence(int32_t triangleCount, int32_t target) {
    Ball ball;
    Work work;
    srJob* job = NULL;
    makeBall(&ball, triangleCount, target);
    memset(&work, 0, sizeof(work));
    assert_success(srCopySource(&ball.def, &work.source));
    longestSilence = 0.0;
    assert_success(srStartJob(prepareInThread, &work, &job));
    srJob_Wait(job, -1.0);
    assert_success(srJob_GetResult(job));
    printf("%d triangles, %d nodes: longest silence %.1f ms, after %.3f\n", (int)triangleCount,
           (int)work.character.report.nodeCount, 1e3 * longestSilence, (double)silentAt);
    srDestroyJob(job);
    srDestroyCharacterRest(&work.character);
    srDestroySource(&work.source);
    freeBall(&ball);
    return longestSilence;
}

// Another thread on the same core takes from this one's time too: what is silent by itself is so every time.
static void listens(int32_t triangleCount, int32_t target) {
    double least = HUGE_VAL;
    for (int run = 0; run < RUN_COUNT && least >= LONGEST_SILENCE; run++) {
        least = fmin(least, measureSilence(triangleCount, target));
    }
    assert_true(least < LONGEST_SILENCE);
}

static void a_fine_skin_is_given_up_soon(void** state) {
    (void)state;
    listens(300000, 4000);
}

static void a_fine_cage_is_given_up_soon(void** state) {
    (void)state;
    listens(30000, 8000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fine_skin_is_given_up_soon, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_fine_cage_is_given_up_soon, srTestNothingLeaked),
    };
    srParallel_SetWorkerCount(1);
    return cmocka_run_group_tests_name("sim/character_cancel", tests, NULL, NULL);
}
