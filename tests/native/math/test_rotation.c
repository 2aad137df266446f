// SPDX-License-Identifier: GPL-3.0-or-later
//
// SR_TEST_FULL=1 tries ten million matrices of each kind instead of two hundred thousand, and prints the
// worst errors.

#include "math/rotation.h"

#include "kinds.h"
#include "math/simd_path.h"
#include "math/svd.h"
#include "support/support.h"

#include <float.h>
#include <stdlib.h>

#define BLOCKS 64
#define MATRICES (BLOCKS * SR_BLOCK_LANES)
#define SEED 0x9e3779b97f4a7c15ull

static int64_t countOfKind(void) {
    return getenv("SR_TEST_FULL") != NULL ? 10000000 : 200000;
}

typedef struct srRotationErrors {
    double frame; // R from a rotation
    double lack;  // tr(R' F) from s1 + s2 + s3, relative to s1
    double angle; // R from U V', times (s2 + s3) / s1
} srRotationErrors;

// The decomposition in double is the judge: it has tests of its own, and its s1 + s2 + s3 is the most that
// any rotation reaches.
static void checkRotation(const srMat3* F, const srSvd* svd, const srMat3* R, srRotationErrors* errors) {
    errors->frame = srWorse(errors->frame, srErrorOfRotation(R));
    double s1 = svd->s[0];
    if (s1 == 0.0) {
        srMat3 I = srIdentity3();
        assert_true(srDistanceOf(R, &I) == 0.0);
        return;
    }
    srMat3 S = *F;
    for (int i = 0; i < 9; i++) {
        S.m[i / 3][i % 3] /= s1;
    }
    double most = 1.0 + svd->s[1] / s1 + svd->s[2] / s1;
    errors->lack = srWorse(errors->lack, fabs(most - srProductOf(R, &S)));
    srMat3 nearest = srTranspose3(&svd->V);
    nearest = srMul3(&svd->U, &nearest);
    double gap = svd->s[1] / s1 + svd->s[2] / s1;
    errors->angle = srWorse(errors->angle, srDistanceOf(R, &nearest) * gap);
}

static void tryBlocks(srKind kind, uint64_t* state, srRotationErrors* errors, srRotationErrors* errorsF) {
    static srMat3Block F[BLOCKS], R[BLOCKS], exactF[BLOCKS];
    static srMat3Blockf FF[BLOCKS], RF[BLOCKS];
    static srSvdBlock svds[BLOCKS], svdsF[BLOCKS];
    for (int i = 0; i < MATRICES; i++) {
        srMat3 A = srRandomOfKind(kind, state);
        srMat3f B = srNarrow3(&A);
        srMat3 C = srWiden3(&B);
        A = srStretchToDouble(kind, &A);
        srSetLane(&F[i / 8], i % 8, &A);
        srSetLaneF(&FF[i / 8], i % 8, &B);
        srSetLane(&exactF[i / 8], i % 8, &C);
    }
    srDecomposeBlocks(F, svds, BLOCKS);
    srDecomposeBlocks(exactF, svdsF, BLOCKS);
    srFindRotations(F, R, BLOCKS);
    srFindRotationsF(FF, RF, BLOCKS);
    for (int i = 0; i < MATRICES; i++) {
        int b = i / 8, lane = i % 8;
        srMat3 A = srGetLane(&F[b], lane), Q = srGetLane(&R[b], lane);
        srSvd svd = {srGetLane(&svds[b].U, lane),
                     srGetLane(&svds[b].V, lane),
                     {svds[b].s[0][lane], svds[b].s[1][lane], svds[b].s[2][lane]}};
        checkRotation(&A, &svd, &Q, errors);
        srMat3f QF = srGetLaneF(&RF[b], lane);
        A = srGetLane(&exactF[b], lane), Q = srWiden3(&QF);
        svd = (srSvd){srGetLane(&svdsF[b].U, lane),
                      srGetLane(&svdsF[b].V, lane),
                      {svdsF[b].s[0][lane], svdsF[b].s[1][lane], svdsF[b].s[2][lane]}};
        checkRotation(&A, &svd, &Q, errorsF);
    }
}

// Polishing leaves three roundings of sums of four in each entry; U V' has the errors of U and V instead.
// What rounding F and the sums of the closed form (some twenty terms) does to R grows with s1 / (s2 + s3).
static void rotations_are_rotations_and_the_nearest(void** state) {
    (void)state;
    for (int kind = 0; kind < kind_count; kind++) {
        uint64_t seed = SEED + (uint64_t)kind;
        srRotationErrors errors = {0};
        srRotationErrors errorsF = {0};
        for (int64_t done = 0; done < countOfKind(); done += MATRICES) {
            tryBlocks((srKind)kind, &seed, &errors, &errorsF);
        }
        if (getenv("SR_TEST_FULL") != NULL) {
            print_message(
                "%-22s frame %4.1f %4.1f, lack %4.1f %4.1f, angle %4.1f %4.1f eps (double, float)\n",
                srKindNames[kind], errors.frame * 0x1p53, errorsF.frame * 0x1p24, errors.lack * 0x1p53,
                errorsF.lack * 0x1p24, errors.angle * 0x1p53, errorsF.angle * 0x1p24);
        }
        assert_near(errors.frame, 0.0, 32 * 0x1p-53);
        assert_near(errorsF.frame, 0.0, 32 * 0x1p-24);
        assert_near(errors.lack, 0.0, 32 * 0x1p-53);
        assert_near(errorsF.lack, 0.0, 32 * 0x1p-24);
        assert_near(errors.angle, 0.0, 32 * 0x1p-53);
        assert_near(errorsF.angle, 0.0, 32 * 0x1p-24);
    }
}

static void a_rotation_is_its_own_nearest(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 10000; n++) {
        srMat3 F = srRandomRotation(&seed);
        srMat3 R = srFindRotation(&F);
        assert_near(srDistanceOf(&F, &R), 0.0, 8 * 0x1p-53);
    }
}

static void the_identity_gives_the_identity_to_the_bit(void** state) {
    (void)state;
    const srMat3 I = srIdentity3();
    const srMat3 R = srFindRotation(&I);
    assert_true(srDistanceOf(&I, &R) == 0.0);
    const srMat3f IF = srNarrow3(&I);
    const srMat3f RF = srFindRotationF(&IF);
    const srMat3 wide = srWiden3(&RF);
    assert_true(srDistanceOf(&I, &wide) == 0.0);
}

static void turning_the_matrix_turns_the_rotation(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 10000; n++) {
        srMat3 F = srFromSingularValues(1.5, 1.0, 0.3, &seed);
        srMat3 Q = srRandomRotation(&seed);
        srMat3 QF = srMul3(&Q, &F);
        srMat3 R = srFindRotation(&F);
        srMat3 turned = srFindRotation(&QF);
        R = srMul3(&Q, &R);
        // two results, each as near as s1 / (s2 + s3) = 1.2 allows
        assert_near(srDistanceOf(&R, &turned), 0.0, 40 * 0x1p-53);
    }
}

static void a_matrix_that_is_not_finite_gives_the_identity(void** state) {
    (void)state;
    const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    const srMat3 I = srIdentity3();
    for (int k = 0; k < 27; k++) {
        srMat3 F = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}};
        F.m[k / 9][k / 3 % 3] = bad[k % 3];
        srMat3f G = srNarrow3(&F);
        srMat3 R;
        srTurn T;
        assert_false(srFindTurn(&F, &R, &T));
        assert_memory_equal(&R, &I, sizeof I);
        for (int i = 0; i < 6; i++) {
            assert_true(T.t[i] == 0.0);
        }
        srMat3f RF = srFindRotationF(&G);
        R = srWiden3(&RF);
        assert_memory_equal(&R, &I, sizeof I);
    }
}

// The error of a central difference with h = 1e-5 is h^2 times the third derivative, below 1 / gap^3 = 1e3
// here, and 1e-16 / (h gap).
static void turns_agree_with_finite_differences(void** state) {
    (void)state;
    uint64_t seed = SEED;
    const double h = 1e-5;
    int tried = 0;
    for (int n = 0; n < 20000; n++) {
        srMat3 F = srRandomOfKind(n % 2 == 0 ? kind_random : kind_inverted, &seed);
        srSvd svd = srDecompose(&F);
        if (svd.s[1] + svd.s[2] < 0.1 || svd.s[0] > 10.0 * (svd.s[1] + svd.s[2])) {
            continue;
        }
        tried++;
        srMat3 dF = srRandomEntries(1.0, &seed);
        srMat3 after = F, before = F;
        for (int i = 0; i < 9; i++) {
            after.m[i / 3][i % 3] += h * dF.m[i / 3][i % 3];
            before.m[i / 3][i % 3] -= h * dF.m[i / 3][i % 3];
        }
        srMat3 R;
        srTurn T;
        assert_false(srFindTurn(&F, &R, &T));
        srMat3 dR = srTurnRotation(&R, &T, &dF);
        after = srFindRotation(&after);
        before = srFindRotation(&before);
        for (int i = 0; i < 9; i++) {
            double slope = (after.m[i / 3][i % 3] - before.m[i / 3][i % 3]) / (2.0 * h);
            assert_near(dR.m[i / 3][i % 3], slope, 1e-6);
        }
    }
    assert_true(tried > 5000);
}

static void turns_have_the_twists_for_eigenvectors(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 20000; n++) {
        srMat3 F = srRandomOfKind((srKind)(n % kind_count), &seed);
        srSvd svd = srDecompose(&F);
        srTwists twists = srFindTwists(&svd);
        srMat3 R;
        srTurn T;
        bool isCut = srFindTurn(&F, &R, &T);
        assert_int_equal(isCut, svd.s[0] > 0.0 && svd.s[1] + svd.s[2] < SR_LEAST_TURN * svd.s[0]);
        double largest = twists.eigenvalues[0];
        if (largest == 0.0) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            srMat3 dR = srTurnRotation(&R, &T, &twists.Q[i]);
            for (int k = 0; k < 9; k++) {
                // R and T are wrong by eps s1 / (s2 + s3), at most 1 / SR_LEAST_TURN, where not cut
                double expected = twists.eigenvalues[i] * twists.Q[i].m[k / 3][k % 3];
                assert_near(dR.m[k / 3][k % 3] / largest, expected / largest, 64 * 0x1p-53 / SR_LEAST_TURN);
            }
        }
    }
}

static void turns_in_float_are_those_in_double(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 50000; n++) {
        srMat3 F = srRandomOfKind((srKind)(n % kind_count), &seed);
        srMat3f narrow = srNarrow3(&F);
        F = srWiden3(&narrow);
        srMat3 R;
        srMat3f RF;
        srTurn T;
        srTurnf TF;
        bool isCut = srFindTurn(&F, &R, &T);
        isCut = srFindTurnF(&narrow, &RF, &TF) || isCut;
        srSvd svd = srDecompose(&F);
        double gap = svd.s[0] > 0.0 ? (svd.s[1] + svd.s[2]) / svd.s[0] : 1.0;
        if (isCut || gap < 4.0 * SR_LEAST_TURN) {
            continue;
        }
        double size = fabs(T.t[0]) + fabs(T.t[1]) + fabs(T.t[2]);
        for (int i = 0; i < 6; i++) {
            // R is wrong by 32 eps / gap, and so is S, of which s2 + s3 is the difference
            double difference = (double)TF.t[i] - T.t[i];
            assert_near(size > 0.0 ? difference / size : difference, 0.0, 64 * 0x1p-24 / gap);
        }
    }
}

static void the_hessian_of_arap_vanishes_on_rotations(void** state) {
    (void)state;
    uint64_t seed = SEED;
    for (int n = 0; n < 1000; n++) {
        srMat3 F = srRandomRotation(&seed);
        srMat3 R;
        srTurn T;
        srFindTurn(&F, &R, &T);
        // F [w]x: an infinitesimal rotation, so dR = dF and the energy stays
        srMat3 W = {{{0, -0.3, 0.2}, {0.3, 0, -0.1}, {-0.2, 0.1, 0}}};
        srMat3 dF = srMul3(&F, &W);
        srMat3 dR = srTurnRotation(&R, &T, &dF);
        assert_near(srDistanceOf(&dF, &dR), 0.0, 16 * 0x1p-53);
    }
}

static void a_turn_is_cut_where_it_would_be_infinite(void** state) {
    (void)state;
    const srMat3 F = {{{2, 0, 0}, {0, 1, 0}, {0, 0, -1}}};
    srMat3 R;
    srTurn T;
    assert_true(srFindTurn(&F, &R, &T));
    assert_near(T.t[0], 1.0 / (2.0 * SR_LEAST_TURN), 1e-9);
    assert_near(T.t[1], 1.0, 1e-12);
    assert_near(T.t[2], 1.0 / 3.0, 1e-12);

    const srMat3 zero = {{{0}}};
    assert_false(srFindTurn(&zero, &R, &T));
    for (int i = 0; i < 6; i++) {
        assert_true(T.t[i] == 0.0);
    }
}

static void assertFiniteF(const srMat3f* A) {
    for (int i = 0; i < 9; i++) {
        assert_true(isfinite(A->m[i / 3][i % 3]));
    }
}

static void assertFinite(const srMat3* A) {
    for (int i = 0; i < 9; i++) {
        assert_true(isfinite(A->m[i / 3][i % 3]));
    }
}

static void turns_of_any_finite_matrix_are_finite(void** state) {
    (void)state;
    const double sizes[] = {1.0,  1e-30,           1e-38,  2e-39,        (double)FLT_TRUE_MIN,
                            1e30, (double)FLT_MAX, 5e-309, DBL_TRUE_MIN, DBL_MAX};
    const double changes[] = {0.0, 1.0, 1e10, (double)FLT_MAX, DBL_MAX};
    uint64_t seed = SEED;
    for (size_t n = 0; n < 100 * SR_ARRAY_COUNT(sizes) * SR_ARRAY_COUNT(changes); n++) {
        double size = sizes[n % SR_ARRAY_COUNT(sizes)];
        double change = changes[n / SR_ARRAY_COUNT(sizes) % SR_ARRAY_COUNT(changes)];
        srMat3 F = srRandomEntries(size, &seed), dF = srRandomEntries(change, &seed), R;
        F = n % 3 == 0 ? (srMat3){{{size, 0, 0}, {0, size, 0}, {0, 0, size}}} : F;
        srTurn T;
        srFindTurn(&F, &R, &T);
        srMat3 dR = srTurnRotation(&R, &T, &dF);
        assertFinite(&dR);
        if (size > (double)FLT_MAX || change > (double)FLT_MAX) {
            continue;
        }
        srMat3f narrow = srNarrow3(&F), change3 = srNarrow3(&dF), RF;
        srTurnf TF;
        srFindTurnF(&narrow, &RF, &TF);
        for (int i = 0; i < 6; i++) {
            assert_true(isfinite(TF.t[i]) && isfinite(T.t[i]));
        }
        srMat3f dRF = srTurnRotationF(&RF, &TF, &change3);
        assertFiniteF(&dRF);
    }
}

static void a_turn_too_large_for_its_type_is_cut_and_counted(void** state) {
    (void)state;
    const srMat3f tiny = {{{1e-39f, 0, 0}, {0, 1e-39f, 0}, {0, 0, 1e-39f}}};
    srMat3f R;
    srTurnf T;
    // 1 / 2e-39 is more than half the largest float
    assert_true(srFindTurnF(&tiny, &R, &T));
    for (int i = 0; i < 3; i++) {
        assert_near((double)T.t[i] / (double)FLT_MAX, 0.5, 1e-6);
    }
    const srMat3f larger = {{{2e-38f, 0, 0}, {0, 2e-38f, 0}, {0, 0, 2e-38f}}};
    assert_false(srFindTurnF(&larger, &R, &T));
    assert_near((double)T.t[0] * 4e-38, 1.0, 1e-6);
}

static srMat3Block F[kind_count], R[SR_SIMD_PATH_COUNT][kind_count], dR[SR_SIMD_PATH_COUNT][kind_count];
static srMat3Blockf FF[kind_count], RF[SR_SIMD_PATH_COUNT][kind_count], dRF[SR_SIMD_PATH_COUNT][kind_count];
static srTurnBlock T[SR_SIMD_PATH_COUNT][kind_count];
static srTurnBlockf TF[SR_SIMD_PATH_COUNT][kind_count];

static int32_t runPath(int path) {
    srFindRotations(F, dR[path], kind_count);
    srFindRotationsF(FF, dRF[path], kind_count);
    int32_t cutCount = srFindTurns(F, R[path], T[path], kind_count);
    cutCount += 1000 * srFindTurnsF(FF, RF[path], TF[path], kind_count);
    assert_memory_equal(R[path], dR[path], sizeof R[0]);
    assert_memory_equal(RF[path], dRF[path], sizeof RF[0]);
    srTurnRotations(R[path], T[path], F, dR[path], kind_count);
    srTurnRotationsF(RF[path], TF[path], FF, dRF[path], kind_count);
    return cutCount;
}

static int32_t comparePlain(void) {
    int32_t cutCount = 0;
    for (int i = 0; i < kind_count * SR_BLOCK_LANES; i++) {
        int b = i / 8, lane = i % 8;
        srMat3 A = srGetLane(&F[b], lane), plain, wide = srGetLane(&R[0][b], lane);
        srTurn turn;
        cutCount += srFindTurn(&A, &plain, &turn);
        assert_memory_equal(&plain, &wide, sizeof wide);
        plain = srTurnRotation(&wide, &turn, &A);
        wide = srGetLane(&dR[0][b], lane);
        assert_memory_equal(&plain, &wide, sizeof wide);
        srMat3f AF = srGetLaneF(&FF[b], lane), plainF, wideF = srGetLaneF(&RF[0][b], lane);
        srTurnf turnF;
        cutCount += 1000 * srFindTurnF(&AF, &plainF, &turnF);
        assert_memory_equal(&plainF, &wideF, sizeof wideF);
        plainF = srTurnRotationF(&wideF, &turnF, &AF);
        wideF = srGetLaneF(&dRF[0][b], lane);
        assert_memory_equal(&plainF, &wideF, sizeof wideF);
    }
    return cutCount;
}

// some entries at the ends of the range of float
static void fillBlocks(uint64_t* seed, double share) {
    for (int i = 0; i < kind_count * SR_BLOCK_LANES; i++) {
        srKind kind = (srKind)(i % kind_count);
        srMat3 A = srRandomOfKind(kind, seed);
        A.m[1][2] = srNextRandom(seed) < share ? (double)FLT_MAX : A.m[1][2];
        A.m[2][1] = srNextRandom(seed) < share ? (double)FLT_TRUE_MIN : A.m[2][1];
        srMat3f B = srNarrow3(&A);
        A = srStretchToDouble(kind, &A);
        srSetLane(&F[i / 8], i % 8, &A);
        srSetLaneF(&FF[i / 8], i % 8, &B);
    }
}

static void every_path_and_every_lane_gives_the_same_bits(void** state) {
    (void)state;
    uint64_t seed = SEED;
    srSimdPath before = srGetSimdPath();
    int rounds = getenv("SR_TEST_FULL") != NULL ? 200000 : 2000;
    for (int round = 0; round < rounds; round++) {
        fillBlocks(&seed, 0.002);
        srForceSimdPath(sr_simdScalar);
        int32_t cutCount = runPath(0);
        for (int path = 1; path < SR_SIMD_PATH_COUNT; path++) {
            if (srForceSimdPath((srSimdPath)path)) {
                assert_int_equal(runPath(path), cutCount);
                assert_memory_equal(R[path], R[0], sizeof R[0]);
                assert_memory_equal(RF[path], RF[0], sizeof RF[0]);
                assert_memory_equal(T[path], T[0], sizeof T[0]);
                assert_memory_equal(TF[path], TF[0], sizeof TF[0]);
                assert_memory_equal(dR[path], dR[0], sizeof dR[0]);
                assert_memory_equal(dRF[path], dRF[0], sizeof dRF[0]);
            }
        }
        assert_int_equal(comparePlain(), cutCount);
    }
    srForceSimdPath(before);
}

static void a_result_may_take_the_place_of_the_matrix(void** state) {
    (void)state;
    uint64_t seed = SEED;
    fillBlocks(&seed, 0.0);
    srFindRotations(F, R[0], kind_count);
    srFindRotations(F, F, kind_count);
    assert_memory_equal(F, R[0], sizeof F);
    srFindRotationsF(FF, RF[0], kind_count);
    srFindRotationsF(FF, FF, kind_count);
    assert_memory_equal(FF, RF[0], sizeof FF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rotations_are_rotations_and_the_nearest, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_rotation_is_its_own_nearest, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_identity_gives_the_identity_to_the_bit, srTestNothingLeaked),
        cmocka_unit_test_teardown(turning_the_matrix_turns_the_rotation, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_matrix_that_is_not_finite_gives_the_identity, srTestNothingLeaked),
        cmocka_unit_test_teardown(turns_agree_with_finite_differences, srTestNothingLeaked),
        cmocka_unit_test_teardown(turns_have_the_twists_for_eigenvectors, srTestNothingLeaked),
        cmocka_unit_test_teardown(turns_in_float_are_those_in_double, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_hessian_of_arap_vanishes_on_rotations, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_turn_is_cut_where_it_would_be_infinite, srTestNothingLeaked),
        cmocka_unit_test_teardown(turns_of_any_finite_matrix_are_finite, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_turn_too_large_for_its_type_is_cut_and_counted, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_and_every_lane_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_result_may_take_the_place_of_the_matrix, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/rotation", tests, NULL, NULL);
}
