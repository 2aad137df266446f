// SPDX-License-Identifier: GPL-3.0-or-later
//
// The complementary solver by its laws: what the rig could do physics does not, rest stays rest to the bit, a
// minimum is a minimum of an energy that is summed up here, dials mean what they say, broken input stays
// finite, workers and paths do not change a bit.

#include "bone_bar.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "math/rotation.h"
#include "math/simd_path.h"
#include "math/span.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;

static void a_hold_of_one_everywhere_is_inert_under_a_linear_rig(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_all);
    for (int kind = 0; kind < 4; ++kind) {
        srComplementaryDials dials = fleshDials();
        dials.integrator = kind % 2 == 0 ? sr_integratorBdf2 : sr_integratorBackwardEuler;
        dials.substeps = kind < 2 ? 1 : 3;
        tuneFlesh(&f, &dials);
        resetFlesh(&f);
        for (int frame = 1; frame <= 48; ++frame) {
            shakeFlesh(&f, 2 * frame, 0.5, 0.8);
            stepFlesh(&f);
            // rounding of forces of 1e4 newtons over stiffnesses of 1e3
            assert_near(longestOffset(&f), 0.0, srTestTolerance(1e-10));
        }
    }
    freeFlesh(&f);
}

// The same of a space that was fitted to the motion: so what holds it must not be one everywhere either.
static void a_fitted_space_held_everywhere_is_inert_under_its_motion(void** state) {
    (void)state;
    Flesh f;
    srSpan span;
    shapeFlesh(&f, BAR, SPACING, 2, hold_all);
    double* masses = calloc((size_t)f.cage.nodeCount, sizeof(double));
    srCage_LumpVolumes(&f.cage, masses);
    assert_success(srCreateSpan(masses, f.cage.nodeCount, &span));
    srSpan_FixAffine(&span, f.cage.nodes);
    for (int frame = 0; frame <= 48; ++frame) {
        shakeFlesh(&f, 2 * frame, 0.5, 0.8);
        placeFlesh(&f, f.places[0]);
        srSpan_AddPlaces(&span, f.places[0], 0.0, 1e30);
    }
    srSpan_Finish(&span, 1e-12);
    f.shape.vectors = span.vectors;
    f.shape.vectorCount = span.vectorCount;
    prepareFlesh(&f);
    resetFlesh(&f);
    for (int frame = 1; frame <= 48; ++frame) {
        shakeFlesh(&f, 2 * frame, 0.5, 0.8);
        stepFlesh(&f);
        assert_near(longestOffset(&f), 0.0, srTestTolerance(1e-9)); // what the fit leaves, and rounding
    }
    assert_true(f.rest.rows.rowCount >= 6 && f.rest.rows.rowCount <= 8);
    free(masses);
    srDestroySpan(&span);
    freeFlesh(&f);
}

static void offsets_stay_orthogonal_to_the_rig_for_ten_thousand_frames(void** state) {
    (void)state;
    Flesh f;
    const int32_t small[3] = {2, 4, 2};
    makeFlesh(&f, small, 0.25, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.tolerance = 1e-2;
    tuneFlesh(&f, &dials);
    double longest = 0.0, worst = 0.0, own = 0.0;
    for (int frame = 1; frame <= 10000; ++frame) {
        shakeFlesh(&f, frame, 0.1, 0.7);
        stepFlesh(&f);
        longest = fmax(longest, longestOffset(&f));
        worst = fmax(worst, findOverlap(&f));
        own = fmax(own, f.stats.orthogonality);
        assert_int_equal(f.stats.missedCount, 0);
    }
    print_message("overlap %.1e, as reported %.1e, longest %.3f\n", worst, own, longest);
    assert_true(worst < 1e-8 && own < 1e-8);
    assert_true(longest > 0.005 && longest < 1.0);
    freeFlesh(&f);
}

static void rest_and_every_held_pose_are_at_rest_to_the_bit(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (int pose = 0; pose < 5; ++pose) {
        resetFlesh(&f);
        srMat34 maps[5] = {srIdentity34(),
                           shift(300.0, -20.0, 7.0),
                           bendAbout((srVec3){0.2, 0.6, 0.2}, 1.5),
                           twistAbout((srVec3){0.2, 0.6, 0.2}, 3.05),
                           {{{-1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0.1}}}};
        f.maps[0] = pose == 1 || pose == 4 ? maps[pose] : srIdentity34();
        f.maps[1] = maps[pose];
        for (int k = 0; k < 3; ++k) {
            placeFlesh(&f, f.places[k]);
        }
        for (int frame = 0; frame < 5; ++frame) {
            stepFlesh(&f);
            assert_true(isZeroBits(&f));
            assert_true(f.stats.residual == 0.0);
        }
    }
    freeFlesh(&f);
}

static void a_held_pose_without_pose_correction_comes_to_rest(void** state) {
    (void)state;
    const double angles[] = {0.8, 1.5, 175.0 * PI / 180.0};
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (int a = 0; a < 3; ++a) {
        resetFlesh(&f);
        double longest = 0.0;
        for (int frame = 1; frame <= 400; ++frame) {
            f.maps[1] = twistAbout((srVec3){0.2, 0.6, 0.2}, angles[a] * fmin(1.0, frame / 12.0));
            stepFlesh(&f);
            longest = fmax(longest, longestOffset(&f));
        }
        assert_true(longest > 1e-3); // it moved on the way
        assert_true(longestOffset(&f) < 1e-9);
    }
    freeFlesh(&f);
}

static void with_pose_correction_a_held_twist_settles_elsewhere(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.poseCorrection = 1.0;
    tuneFlesh(&f, &dials);
    double last = 0.0;
    for (int frame = 1; frame <= 300; ++frame) {
        f.maps[1] = twistAbout((srVec3){0.2, 0.6, 0.2}, 1.5 * fmin(1.0, frame / 12.0));
        stepFlesh(&f);
        last = frame == 299 ? longestOffset(&f) : last;
    }
    assert_true(longestOffset(&f) > 1e-3);
    assert_near(longestOffset(&f), last, 1e-6); // and is still there
    freeFlesh(&f);
}

// What a frame of backward Euler minimises, summed up plainly: 1/2 |u - target|^2 in the metric of the
// diagonal, and mu V |F - Q S|^2 of each cell against its posed stretch.
static double energyAt(const Flesh* f, const double* diagonal, const srVec3* target, const srVec3* u) {
    const srComplementaryDials* dials = &f->tuning.dials;
    double energy = 0.0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        srVec3 off = srSub(u[i], target[i]);
        energy += 0.5 * diagonal[i] * srDot(off, off);
    }
    for (int32_t cell = 0; cell < f->cage.cellCount; ++cell) {
        const int32_t* c = f->cage.cells[cell];
        srMat3 D[2]; // of the pose, of the flesh
        for (int k = 0; k < 3; ++k) {
            srVec3 edge = srSub(f->places[0][c[k + 1]], f->places[0][c[0]]);
            srVec3 moved = srAdd(edge, srSub(u[c[k + 1]], u[c[0]]));
            D[0].m[0][k] = edge.x, D[0].m[1][k] = edge.y, D[0].m[2][k] = edge.z;
            D[1].m[0][k] = moved.x, D[1].m[1][k] = moved.y, D[1].m[2][k] = moved.z;
        }
        srMat3 P = srMul3(&D[0], &f->rest.inverses[cell]), F = srMul3(&D[1], &f->rest.inverses[cell]);
        srMat3 R = srFindRotation(&P), Rt = srTranspose3(&R), S = srMul3(&Rt, &P);
        for (int k = 0; k < 9; ++k) {
            S.m[k / 3][k % 3] = (1.0 - dials->poseCorrection) * S.m[k / 3][k % 3] +
                                (k % 4 == 0 ? dials->poseCorrection : 0.0);
        }
        srMat3 G = srMul3(&F, &S), Q = srFindRotation(&G), QS = srMul3(&Q, &S);
        for (int k = 0; k < 9; ++k) {
            double off = F.m[k / 3][k % 3] - QS.m[k / 3][k % 3];
            energy += dials->material.shearModulus * f->rest.volumes[cell] * off * off;
        }
    }
    return energy;
}

// u less what the rows could see of it
static void projectOffsets(const Flesh* f, srVec3* u) {
    size_t n = (size_t)f->cage.nodeCount;
    double* rows = calloc(4 * n, sizeof(double));
    double* scratch = calloc(4 * (size_t)srRigRows_GetScratchRowCount(&f->rest.rows), sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        rows[4 * i] = u[i].x, rows[4 * i + 1] = u[i].y, rows[4 * i + 2] = u[i].z;
    }
    srRigRows_Project(&f->rest.rows, rows, scratch);
    for (size_t i = 0; i < n; ++i) {
        u[i] = (srVec3){rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]};
    }
    free(rows);
    free(scratch);
}

static void a_frame_ends_where_no_direction_lowers_the_energy(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    size_t n = (size_t)f.cage.nodeCount;
    srVec3* target = calloc(n, sizeof(srVec3));
    srVec3* moved[2] = {calloc(n, sizeof(srVec3)), calloc(n, sizeof(srVec3))};
    double* diagonal = calloc(n, sizeof(double));
    for (int c = 0; c <= 2; ++c) {
        srComplementaryDials dials = fleshDials();
        dials.integrator = sr_integratorBackwardEuler;
        dials.poseCorrection = 0.5 * c;
        dials.tolerance = 1e-9;
        tuneFlesh(&f, &dials);
        resetFlesh(&f);
        for (int frame = 1; frame <= 6; ++frame) {
            shakeFlesh(&f, frame, 0.15, 0.8);
            for (size_t i = 0; i < n; ++i) {
                moved[0][i] = f.state.offsets[i];
                moved[1][i] = f.state.velocities[i];
            }
            stepFlesh(&f);
            assert_true(f.stats.residual <= 1e-9);
        }
        double h = FRAME_SECONDS, omega = 2.0 * PI * dials.frequency;
        for (size_t i = 0; i < n; ++i) {
            double m = 1000.0 * f.rest.nodeVolumes[i];
            diagonal[i] = m * (1.0 / (h * h) + dials.dampingRate / h + omega * omega);
            srVec3 coasting = srMulAdd(moved[0][i], h, srSub(moved[1][i], f.jump[i]));
            target[i] = srMulAdd(srScale(m / (h * h) / diagonal[i], coasting),
                                 m * dials.dampingRate / h / diagonal[i], moved[0][i]);
        }
        uint64_t seed = 11;
        double worst = 0.0, scale = energyAt(&f, diagonal, target, f.state.offsets);
        for (int trial = 0; trial < 12; ++trial) {
            srVec3* way = moved[0];
            for (size_t i = 0; i < n; ++i) {
                way[i] =
                    (srVec3){srTestRandom(&seed) - 0.5, srTestRandom(&seed) - 0.5, srTestRandom(&seed) - 0.5};
            }
            projectOffsets(&f, way);
            double at[2];
            const double length = 1e-5;
            for (int side = 0; side < 2; ++side) {
                for (size_t i = 0; i < n; ++i) {
                    moved[1][i] = srMulAdd(f.state.offsets[i], side == 0 ? -length : length, way[i]);
                }
                at[side] = energyAt(&f, diagonal, target, moved[1]);
            }
            assert_true(0.5 * (at[0] + at[1]) > scale); // a minimum, not just flat
            worst = fmax(worst, fabs(at[1] - at[0]) / (at[0] + at[1] - 2.0 * scale) * length);
        }
        // how far along the way the minimum is: rounding of energies near 1 J divided by their curvature
        print_message("pose correction %.1f: minimum within %.1e\n", dials.poseCorrection, worst);
        assert_true(worst < srTestTolerance(1e-7));
    }
    free(target);
    free(moved[0]);
    free(moved[1]);
    free(diagonal);
    freeFlesh(&f);
}

static void turning_the_world_turns_the_offsets(void** state) {
    (void)state;
    Flesh f[2];
    srMat34 world = bendAbout((srVec3){0.0, 0.0, 0.0}, 1.1);
    srMat34 tilt = twistAbout((srVec3){0.0, 0.0, 0.0}, 0.7);
    world = srMul34(&world, &tilt);
    for (int k = 0; k < 2; ++k) {
        makeFlesh(&f[k], BAR, SPACING, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.tolerance = 1e-9;
        dials.poseCorrection = 0.3;
        tuneFlesh(&f[k], &dials);
        for (int frame = 0; frame <= 12; ++frame) {
            shakeFlesh(&f[k], frame, 0.2, 0.8);
            for (int b = 0; b < 2 && k == 1; ++b) {
                f[k].maps[b] = srMul34(&world, &f[k].maps[b]);
            }
            if (frame == 0) {
                placeFlesh(&f[k], f[k].places[0]);
                placeFlesh(&f[k], f[k].places[1]);
            } else {
                stepFlesh(&f[k]);
            }
        }
    }
    double worst = 0.0;
    for (int32_t i = 0; i < f[0].cage.nodeCount; ++i) {
        srVec3 turned = srMulVector34(&world, f[0].state.offsets[i]);
        worst = fmax(worst, srDistance(turned, f[1].state.offsets[i]));
    }
    assert_true(longestOffset(&f[0]) > 0.01);
    // both are solved to 1e-9 of their forces, frame after frame
    assert_near(worst, 0.0, srTestTolerance(1e-7));
    freeFlesh(&f[0]);
    freeFlesh(&f[1]);
}

static void flesh_that_was_shaken_comes_to_rest_exactly(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (int frame = 1; frame <= 24; ++frame) {
        shakeFlesh(&f, frame, 0.2, 0.8);
        stepFlesh(&f);
    }
    assert_true(longestOffset(&f) > 0.01);
    for (int frame = 0; frame < 600; ++frame) {
        stepFlesh(&f);
    }
    assert_true(isZeroBits(&f));
    freeFlesh(&f);
}

static void gravity_acts_relative_to_the_modelled_shape(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.gravity = (srVec3){0.0, -9.81, 0.0};
    dials.restGravity = dials.gravity;
    tuneFlesh(&f, &dials);
    for (int frame = 0; frame < 10; ++frame) {
        stepFlesh(&f);
    }
    assert_near(longestOffset(&f), 0.0, 1e-12);

    // turned over it sags by twice its weight, against plain gravity's once
    double lengths[2];
    for (int plain = 0; plain < 2; ++plain) {
        dials.restGravity = plain ? (srVec3){0.0, 0.0, 0.0} : dials.gravity;
        tuneFlesh(&f, &dials);
        resetFlesh(&f);
        f.maps[0] = f.maps[1] = bendAbout((srVec3){0.2, 0.6, 0.2}, PI);
        for (int k = 0; k < 3; ++k) {
            placeFlesh(&f, f.places[k]);
        }
        for (int frame = 0; frame < 200; ++frame) {
            stepFlesh(&f);
        }
        lengths[plain] = longestOffset(&f);
    }

    // lying down it sags sideways by its new weight, and rises by its old one
    dials.restGravity = dials.gravity;
    tuneFlesh(&f, &dials);
    resetFlesh(&f);
    f.maps[0] = f.maps[1] = bendAbout((srVec3){0.2, 0.6, 0.2}, 0.5 * PI);
    for (int k = 0; k < 3; ++k) {
        placeFlesh(&f, f.places[k]);
    }
    for (int frame = 0; frame < 200; ++frame) {
        stepFlesh(&f);
    }
    srVec3 mean = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        mean = srMulAdd(mean, f.rest.nodeVolumes[i], f.state.offsets[i]);
    }
    assert_true(mean.y < 0.0 && mean.x < 0.0); // the turn takes the old weight to +x, and it is taken away
    assert_true(mean.x / mean.y > 0.2 && mean.x / mean.y < 5.0);
    assert_true(lengths[1] > 1e-3);
    assert_near(lengths[0] / lengths[1], 2.0, 0.1); // nearly linear
    freeFlesh(&f);
}

static void a_scaled_or_mirrored_scene_gives_the_scaled_or_mirrored_answer(void** state) {
    (void)state;
    Flesh f[3];
    for (int k = 0; k < 3; ++k) {
        makeFlesh(&f[k], BAR, SPACING, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.tolerance = 1e-9;
        dials.poseCorrection = 0.5;
        dials.scale = k == 1 ? 3.0 : 1.0;
        dials.isMirrored = k == 2;
        dials.material = srMakeMaterial(k == 1 ? 9.0 * 2e4 : 2e4, 0.4, 1000.0); // equal times
        dials.largestOffset *= 3.0;
        tuneFlesh(&f[k], &dials);
        srMat34 world = {{{k == 1   ? 3.0
                           : k == 2 ? -1.0
                                    : 1.0,
                           0, 0, 0},
                          {0, k == 1 ? 3.0 : 1.0, 0, 0},
                          {0, 0, k == 1 ? 3.0 : 1.0, 0}}};
        for (int frame = 0; frame <= 12; ++frame) {
            shakeFlesh(&f[k], frame, 0.2, 0.8);
            for (int b = 0; b < 2; ++b) {
                f[k].maps[b] = srMul34(&world, &f[k].maps[b]);
            }
            if (frame == 0) {
                placeFlesh(&f[k], f[k].places[0]);
                placeFlesh(&f[k], f[k].places[1]);
            } else {
                stepFlesh(&f[k]);
            }
        }
    }
    assert_true(longestOffset(&f[0]) > 0.01);
    for (int32_t i = 0; i < f[0].cage.nodeCount; ++i) {
        srVec3 u = f[0].state.offsets[i];
        assert_near(srDistance(srScale(3.0, u), f[1].state.offsets[i]), 0.0, 3e-7);
        assert_near(srDistance((srVec3){-u.x, u.y, u.z}, f[2].state.offsets[i]), 0.0, 1e-7);
    }
    for (int k = 0; k < 3; ++k) {
        freeFlesh(&f[k]);
    }
}

static void tortureFrame(Flesh* f, uint64_t* seed) {
    double kind = srTestRandom(seed), size = pow(10.0, 24.0 * srTestRandom(seed) - 6.0);
    int32_t bone = srTestRandom(seed) < 0.5 ? 0 : f->boneCount - 1;
    srMat34* map = &f->maps[bone];
    if (kind < 0.2) {
        *map = shift(size, -size, 0.3 * size);
    } else if (kind < 0.35) {
        *map = (srMat34){{{size, 0, 0, 0}, {0, size, 0, 0}, {0, 0, size, 0}}};
    } else if (kind < 0.45) {
        *map = (srMat34){{{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}}};
    } else if (kind < 0.55) {
        *map = (srMat34){{{0}}};
    } else if (kind < 0.6) {
        map->m[1][2] = (double)NAN;
    } else if (kind < 0.65) {
        map->m[0][3] = -(double)INFINITY;
    } else if (kind < 0.8) {
        for (int k = 0; k < 12; ++k) {
            map->m[k / 4][k % 4] = srTestRandom(seed) - 0.5;
        }
    } else {
        *map = srIdentity34();
    }
}

static void broken_rigs_give_finite_offsets_and_sane_ones_bring_rest(void** state) {
    (void)state;
    uint64_t seed = 47;
    Flesh f;
    const int32_t small[3] = {2, 3, 2};
    makeFlesh(&f, small, 0.3, 2, hold_axis);
    int32_t skipped = 0, limited = 0, most = 0;
    const srElasticModel models[7] = {sr_elasticArap,
                                      sr_elasticArap,
                                      sr_elasticArap,
                                      sr_elasticArap,
                                      sr_elasticCorotated,
                                      sr_elasticNeoHookean,
                                      sr_elasticStVenantKirchhoff};
    for (int round = 0; round < 7; ++round) {
        srComplementaryDials dials = fleshDials();
        dials.model = models[round];
        dials.material = srMakeMaterial(round % 2 == 0 ? 2e4 : 1e8, round < 4 ? 0.3 : 0.48, 1000.0);
        dials.poseCorrection = round < 2 ? 0.0 : 1.0;
        dials.substeps = 1 + round % 4;
        dials.tolerance = 1e-3;
        dials.newtonLimit = 20;
        dials.innerLimit = 200;
        dials.largestOffset = 2.0;
        tuneFlesh(&f, &dials);
        for (int frame = 0; frame < (round < 4 ? 2500 : 1000); ++frame) {
            tortureFrame(&f, &seed);
            stepFlesh(&f);
            skipped += f.stats.isSkipped;
            limited += f.stats.isLimited;
            most = f.stats.innerCount > most ? f.stats.innerCount : most;
            assert_true(longestOffset(&f) <= 2.0001);
        }
        f.maps[0] = f.maps[1] = srIdentity34();
        for (int frame = 0; frame < 600; ++frame) {
            stepFlesh(&f);
        }
        assert_true(isZeroBits(&f));
    }
    assert_true(skipped > 100 && limited > 100);
    assert_true(most <= 4 * 200);
    freeFlesh(&f);
}

static const int32_t LARGE[3] = {5, 40, 5};

static uint64_t hashState(const Flesh* f) {
    uint64_t hash = SR_HASH_SEED;
    for (int k = 0; k < 5; ++k) {
        hash = srHashBytes(hash, f->arrays[k], sizeof(srVec3) * (size_t)f->cage.nodeCount);
    }
    return hash;
}

// flesh that has everything: posed stretches and volumes that are kept
static void makeLarge(Flesh* f) {
    makeFlesh(f, LARGE, 0.1, 3, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(2e4, 0.45, 1000.0);
    dials.poseCorrection = 0.3;
    dials.tolerance = 1e-3;
    tuneFlesh(f, &dials);
}

static uint64_t runWithWorkers(Flesh* f, int32_t workerCount, int32_t* outBusyCount) {
    srParallel_SetWorkerCount(workerCount);
    srParallel_Stop();
    resetFlesh(f);
    for (int frame = 1; frame <= 3; ++frame) {
        shakeFlesh(f, frame, 0.1, 0.5);
        stepFlesh(f);
    }
    uint64_t counts[64];
    *outBusyCount = 0;
    for (int32_t w = srParallel_GetBlockCounts(counts, 64) - 1; w >= 0; --w) {
        *outBusyCount += counts[w] > 0;
    }
    assert_true(longestOffset(f) > 1e-3);
    return hashState(f);
}

// Panels that a large factor rounds to eight bits change neither what a minimum is nor what the rig takes
// away.
static void a_large_bodys_narrow_panels_solve_to_any_tolerance(void** state) {
    (void)state;
    static const int32_t HUGE_BAR[3] = {10, 30, 10};
    Flesh f;
    makeFlesh(&f, HUGE_BAR, 0.1, 4, hold_axis);
    srComplementaryDials dials = fleshDials();
    dials.tolerance = 1e-9;
    dials.newtonLimit = 60;
    dials.innerLimit = 2000;
    tuneFlesh(&f, &dials);
    assert_non_null(f.tuning.factor.narrow.words);
    resetFlesh(&f);
    for (int frame = 1; frame <= 4; ++frame) {
        shakeFlesh(&f, frame, 0.1, 0.5);
        stepFlesh(&f);
        assert_int_equal(f.stats.missedCount, 0);
        assert_true(f.stats.residual <= 1e-9 && f.stats.orthogonality < 1e-10);
        assert_true(f.stats.innerCount < 60 * f.tuning.dials.substeps);
    }
    assert_true(longestOffset(&f) > 1e-3);
    freeFlesh(&f);
}

#define MOST_TRIES 100
#define MOST_PRODUCTS 93 // a frame; 87 with the rig in the preconditioner, 98 without

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    int32_t before = srParallel_GetWorkerCount(), busyCount;
    Flesh f;
    makeLarge(&f);
    assert_true(f.rest.layout.chunkCount >= 8);
    uint64_t alone = runWithWorkers(&f, 1, &busyCount);
    assert_int_equal(busyCount, 1);
    for (int32_t workerCount = 2; workerCount <= 8; ++workerCount) {
        // a busy machine may leave all the work to one; then it shows nothing
        for (int try = 0; try < MOST_TRIES; ++try) {
            assert_true(runWithWorkers(&f, workerCount, &busyCount) == alone);
            if (busyCount >= 2) {
                break;
            }
        }
        assert_true(busyCount >= 2);
    }
    srParallel_SetWorkerCount(before);
    freeFlesh(&f);
}

static void every_path_gives_the_same_bits(void** state) {
    (void)state;
    srSimdPath usual = srGetSimdPath();
    uint64_t hashes[SR_SIMD_PATH_COUNT] = {0};
    Flesh f;
    makeLarge(&f);
    for (int path = 0; path < SR_SIMD_PATH_COUNT; ++path) {
        if (srForceSimdPath((srSimdPath)path)) {
            resetFlesh(&f);
            for (int frame = 1; frame <= 3; ++frame) {
                shakeFlesh(&f, frame, 0.1, 0.5);
                stepFlesh(&f);
            }
            hashes[path] = hashState(&f);
            assert_true(hashes[path] == hashes[sr_simdScalar]);
        }
    }
    (void)srForceSimdPath(usual);
    freeFlesh(&f);
}

static void a_step_allocates_nothing(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    stepFlesh(&f);
    int64_t before = srAlloc_GetCount();
    for (int frame = 2; frame < 6; ++frame) {
        shakeFlesh(&f, frame, 0.1, 0.8);
        stepFlesh(&f);
    }
    assert_int_equal(srAlloc_GetCount(), before);
    freeFlesh(&f);
}

static void all_materials_rest_move_and_come_back(void** state) {
    (void)state;
    const srElasticModel models[] = {sr_elasticCorotated, sr_elasticNeoHookean, sr_elasticStVenantKirchhoff};
    for (int m = 0; m < 3; ++m) {
        Flesh f;
        makeFlesh(&f, BAR, SPACING, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.model = models[m];
        assert_result(srComplementaryTuning_Set(&f.tuning, &f.rest, &dials), sr_errorInvalidValue);
        dials.poseCorrection = 1.0;
        tuneFlesh(&f, &dials);
        stepFlesh(&f);
        assert_true(isZeroBits(&f));
        double longest = 0.0;
        for (int frame = 1; frame <= 24; ++frame) {
            shakeFlesh(&f, frame, 0.05, 0.2);
            stepFlesh(&f);
            longest = fmax(longest, longestOffset(&f));
            assert_int_equal(f.stats.missedCount, 0);
            assert_true(f.stats.orthogonality < 1e-12);
        }
        assert_true(longest > 1e-3 && longest < 0.5);
        f.maps[0] = f.maps[1] = srIdentity34();
        for (int frame = 0; frame < 600; ++frame) {
            stepFlesh(&f);
        }
        assert_true(isZeroBits(&f));
        freeFlesh(&f);
    }
}

// A clamped column of height L under its weight sinks at the top by rho g L^2 / (2 M), M = lambda + 2 mu
// where it cannot become wider: exactly so for linear cells of equal length, but for half a cell of lumped
// mass.
static void a_column_under_its_weight_sinks_as_theory_says(void** state) {
    (void)state;
    const srElasticModel models[] = {sr_elasticCorotated, sr_elasticNeoHookean, sr_elasticStVenantKirchhoff};
    const int32_t counts[3] = {1, 10, 1};
    for (int m = 0; m < 3; ++m) {
        Flesh f;
        shapeFlesh(&f, counts, 0.1, 1, hold_none);
        for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
            f.holds[i] = f.cage.nodes[i].y < 0.05 ? 1.0 : 0.0;
        }
        assert_success(srCreateComplementaryRest(&f.shape, &f.rest));
        assert_success(srCreateComplementaryTuning(&f.rest, &f.tuning));
        srComplementaryDials dials = fleshDials();
        const double nu = 0.0; // no width to be gained or lost
        dials.material = srMakeMaterial(1e7, nu, 1000.0);
        dials.model = models[m];
        dials.poseCorrection = 1.0;
        dials.frequency = 0.0;
        dials.gravity = (srVec3){0.0, -9.81, 0.0};
        dials.tolerance = 1e-8;
        tuneFlesh(&f, &dials);
        for (int frame = 0; frame < 100; ++frame) {
            stepFlesh(&f);
        }
        double sunk = 0.0;
        for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
            sunk -= f.cage.nodes[i].y > 0.95 ? 0.25 * f.state.offsets[i].y : 0.0;
        }
        double theory = 1000.0 * 9.81 * 1.0 / (2.0 * 1e7);
        print_message("material %d: %.4f of theory\n", m, sunk / theory);
        // six cells a cube share its weight unevenly among its corners
        assert_near(sunk / theory, 1.0, 0.02);
        freeFlesh(&f);
    }
}

static void free_flesh_stays_where_it_is_whatever_the_rig_does(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_none);
    for (int kind = 0; kind < 4; ++kind) {
        srComplementaryDials dials = fleshDials();
        dials.material = srMakeMaterial(0.0, 0.0, 1000.0);
        dials.frequency = dials.dampingRate = 0.0;
        dials.integrator = kind % 2 == 0 ? sr_integratorBdf2 : sr_integratorBackwardEuler;
        dials.substeps = kind < 2 ? 1 : 3;
        dials.tolerance = 1e-12;
        tuneFlesh(&f, &dials);
        resetFlesh(&f);
        for (int frame = 1; frame <= 24; ++frame) {
            shakeFlesh(&f, frame, 0.3, 0.8);
            stepFlesh(&f);
        }
        double travelled = 0.0;
        for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
            srVec3 x = srAdd(f.places[0][i], f.state.offsets[i]);
            travelled = fmax(travelled, srDistance(f.places[0][i], f.cage.nodes[i]));
            assert_near(srDistance(x, f.cage.nodes[i]), 0.0, srTestTolerance(1e-9)); // 24 solves to 1e-12
        }
        assert_true(travelled > 0.1);
    }
    freeFlesh(&f);
}

static void the_preconditioner_knows_the_rig(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, LARGE, 0.1, 3, hold_axis);
    int32_t products = 0;
    for (int frame = 1; frame <= 12; ++frame) {
        shakeFlesh(&f, frame, 0.1, 0.5);
        stepFlesh(&f);
        products += f.stats.innerCount;
        assert_int_equal(f.stats.missedCount, 0);
    }
    print_message("%.1f products a frame to 1e-6\n", products / 12.0);
    assert_true(products < 12 * MOST_PRODUCTS);
    freeFlesh(&f);
}

static void external_forces_push(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    size_t n = (size_t)f.cage.nodeCount;
    srVec3* forces = calloc(n, sizeof(srVec3));
    for (size_t i = 0; i < n; ++i) {
        forces[i].x = f.holds[i] > 0.0 ? 0.0 : 2.0;
    }
    double sum = 0.0;
    for (int frame = 0; frame < 100; ++frame) {
        srComplementaryMotion motion = {f.places[0], f.places[0], f.jump, forces, NULL, 0.0};
        srComplementary_StepFrame(&f.rest, &f.tuning, &motion, &f.state, &f.stats);
    }
    for (size_t i = 0; i < n; ++i) {
        sum += f.state.offsets[i].x * (f.holds[i] > 0.0 ? 0.0 : 1.0);
    }
    assert_true(sum > 1e-3);
    free(forces);
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hold_of_one_everywhere_is_inert_under_a_linear_rig),
        cmocka_unit_test(a_fitted_space_held_everywhere_is_inert_under_its_motion),
        cmocka_unit_test(offsets_stay_orthogonal_to_the_rig_for_ten_thousand_frames),
        cmocka_unit_test(rest_and_every_held_pose_are_at_rest_to_the_bit),
        cmocka_unit_test(a_held_pose_without_pose_correction_comes_to_rest),
        cmocka_unit_test(with_pose_correction_a_held_twist_settles_elsewhere),
        cmocka_unit_test(a_frame_ends_where_no_direction_lowers_the_energy),
        cmocka_unit_test(turning_the_world_turns_the_offsets),
        cmocka_unit_test(flesh_that_was_shaken_comes_to_rest_exactly),
        cmocka_unit_test(gravity_acts_relative_to_the_modelled_shape),
        cmocka_unit_test(a_scaled_or_mirrored_scene_gives_the_scaled_or_mirrored_answer),
        cmocka_unit_test(broken_rigs_give_finite_offsets_and_sane_ones_bring_rest),
        cmocka_unit_test(a_large_bodys_narrow_panels_solve_to_any_tolerance),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(every_path_gives_the_same_bits),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(all_materials_rest_move_and_come_back),
        cmocka_unit_test(a_column_under_its_weight_sinks_as_theory_says),
        cmocka_unit_test(free_flesh_stays_where_it_is_whatever_the_rig_does),
        cmocka_unit_test(the_preconditioner_knows_the_rig),
        cmocka_unit_test(external_forces_push),
    };
    return cmocka_run_group_tests_name("solver/complementary", tests, NULL, srTestNothingLeaked);
}
