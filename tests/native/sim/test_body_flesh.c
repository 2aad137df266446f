// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fast solver as artists meet it, through the public functions: one setting means the same to it and to
// the complementary solver.

#include "support/support.h"

#include "softrig/softrig.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>

#define FRAMES 72
#define STOPPED 14 // the rig stands still from here on, and so does what its start stirred up quickest

// how a swing goes
typedef struct Swing {
    double hertz;
    double dampingRatio;
} Swing;

// Mean offset along x of all vertices, at each frame.
static void playShot(const srTestScene* scene, srCharacterId character, const srShotParams* params,
                     double* outMeans) {
    srShotDef def = srDefaultShotDef();
    def.character = character;
    def.frameCount = FRAMES;
    def.params = *params;
    srShotId shot;
    assert_success(srCreateShot(&def, &shot));
    int64_t floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(scene);
    int32_t vertexCount = scene->def.skinVertexCount;
    float* rows = malloc(sizeof(float) * (size_t)floatCount);
    float* offsets = malloc(12 * (size_t)vertexCount);
    assert_true(rows != NULL && offsets != NULL);
    srTestScene_WriteRows(scene, srTestStop, 0, FRAMES, rows);
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, NULL));
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        assert_success(srShot_ReadOffsets(shot, frame + 1, offsets, vertexCount));
        outMeans[frame] = 0.0;
        for (int32_t v = 0; v < vertexCount; ++v) {
            outMeans[frame] += (double)offsets[3 * v] / vertexCount;
        }
    }
    free(rows);
    free(offsets);
    assert_success(srDestroyShot(shot));
}

// Of x_n+1 = a x_n - b x_n-1 by least squares, while there is something left: b = exp(-2 sigma dt),
// a = 2 exp(-sigma dt) cos(omega dt)
static Swing fitSwing(const double* x) {
    double uu = 0.0, uv = 0.0, vv = 0.0, uw = 0.0, vw = 0.0;
    for (int n = STOPPED + 1; n + 1 < FRAMES; ++n) {
        uu += x[n] * x[n];
        uv += x[n] * x[n - 1];
        vv += x[n - 1] * x[n - 1];
        uw += x[n] * x[n + 1];
        vw += x[n - 1] * x[n + 1];
    }
    double determinant = uu * vv - uv * uv;
    double a = (uw * vv - vw * uv) / determinant;
    double b = -(uu * vw - uv * uw) / determinant;
    assert_true(b > 0.0 && a * a < 4.0 * b);
    double sigma = -0.5 * log(b) * SR_TEST_FRAME_RATE;
    double omega = acos(0.5 * a / sqrt(b)) * SR_TEST_FRAME_RATE;
    double whole = sqrt(sigma * sigma + omega * omega);
    return (Swing){whole / 6.283185307179586, sigma / whole};
}

static Swing measure(const srTestScene* scene, srCharacterId character, int32_t solver, const float* dials) {
    double means[FRAMES];
    srShotParams params = srDefaultShotParams();
    params.solver = solver;
    params.frequency = dials[0];
    params.settleFrames = dials[1];
    params.youngModulus = dials[2];
    playShot(scene, character, &params, means);
    return fitSwing(means);
}

// The rows that body_flesh.c was aligned on, others between them, and explicit materials, whose first
// frequency is only guessed: their damping may be off by a quarter. Faster than 4.5 Hz a frame is less than
// five steps a swing: what the complementary solver makes of that is its own.
static void the_same_dials_give_the_complementary_solver_s_swing(void** state) {
    (void)state;
    // frequency, frames to settle, Young's modulus
    static const float DIALS[][3] = {{2.0f, 24.0f, 0.0f}, {2.0f, 48.0f, 0.0f}, {1.0f, 60.0f, 0.0f},
                                     {3.0f, 24.0f, 0.0f}, {1.5f, 36.0f, 0.0f}, {2.5f, 30.0f, 0.0f},
                                     {2.0f, 36.0f, 5e3f}, {2.0f, 48.0f, 2e4f}, {2.0f, 48.0f, 2e5f}};
    int comparedCount = 0;
    for (int s = 0; s < 2; ++s) {
        srTestScene scene;
        srCharacterId character;
        assert_true(s == 0 ? srTestCreateBarScene(&scene) : srTestCreateTailScene(&scene));
        assert_success(srCreateCharacter(&scene.def, &character));
        assert_success(srCharacter_Wait(character, -1.0));
        for (int d = 0; d < SR_ARRAY_COUNT(DIALS); ++d) {
            Swing judge = measure(&scene, character, sr_solverComplementary, DIALS[d]);
            Swing ours = measure(&scene, character, sr_solverFlesh, DIALS[d]);
            bool isFast = judge.hertz > 4.5 || ours.hertz > 4.5;
            print_message(
                "%s, %.1f Hz, %.0f frames, E %.0e: %.3f Hz and %.3f of critical; fast %.3f, %.3f%s\n",
                s == 0 ? "bar" : "tail", (double)DIALS[d][0], (double)DIALS[d][1], (double)DIALS[d][2],
                judge.hertz, judge.dampingRatio, ours.hertz, ours.dampingRatio,
                isFast ? " (not compared)" : "");
            if (!isFast) {
                assert_near(ours.hertz / judge.hertz, 1.0, 0.15);
                assert_near(ours.dampingRatio / judge.dampingRatio, 1.0, DIALS[d][2] > 0.0f ? 0.25 : 0.15);
                ++comparedCount;
            }
        }
        assert_success(srDestroyCharacter(character));
        srTestDestroyScene(&scene);
    }
    assert_true(comparedCount >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_dials_give_the_complementary_solver_s_swing),
    };
    return cmocka_run_group_tests_name("sim/body_flesh", tests, NULL, srTestNothingLeaked);
}
