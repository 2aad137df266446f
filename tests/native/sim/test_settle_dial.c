// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the dial promises: flesh that a stop sets swinging is below a fiftieth of its first peak after so many
// frames, whatever the character, the softness and the substeps. Looked at is the root mean square over the
// flesh, at each step, because one vertex beats between swings.

#include "support/scenes.h"
#include "support/support.h"

#include "bodies.h"
#include "sim/dials.h"
#include "solver/complementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FRAME_RATE 24.0
#define LONGEST 96 // frames, of the dials
#define MOST_SUBSTEPS 8
#define PLAYED 7 // fifths of the dial, and
#define MORE 8   // frames
#define MOST_STEPS (MOST_SUBSTEPS * (PLAYED * LONGEST / 5 + 1 + MORE))
#define SPEED 0.1       // of the stop, sizes a second
#define HELD_PULL 160.0 // as the body has it

typedef struct Flesh {
    srCharacter character;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    srComplementarySwing swing;
    float* pulls;
    srVec3* arrays[7]; // of the state; what a stop does to velocities
    void* scratch;
} Flesh;

static void prepareBody(int index, srCharacter* outCharacter) {
    srBenchBody body;
    assert_true(srBench_CreateBody(index, &body));
    srCharacterDef def = body.def;
    def.targetNodeCount = 300;
    def.mesher = sr_mesherLattice;
    srSource source;
    assert_int_equal(srCopySource(&def, &source), sr_success);
    assert_int_equal(srPrepareCharacter(&source, NULL, outCharacter), sr_success);
    srDestroySource(&source);
    srBench_DestroyBody(&body);
}

static void prepareScene(bool isTail, srCharacter* outCharacter) {
    srTestScene scene;
    assert_true(isTail ? srTestCreateTailScene(&scene) : srTestCreateBarScene(&scene));
    assert_true(srTestPrepareScene(&scene, outCharacter));
    srTestDestroyScene(&scene);
}

static srBodySettings makeSettings(const Flesh* f, double hertz, double dial) {
    srBodySettings settings = {
        .frameRate = FRAME_RATE, .scale = 1.0, .size = (double)f->character.report.size};
    settings.params = (srShotParams){.frequency = (float)hertz,
                                     .settleFrames = (float)dial,
                                     .poissonRatio = SR_USUAL_POISSON,
                                     .density = 1000.0f};
    return settings;
}

static srComplementaryDials makeDials(const Flesh* f, const srBodySettings* settings) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srFindMaterial(settings);
    dials.frequency = (double)settings->params.frequency;
    dials.largestOffset = settings->size;
    dials.nodePulls = f->pulls;
    return dials;
}

static void makeFlesh(Flesh* f) {
    const srCharacter* c = &f->character;
    int32_t n = c->cage.nodeCount;
    double* holds = malloc(sizeof(double) * (size_t)n);
    f->pulls = malloc(sizeof(float) * (size_t)n);
    assert_true(holds != NULL && f->pulls != NULL);
    for (int32_t i = 0; i < n; ++i) {
        holds[i] = (double)c->body.holds[i];
        f->pulls[i] = (float)(1.0 + HELD_PULL * holds[i] * holds[i]);
    }
    srComplementaryShape shape = {
        .nodes = c->cage.nodes,
        .nodeCount = n,
        .cells = (const int32_t (*)[4])c->cage.cells,
        .cellCount = c->cage.cellCount,
        .weights = {c->weights.starts, c->weights.bones, c->weights.weights, c->rig.boneCount + 1},
        .holds = holds};
    assert_int_equal(srCreateComplementaryRest(&shape, &f->rest), sr_success);
    free(holds);
    assert_int_equal(srCreateComplementaryTuning(&f->rest, &f->tuning), sr_success);
    srBodySettings usual = makeSettings(f, 1.0, 24.0);
    srComplementaryDials dials = makeDials(f, &usual);
    assert_int_equal(srFindComplementarySwing(&f->rest, c->cage.nodes, &dials, &f->tuning, &f->swing),
                     sr_success);
    for (int k = 0; k < 7; ++k) {
        f->arrays[k] = malloc(sizeof(srVec3) * (size_t)n);
        assert_non_null(f->arrays[k]);
    }
    f->scratch = aligned_alloc(64, srComplementary_GetScratchSize(&f->rest, &f->tuning));
    assert_non_null(f->scratch);
}

static void freeFlesh(Flesh* f) {
    srDestroyComplementaryTuning(&f->rest, &f->tuning);
    srDestroyComplementaryRest(&f->rest);
    srDestroyCharacterRest(&f->character);
    for (int k = 0; k < 7; ++k) {
        free(f->arrays[k]);
    }
    free(f->pulls);
    free(f->scratch);
}

// A stop: how far the flesh is from its pose at each step, on the mean. Frames are as long as substeps, which
// is the same for flesh whose rig stands still.
static int32_t playStop(Flesh* f, double hertz, double dial, int32_t substeps, double* outSizes) {
    srBodySettings settings = makeSettings(f, hertz, dial);
    srComplementaryDials dials = makeDials(f, &settings);
    dials.swingFrequency = srFindSwingFrequency(&settings, f->swing.pull, f->swing.elastic);
    dials.dampingRate = srFindStopDampingRate(&settings, dials.swingFrequency);
    dials.frameSeconds = 1.0 / FRAME_RATE / substeps;
    dials.substeps = 1;
    assert_int_equal(srComplementaryTuning_Set(&f->tuning, &f->rest, &dials), sr_success);
    size_t n = (size_t)f->rest.nodeCount;
    for (int k = 0; k < 7; ++k) {
        memset(f->arrays[k], 0, sizeof(srVec3) * n);
    }
    srVec3** a = f->arrays;
    srComplementaryState state = {a[0], a[1], {a[2], a[3]}, a[4], f->scratch, a[5]};
    const srVec3* nodes = f->character.cage.nodes;
    srComplementaryMotion motion = {.from = nodes, .to = nodes, .velocityJump = a[6]};
    int32_t stepCount = (int32_t)(substeps * (PLAYED * dial / 5.0 + MORE));
    for (int32_t step = 0; step < stepCount; ++step) {
        double speed = step == 0 ? -SPEED * settings.size : 0.0, sum = 0.0;
        for (size_t i = 0; i < n; ++i) {
            a[6][i] = (srVec3){speed, 0.0, speed};
        }
        srComplementaryStats stats;
        srComplementary_StepFrame(&f->rest, &f->tuning, &motion, &state, &stats);
        assert_int_equal(stats.missedCount, 0);
        for (size_t i = 0; i < n; ++i) {
            sum += f->tuning.masses[i] * srDot(a[0][i], a[0][i]);
        }
        outSizes[step] = sqrt(sum);
    }
    return stepCount;
}

typedef struct Peak {
    double step, size;
} Peak;

// of the parabola through three steps
static Peak findPeak(const double* sizes, int32_t step) {
    double before = sizes[step - 1], now = sizes[step], after = sizes[step + 1];
    double away = 0.5 * (before - after) / (before - 2.0 * now + after);
    return (Peak){step + away, now - 0.25 * (before - after) * away};
}

static bool isPeak(const double* sizes, int32_t step) {
    return sizes[step] >= sizes[step - 1] && sizes[step] > sizes[step + 1];
}

// Steps from the first peak until peaks are below a fiftieth of it, those which later ones exceed left out
static double findSettled(const double* sizes, int32_t stepCount) {
    int32_t step = 0;
    while (step + 1 < stepCount && sizes[step + 1] > sizes[step]) {
        ++step;
    }
    assert_true(step + 1 < stepCount);
    Peak first = step > 0 ? findPeak(sizes, step) : (Peak){0.0, sizes[0]}, last = first;
    double least = 0.02 * first.size;
    while (++step + 1 < stepCount) {
        double later = 0.0;
        for (int32_t k = step + 1; k < stepCount; ++k) {
            later = fmax(later, sizes[k]);
        }
        if (sizes[step] <= later || !isPeak(sizes, step)) {
            continue;
        }
        Peak peak = findPeak(sizes, step);
        if (peak.size < least) {
            double part = log(last.size / least) / log(last.size / peak.size);
            return last.step - first.step + part * (peak.step - last.step);
        }
        last = peak;
    }
    // strongly damped flesh has no peak so small
    for (step = stepCount - 1; sizes[step - 1] < least; --step) {
    }
    return step - 1 - first.step + log(sizes[step - 1] / least) / log(sizes[step - 1] / sizes[step]);
}

typedef struct Extremes {
    double least, most;
} Extremes;

static void widen(Extremes* extremes, double x) {
    extremes->least = fmin(extremes->least, x);
    extremes->most = fmax(extremes->most, x);
}

enum {
    sampled,
    rough,
    hidden,
    KIND_COUNT
};

// of the dial; steps that are too few lose the end of a swing, and later rather than sooner
static const double LEAST_PARTS[KIND_COUNT] = {0.9, 0.8, 0.75}, MOST_PARTS[KIND_COUNT] = {1.1, 1.4, 2.0};

// Frames show no swing that is quicker than half of them, and few steps catch none.
static int findKind(double swing, int32_t substeps) {
    double steps = FRAME_RATE * substeps / swing;
    return swing > 0.5 * FRAME_RATE || steps < 6.0 ? hidden : steps < 10.0 ? rough : sampled;
}

static void flesh_settles_when_the_dial_says(Flesh* f, const char* name) {
    static const double HERTZ[] = {1.0, 2.0, 4.0, 6.0}, DIALS[] = {6.0, 12.0, 24.0, 48.0, 96.0};
    static double sizes[MOST_STEPS];
    Extremes seen[KIND_COUNT] = {{9.0, 0.0}, {9.0, 0.0}, {9.0, 0.0}};
    int counts[KIND_COUNT] = {0, 0, 0};
    makeFlesh(f);
    for (int k = 0; k < 80; ++k) {
        double hertz = HERTZ[k / 20], dial = DIALS[k / 4 % 5];
        int32_t substeps = 1 << k % 4;
        srBodySettings settings = makeSettings(f, hertz, dial);
        double swing = srFindSwingFrequency(&settings, f->swing.pull, f->swing.elastic);
        double ratio = log(50.0) * FRAME_RATE / dial / (2.0 * PI * swing);
        if (ratio > 0.6) {
            continue; // hardly a second peak is left
        }
        int32_t stepCount = playStop(f, hertz, dial, substeps, sizes);
        double part = findSettled(sizes, stepCount) / (substeps * dial);
        int kind = findKind(swing, substeps);
        widen(&seen[kind], part);
        counts[kind] += 1;
        if (part > MOST_PARTS[kind] || part < LEAST_PARTS[kind]) {
            fail_msg("%s, %g Hz, %g frames, %d substeps: %.3f", name, hertz, dial, substeps, part);
        }
    }
    static const char* const KINDS[KIND_COUNT] = {"ten steps a swing and more", "six to ten", "fewer"};
    double times = sqrt(f->swing.pull + f->swing.elastic);
    print_message("%s, %d nodes, %.2f swings a swing of the dial\n", name, f->rest.nodeCount, times);
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        if (counts[kind] == 0) {
            continue;
        }
        print_message("  %s: %d shots, %.3f to %.3f of the dial\n", KINDS[kind], counts[kind],
                      seen[kind].least, seen[kind].most);
    }
    assert_true(counts[sampled] >= 25);
    freeFlesh(f);
}

static void a_bar_settles_when_the_dial_says(void** state) {
    (void)state;
    Flesh f;
    prepareScene(false, &f.character);
    flesh_settles_when_the_dial_says(&f, "bar");
}

static void a_tail_settles_when_the_dial_says(void** state) {
    (void)state;
    Flesh f;
    prepareScene(true, &f.character);
    flesh_settles_when_the_dial_says(&f, "tail");
}

static void a_sack_a_fish_and_a_biped_settle_when_the_dial_says(void** state) {
    (void)state;
    static const int BODIES[] = {0, 1, 3};
    static const char* const NAMES[] = {"sack", "fish", "biped"};
    for (int k = 0; k < 3; ++k) {
        Flesh f;
        prepareBody(BODIES[k], &f.character);
        flesh_settles_when_the_dial_says(&f, NAMES[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_settles_when_the_dial_says),
        cmocka_unit_test(a_tail_settles_when_the_dial_says),
        cmocka_unit_test(a_sack_a_fish_and_a_biped_settle_when_the_dial_says),
    };
    return cmocka_run_group_tests_name("sim/settle_dial", tests, NULL, srTestNothingLeaked);
}
