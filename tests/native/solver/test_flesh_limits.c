// SPDX-License-Identifier: GPL-3.0-or-later
//
// What flesh may do one way only: limits that are not reached change no bit, those that are reached are kept,
// and what they push neither gains momentum nor energy; friction by its angle.

#include "flesh_body.h"

#include "core/alloc.h"

static const int32_t BAR[3] = {2, 8, 2};
#define SPACING 0.125
#define GRAVITY 9.81

// a body whose cage's edges are ties
static void createTied(FleshBody* body, const int32_t counts[3], double spacing, float hold,
                       int32_t handleCount) {
    fleshCreate(body, counts, spacing, hold, 0);
    srFleshShape shape = fleshShapeOf(body, handleCount);
    shape.ties = (const int32_t (*)[2])body->cage.edges;
    shape.tieCount = body->cage.edgeCount;
    fleshRemake(body, &shape);
}

typedef struct Range {
    double least;
    double most;
} Range;

static void widen(Range* range, double x) {
    range->least = fmin(range->least, x);
    range->most = fmax(range->most, x);
}

static srVec3 placeOf(const FleshBody* body, int32_t i) {
    return srAdd(srToDouble(body->to[i]), srToDouble(body->state.offsets[i]));
}

// shares of the modelled lengths
static Range findLengths(const FleshBody* body) {
    Range range = {1e30, 0.0};
    for (int32_t j = 0; j < body->cage.edgeCount; ++j) {
        const int32_t* n = body->cage.edges[j];
        widen(&range, srDistance(placeOf(body, n[0]), placeOf(body, n[1])) /
                          srDistance(body->cage.nodes[n[0]], body->cage.nodes[n[1]]));
    }
    return range;
}

static double volumeOf(const srVec3 x[4]) {
    return srDot(srSub(x[1], x[0]), srCross(srSub(x[2], x[0]), srSub(x[3], x[0])));
}

static Range findVolumes(const FleshBody* body) {
    Range range = {1e30, -1e30};
    for (int32_t cell = 0; cell < body->cage.cellCount; ++cell) {
        srVec3 now[4], then[4];
        for (int c = 0; c < 4; ++c) {
            int32_t node = body->cage.cells[cell][c];
            now[c] = placeOf(body, node);
            then[c] = body->cage.nodes[node];
        }
        widen(&range, volumeOf(now) / volumeOf(then));
    }
    return range;
}

static void push(FleshBody* body, srVec3f load) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        body->loads[i] = load;
    }
}

static void stepFrames(FleshBody* body, int frameCount) {
    for (int frame = 0; frame < frameCount; ++frame) {
        fleshStep(body);
    }
}

static uint64_t shake(FleshBody* body, const srFleshDials* dials) {
    size_t bytes = (size_t)body->cage.nodeCount * sizeof(srVec3f);
    memset(body->state.offsets, 0, bytes);
    memset(body->state.velocities, 0, bytes);
    body->state.pastSeconds = 0.0;
    fleshTune(body, dials);
    for (int frame = 1; frame <= 12; ++frame) {
        fleshShake(body, frame, 0.05);
        fleshStep(body);
    }
    return fleshHash(body);
}

static void limits_that_are_not_reached_change_no_bit(void** state) {
    (void)state;
    for (int k = 0; k < 8; ++k) {
        FleshBody body;
        createTied(&body, BAR, SPACING, 1.0f, k % 2 == 0 ? 0 : 6);
        srFleshDials dials = fleshDials(1e5, 0.48);
        dials.integrator = k % 4 < 2 ? sr_fleshTheta : sr_fleshBdf2;
        dials.sweeps = k < 4 ? 1 : 3;
        dials.dampingRate = 2.0;
        uint64_t free = shake(&body, &dials);
        dials.leastLength = 0.05;
        dials.mostLength = 4.0;
        dials.leastVolume = 0.01;
        dials.mostVolume = 9.0;
        dials.floorNormal = (srVec3){0.0, 1.0, 0.0};
        dials.floorHeight = -5.0;
        dials.friction = 0.5;
        assert_true(shake(&body, &dials) == free);
        dials.mostLength = 1.0;
        assert_true(shake(&body, &dials) != free);
        fleshDestroy(&body);
    }
}

static void the_tightest_limits_leave_every_held_pose_exactly_at_rest(void** state) {
    (void)state;
    FleshBody body;
    createTied(&body, BAR, SPACING, 1.0f, 6);
    srFleshDials dials = fleshDials(1e5, 0.45);
    dials.leastLength = dials.mostLength = dials.leastVolume = dials.mostVolume = 1.0;
    dials.floorNormal = (srVec3){0.0, 1.0, 0.0};
    dials.floorHeight = -3.0;
    fleshTune(&body, &dials);
    for (int pose = 0; pose < 4; ++pose) {
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 x = body.cage.nodes[i];
            double turn = 0.8 * pose * x.y;
            srVec3 p = {x.x * cos(turn) - x.z * sin(turn), x.y * (1.0 - 0.4 * pose),
                        x.x * sin(turn) + x.z * cos(turn) + 0.1 * pose};
            body.from[i] = body.to[i] = srToFloat(p);
        }
        stepFrames(&body, 3);
        assert_true(fleshLargest(&body) == 0.0);
    }
    fleshDestroy(&body);
}

// A soft strand, pulled down and pushed up by ten times its weight: ties let it shorten and not stretch.
static void ties_hold_a_strand_that_is_pulled_and_let_it_shorten(void** state) {
    (void)state;
    static const double HARDEST[] = {0.02,
                                     0.004}; // beyond the limit: one sweep of ten substeps, twenty sweeps
    for (int k = 0; k < 4; ++k) {
        Range ranges[2];
        for (int tied = 0; tied < 2; ++tied) {
            FleshBody body;
            createTied(&body, BAR, SPACING, 1.0f, 0);
            srFleshDials dials = fleshDials(2e4, 0.0);
            dials.dampingRate = 6.0;
            dials.viscosity = 1.0;
            dials.substeps = 10;
            dials.sweeps = k % 2 == 0 ? 1 : 20;
            dials.mostLength = tied == 1 ? 1.05 : 0.0;
            fleshTune(&body, &dials);
            push(&body, (srVec3f){0.0f, k < 2 ? 12.0f : -4.0f, 0.0f});
            stepFrames(&body, 120);
            ranges[tied] = findLengths(&body);
            fleshDestroy(&body);
        }
        print_message("%s, %2d sweeps: lengths %.3f to %.3f, tied %.3f to %.4f\n",
                      k < 2 ? "pulled" : "pushed", k % 2 == 0 ? 1 : 20, ranges[0].least, ranges[0].most,
                      ranges[1].least, ranges[1].most);
        assert_true(k >= 2 || ranges[0].most > 1.3);
        assert_true(ranges[1].most < 1.05 + HARDEST[k % 2]);
        assert_true(k < 2 || (ranges[0].least < 0.85 && ranges[1].least < 0.85));
    }
}

static void cells_may_swell_and_not_collapse(void** state) {
    (void)state;
    for (int kept = 0; kept < 2; ++kept) {
        FleshBody body;
        createTied(&body, BAR, SPACING, 1.0f, 0);
        srFleshDials dials = fleshDials(2e4, 0.0);
        dials.dampingRate = 6.0;
        dials.viscosity = 1.0;
        dials.substeps = 10;
        dials.leastVolume = kept == 1 ? 0.9 : 0.0;
        fleshTune(&body, &dials);
        push(&body, (srVec3f){0.0f, -8.0f, 0.0f});
        stepFrames(&body, 120);
        Range crushed = findVolumes(&body);
        push(&body, (srVec3f){0.0f, 8.0f, 0.0f});
        stepFrames(&body, 120);
        Range pulled = findVolumes(&body);
        print_message("%s: crushed to %.4f of the volume, pulled to %.3f\n", kept == 1 ? "kept" : "free",
                      crushed.least, pulled.most);
        assert_true(kept == 1 ? crushed.least > 0.88 : crushed.least < 0.8);
        assert_true(pulled.most > 1.2);
        fleshDestroy(&body);
    }
}

static double kineticOf(const FleshBody* body) {
    double energy = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 w = srToDouble(body->state.velocities[i]);
        energy += 0.5 * 1000.0 * (double)body->rest.nodeVolumes[i] * srDot(w, w);
    }
    return energy;
}

// Loose matter without elasticity, nodes flying about until ties and volumes stop them: nothing else pushes.
static void limits_keep_momentum_and_give_no_energy(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        FleshBody body;
        createTied(&body, BAR, SPACING, 0.0f, 0);
        srFleshDials dials = fleshDials(0.0, 0.3);
        dials.integrator = k % 2 == 0 ? sr_fleshTheta : sr_fleshBdf2;
        dials.substeps = 10;
        dials.sweeps = k < 2 ? 1 : 3;
        dials.mostLength = 1.1;
        dials.leastVolume = 0.5;
        dials.largestOffset = 100.0;
        fleshTune(&body, &dials);
        uint64_t seed = 5;
        srVec3 momentum = {0.0, 0.0, 0.0};
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 w = {srTestRandom(&seed) - 0.3, srTestRandom(&seed) - 0.5, srTestRandom(&seed)};
            body.state.velocities[i] = srToFloat(w);
            momentum = srMulAdd(momentum, (double)body.rest.nodeVolumes[i], w);
        }
        double whole = srLength(momentum);
        double before = kineticOf(&body);
        double first = before;
        for (int frame = 0; frame < 48; ++frame) {
            fleshStep(&body);
            double now = kineticOf(&body);
            // kept by places: what is turned back in one step may come back in the next
            assert_true(now < 1.005 * before && now <= first);
            before = now;
        }
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            momentum =
                srMulAdd(momentum, -(double)body.rest.nodeVolumes[i], srToDouble(body.state.velocities[i]));
        }
        print_message("%s, %d sweeps: %.3f of the energy left, momentum off by %.1e\n",
                      k % 2 == 0 ? "theta" : "BDF2", dials.sweeps, before / first,
                      srLength(momentum) / whole);
        assert_true(before < 0.9 * first);
        assert_near(srLength(momentum) / whole, 0.0, 1e-6);
        fleshDestroy(&body);
    }
}

// A brick on a slope: gravity is tilted, not the floor. How far it slid, and its lowest point.
static double slide(double degrees, double friction, const srFleshDials* dials, double seconds,
                    double* outLowest) {
    static const int32_t BRICK[3] = {4, 2, 4};
    FleshBody body;
    createTied(&body, BRICK, SPACING, 0.0f, 0);
    srFleshDials own = *dials;
    own.floorNormal = (srVec3){0.0, 2.0, 0.0};
    own.friction = friction;
    own.largestOffset = 100.0;
    fleshTune(&body, &own);
    double angle = degrees * 3.141592653589793 / 180.0;
    push(&body, (srVec3f){0.0f, (float)-GRAVITY, 0.0f});
    stepFrames(&body, 96);
    push(&body, (srVec3f){(float)(GRAVITY * sin(angle)), (float)(-GRAVITY * cos(angle)), 0.0f});
    stepFrames(&body, (int)(24.0 * seconds));
    srVec3 middle = {0.0, 0.0, 0.0};
    double mass = 0.0;
    *outLowest = 1e30;
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        double m = (double)body.rest.nodeVolumes[i];
        middle = srMulAdd(middle, m, srToDouble(body.state.offsets[i]));
        mass += m;
        *outLowest = fmin(*outLowest, placeOf(&body, i).y);
    }
    fleshDestroy(&body);
    return middle.x / mass;
}

// Matter without elasticity: each node stands alone, and the law is exact.
static void dust_slides_from_the_angle_of_friction_on(void** state) {
    (void)state;
    const double friction = 0.5; // 26.565 degrees
    for (int k = 0; k < 4; ++k) {
        srFleshDials dials = fleshDials(0.0, 0.3);
        dials.integrator = k % 2 == 0 ? sr_fleshTheta : sr_fleshBdf2;
        dials.substeps = k < 2 ? 3 : 10;
        double lowest;
        double still = slide(26.5, friction, &dials, 1.0, &lowest);
        double gone = slide(30.0, friction, &dials, 1.0, &lowest);
        double angle = 30.0 * 3.141592653589793 / 180.0;
        double pull = GRAVITY * (sin(angle) - friction * cos(angle));
        print_message("%s, %2d substeps: dust stands by %.1e m at 26.5 degrees, slides %.4f m at 30 (%.4f)\n",
                      k % 2 == 0 ? "theta" : "BDF2", dials.substeps, still, gone, 0.5 * pull);
        assert_true(fabs(still) < 1e-5);
        assert_near(gone / (0.5 * pull), 1.0, 0.05);
    }
}

static void a_brick_stands_below_the_angle_of_friction_and_slides_above_it(void** state) {
    (void)state;
    const double friction = 0.5; // 26.57 degrees
    for (int k = 0; k < 4; ++k) {
        srFleshDials dials = fleshDials(2e5, 0.3);
        dials.integrator = k % 2 == 0 ? sr_fleshTheta : sr_fleshBdf2;
        dials.sweeps = k < 2 ? 1 : 10;
        dials.substeps = 10;
        dials.dampingRate = 0.5;
        double lowest[2];
        double still = slide(20.0, friction, &dials, 3.0, &lowest[0]);
        // from 22 degrees on its nodes let go one after another
        double gone = slide(35.0, friction, &dials, 1.0, &lowest[1]);
        double angle = 35.0 * 3.141592653589793 / 180.0;
        double pull = GRAVITY * (sin(angle) - friction * cos(angle));
        double fallen = pull / 0.5 * (1.0 - (1.0 - exp(-0.5)) / 0.5); // under a damping of 0.5/s
        print_message(
            "%s, %2d sweeps: stands by %.1e m at 20 degrees, slides %.3f m at 35 (%.3f); lowest %.1e\n",
            k % 2 == 0 ? "theta" : "BDF2", dials.sweeps, still, gone, fallen, lowest[1]);
        assert_true(fabs(still) < 0.01); // it leans
        assert_near(gone / fallen, 1.0, 0.1);
        assert_true(lowest[0] > -1e-5 && lowest[1] > -1e-5); // rounding of 2 m
    }
}

static void a_fall_ends_on_the_floor_and_bounces_no_higher_than_it_began(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        FleshBody body;
        createTied(&body, BAR, SPACING, 0.0f, k == 1 ? 8 : 0);
        srFleshDials dials = fleshDials(2e5, 0.45);
        dials.integrator = k < 2 ? sr_fleshTheta : sr_fleshBdf2;
        dials.substeps = 10;
        dials.dampingRate = 1.0;
        dials.largestOffset = 100.0;
        dials.floorNormal = (srVec3){0.0, 1.0, 0.0};
        dials.floorHeight = -0.5;
        dials.friction = 0.4;
        fleshTune(&body, &dials);
        push(&body, (srVec3f){0.0f, (float)-GRAVITY, 0.0f});
        double highest = -1.0;
        bool hasLanded = false;
        for (int frame = 0; frame < 240; ++frame) {
            fleshStep(&body);
            Range heights = {1e30, -1e30};
            for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
                widen(&heights, placeOf(&body, i).y);
            }
            assert_true(heights.least > -0.5 - 1e-5);
            hasLanded = hasLanded || heights.least < -0.4;
            highest = hasLanded ? fmax(highest, heights.least) : highest;
        }
        print_message("%s%s: highest after landing %.3f, at last %.1e J\n", k < 2 ? "theta" : "BDF2",
                      k == 1 ? " with handles" : "", highest, kineticOf(&body));
        assert_true(hasLanded && highest < 0.0);
        assert_true(kineticOf(&body) < 1e-3);
        fleshDestroy(&body);
    }
}

static uint64_t playLarge(void) {
    static const int32_t LARGE[3] = {8, 24, 8};
    FleshBody body;
    createTied(&body, LARGE, 0.1, 1.0f, 8);
    srFleshDials dials = fleshDials(5e4, 0.45);
    dials.mostLength = 1.005;
    dials.leastVolume = 0.99;
    dials.floorNormal = (srVec3){0.1, 1.0, 0.3};
    dials.floorHeight = 0.5;
    dials.friction = 0.3;
    fleshTune(&body, &dials);
    for (int frame = 1; frame <= 3; ++frame) {
        fleshShake(&body, frame, 0.1);
        fleshStep(&body);
    }
    uint64_t hash = fleshHash(&body);
    fleshDestroy(&body);
    return hash;
}

static void workers_and_vector_widths_do_not_change_a_bit(void** state) {
    (void)state;
    fleshAssertSameBits(playLarge);
}

static void torture_and_odd_numbers_stay_finite(void** state) {
    (void)state;
    static const int32_t SMALL[3] = {1, 3, 1};
    const double odd[] = {(double)NAN, (double)INFINITY, -1.0, 1e300, 0.0, 1.0, 0.5};
    FleshBody body;
    createTied(&body, SMALL, 0.2, 1.0f, 3);
    uint64_t seed = 3;
    for (int frame = 0; frame < 10000; ++frame) {
        if (frame % 20 == 0) {
            srFleshDials dials = fleshDials(pow(10.0, 9.0 * srTestRandom(&seed)), 0.5 * srTestRandom(&seed));
            double* fields[] = {&dials.leastLength,   &dials.mostLength,    &dials.leastVolume,
                                &dials.mostVolume,    &dials.floorNormal.x, &dials.floorNormal.y,
                                &dials.floorNormal.z, &dials.floorHeight,   &dials.friction};
            for (int k = 0; k < SR_ARRAY_COUNT(fields); ++k) {
                *fields[k] = odd[(int)(7.0 * srTestRandom(&seed)) % 7];
            }
            dials.substeps = 1 + (int32_t)(4.0 * srTestRandom(&seed));
            fleshTune(&body, &dials);
        }
        for (int32_t i = 0; frame % 7 == 0 && i < body.cage.nodeCount; ++i) {
            float* numbers[3] = {&body.to[i].x, &body.jump[i].x, &body.loads[i].x};
            for (int n = 0; n < 9; ++n) {
                bool isOdd = srTestRandom(&seed) < 0.05;
                numbers[n / 3][n % 3] =
                    isOdd ? (float)odd[(int)(4.0 * srTestRandom(&seed)) % 4] : (float)srTestRandom(&seed);
            }
        }
        fleshStep(&body);
        assert_true(fleshIsFinite(&body));
        assert_true(fleshLargest(&body) <= 1.00001);
    }
    fleshDestroy(&body);
}

static void a_step_with_limits_allocates_nothing_and_broken_ties_are_refused(void** state) {
    (void)state;
    FleshBody body;
    createTied(&body, BAR, SPACING, 1.0f, 6);
    srFleshDials dials = fleshDials(5e4, 0.5);
    dials.mostLength = dials.leastVolume = 1.0;
    dials.floorNormal.y = 1.0;
    fleshTune(&body, &dials);
    int64_t before = srAlloc_GetCount();
    for (int frame = 1; frame < 4; ++frame) {
        fleshShake(&body, frame, 0.1);
        fleshStep(&body);
    }
    assert_int_equal(srAlloc_GetCount(), before);
    int32_t ties[2][2] = {{0, 1}, {3, body.cage.nodeCount}};
    srFleshShape shape = fleshShapeOf(&body, 0);
    shape.ties = (const int32_t (*)[2])ties;
    shape.tieCount = 2;
    srFleshRest rest;
    assert_int_equal(srCreateFleshRest(&shape, &rest), sr_errorBadMesh);
    fleshDestroy(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_that_are_not_reached_change_no_bit),
        cmocka_unit_test(the_tightest_limits_leave_every_held_pose_exactly_at_rest),
        cmocka_unit_test(ties_hold_a_strand_that_is_pulled_and_let_it_shorten),
        cmocka_unit_test(cells_may_swell_and_not_collapse),
        cmocka_unit_test(limits_keep_momentum_and_give_no_energy),
        cmocka_unit_test(dust_slides_from_the_angle_of_friction_on),
        cmocka_unit_test(a_brick_stands_below_the_angle_of_friction_and_slides_above_it),
        cmocka_unit_test(a_fall_ends_on_the_floor_and_bounces_no_higher_than_it_began),
        cmocka_unit_test(workers_and_vector_widths_do_not_change_a_bit),
        cmocka_unit_test(torture_and_odd_numbers_stay_finite),
        cmocka_unit_test(a_step_with_limits_allocates_nothing_and_broken_ties_are_refused),
    };
    return cmocka_run_group_tests_name("solver/flesh_limits", tests, NULL, srTestNothingLeaked);
}
