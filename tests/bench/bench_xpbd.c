// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a frame of the position-based solver costs, against the textbook way: the same constraints, one at a
// time, in the order of a greedy colouring of their graph, all of one colour at once where there are two
// workers. Each figure is the median of many frames, baseline and candidate in turns, so that a busy machine
// is busy for both.

#include "report.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "support/scenes.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 31
#define MAX_COLORS 64
#define BLOCK 256

// constraints sorted by colour; no two of one colour share a node
typedef struct Coloring {
    int32_t* order;
    int32_t starts[MAX_COLORS + 1];
    int32_t colorCount;
} Coloring;

static bool colorConstraints(const int32_t* nodes, int32_t arity, int32_t count, int32_t nodeCount,
                             Coloring* outColoring) {
    uint64_t* used = calloc((size_t)nodeCount, sizeof(uint64_t));
    uint8_t* colors = calloc((size_t)count, 1);
    outColoring->order = calloc((size_t)count, sizeof(int32_t));
    bool isDone = used != NULL && colors != NULL && outColoring->order != NULL;
    for (int32_t j = 0; isDone && j < count; ++j) {
        uint64_t taken = 0;
        for (int32_t c = 0; c < arity; ++c) {
            taken |= used[nodes[j * arity + c]];
        }
        while (colors[j] < MAX_COLORS && (taken >> colors[j] & 1) != 0) {
            ++colors[j];
        }
        isDone = colors[j] < MAX_COLORS;
        for (int32_t c = 0; isDone && c < arity; ++c) {
            used[nodes[j * arity + c]] |= UINT64_C(1) << colors[j];
        }
        outColoring->colorCount =
            colors[j] + 1 > outColoring->colorCount ? colors[j] + 1 : outColoring->colorCount;
    }
    int32_t place = 0;
    for (int32_t color = 0; isDone && color < outColoring->colorCount; ++color) {
        outColoring->starts[color] = place;
        for (int32_t j = 0; j < count; ++j) {
            if (colors[j] == color) {
                outColoring->order[place++] = j;
            }
        }
        outColoring->starts[color + 1] = place;
    }
    free(used);
    free(colors);
    return isDone;
}

// the textbook solver: uses the library's constants, and shares no code with its steps
typedef struct Baseline {
    srTestBody* body;
    Coloring edges;
    Coloring cells;
    const int32_t* order; // of the colour that is being solved
    float h;
    float fraction;
    bool isFirst;
} Baseline;

static void predict(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Baseline* b = context;
    const srTestBody* body = b->body;
    for (int32_t i = begin; i < end; ++i) {
        srVec3f w = body->state.velocities[i];
        if (b->isFirst) {
            w = srSubF(w, body->velocityJump[i]);
        }
        body->state.primary[i] = srMulAddF(body->from[i], b->fraction, srSubF(body->to[i], body->from[i]));
        body->state.previous[i] = body->state.offsets[i];
        bool isFree = body->tuning.inverseMasses[i] > 0.0f;
        body->state.offsets[i] =
            isFree ? srMulAddF(body->state.offsets[i], b->h * body->tuning.velocitiesLeft[i], w)
                   : (srVec3f){0.0f, 0.0f, 0.0f};
    }
}

static void finish(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Baseline* b = context;
    srXpbdState* state = &b->body->state;
    for (int32_t i = begin; i < end; ++i) {
        state->offsets[i] = srScaleF(b->body->tuning.bondFactors[i], state->offsets[i]);
        state->velocities[i] = srScaleF(1.0f / b->h, srSubF(state->offsets[i], state->previous[i]));
    }
}

static void solveEdges(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Baseline* b = context;
    const srTestBody* body = b->body;
    const float* inverseMasses = body->tuning.inverseMasses;
    srVec3f* u = body->state.offsets;
    const srVec3f* p = body->state.primary;
    for (int32_t place = begin; place < end; ++place) {
        int32_t j = b->order[place];
        int32_t i0 = body->rest.edges[j][0];
        int32_t i1 = body->rest.edges[j][1];
        srVec3f posed = srSubF(p[i1], p[i0]);
        srVec3f edge = srAddF(posed, srSubF(u[i1], u[i0]));
        float length = srLengthF(edge);
        float weight = inverseMasses[i0] + inverseMasses[i1];
        if (weight == 0.0f || length == 0.0f) {
            continue;
        }
        float C = length - srLengthF(posed);
        float deltaLambda = -C / (weight + body->tuning.edgeCompliances[j]);
        srVec3f direction = srScaleF(1.0f / length, edge);
        u[i0] = srMulAddF(u[i0], -inverseMasses[i0] * deltaLambda, direction);
        u[i1] = srMulAddF(u[i1], inverseMasses[i1] * deltaLambda, direction);
    }
}

static void solveCells(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Baseline* b = context;
    const srTestBody* body = b->body;
    srVec3f* u = body->state.offsets;
    const srVec3f* p = body->state.primary;
    for (int32_t place = begin; place < end; ++place) {
        int32_t j = b->order[place];
        const int32_t* n = body->rest.cells[j];
        srVec3f x[4];
        for (int c = 0; c < 4; ++c) {
            x[c] = srAddF(p[n[c]], u[n[c]]);
        }
        srVec3f gradients[4];
        gradients[1] = srCrossF(srSubF(x[2], x[0]), srSubF(x[3], x[0]));
        gradients[2] = srCrossF(srSubF(x[3], x[0]), srSubF(x[1], x[0]));
        gradients[3] = srCrossF(srSubF(x[1], x[0]), srSubF(x[2], x[0]));
        gradients[0] = srScaleF(-1.0f, srAddF(srAddF(gradients[1], gradients[2]), gradients[3]));
        srVec3f posedNormal = srCrossF(srSubF(p[n[2]], p[n[0]]), srSubF(p[n[3]], p[n[0]]));
        float C = srDotF(srSubF(x[1], x[0]), gradients[1]) - srDotF(srSubF(p[n[1]], p[n[0]]), posedNormal);
        float weighted = body->tuning.cellCompliances[j];
        for (int c = 0; c < 4; ++c) {
            weighted += body->tuning.inverseMasses[n[c]] * srDotF(gradients[c], gradients[c]);
        }
        for (int c = 0; c < 4; ++c) {
            u[n[c]] = srMulAddF(u[n[c]], -C / weighted * body->tuning.inverseMasses[n[c]], gradients[c]);
        }
    }
}

static void sweepColors(Baseline* b, const Coloring* coloring, srRangeFcn* body) {
    for (int32_t color = 0; color < coloring->colorCount; ++color) {
        b->order = coloring->order + coloring->starts[color];
        srParallelFor(body, coloring->starts[color + 1] - coloring->starts[color], BLOCK, b);
    }
}

static void stepBaseline(Baseline* b) {
    const srXpbdDials* dials = &b->body->tuning.dials;
    b->h = (float)(dials->frameSeconds / dials->substeps);
    for (int32_t substep = 1; substep <= dials->substeps; ++substep) {
        b->isFirst = substep == 1;
        b->fraction = (float)substep / (float)dials->substeps;
        srParallelFor(predict, b->body->cage.nodeCount, 4 * BLOCK, b);
        sweepColors(b, &b->edges, solveEdges);
        sweepColors(b, &b->cells, solveCells);
        srParallelFor(finish, b->body->cage.nodeCount, 4 * BLOCK, b);
    }
}

static int compareDoubles(const void* a, const void* b) {
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS]) {
    qsort(values, ROUNDS, sizeof(double), compareDoubles);
    return values[ROUNDS / 2];
}

static double largestOffset(const srTestBody* body) {
    double largest = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        largest = fmax(largest, (double)srLengthF(body->state.offsets[i]));
    }
    return largest;
}

static void measure(srBenchReport* report, const char* caseName, Baseline* baseline, srTestBody* body) {
    double before[ROUNDS];
    double after[ROUNDS];
    double swings[2] = {0.0, 0.0};
    for (int32_t frame = 1; frame <= ROUNDS; ++frame) {
        srTestBody_Shake(body, frame, 0.1, 2.0);
        srTestBody_Shake(baseline->body, frame, 0.1, 2.0);
        double start = srGetSeconds();
        stepBaseline(baseline);
        double middle = srGetSeconds();
        srTestBody_Step(body);
        after[frame - 1] = 1e3 * (srGetSeconds() - middle);
        before[frame - 1] = 1e3 * (middle - start);
        swings[0] = fmax(swings[0], largestOffset(baseline->body));
        swings[1] = fmax(swings[1], largestOffset(body));
    }
    double constraintCount = (double)body->cage.edgeCount + (double)body->cage.cellCount;
    double perConstraint = 1e6 / (constraintCount * body->tuning.dials.substeps);
    double plain = median(before);
    double ours = median(after);
    srBench_Add(report, caseName, "a frame, by colours (baseline)", plain, "ms", NULL);
    srBench_Add(report, caseName, "a frame, srXpbd_StepFrame", ours, "ms", NULL);
    srBench_Add(report, caseName, "a constraint, by colours (baseline)", plain * perConstraint, "ns", NULL);
    srBench_Add(report, caseName, "a constraint, srXpbd_StepFrame", ours * perConstraint, "ns", NULL);
    srBench_Add(report, caseName, "baseline / srXpbd_StepFrame", plain / ours, "", ">= 1");
    srBench_Add(report, caseName, "largest swing, baseline / srXpbd_StepFrame", swings[0] / swings[1], "",
                NULL);
}

static void benchCage(srBenchReport* report, const int32_t counts[3], int32_t workerCount) {
    srTestBody bodies[2];
    srParallel_SetWorkerCount(workerCount);
    if (srTestCreateBody(counts, 0.1, &bodies[0]) != sr_success) {
        return;
    }
    if (srTestCreateBody(counts, 0.1, &bodies[1]) == sr_success) {
        srTestBody* plain = &bodies[0];
        Baseline baseline = {.body = plain};
        bool isColored = colorConstraints(plain->rest.edges[0], 2, plain->cage.edgeCount,
                                          plain->cage.nodeCount, &baseline.edges) &&
                         colorConstraints(plain->rest.cells[0], 4, plain->cage.cellCount,
                                          plain->cage.nodeCount, &baseline.cells);
        char caseName[96];
        snprintf(caseName, sizeof(caseName), "%d nodes, %d edges, %d cells, 10 substeps, %d worker%s",
                 plain->cage.nodeCount, plain->cage.edgeCount, plain->cage.cellCount, workerCount,
                 workerCount > 1 ? "s" : "");
        if (isColored) {
            measure(report, caseName, &baseline, &bodies[1]);
        }
        free(baseline.edges.order);
        free(baseline.cells.order);
        srTestDestroyBody(&bodies[1]);
    }
    srTestDestroyBody(&bodies[0]);
    srParallel_Stop();
}

int main(int argc, char** argv) {
    static const int32_t SMALL[3] = {8, 12, 8};
    static const int32_t LARGE[3] = {13, 19, 13};
    srBenchReport* report = srBench_Open(argc, argv, "xpbd");
    for (int32_t workerCount = 1; report != NULL && workerCount <= 2; ++workerCount) {
        benchCage(report, SMALL, workerCount);
        benchCage(report, LARGE, workerCount);
    }
    return srBench_Close(report);
}
