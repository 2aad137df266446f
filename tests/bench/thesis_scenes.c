// SPDX-License-Identifier: GPL-3.0-or-later
//
// Each method on each scene: how many iterations until more of them change nothing, what one costs, how far
// from the exact motion that is. A method has converged when twice as many iterations move its whole path by
// less than a thousandth of the shape's extent, in the mean. Methods with a stiffness factor k are run with
// many, and shown with the one that errs least: once when converged, and once at as few iterations as the
// compliant method needs, where k may make up for what iterations have not yet stiffened.
//
// Our own fast solver plays the same scenes as matter: as stiff and as heavy on the whole, judged by what is
// exact of that. An iteration of it is one of its sweeps over all cells.

#include "thesis_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 1e-3 // of the extent
#define SUBSTEPS 20
#define JELLO_NODES 3634 // as published; as nearly as can be
#define DRAWN_CURVES 9
#define SUBSTEPS_ASKED 10 // by artists, unless they ask otherwise

static const int32_t COUNTS[] = {1,  2,  3,  4,   6,   8,   12,  16,  24,  32,
                                 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
static const double FACTORS[] = {0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1,
                                 0.15,  0.2,   0.3,  0.4,  0.5,  0.6,  0.8,  1.0};
#define COUNT_COUNT ((int32_t)(sizeof(COUNTS) / sizeof(COUNTS[0])))
#define FACTOR_COUNT ((int32_t)(sizeof(FACTORS) / sizeof(FACTORS[0])))

// a row of the published tables; negative: it did not converge
typedef struct Published {
    double iterations;
    double milliseconds;
    double error;
} Published;

typedef struct Method {
    const char* name;
    srFamilyMethod kind;
    bool hasFactor;
    int32_t substeps;
    Published published[3];
} Method;

static const Method METHODS[] = {
    {"original", sr_familyOriginal, true, 1, {{5, 0.8, 2.682}, {14, 1.2, 2.950}, {35, 11.4, 4.155}}},
    {"substeps", sr_familySubsteps, true, SUBSTEPS, {{1, 1.6, 2.664}, {1, 20.6, 0.294}, {1, 456.6, 2.121}}},
    {"BDF2", sr_familyBdf2, true, 1, {{1, 2.3, 0.887}, {5, 5.3, 2.870}, {31, 29.2, 1.790}}},
    {"compliant", sr_familyCompliant, false, 1, {{5, 0.9, 2.087}, {10, 2.1, 0.142}, {35, 14.1, 0.342}}},
    {"compliant, Jacobi",
     sr_familyCompliantJacobi,
     false,
     1,
     {{5, 0.9, 2.087}, {15, 1.4, 0.159}, {-1, 11.9, -1}}},
};
#define METHOD_COUNT ((int32_t)(sizeof(METHODS) / sizeof(METHODS[0])))

// a way to play matter; without sweeps of its own it is run until more of them change nothing
typedef struct Way {
    const char* name;
    srThesisQuality quality;
} Way;

static const Way WAYS[] = {
    {"flesh, sweeps", {.substeps = 1}},
    {"flesh, substeps", {.substeps = SUBSTEPS, .sweeps = 1}},
    {"flesh, substeps, BDF2", {.substeps = SUBSTEPS, .sweeps = 1, .integrator = sr_fleshBdf2}},
    {"flesh as artists get it",
     {.substeps = SUBSTEPS_ASKED, .sweeps = 1, .handleCount = SR_USUAL_HANDLES, .isAsArtistsGet = true}},
};
#define WAY_COUNT ((int32_t)(sizeof(WAYS) / sizeof(WAYS[0])))

// what running a method gave
typedef struct Run {
    int32_t iterations; // 0: it did not converge
    double factor;
    double milliseconds; // an iteration, all of its substeps
    double error;
    int32_t tried;      // the most iterations, where it did not converge
    double triedFactor; // and what was best with them
    double triedError;
    double triedMilliseconds;
    srVec3* path;
} Run;

typedef struct Lab {
    srBenchReport* report;
    const srThesisScene* scene;
    const srVec3* exact;
    int sceneIndex;
    char caseName[96];
    srVec3* paths[COUNT_COUNT];
    double seconds[COUNT_COUNT];
} Lab;

static srPbdDials dialsOf(const Lab* lab, const Method* method, int32_t iterations, double factor) {
    srPbdDials dials = lab->scene->dials;
    dials.stiffness = factor;
    dials.iterations = iterations;
    dials.substeps = method->substeps;
    return dials;
}

static void copyPath(const Lab* lab, const srVec3* path, Run* run) {
    size_t count = (size_t)lab->scene->frameCount * (size_t)lab->scene->shape.nodeCount;
    for (size_t k = 0; run->path != NULL && k < count; ++k) {
        run->path[k] = path[k];
    }
}

static void keepRun(Lab* lab, int32_t index, double factor, Run* run) {
    double error = srThesisFindDistance(lab->scene, lab->paths[index], lab->exact);
    if (!(error < run->error)) {
        return;
    }
    run->iterations = COUNTS[index];
    run->factor = factor;
    run->milliseconds = 1e3 * lab->seconds[index] / (COUNTS[index] * lab->scene->frameCount);
    run->error = error;
    copyPath(lab, lab->paths[index], run);
}

// What does not converge is shown by its best path with the most iterations that were tried
static void keepTried(Lab* lab, int32_t index, double factor, Run* run) {
    double error = srThesisFindDistance(lab->scene, lab->paths[index], lab->exact);
    if (run->iterations > 0 || (run->tried > 0 && !(error < run->triedError))) {
        return;
    }
    run->tried = COUNTS[index];
    run->triedFactor = factor;
    run->triedError = error;
    run->triedMilliseconds = 1e3 * lab->seconds[index] / (COUNTS[index] * lab->scene->frameCount);
    copyPath(lab, lab->paths[index], run);
}

// a method of constraints, or a way to play matter
typedef struct Player {
    const Method* method;
    double factor;
    const Way* way;
} Player;

static void playAt(Lab* lab, const Player* player, int32_t index) {
    if (player->way != NULL) {
        srThesisQuality quality = player->way->quality;
        quality.sweeps = COUNTS[index];
        lab->seconds[index] = srThesisPlayMatter(lab->scene, &quality, lab->paths[index]);
        return;
    }
    srPbdDials dials = dialsOf(lab, player->method, COUNTS[index], player->factor);
    lab->seconds[index] = srThesisPlay(lab->scene, player->method->kind, &dials, lab->paths[index]);
}

// Runs with more and more iterations until twice as many change nothing; keeps the run if it errs less than
// what was kept so far
static void converge(Lab* lab, const Player* player, Run* run) {
    bool isPlayed[COUNT_COUNT] = {false};
    for (int32_t k = 0; k < COUNT_COUNT; ++k) {
        int32_t twice = k == 0 ? 1 : k + 2;
        if (twice >= COUNT_COUNT || COUNTS[twice] > lab->scene->mostIterations) {
            for (int32_t last = twice - 1; last >= 0; --last) {
                if (isPlayed[last]) {
                    keepTried(lab, last, player->factor, run);
                    return;
                }
            }
            return;
        }
        for (int32_t at = k; at <= twice; at += twice - k) {
            if (!isPlayed[at]) {
                playAt(lab, player, at);
                isPlayed[at] = true;
            }
        }
        if (srThesisFindDistance(lab->scene, lab->paths[k], lab->paths[twice]) <
            TOLERANCE * lab->scene->extent) {
            keepRun(lab, k, player->factor, run);
            return;
        }
    }
}

static void fit(Lab* lab, const Method* method, int32_t iterations, Run* run) {
    int32_t index = 0;
    while (index + 1 < COUNT_COUNT && COUNTS[index] < iterations) {
        ++index;
    }
    for (int32_t f = 0; f < FACTOR_COUNT; f += lab->scene->factorStride) {
        srPbdDials dials = dialsOf(lab, method, COUNTS[index], FACTORS[f]);
        lab->seconds[index] = srThesisPlay(lab->scene, method->kind, &dials, lab->paths[index]);
        keepRun(lab, index, FACTORS[f], run);
    }
}

static void add(const Lab* lab, const char* name, const char* what, double value, const char* unit) {
    char metric[96];
    snprintf(metric, sizeof(metric), "%s: %s", name, what);
    srBench_Add(lab->report, lab->caseName, metric, value, unit, NULL);
}

static void addRun(const Lab* lab, const char* name, bool hasFactor, const Run* run) {
    add(lab, name, "iterations", run->iterations > 0 ? run->iterations : (double)INFINITY, "");
    if (run->iterations == 0) {
        add(lab, name, "iterations tried", run->tried, "");
        if (hasFactor) {
            add(lab, name, "k, best with those", run->triedFactor, "");
        }
        add(lab, name, "an iteration", run->triedMilliseconds, "ms");
        add(lab, name, "mean error after those", run->triedError, "m");
        return;
    }
    if (hasFactor) {
        add(lab, name, "k", run->factor, "");
    }
    add(lab, name, "an iteration", run->milliseconds, "ms");
    add(lab, name, "mean error", run->error, "m");
}

static void addPublished(const Lab* lab, const Method* method) {
    const Published* published = &method->published[lab->sceneIndex];
    bool isConverged = published->iterations > 0.0;
    add(lab, method->name, "iterations, published", isConverged ? published->iterations : (double)INFINITY,
        "");
    add(lab, method->name, "an iteration, published", published->milliseconds, "ms");
    add(lab, method->name, "mean error, published", isConverged ? published->error : (double)INFINITY, "m");
}

// by how much smaller the judge's steps are than a method's
static void addRatio(const Lab* lab, const char* name, int32_t substeps) {
    if (lab->scene->cage.nodeCount > 0) {
        add(lab, name, "steps of the exact path for one of it", (double)lab->scene->judgeSteps / substeps,
            "");
    }
}

static Run newRun(const Lab* lab) {
    return (Run){.error = (double)INFINITY, .path = srThesisAllocatePath(lab->scene)};
}

// one iteration in each of many substeps is what that method is
static void runSubsteps(Lab* lab, const Method* method, Run* run) {
    for (int32_t f = 0; f < (method->hasFactor ? FACTOR_COUNT : 1); f += lab->scene->factorStride) {
        double factor = method->hasFactor ? FACTORS[f] : 1.0;
        srPbdDials dials = dialsOf(lab, method, 1, factor);
        lab->seconds[0] = srThesisPlay(lab->scene, method->kind, &dials, lab->paths[0]);
        keepRun(lab, 0, factor, run);
    }
}

static void runMethods(Lab* lab, Run* runs) {
    for (int32_t m = 0; m < METHOD_COUNT; ++m) {
        const Method* method = &METHODS[m];
        runs[m] = newRun(lab);
        if (method->substeps > 1) {
            runSubsteps(lab, method, &runs[m]);
        } else {
            for (int32_t f = 0; f < (method->hasFactor ? FACTOR_COUNT : 1); f += lab->scene->factorStride) {
                Player player = {.method = method, .factor = method->hasFactor ? FACTORS[f] : 1.0};
                converge(lab, &player, &runs[m]);
            }
        }
        addRun(lab, method->name, method->hasFactor, &runs[m]);
        addPublished(lab, method);
    }
}

static void runWays(Lab* lab, Run* runs) {
    for (int32_t w = 0; w < WAY_COUNT; ++w) {
        runs[w] = newRun(lab);
        Player player = {.way = &WAYS[w], .factor = 1.0};
        srThesisQuality quality = WAYS[w].quality;
        if (quality.sweeps == 0) {
            converge(lab, &player, &runs[w]);
        } else {
            lab->seconds[0] = srThesisPlayMatter(lab->scene, &quality, lab->paths[0]);
            keepRun(lab, 0, 1.0, &runs[w]);
        }
        int32_t substeps = quality.isAsArtistsGet ? quality.substepsTaken : quality.substeps;
        add(lab, WAYS[w].name, "substeps", substeps, "");
        addRun(lab, WAYS[w].name, false, &runs[w]);
        addRatio(lab, WAYS[w].name, substeps);
    }
}

static void runScene(Lab* lab, Lab* matter, const char* fileName) {
    static const Method SMALL_STEPS = {
        "compliant, substeps", sr_familySubsteps, false, SUBSTEPS, {{0.0, 0.0, 0.0}}};
    Run runs[METHOD_COUNT];
    runMethods(lab, runs);
    int32_t fewest = runs[3].iterations > 0 ? runs[3].iterations : 16;
    Run fitted = newRun(lab);
    Run second = newRun(lab);
    Run small = newRun(lab);
    fit(lab, &METHODS[0], fewest, &fitted);
    addRun(lab, "original, k for few iterations", true, &fitted);
    fit(lab, &METHODS[2], fewest, &second);
    addRun(lab, "BDF2, k for few iterations", true, &second);
    Method method = SMALL_STEPS;
    method.kind = sr_familyCompliant;
    runSubsteps(lab, &method, &small);
    addRun(lab, "compliant, substeps", false, &small);
    addRatio(lab, "compliant", 1);
    addRatio(lab, "compliant, substeps", SUBSTEPS);
    Run ways[WAY_COUNT];
    runWays(matter, ways);
    const srThesisCurve curves[DRAWN_CURVES] = {
        {"exact", lab->scene, lab->exact},
        {"compliant", lab->scene, runs[3].path},
        {"compliant, substeps", lab->scene, small.path},
        {"original", lab->scene, runs[0].path},
        {"original, k for few iterations", lab->scene, fitted.path},
        {"substeps", lab->scene, runs[1].path},
        {"BDF2", lab->scene, runs[2].path},
        {"exact, as matter", matter->scene, matter->exact},
        {"flesh as artists get it", matter->scene, ways[WAY_COUNT - 1].path},
    };
    srThesisDraw(curves, DRAWN_CURVES, fileName);
    for (int32_t w = 0; w < WAY_COUNT; ++w) {
        free(ways[w].path);
    }
    for (int32_t m = 0; m < METHOD_COUNT; ++m) {
        free(runs[m].path);
    }
    free(fitted.path);
    free(second.path);
    free(small.path);
}

static bool findExact(Lab* lab, srVec3* exact, srVec3* rough) {
    const srThesisScene* scene = lab->scene;
    if (scene->cage.nodeCount == 0) {
        srThesisFindSpring(scene, exact);
        return true;
    }
    int32_t missed = srThesisSolveExactly(scene, scene->judgeSteps, exact);
    int32_t missedRoughly = srThesisSolveExactly(scene, scene->judgeSteps / 2, rough);
    if (missed < 0 || missedRoughly < 0) {
        return false;
    }
    add(lab, "exact", "steps a frame", scene->judgeSteps, "");
    srBench_Add(lab->report, lab->caseName, "exact: steps without solution", missed, "", "== 0");
    add(lab, "exact", "change from half as many steps", srThesisFindDistance(scene, exact, rough), "m");
    return true;
}

static bool openLab(Lab* lab, srBenchReport* report, const srThesisScene* scene, int index) {
    *lab = (Lab){.report = report, .scene = scene, .sceneIndex = index};
    snprintf(lab->caseName, sizeof(lab->caseName), "%s, %d nodes, %d edges, %d cells%s", scene->name,
             scene->shape.nodeCount, scene->shape.edgeCount, scene->shape.cellCount,
             scene->isMatter ? ", as matter" : "");
    bool isComplete = true;
    for (int32_t k = 0; k < COUNT_COUNT; ++k) {
        lab->paths[k] = srThesisAllocatePath(scene);
        isComplete = isComplete && lab->paths[k] != NULL;
    }
    return isComplete;
}

static bool prepareLab(Lab* lab, srBenchReport* report, const srThesisScene* scene, int index) {
    bool isOpen = openLab(lab, report, scene, index);
    srVec3* exact = srThesisAllocatePath(scene);
    lab->exact = exact;
    return isOpen && exact != NULL && findExact(lab, exact, lab->paths[0]);
}

static void clearLab(Lab* lab) {
    for (int32_t k = 0; k < COUNT_COUNT; ++k) {
        free(lab->paths[k]);
    }
    free((void*)lab->exact);
}

static bool createScene(int index, srThesisScene* out) {
    return index == 0   ? srThesisCreateSpring(out)
           : index == 1 ? srThesisCreateBeam(out)
                        : srThesisCreateJello(JELLO_NODES, out);
}

void srThesisBenchScene(srBenchReport* report, int index) {
    static const char* const FILES[] = {"thesis-oscillator.svg", "thesis-beam.svg", "thesis-jello.svg"};
    srThesisScene scene = {0};
    srThesisScene matter = {0};
    if (createScene(index, &scene) && createScene(index, &matter) && srThesisMakeMatter(&matter)) {
        Lab lab;
        Lab other = {0};
        if (prepareLab(&lab, report, &scene, index) && prepareLab(&other, report, &matter, index)) {
            runScene(&lab, &other, FILES[index]);
        }
        clearLab(&lab);
        clearLab(&other);
    }
    srThesisDestroyScene(&scene);
    srThesisDestroyScene(&matter);
}

// What an iteration costs, of so many of them
static void addTime(Lab* lab, const char* name, const Player* player, int32_t index) {
    playAt(lab, player, index);
    char what[64];
    snprintf(what, sizeof(what), "an iteration, of %d", COUNTS[index]);
    add(lab, name, what, 1e3 * lab->seconds[index] / (COUNTS[index] * lab->scene->frameCount), "ms");
}

static void addTimes(Lab* lab, Lab* matter) {
    for (int32_t m = 0; m < METHOD_COUNT; ++m) {
        Player player = {.method = &METHODS[m], .factor = 1.0};
        for (int32_t k = 0; k < COUNT_COUNT && COUNTS[k] <= lab->scene->mostIterations; ++k) {
            if (k == 0 || METHODS[m].substeps == 1) {
                addTime(lab, METHODS[m].name, &player, k);
            }
        }
    }
    Method small = METHODS[3];
    small.substeps = SUBSTEPS;
    addTime(lab, "compliant, substeps", &(Player){.method = &small, .factor = 1.0}, 0);
    for (int32_t w = 0; w < WAY_COUNT; ++w) {
        Player player = {.way = &WAYS[w]};
        for (int32_t k = 0; k < COUNT_COUNT && COUNTS[k] <= lab->scene->mostIterations; ++k) {
            if (k == 0 || WAYS[w].quality.sweeps == 0) {
                addTime(matter, WAYS[w].name, &player, k);
            }
        }
    }
}

void srThesisBenchTimes(srBenchReport* report) {
    for (int index = 0; index < 3; ++index) {
        srThesisScene scene = {0};
        srThesisScene matter = {0};
        Lab lab = {0};
        Lab other = {0};
        if (createScene(index, &scene) && createScene(index, &matter) && srThesisMakeMatter(&matter) &&
            openLab(&lab, report, &scene, index) && openLab(&other, report, &matter, index)) {
            addTimes(&lab, &other);
        }
        clearLab(&lab);
        clearLab(&other);
        srThesisDestroyScene(&scene);
        srThesisDestroyScene(&matter);
    }
}
