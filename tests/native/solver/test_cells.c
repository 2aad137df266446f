// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energies of cells against finite differences and against plain sums; posed stretches by what they promise.

#include "bone_bar.h"

#include "core/hash.h"
#include "math/simd_path.h"
#include "solver/pointrows.h"

static const int32_t BAR[3] = {3, 5, 3};

typedef struct Trial {
    Flesh f;
    size_t count; // numbers of all rows
    double* x;
    double* gradient[2];
    double* partials;
    float* d;
    float* q;
    srCellTurns turns;
    srCellStretches stretches;
    srCellPosing posing;
} Trial;

static void makeTrial(Trial* t, double poseCorrection, double disorder, srElasticModel model,
                      double poisson) {
    makeFlesh(&t->f, BAR, 0.2, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.poseCorrection = model == sr_elasticArap ? poseCorrection : 1.0;
    dials.model = model;
    dials.material = srMakeMaterial(2e4, poisson, 1000.0);
    tuneFlesh(&t->f, &dials);
    size_t n = (size_t)t->f.cage.nodeCount, blocks = (size_t)t->f.rest.layout.blockCount;
    t->count = 4 * n;
    t->x = calloc(t->count, sizeof(double));
    t->gradient[0] = calloc(t->count, sizeof(double));
    t->gradient[1] = calloc(t->count, sizeof(double));
    t->partials = calloc(blocks, sizeof(double));
    t->d = calloc(t->count + 1, sizeof(float));
    t->q = calloc(t->count + 1, sizeof(float));
    t->turns = (srCellTurns){aligned_alloc(64, blocks * sizeof(srMat3Blockf)),
                             aligned_alloc(64, blocks * sizeof(srTurnBlockf)),
                             aligned_alloc(64, blocks * sizeof(srMat3Blockf)), calloc(blocks, sizeof(float))};
    t->stretches = (srCellStretches){aligned_alloc(64, blocks * sizeof(srTurnBlock)),
                                     aligned_alloc(64, blocks * sizeof(srTurnBlockf)),
                                     calloc(blocks, sizeof(double)), srFindSwell(model, 0.1)};
    t->posing = (srCellPosing){.poseCorrection = poseCorrection, .pressure = 0.1};
    uint64_t seed = 5;
    for (size_t i = 0; i < n; ++i) {
        srVec3 X = t->f.cage.nodes[i];
        double angle = 1.5 * X.y;
        const double p[3] = {X.x * cos(angle) - 1.3 * X.z * sin(angle), 0.9 * X.y,
                             X.x * sin(angle) + 1.3 * X.z * cos(angle)};
        for (size_t c = 0; c < 3; ++c) {
            t->x[4 * i + c] = p[c];
            t->d[4 * i + c] = (float)(srTestRandom(&seed) - 0.5);
        }
    }
    srCells_Pose(&t->f.rest.layout, &t->f.tuning.shapes, &t->posing, t->x, &t->stretches, NULL);
    for (size_t k = 0; k < t->count; ++k) {
        t->x[k] += k % 4 == 3 ? 0.0 : disorder * (srTestRandom(&seed) - 0.5);
    }
}

static void freeTrial(Trial* t) {
    void* blocks[] = {t->x,
                      t->gradient[0],
                      t->gradient[1],
                      t->partials,
                      t->d,
                      t->q,
                      t->turns.rotations,
                      t->turns.turns,
                      t->turns.gradients,
                      t->turns.pressures,
                      t->stretches.targets,
                      t->stretches.stretches,
                      t->stretches.stretchesF};
    for (int k = 0; k < SR_ARRAY_COUNT(blocks); ++k) {
        free(blocks[k]);
    }
    freeFlesh(&t->f);
}

// the energy at x + s d, and its gradient
static double evaluateAt(Trial* t, double s, double* gradient) {
    double* x = malloc(t->count * sizeof(double));
    for (size_t k = 0; k < t->count; ++k) {
        x[k] = t->x[k] + s * (double)t->d[k];
    }
    memset(gradient, 0, t->count * sizeof(double));
    double energy = srCells_Evaluate(&t->f.rest.layout, &t->f.tuning.shapes, &t->stretches, x, gradient,
                                     &t->turns, t->partials);
    free(x);
    return energy;
}

static void the_gradient_is_that_of_finite_differences(void** state) {
    (void)state;
    for (int trial = 0; trial < 12; ++trial) {
        int c = trial % 6;
        Trial t;
        makeTrial(&t, 0.5 * c, 0.15, c > 2 ? (srElasticModel)(c - 2) : sr_elasticArap,
                  trial < 6 ? 0.3 * (c > 2) : 0.48);
        assert_true(t.f.tuning.shapes.keepsVolumes == (trial >= 6));
        const double s = 1e-5;
        double after = evaluateAt(&t, s, t.gradient[1]), before = evaluateAt(&t, -s, t.gradient[1]);
        double energy = evaluateAt(&t, 0.0, t.gradient[0]), slope = 0.0;
        for (size_t k = 0; k < t.count; ++k) {
            slope += t.gradient[0][k] * (double)t.d[k];
        }
        assert_true(energy > 1.0);
        // central differences: s^2 times a third derivative, and 1e-16 / s of rounding
        assert_near((after - before) / (2.0 * s) / slope, 1.0, srTestTolerance(1e-7));
        freeTrial(&t);
    }
}

static void products_with_the_hessian_are_those_of_finite_differences(void** state) {
    (void)state;
    for (int trial = 0; trial < 12; ++trial) {
        int c = trial % 6;
        Trial t;
        makeTrial(&t, 0.5 * c, 0.15, c > 2 ? (srElasticModel)(c - 2) : sr_elasticArap,
                  trial < 6 ? 0.3 * (c > 2) : 0.48);
        assert_true(t.f.tuning.shapes.keepsVolumes == (trial >= 6));
        const double s = 1e-5;
        evaluateAt(&t, s, t.gradient[1]);
        evaluateAt(&t, -s, t.gradient[0]);
        double* difference = malloc(t.count * sizeof(double));
        for (size_t k = 0; k < t.count; ++k) {
            difference[k] = (t.gradient[1][k] - t.gradient[0][k]) / (2.0 * s);
        }
        evaluateAt(&t, 0.0, t.gradient[0]);
        srCells_MultiplyHessian(&t.f.rest.layout, &t.f.tuning.shapes, &t.stretches, &t.turns, t.d, t.q);
        double error = 0.0, size = 0.0;
        for (size_t k = 0; k < t.count; ++k) {
            error += pow((double)t.q[k] - difference[k], 2.0);
            size += difference[k] * difference[k];
        }
        print_message("Poisson's ratio %.2f, %s %d: off by %.1e\n", trial < 6 ? 0.3 * (c > 2) : 0.48,
                      c > 2 ? "material" : "pose correction, halves:", c, sqrt(error / size));
        assert_true(sqrt(error / size) < srTestTolerance(2e-6)); // float
        free(difference);
        freeTrial(&t);
    }
}

static void the_energy_of_the_shape_it_is_measured_against_is_zero(void** state) {
    (void)state;
    Trial t;
    makeTrial(&t, 0.0, 0.0, sr_elasticArap, 0.0);
    double energy = evaluateAt(&t, 0.0, t.gradient[0]);
    double most = 0.0;
    for (size_t k = 0; k < t.count; ++k) {
        most = fmax(most, fabs(t.gradient[0][k]));
    }
    assert_near(energy, 0.0, srTestTolerance(1e-24)); // rounding squared
    assert_near(most, 0.0, srTestTolerance(1e-10));
    freeTrial(&t);
}

static void forces_of_cells_neither_push_nor_turn_the_whole(void** state) {
    (void)state;
    Trial t;
    makeTrial(&t, 1.0, 0.3, sr_elasticArap, 0.48);
    evaluateAt(&t, 0.0, t.gradient[0]);
    srVec3 force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
    double size = 0.0;
    for (size_t i = 0; i < t.count; i += 4) {
        srVec3 g = {t.gradient[0][i], t.gradient[0][i + 1], t.gradient[0][i + 2]};
        srVec3 x = {t.x[i], t.x[i + 1], t.x[i + 2]};
        force = srAdd(force, g);
        torque = srAdd(torque, srCross(x, g));
        size += srLength(g);
    }
    assert_near(srLength(force) / size, 0.0, srTestTolerance(1e-14));
    assert_near(srLength(torque) / size, 0.0, srTestTolerance(1e-14));
    freeTrial(&t);
}

static void each_cell_has_one_lane(void** state) {
    (void)state;
    Trial t;
    makeTrial(&t, 1.0, 0.0, sr_elasticArap, 0.0);
    const srCellLayout* layout = &t.f.rest.layout;
    int32_t* counts = calloc((size_t)t.f.cage.cellCount, sizeof(int32_t));
    for (int32_t place = 0; place < SR_BLOCK_LANES * layout->blockCount; ++place) {
        int32_t cell = layout->cells[place];
        if (cell == SR_NULL_INDEX) {
            assert_true(t.f.tuning.shapes.weights[place / SR_BLOCK_LANES].x[place % SR_BLOCK_LANES] == 0.0);
            continue;
        }
        counts[cell] += 1;
        for (int c = 0; c < 4; ++c) {
            int32_t node = layout->corners[place / SR_BLOCK_LANES].nodes[c][place % SR_BLOCK_LANES];
            assert_int_equal(node, t.f.cage.cells[cell][c]);
        }
    }
    for (int32_t cell = 0; cell < t.f.cage.cellCount; ++cell) {
        assert_int_equal(counts[cell], 1);
    }
    free(counts);
    freeTrial(&t);
}

// everything that a trial's kernels write, from the disorder of its points
static uint64_t hashOfPath(Trial* t, srSimdPath path) {
    srSimdPath before = srGetSimdPath();
    if (!srForceSimdPath(path)) {
        return 0;
    }
    const srCellLayout* layout = &t->f.rest.layout;
    size_t blocks = (size_t)layout->blockCount;
    t->posing.gravity = (srVec3){0.3, -9.8, 0.1};
    t->posing.restGravity = (srVec3){0.0, 0.2, -9.8};
    memset(t->gradient[1], 0, t->count * sizeof(double));
    memset(t->q, 0, t->count * sizeof(float));
    srCells_Pose(layout, &t->f.tuning.shapes, &t->posing, t->x, &t->stretches, t->gradient[1]);
    double energy = evaluateAt(t, 0.3, t->gradient[0]);
    srCells_MultiplyHessian(layout, &t->f.tuning.shapes, &t->stretches, &t->turns, t->d, t->q);
    srForceSimdPath(before);
    uint64_t hash = srHashBytes(SR_HASH_SEED, &energy, sizeof(energy));
    hash = srHashBytes(hash, t->gradient[0], t->count * sizeof(double));
    hash = srHashBytes(hash, t->gradient[1], t->count * sizeof(double));
    hash = srHashBytes(hash, t->q, t->count * sizeof(float));
    hash = srHashBytes(hash, t->turns.rotations, blocks * sizeof(srMat3Blockf));
    return srHashBytes(hash, t->stretches.stretches, blocks * sizeof(srTurnBlock));
}

static void every_path_gives_the_same_bits_for_every_material(void** state) {
    (void)state;
    const srElasticModel models[] = {sr_elasticArap, sr_elasticCorotated, sr_elasticNeoHookean,
                                     sr_elasticStVenantKirchhoff};
    for (int trial = 0; trial < 24; ++trial) {
        Trial t;
        // with much disorder cells are turned inside out, and rotations are found the long way
        makeTrial(&t, 0.3,
                  trial % 3 == 0   ? 0.02
                  : trial % 3 == 1 ? 0.3
                                   : 3.0,
                  models[trial / 6], trial / 3 % 2 == 0 ? 0.0 : 0.45);
        uint64_t hash = hashOfPath(&t, sr_simdScalar);
        for (int path = 1; path < SR_SIMD_PATH_COUNT; ++path) {
            assert_true(!srHasSimdPath((srSimdPath)path) || hashOfPath(&t, (srSimdPath)path) == hash);
        }
        freeTrial(&t);
    }
}

static void rows_are_added_and_multiplied_as_plain_numbers_are(void** state) {
    (void)state;
    enum {
        rowCount = 5003 // more than a block, and no multiple of anything
    };
    float* all = calloc(6 * 4 * rowCount + 4, sizeof(float));
    float *x = all, *y = x + 4 * rowCount, *p = y + 4 * rowCount, *q = p + 4 * rowCount,
          *r = q + 4 * rowCount;
    float* packed = r + 4 * rowCount;
    float* diagonal = calloc(rowCount, sizeof(float));
    uint64_t seed = 3;
    for (size_t k = 0; k < 4 * rowCount; ++k) {
        x[k] = k % 4 == 3 ? 0.0f : (float)srTestRandom(&seed);
        y[k] = k % 4 == 3 ? 0.0f : (float)srTestRandom(&seed);
        diagonal[k / 4] = (float)k;
    }
    double partials[16], plain = 0.0;
    assert_true(srCountRowPartials(rowCount) <= 16);
    for (size_t k = 0; k < 4 * rowCount; ++k) {
        plain += (double)x[k] * (double)y[k];
        if (k % 4 != 3) {
            packed[k / 4 * 3 + k % 4] = y[k];
        }
    }
    assert_near(srDotRows(x, y, rowCount, partials) / plain, 1.0, 1e-6); // products are floats
    double dot = srDotPacked(x, NULL, NULL, packed, rowCount, partials);
    assert_near(dot / srDotRows(x, y, rowCount, partials), 1.0, 1e-13); // sums in another order
    memcpy(p, x, 4 * rowCount * sizeof(float));
    srTurnRows(packed, 0.5f, diagonal, p, q, rowCount);
    for (size_t k = 0; k < 4 * rowCount; ++k) {
        assert_true(p[k] == y[k] + 0.5f * x[k] && q[k] == diagonal[k / 4] * p[k]);
    }
    memset(r, 0, 4 * rowCount * sizeof(float));
    double square = srAdvanceRows(2.0f, y, x, r, q, rowCount, partials);
    for (size_t k = 0; k < 4 * rowCount; ++k) {
        assert_true(r[k] == 2.0f * y[k] && q[k] == diagonal[k / 4] * p[k] - 2.0f * x[k]);
    }
    assert_true(square == srDotRows(q, q, rowCount, partials));
    free(all);
    free(diagonal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_finite_differences),
        cmocka_unit_test(products_with_the_hessian_are_those_of_finite_differences),
        cmocka_unit_test(the_energy_of_the_shape_it_is_measured_against_is_zero),
        cmocka_unit_test(forces_of_cells_neither_push_nor_turn_the_whole),
        cmocka_unit_test(each_cell_has_one_lane),
        cmocka_unit_test(every_path_gives_the_same_bits_for_every_material),
        cmocka_unit_test(rows_are_added_and_multiplied_as_plain_numbers_are),
    };
    return cmocka_run_group_tests_name("solver/cells", tests, NULL, srTestNothingLeaked);
}
