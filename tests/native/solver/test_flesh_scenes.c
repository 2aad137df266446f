// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fast solver in the scenes by which its family was published, as matter: against full Newton on what
// cells store, the same floor and friction, in steps so much smaller that the judge's own do not count.

#include "solver/thesis_trial.h"
#include "support/support.h"
#include "support/thesis.h"

#include <math.h>

#define JELLO_NODES 250
#define DIFFERENCE 1e-5

static double* numberOf(srVec3* x, int k) {
    return k % 3 == 0 ? &x[k / 3].x : k % 3 == 1 ? &x[k / 3].y : &x[k / 3].z;
}

// The judge's cell by itself: its gradient by differences of its energy, its Hessian by those of its gradient
static void the_judges_cell_agrees_with_its_differences(void** state) {
    (void)state;
    static const int32_t CORNERS[4] = {0, 1, 2, 3};
    const srThesisMatter matter = {
        .lameMu = 3.0, .lameLambda = 7.0, .fibre = {0.6, 0.0, 0.8}, .fibreFactor = 0.4};
    uint64_t seed = 5;
    for (int trial = 0; trial < 20; ++trial) {
        srVec3 rest[4] = {{0.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {0.2, 1.1, 0.0}, {0.1, 0.3, 0.9}};
        srVec3 x[4], g[4], forces[4], more[4], less[4];
        srMat3 blocks[4][4];
        double c = cos(0.3 * trial), s = sin(0.3 * trial);
        for (int k = 0; k < 4; ++k) {
            srVec3 r = rest[k];
            x[k] = (srVec3){c * r.x - s * r.y, s * r.x + c * r.y, r.z};
        }
        for (int k = 0; k < 12; ++k) {
            *numberOf(x, k) += 0.3 * (srTestRandom(&seed) - 0.5);
        }
        double volume = srThesisFindGradients(rest, CORNERS, g);
        srThesisEvaluateCell(&matter, g, volume, x, forces, blocks);
        for (int k = 0; k < 12; ++k) {
            double kept = *numberOf(x, k);
            *numberOf(x, k) = kept + DIFFERENCE;
            double above = srThesisEvaluateCell(&matter, g, volume, x, more, NULL);
            *numberOf(x, k) = kept - DIFFERENCE;
            double below = srThesisEvaluateCell(&matter, g, volume, x, less, NULL);
            *numberOf(x, k) = kept;
            assert_near(*numberOf(forces, k), 0.5 * (above - below) / DIFFERENCE, 1e-8);
            for (int m = 0; m < 12; ++m) {
                double slope = 0.5 * (*numberOf(more, m) - *numberOf(less, m)) / DIFFERENCE;
                assert_near(blocks[m / 3][k / 3].m[m % 3][k % 3], slope, 1e-7);
            }
        }
    }
}

static double errorOf(Trial* trial, int32_t substeps, int32_t sweeps, srFleshIntegrator integrator) {
    srThesisQuality quality = {.substeps = substeps, .sweeps = sweeps, .integrator = integrator};
    srThesisPlayMatter(&trial->scene, &quality, trial->path);
    return distanceFromJudge(trial);
}

static double errorAsArtistsGet(Trial* trial) {
    srThesisQuality quality = {
        .substeps = 10, .sweeps = 1, .handleCount = SR_USUAL_HANDLES, .isAsArtistsGet = true};
    srThesisPlayMatter(&trial->scene, &quality, trial->path);
    return distanceFromJudge(trial);
}

// Of the second order, but for what sweeps leave
static void flesh_converges_to_the_exact_beam(void** state) {
    (void)state;
    Trial trial = {0};
    assert_true(srThesisCreateBeam(&trial.scene));
    assert_true(srThesisMakeMatter(&trial.scene));
    judgeScene(&trial, 12, 1e-3);
    double errors[4];
    for (int k = 0; k < 4; ++k) {
        errors[k] = errorOf(&trial, 2 << k, 96, sr_fleshBdf2);
    }
    print_message("beam, 2 to 16 substeps: %.5f %.5f %.5f %.5f\n", errors[0], errors[1], errors[2],
                  errors[3]);
    for (int k = 0; k < 3; ++k) {
        assert_true(errors[k + 1] < 0.6 * errors[k]);
    }
    assert_near(errors[3], 0.0, 2e-4);
    double usual = errorAsArtistsGet(&trial);
    print_message("beam as artists get it: %.4f\n", usual);
    assert_near(usual, 0.0, 0.005);
    destroyTrial(&trial);
}

static void flesh_falls_and_slides_as_the_exact_jello(void** state) {
    (void)state;
    Trial trial = {0};
    assert_true(srThesisCreateJello(JELLO_NODES, &trial.scene));
    assert_true(srThesisMakeMatter(&trial.scene));
    judgeScene(&trial, 16, 1e-3);
    double errors[3];
    for (int k = 0; k < 3; ++k) {
        errors[k] = errorOf(&trial, 4 << k, 24, sr_fleshTheta);
    }
    print_message("jello, 4, 8, 16 substeps: %.5f %.5f %.5f\n", errors[0], errors[1], errors[2]);
    for (int k = 0; k < 2; ++k) {
        assert_true(errors[k + 1] < 0.8 * errors[k]);
    }
    assert_near(errors[2], 0.0, 2.5e-3);
    double usual = errorAsArtistsGet(&trial);
    print_message("jello as artists get it: %.4f\n", usual);
    assert_near(usual, 0.0, 0.04);
    destroyTrial(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judges_cell_agrees_with_its_differences),
        cmocka_unit_test(flesh_converges_to_the_exact_beam),
        cmocka_unit_test(flesh_falls_and_slides_as_the_exact_jello),
    };
    return cmocka_run_group_tests_name("solver/flesh_scenes", tests, NULL, srTestNothingLeaked);
}
