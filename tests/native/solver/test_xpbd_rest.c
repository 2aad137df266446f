// SPDX-License-Identifier: GPL-3.0-or-later
//
// The solver's constants: volumes add up, order is a permutation, dials arrive where they should.

#include "support/support.h"

#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t COUNTS[3] = {3, 6, 2};
#define SPACING 0.2
#define VOLUME (3 * 6 * 2 * SPACING * SPACING * SPACING)

static double sum(const float* values, int32_t count) {
    double total = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        total += (double)values[i];
    }
    return total;
}

static void volumes_of_nodes_edges_and_cells_each_add_up(void** state) {
    (void)state;
    srTestBody body;
    assert_success(srTestCreateBody(COUNTS, SPACING, &body));
    const srXpbdRest* rest = &body.rest;
    // sums of floats of a few units of rounding each
    assert_near(sum(rest->nodeVolumes, rest->nodeCount), VOLUME, 1e-6 * VOLUME);
    assert_near(sum(rest->edgeVolumes, rest->edgeChunks.constraintCount), VOLUME, 1e-6 * VOLUME);
    assert_near(sum(rest->cellVolumes, rest->cellChunks.constraintCount), VOLUME, 1e-6 * VOLUME);
    srTestDestroyBody(&body);
}

static void constraints_are_the_cage_s_in_the_order_of_solving(void** state) {
    (void)state;
    srTestBody body;
    assert_success(srTestCreateBody(COUNTS, SPACING, &body));
    const srXpbdRest* rest = &body.rest;
    assert_int_equal(rest->edgeChunks.constraintCount, body.cage.edgeCount);
    assert_int_equal(rest->cellChunks.constraintCount, body.cage.cellCount);
    for (int32_t place = 0; place < body.cage.edgeCount; ++place) {
        const int32_t* ends = body.cage.edges[rest->edgeChunks.order[place]];
        assert_memory_equal(rest->edges[place], ends, 2 * sizeof(int32_t));
        double length = srDistance(body.cage.nodes[ends[0]], body.cage.nodes[ends[1]]);
        assert_near((double)rest->edgeLengths[place], length, 1e-7 * length);
    }
    for (int32_t place = 0; place < body.cage.cellCount; ++place) {
        const int32_t* corners = body.cage.cells[rest->cellChunks.order[place]];
        assert_memory_equal(rest->cells[place], corners, 4 * sizeof(int32_t));
    }
    srTestDestroyBody(&body);
}

static void held_nodes_have_no_inverse_mass_and_free_ones_their_own(void** state) {
    (void)state;
    srTestBody body;
    assert_success(srTestCreateBody(COUNTS, SPACING, &body));
    int32_t heldCount = 0;
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        double inverseMass = (double)body.tuning.inverseMasses[i];
        double mass = 1000.0 * (double)body.rest.nodeVolumes[i];
        bool isHeld = body.cage.nodes[i].y < 0.5 * SPACING;
        heldCount += isHeld;
        assert_near(inverseMass, isHeld ? 0.0 : 1.0 / mass, 1e-6 / mass);
        double hOmega = 2.0 * 3.14159265358979 * 2.0 / 240.0;
        assert_near((double)body.tuning.bondFactors[i], isHeld ? 0.0 : 1.0 / (1.0 + hOmega * hOmega), 1e-6);
    }
    assert_int_equal(heldCount, 4 * 3);
    srTestDestroyBody(&body);
}

static void a_scaled_object_is_tuned_as_a_character_of_that_size(void** state) {
    (void)state;
    // powers of two, so that nothing but the exponents differs
    for (int exponent = -10; exponent <= 10; exponent += 5) {
        double scale = ldexp(1.0, exponent);
        srTestBody small;
        srTestBody large;
        assert_success(srTestCreateBody(COUNTS, 0.25, &small));
        assert_success(srTestCreateBody(COUNTS, 0.25 * scale, &large));
        srXpbdDials dials = srTestDials(&large);
        dials.scale = scale;
        srTestBody_Tune(&small, &dials);
        size_t nodeBytes = sizeof(float) * (size_t)small.cage.nodeCount;
        assert_memory_equal(small.tuning.inverseMasses, large.tuning.inverseMasses, nodeBytes);
        assert_memory_equal(small.tuning.bondFactors, large.tuning.bondFactors, nodeBytes);
        assert_memory_equal(small.tuning.edgeCompliances, large.tuning.edgeCompliances,
                            sizeof(float) * (size_t)small.cage.edgeCount);
        assert_memory_equal(small.tuning.cellCompliances, large.tuning.cellCompliances,
                            sizeof(float) * (size_t)small.cage.cellCount);
        srTestDestroyBody(&small);
        srTestDestroyBody(&large);
    }
}

// one painted map over a body: `factor` at every second node, and nothing at the others
static void tuneWithMap(srTestBody* body, const float** map, srXpbdMaps* maps, float* values, float factor,
                        float unpainted) {
    for (int32_t i = 0; i < body->cage.nodeCount; ++i) {
        values[i] = i % 2 == 0 ? factor : unpainted;
    }
    *map = values;
    srXpbdDials dials = srTestDials(body);
    dials.maps = *maps;
    srTestBody_Tune(body, &dials);
    *map = NULL;
}

static void painted_maps_change_what_they_name_and_nothing_else(void** state) {
    (void)state;
    srTestBody plain, painted;
    assert_success(srTestCreateBody(COUNTS, SPACING, &plain));
    assert_success(srTestCreateBody(COUNTS, SPACING, &painted));
    srXpbdDials dials = srTestDials(&plain);
    srTestBody_Tune(&plain, &dials);
    const srXpbdTuning *a = &plain.tuning, *b = &painted.tuning;
    float* values = malloc(sizeof(float) * (size_t)plain.cage.nodeCount);
    assert_non_null(values);
    size_t nodeBytes = sizeof(float) * (size_t)plain.cage.nodeCount;
    size_t edgeBytes = sizeof(float) * (size_t)plain.cage.edgeCount;
    srXpbdMaps maps = {0};

    tuneWithMap(&painted, &maps.stiffness, &maps, values, 1.0f, 1.0f);
    assert_memory_equal(a->edgeCompliances, b->edgeCompliances, edgeBytes);
    assert_memory_equal(a->bondFactors, b->bondFactors, nodeBytes);

    // four times as stiff: edges between such nodes give a quarter, half of that factor where one end is so
    tuneWithMap(&painted, &maps.stiffness, &maps, values, 4.0f, 1.0f);
    assert_memory_equal(a->inverseMasses, b->inverseMasses, nodeBytes);
    for (int32_t j = 0; j < plain.cage.edgeCount; ++j) {
        const int32_t* ends = plain.rest.edges[j];
        double factor = (ends[0] % 2 == 0 ? 2.0 : 1.0) * (ends[1] % 2 == 0 ? 2.0 : 1.0);
        assert_near((double)b->edgeCompliances[j] * factor / (double)a->edgeCompliances[j], 1.0, 1e-6);
    }

    // twice the mass, and a slower swing: omega^2 = k / m is half of it
    tuneWithMap(&painted, &maps.mass, &maps, values, 2.0f, 1.0f);
    assert_memory_equal(a->edgeCompliances, b->edgeCompliances, edgeBytes);
    for (int32_t i = 0; i < plain.cage.nodeCount; ++i) {
        float share = i % 2 == 0 ? 2.0f : 1.0f;
        assert_true(b->inverseMasses[i] * share == a->inverseMasses[i]);
        bool isFree = a->inverseMasses[i] > 0.0f && plain.rest.holds[i] == 0.0f;
        double pull = 1.0 / (double)a->bondFactors[i] - 1.0, painted1 = 1.0 / (double)b->bondFactors[i] - 1.0;
        // two floats just below one, whose difference from it is about 1e-3
        assert_true(!isFree || fabs(painted1 * (double)share / pull - 1.0) < 1e-3);
    }

    // damping changes what is left of velocities alone
    tuneWithMap(&painted, &maps.damping, &maps, values, 3.0f, 1.0f);
    assert_memory_equal(a->bondFactors, b->bondFactors, nodeBytes);
    for (int32_t i = 0; i < plain.cage.nodeCount; ++i) {
        assert_true(i % 2 == 0 ? b->velocitiesLeft[i] < a->velocitiesLeft[i]
                               : b->velocitiesLeft[i] == a->velocitiesLeft[i]);
    }
    free(values);
    srTestDestroyBody(&plain);
    srTestDestroyBody(&painted);
}

// The more of both maps counts: fully painted it stands still, else it is pulled the harder. Bonds are of
// bones alone.
static void paint_pulls_a_node_or_fixes_it(void** state) {
    (void)state;
    srTestBody body;
    assert_success(srTestCreateBody(COUNTS, SPACING, &body));
    const float painted[] = {0.0f, 0.5f, 1.0f};
    const double pulls[] = {1.0, 1.0 + 2.0 * (4.0 - 1.0)};
    size_t nodeCount = (size_t)body.cage.nodeCount;
    float* holds = malloc(sizeof(float) * nodeCount);
    float* pins = malloc(sizeof(float) * nodeCount);
    float* plain = malloc(sizeof(float) * nodeCount);
    assert_true(holds != NULL && pins != NULL && plain != NULL);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        body.rest.holds[i] = painted[i % 3];
        holds[i] = painted[i / 3 % 3];
        pins[i] = painted[i / 9 % 3];
    }
    srXpbdDials dials = srTestDials(&body);
    srTestBody_Tune(&body, &dials);
    memcpy(plain, body.tuning.bondFactors, sizeof(float) * nodeCount);
    dials.maps = (srXpbdMaps){.hold = holds, .pin = pins};
    srTestBody_Tune(&body, &dials);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        float paint = fmaxf(holds[i], pins[i]);
        assert_true(srFindPaintedHold(&dials.maps, i) == paint);
        float hold = paint == 1.0f ? 1.0f : body.rest.holds[i];
        assert_true(srFindHold(&body.rest, &dials.maps, i) == hold);
        assert_true((body.tuning.inverseMasses[i] == 0.0f) == (hold == 1.0f));
        if (hold == 0.0f) {
            double expected = pulls[paint == 0.5f];
            assert_near(srFindPaintedPull(&dials.maps, i), expected, 1e-12);
            double pull = 1.0 / (double)body.tuning.bondFactors[i] - 1.0;
            // two floats just below one, whose difference from it is about 1e-3
            assert_near(pull / (1.0 / (double)plain[i] - 1.0) / expected, 1.0, 1e-3);
        }
    }
    // without end at a paint of one, but a number
    srXpbdMaps nearly = {.hold = holds};
    holds[0] = 0.9989f;
    holds[1] = 0.999f;
    assert_true(srFindPaintedPull(&nearly, 0) > 1e6 && srFindPaintedPull(&nearly, 1) < 1e7);
    free(holds);
    free(pins);
    free(plain);
    srTestDestroyBody(&body);
}

static srResult makeRestAndTuning(void* context) {
    const srTestBody* body = context;
    srXpbdShape shape = {
        .nodes = body->cage.nodes,
        .nodeCount = body->cage.nodeCount,
        .edges = (const int32_t (*)[2])body->cage.edges,
        .edgeCount = body->cage.edgeCount,
        .cells = (const int32_t (*)[4])body->cage.cells,
        .cellCount = body->cage.cellCount,
        .holds = body->rest.holds,
        .boneDistances = body->rest.boneDistances,
    };
    srXpbdRest rest;
    srXpbdTuning tuning = {0};
    srResult result = srCreateXpbdRest(&shape, &rest);
    if (result == sr_success) {
        result = srCreateXpbdTuning(&rest, &tuning);
    }
    srDestroyXpbdTuning(&rest, &tuning);
    srDestroyXpbdRest(&rest);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestBody body;
    assert_success(srTestCreateBody(COUNTS, SPACING, &body));
    srTestEveryAllocationFails(makeRestAndTuning, &body);
    srTestDestroyBody(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_of_nodes_edges_and_cells_each_add_up),
        cmocka_unit_test(constraints_are_the_cage_s_in_the_order_of_solving),
        cmocka_unit_test(held_nodes_have_no_inverse_mass_and_free_ones_their_own),
        cmocka_unit_test(a_scaled_object_is_tuned_as_a_character_of_that_size),
        cmocka_unit_test(painted_maps_change_what_they_name_and_nothing_else),
        cmocka_unit_test(paint_pulls_a_node_or_fixes_it),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("solver/xpbd_rest", tests, NULL, srTestNothingLeaked);
}
