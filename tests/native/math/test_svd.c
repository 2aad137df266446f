// SPDX-License-Identifier: GPL-3.0-or-later
//
// SR_TEST_FULL=1 tries ten million matrices of each kind instead of two hundred thousand, and prints the
// worst errors.

#include "math/svd.h"

#include "math/simd_path.h"
#include "kinds.h"
#include "support/support.h"

#include <float.h>
#include <stdlib.h>

#define BLOCKS 64
#define SEED 0x9e3779b97f4a7c15ull

static int64_t countOfKind(void) {
    return getenv("SR_TEST_FULL") != NULL ? 10000000 : 200000;
}

typedef struct srSvdErrors {
    double frame;          // U and V from rotations
    double reconstruction; // U diag(s) V' from F, relative to s1
} srSvdErrors;

static void checkSvd(const srMat3* F, const srSvd* svd, double eps, srSvdErrors* errors) {
    assert_true(svd->s[0] >= svd->s[1] && svd->s[1] >= fabs(svd->s[2]));
    assert_true(svd->s[0] <= DBL_MAX);
    errors->frame = srWorse(errors->frame, srWorse(srErrorOfRotation(&svd->U), srErrorOfRotation(&svd->V)));
    srMat3 W = srTranspose3(&svd->V);
    for (int i = 0; i < 9; i++) {
        W.m[i / 3][i % 3] *= svd->s[i / 3];
    }
    W = srMul3(&svd->U, &W);
    double error = srDistanceOf(&W, F);
    if (svd->s[0] > 0.0) {
        errors->reconstruction = srWorse(errors->reconstruction, error / svd->s[0]);
    } else {
        assert_true(error == 0.0);
    }

    // the sign of the determinant, where that is beyond rounding
    double s1 = svd->s[0];
    if (s1 > 0.0 && fabs(svd->s[2] / s1) * (svd->s[1] / s1) > 64.0 * eps) {
        srMat3 unit = *F; // its determinant is a number
        for (int i = 0; i < 9; i++) {
            unit.m[i / 3][i % 3] /= s1;
        }
        assert_true((srDeterminant3(&unit) > 0.0) == (svd->s[2] > 0.0));
    }
}

static srSvd widen(const srSvdBlockf* block, int lane) {
    srMat3f U = srGetLaneF(&block->U, lane);
    srMat3f V = srGetLaneF(&block->V, lane);
    return (srSvd){srWiden3(&U),
                   srWiden3(&V),
                   {(double)block->s[0][lane], (double)block->s[1][lane], (double)block->s[2][lane]}};
}

static void tryBlocks(srKind kind, uint64_t* state, srSvdErrors* errors, srSvdErrors* errorsF) {
    static srMat3Block F[BLOCKS];
    static srMat3Blockf FF[BLOCKS];
    static srSvdBlock svds[BLOCKS];
    static srSvdBlockf svdsF[BLOCKS];
    for (int i = 0; i < BLOCKS * SR_BLOCK_LANES; i++) {
        srMat3 A = srRandomOfKind(kind, state);
        srMat3f B = srNarrow3(&A);
        A = srStretchToDouble(kind, &A);
        srSetLane(&F[i / 8], i % 8, &A);
        srSetLaneF(&FF[i / 8], i % 8, &B);
    }
    srDecomposeBlocks(F, svds, BLOCKS);
    srDecomposeBlocksF(FF, svdsF, BLOCKS);
    for (int i = 0; i < BLOCKS * SR_BLOCK_LANES; i++) {
        srMat3 A = srGetLane(&F[i / 8], i % 8);
        srSvd svd = {srGetLane(&svds[i / 8].U, i % 8),
                     srGetLane(&svds[i / 8].V, i % 8),
                     {svds[i / 8].s[0][i % 8], svds[i / 8].s[1][i % 8], svds[i / 8].s[2][i % 8]}};
        checkSvd(&A, &svd, 0x1p-53, errors);
        srMat3f B = srGetLaneF(&FF[i / 8], i % 8);
        A = srWiden3(&B);
        svd = widen(&svdsF[i / 8], i % 8);
        checkSvd(&A, &svd, 0x1p-24, errorsF);
    }
}

// Each angle is rounded to eps, a dozen of them are applied; products are summed from three.
static void parts_are_rotations_and_ordered_and_make_the_matrix(void** state) {
    (void)state;
    for (int kind = 0; kind < kind_count; kind++) {
        uint64_t seed = SEED + (uint64_t)kind;
        srSvdErrors errors = {0};
        srSvdErrors errorsF = {0};
        for (int64_t done = 0; done < countOfKind(); done += BLOCKS * SR_BLOCK_LANES) {
            tryBlocks((srKind)kind, &seed, &errors, &errorsF);
        }
        if (getenv("SR_TEST_FULL") != NULL) {
            print_message("%-22s frame %.1f eps %.1f eps, F %.1f eps %.1f eps (double, float)\n",
                          srKindNames[kind], errors.frame * 0x1p53, errorsF.frame * 0x1p24,
                          errors.reconstruction * 0x1p53, errorsF.reconstruction * 0x1p24);
        }
        assert_near(errors.frame, 0.0, 24 * 0x1p-53);
        assert_near(errors.reconstruction, 0.0, 24 * 0x1p-53);
        assert_near(errorsF.frame, 0.0, 24 * 0x1p-24);
        assert_near(errorsF.reconstruction, 0.0, 24 * 0x1p-24);
    }
}

static void singular_values_are_those_the_matrix_was_made_of(void** state) {
    (void)state;
    uint64_t seed = SEED;
    const double s[4][3] = {{3.0, 2.0, 1.0}, {3.0, 2.0, -1.0}, {1.0, 1.0, -1.0}, {5.0, 0.0, 0.0}};
    for (int k = 0; k < 4; k++) {
        for (int n = 0; n < 1000; n++) {
            srMat3 F = srFromSingularValues(s[k][0], s[k][1], s[k][2], &seed);
            srSvd svd = srDecompose(&F);
            for (int i = 0; i < 3; i++) {
                // how well the input was made, and the error above
                assert_near(svd.s[i], s[k][i], 24 * 0x1p-53 * s[k][0]);
            }
        }
    }
}

static void the_largest_and_smallest_numbers_stay_finite(void** state) {
    (void)state;
    const double sizes[] = {DBL_MAX, 0.5 * DBL_MAX, DBL_MIN, DBL_TRUE_MIN};
    const float sizesF[] = {FLT_MAX, 0.5f * FLT_MAX, FLT_MIN, FLT_TRUE_MIN};
    for (int k = 0; k < 4; k++) {
        srMat3 F = {{{sizes[k], sizes[k], 0}, {-sizes[k], sizes[k], 0}, {0, 0, sizes[k]}}};
        srSvd svd = srDecompose(&F);
        assert_true(svd.s[0] <= DBL_MAX && svd.s[0] >= sizes[k] && svd.s[2] >= sizes[k]);
        // without 1.41 the vectors do not know the size
        assert_near(srErrorOfRotation(&svd.U), 0.0, 24 * 0x1p-53);
        assert_near(fabs(svd.V.m[2][2]), 1.0, 0.0);
        srMat3f G = {{{sizesF[k], sizesF[k], 0}, {-sizesF[k], sizesF[k], 0}, {0, 0, sizesF[k]}}};
        srSvdf svdF = srDecomposeF(&G);
        assert_true(svdF.s[0] <= FLT_MAX && svdF.s[0] >= sizesF[k] && svdF.s[2] >= sizesF[k]);
    }
}

static void a_matrix_that_is_not_finite_counts_as_zero(void** state) {
    (void)state;
    const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    const srMat3 I = srIdentity3();
    for (int k = 0; k < 27; k++) {
        srMat3 F = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}};
        F.m[k / 9][k / 3 % 3] = bad[k % 3];
        srSvd svd = srDecompose(&F);
        assert_memory_equal(&svd.U, &I, sizeof I);
        assert_memory_equal(&svd.V, &I, sizeof I);
        assert_true(svd.s[0] == 0.0 && svd.s[1] == 0.0 && svd.s[2] == 0.0);
        srMat3f G = srNarrow3(&F);
        srSvdf svdF = srDecomposeF(&G);
        srMat3 U = srWiden3(&svdF.U);
        assert_memory_equal(&U, &I, sizeof I);
        assert_true(svdF.s[0] == 0.0f && svdF.s[1] == 0.0f && svdF.s[2] == 0.0f);
    }
}

static void twists_are_orthonormal_and_orthogonal_to_stretches(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 20000; n++) {
        srMat3 F = srRandomOfKind((srKind)(n % kind_count), &seed);
        srSvd svd = srDecompose(&F);
        srTwists twists = srFindTwists(&svd);
        srMat3 R = srTranspose3(&svd.V);
        R = srMul3(&svd.U, &R);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                assert_near(srProductOf(&twists.Q[i], &twists.Q[j]), i == j ? 1.0 : 0.0, 40 * 0x1p-53);
            }
            // R is a stretch
            assert_near(srProductOf(&twists.Q[i], &R), 0.0, 40 * 0x1p-53);
            assert_true(twists.eigenvalues[i] >= 0.0 && twists.eigenvalues[i] <= DBL_MAX);
        }
        double sum = svd.s[0] + svd.s[1];
        if (sum > 0.0) {
            assert_near(twists.eigenvalues[2] * sum, 2.0, 1e-15);
        }
    }
}

static void eigenvalues_of_the_tiniest_matrices_are_finite(void** state) {
    (void)state;
    const float sizes[] = {FLT_TRUE_MIN, 1e-45f, 2e-39f, 4e-39f, 1e-38f, FLT_MIN};
    const double signs[] = {1.0, 0.25, 0.0, -0.5, -1.0};
    for (size_t k = 0; k < SR_ARRAY_COUNT(sizes) * SR_ARRAY_COUNT(signs); k++) {
        float size = sizes[k / SR_ARRAY_COUNT(signs)];
        double sign = signs[k % SR_ARRAY_COUNT(signs)], small = (double)size * (DBL_MIN / (double)FLT_MIN);
        srMat3f FF = {{{size, 0, 0}, {0, size, 0}, {0, 0, (float)sign * size}}};
        srMat3 F = {{{small, 0, 0}, {0, small, 0}, {0, 0, sign * small}}};
        srSvdf svdF = srDecomposeF(&FF);
        srSvd svd = srDecompose(&F);
        srTwistsf twistsF = srFindTwistsF(&svdF);
        srTwists twists = srFindTwists(&svd);
        for (int i = 0; i < 3; i++) {
            assert_true(twistsF.eigenvalues[i] > 0.0f && twistsF.eigenvalues[i] <= FLT_MAX);
            assert_true(twists.eigenvalues[i] > 0.0 && twists.eigenvalues[i] <= DBL_MAX);
        }
    }
    // 2 over 2e-39 is cut at the largest number
    srSvdf tiny = {.s = {1e-39f, 1e-39f, 1e-39f}};
    assert_true(srFindTwistsF(&tiny).eigenvalues[0] == FLT_MAX);
}

// the sign of the smallest value and its cut at the largest number, with all values beyond it
static void values_beyond_the_largest_number_are_cut_with_their_sign(void** state) {
    (void)state;
    const float m = FLT_MAX;
    const srMat3f outer = {{{m, -m, 0}, {m, m, 0}, {0, 0, -m}}};
    srSvdf svd = srDecomposeF(&outer);
    assert_true(svd.s[0] == m && svd.s[1] == m);
    assert_near((double)svd.s[2] / (double)m, -1.0, 1e-6);
    // columns at right angles, one and a half times that long
    for (int turn = 0; turn < 2; turn++) {
        const float a = turn == 0 ? m : -m;
        const srMat3f all = {{{a, a, -0.5f * a}, {a, -0.5f * a, a}, {-0.5f * a, a, a}}};
        svd = srDecomposeF(&all);
        assert_true(svd.s[0] == m && svd.s[1] == m && svd.s[2] == -a);
    }
}

static void every_path_and_every_lane_gives_the_same_bits(void** state) {
    (void)state;
    static srMat3Block F[kind_count];
    static srMat3Blockf FF[kind_count];
    static srSvdBlock svds[SR_SIMD_PATH_COUNT][kind_count];
    static srSvdBlockf svdsF[SR_SIMD_PATH_COUNT][kind_count];
    static srTwistBlock twists[SR_SIMD_PATH_COUNT][kind_count];
    static srTwistBlockf twistsF[SR_SIMD_PATH_COUNT][kind_count];
    uint64_t seed = SEED;
    srSimdPath before = srGetSimdPath();
    for (int round = 0; round < 2000; round++) {
        // each kind once a block, so that lanes differ in how long they take
        for (int i = 0; i < kind_count * SR_BLOCK_LANES; i++) {
            srKind kind = (srKind)(i % kind_count);
            srMat3 A = srRandomOfKind(kind, &seed);
            A.m[0][0] = srNextRandom(&seed) < 0.002 ? (double)INFINITY : A.m[0][0];
            srMat3f B = srNarrow3(&A);
            A = srStretchToDouble(kind, &A);
            srSetLane(&F[i / 8], i % 8, &A);
            srSetLaneF(&FF[i / 8], i % 8, &B);
        }
        for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
            if (srForceSimdPath((srSimdPath)path)) {
                srDecomposeBlocks(F, svds[path], kind_count);
                srDecomposeBlocksF(FF, svdsF[path], kind_count);
                srFindTwistBlocks(svds[path], twists[path], kind_count);
                srFindTwistBlocksF(svdsF[path], twistsF[path], kind_count);
                assert_memory_equal(svds[path], svds[0], sizeof svds[0]);
                assert_memory_equal(svdsF[path], svdsF[0], sizeof svdsF[0]);
                assert_memory_equal(twists[path], twists[0], sizeof twists[0]);
                assert_memory_equal(twistsF[path], twistsF[0], sizeof twistsF[0]);
            }
        }
        for (int i = 0; i < kind_count * SR_BLOCK_LANES; i++) {
            srMat3 A = srGetLane(&F[i / 8], i % 8);
            srSvd svd = srDecompose(&A);
            srMat3 U = srGetLane(&svds[0][i / 8].U, i % 8);
            srMat3 V = srGetLane(&svds[0][i / 8].V, i % 8);
            assert_memory_equal(&svd.U, &U, sizeof U);
            assert_memory_equal(&svd.V, &V, sizeof V);
            srMat3f B = srGetLaneF(&FF[i / 8], i % 8);
            srSvdf svdF = srDecomposeF(&B);
            srMat3f UF = srGetLaneF(&svdsF[0][i / 8].U, i % 8);
            assert_memory_equal(&svdF.U, &UF, sizeof UF);
            assert_true(svdF.s[2] == svdsF[0][i / 8].s[2][i % 8] && svd.s[2] == svds[0][i / 8].s[2][i % 8]);
            srTwistsf one = srFindTwistsF(&svdF);
            srMat3f Q = srGetLaneF(&twistsF[0][i / 8].Q[1], i % 8);
            assert_memory_equal(&one.Q[1], &Q, sizeof Q);
        }
    }
    srForceSimdPath(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(parts_are_rotations_and_ordered_and_make_the_matrix, srTestNothingLeaked),
        cmocka_unit_test_teardown(singular_values_are_those_the_matrix_was_made_of, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_largest_and_smallest_numbers_stay_finite, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_matrix_that_is_not_finite_counts_as_zero, srTestNothingLeaked),
        cmocka_unit_test_teardown(twists_are_orthonormal_and_orthogonal_to_stretches, srTestNothingLeaked),
        cmocka_unit_test_teardown(eigenvalues_of_the_tiniest_matrices_are_finite, srTestNothingLeaked),
        cmocka_unit_test_teardown(values_beyond_the_largest_number_are_cut_with_their_sign,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_and_every_lane_gives_the_same_bits, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/svd", tests, NULL, NULL);
}
