// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the rig turns the flesh, against maps whose turn is known; and which bone carries a character.

#include "support/support.h"

#include "rig/turns.h"

#include <math.h>

#define NODES 3

// node 0 on map 0, node 1 half and half, node 2 on map 1
static void makeWeights(srNodeWeights* weights) {
    const float dense[NODES][2] = {{1.0f, 0.0f}, {0.5f, 0.5f}, {0.0f, 1.0f}};
    assert_success(srCreateNodeWeights(&dense[0][0], NODES, 2, weights));
}

static srMat34 makeMap(double angle, double scale, srVec3 place) {
    double c = scale * cos(angle);
    double s = scale * sin(angle);
    return (srMat34){{{c, -s, 0, place.x}, {s, c, 0, place.y}, {0, 0, scale, place.z}}};
}

static void assertTurn(const srMat3* R, double angle) {
    srMat34 expected = makeMap(angle, 1.0, (srVec3){0.0, 0.0, 0.0});
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            assert_near(R->m[i][j], expected.m[i][j], 1e-14); // a few roundings
        }
    }
}

static void stretch_and_place_do_not_turn(void** state) {
    (void)state;
    srNodeWeights weights;
    makeWeights(&weights);
    srMat34 maps[2] = {makeMap(0.3, 5.0, (srVec3){1.0, 2.0, 3.0}),
                       makeMap(0.9, 5.0, (srVec3){0.0, -9.0, 1.0})};
    srMat3 turns[NODES];
    srTurnNodes(&weights, maps, turns);
    assertTurn(&turns[0], 0.3);
    assertTurn(&turns[1], 0.6);
    assertTurn(&turns[2], 0.9);
    srDestroyNodeWeights(&weights);
}

static void the_identity_stays_exactly_the_identity(void** state) {
    (void)state;
    srNodeWeights weights;
    makeWeights(&weights);
    srMat34 maps[2] = {srIdentity34(), srIdentity34()};
    srMat3 turns[NODES];
    srMat3 identity = srIdentity3();
    srTurnNodes(&weights, maps, turns);
    for (int32_t node = 0; node < NODES; ++node) {
        assert_memory_equal(&turns[node], &identity, sizeof(identity));
    }
    srDestroyNodeWeights(&weights);
}

static void a_mirrored_rig_gives_a_reflection(void** state) {
    (void)state;
    srNodeWeights weights;
    makeWeights(&weights);
    srMat34 mirror = {{{-2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    srMat34 maps[2] = {mirror, mirror};
    srMat3 turns[NODES];
    srTurnNodes(&weights, maps, turns);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            assert_near(turns[1].m[i][j], i != j ? 0.0 : i == 0 ? -1.0 : 1.0, 1e-14);
        }
    }
    srDestroyNodeWeights(&weights);
}

static void a_rig_that_squashes_flat_still_gives_a_turn(void** state) {
    (void)state;
    srNodeWeights weights;
    makeWeights(&weights);
    srMat34 maps[2] = {{{{0}}}, {{{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}}};
    srMat3 turns[NODES];
    srTurnNodes(&weights, maps, turns);
    for (int32_t node = 0; node < NODES; ++node) {
        srMat3 transposed = srTranspose3(&turns[node]);
        srMat3 product = srMul3(&transposed, &turns[node]);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                assert_near(product.m[i][j], i == j ? 1.0 : 0.0, 1e-13);
            }
        }
    }
    srDestroyNodeWeights(&weights);
}

static void turning_back_undoes_turning(void** state) {
    (void)state;
    srMat34 map = makeMap(1.1, 1.0, (srVec3){0.0, 0.0, 0.0});
    srMat3 R;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            R.m[i][j] = map.m[i][j];
        }
    }
    srVec3 v = {0.3, -2.0, 5.0};
    srVec3 back = srTurnBack(&R, srTurnVector(&R, v));
    assert_near(srDistance(back, v), 0.0, 1e-14);
}

static void the_heaviest_tree_of_bones_carries_the_character(void** state) {
    (void)state;
    // bones: 0 root of 1; 2 root alone; map 3 is the object
    const float dense[NODES][4] = {
        {0.0f, 1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 1.0f}};
    const int32_t parents[3] = {SR_NULL_INDEX, 0, SR_NULL_INDEX};
    srNodeWeights weights;
    assert_success(srCreateNodeWeights(&dense[0][0], NODES, 4, &weights));
    const double masses[3][NODES] = {{3.0, 2.0, 1.0}, {1.0, 3.0, 2.0}, {1.0, 2.0, 3.0}};
    assert_int_equal(srFindRootMap(&weights, masses[0], parents, 3), 0);
    assert_int_equal(srFindRootMap(&weights, masses[1], parents, 3), 2);
    assert_int_equal(srFindRootMap(&weights, masses[2], parents, 3), 3);
    srDestroyNodeWeights(&weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretch_and_place_do_not_turn),
        cmocka_unit_test(the_identity_stays_exactly_the_identity),
        cmocka_unit_test(a_mirrored_rig_gives_a_reflection),
        cmocka_unit_test(a_rig_that_squashes_flat_still_gives_a_turn),
        cmocka_unit_test(turning_back_undoes_turning),
        cmocka_unit_test(the_heaviest_tree_of_bones_carries_the_character),
    };
    return cmocka_run_group_tests_name("rig/turns", tests, NULL, srTestNothingLeaked);
}
