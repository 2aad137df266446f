// SPDX-License-Identifier: GPL-3.0-or-later
//
// The published family by what any solver must keep: momentum, scale, energy when asked for, stiffness that
// is the matter's own, and what is no matter at all.

#include "support/support.h"

#include "core/alloc.h"
#include "solver/pbd.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bar {
    srCage cage;
    srPbd* pbd;
    srVec3f* x;
    float* masses;
    float* edgeFactors;
} Bar;

static srPbdDials lawDials(srPbdMethod method) {
    return (srPbdDials){
        .method = method,
        .edgeCompliance = 1e-4,
        .volumeCompliance = 1e-8,
        .boneCompliance = -1.0,
        .stiffness = 0.5,
        .iterations = 10,
        .substeps = 1,
        .frameSeconds = 1.0 / 120.0,
    };
}

// of 2 x 6 x 2 cubes; held at its lower end if asked; edges along y `softer` times as soft
static void createBar(Bar* bar, double scale, bool isHeld, float softer) {
    static const int32_t COUNTS[3] = {2, 6, 2};
    *bar = (Bar){0};
    assert_success(srTestCreateBarCage(COUNTS, 0.25 * scale, &bar->cage));
    bar->x = calloc((size_t)bar->cage.nodeCount, sizeof(srVec3f));
    bar->masses = calloc((size_t)bar->cage.nodeCount, sizeof(float));
    bar->edgeFactors = calloc((size_t)bar->cage.edgeCount, sizeof(float));
    assert_true(bar->x != NULL && bar->masses != NULL && bar->edgeFactors != NULL);
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        bar->masses[i] = isHeld && bar->cage.nodes[i].y < 0.1 * scale ? 0.0f : 1.0f;
        bar->x[i] = srToFloat(bar->cage.nodes[i]);
    }
    for (int32_t j = 0; j < bar->cage.edgeCount; ++j) {
        srVec3 d = srSub(bar->cage.nodes[bar->cage.edges[j][1]], bar->cage.nodes[bar->cage.edges[j][0]]);
        double share = d.y * d.y / srDot(d, d);
        bar->edgeFactors[j] = 1.0f + (softer - 1.0f) * (float)share;
    }
    srPbdShape shape = {
        .nodes = bar->cage.nodes,
        .nodeCount = bar->cage.nodeCount,
        .edges = (const int32_t (*)[2])bar->cage.edges,
        .edgeCount = bar->cage.edgeCount,
        .cells = (const int32_t (*)[4])bar->cage.cells,
        .cellCount = bar->cage.cellCount,
        .masses = bar->masses,
        .edgeCompliances = bar->edgeFactors,
    };
    assert_success(srCreatePbd(&shape, &bar->pbd));
}

static void destroyBar(Bar* bar) {
    srDestroyPbd(bar->pbd);
    srDestroyCage(&bar->cage);
    free(bar->x);
    free(bar->masses);
    free(bar->edgeFactors);
}

static void bend(Bar* bar, double scale) {
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        float y = (float)(bar->cage.nodes[i].y / scale);
        bar->x[i] = srToFloat(bar->cage.nodes[i]);
        bar->x[i].x += (float)scale * 0.1f * y * y;
    }
    srPbd_Place(bar->pbd, bar->x);
}

static srVec3 findCentre(const Bar* bar) {
    srVec3 sum = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        sum = srAdd(sum, srToDouble(bar->x[i]));
    }
    return srScale(1.0 / bar->cage.nodeCount, sum);
}

static int32_t findTip(const Bar* bar) {
    int32_t tip = 0;
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        tip = bar->cage.nodes[i].y > bar->cage.nodes[tip].y ? i : tip;
    }
    return tip;
}

static void free_bars_stay_where_they_are_while_they_swing(void** state) {
    (void)state;
    for (int method = sr_pbdCompliant; method <= sr_pbdMidpoint; ++method) {
        Bar bar;
        createBar(&bar, 1.0, false, 1.0f);
        bend(&bar, 1.0);
        srVec3 before = findCentre(&bar);
        srPbdDials dials = lawDials((srPbdMethod)method);
        float largest = 0.0f;
        int32_t tip = findTip(&bar);
        float start = bar.x[tip].x;
        for (int frame = 0; frame < 60; ++frame) {
            srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
            srPbd_Read(bar.pbd, bar.x);
            largest = fmaxf(largest, fabsf(bar.x[tip].x - start));
        }
        assert_true(largest > 0.05f);
        // places of about 1 are rounded to 6e-8 in each of 600 sweeps, velocities to that over the step
        assert_near(srDistance(findCentre(&bar), before), 0.0, 1e-4);
        destroyBar(&bar);
    }
}

static void a_scaled_scene_gives_the_scaled_path(void** state) {
    (void)state;
    const double scales[] = {1.0, 1e-3, 1e-2, 1e2, 1e3};
    Bar bars[5];
    for (int s = 0; s < 5; ++s) {
        double scale = scales[s];
        createBar(&bars[s], scale, true, 1.0f);
        bend(&bars[s], scale);
        srPbdDials dials = lawDials(sr_pbdCompliant);
        dials.volumeCompliance *= scale * scale * scale * scale;
        dials.gravity = (srVec3f){0.0f, (float)(-9.8 * scale), 0.0f};
        for (int frame = 0; frame < 24; ++frame) {
            srPbd_StepFrame(bars[s].pbd, &dials, NULL, NULL);
        }
        srPbd_Read(bars[s].pbd, bars[s].x);
        for (int32_t i = 0; i < bars[0].cage.nodeCount; ++i) {
            srVec3 expected = srScale(scale, srToDouble(bars[0].x[i]));
            assert_near(srDistance(srToDouble(bars[s].x[i]), expected) / scale, 0.0, 2e-4);
        }
    }
    for (int s = 0; s < 5; ++s) {
        destroyBar(&bars[s]);
    }
}

// how far the tip of a held bar sags sideways, converged and at rest
static double findSag(int32_t iterations, double h, srPbdMethod method, double stiffness) {
    Bar bar;
    createBar(&bar, 1.0, true, 1.0f);
    srPbdDials dials = lawDials(method);
    dials.edgeCompliance = 1e-3;
    dials.volumeCompliance = 1e-6;
    dials.iterations = iterations;
    dials.stiffness = stiffness;
    dials.frameSeconds = h;
    dials.dampingRate = 8.0;
    dials.gravity = (srVec3f){0.5f, 0.0f, 0.0f};
    for (int frame = 0; frame < (int)(6.0 / h); ++frame) {
        srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
    }
    srPbd_Read(bar.pbd, bar.x);
    int32_t tip = findTip(&bar);
    double sag = (double)bar.x[tip].x - bar.cage.nodes[tip].x;
    destroyBar(&bar);
    return sag;
}

static void converged_stiffness_is_the_matter_s_and_the_original_s_is_not(void** state) {
    (void)state;
    double sag = findSag(200, 1.0 / 60.0, sr_pbdCompliant, 1.0);
    assert_true(sag > 0.01);
    assert_near(findSag(400, 1.0 / 60.0, sr_pbdCompliant, 1.0) / sag, 1.0, 2e-3);
    assert_near(findSag(200, 1.0 / 120.0, sr_pbdCompliant, 1.0) / sag, 1.0, 5e-3);
    // the original has none: with iterations it gets as stiff as one waits
    double few = findSag(2, 1.0 / 60.0, sr_pbdOriginal, 0.05);
    double many = findSag(20, 1.0 / 60.0, sr_pbdOriginal, 0.05);
    print_message("sag: compliant %.4f; original, k = 0.05: %.4f by 2 iterations, %.4f by 20\n", sag, few,
                  many);
    assert_true(few > 3.0 * many);
}

// One node on a spring to another that stands, 10 swings in 2 pi seconds; or free
static srPbd* createSpring(bool isFree) {
    static const srVec3 NODES[2] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}};
    static const int32_t EDGES[1][2] = {{0, 1}};
    static const float MASSES[2] = {0.0f, 1.0f};
    srPbdShape shape = {
        .nodes = NODES, .nodeCount = 2, .edges = EDGES, .edgeCount = isFree ? 0 : 1, .masses = MASSES};
    srPbd* spring = NULL;
    assert_success(srCreatePbd(&shape, &spring));
    const srVec3f places[2] = {{0.0f, 0.0f, 0.0f}, {isFree ? 0.0f : 1.2f, 0.0f, 0.0f}};
    srPbd_Place(spring, places);
    return spring;
}

// A push, by gravity for a tenth of a second: what of that speed is left a second later
static double findSpeedLeft(srPbdMethod method, int32_t steps, double rate) {
    srPbd* spring = createSpring(true);
    srPbdDials dials = lawDials(method);
    dials.frameSeconds = 1.0 / steps;
    dials.gravity = (srVec3f){10.0f, 0.0f, 0.0f};
    double speeds[2] = {0.0, 0.0}, last = 0.0;
    for (int32_t step = 0; step < 11 * steps / 10 + 4; ++step) {
        srVec3f x[2];
        dials.dampingRate = step < steps / 10 + 2 ? 0.0 : rate;
        dials.gravity.x = step < steps / 10 ? 10.0f : 0.0f;
        srPbd_StepFrame(spring, &dials, NULL, NULL);
        srPbd_Read(spring, x);
        double speed = ((double)x[1].x - last) * steps;
        last = (double)x[1].x;
        // a few steps after the push and after damping set in
        speeds[0] = step == steps / 10 + 3 ? speed : speeds[0];
        speeds[1] = speed;
    }
    srDestroyPbd(spring);
    return speeds[1] / speeds[0];
}

static void damping_does_not_depend_on_the_step(void** state) {
    (void)state;
    for (int method = sr_pbdCompliant; method <= sr_pbdMidpoint; ++method) {
        for (int32_t steps = 60; steps <= 480; steps *= 2) {
            double left = findSpeedLeft((srPbdMethod)method, steps, 3.0);
            print_message("method %d, %d steps a second: %.4f of a speed left\n", method, steps, left);
            assert_near(left / exp(-3.0), 1.0, 0.02);
        }
    }
}

// of the farthest way, what is left from a second and a half on
static double findSwingLeft(srPbdMethod method, int32_t steps, double rate) {
    srPbd* spring = createSpring(false);
    srPbdDials dials = lawDials(method);
    dials.edgeCompliance = 0.01;
    dials.dampingRate = rate;
    dials.frameSeconds = 1.0 / steps;
    double left = 0.0;
    for (int32_t step = 0; step < 2 * steps; ++step) {
        srVec3f x[2];
        srPbd_StepFrame(spring, &dials, NULL, NULL);
        srPbd_Read(spring, x);
        double away = fabs((double)x[1].x - 1.0) / 0.2;
        left = step >= 3 * steps / 2 && away > left ? away : left;
    }
    srDestroyPbd(spring);
    return left;
}

static void a_swing_shrinks_by_its_damping_and_by_what_the_method_is(void** state) {
    (void)state;
    double kept[2];
    for (int k = 0; k < 2; ++k) {
        kept[k] = findSwingLeft(sr_pbdMidpoint, k == 0 ? 60 : 480, 3.0);
    }
    // from 1.5 s on at rate 3: exp(-2.25) = 0.105, at the first turn after that less
    print_message("a swing has %.4f left with 60 steps a second, %.4f with 480\n", kept[0], kept[1]);
    assert_near(kept[0] / kept[1], 1.0, 0.03);
    assert_near(kept[1], 0.1, 0.02);
    // compliant steps take h omega^2 / 2 a second themselves, the dial its own beside it
    for (int32_t steps = 60; steps <= 240; steps *= 2) {
        double own = findSwingLeft(sr_pbdCompliant, steps, 0.0);
        double both = findSwingLeft(sr_pbdCompliant, steps, 3.0);
        double seconds = 1.5 + 0.5 * 0.25; // a turn is within the next quarter of a second
        print_message("compliant, %d steps: %.4f left by themselves, %.4f with damping\n", steps, own, both);
        assert_near(log(own) / (-0.5 * 100.0 / steps * seconds), 1.0, 0.15);
        assert_near(both / own, exp(-1.5 * seconds), 0.015);
    }
}

// of springs alone
static double energyOf(Bar* bar, const srPbdDials* dials, const srVec3f* before) {
    double energy = 0.0;
    srVec3 middle;
    for (int32_t j = 0; j < bar->cage.edgeCount; ++j) {
        int32_t a = bar->cage.edges[j][0], b = bar->cage.edges[j][1];
        double rest = srDistance(bar->cage.nodes[a], bar->cage.nodes[b]);
        middle = srSub(srScale(0.5, srAdd(srToDouble(bar->x[a]), srToDouble(before[a]))),
                       srScale(0.5, srAdd(srToDouble(bar->x[b]), srToDouble(before[b]))));
        double away = srLength(middle) - rest;
        energy += 0.5 * away * away / (dials->edgeCompliance * (double)bar->edgeFactors[j]);
    }
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        srVec3 v = srScale(1.0 / dials->frameSeconds, srToDouble(srSubF(bar->x[i], before[i])));
        energy += 0.5 * (double)bar->masses[i] * srDot(v, v);
    }
    return energy;
}

// In the middle of a step, where it is solved: mean energy of the first and of the last 500 of 10,000 steps
static double findDrift(srPbdMethod method) {
    Bar bar;
    createBar(&bar, 1.0, true, 1.0f);
    bend(&bar, 1.0);
    srPbdDials dials = lawDials(method);
    dials.edgeCompliance = 1e-3;
    dials.volumeCompliance = 1e3; // no resistance
    dials.iterations = 40;
    dials.stiffness = 1.0;
    srVec3f* before = calloc((size_t)bar.cage.nodeCount, sizeof(srVec3f));
    assert_non_null(before);
    double energy[2] = {0.0, 0.0};
    for (int step = 0; step < 10000; ++step) {
        srPbd_Read(bar.pbd, before);
        srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
        srPbd_Read(bar.pbd, bar.x);
        if (step < 500 || step >= 9500) {
            energy[step >= 9500] += energyOf(&bar, &dials, before);
        }
    }
    free(before);
    destroyBar(&bar);
    return energy[1] / energy[0] - 1.0;
}

static void the_midpoint_keeps_energy_where_the_compliant_method_loses_it(void** state) {
    (void)state;
    double ours = findDrift(sr_pbdMidpoint);
    double euler = findDrift(sr_pbdCompliant);
    print_message("drift of energy over 10,000 steps: midpoint %.4f, implicit Euler %.4f\n", ours, euler);
    assert_near(ours, 0.0, 0.05);
    assert_true(euler < -0.9);
}

static void softer_edges_along_one_axis_are_softer_there_only(void** state) {
    (void)state;
    double along[2];
    double across[2];
    for (int k = 0; k < 2; ++k) {
        for (int direction = 0; direction < 2; ++direction) {
            Bar bar;
            createBar(&bar, 1.0, false, k == 0 ? 1.0f : 4.0f);
            for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
                srVec3 x = bar.cage.nodes[i];
                bar.x[i] = srToFloat(direction == 0 ? (srVec3){x.x, 1.05 * x.y, x.z}
                                                    : (srVec3){1.05 * x.x, x.y, x.z});
            }
            srPbd_Place(bar.pbd, bar.x);
            srPbdDials dials = lawDials(sr_pbdCompliant);
            dials.edgeCompliance = 1e-3;
            dials.volumeCompliance = 1e3;
            dials.iterations = 40;
            int32_t last = bar.cage.nodeCount - 1;
            srVec3f before = srSubF(bar.x[last], bar.x[0]);
            srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
            srPbd_Read(bar.pbd, bar.x);
            srVec3f after = srSubF(bar.x[last], bar.x[0]);
            if (direction == 0) {
                along[k] = fabs((double)before.y) - fabs((double)after.y);
            } else {
                across[k] = fabs((double)before.x) - fabs((double)after.x);
            }
            destroyBar(&bar);
        }
    }
    print_message("pulled back in a step: along %.4f, softer %.4f; across %.4f, softer %.4f\n", along[0],
                  along[1], across[0], across[1]);
    assert_true(along[0] > 0.0 && along[1] < 0.5 * along[0]);
    assert_true(across[1] > 0.6 * across[0]);
}

static void what_is_no_matter_does_nothing_to_what_is(void** state) {
    (void)state;
    // a cell; one without volume; one with a node twice; one inside out; a node of nobody, one without mass
    // and one of less than none
    static const srVec3 NODES[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {1, 1, 0}, {5, 5, 5}, {2, 2, 2}};
    static const int32_t CELLS[4][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 1, 2}, {0, 2, 1, 3}};
    static const int32_t EDGES[3][2] = {{0, 1}, {2, 2}, {0, 6}};
    static const float MASSES[7] = {1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 1.0f, -3.0f};
    srPbdShape shape = {.nodes = NODES,
                        .nodeCount = 7,
                        .edges = EDGES,
                        .edgeCount = 3,
                        .cells = CELLS,
                        .cellCount = 4,
                        .masses = MASSES};
    for (int method = sr_pbdCompliant; method <= sr_pbdMidpoint; ++method) {
        srPbd* pbd = NULL;
        assert_success(srCreatePbd(&shape, &pbd));
        srPbdDials dials = lawDials((srPbdMethod)method);
        for (int frame = 0; frame < 24; ++frame) {
            assert_int_equal(srPbd_StepFrame(pbd, &dials, NULL, NULL), 0);
        }
        srVec3f x[7];
        srPbd_Read(pbd, x);
        for (int i = 0; i < 7; ++i) {
            assert_near(srDistance(srToDouble(x[i]), NODES[i]), 0.0, 1e-5);
        }
        dials.gravity = (srVec3f){0.0f, -1.0f, 0.0f};
        srPbd_StepFrame(pbd, &dials, NULL, NULL);
        srPbd_Read(pbd, x);
        assert_true(x[5].y < 5.0f && x[4].y == 1.0f && x[6].y == 2.0f);
        srDestroyPbd(pbd);
    }
}

static void a_step_allocates_nothing(void** state) {
    (void)state;
    Bar bar;
    createBar(&bar, 1.0, true, 1.0f);
    bend(&bar, 1.0);
    int64_t before = srAlloc_GetCount();
    for (int method = sr_pbdCompliant; method <= sr_pbdMidpoint; ++method) {
        srPbdDials dials = lawDials((srPbdMethod)method);
        dials.hasFloor = true;
        srPbd_StepFrame(bar.pbd, &dials, NULL, bar.x);
    }
    assert_int_equal(srAlloc_GetCount(), before);
    destroyBar(&bar);
}

static void ten_thousand_frames_of_torture_stay_finite(void** state) {
    (void)state;
    Bar bar;
    createBar(&bar, 1.0, false, 1.0f);
    uint64_t seed = 9;
    for (int frame = 0; frame < 10000; ++frame) {
        srPbdDials dials = lawDials((srPbdMethod)(frame / 100 % (sr_pbdMidpoint + 1)));
        dials.edgeCompliance = pow(10.0, -12.0 * srTestRandom(&seed));
        dials.volumeCompliance = pow(10.0, -16.0 * srTestRandom(&seed));
        dials.iterations = 1 + (int32_t)(3.0 * srTestRandom(&seed));
        dials.stiffness = 1.0;
        dials.hasFloor = srTestRandom(&seed) < 0.5;
        dials.friction = 2.0 * srTestRandom(&seed);
        dials.gravity.y = (float)(20.0 * srTestRandom(&seed) - 10.0);
        dials.gravity.x = srTestRandom(&seed) < 0.001  ? (float)NAN
                          : srTestRandom(&seed) < 0.01 ? 1e30f
                                                       : 0.0f;
        srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
        srPbd_Read(bar.pbd, bar.x);
        for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
            assert_true(isfinite(bar.x[i].x) && isfinite(bar.x[i].y) && isfinite(bar.x[i].z));
        }
    }
    // and afterwards it is matter again: put in its shape, it stays there
    bend(&bar, 1e9);
    srPbdDials dials = lawDials(sr_pbdCompliant);
    for (int frame = 0; frame < 24; ++frame) {
        srPbd_StepFrame(bar.pbd, &dials, NULL, NULL);
    }
    srPbd_Read(bar.pbd, bar.x);
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        assert_near(srDistance(srToDouble(bar.x[i]), bar.cage.nodes[i]), 0.0, 1e-4);
    }
    destroyBar(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bars_stay_where_they_are_while_they_swing),
        cmocka_unit_test(a_scaled_scene_gives_the_scaled_path),
        cmocka_unit_test(converged_stiffness_is_the_matter_s_and_the_original_s_is_not),
        cmocka_unit_test(damping_does_not_depend_on_the_step),
        cmocka_unit_test(a_swing_shrinks_by_its_damping_and_by_what_the_method_is),
        cmocka_unit_test(the_midpoint_keeps_energy_where_the_compliant_method_loses_it),
        cmocka_unit_test(softer_edges_along_one_axis_are_softer_there_only),
        cmocka_unit_test(what_is_no_matter_does_nothing_to_what_is),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(ten_thousand_frames_of_torture_stay_finite),
    };
    return cmocka_run_group_tests_name("solver/pbd_laws", tests, NULL, srTestNothingLeaked);
}
