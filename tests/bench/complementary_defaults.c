// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bar on four bones slides, bends and stops dead; then only flesh moves. Its motion with 16 substeps to
// 1e-8 is the truth. A choice's error is the root mean square, over all frames and nodes, of what its offsets
// are off, in parts of that of the true ones: a swing of the right size at the wrong time counts in full.

#include "complementary_defaults.h"

#include "complementary_data.h"

#include "core/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    frameCount = 72,
    slideFrames = 24,
    boneCount = 4,
    roundCount = 3,
    substepKinds = 4,
    toleranceKinds = 6
};

static const int32_t SUBSTEPS[substepKinds] = {1, 2, 3, 4};
static const double TOLERANCES[toleranceKinds] = {1e-1, 3e-2, 2e-2, 1e-2, 1e-3, 1e-4};

typedef struct Scene {
    srBenchCharacter character;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    srVec3* arrays[5];
    srVec3* truth; // a frame after the other
} Scene;

typedef struct Choice {
    srIntegrator integrator;
    int32_t substeps;
    double tolerance;
    double error; // in parts of the motion
    double milliseconds;
} Choice;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

static double getSeconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        return srGetSeconds();
    }
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// to the side by one and a half, swaying, until it stops
static void moveBones(srBenchCharacter* character) {
    for (int32_t f = 0; f <= frameCount; ++f) {
        double t = fmin((double)f / slideFrames, 1.0), angle = 0.12 * sin(6.283185307179586 * t);
        double y = 0.0, z = 0.0, part = 1.0;
        for (int32_t k = 0; k < boneCount; ++k) {
            double total = angle * (k + 1), c = cos(total), s = sin(total), height = part * k;
            const double map[12] = {1, 0, 0, 1.5 * t * t, 0, c, -s, y + s * height, 0, s, c, z - c * height};
            memcpy(character->maps[f * boneCount + k], map, sizeof(map));
            y -= s * part;
            z += c * part;
        }
    }
}

static void makeScene(Scene* s) {
    *s = (Scene){0};
    if (!srBenchMakeBar(4, 16, boneCount, frameCount, &s->character)) {
        exit(1);
    }
    moveBones(&s->character);
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
    for (int k = 0; k < 5; ++k) {
        s->arrays[k] = calloc(n, sizeof(srVec3));
    }
    s->truth = calloc(n * frameCount, sizeof(srVec3));
}

static void freeScene(Scene* s) {
    srDestroyComplementaryTuning(&s->rest, &s->tuning);
    srDestroyComplementaryRest(&s->rest);
    for (int k = 0; k < 5; ++k) {
        free(s->arrays[k]);
    }
    free(s->truth);
    srBenchFreeCharacter(&s->character);
}

static void tune(Scene* s, const Choice* choice) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = srMakeMaterial(4e4, 0.45, 1000.0);
    dials.frameSeconds = s->character.frameSeconds;
    dials.frequency = 2.0;
    dials.dampingRate = 2.0 * log(50.0);
    dials.largestOffset = 1e3;
    dials.newtonLimit = 100;
    dials.innerLimit = 1000;
    dials.integrator = choice->integrator;
    dials.substeps = choice->substeps;
    dials.tolerance = choice->tolerance;
    check(srComplementaryTuning_Set(&s->tuning, &s->rest, &dials));
}

// the whole motion; fills truth, or else error and time of the choice
static void play(Scene* s, Choice* choice, bool isTruth) {
    tune(s, choice);
    size_t n = (size_t)s->rest.nodeCount;
    void* scratch = aligned_alloc(64, srComplementary_GetScratchSize(&s->rest, &s->tuning));
    srComplementaryState state = {s->arrays[0], s->arrays[1], {s->arrays[2], s->arrays[3]},
                                  s->arrays[4], scratch,      NULL};
    for (int k = 0; k < 5; ++k) {
        memset(s->arrays[k], 0, sizeof(srVec3) * n);
    }
    double squares = 0.0, whole = 0.0, seconds = 0.0;
    for (int32_t f = 1; f <= frameCount; ++f) {
        srComplementaryMotion motion = srBenchMoveTo(&s->character, f);
        srComplementaryStats stats;
        double start = getSeconds();
        srComplementary_StepFrame(&s->rest, &s->tuning, &motion, &state, &stats);
        seconds += getSeconds() - start;
        srVec3* truth = s->truth + n * (size_t)(f - 1);
        for (size_t i = 0; i < n && !isTruth; ++i) {
            srVec3 off = srSub(state.offsets[i], truth[i]);
            squares += srDot(off, off);
            whole += srDot(truth[i], truth[i]);
        }
        if (isTruth) {
            memcpy(truth, state.offsets, n * sizeof(srVec3));
        }
    }
    free(scratch);
    choice->error = isTruth ? 0.0 : sqrt(squares / whole);
    choice->milliseconds = fmin(choice->milliseconds, 1e3 * seconds / frameCount);
}

// ---- the drawing: error over milliseconds, both logarithmic ----

static double toX(double milliseconds) {
    return 80.0 + 240.0 * (log10(milliseconds) + 1.0); // 0.1 to 100 ms
}

static double toY(double error) {
    return 60.0 - 130.0 * log10(error); // 1 to 0.001
}

static void drawFrame(FILE* svg) {
    fprintf(svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 520\" font-family=\"sans-serif\" "
            "font-size=\"13\">\n<rect width=\"860\" height=\"520\" fill=\"white\"/>\n");
    for (int k = 0; k <= 3; ++k) {
        double x = toX(pow(10.0, k - 1.0)), y = toY(pow(10.0, -k));
        fprintf(svg, "<path d=\"M%.1f 60V450M80 %.1fH800\" stroke=\"#ddd\"/>\n", x, y);
        fprintf(svg, "<text x=\"%.1f\" y=\"470\" text-anchor=\"middle\">%g</text>\n", x, pow(10.0, k - 1.0));
        fprintf(svg, "<text x=\"72\" y=\"%.1f\" text-anchor=\"end\">%g %%</text>\n", y + 4.0,
                pow(10.0, 2.0 - k));
    }
    fprintf(svg, "<text x=\"440\" y=\"500\" text-anchor=\"middle\">milliseconds a frame</text>\n"
                 "<text x=\"80\" y=\"40\">error of the whole motion, phase included; along a line the "
                 "tolerance goes from 0.1 to 0.0001</text>\n");
}

static void drawLine(FILE* svg, const Choice* choices, int line) {
    static const char* COLOURS[substepKinds] = {"#c33", "#27a", "#383", "#a6a"};
    const char* colour = COLOURS[line % substepKinds];
    bool isBdf2 = choices[0].integrator == sr_integratorBdf2;
    fprintf(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"", colour,
            isBdf2 ? "" : " stroke-dasharray=\"5 4\"");
    for (int k = 0; k < toleranceKinds; ++k) {
        fprintf(svg, "%c%.1f %.1f", k == 0 ? 'M' : 'L', toX(choices[k].milliseconds), toY(choices[k].error));
    }
    fprintf(svg, "\"/>\n");
    for (int k = 0; k < toleranceKinds; ++k) {
        fprintf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", toX(choices[k].milliseconds),
                toY(choices[k].error), colour);
    }
    fprintf(svg, "<text x=\"600\" y=\"%d\" fill=\"%s\">%s, %d substep%s</text>\n", 80 + 18 * line, colour,
            isBdf2 ? "BDF2" : "backward Euler (dashed)", choices[0].substeps,
            choices[0].substeps > 1 ? "s" : "");
}

static void draw(const char* path, Choice choices[2][substepKinds][toleranceKinds]) {
    FILE* svg = fopen(path, "w");
    if (svg == NULL) {
        fprintf(stderr, "%s cannot be written.\n", path);
        return;
    }
    drawFrame(svg);
    for (int line = 0; line < 2 * substepKinds; ++line) {
        drawLine(svg, choices[line / substepKinds][line % substepKinds], line);
    }
    fprintf(svg, "</svg>\n");
    fclose(svg);
}

void srBenchPlotDefaults(srBenchReport* out, const char* svgPath) {
    static const char* NAMES[2] = {"BDF2", "backward Euler"};
    static Choice choices[2][substepKinds][toleranceKinds];
    Scene s;
    makeScene(&s);
    Choice truth = {sr_integratorBdf2, 16, 1e-8, 0.0, HUGE_VAL};
    play(&s, &truth, true);
    char caseName[96], metric[96];
    snprintf(caseName, sizeof(caseName), "choices, %d nodes, %d frames", s.rest.nodeCount, frameCount);
    for (int line = 0; line < 2 * substepKinds; ++line) {
        for (int k = 0; k < toleranceKinds; ++k) {
            Choice* c = &choices[line / substepKinds][line % substepKinds][k];
            *c = (Choice){(srIntegrator)(line / substepKinds), SUBSTEPS[line % substepKinds], TOLERANCES[k],
                          0.0, HUGE_VAL};
            for (int round = 0; round < roundCount; ++round) {
                play(&s, c, false);
            }
            snprintf(metric, sizeof(metric), "%s, %d substeps, to %g, error", NAMES[line / substepKinds],
                     c->substeps, c->tolerance);
            srBench_Add(out, caseName, metric, 100.0 * c->error, "%", NULL);
            snprintf(metric, sizeof(metric), "%s, %d substeps, to %g, a frame", NAMES[line / substepKinds],
                     c->substeps, c->tolerance);
            srBench_Add(out, caseName, metric, c->milliseconds, "ms", NULL);
        }
    }
    if (svgPath != NULL) {
        draw(svgPath, choices);
    }
    freeScene(&s);
}
