// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rig's rows: their span is that of J' M D, no more and no less; projections project.

#include "bone_bar.h"

#include "math/small.h"

static const int32_t BAR[3] = {5, 18, 5};

typedef struct Rig {
    Flesh f;
    double* masses;
    srRigRows rows;
    double* x; // rows of four
    double* scratch;
} Rig;

typedef enum BoneKind {
    bones_apart,
    bones_alike, // all but for a millionth
} BoneKind;

static void makeRig(Rig* rig, int32_t boneCount, BoneKind kind) {
    shapeFlesh(&rig->f, BAR, 0.2, boneCount, hold_axis);
    size_t n = (size_t)rig->f.cage.nodeCount;
    assert_true(n > SR_RIG_PIECE); // sums over nodes are cut
    if (kind == bones_alike) {
        weighAlike(&rig->f, 1e-6);
    }
    rig->masses = calloc(n, sizeof(double));
    uint64_t seed = 31;
    for (size_t i = 0; i < n; ++i) {
        rig->masses[i] = 0.5 + srTestRandom(&seed);
    }
    assert_success(srCreateRigRows(rig->f.cage.nodes, rig->masses, rig->f.holds, (int32_t)n,
                                   &rig->f.shape.weights, &rig->rows));
    rig->x = calloc(4 * n, sizeof(double));
    for (size_t k = 0; k < 4 * n; ++k) {
        rig->x[k] = k % 4 == 3 ? 0.0 : srTestRandom(&seed) - 0.5;
    }
    rig->scratch = calloc(4 * (size_t)srRigRows_GetScratchRowCount(&rig->rows), sizeof(double));
}

static void freeRig(Rig* rig) {
    srDestroyRigRows(&rig->rows);
    free(rig->masses);
    free(rig->x);
    free(rig->scratch);
    freeFlesh(&rig->f);
}

static void checkProducts(BoneKind kind) {
    Rig rig;
    makeRig(&rig, 3, kind);
    assert_int_equal(rig.rows.remainderCount, kind == bones_alike ? 4 : 0);
    size_t n = (size_t)rig.f.cage.nodeCount;
    double* y = calloc(4 * (size_t)rig.rows.rowCount, sizeof(double));
    double* fromFloats = calloc(4 * (size_t)rig.rows.rowCount, sizeof(double));
    double* row = calloc(n, sizeof(double));
    float* packed = calloc(3 * n, sizeof(float));
    for (size_t k = 0; k < 3 * n; ++k) {
        packed[k] = (float)rig.x[k / 3 * 4 + k % 3];
    }
    srRigRows_Multiply(&rig.rows, rig.x, y);
    srRigRows_MultiplyFloat(&rig.rows, packed, fromFloats);
    for (int32_t r = 0; r < rig.rows.rowCount; ++r) {
        srRigRows_GetRow(&rig.rows, r, row);
        double sums[3] = {0.0}, length = 0.0;
        for (size_t i = 0; i < n; ++i) {
            length += row[i] * row[i];
            for (size_t c = 0; c < 3; ++c) {
                sums[c] += row[i] * rig.x[4 * i + c];
            }
        }
        assert_near(rig.rows.lengths[r] / sqrt(length), 1.0, 1e-14);
        for (size_t c = 0; c < 3; ++c) {
            assert_near(y[4 * (size_t)r + c], sums[c], 1e-14);
            assert_near(fromFloats[4 * (size_t)r + c], sums[c], 1e-6);
        }
    }
    free(y);
    free(fromFloats);
    free(row);
    free(packed);
    freeRig(&rig);
}

static void products_are_those_of_the_rows_one_by_one(void** state) {
    (void)state;
    checkProducts(bones_apart);
    checkProducts(bones_alike);
}

static void checkProjection(BoneKind kind) {
    Rig rig;
    makeRig(&rig, 3, kind);
    size_t n = (size_t)rig.f.cage.nodeCount;
    double* before = malloc(4 * n * sizeof(double));
    memcpy(before, rig.x, 4 * n * sizeof(double));
    float* floats = calloc(4 * n, sizeof(float));
    for (size_t k = 0; k < 4 * n; ++k) {
        floats[k] = (float)rig.x[k];
    }
    double measured = srRigRows_MeasureRange(&rig.rows, floats, rig.scratch);
    srRigRows_Project(&rig.rows, rig.x, rig.scratch);
    double moved = 0.0, product = 0.0, whole = 0.0;
    double* again = malloc(4 * n * sizeof(double));
    double* partials = malloc((n / SR_RIG_PIECE + 1) * sizeof(double));
    memcpy(again, before, 4 * n * sizeof(double));
    double dot = srRigRows_ProjectAndDot(&rig.rows, again, before, (int32_t)n, rig.scratch, partials);
    assert_memory_equal(again, rig.x, 4 * n * sizeof(double));
    for (size_t k = 0; k < 4 * n; ++k) {
        whole += before[k] * rig.x[k];
    }
    assert_near(dot / whole, 1.0, 1e-13);
    free(again);
    free(partials);
    for (size_t k = 0; k < 4 * n; ++k) {
        moved += (before[k] - rig.x[k]) * (before[k] - rig.x[k]);
        product += (before[k] - rig.x[k]) * rig.x[k];
    }
    assert_true(moved > 0.1);
    assert_near(measured / moved, 1.0, 1e-5);                  // floats
    assert_near(product / moved, 0.0, srTestTolerance(1e-12)); // what went is at right angles to what stayed

    // by the rig's own words: J' M D x = 0 for each bone and column
    for (int32_t k = 0; k < 3; ++k) {
        double sums[12] = {0.0};
        for (int32_t i = 0; i < rig.f.cage.nodeCount; ++i) {
            for (int32_t e = rig.f.starts[i]; e < rig.f.starts[i + 1]; ++e) {
                srVec3 X = rig.f.cage.nodes[i];
                const double columns[4] = {X.x, X.y, X.z, 1.0};
                double share = rig.f.bones[e] == k ? rig.masses[i] * rig.f.holds[i] * rig.f.weights[e] : 0.0;
                for (int c = 0; c < 12; ++c) {
                    sums[c] += share * columns[c / 3] * rig.x[4 * i + c % 3];
                }
            }
        }
        for (int c = 0; c < 12; ++c) {
            assert_near(sums[c], 0.0, srTestTolerance(1e-12));
        }
    }
    free(before);
    free(floats);
    freeRig(&rig);
}

static void what_is_projected_is_invisible_to_the_rig_and_nearest(void** state) {
    (void)state;
    checkProjection(bones_apart);
    checkProjection(bones_alike);
}

// A bone that holds a plane: across it only what rounding left, which is no row, or a little, which is one.
static void what_is_thin_has_a_row_and_what_is_flat_has_none(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        double thickness = k == 0 ? 1e-8 : 1e-5;
        Rig rig;
        makeRig(&rig, 1, bones_apart);
        srDestroyRigRows(&rig.rows);
        for (int32_t i = 0; i < rig.f.cage.nodeCount; ++i) {
            rig.f.cage.nodes[i].z = 1.0 + thickness * rig.f.cage.nodes[i].z;
        }
        assert_success(srCreateRigRows(rig.f.cage.nodes, rig.masses, rig.f.holds, rig.f.cage.nodeCount,
                                       &rig.f.shape.weights, &rig.rows));
        assert_int_equal(rig.rows.rowCount, k == 0 ? 3 : 4);
        freeRig(&rig);
    }
}

static void dependent_bones_are_left_out_and_independent_ones_kept(void** state) {
    (void)state;
    Rig rig;
    makeRig(&rig, 3, bones_apart);
    assert_int_equal(rig.rows.rowCount, 12); // four nodes across are held: all directions count
    srDestroyRigRows(&rig.rows);
    for (int32_t e = 0; e < rig.f.starts[rig.f.cage.nodeCount]; ++e) {
        rig.f.weights[e] = rig.f.bones[e] == 2 ? 0.0 : rig.f.weights[e];
    }
    assert_success(srCreateRigRows(rig.f.cage.nodes, rig.masses, rig.f.holds, rig.f.cage.nodeCount,
                                   &rig.f.shape.weights, &rig.rows));
    assert_int_equal(rig.rows.rowCount, 8);
    srDestroyRigRows(&rig.rows);
    memset(rig.f.holds, 0, sizeof(double) * (size_t)rig.f.cage.nodeCount);
    assert_success(srCreateRigRows(rig.f.cage.nodes, rig.masses, rig.f.holds, rig.f.cage.nodeCount,
                                   &rig.f.shape.weights, &rig.rows));
    assert_int_equal(rig.rows.rowCount, 0);
    srRigRows_Project(&rig.rows, rig.x, rig.scratch); // changes nothing, needs nothing
    assert_true(srRigRows_MeasureRange(&rig.rows, NULL, rig.scratch) == 0.0);
    double partials[8], dot = srRigRows_ProjectAndDot(&rig.rows, rig.x, rig.x, 2, rig.scratch, partials),
                        own = 0.0;
    for (int k = 0; k < 8; ++k) {
        own += rig.x[k] * rig.x[k];
    }
    assert_near(dot / own, 1.0, 1e-13); // also where no row is
    freeRig(&rig);
}

static void rows_of_a_space_are_its_held_vectors(void** state) {
    (void)state;
    enum {
        vectorCount = 6
    };
    Rig rig;
    makeRig(&rig, 3, bones_apart);
    srDestroyRigRows(&rig.rows);
    size_t n = (size_t)rig.f.cage.nodeCount;
    double* vectors = calloc(vectorCount * n, sizeof(double));
    uint64_t seed = 8;
    for (size_t i = 0; i < n; ++i) {
        vectors[i] = 1.0;
        vectors[n + i] = rig.f.cage.nodes[i].y;
        vectors[2 * n + i] = 3.0 * vectors[n + i] - 2.0;                 // depends on those before
        vectors[3 * n + i] = rig.f.holds[i] > 0.0 ? 0.0 : 1.0;           // nothing of it is held
        vectors[4 * n + i] = vectors[3 * n + i] + 1e-3 * vectors[n + i]; // hardly anything is
        vectors[5 * n + i] = srTestRandom(&seed) - 0.5;
    }
    assert_success(srCreateSpaceRows(vectors, vectorCount, rig.masses, rig.f.holds, (int32_t)n, &rig.rows));
    assert_int_equal(rig.rows.rowCount, 3);
    free(rig.scratch);
    rig.scratch = calloc(4 * (size_t)srRigRows_GetScratchRowCount(&rig.rows), sizeof(double));
    srRigRows_Project(&rig.rows, rig.x, rig.scratch);
    const int32_t held[4] = {0, 1, 2, 5};
    for (int k = 0; k < 4; ++k) {
        double sums[3] = {0.0}, own = 0.0;
        for (size_t i = 0; i < n; ++i) {
            double share = rig.masses[i] * rig.f.holds[i] * vectors[(size_t)held[k] * n + i];
            own += share * share;
            for (size_t c = 0; c < 3; ++c) {
                sums[c] += share * rig.x[4 * i + c];
            }
        }
        for (int c = 0; c < 3; ++c) {
            assert_near(sums[c] / sqrt(own), 0.0, srTestTolerance(1e-12));
        }
    }
    srDestroyRigRows(&rig.rows);
    assert_success(srCreateSpaceRows(vectors, 0, rig.masses, rig.f.holds, (int32_t)n, &rig.rows));
    assert_int_equal(rig.rows.rowCount, 0);
    free(vectors);
    freeRig(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_rows_one_by_one),
        cmocka_unit_test(what_is_projected_is_invisible_to_the_rig_and_nearest),
        cmocka_unit_test(what_is_thin_has_a_row_and_what_is_flat_has_none),
        cmocka_unit_test(dependent_bones_are_left_out_and_independent_ones_kept),
        cmocka_unit_test(rows_of_a_space_are_its_held_vectors),
    };
    return cmocka_run_group_tests_name("solver/rigrows", tests, NULL, srTestNothingLeaked);
}
