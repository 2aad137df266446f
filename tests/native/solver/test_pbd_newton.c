// SPDX-License-Identifier: GPL-3.0-or-later
//
// The published family against what it was not made from: full Newton on the same energy, the same floor and
// friction, in steps sixty times smaller. The cantilever has its published size, the jello a smaller one.

#include "solver/thesis_trial.h"
#include "support/scenes.h"
#include "support/support.h"
#include "support/thesis.h"

#include <math.h>

#define JELLO_NODES 250
#define STEPS_COUNT 4

static void createBeam(Trial* trial) {
    *trial = (Trial){0};
    assert_true(srThesisCreateBeam(&trial->scene));
    judgeScene(trial, 12, 5e-5);
}

// falls for six frames, then touches the floor
static void createJello(Trial* trial) {
    *trial = (Trial){0};
    assert_true(srThesisCreateJello(JELLO_NODES, &trial->scene));
    judgeScene(trial, 16, 1e-3);
}

static double errorOf(Trial* trial, srFamilyMethod method, double stiffness, int32_t iterations,
                      int32_t substeps) {
    srPbdDials dials = trial->scene.dials;
    dials.stiffness = stiffness;
    dials.iterations = iterations;
    dials.substeps = substeps;
    srThesisPlay(&trial->scene, method, &dials, trial->path);
    return distanceFromJudge(trial);
}

// errors with 1, 4, 16 and 64 steps a frame, each converged
static void findErrors(Trial* trial, srFamilyMethod method, const int32_t iterations[STEPS_COUNT],
                       const char* name, double errors[STEPS_COUNT]) {
    int32_t steps = 1;
    for (int k = 0; k < STEPS_COUNT; ++k, steps *= 4) {
        errors[k] = errorOf(trial, method, 1.0, iterations[k], steps);
    }
    print_message("%s, %s: off Newton by %.5f, %.5f, %.5f, %.5f with 1, 4, 16, 64 steps a frame\n",
                  trial->scene.name, name, errors[0], errors[1], errors[2], errors[3]);
}

static const int32_t GAUSS_SEIDEL[STEPS_COUNT] = {512, 64, 16, 8};
static const int32_t JACOBI[STEPS_COUNT] = {8192, 2048, 1024, 512};

static void the_compliant_beam_goes_to_newton_s_in_first_order(void** state) {
    (void)state;
    Trial trial;
    createBeam(&trial);
    double errors[STEPS_COUNT];
    findErrors(&trial, sr_familyCompliant, GAUSS_SEIDEL, "Gauss-Seidel", errors);
    for (int k = 0; k + 1 < STEPS_COUNT; ++k) {
        // a quarter each time, as implicit Euler must, once its damping has left of the swing what it may
        assert_true(errors[k + 1] < 0.35 * errors[k]);
    }
    assert_near(errors[3], 0.0, 6e-4);
    destroyTrial(&trial);
}

static void the_beam_by_jacobi_s_commitment_is_the_same_beam(void** state) {
    (void)state;
    Trial trial;
    createBeam(&trial);
    double gauss[STEPS_COUNT], jacobi[STEPS_COUNT];
    findErrors(&trial, sr_familyCompliant, GAUSS_SEIDEL, "Gauss-Seidel", gauss);
    findErrors(&trial, sr_familyCompliantJacobi, JACOBI, "Jacobi", jacobi);
    // In smaller steps each of many iterations moves a node by less than its place, a float, can tell: more
    // of them no longer bring it nearer. So only the larger ones say that both solve the same.
    for (int k = 0; k < 2; ++k) {
        assert_near(jacobi[k] / gauss[k], 1.0, 0.06);
    }
    destroyTrial(&trial);
}

static void the_beam_solved_in_the_middle_of_steps_goes_to_newton_s_in_second_order(void** state) {
    (void)state;
    Trial trial;
    createBeam(&trial);
    double errors[STEPS_COUNT];
    findErrors(&trial, sr_familyMidpoint, GAUSS_SEIDEL, "midpoint", errors);
    assert_true(errors[1] < 0.15 * errors[0]);
    assert_true(errors[2] < 0.15 * errors[1]);
    destroyTrial(&trial);
}

static void the_compliant_jello_falls_slides_and_sticks_as_newton_s(void** state) {
    (void)state;
    Trial trial;
    createJello(&trial);
    // it is pressed and slides: nodes stand on the floor, and not below where they began
    int32_t last = (trial.scene.frameCount - 1) * trial.scene.shape.nodeCount;
    int32_t standingCount = 0;
    double slid = 0.0;
    for (int32_t i = 0; i < trial.scene.shape.nodeCount; ++i) {
        srVec3 x = trial.exact[last + i];
        if (x.y < trial.scene.dials.floorHeight + 1e-6) {
            ++standingCount;
            slid += x.x - (double)trial.scene.starts[i].x;
        }
    }
    print_message("%d nodes stand on the floor, %.4f from where they began\n", standingCount,
                  slid / standingCount);
    assert_true(standingCount > 3);
    double errors[STEPS_COUNT];
    findErrors(&trial, sr_familyCompliant, GAUSS_SEIDEL, "Gauss-Seidel", errors);
    for (int k = 0; k + 1 < STEPS_COUNT; ++k) {
        assert_true(errors[k + 1] < 0.5 * errors[k]);
    }
    assert_near(errors[3], 0.0, 2.5e-3);
    destroyTrial(&trial);
}

// At the published step, and as many iterations as the compliant method needs: k from a grid, the best
static void no_stiffness_factor_makes_the_original_as_good_as_the_compliant_method(void** state) {
    (void)state;
    static const double FACTORS[] = {0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0};
    for (int k = 0; k < 2; ++k) {
        Trial trial;
        k == 0 ? createBeam(&trial) : createJello(&trial);
        double compliant = errorOf(&trial, sr_familyCompliant, 1.0, 128, 1);
        double best = (double)INFINITY;
        for (int f = 0; f < SR_ARRAY_COUNT(FACTORS); ++f) {
            best = fmin(best, errorOf(&trial, sr_familyOriginal, FACTORS[f], 128, 1));
        }
        print_message("%s: compliant %.4f, original %.4f\n", trial.scene.name, compliant, best);
        assert_true(compliant < best);
        destroyTrial(&trial);
    }
}

// A cube that slides on the floor, with what a kilogram weighs in each corner: Coulomb's friction leaves of
// its pull sideways what presses it times the coefficient, and a pull that is weaker than that moves nothing.
static void the_judge_s_friction_is_coulomb_s(void** state) {
    (void)state;
    static const int32_t ONE[3] = {1, 1, 1};
    static const double PULLS[] = {1.5, 4.0};
    srThesisScene scene = {.name = "cube", .extent = 1.0, .frameCount = 24};
    assert_int_equal(srTestCreateBarCage(ONE, 1.0, &scene.cage), sr_success);
    const float masses[8] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
    float edges[32];
    srVec3f starts[8];
    assert_true(scene.cage.nodeCount == 8 && scene.cage.edgeCount < 32);
    for (int i = 0; i < 32; ++i) {
        edges[i] = 1.0f;
        starts[i % 8] = srToFloat(scene.cage.nodes[i % 8]);
    }
    scene.shape = (srPbdShape){.nodes = scene.cage.nodes,
                               .nodeCount = 8,
                               .edges = (const int32_t (*)[2])scene.cage.edges,
                               .edgeCount = scene.cage.edgeCount,
                               .cells = (const int32_t (*)[4])scene.cage.cells,
                               .cellCount = scene.cage.cellCount,
                               .masses = masses,
                               .edgeCompliances = edges};
    scene.starts = starts;
    double floor = scene.cage.nodes[0].y;
    for (int i = 1; i < 8; ++i) {
        floor = fmin(floor, scene.cage.nodes[i].y);
    }
    scene.dials = (srPbdDials){.edgeCompliance = 1e-5,
                               .volumeCompliance = 1e-5,
                               .frameSeconds = 1.0 / FRAMES_A_SECOND,
                               .hasFloor = true,
                               .floorHeight = floor,
                               .friction = 0.3};
    srVec3* path = srThesisAllocatePath(&scene);
    for (int k = 0; k < SR_ARRAY_COUNT(PULLS); ++k) {
        scene.dials.gravity = (srVec3f){(float)PULLS[k], -10.0f, 0.0f};
        assert_int_equal(srThesisSolveExactly(&scene, JUDGE_STEPS, path), 0);
        // from how it moves once it trembles no more: of frames 12, 18 and 24
        double gained = 0.0;
        for (int i = 0; i < 8; ++i) {
            gained += (path[8 * 11 + i].x - 2.0 * path[8 * 17 + i].x + path[8 * 23 + i].x) / 8.0;
        }
        double found = gained * (FRAMES_A_SECOND / 6.0) * (FRAMES_A_SECOND / 6.0);
        double expected = fmax(PULLS[k] - 0.3 * 10.0, 0.0);
        print_message("pulled by %.1f and pressed by 10: %.6f m/s^2, by Coulomb's law %.6f\n", PULLS[k],
                      found, expected);
        assert_near(found, expected, 1e-3);
    }
    free(path);
    srDestroyCage(&scene.cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judge_s_friction_is_coulomb_s),
        cmocka_unit_test(the_compliant_beam_goes_to_newton_s_in_first_order),
        cmocka_unit_test(the_beam_by_jacobi_s_commitment_is_the_same_beam),
        cmocka_unit_test(the_beam_solved_in_the_middle_of_steps_goes_to_newton_s_in_second_order),
        cmocka_unit_test(the_compliant_jello_falls_slides_and_sticks_as_newton_s),
        cmocka_unit_test(no_stiffness_factor_makes_the_original_as_good_as_the_compliant_method),
    };
    return cmocka_run_group_tests_name("solver/pbd_newton", tests, NULL, srTestNothingLeaked);
}
