// SPDX-License-Identifier: GPL-3.0-or-later
//
// Prints, for each path of this machine, its name and a hash of what shaken flesh does: patches, coarse
// correction and corrected poses included. neon_bits.sh compares it with another processor's. No file, no
// sine of the system: nothing that may differ.

#include "core/hash.h"
#include "core/parallel.h"
#include "math/simd_path.h"
#include "solver/flesh.h"

#include <stdio.h>
#include <stdlib.h>

#define SIDE 4
#define HEIGHT 12
#define NODES ((SIDE + 1) * (SIDE + 1) * (HEIGHT + 1))
#define CELLS (6 * SIDE * SIDE * HEIGHT)

static srVec3 nodes[NODES];
static int32_t cells[CELLS][4];
static float holds[NODES];
static float distances[NODES];
static srVec3f arrays[5][NODES];

static int32_t nodeAt(int32_t i, int32_t j, int32_t k) {
    return (j * (SIDE + 1) + k) * (SIDE + 1) + i;
}

static void makeBar(void) {
    static const int ORDERS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int32_t n = 0; n < NODES; ++n) {
        nodes[n] = (srVec3){0.125 * (n % (SIDE + 1)), 0.125 * (n / ((SIDE + 1) * (SIDE + 1))),
                            0.125 * (n / (SIDE + 1) % (SIDE + 1))};
        holds[n] = nodes[n].y < 0.1 ? 1.0f : 0.05f;
        distances[n] = (float)nodes[n].x;
    }
    for (int32_t cell = 0; cell < CELLS; ++cell) {
        int32_t cube = cell / 6;
        int32_t at[3] = {cube % SIDE, cube / SIDE / SIDE, cube / SIDE % SIDE};
        cells[cell][0] = nodeAt(at[0], at[1], at[2]);
        for (int step = 0; step < 3; ++step) {
            at[ORDERS[cell % 6][step]] += 1;
            cells[cell][step + 1] = nodeAt(at[0], at[1], at[2]);
        }
        // half of the orders turn a cell round
        if (cell % 6 == 1 || cell % 6 == 2 || cell % 6 == 5) {
            int32_t kept = cells[cell][2];
            cells[cell][2] = cells[cell][3];
            cells[cell][3] = kept;
        }
    }
}

static void pose(srVec3f* p, int frame) {
    float shift = frame % 6 < 3 ? 0.05f * (float)(frame % 6) : 0.05f * (float)(6 - frame % 6);
    for (int32_t i = 0; i < NODES; ++i) {
        float y = (float)nodes[i].y;
        p[i] = (srVec3f){(float)nodes[i].x + shift * y, y - 0.1f * shift, (float)nodes[i].z * (1.0f + shift)};
    }
}

static uint64_t run(const srFleshRest* rest, srFleshTuning* tuning, const srFleshDials* dials) {
    srFleshState state = {.offsets = arrays[0], .velocities = arrays[1]};
    if (srCreateFleshScratch(rest, dials, &state.scratch) != sr_success) {
        return 0;
    }
    for (int32_t i = 0; i < NODES; ++i) {
        arrays[0][i] = (srVec3f){0.0f, 0.0f, 0.0f};
        arrays[1][i] = arrays[0][i];
    }
    for (int frame = 1; frame <= 20; ++frame) {
        pose(arrays[2], frame - 1);
        pose(arrays[3], frame);
        for (int32_t i = 0; i < NODES; ++i) {
            arrays[4][i] = (srVec3f){frame % 3 == 0 ? 1.5f : -0.75f, 0.2f, 0.0f};
        }
        srPrimaryMotion motion = {arrays[2], arrays[3], arrays[4], NULL};
        srFlesh_StepFrame(rest, tuning, &motion, NULL, &state);
    }
    srDestroyFleshScratch(state.scratch);
    return srHashBytes(srHashBytes(SR_HASH_SEED, arrays[0], sizeof(arrays[0])), arrays[1], sizeof(arrays[1]));
}

int main(void) {
    makeBar();
    srFleshShape shape = {.nodes = nodes,
                          .nodeCount = NODES,
                          .cells = (const int32_t (*)[4])cells,
                          .cellCount = CELLS,
                          .holds = holds,
                          .boneDistances = distances,
                          .handleCount = 8};
    srFleshRest rest;
    srFleshTuning tuning;
    srFleshDials dials = {.youngModulus = 8e4,
                          .poissonRatio = 0.48,
                          .density = 1000.0,
                          .scale = 1.0,
                          .frequency = 1.0,
                          .dampingRate = 2.0,
                          .poseCorrection = 0.3,
                          .frameSeconds = 1.0 / 24.0,
                          .largestOffset = 1.0,
                          .substeps = 4,
                          .sweeps = 1,
                          .poses = 2};
    srParallel_SetWorkerCount(1);
    if (srCreateFleshRest(&shape, &rest) != sr_success || srCreateFleshTuning(&rest, &tuning) != sr_success ||
        srFleshTuning_Set(&tuning, &rest, &dials) != sr_success) {
        return 1;
    }
    for (int path = 0; path < SR_SIMD_PATH_COUNT; ++path) {
        if (srForceSimdPath((srSimdPath)path)) {
            printf("%s %016llx\n", srGetSimdPathName((srSimdPath)path),
                   (unsigned long long)run(&rest, &tuning, &dials));
        }
    }
    srDestroyFleshTuning(&rest, &tuning);
    srDestroyFleshRest(&rest);
    return 0;
}
