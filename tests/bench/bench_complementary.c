// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a frame of the complementary solver costs: on the characters of the folders given by --data, each over
// its whole animation, with the published hold map and its material; and on bars of 1,000 to 100,000 nodes
// which 24 bones bend. The baseline is an iteration of projective dynamics the plain way
// (complementary_plain.h) in the same run. Frames are played several times, and each counts with its fastest
// time; of the largest bars a few frames once. --bars N leaves out all but the N smallest bars. --plot FILE
// draws, as SVG, what tolerance, substeps and integrator cost and give (complementary_defaults.h). --pictures
// FOLDER draws all frames of the characters instead, to be looked at (complementary_pictures.h); --orders
// tells how slow motion comes to rest instead, no times (complementary_orders.h). With one
// worker time is what the thread had of its core, so that a busy machine spoils less; with two it is the
// clock's, for both.

#include "complementary_data.h"
#include "complementary_defaults.h"
#include "complementary_orders.h"
#include "complementary_pictures.h"
#include "complementary_plain.h"
#include "limits.h"
#include "report.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "math/span.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    roundCount = 3,
    mostFrames = 400,
    mostFolders = 8,
    boneCount = 24,
    barFrames = 12,
    manyNodes = 20000, // from here on fewer frames, once
    manyFrames = 4,
    plainRuns = 10,
    localRuns = 30,
    fittedRows = 240
};

// additions and multiplications of a cell's product, without what moves it to and from memory
#define PRODUCT_OPERATIONS 201.0

// A character that is ready to be played.
typedef struct Stage {
    srBenchCharacter character;
    srComplementaryRest rest;
    srComplementaryTuning tuning;
    srVec3* arrays[5];
    void* scratch;
    srComplementaryState state;
    double prepareSeconds;
    bool isByClock; ///< Or by what this thread had of its core.
} Stage;

// What playing took.
typedef struct Play {
    double seconds[mostFrames];
    double mean, worst;                            // ms
    double innerCount, newtonCount, evaluateCount; // a frame
    double products;                               // of all frames and rounds
    double residual;                               // the largest
    int32_t curvatureCount;
    int32_t missedCount;
} Play;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

// of this thread alone
static double getSeconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        return srGetSeconds();
    }
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void prepare(Stage* s) {
    const srBenchCharacter* c = &s->character;
    srComplementaryShape shape = {
        .nodes = c->cage.nodes,
        .nodeCount = c->cage.nodeCount,
        .cells = (const int32_t (*)[4])c->cage.cells,
        .cellCount = c->cage.cellCount,
        .weights = c->weights,
        .holds = c->holds,
    };
    double start = getSeconds();
    check(srCreateComplementaryRest(&shape, &s->rest));
    check(srCreateComplementaryTuning(&s->rest, &s->tuning));
    s->prepareSeconds = getSeconds() - start;
    for (int k = 0; k < 5; ++k) {
        s->arrays[k] = calloc((size_t)c->cage.nodeCount, sizeof(srVec3));
    }
    s->state = (srComplementaryState){s->arrays[0], s->arrays[1], {s->arrays[2], s->arrays[3]},
                                      s->arrays[4], NULL,         NULL};
}

static void tune(Stage* s, const srComplementaryDials* dials) {
    check(srComplementaryTuning_Set(&s->tuning, &s->rest, dials));
    free(s->scratch);
    size_t size = srComplementary_GetScratchSize(&s->rest, &s->tuning);
    s->scratch = aligned_alloc(64, size);
    s->state.scratch = s->scratch;
    if (s->scratch == NULL) {
        exit(1);
    }
    memset(s->scratch, 0, size);
}

static void clearStage(Stage* s) {
    srDestroyComplementaryTuning(&s->rest, &s->tuning);
    srDestroyComplementaryRest(&s->rest);
    for (int k = 0; k < 5; ++k) {
        free(s->arrays[k]);
    }
    free(s->scratch);
    srBenchFreeCharacter(&s->character);
}

static void playOnce(Stage* s, int round, int32_t frameCount, Play* play) {
    int32_t inner = 0, newton = 0, evaluate = 0;
    play->residual = 0.0;
    play->curvatureCount = play->missedCount = 0;
    for (int k = 0; k < 5; ++k) {
        memset(s->arrays[k], 0, sizeof(srVec3) * (size_t)s->rest.nodeCount);
    }
    for (int32_t f = 1; f <= frameCount; ++f) {
        srComplementaryMotion motion = srBenchMoveTo(&s->character, f);
        srComplementaryStats stats;
        double start = s->isByClock ? srGetSeconds() : getSeconds();
        srComplementary_StepFrame(&s->rest, &s->tuning, &motion, &s->state, &stats);
        double seconds = (s->isByClock ? srGetSeconds() : getSeconds()) - start;
        play->seconds[f - 1] = round == 0 ? seconds : fmin(play->seconds[f - 1], seconds);
        inner += stats.innerCount;
        newton += stats.newtonCount;
        evaluate += stats.evaluateCount;
        play->residual = fmax(play->residual, stats.residual);
        play->curvatureCount += stats.curvatureCount;
        play->missedCount += stats.missedCount;
    }
    play->products += (double)inner;
    play->innerCount = (double)inner / frameCount;
    play->newtonCount = (double)newton / frameCount;
    play->evaluateCount = (double)evaluate / frameCount;
}

static void playAll(Stage* s, Play* play) {
    int32_t frameCount = s->character.frameCount < mostFrames ? s->character.frameCount : mostFrames;
    *play = (Play){0};
    int rounds = s->rest.nodeCount > manyNodes ? 1 : roundCount;
    for (int round = 0; round < rounds; ++round) {
        playOnce(s, round, frameCount, play);
    }
    for (int32_t f = 0; f < frameCount; ++f) {
        play->mean += 1e3 * play->seconds[f] / frameCount;
        play->worst = fmax(play->worst, 1e3 * play->seconds[f]);
    }
}

// Both by the clock, in turns, each played once before: a system may need a while to give a new worker a core
// of its own.
static void benchWorkers(srBenchReport* out, const char* caseName, Stage* s) {
    Play plays[2];
    uint64_t loopCount = 0;
    s->isByClock = true;
    for (int32_t k = 0; k < 2; ++k) {
        srParallel_SetWorkerCount(1 + k);
        playAll(s, &plays[k]);
        loopCount = srParallel_GetLoopCount();
        playAll(s, &plays[k]);
    }
    loopCount = srParallel_GetLoopCount() - loopCount;
    srParallel_SetWorkerCount(1);
    s->isByClock = false;
    srBench_Add(out, caseName, "two workers, times faster", plays[0].mean / plays[1].mean, "",
                s->rest.nodeCount >= 6000 ? ">= 1.6" : NULL);
    srBench_Add(out, caseName, "loops that they share for each product",
                (double)loopCount / plays[1].products, "", NULL);
}

static void report(srBenchReport* out, const char* caseName, const char* what, const Play* play,
                   const char* meanGoal, const char* worstGoal) {
    char metric[96];
    snprintf(metric, sizeof(metric), "a frame to %s, mean", what);
    srBench_Add(out, caseName, metric, play->mean, "ms", meanGoal);
    snprintf(metric, sizeof(metric), "a frame to %s, worst", what);
    srBench_Add(out, caseName, metric, play->worst, "ms", worstGoal);
    snprintf(metric, sizeof(metric), "products with the Hessian to %s", what);
    srBench_Add(out, caseName, metric, play->innerCount, "", NULL);
    snprintf(metric, sizeof(metric), "gradients to %s", what);
    srBench_Add(out, caseName, metric, play->evaluateCount, "", NULL);
    snprintf(metric, sizeof(metric), "largest residual to %s", what);
    srBench_Add(out, caseName, metric, play->residual, "", NULL);
}

// gradients (double) and products with the Hessian (float), nanoseconds a cell
static void benchLocalSteps(srBenchReport* out, const char* caseName, Stage* s) {
    size_t n = (size_t)s->rest.nodeCount, blocks = (size_t)s->rest.layout.blockCount;
    double* x = calloc(4 * n, sizeof(double));
    double* gradient = calloc(4 * n, sizeof(double));
    double* partials = calloc(blocks, sizeof(double));
    float* d = calloc(4 * n, sizeof(float));
    float* q = calloc(4 * n, sizeof(float));
    srCellTurns turns = {aligned_alloc(64, blocks * sizeof(srMat3Blockf)),
                         aligned_alloc(64, blocks * sizeof(srTurnBlockf)), NULL, NULL};
    srCellStretches none = {NULL, NULL, NULL, 0.0};
    for (size_t i = 0; i < n; ++i) {
        srVec3 p = s->character.places[0][i];
        x[4 * i] = p.x, x[4 * i + 1] = p.y, x[4 * i + 2] = p.z;
        d[4 * i] = (float)(p.y * p.z), d[4 * i + 1] = (float)(p.x * p.x), d[4 * i + 2] = (float)p.y;
    }
    double best[2] = {HUGE_VAL, HUGE_VAL};
    for (int run = 0; run < localRuns; ++run) {
        double start = getSeconds();
        srCells_Evaluate(&s->rest.layout, &s->tuning.shapes, &none, x, gradient, &turns, partials);
        double middle = getSeconds();
        srCells_MultiplyHessian(&s->rest.layout, &s->tuning.shapes, &none, &turns, d, q);
        best[1] = fmin(best[1], getSeconds() - middle);
        best[0] = fmin(best[0], middle - start);
    }
    double perCell = 1e9 / s->rest.cellCount;
    srBench_Add(out, caseName, "gradient and rotations, double, a cell", best[0] * perCell, "ns", "<= 20");
    srBench_Add(out, caseName, "product with the Hessian, float, a cell", best[1] * perCell, "ns", "<= 12");
    double peak = srBenchMeasurePeak();
    if (peak > 0.0) {
        srBench_Add(out, caseName, "its share of the arithmetic's peak",
                    100.0 * PRODUCT_OPERATIONS / (best[1] * perCell * peak), "%", NULL);
    }
    void* arrays[] = {x, gradient, partials, d, q, turns.rotations, turns.turns};
    for (int k = 0; k < 7; ++k) {
        free(arrays[k]);
    }
}

// three columns with our own factor
static double timeSolve(const Stage* s) {
    size_t count = 3 * (size_t)s->rest.nodeCount;
    float* b = calloc(count, sizeof(float));
    float* x = calloc(count, sizeof(float));
    double best = HUGE_VAL;
    for (size_t i = 0; b != NULL && i < count; ++i) {
        b[i] = (float)(i % 7) - 3.0f;
    }
    for (int run = 0; b != NULL && x != NULL && run < localRuns; ++run) {
        double start = getSeconds();
        check(srFactor_SolveFloat(&s->tuning.factor, b, x, s->scratch));
        best = fmin(best, getSeconds() - start);
    }
    free(b);
    free(x);
    return best;
}

static void benchPlain(srBenchReport* out, const char* caseName, Stage* s, const Play* play) {
    double solve, own = timeSolve(s);
    double plain = srBenchTimePlainIteration(&s->rest, &s->tuning, s->character.places[0], plainRuns, &solve);
    double ours = play->mean / play->innerCount;
    srBench_Add(out, caseName, "an iteration, plain projective dynamics (baseline)", 1e3 * plain, "ms", NULL);
    srBench_Add(out, caseName, "its solve, CHOLMOD's three columns", 1e3 * solve, "ms", NULL);
    srBench_Add(out, caseName, "a frame of ours for each product with the Hessian", ours, "ms", NULL);
    srBench_Add(out, caseName, "baseline's iteration / ours", 1e3 * plain / ours, "", NULL);
    srBench_Add(out, caseName, "our solve", 1e3 * own, "ms", NULL);
    srBench_Add(out, caseName, "CHOLMOD's three columns / our solve", solve / own, "", ">= 5");
}

// the same resistance to shear, and none to a change of volume: published ARAP
static srMaterial sheared(const srBenchCharacter* character) {
    return srMakeMaterial(character->youngModulus / (1.0 + character->poissonRatio), 0.0, 1000.0);
}

static srComplementaryDials publishedDials(const srBenchCharacter* character, double tolerance) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = sheared(character);
    dials.frameSeconds = character->frameSeconds;
    dials.poseCorrection = 1.0;
    dials.integrator = sr_integratorBackwardEuler;
    dials.substeps = 1;
    dials.tolerance = tolerance;
    dials.largestOffset = 1e3;
    dials.newtonLimit = 100;
    dials.innerLimit = 1000;
    return dials;
}

static void benchFolder(srBenchReport* out, const char* folder) {
    Stage s = {0};
    if (!srBenchReadCharacter(folder, &s.character)) {
        return;
    }
    bool isFish = strcmp(s.character.name, "fish") == 0, isSphere = strcmp(s.character.name, "sphere") == 0;
    char caseName[96];
    snprintf(caseName, sizeof(caseName), "%s, %d nodes, %d cells", s.character.name,
             s.character.cage.nodeCount, s.character.cage.cellCount);
    srParallel_SetWorkerCount(1);
    prepare(&s);
    Play play;
    srComplementaryDials dials = publishedDials(&s.character, 1e-6);
    tune(&s, &dials);
    playAll(&s, &play);
    report(out, caseName, "1e-6", &play,
           isFish     ? "<= 20"
           : isSphere ? "<= 0.1"
                      : NULL,
           isFish ? "<= 60" : NULL);
    srBench_Add(out, caseName, "substeps that missed 1e-6", play.missedCount, "", "== 0");
    srBench_Add(out, caseName, "negative curvatures to 1e-6", play.curvatureCount, "", NULL);
    if (s.rest.cellCount > 1000) {
        benchPlain(out, caseName, &s, &play);
        benchLocalSteps(out, caseName, &s);
        benchWorkers(out, caseName, &s);
    }
    dials = publishedDials(&s.character, 1e-6);
    dials.model = sr_elasticNeoHookean;
    dials.material = srMakeMaterial(s.character.youngModulus, s.character.poissonRatio, 1000.0);
    tune(&s, &dials);
    playAll(&s, &play);
    report(out, caseName, "1e-6, neo-Hookean", &play, isFish ? "<= 45" : NULL, NULL);
    srBench_Add(out, caseName, "substeps that missed it", play.missedCount, "", "== 0");
    dials = publishedDials(&s.character, 1e-3);
    tune(&s, &dials);
    playAll(&s, &play);
    report(out, caseName, "1e-3", &play, isFish ? "<= 12" : NULL, NULL);
    srParallel_Stop();
    clearStage(&s);
}

// The whole animation as pictures, as it was published.
static bool drawFolder(const char* folder, const char* pictureFolder) {
    Stage s = {0};
    srBenchPictures pictures;
    if (!srBenchReadCharacter(folder, &s.character)) {
        return false;
    }
    prepare(&s);
    srComplementaryDials dials = publishedDials(&s.character, 1e-6);
    tune(&s, &dials);
    bool isDrawn = srBenchBeginPictures(&s.character, &pictures);
    for (int32_t frame = 1; isDrawn && frame <= s.character.frameCount; ++frame) {
        srComplementaryMotion motion = srBenchMoveTo(&s.character, frame);
        srComplementaryStats stats;
        srComplementary_StepFrame(&s.rest, &s.tuning, &motion, &s.state, &stats);
        isDrawn = srBenchDrawFrame(&pictures, s.state.offsets, pictureFolder, frame);
    }
    srBenchEndPictures(&pictures);
    srParallel_Stop();
    clearStage(&s);
    return isDrawn;
}

// as the product has it: posed stretch, a pull to the pose, damping that is a dial
static srComplementaryDials productDials(const srBenchCharacter* character, double tolerance,
                                         int32_t innerLimit) {
    srComplementaryDials dials = srDefaultComplementaryDials();
    dials.material = sheared(character);
    dials.frameSeconds = character->frameSeconds;
    dials.frequency = 2.0;
    dials.dampingRate = 2.0 * log(50.0);
    dials.substeps = 1;
    dials.tolerance = tolerance;
    dials.largestOffset = 1e3;
    dials.newtonLimit = 100;
    dials.innerLimit = innerLimit;
    return dials;
}

// the space of a recorded motion (decision 28): its fit to the bar's frames over and over
static void benchFit(srBenchReport* out, const char* caseName, Stage* s) {
    srSpan span;
    check(srCreateSpan(s->rest.nodeVolumes, s->rest.nodeCount, &span));
    srSpan_FixAffine(&span, s->character.cage.nodes);
    double seconds = 0.0;
    for (int32_t row = 0; row < fittedRows; ++row) {
        srBenchMoveTo(&s->character, 1 + row % s->character.frameCount);
        double start = getSeconds();
        srSpan_AddPlaces(&span, s->character.places[0], 1e-6, HUGE_VAL);
        seconds += getSeconds() - start;
    }
    double start = getSeconds();
    srSpan_Finish(&span, 0.01);
    seconds += getSeconds() - start;
    srBench_Add(out, caseName, "fitting a space to 240 frames of motion", 1e3 * seconds, "ms", NULL);
    srBench_Add(out, caseName, "its shapes", srSpan_CountShapes(&span), "", NULL);
    srDestroySpan(&span);
}

static double megabytes(const Stage* s) {
    double cells = (double)s->rest.layout.blockCount;
    double product = cells * (sizeof(srCellCorners) + 2 * sizeof(srMat3Blockf) + 2 * sizeof(srTurnBlockf) +
                              sizeof(srCellNumbersf));
    double responses = (double)s->rest.nodeCount * s->rest.rows.rowCount * sizeof(float);
    const srFactor* f = &s->tuning.factor;
    const int64_t* starts = f->narrow.words != NULL ? f->narrow.starts : f->floatStarts;
    double panels = 2.0 * (double)starts[f->groupCount] * sizeof(float);
    return 1e-6 * (product + responses + panels);
}

// ten iterations, and until the residual is small
typedef struct Goals {
    const char* ten;
    const char* four;
    const char* prepare;
} Goals;

static void benchTen(srBenchReport* out, const char* caseName, Stage* s, const Goals* goals) {
    Play play;
    srComplementaryDials dials = productDials(&s->character, 0.0, 10);
    double start = getSeconds();
    tune(s, &dials);
    srBench_Add(out, caseName, "preparing", 1e3 * (s->prepareSeconds + getSeconds() - start), "ms",
                goals->prepare);
    start = getSeconds();
    tune(s, &dials);
    srBench_Add(out, caseName, "other dials", 1e3 * (getSeconds() - start), "ms",
                goals->four != NULL ? "<= 60" : NULL);
    benchFit(out, caseName, s);
    playAll(s, &play);
    srBench_Add(out, caseName, "a frame of ten inner iterations", play.mean, "ms", goals->ten);
    srBench_Add(out, caseName, "its products with the Hessian", play.innerCount, "", NULL);
    double each = play.mean / play.innerCount;
    srBench_Add(out, caseName, "read for each", megabytes(s), "MB", NULL);
    srBench_Add(out, caseName, "read a second", megabytes(s) / each, "GB/s", NULL);
    srBench_Add(out, caseName, "share of a copy's rate",
                1e5 * srBenchTimeCopy((size_t)(1e6 * megabytes(s))) / each, "%", NULL);
    benchPlain(out, caseName, s, &play);
    benchLocalSteps(out, caseName, s);
    benchWorkers(out, caseName, s);
}

static void playTo(srBenchReport* out, const char* caseName, Stage* s, const char* what, const char* goal) {
    Play play;
    playAll(s, &play);
    report(out, caseName, what, &play, goal, NULL);
}

static void playToDefault(srBenchReport* out, const char* caseName, Stage* s) {
    srComplementaryDials usual = srDefaultComplementaryDials(),
                         dials = productDials(&s->character, usual.tolerance, 1000);
    dials.material = srMakeMaterial(s->character.youngModulus, 0.45, 1000.0);
    dials.substeps = usual.substeps;
    tune(s, &dials);
    playTo(out, caseName, s, "its default, Poisson's ratio 0.45", NULL);
}

typedef struct Bar {
    int32_t across, along;
    Goals goals;
} Bar;

static void benchBar(srBenchReport* out, const Bar* bar) {
    Stage s = {0};
    int32_t nodeCount = (bar->across + 1) * (bar->across + 1) * (bar->along + 1);
    int32_t frames = nodeCount > manyNodes ? manyFrames : barFrames;
    if (!srBenchMakeBar(bar->across, bar->along, boneCount, frames, &s.character)) {
        return;
    }
    char caseName[96];
    srParallel_SetWorkerCount(1);
    prepare(&s);
    snprintf(caseName, sizeof(caseName), "bar, %d nodes, %d cells, %d rows", s.rest.nodeCount,
             s.rest.cellCount, s.rest.rows.rowCount);
    benchTen(out, caseName, &s, &bar->goals);
    srComplementaryDials dials = productDials(&s.character, 1e-4, 1000);
    tune(&s, &dials);
    playTo(out, caseName, &s, "1e-4", bar->goals.four);
    double length = (double)bar->along / bar->across;
    srBenchSwingBar(&s.character, length, SR_BENCH_SWING / 3.0);
    playTo(out, caseName, &s, "1e-4, a third of the swing", bar->goals.four);
    srBenchSwingBar(&s.character, length, SR_BENCH_SWING);
    playToDefault(out, caseName, &s);
    srParallel_Stop();
    clearStage(&s);
}

typedef struct Body {
    int index; ///< Of bodies.h.
    int32_t nodeCount;
    Goals goals;
} Body;

static void benchBody(srBenchReport* out, const Body* body) {
    Stage s = {0};
    if (!srBenchMakeBody(body->index, body->nodeCount, &s.character)) {
        return;
    }
    char caseName[96];
    srParallel_SetWorkerCount(1);
    prepare(&s);
    snprintf(caseName, sizeof(caseName), "%s, %d nodes, %d cells, %d rows", s.character.name,
             s.rest.nodeCount, s.rest.cellCount, s.rest.rows.rowCount);
    benchTen(out, caseName, &s, &body->goals);
    srComplementaryDials dials = productDials(&s.character, 1e-4, 1000);
    tune(&s, &dials);
    playTo(out, caseName, &s, "1e-4", body->goals.four);
    playToDefault(out, caseName, &s);
    srParallel_Stop();
    clearStage(&s);
}

int main(int argc, char** argv) {
    static const Bar BARS[] = {
        {5, 28, {0}},  {10, 32, {"<= 4", "<= 5", NULL}},    // 3,993 nodes
        {12, 36, {0}}, {15, 42, {"<= 13", NULL, "<= 500"}}, // 11,008 nodes
        {22, 64, {0}}, {31, 98, {0}},
    };
    // those of 24 bones
    static const Body BODIES[] = {
        {3, 4000, {"<= 4", "<= 5", NULL}}, {3, 11000, {"<= 13", NULL, "<= 500"}},
        {4, 4000, {"<= 4", "<= 5", NULL}}, {5, 4000, {"<= 4", "<= 5", NULL}},
        {6, 4000, {"<= 4", "<= 5", NULL}},
    };
    const char *folders[mostFolders], *plot = NULL, *pictures = NULL;
    int folderCount = 0, kept = 1;
    bool wantsOrders = false;
    size_t barCount = sizeof(BARS) / sizeof(BARS[0]);
    for (int a = 1; a < argc; ++a) {
        if (strcmp(argv[a], "--data") == 0 && a + 1 < argc && folderCount < mostFolders) {
            folders[folderCount++] = argv[++a];
        } else if (strcmp(argv[a], "--plot") == 0 && a + 1 < argc) {
            plot = argv[++a];
        } else if (strcmp(argv[a], "--pictures") == 0 && a + 1 < argc) {
            pictures = argv[++a];
        } else if (strcmp(argv[a], "--orders") == 0) {
            wantsOrders = true;
        } else if (strcmp(argv[a], "--bars") == 0 && a + 1 < argc) {
            size_t wanted = (size_t)strtoul(argv[++a], NULL, 10);
            barCount = wanted < barCount ? wanted : barCount;
        } else {
            argv[kept++] = argv[a];
        }
    }
    if (pictures != NULL) {
        bool areDrawn = true;
        for (int k = 0; k < folderCount; ++k) {
            areDrawn = drawFolder(folders[k], pictures) && areDrawn;
        }
        return areDrawn ? 0 : 1;
    }
    srBenchReport* out = srBench_Open(kept, argv, "complementary");
    if (out != NULL && wantsOrders) {
        srBenchMeasureOrders(out);
        return srBench_Close(out);
    }
    if (out != NULL && folderCount == 0) {
        fprintf(stderr, "No --data DIR given: characters from files are left out.\n");
    }
    for (int k = 0; out != NULL && k < folderCount; ++k) {
        benchFolder(out, folders[k]);
    }
    for (size_t k = 0; out != NULL && barCount > 0 && k < sizeof(BODIES) / sizeof(BODIES[0]); ++k) {
        benchBody(out, &BODIES[k]);
    }
    for (size_t k = 0; out != NULL && k < barCount; ++k) {
        benchBar(out, &BARS[k]);
    }
    if (out != NULL) {
        srBenchPlotDefaults(out, plot);
    }
    return srBench_Close(out);
}
