// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the cage goes with its skin: what must be true of any such map.

#include "weights/skin_map.h"

#include "core/parallel.h"
#include "math/simd_path.h"
#include "mesh/overlap.h"

// A cage with vertices in it, and the map from them
typedef struct Case {
    srCage cage;
    srVec3* vertices;
    float* skin;
    srVec3* nodes;
    void* scratch;
    srEmbedding embedding;
    srSkinMap map;
    int32_t vertexCount;
} Case;

typedef srVec3 Motion(srVec3 p);

static srVec3 stay(srVec3 p) {
    return p;
}

static srVec3 moveAffinely(srVec3 p) {
    return (srVec3){0.3 * p.x - 1.1 * p.y + 0.2 * p.z + 4.0, 0.9 * p.x + 0.1 * p.y - 0.4 * p.z - 2.0,
                    -0.5 * p.x + 0.7 * p.y + 1.3 * p.z + 1.0};
}

// A bar along x, from 0 to 2, bends upwards by a radian
static srVec3 bend(srVec3 p) {
    double angle = 0.5 * p.x, radius = 2.0 - p.y;
    return (srVec3){radius * sin(angle), 2.0 - radius * cos(angle), p.z};
}

static srVec3 turn(srVec3 p) {
    return (srVec3){0.6 * p.x - 0.8 * p.z, p.y, 0.8 * p.x + 0.6 * p.z};
}

static srVec3 bendAndTurn(srVec3 p) {
    return turn(bend(p));
}

static void moveSkin(Case* c, Motion* motion) {
    for (int32_t v = 0; v < c->vertexCount; v++) {
        srVec3f p = srToFloat(motion(c->vertices[v]));
        memcpy(c->skin + 3 * (size_t)v, &p, sizeof(p));
    }
}

static int32_t place(Case* c) {
    int32_t skipped = -1;
    srSkinMap_PlaceNodes(&c->map, c->skin, c->scratch, c->nodes, &skipped);
    return skipped;
}

// Vertices on the outside of a block of 2 x 1 x 1, or what `flatten` makes of them
static void openCase(Case* c, int32_t vertexCount, Motion* flatten) {
    uint64_t seed = 8;
    makeBlock(12, 6, 6, 1.0 / 6.0, &c->cage);
    c->vertexCount = vertexCount;
    c->vertices = calloc((size_t)vertexCount + 1, sizeof(srVec3));
    c->skin = calloc((size_t)vertexCount + 1, 12);
    for (int32_t v = 0; v < vertexCount; v++) {
        double u[3] = {srTestRandom(&seed), srTestRandom(&seed), srTestRandom(&seed)};
        u[v % 3] = v % 2;
        c->vertices[v] = flatten((srVec3){2.0 * u[0], u[1], u[2]});
    }
    assert_success(srCreateEmbedding(&c->cage, c->vertices, NULL, vertexCount, &c->embedding));
    assert_success(srCreateSkinMap(&c->cage, &c->embedding, c->vertices, &c->map));
    c->nodes = calloc((size_t)c->cage.nodeCount, sizeof(srVec3));
    c->scratch = aligned_alloc(64, (srSkinMap_GetScratchSize(&c->map) + 63) / 64 * 64);
}

static void closeCase(Case* c) {
    srDestroySkinMap(&c->map);
    srDestroyEmbedding(&c->embedding);
    srDestroyCage(&c->cage);
    free(c->vertices);
    free(c->skin);
    free(c->nodes);
    free(c->scratch);
}

static double largestDistance(const Case* c, Motion* motion) {
    double largest = 0.0;
    for (int32_t node = 0; node < c->cage.nodeCount; node++) {
        double d = srDistance(c->nodes[node], motion(c->cage.nodes[node]));
        assert_true(isfinite(d));
        largest = fmax(largest, d);
    }
    return largest;
}

static void affine_motion_of_the_skin_is_that_of_the_cage(void** state) {
    (void)state;
    Case c = {0};
    openCase(&c, 3000, stay);
    moveSkin(&c, moveAffinely);
    assert_int_equal(place(&c), 0);
    // the skin's own floats, of up to 8
    assert_near(largestDistance(&c, moveAffinely), 0.0, 2e-6);
    moveSkin(&c, stay);
    place(&c);
    assert_near(largestDistance(&c, stay), 0.0, 2e-7);
    closeCase(&c);
}

static void a_bend_is_followed_within_and_on_the_skin(void** state) {
    (void)state;
    Case c = {0};
    double worst = 0.0;
    openCase(&c, 3000, stay);
    moveSkin(&c, bend);
    place(&c);
    for (int32_t v = 0; v < c.vertexCount; v++) {
        srVec3 q = {0};
        for (int k = 0; k < 4; k++) {
            q = srMulAdd(q, (double)c.embedding.weights[v][k], c.nodes[c.embedding.nodes[v][k]]);
        }
        worst = fmax(worst, srDistance(q, bend(c.vertices[v])));
    }
    // straight cells of a sixth cannot follow a curve of radius two closer than (1/6)^2 / 16
    assert_true(worst < 3e-3);
    // nodes on the edges of the block lie outside of all that the vertices say: a tenth of a cell
    assert_true(largestDistance(&c, bend) < 0.017);
    closeCase(&c);
}

static void turning_the_skin_turns_the_cage(void** state) {
    (void)state;
    Case c = {0};
    openCase(&c, 1000, stay);
    srVec3* expected = malloc(sizeof(srVec3) * (size_t)c.cage.nodeCount);
    moveSkin(&c, bend);
    place(&c);
    memcpy(expected, c.nodes, sizeof(srVec3) * (size_t)c.cage.nodeCount);
    moveSkin(&c, bendAndTurn);
    place(&c);
    for (int32_t node = 0; node < c.cage.nodeCount; node++) {
        assert_near(srDistance(c.nodes[node], turn(expected[node])), 0.0, 1e-6);
    }
    free(expected);
    closeCase(&c);
}

static srVec3 toPlane(srVec3 p) {
    return (srVec3){p.x, 0.5, p.z};
}

// A plane as floats have it
static srVec3 toNoisyPlane(srVec3 p) {
    return (srVec3){p.x, 0.5 + 1e-6 * sin(1e4 * p.x + 2e4 * p.z), p.z};
}

static srVec3 toLine(srVec3 p) {
    return (srVec3){p.x, 0.5, 0.5};
}

static srVec3 toPoint(srVec3 p) {
    (void)p;
    return (srVec3){1.0, 0.5, 0.5};
}

static void flat_straight_and_tiny_skins_are_completed_by_a_rotation(void** state) {
    (void)state;
    Motion* kinds[4] = {toPlane, toLine, toPoint, toNoisyPlane};
    for (int kind = 0; kind < 4; kind++) {
        Case c = {0};
        openCase(&c, kind == 2 ? 1 : 500, kinds[kind]);
        moveSkin(&c, turn);
        assert_int_equal(place(&c), 0);
        double before = srDistance(c.cage.nodes[0], c.cage.nodes[c.cage.nodeCount - 1]);
        // distances of a rotation, wherever the free axis points; waves of a millionth tilt what lies far off
        assert_near(srDistance(c.nodes[0], c.nodes[c.cage.nodeCount - 1]), before, kind == 3 ? 1e-3 : 1e-5);
        if (kind == 0) {
            assert_near(largestDistance(&c, turn), 0.0, 1e-5);
        }
        moveSkin(&c, bend);
        place(&c);
        // nothing flies away
        assert_true(largestDistance(&c, bend) < 3.0);
        closeCase(&c);
    }
}

static void without_skin_the_cage_rests(void** state) {
    (void)state;
    Case c = {0};
    openCase(&c, 0, stay);
    assert_int_equal(place(&c), 0);
    assert_near(largestDistance(&c, stay), 0.0, 1e-12);
    closeCase(&c);
    openCase(&c, 100, stay);
    for (int i = 0; i < 300; i++) {
        c.skin[i] = NAN;
    }
    assert_int_equal(place(&c), 100);
    assert_near(largestDistance(&c, stay), 0.0, 1e-12);
    closeCase(&c);
}

static void places_that_are_not_finite_are_passed_over(void** state) {
    (void)state;
    Case c = {0};
    openCase(&c, 3000, stay);
    moveSkin(&c, moveAffinely);
    for (int v = 0; v < 3000; v += 10) {
        c.skin[3 * v + v / 10 % 3] = v % 20 == 0 ? NAN : INFINITY;
    }
    assert_int_equal(place(&c), 300);
    assert_near(largestDistance(&c, moveAffinely), 0.0, 2e-6);
    for (int i = 0; i < 9000; i++) {
        c.skin[i] = i % 2 == 0 ? 3e38f : -3e38f;
    }
    place(&c);
    for (int32_t node = 0; node < c.cage.nodeCount; node++) {
        assert_true(isfinite(c.nodes[node].x + c.nodes[node].y + c.nodes[node].z));
    }
    closeCase(&c);
}

static void vertices_that_are_nowhere_at_rest_say_nothing(void** state) {
    (void)state;
    const srVec3 rest[6] = {{0.1, 0.2, 0.3}, {1.9, 0.2, 0.4},         {0.4, 0.9, 0.3},
                            {0.3, 0.3, 0.8}, {(double)NAN, 0.0, 0.0}, {0.0, HUGE_VAL, 0.0}};
    float skin[18];
    Case c = {0};
    makeBlock(4, 2, 2, 0.5, &c.cage);
    assert_success(srCreateEmbedding(&c.cage, rest, NULL, 6, &c.embedding));
    assert_success(srCreateSkinMap(&c.cage, &c.embedding, rest, &c.map));
    c.nodes = calloc((size_t)c.cage.nodeCount, sizeof(srVec3));
    c.scratch = aligned_alloc(64, (srSkinMap_GetScratchSize(&c.map) + 63) / 64 * 64);
    for (int v = 0; v < 6; v++) {
        srVec3f p = srToFloat(v < 4 ? moveAffinely(rest[v]) : (srVec3){1e6, 1e6, 1e6});
        memcpy(skin + 3 * v, &p, sizeof(p));
    }
    srSkinMap_PlaceNodes(&c.map, skin, c.scratch, c.nodes, NULL);
    assert_near(largestDistance(&c, moveAffinely), 0.0, 2e-5);
    closeCase(&c);
}

static void pieces_without_skin_move_as_the_whole_does(void** state) {
    (void)state;
    Case c = {0};
    srVec3 vertices[200];
    float skin[600];
    uint64_t seed = 4;
    makeOverlap((srVec3){5.0, 0.0, 0.0}, &c.cage);
    for (int v = 0; v < 200; v++) {
        vertices[v] = (srVec3){2.0 * srTestRandom(&seed), srTestRandom(&seed), srTestRandom(&seed)};
        srVec3f p = srToFloat(moveAffinely(vertices[v]));
        memcpy(skin + 3 * v, &p, sizeof(p));
    }
    assert_success(srCreateEmbedding(&c.cage, vertices, NULL, 200, &c.embedding));
    assert_success(srCreateSkinMap(&c.cage, &c.embedding, vertices, &c.map));
    c.nodes = calloc((size_t)c.cage.nodeCount, sizeof(srVec3));
    c.scratch = aligned_alloc(64, (srSkinMap_GetScratchSize(&c.map) + 63) / 64 * 64);
    srSkinMap_PlaceNodes(&c.map, skin, c.scratch, c.nodes, NULL);
    // three sizes of the skin away from it
    assert_near(largestDistance(&c, moveAffinely), 0.0, 6e-6);
    closeCase(&c);
}

static void every_path_and_any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    Case c = {0};
    openCase(&c, 5000, stay);
    size_t bytes = sizeof(srVec3) * (size_t)c.cage.nodeCount;
    srVec3* expected = malloc(bytes);
    srSimdPath before = srGetSimdPath();
    int32_t workersBefore = srParallel_GetWorkerCount();
    moveSkin(&c, bend);
    place(&c);
    memcpy(expected, c.nodes, bytes);
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        for (int32_t workers = 1; workers <= 4 && srForceSimdPath((srSimdPath)path); workers++) {
            srParallel_SetWorkerCount(workers);
            place(&c);
            assert_memory_equal(c.nodes, expected, bytes);
        }
    }
    srParallel_SetWorkerCount(workersBefore);
    assert_true(srForceSimdPath(before));
    free(expected);
    closeCase(&c);
}

static srResult createAndDestroy(void* context) {
    const Case* c = context;
    srSkinMap map;
    SR_TRY(srCreateSkinMap(&c->cage, &c->embedding, c->vertices, &map));
    srDestroySkinMap(&map);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Case c = {0};
    srVec3 vertices[2] = {{0.2, 0.2, 0.2}, {0.7, 0.6, 0.5}};
    makeBlock(1, 1, 1, 1.0, &c.cage);
    c.vertices = malloc(sizeof(vertices));
    memcpy(c.vertices, vertices, sizeof(vertices));
    assert_success(srCreateEmbedding(&c.cage, c.vertices, NULL, 2, &c.embedding));
    srTestEveryAllocationFails(createAndDestroy, &c);
    closeCase(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(affine_motion_of_the_skin_is_that_of_the_cage, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_bend_is_followed_within_and_on_the_skin, srTestNothingLeaked),
        cmocka_unit_test_teardown(turning_the_skin_turns_the_cage, srTestNothingLeaked),
        cmocka_unit_test_teardown(flat_straight_and_tiny_skins_are_completed_by_a_rotation,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(without_skin_the_cage_rests, srTestNothingLeaked),
        cmocka_unit_test_teardown(places_that_are_not_finite_are_passed_over, srTestNothingLeaked),
        cmocka_unit_test_teardown(vertices_that_are_nowhere_at_rest_say_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(pieces_without_skin_move_as_the_whole_does, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_path_and_any_number_of_workers_gives_the_same_bits,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/skin_map", tests, NULL, NULL);
}
