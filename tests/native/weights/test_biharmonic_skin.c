// SPDX-License-Identifier: GPL-3.0-or-later
//
// From a skin to weights of its vertices, through a cage of the library's own.

#include "weights/biharmonic_skin.h"

#include "core/alloc.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// two spheres that touch at x = 0: a left and a right bone, and one that goes through both
typedef struct Scene {
    float* positions;
    int32_t* triangles;
    float points[18];
    int32_t columns[6];
    int32_t elements[9];
    int32_t mirrors[3];
    srWeightsDef def;
} Scene;

static void createScene(Scene* s, double apart) {
    float* points;
    int32_t* triangles;
    int32_t pointCount, triangleCount;
    srTestSphere(2, 1.0f, &points, &pointCount, &triangles, &triangleCount);
    *s = (Scene){
        .positions = malloc(6 * (size_t)pointCount * sizeof(float)),
        .triangles = malloc(6 * (size_t)triangleCount * sizeof(int32_t)),
        .points = {-0.6f, 0, 0, -1.6f, 0, 0, 0.6f, 0, 0, 1.6f, 0, 0, 0, 0, 3, 0, 0, 4},
        .columns = {0, 0, 1, 1, 2, 2},
        .elements = {0, 1, 1, 2, 3, 3, 4, 5, 5},
        .mirrors = {1, 0, 2},
        .def = {.structSize = sizeof(srWeightsDef)},
    };
    for (int32_t v = 0; v < pointCount; v++) {
        for (int side = 0; side < 2; side++) {
            float* x = s->positions + 3 * (size_t)(v + side * pointCount);
            x[0] = (side == 0 ? 1.0f : -1.0f) * (points[3 * v] + (float)apart);
            x[1] = points[3 * v + 1];
            x[2] = points[3 * v + 2];
        }
    }
    for (int32_t t = 0; t < triangleCount; t++) {
        const int32_t* c = triangles + 3 * (size_t)t;
        const int32_t both[6] = {c[0], c[1], c[2], c[0] + pointCount, c[2] + pointCount, c[1] + pointCount};
        memcpy(s->triangles + 3 * (size_t)t, both, 3 * sizeof(int32_t));
        memcpy(s->triangles + 3 * (size_t)(t + triangleCount), both + 3, 3 * sizeof(int32_t));
    }
    free(points);
    free(triangles);
    s->def = srDefaultWeightsDef();
    s->def.skinPositions = s->positions;
    s->def.skinVertexCount = 2 * pointCount;
    s->def.skinTriangles = s->triangles;
    s->def.skinTriangleCount = 2 * triangleCount;
    s->def.points = s->points;
    s->def.pointColumns = s->columns;
    s->def.pointCount = 6;
    s->def.elements = s->elements;
    s->def.elementCount = 3;
    s->def.columnCount = 3;
    s->def.targetNodeCount = 500;
}

static void destroyScene(Scene* s) {
    free(s->positions);
    free(s->triangles);
}

static void vertices_have_weights_that_sum_to_one(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 0.8);
    s.positions[7] = (float)NAN; // vertex 2 is nowhere
    float* values = calloc(3 * (size_t)s.def.skinVertexCount, sizeof(float));
    srWeightsReport report;
    assert_success(srWeighSkin(&s.def, NULL, values, &report));
    assert_true(report.isConverged);
    assert_int_equal(report.outsideColumnCount, 1);
    for (int32_t v = 0; v < s.def.skinVertexCount; v++) {
        double sum = 0.0;
        for (int32_t j = 0; j < 3; j++) {
            assert_true(values[3 * v + j] >= 0.0f && values[3 * v + j] <= 1.0f);
            sum += (double)values[3 * v + j];
        }
        assert_near(sum, v == 2 ? 0.0 : 1.0, 1e-6);
        float x = s.positions[3 * v];
        assert_true(fabsf(x) < 1.4f || v == 2 || values[3 * v + (x < 0.0f ? 0 : 1)] > 0.6f);
    }
    free(values);
    destroyScene(&s);
}

static void parts_that_lie_close_share_no_bone(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 1.03); // a gap of a twentieth
    s.def.elementCount = 2;
    s.def.columnCount = 2;
    s.def.pointCount = 4;
    float* values = calloc(2 * (size_t)s.def.skinVertexCount, sizeof(float));
    srWeightsReport report;
    assert_success(srWeighSkin(&s.def, NULL, values, &report));
    for (int32_t v = 0; v < s.def.skinVertexCount; v++) {
        int32_t own = s.positions[3 * v] < 0.0f ? 0 : 1;
        assert_true(values[2 * v + own] == 1.0f && values[2 * v + 1 - own] == 0.0f);
    }
    free(values);
    destroyScene(&s);
}

static void a_mirrored_rig_has_mirrored_bits(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 0.8);
    s.def.mirrorColumns = s.mirrors;
    float* values = calloc(3 * (size_t)s.def.skinVertexCount, sizeof(float));
    srWeightsReport report;
    assert_success(srWeighSkin(&s.def, NULL, values, &report));
    assert_int_equal(report.mirroredVertexCount, s.def.skinVertexCount);
    int32_t half = s.def.skinVertexCount / 2;
    for (int32_t v = 0; v < half; v++) {
        for (int32_t j = 0; j < 3; j++) {
            assert_true(values[3 * v + j] == values[3 * (v + half) + s.mirrors[j]]);
        }
    }
    free(values);
    destroyScene(&s);
}

static void columns_without_an_image_stay_and_the_others_share_the_rest(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 0.8);
    // within the right one's flesh
    memcpy(s.points + 12, (const float[]){1.2f, 0.0f, 0.5f, 1.4f, 0.0f, 0.6f}, 6 * sizeof(float));
    int32_t count = s.def.skinVertexCount, half = count / 2, held = 0;
    float* plain = calloc(3 * (size_t)count, sizeof(float));
    float* values = calloc(3 * (size_t)count, sizeof(float));
    srWeightsReport report;
    assert_success(srWeighSkin(&s.def, NULL, plain, &report));
    s.mirrors[2] = SR_NULL_INDEX;
    s.def.mirrorColumns = s.mirrors;
    assert_success(srWeighSkin(&s.def, NULL, values, &report));
    for (int32_t v = 0; v < count; v++) {
        assert_true(values[3 * v + 2] == plain[3 * v + 2]);
        held += values[3 * v + 2] > 0.3f;
        assert_near(values[3 * v] + values[3 * v + 1] + values[3 * v + 2], 1.0, 1e-6);
    }
    assert_true(held > 10);
    for (int32_t v = 0; v < half; v++) {
        const float *row = values + 3 * v, *other = values + 3 * (v + half);
        // shares of what is left to the two: floats
        assert_near(row[0] * (other[0] + other[1]), other[1] * (row[0] + row[1]), 1e-6);
    }
    free(plain);
    free(values);
    destroyScene(&s);
}

static void images_are_pairs(void** state) {
    (void)state;
    // a pair, a middle, one without, two at one place against one, and one that is nowhere
    const srVec3 points[] = {{1, 0, 0}, {-1, 0, 0}, {0, 2, 0},  {3, 0, 0},
                             {5, 0, 0}, {5, 0, 0},  {-5, 0, 0}, {(double)NAN, 0, 0}};
    int32_t images[8], count;
    assert_success(srFindMirrorImages(points, 8, 1e-6, images, &count));
    const int32_t expected[] = {1, 0, 2, -1, 6, -1, 4, -1};
    assert_memory_equal(images, expected, sizeof(expected));
    assert_int_equal(count, 5);
}

typedef struct Told {
    int calls; // until it stops
    float last;
} Told;

static bool stopLater(float fraction, void* context) {
    Told* told = context;
    assert_true(fraction >= told->last && fraction <= 1.0f);
    told->last = fraction;
    return --told->calls > 0;
}

static void progress_never_goes_back_and_may_stop_anywhere(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 0.8);
    float* values = calloc(3 * (size_t)s.def.skinVertexCount, sizeof(float));
    srWeightsReport report;
    Told told = {1000000, 0.0f};
    srProgress progress = {stopLater, &told, 0.0f, 1.0f};
    // the tighter one goes on in double
    for (int tight = 1; tight >= 0; tight--) {
        s.def.tolerance = tight ? 1e-6f : 1e-4f;
        told = (Told){1000000, 0.0f};
        assert_success(srWeighSkin(&s.def, &progress, values, &report));
        assert_true(told.last > 0.9f);
    }
    int all = 1000000 - told.calls;
    assert_true(all > 20);
    for (int after = 1; after <= all; after += 1 + all / 12) {
        told = (Told){after, 0.0f};
        assert_result(srWeighSkin(&s.def, &progress, values, &report), sr_errorCancelled);
        assert_int_equal(told.calls, 0); // nobody goes on after the word
    }
    free(values);
    destroyScene(&s);
}

static srResult weighOnce(void* context) {
    Scene* s = context;
    float values[3 * 400];
    srWeightsReport report;
    return srWeighSkin(&s->def, NULL, values, &report);
}

static void any_allocation_may_fail(void** state) {
    (void)state;
    Scene s;
    createScene(&s, 0.8);
    s.def.targetNodeCount = 60;
    s.def.skinVertexCount /= 2; // one sphere
    s.def.skinTriangleCount /= 2;
    s.def.mirrorColumns = s.mirrors;
    assert_true(s.def.skinVertexCount <= 400);
    srTestEveryAllocationFails(weighOnce, &s);
    destroyScene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(vertices_have_weights_that_sum_to_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(parts_that_lie_close_share_no_bone, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_mirrored_rig_has_mirrored_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(columns_without_an_image_stay_and_the_others_share_the_rest,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(images_are_pairs, srTestNothingLeaked),
        cmocka_unit_test_teardown(progress_never_goes_back_and_may_stop_anywhere, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_allocation_may_fail, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
