// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/hints.h"

#include "mesh/embedding.h"
#include "mesh/overlap.h"

enum {
    vertexCount = 300,
    pointCount = 200
};

static srVec3 vertices[vertexCount], points[pointCount];
static int32_t cells[vertexCount], hints[pointCount];

static void scatter(void) {
    uint64_t seed = 77;
    for (int v = 0; v < vertexCount; v++) {
        vertices[v] = randomPoint(&seed, 1.0);
        cells[v] = v % 11 == 0 ? SR_NULL_INDEX : 1000 + v;
    }
    vertices[5].x = (double)NAN;
    for (int i = 0; i < pointCount; i++) {
        points[i] = randomPoint(&seed, i % 3 == 0 ? 30.0 : 1.0);
    }
    points[7].y = HUGE_VAL;
}

static void hints_are_those_of_the_nearest_vertex(void** state) {
    (void)state;
    scatter();
    assert_success(srFindNearestHints(vertices, cells, vertexCount, points, pointCount, hints));
    for (int i = 0; i < pointCount; i++) {
        int32_t expected = SR_NULL_INDEX;
        double best = HUGE_VAL;
        for (int v = 0; v < vertexCount && i != 7; v++) {
            double d = srDistance(vertices[v], points[i]);
            if (cells[v] != SR_NULL_INDEX && d < best) {
                best = d;
                expected = cells[v];
            }
        }
        assert_int_equal(hints[i], expected);
    }
}

static void without_a_vertex_of_use_nothing_is_known(void** state) {
    (void)state;
    scatter();
    assert_success(srFindNearestHints(vertices, cells, 1, points, pointCount, hints));
    for (int i = 0; i < pointCount; i++) {
        assert_int_equal(hints[i], SR_NULL_INDEX);
    }
    hints[0] = 3;
    assert_success(srFindNearestHints(NULL, NULL, 0, points, 1, hints));
    assert_int_equal(hints[0], SR_NULL_INDEX);
    assert_success(srFindNearestHints(vertices, cells, vertexCount, NULL, 0, NULL));
}

static void followers_stay_with_the_part_they_are_worn_on(void** state) {
    (void)state;
    srCage cage;
    srEmbedding skin, sleeve;
    makeOverlap((srVec3){0.0, 0.9, 0.0}, &cage);
    int32_t* pieces = findPieces(&cage);
    // vertices of both pieces in turns, all where the two overlap; a glove a little off each of them
    for (int v = 0; v < vertexCount; v++) {
        int32_t node = (v * 7) % cage.nodeCount;
        vertices[v] = cage.nodes[node];
        cells[v] = SR_NULL_INDEX;
        for (int32_t cell = 0; cell < cage.cellCount && cells[v] == SR_NULL_INDEX; cell++) {
            for (int c = 0; c < 4; c++) {
                cells[v] = cage.cells[cell][c] == node ? cell : cells[v];
            }
        }
    }
    assert_success(srCreateEmbedding(&cage, vertices, cells, vertexCount, &skin));
    for (int i = 0; i < pointCount; i++) {
        points[i] = srAdd(vertices[i], (srVec3){1e-3, 2e-3, -1e-3});
    }
    assert_success(srFindNearestHints(vertices, skin.cells, vertexCount, points, pointCount, hints));
    assert_success(srCreateEmbedding(&cage, points, hints, pointCount, &sleeve));
    for (int i = 0; i < pointCount; i++) {
        for (int c = 0; c < 4; c++) {
            assert_int_equal(pieces[sleeve.nodes[i][c]], pieces[skin.nodes[i][0]]);
        }
    }
    free(pieces);
    srDestroyEmbedding(&skin);
    srDestroyEmbedding(&sleeve);
    srDestroyCage(&cage);
}

static srResult findSome(void* context) {
    (void)context;
    return srFindNearestHints(vertices, cells, vertexCount, points, pointCount, hints);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    scatter();
    srTestEveryAllocationFails(findSome, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hints_are_those_of_the_nearest_vertex, srTestNothingLeaked),
        cmocka_unit_test_teardown(without_a_vertex_of_use_nothing_is_known, srTestNothingLeaked),
        cmocka_unit_test_teardown(followers_stay_with_the_part_they_are_worn_on, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/hints", tests, NULL, NULL);
}
