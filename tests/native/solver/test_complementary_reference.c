// SPDX-License-Identifier: GPL-3.0-or-later
//
// The complementary solver against a slow one that was written without it (reference.h), and both against
// what neither computed: swings and sags that follow from formulas.

#include "bone_bar.h"
#include "reference.h"

typedef enum Motion {
    motion_shake,
    motion_bend,  // the last bone, by a right angle
    motion_twist, // likewise, by 120 degrees
} Motion;

typedef struct Scene {
    const char* name;
    Motion motion;
    HoldKind hold;
    double young;
    srIntegrator integrator;
    int32_t substeps;
    double poseCorrection;
    double frequency;
    bool isPulled; // by gravity, relative and plain, and by forces
} Scene;

static const int32_t BAR[3] = {2, 4, 2};
#define SPACING 0.3
#define FRAMES 8

static void moveBones(Flesh* f, Motion motion, int frame) {
    const srVec3 middle = {0.3, 0.6, 0.3};
    double share = fmin(1.0, frame / 6.0);
    if (motion == motion_shake) {
        shakeFlesh(f, frame, 0.15, 0.6);
    } else {
        f->maps[1] = motion == motion_bend ? bendAbout(middle, 0.5 * PI * share)
                                           : twistAbout(middle, 2.0 / 3.0 * PI * share);
    }
}

// what a test of convergence asks for: the tolerance is beyond reach on purpose
static srComplementaryDials dialsOf(const Scene* scene) {
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(scene->young / 1.3, 0.0, 1000.0);
    dials.integrator = scene->integrator;
    dials.substeps = scene->substeps;
    dials.poseCorrection = scene->poseCorrection;
    dials.frequency = scene->frequency;
    dials.tolerance = 1e-11;
    dials.newtonLimit = 200;
    dials.innerLimit = 20000;
    if (scene->isPulled) {
        dials.gravity = (srVec3){1.0, -9.0, 2.0};
        dials.restGravity = (srVec3){0.5, -6.0, 0.0};
    }
    return dials;
}

// the farthest that a node of both is apart
static double findDistance(const Flesh* f, const srReference* r) {
    double worst = 0.0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        const double* u = r->offsets + 3 * (size_t)i;
        double away = srDistance(f->state.offsets[i], (srVec3){u[0], u[1], u[2]});
        worst = away <= worst ? worst : away; // a NaN stays
    }
    return worst;
}

// the frame that the maps lead to, by both
static void stepBoth(Flesh* f, srReference* r, const srVec3* forces) {
    stepFleshPulled(f, forces);
    srReference_Step(r, f->places[1], f->places[0], forces);
}

static srReferenceModel modelOf(srElasticModel model) {
    switch (model) {
    case sr_elasticCorotated:
        return sr_referenceCorotated;
    case sr_elasticNeoHookean:
        return sr_referenceNeoHookean;
    case sr_elasticStVenantKirchhoff:
        return sr_referenceStVenantKirchhoff;
    default:
        return sr_referenceArap;
    }
}

// the scene on flesh that is prepared; frees it
static void playPatched(Flesh* flesh, const Scene* scene, const srComplementaryDials* dials,
                        double pressure) {
    Flesh f = *flesh;
    srReference r;
    tuneFlesh(&f, dials);
    srCreateReference(&f.shape, &r);
    int32_t* patches = findPatches(&f);
    r.patches = f.tuning.shapes.keepsVolumes ? patches : NULL;
    srReference_Tune(&r, dials, modelOf(dials->model));
    r.pressure = f.pressure = pressure;
    assert_int_equal(r.rowCount, f.rest.rows.rowCount);
    srVec3* forces = calloc((size_t)f.cage.nodeCount, sizeof(srVec3));
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        forces[i] = scene->isPulled ? (srVec3){0.1 * i, 3.0, -0.2 * i} : (srVec3){0.0, 0.0, 0.0};
    }
    double worst = 0.0, longest = 0.0, residual = 0.0, theirs = 0.0;
    for (int frame = 1; frame <= FRAMES; ++frame) {
        moveBones(&f, scene->motion, frame);
        stepBoth(&f, &r, forces);
        worst = fmax(worst, findDistance(&f, &r) / longestOffset(&f));
        longest = fmax(longest, longestOffset(&f));
        residual = fmax(residual, f.stats.residual);
        theirs = fmax(theirs, r.residual);
        assert_true(f.stats.orthogonality < 1e-8);
    }
    assert_true(theirs < 1e-7); // of forces that may have been small from the start
    print_message("%-34s %2d rows, longest %.3f, apart %.1e, residuals %.1e and %.1e, Newton steps %d\n",
                  scene->name, r.rowCount, longest, worst, residual, theirs, r.stepCount);
    assert_true(longest > 5e-4);
    assert_near(worst, 0.0, srTestTolerance(1e-6));
    free(forces);
    free(patches);
    srDestroyReference(&r);
    freeFlesh(&f);
}

static void playScene(Flesh* flesh, const Scene* scene, const srComplementaryDials* dials) {
    playPatched(flesh, scene, dials, 0.0);
}

static void the_solver_agrees_with_the_reference_at_every_frame(void** state) {
    (void)state;
    const srIntegrator bdf2 = sr_integratorBdf2, euler = sr_integratorBackwardEuler;
    const Scene scenes[] = {
        {"shaken", motion_shake, hold_axis, 2e4, bdf2, 1, 0.0, 0.5, false},
        {"shaken, backward Euler", motion_shake, hold_axis, 2e4, euler, 1, 0.0, 0.5, false},
        {"shaken, 4 substeps", motion_shake, hold_axis, 2e4, bdf2, 4, 0.0, 0.5, false},
        {"shaken, Euler, 4 substeps", motion_shake, hold_axis, 2e4, euler, 4, 0.5, 2.0, false},
        {"shaken, stiff", motion_shake, hold_axis, 2e6, bdf2, 1, 0.0, 0.0, false},
        {"shaken, very stiff", motion_shake, hold_axis, 2e8, bdf2, 1, 0.0, 0.5, false},
        {"shaken, soft", motion_shake, hold_axis, 2e3, bdf2, 4, 0.0, 2.0, false},
        {"shaken, free", motion_shake, hold_none, 2e4, bdf2, 1, 0.5, 2.0, false},
        {"shaken, pulled", motion_shake, hold_axis, 2e4, bdf2, 1, 0.5, 0.5, true},
        {"bent", motion_bend, hold_axis, 2e4, bdf2, 1, 0.0, 0.5, false},
        {"bent, corrected by half", motion_bend, hold_axis, 2e4, bdf2, 4, 0.5, 0.5, false},
        {"bent, corrected, Euler", motion_bend, hold_axis, 2e5, euler, 1, 1.0, 0.5, true},
        {"bent, free, corrected", motion_bend, hold_none, 2e4, bdf2, 1, 1.0, 2.0, false},
        {"twisted", motion_twist, hold_axis, 2e4, bdf2, 1, 0.0, 0.5, false},
        {"twisted, corrected by half", motion_twist, hold_axis, 2e4, euler, 4, 0.5, 0.5, false},
        {"twisted, corrected", motion_twist, hold_axis, 2e5, bdf2, 1, 1.0, 0.5, false},
        {"twisted, held all over, corrected", motion_twist, hold_all, 2e4, bdf2, 1, 1.0, 0.5, true},
    };
    for (int s = 0; s < SR_ARRAY_COUNT(scenes); ++s) {
        Flesh f;
        makeFlesh(&f, BAR, SPACING, 2, scenes[s].hold);
        srComplementaryDials dials = dialsOf(&scenes[s]);
        playScene(&f, &scenes[s], &dials);
    }
}

// materials that resist a change of volume cell by cell, bent ones inflated; what patches keep beside that is
// another test's
static void they_agree_in_every_material(void** state) {
    (void)state;
    const srElasticModel models[] = {sr_elasticCorotated, sr_elasticNeoHookean, sr_elasticStVenantKirchhoff};
    const Scene scenes[][3] = {
        {
            {"corotated, shaken", motion_shake, hold_axis, 2e4, sr_integratorBdf2, 2, 1.0, 0.5, false},
            {"corotated, bent", motion_bend, hold_axis, 2e4, sr_integratorBdf2, 1, 1.0, 0.5, true},
            {"corotated, twisted", motion_twist, hold_axis, 2e5, sr_integratorBackwardEuler, 1, 1.0, 0.5,
             false},
        },
        {
            {"neo-Hookean, shaken", motion_shake, hold_axis, 2e4, sr_integratorBdf2, 2, 1.0, 0.5, false},
            {"neo-Hookean, bent", motion_bend, hold_axis, 2e4, sr_integratorBdf2, 1, 1.0, 0.5, true},
            {"neo-Hookean, twisted", motion_twist, hold_axis, 2e5, sr_integratorBackwardEuler, 1, 1.0, 0.5,
             false},
        },
        {
            {"St. Venant, shaken", motion_shake, hold_axis, 2e4, sr_integratorBdf2, 2, 1.0, 0.5, false},
            {"St. Venant, bent", motion_bend, hold_axis, 2e4, sr_integratorBdf2, 1, 1.0, 0.5, true},
            {"St. Venant, twisted", motion_twist, hold_axis, 2e5, sr_integratorBackwardEuler, 1, 1.0, 0.5,
             false},
        },
    };
    for (int m = 0; m < 3; ++m) {
        for (int s = 0; s < 3; ++s) {
            Flesh f;
            makeFlesh(&f, BAR, SPACING, 2, scenes[m][s].hold);
            srComplementaryDials dials = dialsOf(&scenes[m][s]);
            dials.model = models[m];
            dials.material = srMakeMaterial(scenes[m][s].young, 0.25, 1000.0);
            playPatched(&f, &scenes[m][s], &dials, s == 1 ? 0.2 : 0.0);
        }
    }
}

static void they_agree_where_rows_depend_on_others(void** state) {
    (void)state;
    const Scene alike = {"bones alike", motion_bend, hold_axis, 2e4, sr_integratorBdf2, 2, 1.0, 0.5, false};
    Flesh f;
    shapeFlesh(&f, BAR, SPACING, 2, alike.hold);
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        f.starts[i + 1] = 2 * (i + 1);
        f.bones[2 * i] = 0, f.bones[2 * i + 1] = 1;
        f.weights[2 * i] = f.weights[2 * i + 1] = 0.5;
    }
    prepareFlesh(&f);
    srComplementaryDials dials = dialsOf(&alike);
    playScene(&f, &alike, &dials);

    const Scene wide = {
        "three bones, held in a square", motion_shake, hold_axis, 2e4, sr_integratorBdf2, 1, 0.2, 0.5, false};
    const int32_t counts[3] = {3, 4, 3};
    makeFlesh(&f, counts, SPACING, 3, wide.hold);
    // along the axis there are six functions of five heights
    assert_int_equal(f.rest.rows.rowCount, 11);
    dials = dialsOf(&wide);
    playScene(&f, &wide, &dials);
}

static void they_agree_where_the_hold_is_graded(void** state) {
    (void)state;
    const Scene scene = {"graded hold", motion_bend, hold_none, 2e4, sr_integratorBdf2, 2, 0.5, 0.5, true};
    uint64_t seed = 8;
    Flesh f;
    shapeFlesh(&f, BAR, SPACING, 2, scene.hold);
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        f.holds[i] = i % 3 == 0 ? 0.0 : srTestRandom(&seed);
    }
    prepareFlesh(&f);
    assert_int_equal(f.rest.rows.rowCount, 8);
    srComplementaryDials dials = dialsOf(&scene);
    playScene(&f, &scene, &dials);
}

// the cells of a patch are the library's choice; what they store is not
static void they_agree_where_volumes_are_kept(void** state) {
    (void)state;
    const Scene scenes[] = {
        {"volume kept", motion_shake, hold_axis, 2e4, sr_integratorBdf2, 1, 0.0, 0.5, false},
        {"volume kept, painted", motion_twist, hold_axis, 2e4, sr_integratorBackwardEuler, 2, 0.5, 0.5, true},
        {"volume kept, inflated", motion_bend, hold_axis, 2e4, sr_integratorBdf2, 1, 1.0, 0.5, true},
    };
    for (int s = 0; s < SR_ARRAY_COUNT(scenes); ++s) {
        Flesh f;
        makeFlesh(&f, BAR, SPACING, 2, scenes[s].hold);
        srComplementaryDials dials = dialsOf(&scenes[s]);
        float* poissons = calloc((size_t)f.cage.cellCount, sizeof(float));
        for (int32_t cell = 0; cell < f.cage.cellCount; ++cell) {
            poissons[cell] = 0.3f + 0.18f * (float)(cell % 7) / 6.0f;
        }
        dials.material = srMakeMaterial(2e4, 0.47, 1000.0);
        dials.cellPoissons = s == 1 ? poissons : NULL;
        playPatched(&f, &scenes[s], &dials, s == 2 ? 0.2 : 0.0);
        free(poissons);
    }
}

static void they_agree_where_stiffness_is_painted(void** state) {
    (void)state;
    const Scene scene = {"painted", motion_twist, hold_axis, 2e4, sr_integratorBdf2, 2, 0.3, 1.0, true};
    uint64_t seed = 3;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, scene.hold);
    float* stiffnesses = calloc((size_t)f.cage.cellCount, sizeof(float));
    float* pulls = calloc((size_t)f.cage.nodeCount, sizeof(float));
    for (int32_t cell = 0; cell < f.cage.cellCount; ++cell) {
        stiffnesses[cell] = (float)pow(10.0, 2.0 * srTestRandom(&seed) - 1.0);
    }
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        pulls[i] = (float)pow(10.0, 2.0 * srTestRandom(&seed) - 1.0);
    }
    srComplementaryDials dials = dialsOf(&scene);
    dials.cellStiffnesses = stiffnesses;
    dials.nodePulls = pulls;
    playScene(&f, &scene, &dials);
    free(stiffnesses);
    free(pulls);
}

// a random matrix near another
static void scramble(double A[3][3], double size, uint64_t* seed) {
    for (int k = 0; k < 9; ++k) {
        A[k / 3][k % 3] = (k % 4 == 0 ? 1.0 : 0.0) + size * (2.0 * srTestRandom(seed) - 1.0);
    }
}

static void the_references_forces_are_slopes_of_its_energies(void** state) {
    (void)state;
    uint64_t seed = 5;
    const double step = 1e-5;
    double worst[2] = {0.0, 0.0};
    for (int trial = 0; trial < 200; ++trial) {
        srReferenceMaterial material = {(srReferenceModel)(trial % 4), 1.0, 2.0 * srTestRandom(&seed),
                                        srTestRandom(&seed) - 0.5};
        double F[3][3], S[3][3], P[3][3], H[9][9];
        scramble(F, trial < 100 ? 0.3 : 0.8, &seed);
        scramble(S, 0.3, &seed);
        for (int k = 0; k < 9; ++k) {
            S[k / 3][k % 3] = S[k % 3][k / 3];
        }
        (void)srReferenceEnergy(&material, F, S, P, H);
        for (int k = 0; k < 9; ++k) {
            double energies[2], forces[2][3][3];
            for (int side = 0; side < 2; ++side) {
                double moved[3][3];
                memcpy(moved, F, sizeof(F));
                moved[k / 3][k % 3] += side == 0 ? -step : step;
                energies[side] = srReferenceEnergy(&material, moved, S, forces[side], NULL);
            }
            worst[0] = fmax(worst[0], fabs((energies[1] - energies[0]) / (2.0 * step) - P[k / 3][k % 3]));
            for (int j = 0; j < 9; ++j) {
                double slope = (forces[1][j / 3][j % 3] - forces[0][j / 3][j % 3]) / (2.0 * step);
                worst[1] = fmax(worst[1], fabs(slope - H[j][k]) / (1.0 + fabs(H[j][k])));
            }
        }
    }
    print_message("forces to %.1e, Hessians to %.1e\n", worst[0], worst[1]);
    // of differences over 1e-5: their third derivatives, large where a rotation is about to jump
    assert_near(worst[0], 0.0, 1e-7);
    assert_near(worst[1], 0.0, 1e-4);
}

// One cell, of which three corners are held: the fourth swings along y. With F = I + u g', g = (0, 1/L, 0),
// the energy is V mu (u/L)^2 at any amplitude, so that u'' = -(8 mu / (rho L^2) + (2 pi f)^2) u.
static void makeCell(Flesh* f) {
    const srVec3 nodes[4] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0.2, 0.8, 0.3}};
    const int32_t cells[1][4] = {{0, 1, 2, 3}};
    *f = (Flesh){0};
    assert_success(srCreateCage(nodes, 4, cells, 1, &f->cage));
    allocateFlesh(f, 1);
    for (int32_t i = 0; i < 4; ++i) {
        f->starts[i + 1] = i + 1;
        f->weights[i] = 1.0;
        f->holds[i] = f->cage.nodes[i].y > 0.5 ? 0.0 : 1.0;
    }
    prepareFlesh(f);
    resetFlesh(f);
}

// the state of both at t = 0 of u = cos(omega t) / 10, for the node that is free
static int32_t pluck(Flesh* f, srReference* r, double omega, double h) {
    int32_t i = 0;
    while (f->holds[i] > 0.0) {
        ++i;
    }
    const double now = 0.1, before = 0.1 * cos(omega * h), speed = 0.1 * omega * sin(omega * h);
    f->state.offsets[i].y = now;
    f->state.earlierOffsets[0][i].y = before;
    f->state.earlierOffsets[1][i].y = 0.1 * cos(2.0 * omega * h);
    f->state.earlierVelocities[i].y = speed;
    srReference_Begin(r, f->places[0]);
    size_t k = 3 * (size_t)i + 1;
    r->offsets[k] = now;
    r->places[0][k] += now;
    r->places[1][k] += before;
    r->before[k] = before;
    r->speeds[1][k] = speed;
    return i;
}

static void a_single_cell_swings_as_its_formula_says(void** state) {
    (void)state;
    const double L = 0.8, mu = 2e3, rho = 1000.0, pull = 0.7;
    double omega = sqrt(8.0 * mu / (rho * L * L) + 4.0 * PI * PI * pull * pull);
    Flesh f;
    srReference r;
    makeCell(&f);
    srCreateReference(&f.shape, &r);
    for (int integrator = 0; integrator < 2; ++integrator) {
        double last[2] = {0.0, 0.0};
        for (int32_t substeps = 4; substeps <= 64; substeps *= 2) {
            srComplementaryDials dials = fleshDials();
            dials.material = srMakeMaterial(2.0 * mu, 0.0, rho);
            dials.frequency = pull;
            dials.dampingRate = 0.0;
            dials.integrator = (srIntegrator)integrator;
            dials.substeps = substeps;
            dials.tolerance = 1e-12;
            tuneFlesh(&f, &dials);
            resetFlesh(&f);
            srReference_Tune(&r, &dials, sr_referenceArap);
            int32_t node = pluck(&f, &r, omega, FRAME_SECONDS / substeps);
            double errors[2] = {0.0, 0.0};
            for (int frame = 1; frame <= 24; ++frame) {
                stepBoth(&f, &r, NULL);
                double truth = 0.1 * cos(omega * frame * FRAME_SECONDS);
                errors[0] = fmax(errors[0], fabs(f.state.offsets[node].y - truth) / 0.1);
                errors[1] = fmax(errors[1], fabs(r.offsets[3 * node + 1] - truth) / 0.1);
            }
            print_message("%s, %2d substeps: error %.2e, reference %.2e, order %.2f and %.2f\n",
                          integrator == sr_integratorBdf2 ? "BDF2" : "backward Euler", substeps, errors[0],
                          errors[1], log2(last[0] / errors[0]), log2(last[1] / errors[1]));
            for (int k = 0; k < 2 && substeps == 64; ++k) {
                double order = log2(last[k] / errors[k]);
                assert_near(order, integrator == sr_integratorBdf2 ? 2.0 : 1.0, 0.15);
                assert_true(integrator != sr_integratorBdf2 || errors[k] < 1e-3);
            }
            memcpy(last, errors, sizeof(last));
        }
    }
    srDestroyReference(&r);
    freeFlesh(&f);
}

// a bar that hangs from y = 0 down to -length, every node of its end plane on a bone of its own
static void hangBar(Flesh* f, const int32_t counts[3], double spacing) {
    *f = (Flesh){0};
    assert_success(srTestCreateBarCage(counts, spacing, &f->cage));
    int32_t count = 0;
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
    assert_int_equal(f->rest.rows.rowCount, count);
}

// how far the free end went down, on average
static double endOf(const Flesh* f, const srReference* r, double length, double* outReference) {
    double sums[3] = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        if (f->cage.nodes[i].y > length - 1e-9) {
            sums[0] += f->state.offsets[i].y;
            sums[1] += r->offsets[3 * i + 1];
            sums[2] += 1.0;
        }
    }
    *outReference = sums[1] / sums[2];
    return sums[0] / sums[2];
}

// Without Poisson's ratio a bar is a row of springs: under its own weight it grows by rho g L^2 / (2 E), by a
// weight at its end by F L / (A E).
static void a_hanging_bar_grows_as_its_formula_says(void** state) {
    (void)state;
    const int32_t counts[3] = {1, 6, 1};
    const double spacing = 0.25, length = 1.5, young = 1e6, rho = 1000.0, g = 9.81;
    Flesh f;
    srReference r;
    hangBar(&f, counts, spacing);
    srCreateReference(&f.shape, &r);
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(young, 0.0, rho);
    dials.frequency = 0.0;
    dials.gravity = (srVec3){0.0, g, 0.0};
    dials.integrator = sr_integratorBackwardEuler;
    dials.tolerance = 1e-10;
    dials.poseCorrection = 1.0;
    tuneFlesh(&f, &dials);
    srReference_Tune(&r, &dials, sr_referenceArap);
    for (int frame = 0; frame < 60; ++frame) {
        stepFlesh(&f);
    }
    srReference_Settle(&r, f.places[0], NULL);
    double theirs, truth = rho * g * length * length / (2.0 * young);
    double ours = endOf(&f, &r, length, &theirs);
    print_message("hanging: %.6f and %.6f, formula %.6f\n", ours, theirs, truth);
    assert_near(ours / theirs, 1.0, 1e-6);
    // cells share their weight out a little unevenly over a plane of nodes
    assert_near(ours / truth, 1.0, 0.01);
    srDestroyReference(&r);
    freeFlesh(&f);
}

// Its slowest swing along itself, of a bar held at one end: sqrt(E / rho) / (4 L) Hz; lumping the masses of n
// cells in a row slows it by (pi / (4 n))^2 / 6.
static void a_bar_swings_along_itself_as_its_formula_says(void** state) {
    (void)state;
    const int32_t counts[3] = {1, 6, 1};
    const double length = 1.5, young = 36e3, rho = 1000.0;
    double truth = sqrt(young / rho) / (4.0 * length), lumped = pow(PI / 24.0, 2) / 6.0;
    Flesh f;
    srReference r;
    hangBar(&f, counts, 0.25);
    srCreateReference(&f.shape, &r);
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(young, 0.0, rho);
    dials.frequency = dials.dampingRate = 0.0;
    dials.substeps = 8;
    dials.tolerance = 1e-9;
    tuneFlesh(&f, &dials);
    srReference_Tune(&r, &dials, sr_referenceArap);
    srReference_Begin(&r, f.places[0]);
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        double u = 0.01 * sin(0.5 * PI * f.cage.nodes[i].y / length);
        f.state.offsets[i].y = f.state.earlierOffsets[0][i].y = f.state.earlierOffsets[1][i].y = u;
        r.offsets[3 * i + 1] = r.before[3 * i + 1] = u;
        r.places[0][3 * i + 1] += u;
        r.places[1][3 * i + 1] += u;
    }
    double lasts[2] = {0.01, 0.01}, firsts[2] = {0.0, 0.0}, ends[2] = {0.0, 0.0};
    int counted[2] = {0, 0};
    for (int frame = 1; frame <= 48; ++frame) {
        stepBoth(&f, &r, NULL);
        double now[2];
        now[0] = endOf(&f, &r, length, &now[1]);
        for (int k = 0; k < 2; ++k) {
            if ((now[k] < 0.0) != (lasts[k] < 0.0)) {
                double at = (frame - 1 + lasts[k] / (lasts[k] - now[k])) * FRAME_SECONDS;
                firsts[k] = counted[k] == 0 ? at : firsts[k];
                ends[k] = at;
                counted[k] += 1;
            }
            lasts[k] = now[k];
        }
    }
    for (int k = 0; k < 2; ++k) {
        assert_true(counted[k] >= 3);
        double hertz = 0.5 * (counted[k] - 1) / (ends[k] - firsts[k]);
        print_message("%s: %.4f Hz, formula %.4f\n", k == 0 ? "solver" : "reference", hertz,
                      truth * (1.0 - lumped));
        // the frames between which zero is passed, and the formula's own error
        assert_near(hertz / (truth * (1.0 - lumped)), 1.0, 0.01);
    }
    srDestroyReference(&r);
    freeFlesh(&f);
}

// the frame of a held pose at which nothing moves any more
static void a_held_pose_settles_where_the_reference_finds_no_force(void** state) {
    (void)state;
    const struct {
        Motion motion;
        double poseCorrection;
    } poses[] = {
        {motion_bend, 1.0}, {motion_twist, 1.0}, {motion_bend, 0.5}, {motion_bend, 0.0}, {motion_twist, 0.0}};
    for (int p = 0; p < SR_ARRAY_COUNT(poses); ++p) {
        Flesh f;
        srReference r;
        makeFlesh(&f, BAR, SPACING, 2, hold_axis);
        srComplementaryDials dials = fleshDials();
        dials.poseCorrection = poses[p].poseCorrection;
        dials.tolerance = 1e-9;
        tuneFlesh(&f, &dials);
        srCreateReference(&f.shape, &r);
        srReference_Tune(&r, &dials, sr_referenceArap);
        for (int frame = 1; frame <= 500; ++frame) {
            moveBones(&f, poses[p].motion, frame);
            stepFlesh(&f);
        }
        // from where the solver is, so that both speak of the same of several balances
        for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
            r.offsets[3 * i] = f.state.offsets[i].x + 1e-3 * (i % 3);
            r.offsets[3 * i + 1] = f.state.offsets[i].y - 1e-3 * (i % 2);
            r.offsets[3 * i + 2] = f.state.offsets[i].z;
        }
        srReference_Settle(&r, f.places[0], NULL);
        double longest = longestOffset(&f), difference = findDistance(&f, &r);
        print_message("%s, pose correction %.1f: settled at %.4f, apart %.1e\n",
                      poses[p].motion == motion_bend ? "bent" : "twisted", poses[p].poseCorrection, longest,
                      difference);
        if (poses[p].poseCorrection > 0.0) {
            assert_true(longest > 0.01);
            assert_near(difference, 0.0, 1e-6);
        } else {
            assert_true(longest < 1e-9);
            assert_near(difference, 0.0, 1e-9);
        }
        srDestroyReference(&r);
        freeFlesh(&f);
    }
}

// One frame of backward Euler, solved elsewhere: see solve_with_scipy.py for how.
static const double SCIPY_OFFSETS[][3] = {
#include "scipy_offsets.inc"
};

static void writePoints(FILE* file, const char* name, const srVec3* points, int32_t count) {
    fprintf(file, "\"%s\": [", name);
    for (int32_t i = 0; i < count; ++i) {
        fprintf(file, "%s[%.17g, %.17g, %.17g]", i > 0 ? ", " : "", points[i].x, points[i].y, points[i].z);
    }
    fprintf(file, "],\n");
}

static void writeWeights(FILE* file, const Flesh* f) {
    fprintf(file, "\"weights\": [");
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        double weights[2] = {0.0, 0.0};
        for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
            weights[f->bones[e]] = f->weights[e];
        }
        fprintf(file, "%s[%.17g, %.17g]", i > 0 ? ", " : "", weights[0], weights[1]);
    }
    fprintf(file, "],\n\"holds\": [");
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        fprintf(file, "%s%.17g", i > 0 ? ", " : "", f->holds[i]);
    }
    fprintf(file, "],\n");
}

// the step as text, for whoever wants to solve it by other means
static void writeStep(const Flesh* f, const srComplementaryDials* dials, const srVec3* forces) {
    const char* path = getenv("SR_WRITE_STEP");
    FILE* file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) {
        return;
    }
    fprintf(file, "{\n");
    writePoints(file, "nodes", f->cage.nodes, f->cage.nodeCount);
    writePoints(file, "before", f->places[1], f->cage.nodeCount);
    writePoints(file, "after", f->places[0], f->cage.nodeCount);
    writePoints(file, "forces", forces, f->cage.nodeCount);
    writeWeights(file, f);
    fprintf(file, "\"cells\": [");
    for (int32_t cell = 0; cell < f->cage.cellCount; ++cell) {
        const int32_t* c = f->cage.cells[cell];
        fprintf(file, "%s[%d, %d, %d, %d]", cell > 0 ? ", " : "", c[0], c[1], c[2], c[3]);
    }
    fprintf(file, "],\n\"gravity\": [%.17g, %.17g, %.17g], \"restGravity\": [%.17g, %.17g, %.17g],\n",
            dials->gravity.x, dials->gravity.y, dials->gravity.z, dials->restGravity.x, dials->restGravity.y,
            dials->restGravity.z);
    fprintf(file,
            "\"seconds\": %.17g, \"damping\": %.17g, \"frequency\": %.17g, \"poseCorrection\": %.17g,\n",
            dials->frameSeconds, dials->dampingRate, dials->frequency, dials->poseCorrection);
    fprintf(file, "\"shearModulus\": %.17g, \"density\": %.17g\n}\n", dials->material.shearModulus,
            dials->material.density);
    fclose(file);
}

static void a_step_ends_where_scipy_finds_its_end(void** state) {
    (void)state;
    const Scene scene = {"", motion_bend, hold_axis, 2e4, sr_integratorBackwardEuler, 1, 0.5, 0.5, true};
    Flesh f;
    srReference r;
    makeFlesh(&f, BAR, SPACING, 2, scene.hold);
    srComplementaryDials dials = dialsOf(&scene);
    tuneFlesh(&f, &dials);
    srCreateReference(&f.shape, &r);
    srReference_Tune(&r, &dials, sr_referenceArap);
    srVec3* forces = calloc((size_t)f.cage.nodeCount, sizeof(srVec3));
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        forces[i] = (srVec3){0.5 * i, 3.0, 20.0 - i};
    }
    srMat34 turn = bendAbout((srVec3){0.3, 0.6, 0.3}, 0.9), move = shift(0.05, 0.02, -0.1);
    f.maps[0] = move;
    f.maps[1] = srMul34(&move, &turn);
    stepBoth(&f, &r, forces);
    writeStep(&f, &dials, forces);
    double longest = longestOffset(&f), worst[2] = {0.0, 0.0};
    assert_true(longest > 0.1);
    assert_int_equal(SR_ARRAY_COUNT(SCIPY_OFFSETS), f.cage.nodeCount);
    for (int32_t i = 0; i < f.cage.nodeCount; ++i) {
        srVec3 truth = {SCIPY_OFFSETS[i][0], SCIPY_OFFSETS[i][1], SCIPY_OFFSETS[i][2]};
        srVec3 theirs = {r.offsets[3 * i], r.offsets[3 * i + 1], r.offsets[3 * i + 2]};
        worst[0] = fmax(worst[0], srDistance(f.state.offsets[i], truth) / longest);
        worst[1] = fmax(worst[1], srDistance(theirs, truth) / longest);
    }
    print_message("from SciPy's: solver %.1e, reference %.1e\n", worst[0], worst[1]);
    assert_near(worst[0], 0.0, srTestTolerance(1e-8));
    assert_near(worst[1], 0.0, srTestTolerance(1e-8));
    free(forces);
    srDestroyReference(&r);
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_references_forces_are_slopes_of_its_energies),
        cmocka_unit_test(a_single_cell_swings_as_its_formula_says),
        cmocka_unit_test(a_hanging_bar_grows_as_its_formula_says),
        cmocka_unit_test(a_bar_swings_along_itself_as_its_formula_says),
        cmocka_unit_test(a_held_pose_settles_where_the_reference_finds_no_force),
        cmocka_unit_test(a_step_ends_where_scipy_finds_its_end),
        cmocka_unit_test(the_solver_agrees_with_the_reference_at_every_frame),
        cmocka_unit_test(they_agree_in_every_material),
        cmocka_unit_test(they_agree_where_rows_depend_on_others),
        cmocka_unit_test(they_agree_where_the_hold_is_graded),
        cmocka_unit_test(they_agree_where_volumes_are_kept),
        cmocka_unit_test(they_agree_where_stiffness_is_painted),
    };
    return cmocka_run_group_tests_name("solver/complementary_reference", tests, NULL, srTestNothingLeaked);
}
