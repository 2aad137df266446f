// SPDX-License-Identifier: GPL-3.0-or-later
//
// Spreading by its laws: what all say alike is said everywhere, what is linear stays so, who is not heard
// says nothing, and parts that are not connected know nothing of each other.

#include "weights/spread.h"

#include "core/alloc.h"
#include "mesh/solids.h"

#include <string.h>

typedef struct Skin {
    srCage cage;
    srEmbedding embedding;
    srVec3* points;
    uint8_t* isHeard;
    int32_t count;
} Skin;

// vertices on the faces of a block of unit cubes, half a cube apart
static Skin makeSkin(int nx, int ny, int nz) {
    Skin skin = {0};
    makeBlock(nx, ny, nz, 1.0, &skin.cage);
    size_t room = (size_t)(2 * nx + 1) * (size_t)(2 * ny + 1) * (size_t)(2 * nz + 1);
    skin.points = malloc(room * sizeof(srVec3));
    skin.isHeard = malloc(room);
    for (int i = 0; i <= 2 * nx; i++) {
        for (int j = 0; j <= 2 * ny; j++) {
            for (int k = 0; k <= 2 * nz; k++) {
                if (i % (2 * nx) == 0 || j % (2 * ny) == 0 || k % (2 * nz) == 0) {
                    skin.points[skin.count++] = (srVec3){0.5 * i, 0.5 * j, 0.5 * k};
                }
            }
        }
    }
    memset(skin.isHeard, 1, room);
    assert_success(srCreateEmbedding(&skin.cage, skin.points, NULL, skin.count, &skin.embedding));
    return skin;
}

static void freeSkin(Skin* skin) {
    srDestroyEmbedding(&skin->embedding);
    srDestroyCage(&skin->cage);
    free(skin->points);
    free(skin->isHeard);
}

static double linear(srVec3 p) {
    return 0.25 + 0.5 * p.x - 0.125 * p.y + p.z;
}

static void checkConstant(Skin* skin) {
    srSpread* spread = NULL;
    double* column = calloc((size_t)skin->cage.nodeCount, sizeof(double));
    assert_success(srCreateSpread(&skin->cage, &skin->embedding, skin->isHeard, NULL, &spread));
    for (int32_t v = 0; v < skin->count; v++) {
        srSpread_Say(spread, v, 3.0, column);
    }
    assert_success(srSpread_Solve(spread, column, 1));
    for (int32_t node = 0; node < skin->cage.nodeCount; node++) {
        // the anchor of 1e-9, over the nodes between here and the skin
        assert_near(column[node], 3.0, 1e-5);
    }
    srDestroySpread(spread);
    free(column);
}

static void what_all_say_is_said_everywhere_in_small_and_large_cages(void** state) {
    (void)state;
    Skin small = makeSkin(4, 3, 2);
    checkConstant(&small);
    freeSkin(&small);
    // beyond the size from which the factor is dissected
    Skin large = makeSkin(25, 24, 25);
    assert_true(large.cage.nodeCount > 15000);
    checkConstant(&large);
    freeSkin(&large);
}

static void where_the_skin_is_everywhere_linear_values_are_met(void** state) {
    (void)state;
    // one cube deep every node is on the skin; smoothness bends ends only, a hundredth as strong as the skin
    Skin skin = makeSkin(5, 1, 1);
    srSpread* spread = NULL;
    double column[24] = {0};
    assert_int_equal(skin.cage.nodeCount, 24);
    assert_success(srCreateSpread(&skin.cage, &skin.embedding, skin.isHeard, NULL, &spread));
    for (int32_t v = 0; v < skin.count; v++) {
        srSpread_Say(spread, v, linear(skin.points[v]), column);
    }
    assert_success(srSpread_Solve(spread, column, 1));
    for (int32_t node = 0; node < 24; node++) {
        assert_near(column[node], linear(skin.cage.nodes[node]), 0.05);
    }
    srDestroySpread(spread);
    freeSkin(&skin);
}

static void who_is_not_heard_changes_nothing(void** state) {
    (void)state;
    Skin skin = makeSkin(4, 2, 2);
    srSpread* spread = NULL;
    double* quiet = calloc((size_t)skin.cage.nodeCount, sizeof(double));
    double* loud = calloc((size_t)skin.cage.nodeCount, sizeof(double));
    for (int32_t v = 0; v < skin.count; v++) {
        skin.isHeard[v] = skin.points[v].x < 2.0;
    }
    assert_success(srCreateSpread(&skin.cage, &skin.embedding, skin.isHeard, NULL, &spread));
    for (int32_t v = 0; v < skin.count; v++) {
        srSpread_Say(spread, v, skin.points[v].x < 2.0 ? 1.0 : 1000.0, loud);
        if (skin.isHeard[v]) {
            srSpread_Say(spread, v, 1.0, quiet);
        }
    }
    size_t bytes = sizeof(double) * (size_t)skin.cage.nodeCount;
    assert_memory_equal(quiet, loud, bytes);
    assert_success(srSpread_Solve(spread, quiet, 1));
    for (int32_t node = 0; node < skin.cage.nodeCount; node++) {
        // what only a part says is carried on to where nobody speaks
        assert_near(quiet[node], 1.0, 1e-5);
    }
    srDestroySpread(spread);
    free(quiet);
    free(loud);
    freeSkin(&skin);
}

static void columns_do_not_mix(void** state) {
    (void)state;
    Skin skin = makeSkin(3, 2, 2);
    size_t n = (size_t)skin.cage.nodeCount;
    srSpread* spread = NULL;
    double* both = calloc(2 * n, sizeof(double));
    double* alone = calloc(n, sizeof(double));
    assert_success(srCreateSpread(&skin.cage, &skin.embedding, skin.isHeard, NULL, &spread));
    for (int32_t v = 0; v < skin.count; v++) {
        srSpread_Say(spread, v, skin.points[v].x, both);
        srSpread_Say(spread, v, linear(skin.points[v]), both + n);
        srSpread_Say(spread, v, linear(skin.points[v]), alone);
    }
    assert_success(srSpread_Solve(spread, both, 2));
    assert_success(srSpread_Solve(spread, alone, 1));
    for (size_t i = 0; i < n; i++) {
        // other kernels for one column than for two
        assert_near(both[n + i], alone[i], 1e-12);
    }
    srDestroySpread(spread);
    free(both);
    free(alone);
    freeSkin(&skin);
}

static srResult createOnly(void* context) {
    const Skin* skin = context;
    srSpread* spread = NULL;
    SR_TRY(srCreateSpread(&skin->cage, &skin->embedding, skin->isHeard, NULL, &spread));
    srDestroySpread(spread);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Skin skin = makeSkin(2, 1, 1);
    srTestEveryAllocationFails(createOnly, &skin);
    freeSkin(&skin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_say_is_said_everywhere_in_small_and_large_cages),
        cmocka_unit_test(where_the_skin_is_everywhere_linear_values_are_met),
        cmocka_unit_test(who_is_not_heard_changes_nothing),
        cmocka_unit_test(columns_do_not_mix),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests_name("weights/spread", tests, NULL, srTestNothingLeaked);
}
