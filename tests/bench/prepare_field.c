// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bumpy ring of 1,000 to 300,000 triangles, each time: surface, solid (repair and trees), field on the
// lattice of a cage of 4,000 nodes. Baselines in the same run: the same lattice point by point with the tree,
// and, of a sample, with all triangles.

#include "prepare_field.h"
#include "prepare_plain.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/thread.h"
#include "mesh/field.h"
#include "mesh/winding.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PI 3.14159265358979323846

enum {
    runCount = 5,
    workerCount = 2,
    nodeCount = 4000,
    sampleCount = 100
};

typedef struct Ring {
    float* points;
    int32_t* triangles;
    int32_t pointCount;
    int32_t triangleCount;
} Ring;

typedef struct Times {
    double surface;
    double solid;
    double field;
    double processor; // of all three, summed over cores: what a busy machine does not change
    double pointByPoint;
    double allTriangles;
    double peakBytes;
    double worstSigns;
} Times;

static void check(srResult result) {
    if (result != sr_success) {
        fprintf(stderr, "%s: %s\n", srGetResultName(result), srGetErrorText());
        exit(1);
    }
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

// 3 to 1 as many triangles around the ring as around its tube
static Ring makeRing(int32_t triangleCount) {
    int32_t down = (int32_t)sqrt(triangleCount / 6.0), around = 3 * down;
    Ring ring = {.pointCount = around * down, .triangleCount = 2 * around * down};
    ring.points = malloc(3 * sizeof(float) * (size_t)ring.pointCount);
    ring.triangles = malloc(3 * sizeof(int32_t) * (size_t)ring.triangleCount);
    for (int32_t i = 0; i < ring.pointCount; i++) {
        double u = 2.0 * PI * (i % around) / around, v = 2.0 * PI * (i / around) / down;
        double tube = 0.4 * (1.0 + 0.25 * sin(5.0 * u) * cos(3.0 * v)), reach = 1.0 + tube * cos(v);
        ring.points[3 * i] = (float)(reach * cos(u));
        ring.points[3 * i + 1] = (float)(reach * sin(u));
        ring.points[3 * i + 2] = (float)(tube * sin(v));
        int32_t right = i / around * around + (i + 1) % around, up = (i + around) % ring.pointCount;
        int32_t across = (right + around) % ring.pointCount;
        const int32_t corners[6] = {i, right, across, i, across, up};
        for (int c = 0; c < 6; c++) {
            ring.triangles[6 * i + c] = corners[c];
        }
    }
    return ring;
}

// how much is held at most

static _Atomic size_t heldBytes;
static _Atomic size_t peakBytes;

static void* countingAlloc(size_t size, size_t alignment, void* context) {
    (void)context;
    void* block = NULL;
    if (posix_memalign(&block, alignment, size) != 0) {
        return NULL;
    }
    size_t held = atomic_fetch_add(&heldBytes, size) + size, peak = atomic_load(&peakBytes);
    while (held > peak && !atomic_compare_exchange_weak(&peakBytes, &peak, held)) {
    }
    return block;
}

static void countingFree(void* block, size_t size, void* context) {
    (void)context;
    atomic_fetch_sub(&heldBytes, size);
    free(block);
}

// The spacing of a cage of so many nodes, as the mesher expects it
static srLattice makeLatticeFor(const srSolid* solid) {
    srLattice lattice;
    double low = 1e-4, high = 1.0;
    for (int i = 0; i < 60; i++) {
        double h = sqrt(low * high);
        bool isTooFine = 2.0 * solid->volume / (h * h * h) + 3.0 * solid->area / (h * h) > nodeCount;
        low = isTooFine ? h : low;
        high = isTooFine ? high : h;
    }
    if (!srMakeLattice(solid->shells.lower, solid->shells.upper, 0.36 * high, high, INT32_MAX / 4,
                       &lattice)) {
        exit(1);
    }
    return lattice;
}

static double scanWinding(const srSurface* surface, srVec3 p) {
    double sum = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* c = surface->triangles[t];
        sum += srHalfSolidAngle(p, surface->points[c[0]], surface->points[c[1]], surface->points[c[2]]);
    }
    return sum / (2.0 * PI);
}

// The whole lattice the plain ways; counts signs that differ.
static void timeBaselines(const srSurface* surface, const srSolid* solid, const srLattice* lattice,
                          const double* phi, Times* times) {
    double offset = 0.36 * lattice->spacing, start = srGetSeconds();
    for (int32_t i = 0; i < lattice->pointCount; i++) {
        srVec3 p = srLattice_Point(lattice, i);
        double distance = srBvh_Distance(solid->shellTree, p, NULL);
        double sign = srBvh_WindingNumber(solid->shellTree, p) > 0.5 ? -1.0 : 1.0;
        times->worstSigns += (sign * distance - offset < 0.0) != (phi[i] < 0.0);
    }
    times->pointByPoint = srGetSeconds() - start;
    start = srGetSeconds();
    for (int32_t i = 0; i < sampleCount; i++) {
        int32_t point = (int32_t)((int64_t)i * lattice->pointCount / sampleCount);
        srVec3 p = srLattice_Point(lattice, point);
        double sign = scanWinding(surface, p) > 0.5 ? -1.0 : 1.0;
        times->worstSigns += (sign * srScanTriangles(surface, p) - offset < 0.0) != (phi[point] < 0.0);
    }
    times->allTriangles = (srGetSeconds() - start) / sampleCount * lattice->pointCount;
}

static Times timeRing(int32_t triangleCount) {
    const srProgress nobody = {0};
    const srSolidSettings settings = srDefaultSolidSettings();
    Ring ring = makeRing(triangleCount);
    Times times = {.surface = HUGE_VAL, .solid = HUGE_VAL, .field = HUGE_VAL, .processor = HUGE_VAL};
    atomic_store(&peakBytes, atomic_load(&heldBytes));
    for (int run = 0; run < runCount; run++) {
        srSurface surface;
        srSurfaceReport found;
        srSolid solid;
        clock_t used = clock();
        double start = srGetSeconds();
        check(srCreateSurface(ring.points, ring.pointCount, ring.triangles, ring.triangleCount, &surface,
                              &found));
        times.surface = lesser(times.surface, srGetSeconds() - start);
        start = srGetSeconds();
        check(srCreateSolid(&surface, &settings, &nobody, &solid, NULL));
        times.solid = lesser(times.solid, srGetSeconds() - start);
        srLattice lattice = makeLatticeFor(&solid);
        srField field = srMakeField(&solid, 0.36 * lattice.spacing);
        double* phi = SR_ALLOC(double, lattice.pointCount);
        start = srGetSeconds();
        check(srField_Sample(&field, &lattice, phi, &nobody));
        times.field = lesser(times.field, srGetSeconds() - start);
        times.processor = lesser(times.processor, (double)(clock() - used) / CLOCKS_PER_SEC);
        times.peakBytes = (double)atomic_load(&peakBytes);
        if (run == 0) {
            timeBaselines(&surface, &solid, &lattice, phi, &times);
        }
        SR_FREE(phi, lattice.pointCount);
        srDestroySolid(&solid);
        srDestroySurface(&surface);
    }
    free(ring.points);
    free(ring.triangles);
    return times;
}

static void addTimes(srBenchReport* report, int32_t size, const Times* times, double growth) {
    char name[64];
    double sum = times->surface + times->solid + times->field;
    const char* goal = size == 30000 ? "<= 0.25" : size == 300000 ? "<= 1.5" : NULL;
    snprintf(name, sizeof(name), "field, %d triangles", size);
    srBench_Add(report, name, "surface", times->surface, "s", NULL);
    srBench_Add(report, name, "solid: repair and tree", times->solid, "s", NULL);
    srBench_Add(report, name, "field on the lattice of 4,000 nodes", times->field, "s", NULL);
    srBench_Add(report, name, "all of that on two workers", sum, "s", goal);
    srBench_Add(report, name, "processor time of all that", times->processor, "s", NULL);
    srBench_Add(report, name, "field, baseline: point by point", times->pointByPoint, "s", NULL);
    srBench_Add(report, name, "field, times faster", times->pointByPoint / times->field, "", ">= 1");
    srBench_Add(report, name, "field, baseline: all triangles", times->allTriangles, "s", NULL);
    srBench_Add(report, name, "field, times faster than that", times->allTriangles / times->field, "",
                ">= 10");
    srBench_Add(report, name, "signs that differ from a baseline", times->worstSigns, "", "== 0");
    srBench_Add(report, name, "most memory", times->peakBytes / (1 << 20), "MiB", "<= 1024");
    if (growth > 0.0) {
        srBench_Add(report, name, "time since ten times smaller, in n log n", growth, "", "<= 1.1");
    }
}

void srBenchField(srBenchReport* report) {
    static const int32_t sizes[] = {1000, 3000, 10000, 30000, 100000, 300000};
    const srAllocator counting = {sizeof(srAllocator), countingAlloc, countingFree, NULL};
    double sums[6];
    srParallel_Stop();
    check(srSetAllocHooks(&counting));
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(workerCount);
    for (int s = 0; s < 6; s++) {
        Times times = timeRing(sizes[s]);
        sums[s] = times.surface + times.solid + times.field;
        double growth =
            s < 2 ? 0.0
                  : sums[s] / sums[s - 2] * (sizes[s - 2] * log(sizes[s - 2])) / (sizes[s] * log(sizes[s]));
        addTimes(report, sizes[s], &times, growth);
    }
    srParallel_SetWorkerCount(before);
    srParallel_Stop();
    check(srSetAllocHooks(NULL));
}
