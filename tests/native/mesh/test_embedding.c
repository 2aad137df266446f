// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/embedding.h"

#include "core/parallel.h"
#include "mesh/overlap.h"

enum {
    pointCount = 2000
};

static srVec3 points[pointCount];

// Around a block of 2 x 1 x 1: inside, outside, on nodes, far away.
static void scatterPoints(const srCage* cage) {
    uint64_t seed = 51;
    for (int i = 0; i < pointCount; i++) {
        srVec3 middle = {1.0, 0.5, 0.5};
        double extent = i % 10 == 0 ? 100.0 : 1.0;
        points[i] = i % 7 == 0 ? cage->nodes[i % cage->nodeCount] : srAdd(middle, randomPoint(&seed, extent));
    }
}

static bool isInBlock(srVec3 p) {
    return p.x >= 0.0 && p.y >= 0.0 && p.z >= 0.0 && p.x <= 2.0 && p.y <= 1.0 && p.z <= 1.0;
}

static srVec3 moveAffinely(srVec3 p) {
    return (srVec3){0.3 * p.x - 1.1 * p.y + 0.2 * p.z + 4.0, 0.9 * p.x + 0.1 * p.y - 0.4 * p.z - 2.0,
                    -0.5 * p.x + 0.7 * p.y + 1.3 * p.z + 1.0};
}

static double absoluteSum(const float w[4]) {
    return (double)(fabsf(w[0]) + fabsf(w[1]) + fabsf(w[2]) + fabsf(w[3]));
}

static srVec3 combine(const srEmbedding* embedding, int32_t i, const srVec3* nodes) {
    srVec3 sum = {0};
    for (int c = 0; c < 4; c++) {
        sum = srMulAdd(sum, (double)embedding->weights[i][c], nodes[embedding->nodes[i][c]]);
    }
    return sum;
}

static void affine_motion_is_exact_inside_and_outside(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    makeBlock(4, 2, 2, 0.5, &cage);
    scatterPoints(&cage);
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embedding));
    srVec3* moved = malloc(sizeof(srVec3) * (size_t)cage.nodeCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        moved[node] = moveAffinely(cage.nodes[node]);
    }
    int32_t freeOutside = 0;
    for (int32_t i = 0; i < pointCount; i++) {
        bool isPulled = absoluteSum(embedding.weights[i]) > 3.9999;
        freeOutside += !isInBlock(points[i]) && !isPulled;
        if (!isPulled) {
            // four float weights of up to 4 on nodes up to 2 away, moved up to 8
            assert_near(srDistance(combine(&embedding, i, cage.nodes), points[i]), 0.0, 4e-6);
            assert_near(srDistance(combine(&embedding, i, moved), moveAffinely(points[i])), 0.0, 1e-5);
        }
    }
    assert_true(freeOutside > 100);
    free(moved);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void weights_sum_to_one_and_are_bounded(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    makeBlock(4, 2, 2, 0.5, &cage);
    scatterPoints(&cage);
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embedding));
    double largest = 1.0;
    int32_t outside = 0;
    for (int32_t i = 0; i < pointCount; i++) {
        const float* w = embedding.weights[i];
        // one rounding of a weight below 4
        assert_near((double)w[0] + (double)w[1] + (double)w[2] + (double)w[3], 1.0, 2.5e-7);
        assert_true(absoluteSum(w) <= 4.0);
        if (isInBlock(points[i])) {
            assert_near(absoluteSum(w), 1.0, 2.5e-7);
        } else {
            outside++;
            largest = fmax(largest, absoluteSum(w));
        }
    }
    assert_int_equal(embedding.outsideCount, outside);
    assert_near(embedding.largestWeightSum, largest, 1e-6);
    assert_true(largest > 3.99);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void outside_points_follow_the_nearest_cell(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    makeBlock(4, 2, 2, 0.5, &cage);
    scatterPoints(&cage);
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embedding));
    for (int32_t i = 0; i < pointCount; i++) {
        if (isInBlock(points[i])) {
            continue;
        }
        // the nearest place of the block, and a cell of half a unit behind it
        srVec3 foot = srMin(srMax(points[i], (srVec3){0.0, 0.0, 0.0}), (srVec3){2.0, 1.0, 1.0});
        for (int c = 0; c < 4; c++) {
            assert_true(srDistance(cage.nodes[embedding.nodes[i][c]], foot) <= 0.5 * sqrt(3.0) + 1e-12);
        }
    }
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

// A card of points over a block whose every cell has a longest edge of half the root of three, 0.866
static int32_t countFar(const srCage* cage, double height, const int32_t* hints) {
    srVec3 card[25];
    srEmbedding embedding;
    for (int i = 0; i < 25; i++) {
        card[i] = (srVec3){0.25 + 0.375 * (i % 5), 0.25 + 0.125 * (i / 5), 1.0 + height};
    }
    card[24].x = (double)NAN; // nowhere, so not far
    assert_success(srCreateEmbedding(cage, card, hints, 25, &embedding));
    assert_int_equal(embedding.outsideCount, 25);
    int32_t farCount = embedding.farCount;
    srDestroyEmbedding(&embedding);
    return farCount;
}

static void what_is_farther_out_than_a_cell_is_long_is_told(void** state) {
    (void)state;
    srCage cage;
    int32_t hints[25];
    makeBlock(4, 2, 2, 0.5, &cage);
    for (int i = 0; i < 25; i++) {
        hints[i] = i % cage.cellCount;
    }
    assert_int_equal(countFar(&cage, 0.01, NULL), 0);
    assert_int_equal(countFar(&cage, 0.86, NULL), 0);
    assert_int_equal(countFar(&cage, 0.87, NULL), 24);
    assert_int_equal(countFar(&cage, 1e30, NULL), 24);
    assert_int_equal(countFar(&cage, 0.86, hints), 0);
    assert_int_equal(countFar(&cage, 0.87, hints), 24);
    srDestroyCage(&cage);
}

static void points_that_are_not_finite_hang_on_node_0(void** state) {
    (void)state;
    const double nan = (double)NAN;
    const srVec3 broken[4] = {{nan, 0.1, 0.1}, {0.1, HUGE_VAL, 0.1}, {0.1, 0.1, -HUGE_VAL}, {0.1, 0.1, 0.1}};
    const float first[4] = {1.0f, 0.0f, 0.0f, 0.0f};
    srCage cage;
    srEmbedding embedding;
    makeBlock(1, 1, 1, 1.0, &cage);
    assert_success(srCreateEmbedding(&cage, broken, NULL, 4, &embedding));
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(embedding.weights[i], first, sizeof(first));
        assert_memory_equal(embedding.nodes[i], ((const int32_t[4]){0, 0, 0, 0}), 4 * sizeof(int32_t));
    }
    assert_int_equal(embedding.outsideCount, 3);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void hints_say_which_of_overlapping_parts(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    static int32_t hints[pointCount];
    uint64_t seed = 71;
    makeOverlap((srVec3){0.4, 0.6, 0.1}, &cage);
    int32_t* pieces = findPieces(&cage);
    for (int i = 0; i < pointCount; i++) {
        // around a cell, inside of it or not; numbers that are none at all count as unknown
        int32_t cell = (int32_t)(srTestRandom(&seed) * cage.cellCount);
        hints[i] = i % 50 == 0 ? (i % 100 == 0 ? cage.cellCount : -7) : cell;
        points[i] = srAdd(cage.nodes[cage.cells[cell][0]], randomPoint(&seed, 0.4));
    }
    assert_success(srCreateEmbedding(&cage, points, hints, pointCount, &embedding));
    for (int i = 0; i < pointCount; i++) {
        assert_memory_equal(embedding.nodes[i], cage.cells[embedding.cells[i]], sizeof(cage.cells[0]));
        assert_true(absoluteSum(embedding.weights[i]) <= 4.0);
        for (int c = 0; c < 4 && i % 50 != 0; c++) {
            assert_int_equal(pieces[embedding.nodes[i][c]], pieces[cage.cells[hints[i]][0]]);
        }
        if (absoluteSum(embedding.weights[i]) < 3.9999) {
            assert_near(srDistance(combine(&embedding, i, cage.nodes), points[i]), 0.0, 4e-6);
        }
    }
    free(pieces);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void hints_change_nothing_where_cells_do_not_overlap(void** state) {
    (void)state;
    srCage cage;
    srEmbedding free, hinted;
    makeBlock(8, 4, 4, 0.25, &cage);
    scatterPoints(&cage);
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &free));
    assert_success(srCreateEmbedding(&cage, points, free.cells, pointCount, &hinted));
    assert_int_equal(free.outsideCount, hinted.outsideCount);
    for (int i = 0; i < pointCount; i++) {
        srVec3 a = combine(&free, i, cage.nodes), b = combine(&hinted, i, cage.nodes);
        // the same place, whichever of two cells on a face it is
        assert_near(isInBlock(points[i]) ? srDistance(a, b) : 0.0, 0.0, 1e-6);
    }
    srDestroyEmbedding(&free);
    srDestroyEmbedding(&hinted);
    srDestroyCage(&cage);
}

static void points_at_the_end_of_the_numbers_are_bounded(void** state) {
    (void)state;
    const srVec3 far[3] = {{1e300, -1e300, 1e300}, {-1e155, 0.5, 0.5}, {0.5, 0.5, 1e20}};
    const int32_t hints[3] = {0, SR_NULL_INDEX, 5};
    srCage cage;
    srEmbedding embedding;
    makeBlock(2, 2, 2, 0.5, &cage);
    assert_success(srCreateEmbedding(&cage, far, hints, 3, &embedding));
    for (int i = 0; i < 3; i++) {
        const float* w = embedding.weights[i];
        assert_near((double)w[0] + (double)w[1] + (double)w[2] + (double)w[3], 1.0, 2.5e-7);
        assert_true(absoluteSum(w) <= 4.0);
    }
    assert_int_equal(embedding.outsideCount, 3);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void no_points_make_an_empty_embedding(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    makeBlock(1, 1, 1, 1.0, &cage);
    assert_success(srCreateEmbedding(&cage, NULL, NULL, 0, &embedding));
    assert_int_equal(embedding.pointCount, 0);
    assert_near(embedding.largestWeightSum, 1.0, 0.0);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embeddings[3];
    const int32_t workerCounts[3] = {1, 2, 4};
    makeBlock(4, 2, 2, 0.5, &cage);
    scatterPoints(&cage);
    int32_t before = srParallel_GetWorkerCount();
    for (int run = 0; run < 3; run++) {
        srParallel_SetWorkerCount(workerCounts[run]);
        assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embeddings[run]));
        assert_memory_equal(embeddings[run].nodes, embeddings[0].nodes, sizeof(int32_t) * 4 * pointCount);
        assert_memory_equal(embeddings[run].weights, embeddings[0].weights, sizeof(float) * 4 * pointCount);
    }
    srParallel_SetWorkerCount(before);
    for (int run = 0; run < 3; run++) {
        srDestroyEmbedding(&embeddings[run]);
    }
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    const srVec3 few[3] = {{0.1, 0.1, 0.1}, {3.0, 3.0, 3.0}, {-0.1, 0.0, 0.0}};
    srEmbedding embedding;
    const int32_t hints[3] = {0, SR_NULL_INDEX, 1};
    SR_TRY(srCreateEmbedding(context, few, hints, 3, &embedding));
    srDestroyEmbedding(&embedding);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(1, 1, 1, 1.0, &cage);
    srTestEveryAllocationFails(createAndDestroy, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(affine_motion_is_exact_inside_and_outside, srTestNothingLeaked),
        cmocka_unit_test_teardown(weights_sum_to_one_and_are_bounded, srTestNothingLeaked),
        cmocka_unit_test_teardown(outside_points_follow_the_nearest_cell, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_farther_out_than_a_cell_is_long_is_told, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_that_are_not_finite_hang_on_node_0, srTestNothingLeaked),
        cmocka_unit_test_teardown(hints_say_which_of_overlapping_parts, srTestNothingLeaked),
        cmocka_unit_test_teardown(hints_change_nothing_where_cells_do_not_overlap, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_at_the_end_of_the_numbers_are_bounded, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_points_make_an_empty_embedding, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/embedding", tests, NULL, NULL);
}
