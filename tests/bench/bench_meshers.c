// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which mesher is better: ten characters, each with a cage of the lattice and one of TetGen with as many
// nodes, play the same motion; how far their skins are from that of a reference in the mean square over
// vertices and frames, in parts of the reference's own offsets. The reference is halfway between a fine cage
// of either, eight times as many nodes, so that it favours neither; how far those two are from each other is
// told, for no difference below that means anything. Cages have about 800 nodes, or with --nodes N as many.
// Before that what thinning 300,000 triangles takes on one core, and what it takes to look at each collapse,
// whether it makes triangles cross, before it is done: the plain way to a surface that does not. With --nodes
// this is left out. With --only WORDS those cases alone with WORDS in their names.

#include "bodies.h"
#include "report.h"

#include "core/arena.h"
#include "core/parallel.h"
#include "mesh/contour.h"
#include "mesh/decimate.h"
#include "softrig/shot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if !defined(SR_TETGEN_PROGRAM)
#define SR_TETGEN_PROGRAM ""
#endif

enum {
    usualNodes = 800,
    leastNodes = 100,
    mostNodes = 6000,
    fineFactor = 8,
    thinnedTriangles = 8000,
    thinRuns = 5
};

typedef struct Play {
    float* offsets; ///< Of all frames and vertices.
    int32_t nodeCount;
    int32_t mesher;
    double cageSeconds;
    double smallestAngle;
} Play;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

static size_t countOffsets(const srBenchBody* body) {
    return 3 * (size_t)SR_BODY_FRAMES * (size_t)body->def.skinVertexCount;
}

static void simulate(const srBenchBody* body, srCharacterId character, float* outOffsets) {
    srShotDef def = srDefaultShotDef();
    def.character = character;
    def.firstFrame = 1;
    def.frameCount = SR_BODY_FRAMES;
    def.frameRate = 24.0;
    // of the material alone, whatever the cage: waves take a third of a second through the body
    double speed = 3.0 * (double)body->size;
    def.params.youngModulus = (float)(1000.0 * speed * speed);
    srShotId shot;
    check(srCreateShot(&def, &shot));
    size_t floatCount = 16 * (2 + (size_t)body->def.boneCount) * SR_BODY_FRAMES;
    float* rows = malloc(floatCount * sizeof(float));
    srBench_MoveBody(body, rows);
    check(srShot_WriteTape(shot, 1, SR_BODY_FRAMES, rows, (int64_t)floatCount, NULL));
    free(rows);
    for (int32_t frame = 1; frame <= SR_BODY_FRAMES; frame++) {
        size_t first = 3 * (size_t)(frame - 1) * (size_t)body->def.skinVertexCount;
        check(srShot_WaitFrame(shot, frame, -1.0));
        check(srShot_ReadOffsets(shot, frame, outOffsets + first, body->def.skinVertexCount));
    }
    srDestroyShot(shot);
}

static Play play(const srBenchBody* body, int32_t mesher, int32_t nodeCount) {
    srCharacterDef def = body->def;
    srCharacterId character;
    srCharacterReport report;
    Play out = {.offsets = malloc(countOffsets(body) * sizeof(float))};
    def.mesher = mesher;
    def.tetgenProgram = SR_TETGEN_PROGRAM;
    def.targetNodeCount = nodeCount;
    check(srCreateCharacter(&def, &character));
    check(srCharacter_Wait(character, -1.0));
    check(srCharacter_GetReport(character, &report));
    out.nodeCount = report.nodeCount;
    out.mesher = report.mesher;
    out.cageSeconds = (double)report.cageSeconds;
    out.smallestAngle = (double)report.smallestAngleDegrees;
    if (report.mesher != mesher) {
        fprintf(stderr, "%s: %s\n", body->name, report.mesherNote);
    }
    simulate(body, character, out.offsets);
    srDestroyCharacter(character);
    return out;
}

static double normOf(const float* values, const float* less, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        double x = (double)values[i] - (less != NULL ? (double)less[i] : 0.0);
        sum += x * x;
    }
    return sqrt(sum);
}

static void compare(srBenchReport* report, int index, int32_t coarseNodes, const char* only) {
    srBenchBody body;
    if (!srBench_CreateBody(index, &body)) {
        fprintf(stderr, "no memory for a character\n");
        exit(1);
    }
    if (!srBench_IsWanted(only, body.name)) {
        srBench_DestroyBody(&body);
        return;
    }
    Play lattice = play(&body, sr_mesherLattice, coarseNodes);
    Play tetgen = play(&body, sr_mesherTetgen, lattice.nodeCount);
    Play fineLattice = play(&body, sr_mesherLattice, fineFactor * coarseNodes);
    Play fineTetgen = play(&body, sr_mesherTetgen, fineFactor * coarseNodes);
    size_t count = countOffsets(&body);
    double apart = normOf(fineLattice.offsets, fineTetgen.offsets, count);
    float* reference = fineLattice.offsets;
    double byLattice = normOf(lattice.offsets, fineTetgen.offsets, count);
    double byTetgen = normOf(tetgen.offsets, fineLattice.offsets, count);
    for (size_t i = 0; i < count; i++) {
        reference[i] = 0.5f * (reference[i] + fineTetgen.offsets[i]);
    }
    double all = normOf(reference, NULL, count);
    srBench_Add(report, body.name, "skin vertices", body.def.skinVertexCount, "", NULL);
    srBench_Add(report, body.name, "bones", body.def.boneCount, "", NULL);
    srBench_Add(report, body.name, "nodes, lattice", lattice.nodeCount, "", NULL);
    srBench_Add(report, body.name, "nodes, TetGen", tetgen.nodeCount, "", NULL);
    srBench_Add(report, body.name, "made by TetGen", tetgen.mesher == sr_mesherTetgen, "", NULL);
    srBench_Add(report, body.name, "error, lattice", 100.0 * normOf(lattice.offsets, reference, count) / all,
                "%", NULL);
    srBench_Add(report, body.name, "error, TetGen", 100.0 * normOf(tetgen.offsets, reference, count) / all,
                "%", NULL);
    srBench_Add(report, body.name, "lattice from fine TetGen", 100.0 * byLattice / all, "%", NULL);
    srBench_Add(report, body.name, "TetGen from fine lattice", 100.0 * byTetgen / all, "%", NULL);
    srBench_Add(report, body.name, "references apart", 100.0 * apart / all, "%", NULL);
    srBench_Add(report, body.name, "smallest angle, lattice", lattice.smallestAngle, "deg", NULL);
    srBench_Add(report, body.name, "smallest angle, TetGen", tetgen.smallestAngle, "deg", NULL);
    srBench_Add(report, body.name, "making, lattice", lattice.cageSeconds, "s", NULL);
    srBench_Add(report, body.name, "making, TetGen", tetgen.cageSeconds, "s", NULL);
    free(lattice.offsets);
    free(tetgen.offsets);
    free(fineLattice.offsets);
    free(fineTetgen.offsets);
    srBench_DestroyBody(&body);
}

// ---- thinning
// ---------------------------------------------------------------------------------------------------

// A potato with bumps, a flat one, and a ring. Contours have slivers, which is what is hard about them.
static double valueAt(int shape, srVec3 x) {
    double bumps = 0.1 * sin(5.0 * x.x) * cos(7.0 * x.y) + 0.05 * sin(11.0 * x.z);
    if (shape == 2) {
        double across = sqrt(x.x * x.x + x.y * x.y) - 1.0;
        return sqrt(across * across + x.z * x.z) - 0.35;
    }
    return shape == 0 ? sqrt(0.6 * x.x * x.x + x.y * x.y + 1.5 * x.z * x.z) - 1.0 - bumps
                      : sqrt(0.2 * x.x * x.x + x.y * x.y + 6.0 * x.z * x.z) - 0.8 - 0.5 * bumps;
}

static double worstQuality(const srHull* hull, double* outMean) {
    double worst = 1.0, sum = 0.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* n = hull->triangles[t];
        srVec3 a = hull->points[n[0]], b = hull->points[n[1]], c = hull->points[n[2]];
        srVec3 ab = srSub(b, a), ac = srSub(c, a), bc = srSub(c, b);
        double squares = srDot(ab, ab) + srDot(ac, ac) + srDot(bc, bc);
        double quality = 2.0 * sqrt(3.0) * srLength(srCross(ab, ac)) / squares;
        worst = fmin(worst, quality);
        sum += quality;
    }
    *outMean = sum / hull->triangleCount;
    return worst;
}

// The best of some runs. What this thread had of its core: a busy machine spoils less.
static double timeThinning(const srHull* fine, bool looksAtEach, int runCount, srArena* arena, srHull* out,
                           srDecimateReport* made) {
    double best = HUGE_VAL;
    for (int run = 0; run < runCount; run++) {
        srArenaMark mark = srArena_GetMark(arena);
        srDecimateSettings settings = {thinnedTriangles, NULL, NULL, looksAtEach};
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        check(srDecimate(fine, &settings, arena, out, made));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        best = fmin(best, (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
        srArena_Release(arena, mark);
    }
    return best;
}

static void thin(srBenchReport* report, int shape, const char* only) {
    static const char* const names[] = {"thinning a potato", "thinning a flat potato", "thinning a ring"};
    if (!srBench_IsWanted(only, names[shape])) {
        return;
    }
    // for a little more than 300,000 triangles
    static const double spacings[] = {0.0251, 0.0213, 0.0243};
    srLattice lattice;
    srArena* arena = srCreateArena(1 << 20);
    const srVec3 corner = {1.9, 1.9, 1.7};
    double spacing = spacings[shape], mean, worst;
    if (arena == NULL || !srMakeLattice(srScale(-1.0, corner), corner, spacing, spacing, 1 << 24, &lattice)) {
        exit(1);
    }
    double* phi = SR_PUSH(arena, double, lattice.pointCount, "bench");
    for (int32_t p = 0; phi != NULL && p < lattice.pointCount; p++) {
        phi[p] = valueAt(shape, srLattice_Point(&lattice, p));
    }
    srHull fine, out;
    check(srContourLattice(&lattice, phi, arena, &fine));
    srDecimateReport made, plain;
    double plainTime = timeThinning(&fine, true, 1, arena, &out, &plain);
    double best = timeThinning(&fine, false, thinRuns, arena, &out, &made);
    worst = worstQuality(&out, &mean);
    srBench_Add(report, names[shape], "triangles before", fine.triangleCount, "", ">= 300000");
    srBench_Add(report, names[shape], "triangles after", out.triangleCount, "", "<= 8000");
    srBench_Add(report, names[shape], "collapses taken back", made.undoneCount, "", NULL);
    srBench_Add(report, names[shape], "pairs that cross", made.crossingCount, "", "== 0");
    srBench_Add(report, names[shape], "worst quality", worst, "", NULL);
    srBench_Add(report, names[shape], "mean quality", mean, "", NULL);
    srBench_Add(report, names[shape], "time", best, "s", "<= 0.5");
    srBench_Add(report, names[shape], "time, looking at each collapse", plainTime, "s", NULL);
    srBench_Add(report, names[shape], "times faster than that", plainTime / best, "", NULL);
    srDestroyArena(arena);
}

// Takes --nodes and its number out of the arguments; zero without. False when there is no such number.
static bool takeNodes(int* argc, char** argv, int32_t* outNodes) {
    int kept = 1;
    *outNodes = 0;
    for (int a = 1; a < *argc; a++) {
        if (strcmp(argv[a], "--nodes") != 0) {
            argv[kept++] = argv[a];
            continue;
        }
        long wanted = a + 1 < *argc ? strtol(argv[++a], NULL, 10) : 0;
        if (wanted < leastNodes || wanted > mostNodes) {
            fprintf(stderr, "--nodes takes a number from %d to %d\n", leastNodes, mostNodes);
            return false;
        }
        *outNodes = (int32_t)wanted;
    }
    *argc = kept;
    return true;
}

int main(int argc, char** argv) {
    int32_t nodes;
    const char* only = srBench_TakeOnly(&argc, argv);
    srBenchReport* report = takeNodes(&argc, argv, &nodes) ? srBench_Open(argc, argv, "meshers") : NULL;
    if (report == NULL) {
        return srBench_Close(NULL);
    }
    srParallel_SetWorkerCount(1);
    for (int shape = 0; shape < 3 && nodes == 0; shape++) {
        thin(report, shape, only);
    }
    if (SR_TETGEN_PROGRAM[0] == '\0') {
        fprintf(stderr,
                "skipped: softrig-tetgen is not built, for want of TetGen's source (./softrig brings it)\n");
        return srBench_Close(report);
    }
    for (int index = 0; index < SR_BODY_COUNT; index++) {
        compare(report, index, nodes > 0 ? nodes : usualNodes, only);
    }
    return srBench_Close(report);
}
