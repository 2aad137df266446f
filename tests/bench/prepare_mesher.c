// SPDX-License-Identifier: GPL-3.0-or-later
//
// Time and fit of cages by target count. The baseline of a meshing is sampling its distances once, on its own
// lattice, in the same run.

#include "prepare_mesher.h"

#include "core/parallel.h"
#include "core/thread.h"
#include "mesh/bvh.h"
#include "mesh/field.h"
#include "mesh/mesher.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    runCount = 3
};

static double sampleOnce(const srSurface* surface, const srBvh* bvh, double spacing) {
    srLattice lattice;
    srProgress nobody = {0};
    srField field = {.bvh = bvh};
    if (!srMakeLattice(surface->lower, surface->upper, 0.4 * spacing, spacing, INT32_MAX / 4, &lattice)) {
        return HUGE_VAL;
    }
    double* phi = malloc(sizeof(double) * (size_t)lattice.pointCount);
    double start = srGetSeconds();
    srResult result = srField_Sample(&field, &lattice, phi, &nobody);
    double seconds = srGetSeconds() - start;
    free(phi);
    return result == sr_success ? seconds : HUGE_VAL;
}

static void addShapes(srBenchReport* report, const char* caseName, const srMesherReport* found) {
    char metric[64];
    for (int i = 0; i < 18; i++) {
        if (found->dihedralCounts[i] > 0) {
            snprintf(metric, sizeof(metric), "dihedral angles from %d to %d degrees", 10 * i, 10 * i + 10);
            srBench_Add(report, caseName, metric, found->dihedralCounts[i], "", NULL);
        }
    }
    for (int i = 0; i < 10; i++) {
        if (found->aspectCounts[i] > 0) {
            snprintf(metric, sizeof(metric), "cells of aspect from 0.%d", i);
            srBench_Add(report, caseName, metric, found->aspectCounts[i], "", NULL);
        }
    }
}

static void benchTarget(srBenchReport* report, const char* caseName, const srSurface* surface,
                        int32_t target) {
    double seconds[2] = {HUGE_VAL, HUGE_VAL};
    srMesherReport found[2];
    int32_t nodeCount = 0;
    for (int glued = 0; glued < 2; glued++) {
        const srMesherSettings settings = {.targetNodeCount = target, .gluesContacts = glued != 0};
        for (int run = 0; run < (target > 10000 ? 1 : runCount); run++) {
            srMesh mesh;
            double start = srGetSeconds();
            if (srMeshSurface(surface, &settings, &mesh, &found[glued]) != sr_success) {
                fprintf(stderr, "%s: %s\n", caseName, srGetErrorText());
                exit(1);
            }
            seconds[glued] = fmin(seconds[glued], srGetSeconds() - start);
            nodeCount = glued == 0 ? mesh.cage.nodeCount : nodeCount;
            srDestroyMesh(&mesh);
        }
    }
    srBvh* bvh;
    if (srCreateBvh(surface, &bvh) != sr_success) {
        exit(1);
    }
    double sampling = sampleOnce(surface, bvh, found[0].spacing);
    srDestroyBvh(bvh);
    srBench_Add(report, caseName, "mesher", seconds[0], "s", NULL);
    srBench_Add(report, caseName, "mesher, contacts glued", seconds[1], "s", NULL);
    srBench_Add(report, caseName, "mesher, baseline: one sampling", sampling, "s", NULL);
    srBench_Add(report, caseName, "mesher, times the baseline", seconds[0] / sampling, "", NULL);
    srBench_Add(report, caseName, "mesher, spacings tried", found[0].trialCount, "", NULL);
    srBench_Add(report, caseName, "nodes of target, less one", fabs(nodeCount / (double)target - 1.0), "",
                "<= 0.15");
    srBench_Add(report, caseName, "volume of the inside's", found[0].volume / found[0].insideVolume, "",
                "<= 1.3");
    srBench_Add(report, caseName, "pieces", found[0].pieceCount, "", NULL);
    srBench_Add(report, caseName, "split tetrahedra", found[0].splitTetCount, "", NULL);
    srBench_Add(report, caseName, "cells left out", found[0].removedCellCount, "", NULL);
    if (target == 4000) {
        addShapes(report, caseName, &found[0]);
    }
}

void srBenchMesherTargets(srBenchReport* report, const char* name, const srSurface* surface) {
    const int32_t targets[] = {400, 1000, 4000, 20000, 100000};
    int32_t before = srParallel_GetWorkerCount();
    srParallel_SetWorkerCount(2);
    for (int i = 0; i < 5; i++) {
        char caseName[64];
        snprintf(caseName, sizeof(caseName), "%s, %d nodes, two workers", name, targets[i]);
        benchTarget(report, caseName, surface, targets[i]);
    }
    srParallel_SetWorkerCount(before);
}
