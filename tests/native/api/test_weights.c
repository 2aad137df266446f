// SPDX-License-Identifier: GPL-3.0-or-later
//
// Weights through the contract: what is refused, what may be asked when, and that nothing stays.

#include "softrig/softrig.h"

#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    float* positions;
    int32_t* triangles;
    srWeightsDef def;
} Scene;

static const float POINTS[] = {0, 0, -0.8f, 0, 0, -0.2f, 0, 0, 0.2f, 0, 0, 0.8f};
static const int32_t COLUMNS[] = {0, 0, 1, 1};
static const int32_t ELEMENTS[] = {0, 1, 1, 2, 3, 3};

static void createScene(Scene* s) {
    int32_t vertexCount, triangleCount;
    srTestSphere(3, 1.0f, &s->positions, &vertexCount, &s->triangles, &triangleCount);
    s->def = srDefaultWeightsDef();
    s->def.skinPositions = s->positions;
    s->def.skinVertexCount = vertexCount;
    s->def.skinTriangles = s->triangles;
    s->def.skinTriangleCount = triangleCount;
    s->def.points = POINTS;
    s->def.pointColumns = COLUMNS;
    s->def.pointCount = 4;
    s->def.elements = ELEMENTS;
    s->def.elementCount = 2;
    s->def.columnCount = 2;
}

static void destroyScene(Scene* s) {
    free(s->positions);
    free(s->triangles);
}

static void weights_can_be_read_when_they_are_there(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    srWeightsId id;
    srJobStatus status;
    srWeightsReport report;
    float* values = calloc(2 * (size_t)s.def.skinVertexCount, sizeof(float));
    assert_success(srStartWeights(&s.def, &id));
    destroyScene(&s); // nothing of it is kept
    srResult early = srWeights_Read(id, values, s.def.skinVertexCount, 2);
    assert_true(early == sr_success || early == sr_errorNotReady);
    assert_success(srWeights_Wait(id, -1.0));
    assert_success(srWeights_GetStatus(id, &status));
    assert_int_equal(status.phase, sr_phaseDone);
    assert_true(status.progress == 1.0f);
    assert_success(srWeights_GetReport(id, &report));
    assert_true(report.isConverged && report.dualResidual <= 1e-4f && report.primalResidual <= 1e-4f);
    assert_result(srWeights_Read(id, values, s.def.skinVertexCount - 1, 2), sr_errorInvalidValue);
    assert_result(srWeights_Read(id, values, s.def.skinVertexCount, 3), sr_errorInvalidValue);
    assert_success(srWeights_Read(id, values, s.def.skinVertexCount, 2));
    for (int32_t v = 0; v < s.def.skinVertexCount; v++) {
        assert_near((double)(values[2 * v] + values[2 * v + 1]), 1.0, 1e-6);
    }
    assert_success(srDestroyWeights(id));
    assert_result(srWeights_GetStatus(id, &status), sr_errorStaleId);
    assert_result(srDestroyWeights(id), sr_errorStaleId);
    free(values);
}

static void computeWeights(const srWeightsDef* def, float* values) {
    srWeightsId id;
    srWeightsReport report;
    assert_success(srStartWeights(def, &id));
    assert_success(srWeights_Wait(id, -1.0));
    assert_success(srWeights_GetReport(id, &report));
    assert_true(report.isConverged);
    assert_success(srWeights_Read(id, values, def->skinVertexCount, def->columnCount));
    assert_success(srDestroyWeights(id));
    for (int32_t v = 0; v < def->skinVertexCount; v++) {
        double sum = 0.0;
        for (int32_t j = 0; j < def->columnCount; j++) {
            sum += (double)values[v * def->columnCount + j];
        }
        assert_near(sum, 1.0, 1e-6);
    }
}

// the vertex of the ball that lies farthest towards a place
static int32_t findTowards(const Scene* s, const float* place) {
    int32_t best = 0;
    for (int32_t v = 0; v < s->def.skinVertexCount; v++) {
        const float *x = s->positions + 3 * v, *y = s->positions + 3 * best;
        float here = x[0] * place[0] + x[1] * place[1] + x[2] * place[2];
        best = here > y[0] * place[0] + y[1] * place[1] + y[2] * place[2] ? v : best;
    }
    return best;
}

// Within the ball, each a column.
static void points_hold_what_is_around_them(void** state) {
    (void)state;
    const float points[] = {0.6f, 0, 0, -0.3f, 0.55f, 0.1f, -0.3f, -0.5f, 0.2f, 0, 0, -0.7f};
    const int32_t columns[] = {0, 1, 2, 3}, elements[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    Scene s;
    createScene(&s);
    s.def.points = points;
    s.def.pointColumns = columns;
    s.def.elements = elements;
    s.def.pointCount = s.def.elementCount = s.def.columnCount = 4;
    float* values = calloc(4 * (size_t)s.def.skinVertexCount, sizeof(float));
    computeWeights(&s.def, values);
    for (int32_t j = 0; j < 4; j++) {
        assert_true(values[4 * findTowards(&s, points + 3 * j) + j] > 0.8f);
    }
    free(values);
    destroyScene(&s);
}

// An octahedron whose faces cut through the ball and whose corners, each a column, lie outside of it.
static void a_control_cage_goes_straight_along_its_faces(void** state) {
    (void)state;
    float points[18] = {0};
    int32_t columns[6], elements[24];
    for (int32_t j = 0; j < 6; j++) {
        points[3 * j + j / 2] = j % 2 == 0 ? 1.5f : -1.5f;
        columns[j] = j;
    }
    for (int32_t face = 0; face < 8; face++) {
        elements[3 * face] = face & 1;
        elements[3 * face + 1] = 2 + (face >> 1 & 1);
        elements[3 * face + 2] = 4 + (face >> 2);
    }
    Scene s;
    createScene(&s);
    s.def.points = points;
    s.def.pointColumns = columns;
    s.def.elements = elements;
    s.def.elementCount = 8;
    s.def.pointCount = s.def.columnCount = 6;
    float* values = calloc(6 * (size_t)s.def.skinVertexCount, sizeof(float));
    computeWeights(&s.def, values);
    int32_t onFaces = 0;
    for (int32_t v = 0; v < s.def.skinVertexCount; v++) {
        const float* x = s.positions + 3 * v;
        if (fabsf(fabsf(x[0]) + fabsf(x[1]) + fabsf(x[2]) - 1.5f) > 0.03f) {
            continue;
        }
        for (int32_t j = 0; j < 6; j++) {
            double along = (j % 2 == 0 ? 1.0 : -1.0) * (double)x[j / 2];
            // samples pull, they do not pin, and the vertex is a little off the face
            assert_near((double)values[6 * v + j], fmax(along, 0.0) / 1.5, 0.08);
        }
        onFaces++;
    }
    assert_true(onFaces >= 24);
    for (int32_t j = 0; j < 6; j++) {
        int32_t v = findTowards(&s, points + 3 * j);
        assert_true(values[6 * v + j] > 0.6f && values[6 * v + (j ^ 1)] < 0.01f);
    }
    free(values);
    destroyScene(&s);
}

static void destroying_halfway_cancels(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    s.def.targetNodeCount = 20000;
    s.def.tolerance = 1e-8f;
    srWeightsId id;
    assert_success(srStartWeights(&s.def, &id));
    assert_result(srWeights_Wait(id, 0.01), sr_errorNotReady);
    assert_success(srDestroyWeights(id));
    assert_int_equal(srGetByteCount(), 0);
    assert_success(srStartWeights(&s.def, &id));
    assert_int_equal(srShutdown(), 1);
    destroyScene(&s);
}

static void callers_mistakes_are_named(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    srWeightsId id;
    const float nowhere[] = {0, 0, (float)NAN, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const int32_t beyond[] = {0, 1, 4, 2, 3, 3}, otherColumns[] = {0, 0, 1, 2}, mirrors[] = {1, 1};
    const int32_t outOfRange[] = {-2, 1}, oneSided[] = {-1, 0};
    const srWeightsDef good = s.def;
    assert_result(srStartWeights(NULL, &id), sr_errorNullArgument);
    assert_result(srStartWeights(&good, NULL), sr_errorNullArgument);
#define REFUSED(field, value, result)                                                                        \
    do {                                                                                                     \
        srWeightsDef bad = good;                                                                             \
        bad.field = value;                                                                                   \
        assert_result(srStartWeights(&bad, &id), result);                                                    \
    } while (0)
    REFUSED(structSize, 8, sr_errorStructSize);
    REFUSED(skinPositions, NULL, sr_errorNullArgument);
    REFUSED(skinTriangles, NULL, sr_errorNullArgument);
    REFUSED(skinVertexCount, 0, sr_errorInvalidValue);
    REFUSED(skinVertexCount, 3, sr_errorInvalidValue);
    REFUSED(skinTriangleCount, -1, sr_errorInvalidValue);
    REFUSED(points, NULL, sr_errorNullArgument);
    REFUSED(points, nowhere, sr_errorNotFinite);
    REFUSED(pointColumns, NULL, sr_errorNullArgument);
    REFUSED(pointColumns, otherColumns, sr_errorInvalidValue);
    REFUSED(elements, NULL, sr_errorNullArgument);
    REFUSED(elements, beyond, sr_errorInvalidValue);
    REFUSED(elementCount, 0, sr_errorInvalidValue);
    REFUSED(columnCount, 0, sr_errorInvalidValue);
    REFUSED(columnCount, 5000, sr_errorInvalidValue);
    REFUSED(mirrorColumns, mirrors, sr_errorInvalidValue);
    REFUSED(mirrorColumns, outOfRange, sr_errorInvalidValue);
    REFUSED(mirrorColumns, oneSided, sr_errorInvalidValue);
    REFUSED(targetNodeCount, 49, sr_errorInvalidValue);
    REFUSED(tolerance, 0.0f, sr_errorInvalidValue);
    REFUSED(tolerance, (float)NAN, sr_errorInvalidValue);
    REFUSED(largestHole, -1.0f, sr_errorInvalidValue);
    REFUSED(sheetThickness, 2.0f, sr_errorInvalidValue);
    REFUSED(sheetThickness, (float)NAN, sr_errorInvalidValue);
    assert_int_equal(srGetByteCount(), 0);
    destroyScene(&s);
}

static void what_has_no_inside_fails_with_a_sentence(void** state) {
    (void)state;
    Scene s;
    createScene(&s);
    for (int32_t v = 0; v < s.def.skinVertexCount; v++) {
        s.positions[3 * v] = (float)NAN;
    }
    srWeightsId id;
    srJobStatus status;
    assert_success(srStartWeights(&s.def, &id));
    assert_true(srWeights_Wait(id, -1.0) != sr_success);
    assert_success(srWeights_GetStatus(id, &status));
    assert_int_equal(status.phase, sr_phaseFailed);
    assert_true(strlen(status.message) > 10);
    assert_success(srDestroyWeights(id));
    destroyScene(&s);
}

static bool hasCage(const srWeightsDef* def, srWeightsReport* outReport) {
    srWeightsId id;
    assert_success(srStartWeights(def, &id));
    bool isMade = srWeights_Wait(id, -1.0) == sr_success;
    if (isMade) {
        assert_success(srWeights_GetReport(id, outReport));
    }
    assert_success(srDestroyWeights(id));
    return isMade;
}

// A sheet has an inside only where it is given a thickness; a shell's hollow is flesh only where it is
// filled.
static void what_is_inside_is_as_for_the_character(void** state) {
    (void)state;
    const float corners[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    const float hollow[] = {0, 0, -0.3f, 0, 0, -0.1f, 0, 0, 0.1f, 0, 0, 0.3f};
    const int32_t sheet[] = {0, 1, 2, 0, 2, 3};
    srWeightsReport report, filled;
    Scene s;
    createScene(&s);
    srWeightsDef def = s.def;
    def.skinPositions = corners;
    def.skinVertexCount = 4;
    def.skinTriangles = sheet;
    def.skinTriangleCount = 2;
    def.targetNodeCount = 100;
    assert_true(hasCage(&def, &report));
    def.sheetThickness = 0.0f;
    assert_false(hasCage(&def, &report));

    // the sphere once more within itself, inside out
    int32_t count = s.def.skinVertexCount, triangles = s.def.skinTriangleCount;
    float* shell = malloc(6 * sizeof(float) * (size_t)count);
    int32_t* faces = malloc(6 * sizeof(int32_t) * (size_t)triangles);
    for (int32_t i = 0; i < 3 * count; i++) {
        shell[i] = s.positions[i];
        shell[3 * count + i] = 0.6f * s.positions[i];
    }
    for (int32_t i = 0; i < 3 * triangles; i++) {
        faces[i] = s.triangles[i];
        faces[3 * triangles + i] = count + s.triangles[i / 3 * 3 + 2 - i % 3];
    }
    def = s.def;
    def.skinPositions = shell;
    def.skinVertexCount = 2 * count;
    def.skinTriangles = faces;
    def.skinTriangleCount = 2 * triangles;
    def.targetNodeCount = 500;
    def.points = hollow;
    assert_true(hasCage(&def, &report));
    def.fillsHollows = true;
    assert_true(hasCage(&def, &filled));
    assert_true(report.outsideColumnCount > 0 && filled.outsideColumnCount == 0);
    free(shell);
    free(faces);
    destroyScene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(weights_can_be_read_when_they_are_there, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_hold_what_is_around_them, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_control_cage_goes_straight_along_its_faces, srTestNothingLeaked),
        cmocka_unit_test_teardown(destroying_halfway_cancels, srTestNothingLeaked),
        cmocka_unit_test_teardown(callers_mistakes_are_named, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_inside_is_as_for_the_character, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_has_no_inside_fails_with_a_sentence, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
