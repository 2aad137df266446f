// SPDX-License-Identifier: GPL-3.0-or-later
//
// Solves with a sparse factor, on one core: ours against CHOLMOD's with three columns, on cages of our own
// mesher, with what it takes to prepare them. Where CHOLMOD was built with OpenMP, OMP_THREAD_LIMIT=1 holds
// its numeric phase to one core too. The dense half stands in math_dense.c.

#include "math_dense.h"
#include "math_parts.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "math/dissect.h"
#include "math/simd_path.h"
#include "math/solve.h"
#include "mesh/mesher.h"
#include "weights/laplacian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define STEP_SECONDS (1.0 / 24.0)
#define DENSITY 1000.0   // kg/m3
#define STIFFNESS 1000.0 // Pa, very soft flesh; the Laplacian times it stands for an elastic energy

enum {
    slowRuns = 5,
    fastRuns = 200,
    turns = 10,
    runsOfTurn = 12,
    around = 112,
    down = 56,
    coldBytes = 96 << 20 // more than any cache we know
};

// A cage's system, prepared in every way that is compared.
typedef struct Scene {
    srCage cage;
    srCsc A;
    int32_t* order;
    srCholesky* byDegree; // CHOLMOD by itself
    srCholesky* byDissection;
    srFactor factor;
    void* scratch;
    size_t count; // three a node
    double* b;
    double* exact;
    double* columns; // three columns, for CHOLMOD
    double* x;
    float* bFloat;
    float* xFloat;
} Scene;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

// A bumpy closed surface.
static srSurface makeSurface(void) {
    int32_t vertexCount = 2 + around * (down - 1), triangleCount = 0;
    float* points = malloc(3 * (size_t)vertexCount * sizeof(float));
    int32_t (*triangles)[3] = malloc(2 * (size_t)vertexCount * sizeof(*triangles));
    for (int32_t v = 0; v < vertexCount; v++) {
        int32_t ring = v == 0 ? 0 : v == vertexCount - 1 ? down : (v - 1) / around + 1;
        double theta = PI * ring / down, phi = 2.0 * PI * ((v + around - 1) % around) / around;
        double radius = 1.0 + 0.35 * sin(3.0 * theta) * cos(2.0 * phi);
        points[3 * v] = (float)(radius * sin(theta) * cos(phi));
        points[3 * v + 1] = (float)(radius * sin(theta) * sin(phi));
        points[3 * v + 2] = (float)(1.5 * radius * cos(theta));
    }
    for (int32_t i = 0; i < around; i++) {
        int32_t next = (i + 1) % around, last = 1 + (down - 2) * around;
        const int32_t caps[2][3] = {{0, 1 + i, 1 + next}, {vertexCount - 1, last + next, last + i}};
        memcpy(triangles[triangleCount], caps, sizeof(caps));
        triangleCount += 2;
        for (int32_t ring = 1; ring < last; ring += around) {
            const int32_t sides[2][3] = {{ring + i, ring + around + i, ring + around + next},
                                         {ring + i, ring + around + next, ring + next}};
            if (ring + around <= last) {
                memcpy(triangles[triangleCount], sides, sizeof(sides));
                triangleCount += 2;
            }
        }
    }
    srSurface surface;
    srSurfaceReport found;
    check(srCreateSurface(points, vertexCount, triangles[0], triangleCount, &surface, &found));
    free(points);
    free(triangles);
    return surface;
}

// M/h2 + L
static srCsc assemble(const srCage* cage) {
    int32_t laplacianCount = SR_LAPLACIAN_ENTRIES * cage->cellCount, count = laplacianCount;
    srTriplet* triplets = malloc((size_t)(laplacianCount + 4 * cage->cellCount) * sizeof(srTriplet));
    srFillLaplacian(cage, triplets);
    for (int32_t t = 0; t < laplacianCount; t++) {
        triplets[t].value *= STIFFNESS;
    }
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        double mass = DENSITY * srCellVolume(cage, cell) / 4.0;
        for (int c = 0; c < 4; c++) {
            int32_t node = cage->cells[cell][c];
            triplets[count++] = (srTriplet){node, node, mass / (STEP_SECONDS * STEP_SECONDS)};
        }
    }
    srCsc A;
    check(srCreateCsc(cage->nodeCount, cage->nodeCount, triplets, count, &A));
    free(triplets);
    return A;
}

static double since(double start) {
    return srGetSeconds() - start;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static void toColumns(const Scene* s, const double* rows) {
    size_t n = s->count / 3;
    for (size_t i = 0; i < s->count; i++) {
        s->columns[i % 3 * n + i / 3] = rows[i];
    }
}

// residual -= A x, lower triangle
static void subtractProduct(const srCsc* A, const double* x, long double* residual) {
    for (size_t j = 0; j < (size_t)A->columnCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            size_t i = (size_t)A->rows[p];
            for (size_t c = 0; c < 3; c++) {
                residual[3 * i + c] -= (long double)A->values[p] * (long double)x[3 * j + c];
                residual[3 * j + c] -= i != j ? (long double)A->values[p] * (long double)x[3 * i + c] : 0.0L;
            }
        }
    }
}

// The solution to more digits than double has: CHOLMOD's, with residuals in long double.
static void solveExactly(Scene* s) {
    size_t n = s->count / 3;
    long double* residual = malloc(s->count * sizeof(long double));
    memset(s->exact, 0, s->count * sizeof(double));
    for (int step = 0; step < 4; step++) {
        for (size_t i = 0; i < s->count; i++) {
            residual[i] = (long double)s->b[i];
        }
        subtractProduct(&s->A, s->exact, residual);
        for (size_t i = 0; i < s->count; i++) {
            s->columns[i % 3 * n + i / 3] = (double)residual[i];
        }
        check(srCholesky_Solve(s->byDegree, s->columns, 3));
        for (size_t i = 0; i < s->count; i++) {
            s->exact[i] += s->columns[i % 3 * n + i / 3];
        }
    }
    free(residual);
}

static double errorOf(const Scene* s, bool isFloat) {
    double worst = 0.0, most = 0.0;
    for (size_t i = 0; i < s->count; i++) {
        double error = fabs((isFloat ? (double)s->xFloat[i] : s->x[i]) - s->exact[i]);
        worst = error > worst ? error : worst;
        most = fabs(s->exact[i]) > most ? fabs(s->exact[i]) : most;
    }
    return worst / most;
}

static double timeCholmod(const Scene* s, srCholesky* cholesky) {
    double best = HUGE_VAL;
    for (int run = 0; run < runsOfTurn; run++) {
        toColumns(s, s->b);
        double start = srGetSeconds();
        check(srCholesky_Solve(cholesky, s->columns, 3));
        best = lesser(best, since(start));
    }
    return best;
}

// Reads `bytes` once; the answer keeps the compiler from leaving it out.
static uint64_t readAll(const void* bytes, size_t size) {
    const uint64_t* words = bytes;
    uint64_t sums[16] = {0}, sum = 0;
    for (size_t w = 0; w + 16 <= size / sizeof(uint64_t); w += 16) {
        for (int s = 0; s < 16; s++) {
            sums[s] += words[w + (size_t)s];
        }
    }
    for (int s = 0; s < 16; s++) {
        sum ^= sums[s];
    }
    return sum;
}

static double timeReading(const void* bytes, size_t size, int runs, uint64_t* sink) {
    double best = HUGE_VAL;
    for (int run = 0; run < runs; run++) {
        double start = srGetSeconds();
        *sink += readAll(bytes, size);
        best = lesser(best, since(start));
    }
    return best;
}

typedef enum Solve {
    solve_float,
    solve_floatCold, // after something larger than the cache went by
    solve_double,
    solve_refined
} Solve;

static double timeSolve(const Scene* s, Solve solve, int runs, const char* cold, uint64_t* sink) {
    double best = HUGE_VAL;
    for (int run = 0; run < runs; run++) {
        if (solve == solve_floatCold) {
            *sink += readAll(cold, coldBytes);
        }
        double start = srGetSeconds();
        if (solve == solve_double) {
            check(srFactor_SolveDouble(&s->factor, s->b, s->x, s->scratch));
        } else if (solve == solve_refined) {
            check(srFactor_SolveRefined(&s->factor, &s->A, s->b, s->x, 1, s->scratch));
        } else {
            check(srFactor_SolveFloat(&s->factor, s->bFloat, s->xFloat, s->scratch));
        }
        best = lesser(best, since(start));
    }
    return best;
}

static double countEntries(const srCholesky* cholesky) {
    srSupernodes n;
    check(srCholesky_GetSupernodes(cholesky, &n));
    double entries = 0.0;
    for (int32_t s = 0; s < n.count; s++) {
        double columns = n.columnStarts[s + 1] - n.columnStarts[s];
        entries += columns * (n.rowStarts[s + 1] - n.rowStarts[s]) - columns * (columns - 1.0) / 2.0;
    }
    return entries;
}

static void benchPreparing(srBenchReport* report, const char* caseName, Scene* s) {
    double start = srGetSeconds();
    check(srDissect(&s->A, s->cage.nodes, s->order));
    srBench_Add(report, caseName, "order by dissection", 1e3 * since(start), "ms", NULL);
    start = srGetSeconds();
    check(srAnalyzeCholesky(&s->A, NULL, &s->byDegree));
    srBench_Add(report, caseName, "analysis, minimum degree", 1e3 * since(start), "ms", NULL);
    start = srGetSeconds();
    check(srAnalyzeCholesky(&s->A, s->order, &s->byDissection));
    srBench_Add(report, caseName, "analysis, both orders", 1e3 * since(start), "ms", NULL);

    srCholesky* const choleskys[] = {s->byDegree, s->byDissection};
    const char* const names[] = {"values again, minimum degree", "values again, dissection"};
    for (int k = 0; k < 2; k++) {
        double best = HUGE_VAL;
        check(srCholesky_Factor(choleskys[k], &s->A));
        for (int run = 0; run < slowRuns; run++) {
            start = srGetSeconds();
            check(srCholesky_Factor(choleskys[k], &s->A));
            best = lesser(best, since(start));
        }
        srBench_Add(report, caseName, names[k], 1e3 * best, "ms", NULL);
    }
    srBench_Add(report, caseName, "entries of L, dissection of minimum degree",
                countEntries(s->byDissection) / countEntries(s->byDegree), "", NULL);

    start = srGetSeconds();
    check(srCreateFactor(s->byDissection, sr_factorFloat | sr_factorDouble, &s->factor));
    srBench_Add(report, caseName, "extraction, float and double", 1e3 * since(start), "ms", NULL);
    start = srGetSeconds();
    check(srFactor_Refill(&s->factor, s->byDissection));
    srBench_Add(report, caseName, "filling again", 1e3 * since(start), "ms", NULL);
    srFactor opened;
    start = srGetSeconds();
    check(srOpenFactor(s->factor.bytes, s->factor.byteCount, &opened));
    srBench_Add(report, caseName, "opening stored bytes", 1e3 * since(start), "ms", NULL);
    srDestroyFactor(&opened);
}

static void benchBandwidth(srBenchReport* report, const char* caseName, const Scene* s, double seconds,
                           const char* cold, uint64_t* sink) {
    double entries = (double)s->factor.floatStarts[s->factor.groupCount];
    size_t size = (size_t)s->factor.floatStarts[s->factor.groupCount] * sizeof(float);
    double reading = timeReading(s->factor.floatPanels, size, fastRuns / 4, sink);
    double coldReading = timeReading(cold, coldBytes, slowRuns, sink) / coldBytes * (double)size;
    double coldSeconds = timeSolve(s, solve_floatCold, 2 * slowRuns, cold, sink);
    srBench_Add(report, caseName, "panels, float", 1e-6 * (double)size, "MB", NULL);
    srBench_Add(report, caseName, "read by a solve", 2e-9 * (double)size / seconds, "GB/s", NULL);
    srBench_Add(report, caseName, "read by a plain loop, same bytes", 1e-9 * (double)size / reading, "GB/s",
                NULL);
    srBench_Add(report, caseName, "share of that bandwidth", 100.0 * 2.0 * reading / seconds, "%", NULL);
    srBench_Add(report, caseName, "arithmetic", 12e-9 * entries / seconds, "Gflop/s", NULL);
    srBench_Add(report, caseName, "own solve, float, cold cache", 1e3 * coldSeconds, "ms", NULL);
    srBench_Add(report, caseName, "share of memory's bandwidth, cold",
                100.0 * 2.0 * coldReading / coldSeconds, "%", NULL);
}

static void benchSolves(srBenchReport* report, const char* caseName, Scene* s, const char* cold,
                        uint64_t* sink) {
    solveExactly(s);
    double byDegree = HUGE_VAL, byDissection = HUGE_VAL, own = HUGE_VAL, ownDouble = HUGE_VAL;
    // in turns, each as often as the others, and often enough to be warm
    for (int turn = 0; turn < turns; turn++) {
        byDegree = lesser(byDegree, timeCholmod(s, s->byDegree));
        byDissection = lesser(byDissection, timeCholmod(s, s->byDissection));
        ownDouble = lesser(ownDouble, timeSolve(s, solve_double, runsOfTurn, cold, sink));
        own = lesser(own, timeSolve(s, solve_float, runsOfTurn, cold, sink));
    }
    srBench_Add(report, caseName, "CHOLMOD, 3 columns, its own order", 1e3 * byDegree, "ms", NULL);
    srBench_Add(report, caseName, "CHOLMOD, 3 columns, our order", 1e3 * byDissection, "ms", NULL);
    srBench_Add(report, caseName, "own solve, float", 1e3 * own, "ms", NULL);
    srBench_Add(report, caseName, "times faster than CHOLMOD", byDegree / own, "", ">= 5");
    srBench_Add(report, caseName, "times faster, the same order", byDissection / own, "", ">= 5");
    srBench_Add(report, caseName, "relative error, float", errorOf(s, true), "", "<= 1e-6");
    srBench_Add(report, caseName, "own solve, double", 1e3 * ownDouble, "ms", NULL);
    srBench_Add(report, caseName, "times faster than CHOLMOD, both double", byDegree / ownDouble, "", NULL);
    srBench_Add(report, caseName, "times faster, both double, the same order", byDissection / ownDouble, "",
                NULL);
    srBench_Add(report, caseName, "relative error, double", errorOf(s, false), "", NULL);
    srBench_Add(report, caseName, "own solve, float, refined once",
                1e3 * timeSolve(s, solve_refined, fastRuns / 4, cold, sink), "ms", NULL);
    srBench_Add(report, caseName, "relative error, refined once", errorOf(s, false), "", "<= 1e-12");
    benchBandwidth(report, caseName, s, own, cold, sink);
    srSimdPath usual = srGetSimdPath();
    if (usual != sr_simdScalar && srForceSimdPath(sr_simdScalar)) {
        srBench_Add(report, caseName, "own solve, float, scalar path",
                    1e3 * timeSolve(s, solve_float, fastRuns / 4, cold, sink), "ms", NULL);
        (void)srForceSimdPath(usual);
    }
}

static void makeOperands(Scene* s) {
    s->count = 3 * (size_t)s->cage.nodeCount;
    double** const arrays[] = {&s->b, &s->exact, &s->columns, &s->x};
    for (int k = 0; k < 4; k++) {
        *arrays[k] = calloc(s->count, sizeof(double));
    }
    s->bFloat = malloc(s->count * sizeof(float));
    s->xFloat = malloc(s->count * sizeof(float));
    s->order = malloc(s->count * sizeof(int32_t));
    uint64_t state = 1;
    for (size_t i = 0; i < s->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s->bFloat[i] = (float)((double)(state >> 40) / 16777216.0 - 0.5);
        s->b[i] = (double)s->bFloat[i]; // so that both solve the same system
    }
}

static void benchCage(srBenchReport* report, const srSurface* surface, int32_t target, const char* cold,
                      uint64_t* sink) {
    Scene s = {0};
    srMesherReport found;
    srMesh made;
    check(srMeshSurface(surface, &(srMesherSettings){.targetNodeCount = target}, &made, &found));
    s.cage = made.cage;
    made.cage = (srCage){0};
    srDestroyMesh(&made);
    s.A = assemble(&s.cage);
    makeOperands(&s);
    char caseName[64];
    snprintf(caseName, sizeof(caseName), "solve, %d nodes", s.cage.nodeCount);
    benchPreparing(report, caseName, &s);
    size_t scratchSize = srFactor_GetScratchSize(&s.factor);
    s.scratch = srAlloc(scratchSize, 1);
    benchSolves(report, caseName, &s, cold, sink);

    srFree(s.scratch, scratchSize, 1);
    srDestroyFactor(&s.factor);
    srDestroyCholesky(s.byDegree);
    srDestroyCholesky(s.byDissection);
    srDestroyCsc(&s.A);
    srDestroyCage(&s.cage);
    void* const arrays[] = {s.b, s.exact, s.columns, s.x, s.bFloat, s.xFloat, s.order};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++) {
        free(arrays[k]);
    }
}

void srBenchMathSolves(srBenchReport* report) {
    const int32_t targets[] = {4000, 6000, 11000};
    srParallel_SetWorkerCount(1);
    srSurface surface = makeSurface();
    char* cold = calloc(coldBytes, 1);
    memset(cold, 1, coldBytes);
    uint64_t sink = 0;
    for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
        benchCage(report, &surface, targets[t], cold, &sink);
    }
    srBenchMathDense(report);
    if (sink == 1) {
        fprintf(stderr, "the sum of all bytes is one\n"); // it is not: but the loops must be run to know
    }
    free(cold);
    srDestroySurface(&surface);
}
