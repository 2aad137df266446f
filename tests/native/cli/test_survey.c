// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is odd about surfaces, cages and rigs: planted oddities are counted, sound ones have none.

#include "cli/mangle.h"
#include "cli/survey.h"

#include <math.h>

static srCliMesh readObj(const char* string) {
    srCliText text;
    srCliMesh mesh;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, string, strlen(string), &text, &error));
    if (!srCliReadObj(&text, &mesh, &error)) {
        fail_msg("%s", error.text);
    }
    srCliText_Close(&text);
    return mesh;
}

static srCliSurfaceSurvey surveyObj(const char* string) {
    srCliMesh mesh = readObj(string);
    srCliSurfaceSurvey survey;
    srCliError error;
    assert_true(srCliSurveySurface(&mesh, &survey, &error));
    srCliMesh_Free(&mesh);
    return survey;
}

#define CORNERS "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

static void a_sound_surface_has_nothing_odd(void** state) {
    (void)state;
    srCliMesh mesh = {0};
    float* points;
    int32_t* triangles;
    int32_t pointCount;
    int32_t triangleCount;
    srTestSphere(3, 2.0f, &points, &pointCount, &triangles, &triangleCount);
    assert_true(srCliFloats_Append(&mesh.points, points, 3 * (size_t)pointCount));
    assert_true(srCliInts_Append(&mesh.triangles, triangles, 3 * (size_t)triangleCount));
    free(points);
    free(triangles);
    srCliSurfaceSurvey survey;
    srCliError error;
    assert_true(srCliSurveySurface(&mesh, &survey, &error));
    srCliBounds bounds = srCliMeasureBounds(&mesh.points);
    srCliMesh_Free(&mesh);
    assert_int_equal(survey.pieceCount, 1);
    assert_int_equal(survey.borderEdgeCount, 0);
    assert_int_equal(survey.nonManifoldEdgeCount, 0);
    assert_int_equal(survey.flippedEdgeCount, 0);
    assert_int_equal(survey.degenerateTriangleCount, 0);
    assert_int_equal(survey.isolatedVertexCount, 0);
    assert_int_equal(survey.sharedPlaceCount, 0);
    assert_int_equal(bounds.nonFiniteCount, 0);

    // 1,280 flat triangles lie within 1 % of the sphere
    double volume = 4.0 / 3.0 * 3.14159265358979 * 8.0;
    assert_near(survey.signedVolume, volume, 0.02 * volume);
}

static void oddities_of_a_surface_are_counted(void** state) {
    (void)state;
    srCliSurfaceSurvey inside = surveyObj(CORNERS "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
    assert_near(inside.signedVolume, -1.0 / 6.0, 1e-12);
    assert_int_equal(inside.flippedEdgeCount, 0);

    srCliSurfaceSurvey open = surveyObj(CORNERS "f 1 3 2\nf 1 2 4\nf 1 3 4\n");
    assert_int_equal(open.borderEdgeCount, 3);
    assert_int_equal(open.flippedEdgeCount, 2);

    srCliSurfaceSurvey fin = surveyObj(CORNERS "v 1 1 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n");
    assert_int_equal(fin.nonManifoldEdgeCount, 1);
    assert_int_equal(fin.borderEdgeCount, 6);

    srCliSurfaceSurvey pieces =
        surveyObj(CORNERS "v 0 0 0\nv 9 9 9\nv 8 8 9\nv nan 0 0\nf 1 2 3\nf 5 6 7\nf 1 1 2\n");
    assert_int_equal(pieces.pieceCount, 2);
    assert_int_equal(pieces.isolatedVertexCount, 2);
    assert_int_equal(pieces.sharedPlaceCount, 1);
    assert_int_equal(pieces.degenerateTriangleCount, 1);

    srCliSurfaceSurvey cloud = surveyObj(CORNERS);
    assert_int_equal(cloud.isolatedVertexCount, 4);
    assert_int_equal(cloud.pieceCount, 0);
}

static void oddities_of_a_cage_are_counted(void** state) {
    (void)state;
    static const int32_t cells[] = {0, 1, 2, 3, 0, 2, 1, 3, 0, 1, 2, 2};
    srCliMesh mesh = readObj(CORNERS "v 5 5 5\n");
    assert_true(srCliInts_Append(&mesh.cells, cells, 4));
    srCliCageSurvey survey;
    srCliError error;
    assert_true(srCliSurveyCage(&mesh, &survey, &error));
    assert_near(survey.volume, 1.0 / 6.0, 1e-12);
    assert_int_equal(survey.invertedCellCount, 0);
    assert_int_equal(survey.unusedNodeCount, 1);
    assert_true(srCliInts_Append(&mesh.cells, cells + 4, 8));
    assert_true(srCliSurveyCage(&mesh, &survey, &error));
    assert_int_equal(survey.invertedCellCount, 1);
    assert_int_equal(survey.flatCellCount, 1);
    srCliMesh_Free(&mesh);
}

static void oddities_of_a_rig_are_counted(void** state) {
    (void)state;
#define UNIT "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"
    static const char string[] =
        "softrig-rig 1\nfps 24\nspaces 1\nbones 3\n"
        "bone A 0 -1 1 0.5 " UNIT "bone B 0 0 0 0 -1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"
        "bone C 0 -1 1 0 1 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1\n"
        "space 1 0 0 5 0 1 0 0 0 0 1 0 0 0 0 1\n"
        "weights 3\nv 1 0 1\nv 2 0 0.5 1 0.1\nv 1 2 0\n"
        "frames 1 2\n"
        "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT;
    srCliText text;
    srCliRig rig;
    srCliRigSurvey survey;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, string, strlen(string), &text, &error));
    assert_true(srCliReadRig(&text, &rig, &error));
    srCliText_Close(&text);
    assert_true(srCliSurveyRig(&rig, &survey, &error));
    srCliRig_Free(&rig);
    assert_int_equal(survey.rootCount, 2);
    assert_int_equal(survey.looseBoneCount, 1);
    assert_int_equal(survey.zeroLengthBoneCount, 1);
    assert_int_equal(survey.weightlessBoneCount, 1);
    assert_int_equal(survey.unweightedVertexCount, 1);
    assert_int_equal(survey.unnormalizedVertexCount, 1);
    assert_int_equal(survey.mirroredMatrixCount, 1);
    assert_int_equal(survey.singularMatrixCount, 1);
    assert_int_equal(survey.projectiveMatrixCount, 1);
    assert_int_equal(survey.stillFrameCount, 1);
}

static void memory_that_runs_out_is_said(void** state) {
    (void)state;
    srCliMesh mesh = readObj(CORNERS "f 1 3 2\nf 1 2 4\n");
    srCliError error;
    bool isSurveyed = false;
    int32_t failureCount = -1;
    while (!isSurveyed) {
        srCliSurfaceSurvey survey;
        failureCount += 1;
        srCliSetAllocationLimit(failureCount);
        isSurveyed = srCliSurveySurface(&mesh, &survey, &error);
        srCliSetAllocationLimit(-1);
    }
    assert_int_equal(failureCount, 3);
    srCliMesh_Free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_surface_has_nothing_odd),
        cmocka_unit_test(oddities_of_a_surface_are_counted),
        cmocka_unit_test(oddities_of_a_cage_are_counted),
        cmocka_unit_test(oddities_of_a_rig_are_counted),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
