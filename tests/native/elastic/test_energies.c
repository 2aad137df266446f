// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energies of one cell against finite differences of themselves, Hooke's law, and turned spaces.

#include "support/support.h"

#include "elastic/material.h"
#include "math/rotation.h"
#include "math/simd.h"

#include <math.h>

#define SR_WIDE 0
#define SR_DOUBLE 1
#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"
#include "elastic/energies.inl"

#define MU 3.0
#define LAMBDA 7.0

typedef enum Model {
    model_neoHookean,
    model_stVenantKirchhoff,
    model_corotated,
    model_count
} Model;

static double evaluate(Model model, double swell, const Mat* F, Mat* P) {
    Mat R;
    switch (model) {
    case model_neoHookean:
        return neoHookean(F, MU, LAMBDA, swell, P);
    case model_stVenantKirchhoff:
        return stVenantKirchhoff(F, MU, LAMBDA, swell, P);
    default:
        nearestRotations(F, 1, &R);
        return corotated(F, &R, MU, LAMBDA, swell, P);
    }
}

static Mat change(Model model, double swell, const Mat* F, const Mat* dF) {
    Mat R, dR;
    Turn T;
    switch (model) {
    case model_neoHookean:
        return neoHookeanChange(F, MU, LAMBDA, swell, dF);
    case model_stVenantKirchhoff:
        return stVenantKirchhoffChange(F, MU, LAMBDA, swell, dF);
    default:
        nearestTurns(F, 1, &R, &T);
        dR = turnNearest(&R, &T, dF);
        return corotatedChange(&R, dotMats(&R, F) - 3.0 - swell, MU, LAMBDA, dF, &dR);
    }
}

static Mat randomMat(uint64_t* seed, double size) {
    double m[9];
    for (int k = 0; k < 9; ++k) {
        m[k] = size * (srTestRandom(seed) - 0.5);
    }
    return (Mat){{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
}

static Mat away(const Mat* F, double s, const Mat* dF) {
    return combine(1.0, F, s, dF);
}

// stretched, sheared and, now and then, inside out
static Mat randomShape(uint64_t* seed) {
    Mat I = identity(), A = randomMat(seed, 1.2);
    return combine(srTestRandom(seed) < 0.2 ? -1.0 : 1.0, &I, 1.0, &A);
}

static void stress_is_the_slope_of_energy(void** state) {
    (void)state;
    uint64_t seed = 21;
    for (int trial = 0; trial < 300; ++trial) {
        Model model = (Model)(trial % model_count);
        double swell = trial < 150 ? 0.0 : srTestRandom(&seed) - 0.5;
        Mat F = randomShape(&seed), dF = randomMat(&seed, 1.0), P, other;
        const double s = 1e-5;
        evaluate(model, swell, &F, &P);
        Mat before = away(&F, -s, &dF), after = away(&F, s, &dF);
        double slope =
            (evaluate(model, swell, &after, &other) - evaluate(model, swell, &before, &other)) / (2.0 * s);
        // 1e-16 of energies near ten, divided by s; s^2 times third derivatives
        assert_near(slope, dotMats(&P, &dF), srTestTolerance(3e-8));
    }
}

static void its_change_is_that_of_finite_differences(void** state) {
    (void)state;
    uint64_t seed = 22;
    double worst = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        Model model = (Model)(trial % model_count);
        double swell = trial < 150 ? 0.0 : srTestRandom(&seed) - 0.5;
        Mat F = randomShape(&seed), dF = randomMat(&seed, 1.0), P[2];
        Svd svd;
        decomposeMats(&F, 1, &svd);
        if (svd.s2 + svd.s3 < 0.1) {
            continue; // where the rotation jumps differences mean little
        }
        const double s = 1e-6;
        Mat before = away(&F, -s, &dF), after = away(&F, s, &dF);
        evaluate(model, swell, &before, &P[0]);
        evaluate(model, swell, &after, &P[1]);
        Mat difference = combine(0.5 / s, &P[1], -0.5 / s, &P[0]), dP = change(model, swell, &F, &dF);
        Mat off = combine(1.0, &dP, -1.0, &difference);
        worst = fmax(worst, sqrt(dotMats(&off, &off) / dotMats(&difference, &difference)));
    }
    assert_near(worst, 0.0, srTestTolerance(1e-7));
}

static void at_rest_all_are_hooke_s(void** state) {
    (void)state;
    uint64_t seed = 23;
    for (int trial = 0; trial < 30; ++trial) {
        Model model = (Model)(trial % model_count);
        Mat I = identity(), P, dF = randomMat(&seed, 1.0);
        assert_near(evaluate(model, 0.0, &I, &P), 0.0, 1e-15);
        assert_near(dotMats(&P, &P), 0.0, 1e-28);
        Mat transposed = mulTransposedLeft(&dF, &I);
        Mat sheared = combine(MU, &dF, MU, &transposed);
        Mat hooke = combine(1.0, &sheared, LAMBDA * (dF.a.x + dF.b.y + dF.c.z), &I);
        Mat dP = change(model, 0.0, &I, &dF), off = combine(1.0, &dP, -1.0, &hooke);
        assert_near(sqrt(dotMats(&off, &off)), 0.0, srTestTolerance(1e-13));
    }
}

static void a_turn_of_space_changes_no_energy_and_turns_stress(void** state) {
    (void)state;
    uint64_t seed = 24;
    for (int trial = 0; trial < 60; ++trial) {
        Model model = (Model)(trial % model_count);
        Mat F = randomShape(&seed), A = randomMat(&seed, 1.0), R, P, turnedP;
        nearestRotations(&A, 1, &R);
        Mat turned = mulLeft(&R, &F);
        double energy = evaluate(model, 0.7, &F, &P);
        assert_near(evaluate(model, 0.7, &turned, &turnedP), energy, srTestTolerance(1e-12 * (1.0 + energy)));
        Mat expected = mulLeft(&R, &P), off = combine(1.0, &turnedP, -1.0, &expected);
        assert_near(sqrt(dotMats(&off, &off) / (1.0 + dotMats(&P, &P))), 0.0, srTestTolerance(1e-11));
    }
}

static void a_pressure_swells_by_itself_in_all_directions(void** state) {
    (void)state;
    const srElasticModel models[] = {sr_elasticNeoHookean, sr_elasticStVenantKirchhoff, sr_elasticCorotated};
    const double pressures[] = {-0.9, -0.2, 0.0, 1e-6, 0.5, 10.0, 1000.0};
    for (int m = 0; m < model_count; ++m) {
        assert_true(srFindSwell(models[m], 0.0) == 0.0);
        for (int k = 0; k < SR_ARRAY_COUNT(pressures); ++k) {
            double swell = srFindSwell(models[m], pressures[k]), longer = cbrt(1.0 + pressures[k]);
            Mat I = identity(), F = combine(longer, &I, 0.0, &I), P, unpressed;
            evaluate((Model)m, swell, &F, &P);
            // without the term of lambda it is all shear
            const double lambda = 0.0;
            switch (m) {
            case model_neoHookean:
                neoHookean(&F, MU, lambda, 0.0, &unpressed);
                break;
            case model_stVenantKirchhoff:
                stVenantKirchhoff(&F, MU, lambda, 0.0, &unpressed);
                break;
            default:
                corotated(&F, &I, MU, lambda, 0.0, &unpressed);
            }
            Mat off = combine(1.0, &P, -1.0, &unpressed);
            assert_near(sqrt(dotMats(&off, &off)), 0.0,
                        srTestTolerance(1e-12 * longer * (1.0 + fabs(swell))));
        }
    }
    assert_true(srFindSwell(sr_elasticArap, 0.5) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_the_slope_of_energy),
        cmocka_unit_test(its_change_is_that_of_finite_differences),
        cmocka_unit_test(at_rest_all_are_hooke_s),
        cmocka_unit_test(a_pressure_swells_by_itself_in_all_directions),
        cmocka_unit_test(a_turn_of_space_changes_no_energy_and_turns_stress),
    };
    return cmocka_run_group_tests_name("elastic/energies", tests, NULL, srTestNothingLeaked);
}
