// SPDX-License-Identifier: GPL-3.0-or-later
//
// Volumes in the complementary solver: Poisson's ratio means what it says in every material, a half keeps a
// volume and does not lock, pressure inflates.

#include "bone_bar.h"

#include "fem.h"

#include "core/alloc.h"

static const srElasticModel MODELS[] = {sr_elasticArap, sr_elasticCorotated, sr_elasticNeoHookean,
                                        sr_elasticStVenantKirchhoff};

// a bar along y, its nodes below half a cube held, each by a bone of its own
static void clampBar(Flesh* f, const int32_t counts[3], double spacing) {
    int32_t count = 0;
    *f = (Flesh){0};
    assert_success(srTestCreateBarCage(counts, spacing, &f->cage));
    allocateFlesh(f, (counts[0] + 1) * (counts[2] + 1));
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        f->starts[i + 1] = i + 1;
        f->weights[i] = 1.0;
        if (f->cage.nodes[i].y < 0.5 * spacing) {
            f->holds[i] = 1.0;
            f->bones[i] = count++;
        }
    }
    assert_int_equal(count, f->boneCount);
    prepareFlesh(f);
    resetFlesh(f);
}

static srComplementaryDials stillDials(double poisson) {
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(1e5, poisson, 1000.0);
    dials.integrator = sr_integratorBackwardEuler;
    dials.poseCorrection = 1.0;
    dials.frequency = 0.0;
    dials.dampingRate = 4.0;
    dials.tolerance = 1e-8;
    return dials;
}

// forces on the far end, in newtons all together
static srVec3* pullEnd(const Flesh* f, double length, srVec3 whole) {
    srVec3* forces = calloc((size_t)f->cage.nodeCount, sizeof(srVec3));
    int32_t count = 0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        count += f->cage.nodes[i].y > length - 1e-9;
    }
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        if (f->cage.nodes[i].y > length - 1e-9) {
            forces[i] = srScale(1.0 / count, whole);
        }
    }
    return forces;
}

static void settleFlesh(Flesh* f, const srVec3* forces, int frames) {
    for (int frame = 0; frame < frames; ++frame) {
        stepFleshPulled(f, forces);
    }
    // it stands
    double speed = 0.0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        speed = fmax(speed, srLength(f->state.velocities[i]));
    }
    assert_true(speed * FRAME_SECONDS < 1e-4 * longestOffset(f));
}

// strain along and across the bar between two heights, by what its nodes moved
static void measureStrains(const Flesh* f, double lower, double upper, double* outAlong, double* outAcross) {
    double sums[2][3] = {{0.0}}, squares[2] = {0.0, 0.0};
    srVec3 middle = {0.0, 0.0, 0.0};
    int32_t count = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
            srVec3 X = f->cage.nodes[i], u = f->state.offsets[i];
            if (X.y < lower - 1e-9 || X.y > upper + 1e-9) {
                continue;
            }
            if (pass == 0) {
                middle = srAdd(middle, X);
                count += 1;
                continue;
            }
            srVec3 x = srMulAdd(X, -1.0 / count, middle);
            sums[0][0] += x.y * u.y;
            squares[0] += x.y * x.y;
            sums[1][0] += x.x * u.x + x.z * u.z;
            squares[1] += x.x * x.x + x.z * x.z;
        }
    }
    *outAlong = sums[0][0] / squares[0];
    *outAcross = sums[1][0] / squares[1];
}

// Pulled along itself a bar grows thinner by Poisson's ratio of what it grows longer: that is what the ratio
// means. Patches of flesh of one strain have it all, so that no mesh error is left but near the clamp.
static void every_material_grows_thinner_by_poissons_ratio(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 10, 2};
    const double ratios[] = {0.0, 0.3, 0.45, 0.48};
    Flesh f;
    clampBar(&f, counts, 0.1);
    srVec3* forces = pullEnd(&f, 1.0, (srVec3){0.0, 1e5 * 0.04 * 0.01, 0.0});
    for (int m = 0; m < SR_ARRAY_COUNT(MODELS); ++m) {
        for (int k = 0; k < SR_ARRAY_COUNT(ratios); ++k) {
            srComplementaryDials dials = stillDials(ratios[k]);
            dials.model = MODELS[m];
            tuneFlesh(&f, &dials);
            resetFlesh(&f);
            settleFlesh(&f, forces, 80);
            double along, across;
            measureStrains(&f, 0.4, 0.7, &along, &across);
            print_message("material %d, Poisson's ratio %.2f: %.4f, stretched %.4f\n", m, ratios[k],
                          -across / along, along);
            // a hundredth of strain, and laws that differ from Hooke's in the second order
            assert_near(along, 0.01, 6e-4);
            assert_near(-across / along, ratios[k], 0.02);
        }
    }
    free(forces);
    freeFlesh(&f);
}

static void a_ratio_of_a_half_keeps_the_volume(void** state) {
    (void)state;
    const int32_t counts[3] = {3, 4, 3};
    Flesh f;
    clampBar(&f, counts, 0.1);
    double rest = volumeOfFlesh(&f, NULL), changes[2];
    srVec3* forces = pullEnd(&f, 0.4, (srVec3){0.0, -1e5 * 0.09 * 0.15, 0.0});
    for (int m = 0; m < SR_ARRAY_COUNT(MODELS); ++m) {
        for (int k = 0; k < 2; ++k) {
            srComplementaryDials dials = stillDials(0.5 * k);
            dials.model = MODELS[m];
            tuneFlesh(&f, &dials);
            resetFlesh(&f);
            settleFlesh(&f, forces, 240);
            changes[k] = volumeOfFlesh(&f, NULL) / rest - 1.0;
        }
        print_message("material %d, squashed: the volume changes by %.4f, at 0.5 by %.4f\n", m, changes[0],
                      changes[1]);
        assert_true(changes[0] < -0.1);
        assert_true(fabs(changes[1]) < 0.01);
    }
    free(forces);
    freeFlesh(&f);
}

// bent a little, against mixed elements on the same cage, which keep every volume and do not lock
static void a_ratio_of_a_half_does_not_lock(void** state) {
    (void)state;
    for (int32_t side = 2; side <= 3; ++side) {
        const int32_t counts[3] = {side, 4 * side, side};
        Flesh f;
        clampBar(&f, counts, 0.25 / side);
        size_t n = (size_t)f.cage.nodeCount;
        srVec3* forces = pullEnd(&f, 1.0, (srVec3){1.0, 0.0, 0.0});
        bool* isHeld = calloc(n, sizeof(bool));
        double *x = calloc(3 * n, sizeof(double)), judged = 0.0, own = 0.0;
        for (size_t i = 0; i < n; ++i) {
            isHeld[i] = f.holds[i] > 0.0;
            x[3 * i] = forces[i].x;
        }
        femSolveMixed(&f.cage, isHeld, 1e5 / 3.0, x);
        for (int m = 0; m < SR_ARRAY_COUNT(MODELS); ++m) {
            srComplementaryDials dials = stillDials(0.5);
            dials.model = MODELS[m];
            tuneFlesh(&f, &dials);
            resetFlesh(&f);
            settleFlesh(&f, forces, 150);
            judged = own = 0.0;
            for (size_t i = 0; i < n; ++i) {
                judged += forces[i].x * x[3 * i];
                own += forces[i].x * f.state.offsets[i].x;
            }
            print_message("%d cubes thick, material %d: %.3f times as stiff as mixed elements\n", side, m,
                          judged / own);
            assert_true(judged / own < 1.1 && judged / own > 0.8);
        }
        free(forces);
        free(isHeld);
        free(x);
        freeFlesh(&f);
    }
}

static void a_region_has_a_ratio_of_its_own(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 12, 2};
    Flesh f;
    clampBar(&f, counts, 0.1);
    float* poissons = calloc((size_t)f.cage.cellCount, sizeof(float));
    for (int32_t cell = 0; cell < f.cage.cellCount; ++cell) {
        double height = 0.0;
        for (int c = 0; c < 4; ++c) {
            height += 0.25 * f.cage.nodes[f.cage.cells[cell][c]].y;
        }
        poissons[cell] = height > 0.6 ? 0.45f : 0.0f;
    }
    srVec3* forces = pullEnd(&f, 1.2, (srVec3){0.0, 1e5 * 0.04 * 0.01, 0.0});
    for (int m = 0; m < SR_ARRAY_COUNT(MODELS); ++m) {
        srComplementaryDials dials = stillDials(0.2);
        dials.model = MODELS[m];
        dials.cellPoissons = poissons;
        tuneFlesh(&f, &dials);
        resetFlesh(&f);
        settleFlesh(&f, forces, 80);
        double along[2], across[2];
        measureStrains(&f, 0.2, 0.4, &along[0], &across[0]);
        measureStrains(&f, 0.8, 1.1, &along[1], &across[1]);
        print_message("material %d: %.3f below, %.3f above\n", m, -across[0] / along[0],
                      -across[1] / along[1]);
        assert_near(-across[0] / along[0], 0.0, 0.03);
        assert_near(-across[1] / along[1], 0.45, 0.03);
    }
    free(poissons);
    free(forces);
    freeFlesh(&f);
}

// without a new tuning, whatever the pose correction, and back to rest exactly
static void pressure_inflates_and_lets_go(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 4, 2};
    for (int m = 0; m < SR_ARRAY_COUNT(MODELS) + 2; ++m) {
        Flesh f;
        makeFlesh(&f, counts, 0.25, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.material = srMakeMaterial(2e4, 0.48, 1000.0);
        dials.model = m < 2 ? sr_elasticArap : MODELS[m - 2];
        dials.poseCorrection = m < 2 ? 0.5 * m : 1.0;
        tuneFlesh(&f, &dials);
        double rest = volumeOfFlesh(&f, NULL), last = 0.0, all[3];
        const double pressures[3] = {-0.2, 0.2, 0.5};
        for (int k = 0; k < 3; ++k) {
            f.pressure = pressures[k];
            for (int frame = 0; frame < 60; ++frame) {
                stepFlesh(&f);
                assert_true(f.stats.orthogonality < 1e-8);
            }
            all[k] = volumeOfFlesh(&f, NULL) / rest - 1.0;
        }
        print_message("%d: inflated by -0.2, 0.2, 0.5: %.3f %.3f %.3f\n", m, all[0], all[1], all[2]);
        last = all[2];
        assert_true(all[0] < -0.05 && all[1] > 0.05 && last > 1.5 * all[1]);
        f.pressure = 0.0;
        for (int frame = 0; frame < 600; ++frame) {
            stepFlesh(&f);
        }
        assert_true(isZeroBits(&f));
        freeFlesh(&f);
    }
}

// A pressure acts by what resists a change of volume, in one material as in another.
static void pressure_is_worth_the_same_in_every_material(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 4, 2};
    const double ratios[] = {0.0, 0.1, 0.3, 0.42, 0.45, 0.46, 0.48, 0.5}, pressures[] = {-0.2, 0.2, 0.5};
    Flesh f;
    makeFlesh(&f, counts, 0.25, 2, hold_none);
    double rest = volumeOfFlesh(&f, NULL);
    for (int k = 0; k < SR_ARRAY_COUNT(ratios); ++k) {
        double arap[3];
        for (int m = 0; m < SR_ARRAY_COUNT(MODELS); ++m) {
            srComplementaryDials dials = fleshDials();
            dials.material = srMakeMaterial(2e4, ratios[k], 1000.0);
            dials.model = MODELS[m];
            dials.poseCorrection = 1.0;
            tuneFlesh(&f, &dials);
            resetFlesh(&f);
            for (int p = 0; p < 3; ++p) {
                f.pressure = pressures[p];
                for (int frame = 0; frame < 60; ++frame) {
                    stepFlesh(&f);
                }
                double part = (volumeOfFlesh(&f, NULL) / rest - 1.0) / pressures[p];
                arap[p] = m == 0 ? part : arap[p];
                print_message("ratio %.2f, material %d: %.3f of %.1f\n", ratios[k], m, part, pressures[p]);
                assert_true(part >= 0.8 * arap[p] && part <= 1.25 * arap[p] + 1e-6);
            }
        }
    }
    freeFlesh(&f);
}

static void pressure_that_is_no_number_is_broken_motion(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 3, 2};
    const double broken[] = {(double)NAN, -1.0, -(double)INFINITY, 1e9};
    Flesh f;
    makeFlesh(&f, counts, 0.25, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(2e4, 0.48, 1000.0);
    tuneFlesh(&f, &dials);
    for (int k = 0; k < 4; ++k) {
        f.pressure = broken[k];
        stepFlesh(&f);
        assert_true(f.stats.isSkipped);
        assert_true(isZeroBits(&f));
    }
    f.pressure = 1e3; // more than any flesh bears: within the limit, and a number
    for (int frame = 0; frame < 30; ++frame) {
        stepFlesh(&f);
        assert_true(longestOffset(&f) <= dials.largestOffset * 1.0001);
    }
    freeFlesh(&f);
}

static void a_held_pose_is_kept_by_flesh_of_constant_volume(void** state) {
    (void)state;
    const int32_t counts[3] = {2, 6, 2};
    Flesh f;
    makeFlesh(&f, counts, 0.2, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(2e4, 0.5, 1000.0);
    tuneFlesh(&f, &dials);
    f.maps[1] = twistAbout((srVec3){0.2, 0.6, 0.2}, 3.05);
    for (int k = 0; k < 3; ++k) {
        placeFlesh(&f, f.places[k]);
    }
    for (int frame = 0; frame < 5; ++frame) {
        stepFlesh(&f);
        assert_true(isZeroBits(&f));
    }
    for (int frame = 1; frame <= 500; ++frame) {
        f.maps[1] = twistAbout((srVec3){0.2, 0.6, 0.2}, 3.05 - 1.0 * fmin(1.0, frame / 12.0));
        stepFlesh(&f);
    }
    assert_true(longestOffset(&f) < 1e-9);
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_material_grows_thinner_by_poissons_ratio),
        cmocka_unit_test(a_ratio_of_a_half_keeps_the_volume),
        cmocka_unit_test(a_ratio_of_a_half_does_not_lock),
        cmocka_unit_test(a_region_has_a_ratio_of_its_own),
        cmocka_unit_test(pressure_inflates_and_lets_go),
        cmocka_unit_test(pressure_is_worth_the_same_in_every_material),
        cmocka_unit_test(pressure_that_is_no_number_is_broken_motion),
        cmocka_unit_test(a_held_pose_is_kept_by_flesh_of_constant_volume),
    };
    return cmocka_run_group_tests_name("solver/complementary_volume", tests, NULL, srTestNothingLeaked);
}
