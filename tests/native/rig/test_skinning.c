// SPDX-License-Identifier: GPL-3.0-or-later
//
// The rig's maps against matrices multiplied and inverted by other means, and linear blend skinning by its
// laws.

#include "support/support.h"

#include "rig/skinning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BONES 5
#define SPACES 2

// 4 x 4 in rows, in double: nothing of it is shared with what is tested
typedef struct Matrix4 {
    double m[4][4];
} Matrix4;

static Matrix4 multiply(Matrix4 A, Matrix4 B) {
    Matrix4 C = {{{0}}};
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            for (int k = 0; k < 4; ++k) {
                C.m[i][j] += A.m[i][k] * B.m[k][j];
            }
        }
    }
    return C;
}

// Gauss and Jordan with row exchanges
static Matrix4 invert(Matrix4 A) {
    Matrix4 B = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    for (int c = 0; c < 4; ++c) {
        int pivot = c;
        for (int r = c + 1; r < 4; ++r) {
            pivot = fabs(A.m[r][c]) > fabs(A.m[pivot][c]) ? r : pivot;
        }
        for (int j = 0; j < 4; ++j) {
            double a = A.m[c][j];
            double b = B.m[c][j];
            A.m[c][j] = A.m[pivot][j];
            B.m[c][j] = B.m[pivot][j];
            A.m[pivot][j] = a;
            B.m[pivot][j] = b;
        }
        double scale = 1.0 / A.m[c][c];
        for (int j = 0; j < 4; ++j) {
            A.m[c][j] *= scale;
            B.m[c][j] *= scale;
        }
        for (int r = 0; r < 4; ++r) {
            double factor = r == c ? 0.0 : A.m[r][c];
            for (int j = 0; j < 4; ++j) {
                A.m[r][j] -= factor * A.m[c][j];
                B.m[r][j] -= factor * B.m[c][j];
            }
        }
    }
    return B;
}

static Matrix4 readColumns(const float* columns) {
    Matrix4 A;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            A.m[i][j] = (double)columns[4 * j + i];
        }
    }
    return A;
}

// any affine matrix that is far from flat; now and then mirrored
static void randomColumns(uint64_t* seed, float* columns) {
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 3; ++i) {
            columns[4 * j + i] = (float)(0.4 * (srTestRandom(seed) - 0.5) + (i == j ? 1.0 : 0.0));
        }
        columns[4 * j + 3] = j == 3 ? 1.0f : 0.0f;
    }
    if (srTestRandom(seed) < 0.3) {
        columns[0] = -columns[0];
    }
}

static void maps_are_armature_pose_inverse_rest_inverse_armature_object(void** state) {
    (void)state;
    uint64_t seed = 11;
    for (int trial = 0; trial < 20; ++trial) {
        float rests[16 * BONES];
        float row[16 * (1 + SPACES + BONES)];
        int32_t spaces[BONES];
        for (int k = 0; k < BONES; ++k) {
            randomColumns(&seed, rests + 16 * k);
            spaces[k] = srTestRandom(&seed) < 0.5;
        }
        for (int matrix = 0; matrix < 1 + SPACES + BONES; ++matrix) {
            randomColumns(&seed, row + 16 * matrix);
        }
        srRig rig;
        assert_success(srCreateRig(rests, spaces, BONES, SPACES, &rig));
        assert_int_equal(srRig_GetRowMatrixCount(&rig), 1 + SPACES + BONES);
        srMat34 maps[BONES + 1];
        srRig_ReadRow(&rig, row, maps);

        Matrix4 object = readColumns(row);
        for (int k = 0; k <= BONES; ++k) {
            Matrix4 expected = object;
            if (k < BONES) {
                Matrix4 space = readColumns(row + 16 * (1 + spaces[k]));
                Matrix4 pose = readColumns(row + 16 * (1 + SPACES + k));
                Matrix4 posed = multiply(multiply(space, pose), invert(readColumns(rests + 16 * k)));
                expected = multiply(posed, multiply(invert(space), object));
            }
            for (int i = 0; i < 12; ++i) {
                // products of six matrices of about 1 in double
                assert_near(maps[k].m[i / 4][i % 4], expected.m[i / 4][i % 4], 1e-12);
            }
        }
        srDestroyRig(&rig);
    }
}

static void the_rest_pose_maps_by_the_object_alone(void** state) {
    (void)state;
    uint64_t seed = 12;
    float rests[16 * BONES];
    float row[16 * (2 + BONES)];
    for (int k = 0; k < BONES; ++k) {
        randomColumns(&seed, rests + 16 * k);
    }
    randomColumns(&seed, row);
    randomColumns(&seed, row + 16);
    memcpy(row + 32, rests, sizeof(rests));
    srRig rig;
    assert_success(srCreateRig(rests, NULL, BONES, 1, &rig));
    srMat34 maps[BONES + 1];
    srRig_ReadRow(&rig, row, maps);
    srMat34 object = srFromColumns16(row);
    for (int k = 0; k <= BONES; ++k) {
        for (int i = 0; i < 12; ++i) {
            assert_near(maps[k].m[i / 4][i % 4], object.m[i / 4][i % 4], 1e-13);
        }
    }
    srDestroyRig(&rig);
}

static bool isFiniteMap(const srMat34* map) {
    double sum = 0.0;
    for (int i = 0; i < 12; ++i) {
        sum += map->m[i / 4][i % 4];
    }
    return isfinite(sum);
}

static void whatever_is_scaled_to_zero_gives_no_nan(void** state) {
    (void)state;
    uint64_t seed = 13;
    float rests[16];
    randomColumns(&seed, rests);
    srRig rig;
    assert_success(srCreateRig(rests, NULL, 1, 1, &rig));
    int32_t starts[2] = {0, 2};
    int32_t bones[2] = {0, 1};
    double values[2] = {0.5, 0.5};
    srNodeWeights weights = {starts, bones, values, 1};
    for (int flat = 0; flat < 8; ++flat) {
        float row[48];
        for (int matrix = 0; matrix < 3; ++matrix) {
            randomColumns(&seed, row + 16 * matrix);
            for (int i = 0; i < 12; ++i) {
                row[16 * matrix + i] *= (flat >> matrix & 1) ? 0.0f : 1.0f;
            }
        }
        srMat34 maps[2];
        srRig_ReadRow(&rig, row, maps);
        assert_true(isFiniteMap(&maps[0]) && isFiniteMap(&maps[1]));
        srVec3 x = {1.0, 2.0, 3.0};
        srVec3 p;
        srSkinNodes(&weights, maps, &x, &p);
        assert_true(isfinite(p.x + p.y + p.z));
    }
    srDestroyRig(&rig);
}

static void huge_matrices_give_no_infinite_place(void** state) {
    (void)state;
    int32_t starts[2] = {0, 1};
    int32_t bones[1] = {0};
    double values[1] = {1.0};
    srNodeWeights weights = {starts, bones, values, 1};
    srVec3 x = {1.0, 1.0, 1.0};
    for (double size = 1.0; size < 1e300; size *= 1e20) {
        srMat34 map = srIdentity34();
        map.m[0][0] = size;
        map.m[1][3] = -size;
        srVec3 p;
        srSkinNodes(&weights, &map, &x, &p);
        srVec3f rounded = srToFloat(p);
        assert_true(isfinite(rounded.x + rounded.y + rounded.z));
    }
}

static void a_flat_rest_bone_is_refused(void** state) {
    (void)state;
    float rests[32] = {0};
    uint64_t seed = 14;
    randomColumns(&seed, rests);
    srRig rig;
    assert_result(srCreateRig(rests, NULL, 2, 1, &rig), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), "Bone 1"));
}

#define NODES 200

static void makeDense(uint64_t* seed, float* dense) {
    for (int i = 0; i < NODES * BONES; ++i) {
        double r = srTestRandom(seed);
        dense[i] = r < 0.5 ? 0.0f : (float)(r * r * r * r);
    }
    for (int i = 0; i < NODES; ++i) {
        float sum = 1e-3f;
        dense[i * BONES] += 1e-3f;
        for (int k = 0; k < BONES; ++k) {
            sum += dense[i * BONES + k];
        }
        for (int k = 0; k < BONES; ++k) {
            dense[i * BONES + k] /= sum;
        }
    }
}

static void weights_sum_to_one_and_specks_are_pruned(void** state) {
    (void)state;
    uint64_t seed = 15;
    float dense[NODES * BONES];
    makeDense(&seed, dense);
    dense[3] = 0.99e-4f;
    dense[4] = 1.01e-4f;
    srNodeWeights weights;
    assert_success(srCreateNodeWeights(dense, NODES, BONES, &weights));
    int32_t keptCount = 0;
    for (int i = 0; i < NODES; ++i) {
        double sum = 0.0;
        for (int32_t entry = weights.starts[i]; entry < weights.starts[i + 1]; ++entry) {
            sum += weights.weights[entry];
            assert_true(dense[i * BONES + weights.bones[entry]] >= 1e-4f);
        }
        assert_near(sum, 1.0, 1e-15 * BONES);
        for (int k = 0; k < BONES; ++k) {
            keptCount += dense[i * BONES + k] >= 1e-4f;
        }
    }
    assert_int_equal(weights.starts[NODES], keptCount);
    srDestroyNodeWeights(&weights);
}

static void a_node_of_specks_keeps_its_largest(void** state) {
    (void)state;
    float dense[4] = {2e-5f, 5e-5f, 5e-5f, 1e-5f};
    srNodeWeights weights;
    assert_success(srCreateNodeWeights(dense, 1, 4, &weights));
    assert_int_equal(weights.starts[1], 2);
    assert_int_equal(weights.bones[0], 1);
    assert_near(weights.weights[0], 0.5, 1e-15);
    srDestroyNodeWeights(&weights);
}

static void skinning_with_one_map_is_that_map(void** state) {
    (void)state;
    uint64_t seed = 16;
    float dense[NODES * BONES];
    makeDense(&seed, dense);
    srNodeWeights weights;
    assert_success(srCreateNodeWeights(dense, NODES, BONES, &weights));
    float columns[16];
    randomColumns(&seed, columns);
    srMat34 maps[BONES];
    for (int k = 0; k < BONES; ++k) {
        maps[k] = srFromColumns16(columns);
    }
    srVec3 rest[NODES];
    srVec3 posed[NODES];
    for (int i = 0; i < NODES; ++i) {
        rest[i] = (srVec3){srTestRandom(&seed), srTestRandom(&seed), srTestRandom(&seed)};
    }
    srSkinNodes(&weights, maps, rest, posed);
    for (int i = 0; i < NODES; ++i) {
        // weights sum to one to a few units of rounding, and so does what they blend
        assert_near(srDistance(posed[i], srMulPoint34(&maps[0], rest[i])), 0.0, 1e-14);
    }
    srDestroyNodeWeights(&weights);
}

static srResult makeBoth(void* context) {
    (void)context;
    uint64_t seed = 17;
    float rests[16 * BONES];
    float dense[NODES * BONES];
    srRig rig;
    srNodeWeights weights = {0};
    for (int k = 0; k < BONES; ++k) {
        randomColumns(&seed, rests + 16 * k);
    }
    makeDense(&seed, dense);
    srResult result = srCreateRig(rests, NULL, BONES, 1, &rig);
    if (result == sr_success) {
        result = srCreateNodeWeights(dense, NODES, BONES, &weights);
    }
    srDestroyRig(&rig);
    srDestroyNodeWeights(&weights);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeBoth, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_armature_pose_inverse_rest_inverse_armature_object),
        cmocka_unit_test(the_rest_pose_maps_by_the_object_alone),
        cmocka_unit_test(whatever_is_scaled_to_zero_gives_no_nan),
        cmocka_unit_test(huge_matrices_give_no_infinite_place),
        cmocka_unit_test(a_flat_rest_bone_is_refused),
        cmocka_unit_test(weights_sum_to_one_and_specks_are_pruned),
        cmocka_unit_test(a_node_of_specks_keeps_its_largest),
        cmocka_unit_test(skinning_with_one_map_is_that_map),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("rig/skinning", tests, NULL, srTestNothingLeaked);
}
