// SPDX-License-Identifier: GPL-3.0-or-later
//
// What flesh that nothing holds keeps: momentum and spin, however it is stepped and whatever its rig does;
// each of its pieces by itself.

#include "flesh_body.h"

static const int32_t BAR[3] = {2, 8, 2};
#define SPACING 0.125

static void free_flesh_keeps_its_momentum(void** state) {
    (void)state;
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 0.0f, 0);
    srFleshDials dials = fleshDials(5e4, 0.45);
    fleshTune(&body, &dials);
    uint64_t seed = 41;
    srVec3 momentum = {0.0, 0.0, 0.0};
    double mass = 0.0;
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        srVec3 w = {srTestRandom(&seed) - 0.5, srTestRandom(&seed) - 0.5, srTestRandom(&seed)};
        body.state.velocities[i] = srToFloat(w);
        body.state.offsets[i] = srToFloat(srScale(0.03, w));
        double m = (double)body.rest.nodeVolumes[i];
        momentum = srMulAdd(momentum, m, w);
        mass += m;
    }
    for (int frame = 0; frame < 20; ++frame) {
        fleshStep(&body);
    }
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        momentum =
            srMulAdd(momentum, -(double)body.rest.nodeVolumes[i], srToDouble(body.state.velocities[i]));
    }
    assert_near(srLength(momentum) / mass, 0.0, 1e-6);
    fleshDestroy(&body);
}

#define SPIN 6.283185307179586 // rad/s

typedef struct Motion {
    srVec3 spin;   // about the centre of mass, by the masses that the solver has
    double energy; // of motion
} Motion;

// of what stands at `low` to `high` along x in the modelled pose
static Motion findMotionBetween(const FleshBody* body, double low, double high) {
    srVec3 spin = {0.0, 0.0, 0.0};
    srVec3 places = {0.0, 0.0, 0.0};
    srVec3 momentum = {0.0, 0.0, 0.0};
    double mass = 0.0;
    double energy = 0.0;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        bool isIn = body->cage.nodes[i].x > low && body->cage.nodes[i].x < high;
        double m = isIn ? (double)body->rest.nodeVolumes[i] : 0.0;
        srVec3 x = srAdd(srToDouble(body->to[i]), srToDouble(body->state.offsets[i]));
        srVec3 p = srScale(24.0, srSub(srToDouble(body->to[i]), srToDouble(body->from[i])));
        srVec3 v = srAdd(p, srToDouble(body->state.velocities[i]));
        spin = srMulAdd(spin, m, srCross(x, v));
        places = srMulAdd(places, m, x);
        momentum = srMulAdd(momentum, m, v);
        mass += m;
        energy += 0.5 * m * srDot(v, v);
    }
    return (Motion){srMulAdd(spin, -1.0 / mass, srCross(places, momentum)), energy};
}

static Motion findMotion(const FleshBody* body) {
    return findMotionBetween(body, -(double)INFINITY, (double)INFINITY);
}

// and swinging across
static void startTurning(FleshBody* body) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 x = body->cage.nodes[i];
        srVec3 w = {-SPIN * (x.y - 0.5), SPIN * (x.x - 0.125), 0.5 * (x.z - 0.125)};
        body->state.velocities[i] = srToFloat(w);
    }
}

// the rig turns to and fro, and goes away
static void turnRig(FleshBody* body, int frame) {
    double seconds = body->tuning.dials.frameSeconds;
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        srVec3 places[3];
        for (int back = 0; back < 3; ++back) {
            int at = frame > back ? frame - back : 0;
            double angle = 0.4 * sin(6.0 * seconds * at);
            srVec3 x = body->cage.nodes[i];
            places[back] = (srVec3){x.x + 0.3 * at * seconds, cos(angle) * x.y - sin(angle) * x.z,
                                    sin(angle) * x.y + cos(angle) * x.z};
        }
        body->from[i] = srToFloat(places[1]);
        body->to[i] = srToFloat(places[0]);
        srVec3 jump = srSub(srAdd(places[0], places[2]), srScale(2.0, places[1]));
        body->jump[i] = frame > 1 ? srToFloat(srScale(1.0 / seconds, jump)) : (srVec3f){0.0f, 0.0f, 0.0f};
    }
}

// By how much the angular momentum has changed after a turn in a second, in parts. What turns does not heat.
static double loseSpin(const srFleshDials* dials, int32_t handleCount, bool hasRig) {
    FleshBody body;
    fleshCreate(&body, BAR, SPACING, 0.0f, handleCount);
    fleshTune(&body, dials);
    startTurning(&body);
    Motion first = {0};
    for (int frame = 1; frame <= 25; ++frame) {
        if (hasRig) {
            turnRig(&body, frame);
        }
        fleshStep(&body);
        first = frame == 1 ? findMotion(&body) : first;
    }
    Motion last = findMotion(&body);
    fleshDestroy(&body);
    assert_near(last.energy / first.energy, 1.0, 0.05);
    return srLength(srSub(last.spin, first.spin)) / srLength(first.spin);
}

// However forces are taken and however few steps there are
static void free_flesh_keeps_its_spin(void** state) {
    (void)state;
    static const double RATIOS[] = {0.3, 0.45, 0.46, 0.5};
    static const struct {
        const char* name;
        srFleshIntegrator integrator;
        int32_t substeps;
        int32_t sweeps;
        int32_t handleCount;
        double young;
    } WAYS[] = {
        {"handles", sr_fleshTheta, 20, 1, SR_USUAL_HANDLES, 5e5},
        {"handles, 3 substeps", sr_fleshTheta, 3, 1, SR_USUAL_HANDLES, 5e5},
        {"sweeps alone", sr_fleshTheta, 5, 1, 0, 5e5},
        {"middle, 12 sweeps", sr_fleshTheta, 20, 12, 0, 5e5},
        {"12 sweeps, too few", sr_fleshTheta, 3, 12, 0, 5e6},
        {"BDF2", sr_fleshBdf2, 5, 1, SR_USUAL_HANDLES, 5e5},
        {"BDF2, 12 sweeps", sr_fleshBdf2, 20, 12, 0, 5e5},
    };
    for (int k = 0; k < SR_ARRAY_COUNT(WAYS) * 4; ++k) {
        int way = k / 4;
        srFleshDials dials = fleshDials(WAYS[way].young, RATIOS[k % 4]);
        dials.largestOffset = 100.0;
        dials.substeps = WAYS[way].substeps;
        dials.sweeps = WAYS[way].sweeps;
        dials.integrator = WAYS[way].integrator;
        double lost = loseSpin(&dials, WAYS[way].handleCount, false);
        double lostWithRig = loseSpin(&dials, WAYS[way].handleCount, true);
        print_message("%s, Poisson %.2f: %.1e of the spin is lost in a turn, %.1e where the rig turns too\n",
                      WAYS[way].name, RATIOS[k % 4], lost, lostWithRig);
        assert_near(lost, 0.0, 1e-6);
        assert_near(lostWithRig, 0.0, 1e-6);
    }
}

// Two bars, between which there is nothing: cubes of a wider one left out
static void createTwoBars(FleshBody* body, const int32_t counts[3], float hold, int32_t handleCount) {
    fleshCreate(body, counts, SPACING, 0.0f, 0);
    double middle = 0.5 * counts[0] * SPACING;
    int32_t (*cells)[4] = calloc((size_t)(uint32_t)body->cage.cellCount, sizeof(*cells));
    assert_non_null(cells);
    srFleshShape shape = fleshShapeOf(body, handleCount);
    shape.cellCount = 0;
    for (int32_t cell = 0; cell < body->cage.cellCount; ++cell) {
        bool isLeft = false, isRight = false;
        for (int c = 0; c < 4; ++c) {
            isLeft = isLeft || body->cage.nodes[body->cage.cells[cell][c]].x < middle;
            isRight = isRight || body->cage.nodes[body->cage.cells[cell][c]].x > middle;
        }
        if (isLeft != isRight) {
            memcpy(cells[shape.cellCount++], body->cage.cells[cell], sizeof(*cells));
        }
    }
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        body->holds[i] = body->cage.nodes[i].x < middle && body->cage.nodes[i].y < 0.01 ? hold : 0.0f;
    }
    shape.cells = (const int32_t (*)[4])cells;
    fleshRemake(body, &shape);
    free(cells);
}

// What one piece loses to steps no other pays for, and a piece that nothing holds keeps its spin beside one
// that is held
static void pieces_keep_accounts_of_their_own(void** state) {
    (void)state;
    static const int32_t COUNTS[3] = {5, 8, 2};
    const double middle = 2.5 * SPACING;
    for (int k = 0; k < 8; ++k) {
        FleshBody body;
        createTwoBars(&body, COUNTS, k % 2 == 0 ? 0.0f : 1.0f, k < 4 ? SR_USUAL_HANDLES : 0);
        srFleshDials dials = fleshDials(5e5, k % 4 < 2 ? 0.45 : 0.5);
        dials.largestOffset = 100.0;
        fleshTune(&body, &dials);
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            srVec3 x = body.cage.nodes[i];
            srVec3 w = {-SPIN * (x.y - 0.5), SPIN * (x.x - 0.5), 0.0};
            body.state.velocities[i] = srToFloat(srScale(x.x > middle ? 1.0 : 0.0, w));
        }
        Motion first = findMotionBetween(&body, middle, 1.0);
        for (int frame = 0; frame < 24; ++frame) {
            fleshStep(&body);
        }
        Motion last = findMotionBetween(&body, middle, 1.0);
        Motion other = findMotionBetween(&body, -1.0, middle);
        double lost = srLength(srSub(last.spin, first.spin)) / srLength(first.spin);
        double given = srLength(other.spin) / srLength(first.spin);
        print_message(
            "two bars, one %s, %d handles, Poisson %.2f: %.1e of the spin is lost, the other has %.1e\n",
            k % 2 == 0 ? "still" : "held", k < 4 ? SR_USUAL_HANDLES : 0, dials.poissonRatio, lost, given);
        assert_near(lost, 0.0, 1e-6);
        assert_near(k % 2 == 0 ? given : 0.0, 0.0, 1e-6);
        fleshDestroy(&body);
    }
}

// Damping takes of a spin what it takes of a straight motion, and a body without any stays at rest
static void damping_takes_spin_as_it_takes_speed(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        FleshBody body;
        fleshCreate(&body, BAR, SPACING, 0.0f, SR_USUAL_HANDLES);
        srFleshDials dials = fleshDials(5e5, 0.45);
        dials.largestOffset = 100.0;
        dials.dampingRate = 2.0;
        dials.integrator = k < 2 ? sr_fleshTheta : sr_fleshBdf2;
        dials.substeps = k % 2 == 0 ? 3 : 20;
        fleshTune(&body, &dials);
        for (int frame = 1; frame <= 12; ++frame) {
            turnRig(&body, frame);
            memset(body.jump, 0, (size_t)body.cage.nodeCount * sizeof(srVec3f));
            fleshStep(&body);
        }
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            assert_true(srDotF(body.state.offsets[i], body.state.offsets[i]) == 0.0f);
            assert_true(srDotF(body.state.velocities[i], body.state.velocities[i]) == 0.0f);
        }
        fleshSetPose(body.from, &body);
        fleshSetPose(body.to, &body);
        startTurning(&body);
        body.state.pastSeconds = 0.0;
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            body.state.velocities[i].z += 1.0f;
        }
        double first = srLength(findMotion(&body).spin);
        for (int frame = 0; frame < 24; ++frame) {
            fleshStep(&body);
        }
        double spin = srLength(findMotion(&body).spin) / first;
        double speed = 0.0;
        double volume = 0.0;
        for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
            speed += (double)(body.rest.nodeVolumes[i] * body.state.velocities[i].z);
            volume += (double)body.rest.nodeVolumes[i];
        }
        speed /= volume;
        print_message(
            "%s, %d substeps: a second leaves %.4f of a spin and %.4f of a speed, exp(-2) is %.4f\n",
            k < 2 ? "theta" : "BDF2", dials.substeps, spin, speed, exp(-2.0));
        assert_near(spin / speed, 1.0, 2e-3);
        fleshDestroy(&body);
    }
}

static uint64_t turnTwoLarge(void) {
    static const int32_t LARGE[3] = {9, 24, 8};
    FleshBody body;
    createTwoBars(&body, LARGE, 0.0f, 8);
    assert_true(body.rest.pieces.pieceCount == 2 && body.rest.pieces.seatCount > 4);
    srFleshDials dials = fleshDials(5e5, 0.48);
    dials.largestOffset = 100.0;
    fleshTune(&body, &dials);
    startTurning(&body);
    for (int frame = 1; frame <= 3; ++frame) {
        turnRig(&body, frame);
        fleshStep(&body);
    }
    uint64_t hash = fleshHash(&body);
    fleshDestroy(&body);
    return hash;
}

static void workers_and_vector_widths_do_not_change_a_bit(void** state) {
    (void)state;
    fleshAssertSameBits(turnTwoLarge);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flesh_keeps_its_momentum),
        cmocka_unit_test(free_flesh_keeps_its_spin),
        cmocka_unit_test(pieces_keep_accounts_of_their_own),
        cmocka_unit_test(damping_takes_spin_as_it_takes_speed),
        cmocka_unit_test(workers_and_vector_widths_do_not_change_a_bit),
    };
    return cmocka_run_group_tests_name("solver/flesh_momentum", tests, NULL, srTestNothingLeaked);
}
