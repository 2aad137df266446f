// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading MEDIT cages.

#include "cli/mangle.h"

static const char twoCells[] = "MeshVersionFormatted 2\n"
                               "Dimension\n"
                               "3\n"
                               "# five vertices\n"
                               "Vertices 5\n"
                               "0 0 0 1\n"
                               "1 0 0 0   0 1 0 0\n"
                               "0 0 1 0\n"
                               "1 1 1 7\n"
                               "Triangles\n"
                               "1\n"
                               "1 2 3 0\n"
                               "RequiredVertices 2 1 3\n"
                               "Tetrahedra\n"
                               "2\n"
                               "1 2 3 4 0\n"
                               "2 3 4 5\n 1\n"
                               "End\n";

static bool readAndCheck(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadMedit(text, &mesh, error);
    for (size_t i = 0; isRead && i < mesh.cells.count; ++i) {
        assert_in_range(mesh.cells.items[i], 0, srCliMesh_GetPointCount(&mesh) - 1);
    }
    assert_int_equal(mesh.cells.count % 4, 0);
    srCliMesh_Free(&mesh);
    return isRead;
}

static void vertices_and_cells_are_read_and_other_sections_passed_over(void** state) {
    (void)state;
    static const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    static const int32_t cells[] = {0, 1, 2, 3, 1, 2, 3, 4};
    srCliText text;
    srCliMesh mesh;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, twoCells, strlen(twoCells), &text, &error));
    assert_int_equal(srCliDetectKind(&text), sr_cliFileMedit);
    assert_true(srCliReadMedit(&text, &mesh, &error));
    srCliText_Close(&text);
    assert_int_equal(mesh.points.count, 15);
    assert_memory_equal(mesh.points.items, points, sizeof(points));
    assert_int_equal(mesh.cells.count, 8);
    assert_memory_equal(mesh.cells.items, cells, sizeof(cells));
    srCliMesh_Free(&mesh);
}

static void each_fault_is_named_with_its_line(void** state) {
    (void)state;
#define HEAD "MeshVersionFormatted 1\nDimension 3\n"
#define POINTS HEAD "Vertices\n1\n0 0 0 0\n"
    static const struct {
        const char* string;
        int32_t line;
        const char* part;
    } faults[] = {
        {"", 1, "MeshVersionFormatted"},
        {"OFF\n", 1, "'OFF'"},
        {"MeshVersionFormatted\n", 2, "the file ends"},
        {"MeshVersionFormatted 5\n", 1, "from 1 to 4"},
        {"MeshVersionFormatted 1\nDimension 2\n", 2, "from 3 to 3"},
        {HEAD, 3, "no tetrahedra"},
        {HEAD "17\n", 3, "name of a section"},
        {HEAD "Vertices -1\n", 3, "number of vertices"},
        {HEAD "Vertices 2000000000\n", 3, "number of vertices"},
        {HEAD "Vertices 100000000\n0 0 0 0\n", 5, "the file ends"},
        {HEAD "Vertices 1\n0 0 nan 0\n", 4, "not finite"},
        {HEAD "Vertices 1\n0 0 1e99 0\n", 4, "not finite"},
        {HEAD "Vertices 1\n0 0 0\nTetrahedra 0\n", 5, "reference"},
        {HEAD "Tetrahedra 1\n1 1 1 1 0\n", 3, "must follow"},
        {POINTS "Vertices 1\n0 0 0 0\n", 6, "second section"},
        {POINTS "Tetrahedra 1\n1 1 1 2 0\n", 7, "from 1 to 1"},
        {POINTS "Tetrahedra 1\n1 1 1 0 0\n", 7, "from 1 to 1"},
        {POINTS "Tetrahedra 2\n1 1 1 1 0\n", 8, "the file ends"},
        {POINTS "Tetrahedra 0\nEnd\n", 7, "no tetrahedra"},
        {POINTS "Tetrahedra 1\n1 1 1 1 0\nTetrahedra 1\n1 1 1 1 0\n", 8, "must follow"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        srTestReadFails(readAndCheck, faults[i].string, faults[i].line, faults[i].part);
    }
}

static void no_cut_and_no_change_breaks_the_reader(void** state) {
    (void)state;
    srTestCutEverywhere(readAndCheck, twoCells);
    srTestMangleOften(readAndCheck, twoCells, 20000);
}

static void memory_that_runs_out_is_said(void** state) {
    (void)state;
    srTestReadWithoutMemory(readAndCheck, twoCells);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_and_cells_are_read_and_other_sections_passed_over),
        cmocka_unit_test(each_fault_is_named_with_its_line),
        cmocka_unit_test(no_cut_and_no_change_breaks_the_reader),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
