// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernels of cells by the energy that they claim to lower, and against one another on every path.

#include "support/support.h"

#include "math/rotation.h"
#include "math/vec3.h"
#include "solver/solver_kernels.h"

#include <math.h>
#include <string.h>

#define ROWS 40 // eight cells of their own, and room

// eight random cells, posed and moved
typedef struct Cells {
    srCellBlock block;
    srCellPose pose;
    srCellTurn turn;
    srCellMaterial material;
    srCellForceMaterial forceMaterial;
    alignas(64) float rows[4 * ROWS];
    alignas(64) float poseRows[4 * ROWS];
    alignas(64) float forces[4 * ROWS];
} Cells;

static float draw(uint64_t* seed) {
    return (float)(srTestRandom(seed) - 0.5);
}

static void makeCells(Cells* cells, uint64_t seed, float shake) {
    memset(cells, 0, sizeof(*cells));
    for (int lane = 0; lane < 8; ++lane) {
        srVec3f g[3];
        for (int c = 0; c < 3; ++c) {
            g[c] = (srVec3f){(c == 0) + 0.4f * draw(&seed), (c == 1) + 0.4f * draw(&seed),
                             (c == 2) + 0.4f * draw(&seed)};
            cells->block.gradients[c][0][lane] = g[c].x;
            cells->block.gradients[c][1][lane] = g[c].y;
            cells->block.gradients[c][2][lane] = g[c].z;
        }
        for (int c = 0; c < 4; ++c) {
            int node = 4 * lane + c;
            cells->block.places[c][lane] = 4 * node;
            for (int axis = 0; axis < 3; ++axis) {
                cells->poseRows[4 * node + axis] = (c == axis + 1) + 0.3f * draw(&seed);
                cells->rows[4 * node + axis] = shake * draw(&seed);
            }
            cells->rows[4 * node + 3] = 1.0f + draw(&seed);
        }
        cells->turn.q[0][lane] = 1.0f;
        cells->forceMaterial.shape[lane] = 1.0f + draw(&seed);
        cells->forceMaterial.volume[lane] = 2.0f + draw(&seed);
        for (int i = 0; i < 3; ++i) {
            cells->material.K[i][lane] = 0.4f + 0.1f * draw(&seed);
            cells->material.S[i][lane] = 0.5f * (1.0f - cells->material.K[i][lane]);
        }
        cells->material.volumeCompliance[lane] = 0.3f;
    }
    srGetSolverKernels()->poseCells(&cells->block, cells->poseRows, &cells->pose, 0, 1);
}

static srCellSweep sweepOf(Cells* cells) {
    return (srCellSweep){.blocks = &cells->block,
                         .materials = &cells->material,
                         .forceMaterials = &cells->forceMaterial,
                         .poses = &cells->pose,
                         .turns = &cells->turn,
                         .rows = cells->rows,
                         .forces = cells->forces};
}

// F of a lane, in double, of p + u
static void findF(const Cells* cells, const float* rows, int lane, double F[3][3]) {
    memset(F, 0, 9 * sizeof(double));
    for (int c = 1; c < 4; ++c) {
        for (int i = 0; i < 3; ++i) {
            double d = 0.0;
            for (int sign = 0; sign < 2; ++sign) {
                size_t at = (size_t)cells->block.places[sign == 0 ? c : 0][lane] + (size_t)i;
                d += (sign == 0 ? 1.0 : -1.0) * ((double)rows[at] + (double)cells->poseRows[at]);
            }
            for (int j = 0; j < 3; ++j) {
                F[i][j] += d * (double)cells->block.gradients[c - 1][j][lane];
            }
        }
    }
}

static double determinant(double F[3][3]) {
    return F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) +
           F[0][1] * (F[1][2] * F[2][0] - F[1][0] * F[2][2]) +
           F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
}

// shape |F - Q G|^2 / 2 + volume (det F - det G)^2 / 2 with the best rotation Q
static double energyOf(const Cells* cells, const float* rows, int lane) {
    static const float NONE[4 * ROWS] = {0.0f};
    double F[3][3];
    double G[3][3];
    findF(cells, rows, lane, F);
    findF(cells, NONE, lane, G);
    srMat3 A = {{{0.0}}};
    for (int k = 0; k < 27; ++k) {
        A.m[k / 9][k / 3 % 3] += F[k / 9][k % 3] * G[k / 3 % 3][k % 3];
    }
    srMat3 Q = srFindRotation(&A);
    double squares = 0.0;
    for (int k = 0; k < 9; ++k) {
        double C = F[k / 3][k % 3];
        for (int l = 0; l < 3; ++l) {
            C -= Q.m[k / 3][l] * G[l][k % 3];
        }
        squares += C * C;
    }
    double excess = determinant(F) - determinant(G);
    return 0.5 * (double)cells->forceMaterial.shape[lane] * squares +
           0.5 * (double)cells->forceMaterial.volume[lane] * excess * excess;
}

static void forces_are_minus_the_gradient_of_the_energy_inside_out_too(void** state) {
    (void)state;
    int invertedCount = 0;
    for (uint64_t trial = 0; trial < 30; ++trial) {
        Cells cells;
        makeCells(&cells, 100 + trial, trial % 2 == 0 ? 0.5f : 2.5f);
        srCellSweep sweep = sweepOf(&cells);
        // rotations as a frame starts them, then until they stand
        memset(&cells.material, 0, sizeof(cells.material));
        srGetSolverKernels()->solveCells(&sweep, 0, 1, 8);
        for (int step = 0; step < 200; ++step) {
            srGetSolverKernels()->solveCells(&sweep, 0, 1, 1);
        }
        srGetSolverKernels()->addForces(&sweep, 0, 1);
        for (int k = 0; k < 96; ++k) {
            int lane = k / 12;
            double F[3][3];
            findF(&cells, cells.rows, lane, F);
            invertedCount += k % 12 == 0 && determinant(F) < 0.0;
            float moved[4 * ROWS];
            memcpy(moved, cells.rows, sizeof(moved));
            size_t at = 4 * (size_t)(k / 3) + (size_t)(k % 3);
            const float eps = 1.0f / 16384.0f;
            moved[at] = cells.rows[at] + eps;
            double width = (double)moved[at];
            double slope = energyOf(&cells, moved, lane);
            moved[at] = cells.rows[at] - eps;
            width -= (double)moved[at];
            slope = (slope - energyOf(&cells, moved, lane)) / width;
            // curvature of the differences
            assert_near((double)cells.forces[at], -slope, 4e-3 * (1.0 + fabs(slope)));
        }
    }
    assert_true(invertedCount > 20);
}

static void a_sweep_is_the_same_on_every_path(void** state) {
    (void)state;
    srSimdPath before = srGetSimdPath();
    Cells first;
    assert_true(srForceSimdPath(sr_simdScalar));
    for (int path = 0; path < SR_SIMD_PATH_COUNT; ++path) {
        if (!srForceSimdPath((srSimdPath)path)) {
            continue;
        }
        Cells cells;
        makeCells(&cells, 7, 0.8f);
        srCellSweep sweep = sweepOf(&cells);
        for (int step = 0; step < 20; ++step) {
            srGetSolverKernels()->solveCells(&sweep, 0, 1, step == 0 ? 8 : 1);
            srGetSolverKernels()->addForces(&sweep, 0, 1);
        }
        first = path == sr_simdScalar ? cells : first;
        assert_memory_equal(cells.rows, first.rows, sizeof(cells.rows));
        assert_memory_equal(cells.forces, first.forces, sizeof(cells.forces));
        assert_memory_equal(&cells.turn, &first.turn, sizeof(cells.turn));
    }
    srForceSimdPath(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_minus_the_gradient_of_the_energy_inside_out_too),
        cmocka_unit_test(a_sweep_is_the_same_on_every_path),
    };
    return cmocka_run_group_tests_name("solver/solver_kernels", tests, NULL, srTestNothingLeaked);
}
