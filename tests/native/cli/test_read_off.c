// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading OFF.

#include "cli/mangle.h"

static const char pyramid[] = "OFF\n"
                              "# a pyramid\n"
                              "5 3 0\n"
                              "0 0 0\n"
                              "1 0 0 255 0 0\n"
                              "1 1 0\n"
                              "0 1 0\n"
                              "0.5 0.5 1\n"
                              "\n"
                              "4 0 3 2 1 0.5 0.5 0.5\n"
                              "3 0 1 4\n"
                              "3 1 2 4 # a side\n";

static bool readAndCheck(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadOff(text, &mesh, error);
    for (size_t i = 0; isRead && i < mesh.triangles.count; ++i) {
        assert_in_range(mesh.triangles.items[i], 0, srCliMesh_GetPointCount(&mesh) - 1);
    }
    assert_int_equal(mesh.triangles.count % 3, 0);
    srCliMesh_Free(&mesh);
    return isRead;
}

static void vertices_and_faces_are_read(void** state) {
    (void)state;
    static const float points[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5f, 0.5f, 1};
    static const int32_t triangles[] = {0, 3, 2, 0, 2, 1, 0, 1, 4, 1, 2, 4};
    srCliText text;
    srCliMesh mesh;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, pyramid, strlen(pyramid), &text, &error));
    assert_int_equal(srCliDetectKind(&text), sr_cliFileOff);
    assert_true(srCliReadOff(&text, &mesh, &error));
    srCliText_Close(&text);
    assert_int_equal(mesh.points.count, 15);
    assert_memory_equal(mesh.points.items, points, sizeof(points));
    assert_int_equal(mesh.triangles.count, 12);
    assert_memory_equal(mesh.triangles.items, triangles, sizeof(triangles));
    srCliMesh_Free(&mesh);
}

static void headers_of_all_sorts_are_read(void** state) {
    (void)state;
    static const char* const heads[] = {
        "OFF\n3 1 3\n",           "OFF 3 1 3\n",    "OFF3 1 3\n",        "3 1\n",
        "COFF\r\n3 1 3\r\n",      "STCNOFF\n3 1\n", "# one\nOFF\n3 1\n", "OFF # comment\n# another\n3 1 3\n",
        "\xEF\xBB\xBFOFF\n3 1\n",
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(heads); ++i) {
        char string[256];
        srCliError error;
        snprintf(string, sizeof(string), "%s0 0 0\n1 0 0\n0 1 0\n3 0 1 2", heads[i]);
        if (!srTestReadString(readAndCheck, string, &error)) {
            fail_msg("%s: %s", heads[i], error.text);
        }
    }
}

static void each_fault_is_named_with_its_line(void** state) {
    (void)state;
    static const struct {
        const char* string;
        int32_t line;
        const char* part;
    } faults[] = {
        {"", 1, "empty"},
        {"OFF\n", 2, "counts are missing"},
        {"OFF BINARY\n", 1, "binary"},
        {"4OFF\n1 0 0\n0 0 0 0\n", 1, "'4OFF'"},
        {"OFF\n0 0 0\n", 2, "from 1"},
        {"OFF\n-1 0 0\n", 2, "from 1"},
        {"OFF\n2000000000 1 0\n", 2, "from 1"},
        {"OFF\n3\n", 2, "the line ends"},
        {"OFF\n100000000 1 0\n0 0 0\n", 4, "ends after 1 of 100000000 vertices"},
        {"OFF\n1 1 0\n0 0\n", 3, "the line ends"},
        {"OFF\n1 1 0\n0 0 zero\n", 3, "'zero'"},
        {"OFF\n1 1 0\n0 0 0\n", 4, "ends after 0 of 1 faces"},
        {"OFF\n1 1 0\n0 0 0\n2 0 0\n", 4, "number of corners"},
        {"OFF\n1 1 0\n0 0 0\n100000000 0 0\n", 4, "the line ends"},
        {"OFF\n1 1 0\n0 0 0\n3 0 0 1\n", 4, "from 0 to 0"},
        {"OFF\n1 1 0\n0 0 0\n3 0 0 -1\n", 4, "from 0 to 0"},
        {"OFF\n1 1 0\n0 0 0\n3 0 0 9999999999999999999\n", 4, "a vertex"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        srTestReadFails(readAndCheck, faults[i].string, faults[i].line, faults[i].part);
    }
}

static void no_cut_and_no_change_breaks_the_reader(void** state) {
    (void)state;
    srTestCutEverywhere(readAndCheck, pyramid);
    srTestMangleOften(readAndCheck, pyramid, 20000);
}

static void memory_that_runs_out_is_said(void** state) {
    (void)state;
    srTestReadWithoutMemory(readAndCheck, pyramid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_and_faces_are_read),
        cmocka_unit_test(headers_of_all_sorts_are_read),
        cmocka_unit_test(each_fault_is_named_with_its_line),
        cmocka_unit_test(no_cut_and_no_change_breaks_the_reader),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
