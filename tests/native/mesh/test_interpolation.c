// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/interpolation.h"

#include "core/parallel.h"
#include "math/simd_path.h"
#include "mesh/solids.h"

enum {
    pointCount = 9000
};

static srVec3 points[pointCount];
static srCage cage;
static srBlend blend;
static srVec3f* vectors;
static void* scratch;

static int prepare(void** state) {
    (void)state;
    srEmbedding embedding;
    uint64_t seed = 91;
    makeBlock(9, 8, 7, 0.2, &cage);
    for (int i = 0; i < pointCount; i++) {
        points[i] = srAdd(randomPoint(&seed, 1.1), (srVec3){0.9, 0.8, 0.7});
    }
    points[17].y = (double)NAN;
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embedding));
    assert_success(srCreateBlend(&cage, &embedding, points, &blend));
    srDestroyEmbedding(&embedding);
    vectors = malloc(sizeof(srVec3f) * (size_t)cage.nodeCount);
    scratch = aligned_alloc(64, (srBlend_GetScratchSize(&blend) + 63) / 64 * 64);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        vectors[node] = srToFloat(randomPoint(&seed, 1.0));
    }
    return 0;
}

static int cleanUp(void** state) {
    free(vectors);
    free(scratch);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
    return srTestNothingLeaked(state);
}

// The definition (blend.h), in double, straight from what is stored
static srVec3 interpolateSlowly(const srBlend* b, int32_t k, int64_t firstShare, int32_t shareCount) {
    srVec3 sum = {0};
    for (int64_t s = firstShare; s < firstShare + shareCount; s++) {
        int32_t map = b->shortMaps[s];
        srVec3 own = srToDouble(vectors[b->mapNodes[map]]), value = own;
        const float* c = b->mapPlaces[map];
        const float* X = b->places[k];
        srVec3 d = {(double)X[0] - (double)c[0], (double)X[1] - (double)c[1], (double)X[2] - (double)c[2]};
        for (int32_t e = b->slopeStarts[map]; e < b->slopeStarts[map + 1]; e++) {
            const float* g = b->slopes[e].gradient;
            double along = (double)g[0] * d.x + (double)g[1] * d.y + (double)g[2] * d.z;
            value = srMulAdd(value, along, srSub(srToDouble(vectors[b->slopes[e].node]), own));
        }
        sum = srMulAdd(sum, (double)b->shares[s], value);
    }
    return sum;
}

static void interpolation_is_what_the_blend_says(void** state) {
    (void)state;
    static float out[3 * pointCount];
    static bool isSeen[pointCount];
    int32_t seenCount = 0;
    srInterpolate(&blend, vectors, scratch, out);
    for (int32_t r = 0; r < blend.runCount; r++) {
        const srBlendRun* run = &blend.runs[r];
        for (int32_t k = run->firstPoint; k < run->firstPoint + run->pointCount; k++) {
            int64_t first = run->firstShare + (int64_t)(k - run->firstPoint) * run->shareCount;
            srVec3 expected = interpolateSlowly(&blend, k, first, run->shareCount);
            const float* p = out + 3 * blend.targets[k];
            assert_near((double)p[0], expected.x, 4e-6); // sums of up to 40, that cancel to at most 4
            assert_near((double)p[1], expected.y, 4e-6);
            assert_near((double)p[2], expected.z, 4e-6);
            seenCount += !isSeen[blend.targets[k]];
            isSeen[blend.targets[k]] = true;
        }
    }
    assert_int_equal(seenCount, pointCount);
}

static void every_path_and_any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    static float expected[3 * pointCount], out[3 * pointCount];
    srSimdPath before = srGetSimdPath();
    int32_t workersBefore = srParallel_GetWorkerCount();
    srInterpolate(&blend, vectors, scratch, expected);
    for (int path = 0; path < SR_SIMD_PATH_COUNT; path++) {
        for (int32_t workers = 1; workers <= 4 && srForceSimdPath((srSimdPath)path); workers++) {
            srParallel_SetWorkerCount(workers);
            memset(out, 0xff, sizeof(out));
            srInterpolate(&blend, vectors, scratch, out);
            assert_memory_equal(out, expected, sizeof(out));
        }
    }
    srParallel_SetWorkerCount(workersBefore);
    assert_true(srForceSimdPath(before));
}

static void long_and_short_numbers_of_maps_give_the_same_bits(void** state) {
    (void)state;
    static float expected[3 * pointCount], out[3 * pointCount];
    srBlend copy = blend;
    copy.longMaps = malloc(sizeof(int32_t) * (size_t)blend.shareCount);
    copy.shortMaps = NULL;
    for (int64_t s = 0; s < blend.shareCount; s++) {
        copy.longMaps[s] = blend.shortMaps[s];
    }
    srInterpolate(&blend, vectors, scratch, expected);
    srInterpolate(&copy, vectors, scratch, out);
    assert_memory_equal(out, expected, sizeof(out));
    free(copy.longMaps);
}

static void cages_of_more_nodes_than_short_numbers_are_interpolated(void** state) {
    (void)state;
    srCage large;
    srEmbedding embedding;
    srBlend wide;
    makeBlock(41, 41, 41, 1.0, &large);
    assert_true(large.nodeCount > 66000);
    assert_success(srCreateEmbedding(&large, large.nodes, NULL, large.nodeCount, &embedding));
    assert_success(srCreateBlend(&large, &embedding, large.nodes, &wide));
    assert_non_null(wide.longMaps);
    srVec3f* places = malloc(sizeof(srVec3f) * (size_t)large.nodeCount);
    float* out = malloc(12 * (size_t)large.nodeCount);
    void* room = aligned_alloc(64, (srBlend_GetScratchSize(&wide) + 63) / 64 * 64);
    for (int32_t node = 0; node < large.nodeCount; node++) {
        places[node] = srToFloat(large.nodes[node]);
    }
    srInterpolate(&wide, places, room, out);
    for (int32_t i = 0; i < large.nodeCount; i++) {
        assert_near((double)out[3 * i], large.nodes[i].x, 4e-5); // a millionth of the cage
        assert_near((double)out[3 * i + 1], large.nodes[i].y, 4e-5);
        assert_near((double)out[3 * i + 2], large.nodes[i].z, 4e-5);
    }
    free(places);
    free(out);
    free(room);
    srDestroyBlend(&wide);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&large);
}

static void zero_vectors_give_zeros_exactly(void** state) {
    (void)state;
    static float out[3 * pointCount];
    srVec3f* zeros = calloc((size_t)cage.nodeCount, sizeof(srVec3f));
    srInterpolate(&blend, zeros, scratch, out);
    for (int i = 0; i < 3 * pointCount; i++) {
        assert_true(out[i] == 0.0f);
    }
    free(zeros);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolation_is_what_the_blend_says),
        cmocka_unit_test(every_path_and_any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(long_and_short_numbers_of_maps_give_the_same_bits),
        cmocka_unit_test(cages_of_more_nodes_than_short_numbers_are_interpolated),
        cmocka_unit_test(zero_vectors_give_zeros_exactly),
    };
    return cmocka_run_group_tests_name("mesh/interpolation", tests, prepare, cleanUp);
}
