// SPDX-License-Identifier: GPL-3.0-or-later
//
// What must be true of any smooth embedding: affine motion, partition of unity, bounds, smoothness,
// invariance, and that it stays within what hangs together. Weights are seen by interpolating one node at a
// time.

#include "mesh/blend.h"

#include "core/alloc.h"
#include "core/parallel.h"
#include "mesh/interpolation.h"
#include "mesh/overlap.h"

enum {
    pointCount = 600
};

static srVec3 points[pointCount];

// Around a block of 2 x 1 x 1: inside, a little outside, far away, on nodes.
static void scatterPoints(const srCage* cage) {
    uint64_t seed = 51;
    for (int i = 0; i < pointCount; i++) {
        srVec3 middle = {1.0, 0.5, 0.5}, r = randomPoint(&seed, 1.0);
        srVec3 inside = {1.0 + r.x, 0.5 + 0.5 * r.y, 0.5 + 0.5 * r.z};
        srVec3 outside = srAdd(middle, srScale(i % 10 == 0 ? 100.0 : 1.2, r));
        points[i] = i % 7 == 0 ? cage->nodes[i % cage->nodeCount] : i % 2 == 0 ? inside : outside;
    }
}

static srVec3 moveAffinely(srVec3 p) {
    return (srVec3){0.3 * p.x - 1.1 * p.y + 0.2 * p.z + 4.0, 0.9 * p.x + 0.1 * p.y - 0.4 * p.z - 2.0,
                    -0.5 * p.x + 0.7 * p.y + 1.3 * p.z + 1.0};
}

static void makeBlend(const srCage* cage, const srVec3* at, const int32_t* hints, int32_t count,
                      srBlend* out) {
    srEmbedding embedding;
    assert_success(srCreateEmbedding(cage, at, hints, count, &embedding));
    assert_success(srCreateBlend(cage, &embedding, at, out));
    srDestroyEmbedding(&embedding);
}

static void apply(const srBlend* blend, const srVec3f* vectors, float* outPoints) {
    void* scratch = aligned_alloc(64, (srBlend_GetScratchSize(blend) + 127) / 64 * 64);
    assert_non_null(scratch);
    srInterpolate(blend, vectors, scratch, outPoints);
    free(scratch);
}

static srVec3f* newVectors(int32_t count) {
    srVec3f* vectors = calloc((size_t)count, sizeof(srVec3f));
    assert_non_null(vectors);
    return vectors;
}

// What an affine motion of the nodes brings to the points
static void moveAll(const srCage* cage, const srBlend* blend, float* out) {
    srVec3f* moved = newVectors(cage->nodeCount);
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        moved[node] = srToFloat(moveAffinely(cage->nodes[node]));
    }
    apply(blend, moved, out);
    free(moved);
}

static double distanceTo(const float* p, srVec3 q) {
    return srDistance((srVec3){(double)p[0], (double)p[1], (double)p[2]}, q);
}

// Row i of the answer: the weights of all nodes for point i, row by row. To be freed.
static float* findWeights(const srCage* cage, const srBlend* blend) {
    size_t nodeCount = (size_t)cage->nodeCount, count = (size_t)blend->pointCount;
    float* weights = malloc(sizeof(float) * nodeCount * count);
    float* out = malloc(12 * count);
    srVec3f* unit = newVectors(cage->nodeCount);
    for (size_t node = 0; node < nodeCount; node++) {
        unit[node].x = 1.0f;
        apply(blend, unit, out);
        unit[node].x = 0.0f;
        for (size_t i = 0; i < count; i++) {
            weights[i * nodeCount + node] = out[3 * i];
        }
    }
    free(out);
    free(unit);
    return weights;
}

static bool isInBlock(srVec3 p, double margin) {
    return p.x >= margin && p.y >= margin && p.z >= margin && p.x <= 2.0 - margin && p.y <= 1.0 - margin &&
           p.z <= 1.0 - margin;
}

static void affine_motion_is_exact(void** state) {
    (void)state;
    srCage cage;
    srBlend blend;
    float out[3 * pointCount];
    int outsideCount = 0;
    makeBlock(8, 4, 4, 0.25, &cage);
    scatterPoints(&cage);
    makeBlend(&cage, points, NULL, pointCount, &blend);
    moveAll(&cage, &blend, out);
    for (int i = 0; i < pointCount; i++) {
        // what lies farther out than an edge is pulled
        if (isInBlock(points[i], -0.1)) {
            outsideCount += !isInBlock(points[i], 0.0);
            // a dozen floats of up to 8
            assert_near(distanceTo(out + 3 * i, moveAffinely(points[i])), 0.0, 8e-6);
        }
    }
    assert_true(outsideCount > 20);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void checkWeights(const srCage* cage, const srBlend* blend) {
    float* weights = findWeights(cage, blend);
    for (int32_t i = 0; i < blend->pointCount; i++) {
        const float* row = weights + (size_t)i * (size_t)cage->nodeCount;
        double sum = 0.0, absolute = 0.0;
        for (int32_t node = 0; node < cage->nodeCount; node++) {
            sum += (double)row[node];
            absolute += fabs((double)row[node]);
        }
        // some fifty weights of up to one, each a dozen roundings of what may cancel
        assert_near(sum, 1.0, 4e-6);
        assert_true(absolute <= fmin(4.0, blend->largestWeightSum + 4e-6));
    }
    free(weights);
}

static void weights_sum_to_one_and_are_bounded(void** state) {
    (void)state;
    srCage cage;
    srBlend blend;
    makeBlock(8, 4, 4, 0.25, &cage);
    scatterPoints(&cage);
    makeBlend(&cage, points, NULL, pointCount, &blend);
    assert_true(blend.largestWeightSum > 3.9);
    assert_int_equal(blend.linearCount, 0);
    checkWeights(&cage, &blend);
    for (int64_t s = 0; s < blend.shareCount; s++) {
        assert_true(blend.shares[s] > 0.0f && blend.shares[s] <= 1.0f);
    }
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

// Nodes moved so far that cells are needles, slivers and overlap each other
static void makeRuin(srCage* outCage) {
    srCage block;
    uint64_t seed = 17;
    makeBlock(6, 3, 3, 1.0 / 3.0, &block);
    for (int32_t node = 0; node < block.nodeCount; node++) {
        block.nodes[node] = srAdd(block.nodes[node], randomPoint(&seed, 0.3));
    }
    assert_success(srCreateCage(block.nodes, block.nodeCount, (const int32_t (*)[4])block.cells,
                                block.cellCount, outCage));
    srDestroyCage(&block);
}

static void the_worst_cells_keep_the_bound_and_affine_motion(void** state) {
    (void)state;
    srCage cage;
    srBlend blend;
    float out[3 * pointCount];
    int exactCount = 0;
    makeRuin(&cage);
    scatterPoints(&cage);
    makeBlend(&cage, points, NULL, pointCount, &blend);
    checkWeights(&cage, &blend);
    moveAll(&cage, &blend, out);
    for (int i = 0; i < pointCount; i++) {
        exactCount += distanceTo(out + 3 * i, moveAffinely(points[i])) < 2e-5;
        if (isInBlock(points[i], 0.3)) {
            assert_near(distanceTo(out + 3 * i, moveAffinely(points[i])), 0.0, 2e-5);
        }
    }
    assert_true(exactCount > pointCount / 2);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void where_slopes_mean_nothing_points_are_interpolated_straight(void** state) {
    (void)state;
    // a cell and a flat one that leans far over, so that the slopes of the two have nothing to do with each
    // other
    const srVec3 nodes[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, -0.5}, {20, 24, 3e-4}};
    const int32_t cells[2][4] = {{0, 2, 1, 3}, {0, 1, 2, 4}};
    srCage cage;
    srBlend blend;
    float out[3 * pointCount];
    uint64_t seed = 5;
    assert_success(srCreateCage(nodes, 5, cells, 2, &cage));
    for (int i = 0; i < pointCount; i++) {
        double a = srTestRandom(&seed), b = srTestRandom(&seed) * (1.0 - a);
        points[i] = (srVec3){a, b, i % 3 == 0 ? 5.0 * srTestRandom(&seed) : -1e-4};
    }
    makeBlend(&cage, points, NULL, pointCount, &blend);
    assert_true(blend.linearCount > pointCount / 4);
    checkWeights(&cage, &blend);
    moveAll(&cage, &blend, out);
    for (int i = 0; i < pointCount; i++) {
        if (i % 3 != 0) {
            // weights of a tenth of a millionth of 90
            assert_near(distanceTo(out + 3 * i, moveAffinely(points[i])), 0.0, 5e-5);
        }
    }
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

// Along a line through the block: the largest change of slope from step to step
enum {
    stepCount = 2000
};

static srVec3 lineAt(int step) {
    double t = (double)step / (stepCount - 1);
    return (srVec3){0.31 + 1.37 * t, 0.33 + 0.31 * t, 0.36 + 0.27 * t};
}

static srVec3f waveAt(srVec3 p) {
    return (srVec3f){(float)sin(2.0 * p.x + p.y), (float)cos(p.y - 1.5 * p.z), (float)sin(p.x * p.z)};
}

static double largestKink(const float* values) {
    double largest = 0.0, step = srDistance(lineAt(0), lineAt(1));
    for (int k = 1; k < stepCount - 1; k++) {
        srVec3 second = {0};
        for (int end = -1; end <= 1; end++) {
            const float* v = values + 3 * (k + end);
            srVec3 p = {(double)v[0], (double)v[1], (double)v[2]};
            second = srMulAdd(second, end == 0 ? -2.0 : 1.0, p);
        }
        largest = fmax(largest, srLength(second) / step);
    }
    return largest;
}

// Kinks and errors of straight and of smooth interpolation over a block of cubes of 1/n
static void measureLine(int n, bool isRough, double outKinks[2], double outErrors[2]) {
    static srVec3 line[stepCount];
    static float straight[3 * stepCount], smooth[3 * stepCount];
    srCage cage;
    srEmbedding embedding;
    srBlend blend;
    uint64_t seed = 3;
    makeBlock(2 * n, n, n, 1.0 / n, &cage);
    for (int k = 0; k < stepCount; k++) {
        line[k] = lineAt(k);
    }
    assert_success(srCreateEmbedding(&cage, line, NULL, stepCount, &embedding));
    assert_success(srCreateBlend(&cage, &embedding, line, &blend));
    srVec3f* wave = newVectors(cage.nodeCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        wave[node] = isRough ? srToFloat(randomPoint(&seed, 1.0)) : waveAt(cage.nodes[node]);
    }
    apply(&blend, wave, smooth);
    outErrors[0] = outErrors[1] = 0.0;
    for (int k = 0; k < stepCount; k++) {
        srVec3 sum = {0};
        for (int c = 0; c < 4; c++) {
            sum = srMulAdd(sum, (double)embedding.weights[k][c], srToDouble(wave[embedding.nodes[k][c]]));
        }
        srVec3f f = srToFloat(sum);
        memcpy(straight + 3 * k, &f, sizeof(f));
        outErrors[0] = fmax(outErrors[0], distanceTo(straight + 3 * k, srToDouble(waveAt(line[k]))));
        outErrors[1] = fmax(outErrors[1], distanceTo(smooth + 3 * k, srToDouble(waveAt(line[k]))));
    }
    outKinks[0] = largestKink(straight);
    outKinks[1] = largestKink(smooth);
    free(wave);
    srDestroyBlend(&blend);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void slopes_jump_less_than_straight_ones_and_less_in_finer_cages(void** state) {
    (void)state;
    double kinks[2], errors[2], finerKinks[2], finerErrors[2];
    measureLine(6, false, kinks, errors);
    measureLine(12, false, finerKinks, finerErrors);
    // straight interpolation loses a quarter of its kinks' height for half an edge, this more than half;
    // where the cage is fine enough the bend of the wave itself is what is left
    assert_true(kinks[1] < 0.2 * kinks[0]);
    assert_true(finerKinks[1] < 0.6 * kinks[1]);
    assert_true(finerKinks[1] < 0.2 * finerKinks[0]);
    // and it is no less exact
    assert_true(errors[1] < 0.5 * errors[0]);
    assert_true(finerErrors[1] < 0.3 * errors[1]);
    // of a motion that no cage can tell, too; values and slopes alone would leave three quarters
    measureLine(6, true, kinks, errors);
    assert_true(kinks[1] < 0.4 * kinks[0]);
}

// The largest step of a rough motion along a line a hair below the surface, where half of each ball is
// outside
static double largestStep(const srCage* cage, const srVec3f* rough, int32_t count) {
    const srVec3 from = {0.1, 0.2, 0.998}, to = {1.9, 0.83, 0.998};
    srVec3* line = malloc(sizeof(srVec3) * (size_t)count);
    float* out = malloc(12 * (size_t)count);
    srBlend blend;
    double largest = 0.0;
    for (int32_t k = 0; k < count; k++) {
        line[k] = srMulAdd(from, (double)k / count, srSub(to, from));
    }
    makeBlend(cage, line, NULL, count, &blend);
    apply(&blend, rough, out);
    for (int32_t k = 1; k < count; k++) {
        const float* p = out + 3 * (size_t)(k - 1);
        largest = fmax(largest, distanceTo(p + 3, (srVec3){(double)p[0], (double)p[1], (double)p[2]}));
    }
    srDestroyBlend(&blend);
    free(line);
    free(out);
    return largest;
}

static void no_motion_tears_where_the_balls_leave_the_cage(void** state) {
    (void)state;
    srCage cage;
    uint64_t seed = 5;
    makeBlock(12, 6, 6, 1.0 / 6.0, &cage);
    srVec3f* rough = newVectors(cage.nodeCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        rough[node] = srToFloat(randomPoint(&seed, 1.0));
    }
    double steps = largestStep(&cage, rough, 2000), finer = largestStep(&cage, rough, 32000);
    // what is continuous and bends seldom: sixteen times as many steps are a sixteenth as long
    assert_true(finer < 1.5 / 16.0 * steps);
    free(rough);
    srDestroyCage(&cage);
}

static void scale_changes_no_bit_place_and_mirror_nothing_and_turn_little(void** state) {
    (void)state;
    srCage cage, other;
    srBlend blend, otherBlend;
    float expected[3 * pointCount], out[3 * pointCount];
    static srVec3 turned[pointCount];
    makeBlock(8, 4, 4, 0.25, &cage);
    scatterPoints(&cage);
    srVec3f* wave = newVectors(cage.nodeCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        wave[node] = waveAt(srScale(3.0, cage.nodes[node]));
    }
    makeBlend(&cage, points, NULL, pointCount, &blend);
    apply(&blend, wave, expected);
    for (int kind = 0; kind < 4; kind++) {
        makeBlock(8, 4, 4, 0.25, &other);
        for (int32_t i = 0; i < cage.nodeCount + pointCount; i++) {
            srVec3 p = i < cage.nodeCount ? cage.nodes[i] : points[i - cage.nodeCount];
            srVec3 q = kind == 0 ? srScale(0x1p-60, p) : (srVec3){p.x + 3.0, p.y - 5.0, p.z + 1.0};
            if (kind == 2) {
                q = (srVec3){0.6 * p.x - 0.8 * p.y, 0.8 * p.x + 0.6 * p.y, p.z};
            }
            if (kind == 3) {
                q = (srVec3){p.x, -p.y, p.z};
            }
            *(i < cage.nodeCount ? &other.nodes[i] : &turned[i - cage.nodeCount]) = q;
        }
        makeBlend(&other, turned, NULL, pointCount, &otherBlend);
        apply(&otherBlend, wave, out);
        for (int i = 0; i < 3 * pointCount; i++) {
            if (kind == 0) {
                assert_true(out[i] == expected[i]);
            } else if (isInBlock(points[i / 3], 0.0)) {
                // the ball of samples does not turn: a tenth of what the wave changes within a cell
                assert_near((double)out[i], (double)expected[i], kind == 2 ? 0.05 : 1e-5);
            }
        }
        srDestroyBlend(&otherBlend);
        srDestroyCage(&other);
    }
    free(wave);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void what_only_overlaps_has_no_weight(void** state) {
    (void)state;
    srCage cage;
    srBlend blend;
    static int32_t hints[pointCount];
    float out[3 * pointCount];
    uint64_t seed = 31;
    makeOverlap((srVec3){0.4, 0.6, 0.1}, &cage);
    int32_t* pieces = findPieces(&cage);
    for (int i = 0; i < pointCount; i++) {
        // in one of the cells of either piece, or a little beside it
        hints[i] = (int32_t)(srTestRandom(&seed) * cage.cellCount);
        points[i] = randomPoint(&seed, 0.1);
        for (int c = 0; c < 4; c++) {
            points[i] = srMulAdd(points[i], 0.25, cage.nodes[cage.cells[hints[i]][c]]);
        }
    }
    makeBlend(&cage, points, hints, pointCount, &blend);
    srVec3f* vectors = newVectors(cage.nodeCount);
    for (int32_t moving = 0; moving < 2; moving++) {
        int32_t firstPiece = pieces[0], otherCount = 0;
        for (int32_t node = 0; node < cage.nodeCount; node++) {
            bool moves = (pieces[node] == firstPiece) == (moving == 0);
            vectors[node] = moves ? (srVec3f){1.0f, 2.0f, 3.0f} : (srVec3f){0.0f, 0.0f, 0.0f};
        }
        apply(&blend, vectors, out);
        for (int i = 0; i < pointCount; i++) {
            bool moves = (pieces[cage.cells[hints[i]][0]] == firstPiece) == (moving == 0);
            otherCount += !moves;
            for (int axis = 0; axis < 3; axis++) {
                // one for another, zero exactly
                assert_near((double)out[3 * i + axis], moves ? 1.0 + axis : 0.0, moves ? 2e-6 : 0.0);
            }
        }
        assert_true(otherCount > pointCount / 4);
    }
    free(vectors);
    free(pieces);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void points_that_are_not_finite_get_zeros(void** state) {
    (void)state;
    const double nan = (double)NAN;
    const srVec3 broken[5] = {
        {nan, 0.1, 0.1}, {0.1, HUGE_VAL, 0.1}, {0.1, 0.1, 0.1}, {0.1, 0.1, -HUGE_VAL}, {1e300, -1e300, 0.0}};
    srCage cage;
    srBlend blend;
    float out[15];
    makeBlock(2, 1, 1, 1.0, &cage);
    makeBlend(&cage, broken, NULL, 5, &blend);
    moveAll(&cage, &blend, out);
    for (int i = 0; i < 5; i++) {
        if (i != 2 && i != 4) {
            assert_true(out[3 * i] == 0.0f && out[3 * i + 1] == 0.0f && out[3 * i + 2] == 0.0f);
        }
    }
    assert_near(distanceTo(out + 6, moveAffinely(broken[2])), 0.0, 4e-6);
    // weights of at most 4 on nodes moved by up to 8
    assert_true(distanceTo(out + 12, (srVec3){0.0, 0.0, 0.0}) <= 32.0);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void one_cell_is_interpolated_straight_inside(void** state) {
    (void)state;
    const srVec3 nodes[4] = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 0, 1e-3}};
    const int32_t cells[1][4] = {{0, 1, 2, 3}};
    srCage cage;
    srEmbedding embedding;
    srBlend blend;
    srVec3f vectors[4];
    float out[3 * pointCount];
    uint64_t seed = 61;
    assert_success(srCreateCage(nodes, 4, cells, 1, &cage));
    for (int i = 0; i < pointCount; i++) {
        double w[4], sum = 0.0;
        points[i] = (srVec3){0};
        for (int c = 0; c < 4; c++) {
            w[c] = srTestRandom(&seed);
            sum += w[c];
        }
        for (int c = 0; c < 4; c++) {
            points[i] = srMulAdd(points[i], w[c] / sum, cage.nodes[c]);
        }
    }
    for (int c = 0; c < 4; c++) {
        vectors[c] = srToFloat(randomPoint(&seed, 1.0));
    }
    assert_success(srCreateEmbedding(&cage, points, NULL, pointCount, &embedding));
    assert_success(srCreateBlend(&cage, &embedding, points, &blend));
    apply(&blend, vectors, out);
    for (int i = 0; i < pointCount; i++) {
        srVec3 expected = {0};
        for (int c = 0; c < 4; c++) {
            double w = (double)embedding.weights[i][c];
            expected = srMulAdd(expected, w, srToDouble(vectors[embedding.nodes[i][c]]));
        }
        // slopes of a flat cell are a thousand times steeper than it is wide
        assert_near(distanceTo(out + 3 * i, expected), 0.0, 1e-3);
    }
    srDestroyBlend(&blend);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static void no_points_make_an_empty_blend(void** state) {
    (void)state;
    srCage cage;
    srBlend blend;
    float none = 3.0f;
    makeBlock(1, 1, 1, 1.0, &cage);
    makeBlend(&cage, NULL, NULL, 0, &blend);
    moveAll(&cage, &blend, &none);
    assert_int_equal(blend.pointCount, 0);
    assert_true(none == 3.0f);
    srDestroyBlend(&blend);
    srDestroyCage(&cage);
}

static void any_number_of_workers_makes_the_same(void** state) {
    (void)state;
    srCage cage;
    srBlend a, b;
    int32_t before = srParallel_GetWorkerCount();
    makeBlock(8, 4, 4, 0.25, &cage);
    scatterPoints(&cage);
    srParallel_SetWorkerCount(1);
    makeBlend(&cage, points, NULL, pointCount, &a);
    srParallel_SetWorkerCount(4);
    makeBlend(&cage, points, NULL, pointCount, &b);
    srParallel_SetWorkerCount(before);
    assert_int_equal(a.shareCount, b.shareCount);
    assert_int_equal(a.mapCount, b.mapCount);
    assert_memory_equal(a.shares, b.shares, sizeof(float) * (size_t)a.shareCount);
    assert_memory_equal(a.shortMaps, b.shortMaps, sizeof(uint16_t) * (size_t)a.shareCount);
    assert_memory_equal(a.places, b.places, sizeof(a.places[0]) * pointCount);
    assert_memory_equal(a.slopes, b.slopes, sizeof(srSlope) * (size_t)a.slopeStarts[a.mapCount]);
    srDestroyBlend(&a);
    srDestroyBlend(&b);
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    const srVec3 few[3] = {{0.1, 0.1, 0.1}, {3.0, 3.0, 3.0}, {-0.1, 0.0, 0.0}};
    srEmbedding embedding;
    srBlend blend;
    SR_TRY(srCreateEmbedding(context, few, NULL, 3, &embedding));
    srResult result = srCreateBlend(context, &embedding, few, &blend);
    if (result == sr_success) {
        srDestroyBlend(&blend);
    }
    srDestroyEmbedding(&embedding);
    return result;
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
        cmocka_unit_test_teardown(affine_motion_is_exact, srTestNothingLeaked),
        cmocka_unit_test_teardown(weights_sum_to_one_and_are_bounded, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_worst_cells_keep_the_bound_and_affine_motion, srTestNothingLeaked),
        cmocka_unit_test_teardown(where_slopes_mean_nothing_points_are_interpolated_straight,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(no_motion_tears_where_the_balls_leave_the_cage, srTestNothingLeaked),
        cmocka_unit_test_teardown(slopes_jump_less_than_straight_ones_and_less_in_finer_cages,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(scale_changes_no_bit_place_and_mirror_nothing_and_turn_little,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(what_only_overlaps_has_no_weight, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_that_are_not_finite_get_zeros, srTestNothingLeaked),
        cmocka_unit_test_teardown(one_cell_is_interpolated_straight_inside, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_points_make_an_empty_blend, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_makes_the_same, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/blend", tests, NULL, NULL);
}
