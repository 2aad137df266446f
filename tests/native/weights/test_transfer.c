// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights/transfer.h"

#include "mesh/solids.h"
#include "weights/laplacian.h"

enum {
    maxVertices = 4000,
    maxBones = 20
};

// A skin with paint, in arrays. Every vertex has an entry for each bone.
typedef struct Paint {
    srVec3 vertices[maxVertices];
    int32_t starts[maxVertices + 1];
    int32_t bones[maxVertices * 4];
    float weights[maxVertices * 4];
    int32_t vertexCount;
    int32_t boneCount;
} Paint;

static Paint paint;

static void clearPaint(int32_t boneCount) {
    memset(&paint, 0, sizeof(paint));
    paint.boneCount = boneCount;
}

static void addVertex(srVec3 at, int32_t boneA, double weightA, int32_t boneB, double weightB) {
    int32_t v = paint.vertexCount++, entry = paint.starts[v];
    paint.vertices[v] = at;
    paint.bones[entry] = boneA;
    paint.weights[entry++] = (float)weightA;
    if (boneB != SR_NULL_INDEX) {
        paint.bones[entry] = boneB;
        paint.weights[entry++] = (float)weightB;
    }
    paint.starts[v + 1] = entry;
}

static srPaintedWeights viewPaint(void) {
    return (srPaintedWeights){paint.starts, paint.bones, paint.weights, paint.vertexCount, paint.boneCount};
}

static srResult transfer(const srCage* cage, float* out) {
    srEmbedding embedding;
    SR_TRY(srCreateEmbedding(cage, paint.vertices, NULL, paint.vertexCount, &embedding));
    srPaintedWeights view = viewPaint();
    srResult result = srTransferWeights(cage, &embedding, &view, NULL, out);
    srDestroyEmbedding(&embedding);
    return result;
}

static float* transferNew(const srCage* cage) {
    float* out = malloc(sizeof(float) * (size_t)cage->nodeCount * (size_t)paint.boneCount);
    assert_success(transfer(cage, out));
    return out;
}

// The skin of a bar of length x 1 x 1: `along` rings of 8 vertices and closed ends, bone 0 fading into bone 1
// along x.
static void paintBar(double length, int along, int32_t boneCount) {
    clearPaint(boneCount);
    for (int ring = 0; ring <= along; ring++) {
        double s = ring / (double)along;
        for (int turn = 0; turn < 9; turn++) {
            if (turn != 4 || ring == 0 || ring == along) {
                addVertex((srVec3){length * s, 0.5 * (turn % 3), 0.5 * (turn / 3)}, 0, 1.0 - s, 1, s);
            }
        }
    }
}

static void checkRows(const srCage* cage, const float* W) {
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        double sum = 0.0;
        for (int32_t bone = 0; bone < paint.boneCount; bone++) {
            float w = W[node * paint.boneCount + bone];
            assert_true(w >= 0.0f && w <= 1.0f);
            sum += (double)w;
        }
        // roundings of a few floats below one
        assert_near(sum, 1.0, 1e-6);
    }
}

static void rows_sum_to_one_within_bounds_for_any_paint(void** state) {
    (void)state;
    srCage cage;
    uint64_t seed = 81;
    makeBlock(6, 2, 2, 0.5, &cage);
    clearPaint(maxBones);
    for (int v = 0; v < 500; v++) {
        srVec3 at = srAdd(randomPoint(&seed, 1.6), (srVec3){1.5, 0.5, 0.5});
        int32_t a = (int32_t)(maxBones * srTestRandom(&seed)), b = (int32_t)(maxBones * srTestRandom(&seed));
        addVertex(at, a, 10.0 * srTestRandom(&seed), b, srTestRandom(&seed) - 0.3);
    }
    float* W = transferNew(&cage);
    checkRows(&cage, W);
    free(W);
    srDestroyCage(&cage);
}

static void linear_paint_on_a_bar_stays_linear(void** state) {
    (void)state;
    srCage cage;
    makeBlock(12, 3, 3, 1.0 / 3.0, &cage);
    paintBar(4.0, 40, 2);
    float* W = transferNew(&cage);
    checkRows(&cage, W);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        // smoothness bends the field at the bar's free ends, by less than half a cell of 1/12
        assert_near((double)W[2 * node + 1], cage.nodes[node].x / 4.0, 0.04);
    }
    free(W);
    srDestroyCage(&cage);
}

static void skin_says_more_than_smoothness(void** state) {
    (void)state;
    srCage cage;
    makeBlock(12, 2, 2, 0.5, &cage);
    paintBar(6.0, 60, 2);
    for (int32_t v = 0; v < paint.vertexCount; v++) {
        bool isFar = paint.vertices[v].x > 3.0;
        paint.weights[paint.starts[v]] = isFar ? 0.0f : 1.0f;
        paint.weights[paint.starts[v] + 1] = isFar ? 1.0f : 0.0f;
    }
    float* W = transferNew(&cage);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        double x = cage.nodes[node].x;
        if (fabs(x - 3.0) > 1.4) {
            // three cells beside the step hardly anything is left of it, in the middle of the bar too
            assert_near((double)W[2 * node + 1], x > 3.0 ? 1.0 : 0.0, 0.02);
        }
    }
    free(W);
    srDestroyCage(&cage);
}

static void bone_that_nobody_paints_gets_exactly_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(4, 1, 1, 1.0, &cage);
    paintBar(4.0, 20, 5);
    float* W = transferNew(&cage);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        for (int bone = 2; bone < 5; bone++) {
            assert_true(W[5 * node + bone] == 0.0f);
        }
    }
    free(W);
    srDestroyCage(&cage);
}

static srVec3 moveRigidly(srVec3 p, double scale) {
    // a rotation with rational entries, so that only rounding is added
    srVec3 turned = {(2.0 * p.x - p.y + 2.0 * p.z) / 3.0, (2.0 * p.x + 2.0 * p.y - p.z) / 3.0,
                     (-p.x + 2.0 * p.y + 2.0 * p.z) / 3.0};
    return srMulAdd((srVec3){3.0 * scale, -2.0 * scale, 5.0 * scale}, scale, turned);
}

static void weights_do_not_depend_on_place_turn_and_unit(void** state) {
    (void)state;
    srCage cage;
    uint64_t seed = 83;
    makeBlock(6, 2, 2, 0.5, &cage);
    clearPaint(4);
    for (int v = 0; v < 300; v++) {
        srVec3 at = srAdd(randomPoint(&seed, 1.6), (srVec3){1.5, 0.5, 0.5});
        addVertex(at, v % 4, srTestRandom(&seed), (v + 1) % 4, srTestRandom(&seed));
    }
    float* W = transferNew(&cage);
    const double scales[] = {1.0, 1000.0, 0.001};
    for (int s = 0; s < 3; s++) {
        srCage moved = cage;
        Paint before = paint;
        moved.nodes = malloc(sizeof(srVec3) * (size_t)cage.nodeCount);
        for (int32_t node = 0; node < cage.nodeCount; node++) {
            moved.nodes[node] = moveRigidly(cage.nodes[node], scales[s]);
        }
        for (int32_t v = 0; v < paint.vertexCount; v++) {
            paint.vertices[v] = moveRigidly(before.vertices[v], scales[s]);
        }
        float* V = transferNew(&moved);
        for (int32_t i = 0; i < 4 * cage.nodeCount; i++) {
            assert_near((double)V[i], (double)W[i], 1e-5);
        }
        free(V);
        free(moved.nodes);
        paint = before;
    }
    free(W);
    srDestroyCage(&cage);
}

// The skin's resolution: every vertex there k times must change nothing.
static void crowded_vertices_say_no_more_than_one(void** state) {
    (void)state;
    srCage cage;
    makeBlock(6, 2, 2, 0.5, &cage);
    paintBar(3.0, 10, 2);
    float* once = transferNew(&cage);
    int32_t count = paint.vertexCount;
    for (int copy = 0; copy < 9; copy++) {
        for (int32_t v = 0; v < count; v++) {
            int32_t entry = paint.starts[v];
            addVertex(paint.vertices[v], 0, (double)paint.weights[entry], 1,
                      (double)paint.weights[entry + 1]);
        }
    }
    float* ten = transferNew(&cage);
    for (int32_t i = 0; i < 2 * cage.nodeCount; i++) {
        assert_near((double)ten[i], (double)once[i], 1e-6);
    }
    free(once);
    free(ten);
    srDestroyCage(&cage);
}

static int32_t findNode(const srCage* cage, srVec3 at) {
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        if (srDistance(cage->nodes[node], at) < 1e-9) {
            return node;
        }
    }
    fail_msg("no node there");
    return 0;
}

static void symmetric_paint_on_a_symmetric_cage_stays_symmetric(void** state) {
    (void)state;
    // two blocks, the second mirrored at x = 0, so that the cells are mirrored too
    srCage half, cage;
    uint64_t seed = 85;
    makeBlock(3, 2, 2, 0.5, &half);
    srVec3* nodes = malloc(2 * sizeof(srVec3) * (size_t)half.nodeCount);
    int32_t (*cells)[4] = malloc(2 * sizeof(cells[0]) * (size_t)half.cellCount);
    for (int32_t i = 0; i < half.nodeCount; i++) {
        srVec3 p = half.nodes[i];
        nodes[i] = p;
        nodes[half.nodeCount + i] = (srVec3){-p.x, p.y, p.z};
    }
    for (int32_t c = 0; c < 4 * half.cellCount; c++) {
        int32_t node = half.cells[c / 4][c % 4];
        cells[c / 4][c % 4] = node;
        cells[half.cellCount + c / 4][c % 4] = half.nodes[node].x == 0.0 ? node : half.nodeCount + node;
    }
    assert_success(
        srCreateCage(nodes, 2 * half.nodeCount, (const int32_t (*)[4])cells, 2 * half.cellCount, &cage));
    free(nodes);
    free(cells);

    clearPaint(3);
    for (int v = 0; v < 200; v++) {
        srVec3 p = {0.02 + 1.4 * srTestRandom(&seed), 0.01 + 0.98 * srTestRandom(&seed), srTestRandom(&seed)};
        double w = srTestRandom(&seed);
        addVertex(p, 0, w, 1, 1.0 - w);
        addVertex((srVec3){-p.x, p.y, p.z}, 2, w, 1, 1.0 - w);
    }
    float* W = transferNew(&cage);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        srVec3 p = cage.nodes[node];
        int32_t mirrored = findNode(&cage, (srVec3){-p.x, p.y, p.z});
        assert_near((double)W[3 * node], (double)W[3 * mirrored + 2], 1e-6);
        assert_near((double)W[3 * node + 1], (double)W[3 * mirrored + 1], 1e-6);
    }
    free(W);
    srDestroyCage(&half);
    srDestroyCage(&cage);
}

static void piece_without_paint_takes_the_nearest_weights(void** state) {
    (void)state;
    srVec3 nodes[8];
    const int32_t cells[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    for (int i = 0; i < 8; i++) {
        nodes[i] = (srVec3){(i % 4 == 1) + 5.0 * (i / 4), i % 4 == 2, i % 4 == 3};
    }
    srCage cage;
    assert_success(srCreateCage(nodes, 8, cells, 2, &cage));
    clearPaint(2);
    addVertex((srVec3){0.1, 0.1, 0.1}, 1, 1.0, SR_NULL_INDEX, 0.0);
    float* W = transferNew(&cage);
    checkRows(&cage, W);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        assert_near((double)W[2 * node + 1], 1.0, 1e-6);
    }
    free(W);
    srDestroyCage(&cage);
}

static void nearest_is_meant_in_space_and_not_along_one_axis(void** state) {
    (void)state;
    // single cells: painted for bone 0 at the origin, for bone 1 far up; between them by x ones without paint
    srVec3 nodes[20];
    const double places[5][2] = {{0.0, 0.0}, {10.0, 100.0}, {8.0, 0.0}, {9.0, 99.0}, {-50.0, 20.0}};
    const int expected[5] = {0, 1, 0, 1, 0};
    int32_t cells[5][4];
    for (int i = 0; i < 20; i++) {
        const double* place = places[i / 4];
        nodes[i] = (srVec3){place[0] + (i % 4 == 1), place[1] + (i % 4 == 2), i % 4 == 3};
        cells[i / 4][i % 4] = i;
    }
    srCage cage;
    assert_success(srCreateCage(nodes, 20, (const int32_t (*)[4])cells, 5, &cage));
    clearPaint(2);
    addVertex((srVec3){0.1, 0.1, 0.1}, 0, 1.0, SR_NULL_INDEX, 0.0);
    addVertex((srVec3){10.1, 100.1, 0.1}, 1, 1.0, SR_NULL_INDEX, 0.0);
    float* W = transferNew(&cage);
    for (int i = 0; i < 20; i++) {
        int32_t node = findNode(&cage, nodes[i]);
        assert_near((double)W[2 * node + expected[i / 4]], 1.0, 1e-6);
    }
    free(W);
    srDestroyCage(&cage);
}

// The minimiser by plain elimination on the dense normal equations, with the strengths of the header's words:
// found from the energy's stationarity, not from the code under test.
static void solveDensely(int n, double* A, double* x) {
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= A[i * n + j] * x[j];
        }
        x[i] /= A[i * n + i];
    }
}

static void denseLaplacian(const srCage* cage, double* A) {
    int32_t n = cage->nodeCount, count = SR_LAPLACIAN_ENTRIES * cage->cellCount;
    srTriplet* triplets = malloc(sizeof(srTriplet) * (size_t)count);
    srFillLaplacian(cage, triplets);
    for (int32_t t = 0; t < count; t++) {
        A[triplets[t].row * n + triplets[t].column] += triplets[t].value;
        A[triplets[t].column * n + triplets[t].row] +=
            triplets[t].row != triplets[t].column ? triplets[t].value : 0.0;
    }
    free(triplets);
}

static void small_cage_agrees_with_a_dense_solve(void** state) {
    (void)state;
    // one vertex in the middle of every cell: no two share a cell, so a_v = 100 (L around v) / (vertices
    // around v) is summed here directly
    srCage cage;
    makeBlock(2, 1, 1, 1.0, &cage);
    int32_t n = cage.nodeCount;
    clearPaint(2);
    for (int32_t cell = 0; cell < cage.cellCount; cell++) {
        srVec3 middle = {0};
        for (int c = 0; c < 4; c++) {
            middle = srMulAdd(middle, 0.25, cage.nodes[cage.cells[cell][c]]);
        }
        addVertex(middle, 0, cell + 20.0, 1, 30.0);
    }
    double* A = calloc((size_t)(n * n), sizeof(double));
    double* x = calloc((size_t)n, sizeof(double));
    double* diagonal = calloc((size_t)n, sizeof(double));
    double* crowd = calloc((size_t)n, sizeof(double));
    denseLaplacian(&cage, A);
    for (int32_t i = 0; i < n; i++) {
        diagonal[i] = A[i * n + i];
    }
    for (int32_t c = 0; c < 4 * cage.cellCount; c++) {
        crowd[cage.cells[c / 4][c % 4]] += 0.25;
    }
    for (int32_t cell = 0; cell < cage.cellCount; cell++) {
        const int32_t* nodes = cage.cells[cell];
        double around = 0.0, shared = 0.0;
        for (int c = 0; c < 4; c++) {
            around += 0.25 * diagonal[nodes[c]];
            shared += 0.25 * crowd[nodes[c]];
        }
        double a = 100.0 * around / shared, p = (cell + 20.0) / (cell + 50.0);
        for (int c = 0; c < 16; c++) {
            A[nodes[c / 4] * n + nodes[c % 4]] += a / 16.0;
            x[nodes[c / 4]] += c % 4 == 0 ? a * p / 4.0 : 0.0;
        }
    }
    solveDensely(n, A, x);
    float* W = transferNew(&cage);
    for (int32_t i = 0; i < n; i++) {
        // clamping does not set in, and rows of two bones sum to one by themselves
        assert_true(x[i] > 0.0 && x[i] < 1.0);
        assert_near((double)W[2 * i], x[i], 1e-6);
    }
    free(A);
    free(x);
    free(diagonal);
    free(crowd);
    free(W);
    srDestroyCage(&cage);
}

static void bad_paint_is_refused(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    float W[64];
    makeBlock(1, 1, 1, 1.0, &cage);
    const srVec3 vertices[2] = {{0.1, 0.2, 0.3}, {(double)NAN, 0.0, 0.0}};
    assert_success(srCreateEmbedding(&cage, vertices, NULL, 2, &embedding));
    const int32_t starts[] = {0, 1, 2}, descending[] = {0, 2, 1}, negative[] = {-1, 1, 2};
    const int32_t bones[] = {0, 1}, high[] = {0, 2}, low[] = {-1, 0};
    const float weights[] = {1.0f, 1.0f}, nothing[] = {0.0f, 0.0f}, minus[] = {-1.0f, -1.0f};
    const float broken[] = {1.0f, NAN}, onlyBroken[] = {0.0f, 1.0f};
    const struct {
        srPaintedWeights painted;
        srResult expected;
    } cases[] = {
        {{starts, bones, weights, 2, 2}, sr_success},
        {{starts, bones, weights, 1, 2}, sr_errorInvalidValue},
        {{starts, bones, weights, 2, 0}, sr_errorInvalidValue},
        {{descending, bones, weights, 2, 2}, sr_errorInvalidValue},
        {{negative, bones, weights, 2, 2}, sr_errorInvalidValue},
        {{starts, high, weights, 2, 2}, sr_errorInvalidValue},
        {{starts, low, weights, 2, 2}, sr_errorInvalidValue},
        {{starts, bones, nothing, 2, 2}, sr_errorInvalidValue},
        {{starts, bones, minus, 2, 2}, sr_errorInvalidValue},
        {{starts, bones, broken, 2, 2}, sr_errorNotFinite},
        // the only weight belongs to the vertex that is nowhere
        {{starts, bones, onlyBroken, 2, 2}, sr_errorInvalidValue},
    };
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        assert_int_equal(srTransferWeights(&cage, &embedding, &cases[i].painted, NULL, W), cases[i].expected);
    }
    srDestroyEmbedding(&embedding);

    // no vertex at all
    assert_success(srCreateEmbedding(&cage, NULL, NULL, 0, &embedding));
    const srPaintedWeights none = {NULL, NULL, NULL, 0, 2};
    assert_result(srTransferWeights(&cage, &embedding, &none, NULL, W), sr_errorInvalidValue);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

typedef struct Patience {
    int askedCount;
    int endsAt;
    float last;
} Patience;

static bool beAsked(float fraction, void* context) {
    Patience* patience = context;
    assert_true(fraction >= patience->last && fraction <= 1.0f);
    patience->last = fraction;
    return ++patience->askedCount != patience->endsAt;
}

static void whoever_is_asked_may_end_it_each_time(void** state) {
    (void)state;
    srCage cage;
    srEmbedding embedding;
    makeBlock(4, 1, 1, 1.0, &cage);
    paintBar(4.0, 20, 2);
    srPaintedWeights view = viewPaint();
    float* W = malloc(sizeof(float) * 2 * (size_t)cage.nodeCount);
    assert_success(srCreateEmbedding(&cage, paint.vertices, NULL, paint.vertexCount, &embedding));
    Patience whole = {0};
    srProgress progress = {beAsked, &whole, 0.0f, 1.0f};
    assert_success(srTransferWeights(&cage, &embedding, &view, &progress, W));
    assert_true(whole.askedCount >= 4);
    for (int end = 1; end <= whole.askedCount; end++) {
        Patience patience = {.endsAt = end};
        progress.context = &patience;
        assert_result(srTransferWeights(&cage, &embedding, &view, &progress, W), sr_errorCancelled);
    }
    free(W);
    srDestroyEmbedding(&embedding);
    srDestroyCage(&cage);
}

static srResult transferOnly(void* context) {
    float W[64];
    return transfer(context, W);
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(1, 1, 1, 1.0, &cage);
    paintBar(1.0, 2, 3);
    srTestEveryAllocationFails(transferOnly, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_sum_to_one_within_bounds_for_any_paint, srTestNothingLeaked),
        cmocka_unit_test_teardown(linear_paint_on_a_bar_stays_linear, srTestNothingLeaked),
        cmocka_unit_test_teardown(skin_says_more_than_smoothness, srTestNothingLeaked),
        cmocka_unit_test_teardown(bone_that_nobody_paints_gets_exactly_nothing, srTestNothingLeaked),
        cmocka_unit_test_teardown(weights_do_not_depend_on_place_turn_and_unit, srTestNothingLeaked),
        cmocka_unit_test_teardown(crowded_vertices_say_no_more_than_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(symmetric_paint_on_a_symmetric_cage_stays_symmetric, srTestNothingLeaked),
        cmocka_unit_test_teardown(piece_without_paint_takes_the_nearest_weights, srTestNothingLeaked),
        cmocka_unit_test_teardown(nearest_is_meant_in_space_and_not_along_one_axis, srTestNothingLeaked),
        cmocka_unit_test_teardown(small_cage_agrees_with_a_dense_solve, srTestNothingLeaked),
        cmocka_unit_test_teardown(whoever_is_asked_may_end_it_each_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(bad_paint_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/transfer", tests, NULL, NULL);
}
