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
#define STOPPED 12      // the rig stands still from here on
#define SETTLED 14      // and the quickest swings have lost most
#define SLOWEST_LEFT 26 // and little else than the slowest swing is left

typedef struct Swing {
    double hertz;
    double dampingRatio;
} Swing;

// The bar, or the tail
static void prepareScene(int which, srTestScene* outScene, srCharacterId* outCharacter) {
    assert_true(which == 0 ? srTestCreateBarScene(outScene) : srTestCreateTailScene(outScene));
    assert_success(srCreateCharacter(&outScene->def, outCharacter));
    assert_success(srCharacter_Wait(*outCharacter, -1.0));
}

// Offsets of all vertices, frame after frame; to be freed.
static float* playShot(const srTestScene* scene, srCharacterId character, const srShotParams* params,
                       srTestMotion motion) {
    srShotDef def = srDefaultShotDef();
    def.character = character;
    def.frameCount = FRAMES;
    def.params = *params;
    srShotId shot;
    assert_success(srCreateShot(&def, &shot));
    int64_t floatCount = (int64_t)FRAMES * srTestScene_GetRowFloatCount(scene);
    int32_t vertexCount = scene->def.skinVertexCount;
    float* rows = malloc(sizeof(float) * (size_t)floatCount);
    float* offsets = malloc(12 * (size_t)vertexCount * FRAMES);
    assert_true(rows != NULL && offsets != NULL);
    srTestScene_WriteRows(scene, motion, 0, FRAMES, rows);
    assert_success(srShot_WriteTape(shot, 1, FRAMES, rows, floatCount, NULL));
    assert_success(srShot_WaitFrame(shot, FRAMES, -1.0));
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        float* out = offsets + 3 * (size_t)vertexCount * (size_t)frame;
        assert_success(srShot_ReadOffsets(shot, frame + 1, out, vertexCount));
    }
    srShotStatus status;
    assert_success(srShot_GetStatus(shot, &status));
    assert_int_equal(status.limitedNodeCount, 0);
    free(rows);
    assert_success(srDestroyShot(shot));
    return offsets;
}

static double dotOf(const float* a, const float* b, int32_t count) {
    double sum = 0.0;
    for (int32_t k = 0; k < count; ++k) {
        sum += (double)a[k] * (double)b[k];
    }
    return sum;
}

// The shape of the first swing: the farthest one once quicker ones have died
static const float* findShape(const float* offsets, int32_t count) {
    const float* best = offsets + (size_t)count * SLOWEST_LEFT;
    for (int32_t frame = SLOWEST_LEFT; frame < FRAMES; ++frame) {
        const float* u = offsets + (size_t)count * (size_t)frame;
        best = dotOf(u, u, count) > dotOf(best, best, count) ? u : best;
    }
    return best;
}

// What a swing of any amplitude and phase leaves of x after the stop, as a share
static double findRest(const double* x, Swing swing) {
    double omega = 6.283185307179586 * swing.hertz / SR_TEST_FRAME_RATE;
    double turn = omega * sqrt(1.0 - swing.dampingRatio * swing.dampingRatio);
    double cc = 0.0, cs = 0.0, ss = 0.0, cx = 0.0, sx = 0.0, xx = 0.0;
    for (int n = 0; n < FRAMES - SETTLED; ++n) {
        double size = exp(-omega * swing.dampingRatio * n);
        double c = size * cos(turn * n), s = size * sin(turn * n), y = x[SETTLED + n];
        cc += c * c;
        cs += c * s;
        ss += s * s;
        cx += c * y;
        sx += s * y;
        xx += y * y;
    }
    double explained = (cx * cx * ss - 2.0 * cx * sx * cs + sx * sx * cc) / (cc * ss - cs * cs);
    return 1.0 - explained / xx;
}

// The one swing that explains most of x, by a search that narrows
static Swing fitSwing(const double* x) {
    Swing best = {2.0, 0.2};
    double least = findRest(x, best);
    double reach = 1.0;
    for (int round = 0; round < 30; ++round) {
        Swing middle = best;
        for (int k = 0; k < 41 * 41; ++k) {
            Swing swing = {middle.hertz * pow(4.0, reach * (k / 41 - 20) / 20.0),
                           middle.dampingRatio * pow(4.0, reach * (k % 41 - 20) / 20.0)};
            // beyond half the frame rate a swing looks like a slower one
            bool isShown = swing.hertz < 0.5 * SR_TEST_FRAME_RATE && swing.dampingRatio < 0.95;
            double rest = isShown ? findRest(x, swing) : 1.0;
            if (rest < least) {
                least = rest;
                best = swing;
            }
        }
        reach *= 0.7;
    }
    return best;
}

typedef struct Tissue {
    const char* name;
    float frequency;
    float settleFrames;
    float poissonRatio;
    float density;
} Tissue;

// Of the add-on (model/presets.py); its test_presets.py compares them
static const Tissue TISSUES[] = {
    {"flesh", 2.0f, 24.0f, 0.45f, 1000.0f},  {"fat", 1.8f, 30.0f, 0.48f, 950.0f},
    {"muscle", 4.5f, 9.0f, 0.47f, 1050.0f},  {"skin", 3.2f, 12.0f, 0.42f, 1090.0f},
    {"jelly", 1.4f, 72.0f, 0.49f, 1000.0f},  {"rubber", 3.6f, 48.0f, 0.49f, 1100.0f},
    {"ear", 2.8f, 16.0f, 0.35f, 1100.0f},    {"tail", 1.1f, 36.0f, 0.45f, 1050.0f},
    {"antenna", 5.5f, 40.0f, 0.3f, 1200.0f}, {"inflatable", 2.5f, 20.0f, 0.3f, 30.0f},
};

// substeps that may be asked for: the fewest, and those of the add-on's lowest quality
static const int32_t FEW[] = {1, 6};

// and those of its highest qualities
static const int32_t MANY[] = {16, 24};

static float* play(const srTestScene* scene, srCharacterId character, int32_t solver, int32_t substeps,
                   const Tissue* tissue) {
    srShotParams params = srDefaultShotParams();
    params.solver = solver;
    params.substeps = substeps;
    params.frequency = tissue->frequency;
    params.settleFrames = tissue->settleFrames;
    params.poissonRatio = tissue->poissonRatio;
    params.density = tissue->density;
    return playShot(scene, character, &params, srTestStop);
}

// of how far the offsets go along a shape
static double measure(const float* offsets, const float* shape, int32_t count) {
    double along[FRAMES];
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        along[frame] = dotOf(offsets + (size_t)count * (size_t)frame, shape, count);
    }
    return fitSwing(along).hertz;
}

// How fast a swing shrinks, 1/s: of what is still to come after a moment, -5 to -25 dB of what comes after
// the stop (Schroeder 1965, "New method of measuring reverberation time"), which is amplitudes from 0.56 to
// 0.06. That is of several swings, wherever in one a frame happens to catch them, and however modes beat.
static double findDecay(const float* offsets, int32_t count) {
    double left[FRAMES + 1] = {0.0};
    for (int32_t frame = FRAMES - 1; frame >= STOPPED; --frame) {
        const float* u = offsets + (size_t)count * (size_t)frame;
        left[frame] = left[frame + 1] + dotOf(u, u, count);
    }
    double times[2];
    for (int k = 0; k < 2; ++k) {
        double wanted = pow(10.0, k == 0 ? -0.5 : -2.5) * left[STOPPED];
        int32_t frame = STOPPED;
        while (frame + 2 < FRAMES && left[frame + 1] > wanted) {
            ++frame;
        }
        assert_true(left[frame + 1] <= wanted && left[frame + 1] > 0.0);
        times[k] = frame + log(left[frame] / wanted) / log(left[frame] / left[frame + 1]);
    }
    return SR_TEST_FRAME_RATE * log(10.0) / (times[1] - times[0]);
}

typedef struct Seen {
    double hertz;
    double decay; // 1/s
} Seen;

static Seen see(const float* offsets, const float* shape, int32_t count) {
    return (Seen){measure(offsets, shape, count), findDecay(offsets, count)};
}

// the complementary solver and the fast one, with as many substeps asked for
static void seeBoth(const srTestScene* scene, srCharacterId character, int32_t substeps, const Tissue* tissue,
                    Seen* outTheirs, Seen* outOurs) {
    int32_t count = 3 * scene->def.skinVertexCount;
    float* theirs = play(scene, character, sr_solverComplementary, substeps, tissue);
    float* ours = play(scene, character, sr_solverFlesh, substeps, tissue);
    const float* shape = findShape(theirs, count);
    *outTheirs = see(theirs, shape, count);
    *outOurs = see(ours, shape, count);
    print_message("%12d asked for: %.3f Hz, %6.3f/s; fast %.3f, %6.3f, off by %+5.1f and %+5.1f %%\n",
                  substeps, outTheirs->hertz, outTheirs->decay, outOurs->hertz, outOurs->decay,
                  100.0 * (outOurs->hertz / outTheirs->hertz - 1.0),
                  100.0 * (outOurs->decay / outTheirs->decay - 1.0));
    free(theirs);
    free(ours);
}

static void compareTissue(const srTestScene* scene, srCharacterId character, const Tissue* tissue,
                          bool isTail) {
    int32_t count = 3 * scene->def.skinVertexCount;
    int32_t usual = srDefaultShotParams().substeps;
    float* theirs = play(scene, character, sr_solverComplementary, usual, tissue);
    float* ours = play(scene, character, sr_solverFlesh, usual, tissue);
    const float* shape = findShape(theirs, count);
    Seen other = see(theirs, shape, count);
    Seen fast = see(ours, shape, count);
    print_message("%-10s %.3f Hz, decay %6.3f/s; fast %.3f, %6.3f, off by %+5.1f and %+5.1f %%\n",
                  tissue->name, other.hertz, other.decay, fast.hertz, fast.decay,
                  100.0 * (fast.hertz / other.hertz - 1.0), 100.0 * (fast.decay / other.decay - 1.0));
    assert_near(fast.hertz / other.hertz, 1.0, 0.15);
    assert_near(fast.decay / other.decay, 1.0, 0.15);
    for (int k = 0; k < SR_ARRAY_COUNT(MANY); ++k) {
        Seen a = {0.0, 0.0}, b = {0.0, 0.0};
        seeBoth(scene, character, MANY[k], tissue, &a, &b);
        assert_near(b.hertz / a.hertz, 1.0, 0.15);
        assert_near(b.decay / a.decay, 1.0, 0.15);
    }
    if (isTail) {
        // what its own substeps take of a frequency; the bar swings in two ways at once
        Seen a = {0.0, 0.0}, b = {0.0, 0.0};
        seeBoth(scene, character, 10 * usual, tissue, &a, &b);
        assert_near(fast.hertz / other.hertz / (b.hertz / a.hertz), 1.0, 0.05);
    }
    for (int k = 0; k < SR_ARRAY_COUNT(FEW); ++k) {
        float* few = play(scene, character, sr_solverFlesh, FEW[k], tissue);
        Seen rough = see(few, shape, count);
        print_message("%12d asked for: off by %+5.1f and %+5.1f %%\n", FEW[k],
                      100.0 * (rough.hertz / other.hertz - 1.0), 100.0 * (rough.decay / other.decay - 1.0));
        assert_near(rough.hertz / other.hertz, 1.0, 0.15);
        assert_near(rough.decay / other.decay, 1.0, 0.15);
        free(few);
    }
    free(theirs);
    free(ours);
}

static void each_tissue_swings_as_in_the_complementary_solver(void** state) {
    (void)state;
    for (int s = 0; s < 2; ++s) {
        srTestScene scene;
        srCharacterId character;
        prepareScene(s, &scene, &character);
        print_message(s == 0 ? "bar\n" : "tail\n");
        for (int d = 0; d < SR_ARRAY_COUNT(TISSUES); ++d) {
            compareTissue(&scene, character, &TISSUES[d], s == 1);
        }
        assert_success(srDestroyCharacter(character));
        srTestDestroyScene(&scene);
    }
}

static double findLargest(const float* offsets, int32_t count, int32_t begin, int32_t end) {
    double largest = 0.0;
    for (size_t k = (size_t)count * (size_t)begin; k < (size_t)count * (size_t)end; ++k) {
        largest = fmax(largest, fabs((double)offsets[k]));
    }
    return largest;
}

// Far stiffer than frames can show: nothing may keep it alive, whatever it is made of, however few substeps
// are asked for.
static void stiff_flesh_is_calm_soon(void** state) {
    (void)state;
    static const float YOUNGS[] = {1e5f, 1e6f, 3e6f, 1e7f, 3e7f, 1e8f, 1e9f};
    static const int32_t SUBSTEPS[] = {1, 6, 10};
    for (int which = 0; which < 2; ++which) {
        srTestScene scene;
        srCharacterId character;
        prepareScene(which, &scene, &character);
        int32_t count = 3 * scene.def.skinVertexCount;
        for (int k = 0; k < 6 * SR_ARRAY_COUNT(YOUNGS); ++k) {
            srShotParams params = srDefaultShotParams();
            params.solver = sr_solverFlesh;
            params.youngModulus = YOUNGS[k / 6];
            params.substeps = SUBSTEPS[k / 2 % 3];
            params.poissonRatio = k % 2 == 0 ? params.poissonRatio : 0.3f;
            float* offsets = playShot(&scene, character, &params, k % 2 == 0 ? srTestStop : srTestBend);
            double farthest = findLargest(offsets, count, 0, FRAMES);
            double last = findLargest(offsets, count, FRAMES - 24, FRAMES);
            print_message("%s, %g Pa, %s, %d substeps: %.2e m, and %.1e in the third second\n",
                          which == 0 ? "bar" : "tail", (double)params.youngModulus,
                          k % 2 == 0 ? "stopped" : "bent", params.substeps, farthest, last);
            // what is held all over does not swing when it is bent
            assert_true(last < 0.02 * farthest + 1e-6 && (farthest > 0.0 || k % 2 == 1));
            free(offsets);
        }
        assert_success(srDestroyCharacter(character));
        srTestDestroyScene(&scene);
    }
}

static void paintOuterHalf(const srTestScene* scene, srCharacterId character, float stiffness, float mass) {
    int32_t vertexCount = scene->def.skinVertexCount;
    float* maps = malloc(sizeof(float) * 2 * (size_t)vertexCount);
    assert_non_null(maps);
    for (int32_t i = 0; i < vertexCount; ++i) {
        bool isOuter = scene->def.skinPositions[3 * i] > 1.0f;
        maps[i] = isOuter ? stiffness : 1.0f;
        maps[vertexCount + i] = isOuter ? mass : 1.0f;
    }
    srCharacterMaps painted = srDefaultCharacterMaps();
    painted.stiffness = maps;
    painted.mass = maps + vertexCount;
    assert_success(srCharacter_SetMaps(character, &painted, vertexCount));
    assert_success(srCharacter_Wait(character, -1.0));
    free(maps);
}

// The tail's outer half painted stiffer, lighter or both, to the ends of both maps; its last bone turns.
static void checkPainted(const srTestScene* scene, srCharacterId character, const Tissue* tissue,
                         int32_t swings) {
    int32_t count = 3 * scene->def.skinVertexCount;
    srShotParams params = srDefaultShotParams();
    params.solver = sr_solverFlesh;
    params.swings = swings;
    params.frequency = tissue->frequency;
    params.settleFrames = tissue->settleFrames;
    params.poissonRatio = tissue->poissonRatio;
    params.density = tissue->density;
    float* offsets = playShot(scene, character, &params, srTestBend);
    double farthest = findLargest(offsets, count, 0, FRAMES);
    double last = findLargest(offsets, count, FRAMES - 12, FRAMES);
    print_message("%s, swings %d: %.1e m, and %.1e at last\n", tissue->name, swings, farthest, last);
    assert_true(farthest < 0.3 && last < 0.35 * farthest);
    free(offsets);
}

static void painted_flesh_is_calm_soon(void** state) {
    (void)state;
    static const float FACTORS[][2] = {{10.0f, 0.1f}, {20.0f, 0.05f}, {100.0f, 0.01f},
                                       {1.0f, 0.01f}, {1.0f, 0.02f},  {100.0f, 1.0f}};
    srTestScene scene;
    srCharacterId character;
    prepareScene(1, &scene, &character);
    for (int k = 0; k < SR_ARRAY_COUNT(FACTORS); ++k) {
        paintOuterHalf(&scene, character, FACTORS[k][0], FACTORS[k][1]);
        print_message("stiffer %g, lighter %g\n", (double)FACTORS[k][0], 1.0 / (double)FACTORS[k][1]);
        for (int t = 0; t < SR_ARRAY_COUNT(TISSUES); ++t) {
            checkPainted(&scene, character, &TISSUES[t], sr_swingsFade);
            checkPainted(&scene, character, &TISSUES[t], sr_swingsLast);
            bool isQuick = TISSUES[t].frequency > 2.4f; // kept swings take long to play
            if (isQuick && k > 0) {
                checkPainted(&scene, character, &TISSUES[t], sr_swingsKeep);
            }
        }
    }
    assert_success(srDestroyCharacter(character));
    srTestDestroyScene(&scene);
}

static void checkFibres(const srTestScene* scene, srCharacterId character, const srShotParams* params,
                        const char* name) {
    int32_t count = 3 * scene->def.skinVertexCount;
    for (int k = 0; k < 2; ++k) {
        float* offsets = playShot(scene, character, params, k == 0 ? srTestStop : srTestBend);
        double farthest = findLargest(offsets, count, 0, FRAMES);
        double last = findLargest(offsets, count, FRAMES - 12, FRAMES);
        print_message("fibres %g, %s, %s, swings %d, %d substeps: %.1e m, and %.1e at last\n",
                      (double)params->fibreStiffness, name, k == 0 ? "stopped" : "bent", params->swings,
                      params->substeps, farthest, last);
        // what settles slowly still swings, and turned inside out it would stay so
        assert_true(farthest < 0.3 && last < 0.35 * farthest + 1e-6);
        free(offsets);
    }
}

// Fibres to both ends of their dial, and flesh that is stiff besides
static void flesh_with_stiff_fibres_is_calm_soon(void** state) {
    (void)state;
    static const float FIBRES[] = {0.01f, 10.0f, 30.0f, 100.0f};
    srTestScene scene;
    srCharacterId character;
    prepareScene(1, &scene, &character);
    for (int k = 0; k < 2 * SR_ARRAY_COUNT(FIBRES) * SR_ARRAY_COUNT(TISSUES); ++k) {
        const Tissue* tissue = &TISSUES[k / 2 % SR_ARRAY_COUNT(TISSUES)];
        srShotParams params = srDefaultShotParams();
        params.solver = sr_solverFlesh;
        params.fibreStiffness = FIBRES[k / 2 / SR_ARRAY_COUNT(TISSUES)];
        params.substeps = k % 2 == 0 ? 1 : 10;
        params.frequency = tissue->frequency;
        params.settleFrames = tissue->settleFrames;
        params.poissonRatio = tissue->poissonRatio;
        params.density = tissue->density;
        checkFibres(&scene, character, &params, tissue->name);
    }
    for (int k = 0; k < 4; ++k) {
        srShotParams params = srDefaultShotParams();
        params.solver = sr_solverFlesh;
        params.fibreStiffness = 20.0f;
        params.substeps = 1;
        params.youngModulus = k / 2 == 0 ? 1e5f : 1e6f;
        params.poissonRatio = k % 2 == 0 ? 0.3f : 0.49f;
        checkFibres(&scene, character, &params, k / 2 == 0 ? "1e5 Pa" : "1e6 Pa");
    }
    assert_success(srDestroyCharacter(character));
    srTestDestroyScene(&scene);
}

// The last bone turns by a right angle in half a second and stays.
static void a_bent_character_comes_to_rest(void** state) {
    (void)state;
    for (int s = 0; s < 2; ++s) {
        srTestScene scene;
        srCharacterId character;
        prepareScene(s, &scene, &character);
        srShotParams params = srDefaultShotParams();
        params.solver = sr_solverFlesh;
        int32_t count = 3 * scene.def.skinVertexCount;
        float* offsets = playShot(&scene, character, &params, srTestBend);
        double most = findLargest(offsets, count, 0, FRAMES);
        double last = findLargest(offsets, count, FRAMES - 5, FRAMES);
        print_message("bent: %.4f m at most, %.1e at last\n", most, last);
        // the bar's bones hold all of it, the tail swings
        assert_true(most < 0.2 && (s == 0 || most > 0.02) && last < 0.03 * fmax(most, 1e-3));
        free(offsets);
        assert_success(srDestroyCharacter(character));
        srTestDestroyScene(&scene);
    }
}

// Neither too stiff for its sweeps nor kept by patches does flesh heat that keeps its swings; what it is
// asked to lose, it loses.
static void flesh_that_keeps_its_swings_does_not_heat(void** state) {
    (void)state;
    static const struct {
        float young; // 0: by the frequency
        float poissonRatio;
        int32_t substeps;
    } ROWS[] = {{5e6f, 0.3f, 3}, {1e7f, 0.45f, 6}, {1e9f, 0.45f, 10}, {1e6f, 0.3f, 1}, {0.0f, 0.5f, 10}};
    srTestScene scene;
    srCharacterId character;
    prepareScene(1, &scene, &character);
    int32_t count = 3 * scene.def.skinVertexCount;
    for (int k = 0; k < 2 * SR_ARRAY_COUNT(ROWS); ++k) {
        srShotParams params = srDefaultShotParams();
        params.solver = sr_solverFlesh;
        params.swings = sr_swingsKeep;
        params.youngModulus = ROWS[k / 2].young;
        params.poissonRatio = ROWS[k / 2].poissonRatio;
        params.substeps = ROWS[k / 2].substeps;
        float* offsets = playShot(&scene, character, &params, k % 2 == 0 ? srTestStop : srTestBend);
        double first = findLargest(offsets, count, STOPPED, STOPPED + 12);
        double last = findLargest(offsets, count, FRAMES - 12, FRAMES);
        print_message("%g Pa, Poisson %.2f, %d substeps, %s: %.1e m, then %.1e in the third second\n",
                      (double)params.youngModulus, (double)params.poissonRatio, params.substeps,
                      k % 2 == 0 ? "stopped" : "bent", first, last);
        assert_true(first > 0.0 && last < 0.1 * first);
        free(offsets);
    }
    assert_success(srDestroyCharacter(character));
    srTestDestroyScene(&scene);
}

static double energyOf(const float* offsets, int32_t count, int32_t begin, int32_t end) {
    const float* first = offsets + (size_t)count * (size_t)begin;
    return dotOf(first, first, count * (end - begin));
}

// of what swings in the first second after the stop, how much does in the last
static double findLeft(const float* offsets, int32_t count) {
    return energyOf(offsets, count, FRAMES - 24, FRAMES) / energyOf(offsets, count, SETTLED, SETTLED + 24);
}

static float* playSwings(const srTestScene* scene, srCharacterId character, int32_t swings,
                         float settleFrames) {
    srShotParams params = srDefaultShotParams();
    params.solver = sr_solverFlesh;
    params.settleFrames = settleFrames;
    params.swings = swings;
    return playShot(scene, character, &params, srTestStop);
}

static void swings_fade_last_or_are_kept_as_one_chooses(void** state) {
    (void)state;
    static const char* const NAMES[] = {"fade", "last", "keep"};
    for (int s = 0; s < 2; ++s) {
        srTestScene scene;
        srCharacterId character;
        prepareScene(s, &scene, &character);
        int32_t count = 3 * scene.def.skinVertexCount;
        double left[3], hertz[3];
        for (int swings = sr_swingsFade; swings <= sr_swingsKeep; ++swings) {
            float* offsets = playSwings(&scene, character, swings, 10000.0f); // as good as never
            left[swings] = findLeft(offsets, count);
            free(offsets);
            offsets = playSwings(&scene, character, swings, 24.0f);
            hertz[swings] = measure(offsets, findShape(offsets, count), count);
            free(offsets);
            print_message("%s: %s, %.3f of the swing in the third second, %.3f Hz when it settles\n",
                          s == 0 ? "bar" : "tail", NAMES[swings], left[swings], hertz[swings]);
        }
        // many modes beat; and 10,000 frames take a little
        assert_true(left[0] < left[1] && left[1] < left[2] + 0.02);
        assert_true(left[2] > 0.8 && left[2] < 1.1);
        // as alike as solvers are
        assert_near(hertz[1] / hertz[0], 1.0, 0.15);
        assert_near(hertz[2] / hertz[0], 1.0, 0.15);
        assert_success(srDestroyCharacter(character));
        srTestDestroyScene(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tissue_swings_as_in_the_complementary_solver),
        cmocka_unit_test(stiff_flesh_is_calm_soon),
        cmocka_unit_test(painted_flesh_is_calm_soon),
        cmocka_unit_test(flesh_with_stiff_fibres_is_calm_soon),
        cmocka_unit_test(a_bent_character_comes_to_rest),
        cmocka_unit_test(flesh_that_keeps_its_swings_does_not_heat),
        cmocka_unit_test(swings_fade_last_or_are_kept_as_one_chooses),
    };
    return cmocka_run_group_tests_name("sim/body_flesh", tests, NULL, srTestNothingLeaked);
}
