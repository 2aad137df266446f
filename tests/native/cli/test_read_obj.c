// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading OBJ.

#include "cli/mangle.h"

#include <math.h>

static const char pyramid[] = "# a pyramid\n"
                              "mtllib none.mtl\n"
                              "o Pyramid\n"
                              "v 0 0 0\n"
                              "v 1 0 0 1.0 0.5 0.5 0.5\n"
                              "v 1 1e0 0\n"
                              "v 0 1 0\n"
                              "v .5 +0.5 -1\n"
                              "vt 0 0\n"
                              "vn 0 0 1\n"
                              "s off\n"
                              "f 1/1/1 2//1 3/1 4\n"
                              "f 1 2 5\n"
                              "f -5 -1 -4\n"
                              "l 1 2\n";

static bool readAndCheck(srCliText* text, srCliError* error) {
    srCliMesh mesh;
    bool isRead = srCliReadObj(text, &mesh, error);
    for (size_t i = 0; isRead && i < mesh.triangles.count; ++i) {
        assert_in_range(mesh.triangles.items[i], 0, srCliMesh_GetPointCount(&mesh) - 1);
    }
    assert_int_equal(mesh.triangles.count % 3, 0);
    srCliMesh_Free(&mesh);
    return isRead;
}

static srCliMesh readMesh(const char* string) {
    srCliText text;
    srCliMesh mesh;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, string, strlen(string), &text, &error));
    bool isRead = srCliReadObj(&text, &mesh, &error);
    srCliText_Close(&text);
    if (!isRead) {
        fail_msg("%s", error.text);
    }
    return mesh;
}

static void vertices_and_faces_are_read_and_the_rest_passed_over(void** state) {
    (void)state;
    static const float points[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5f, 0.5f, -1};
    static const int32_t triangles[] = {0, 1, 2, 0, 2, 3, 0, 1, 4, 0, 4, 1};
    srCliMesh mesh = readMesh(pyramid);
    assert_int_equal(mesh.points.count, 15);
    assert_memory_equal(mesh.points.items, points, sizeof(points));
    assert_int_equal(mesh.triangles.count, 12);
    assert_memory_equal(mesh.triangles.items, triangles, sizeof(triangles));
    srCliMesh_Free(&mesh);
}

static void line_ends_of_all_systems_give_the_same_mesh(void** state) {
    (void)state;
    static const char* const variants[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
        "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
        "\xEF\xBB\xBFv 0 0 0\n\n  v\t1 0 0 # here\nv 0 1 0\nf 1 2 \\\n 3",
        "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 \\\r\n0",
    };
    srCliMesh first = readMesh(variants[0]);
    for (int32_t i = 1; i < SR_ARRAY_COUNT(variants); ++i) {
        srCliMesh mesh = readMesh(variants[i]);
        assert_int_equal(mesh.points.count, 9);
        assert_memory_equal(mesh.points.items, first.points.items, 9 * sizeof(float));
        assert_int_equal(mesh.triangles.count, 3);
        assert_memory_equal(mesh.triangles.items, first.triangles.items, 3 * sizeof(int32_t));
        srCliMesh_Free(&mesh);
    }
    srCliMesh_Free(&first);
}

static void a_polygon_of_n_corners_gives_n_minus_two_triangles(void** state) {
    (void)state;
    char string[4096] = "";
    for (int32_t cornerCount = 3; cornerCount < 40; ++cornerCount) {
        size_t used = 0;
        for (int32_t i = 0; i < cornerCount; ++i) {
            used += (size_t)snprintf(string + used, sizeof(string) - used, "v %d 0 0\n", i);
        }
        used += (size_t)snprintf(string + used, sizeof(string) - used, "f");
        for (int32_t i = 1; i <= cornerCount; ++i) {
            used += (size_t)snprintf(string + used, sizeof(string) - used, " %d", i);
        }
        srCliMesh mesh = readMesh(string);
        assert_int_equal(srCliMesh_GetTriangleCount(&mesh), cornerCount - 2);
        for (int32_t i = 0; i < cornerCount - 2; ++i) {
            assert_int_equal(mesh.triangles.items[3 * i], 0);
            assert_int_equal(mesh.triangles.items[3 * i + 1], i + 1);
            assert_int_equal(mesh.triangles.items[3 * i + 2], i + 2);
        }
        srCliMesh_Free(&mesh);
    }
}

static void numbers_that_are_not_finite_are_left_to_the_library(void** state) {
    (void)state;
    srCliMesh mesh = readMesh("v nan 1e999 -1e999\nv 1e-999 0 0\n");
    assert_true(isnan(mesh.points.items[0]));
    assert_true(isinf(mesh.points.items[1]));
    assert_true(isinf(mesh.points.items[2]) && mesh.points.items[2] < 0.0f);
    assert_true(mesh.points.items[3] >= 0.0f && mesh.points.items[3] <= 0.0f);
    srCliMesh_Free(&mesh);
}

static void each_fault_is_named_with_its_line(void** state) {
    (void)state;
    static const struct {
        const char* string;
        int32_t line;
        const char* part;
    } faults[] = {
        {"", 1, "no vertices"},
        {"# nothing\n\n", 3, "no vertices"},
        {"some words\nof a letter\n", 3, "no vertices"},
        {"v 0 0\n", 1, "the line ends"},
        {"v 0 0", 1, "the file ends"},
        {"v 0 0 0\nv 0 x 0\n", 2, "'x'"},
        {"v 0 0,5 0\n", 1, "'0,5'"},
        {"v 0 0 0\nf 1 1\n", 2, "at least 3"},
        {"v 0 0 0\nf\n", 2, "at least 3"},
        {"v 0 0 0\nf 0 1 1\n", 2, "no vertex 0"},
        {"v 0 0 0\nf 1 1 2\nf 1 1 1\n", 2, "no vertex 2"},
        {"v 0 0 0\nf -2 1 1\n", 2, "no vertex -2"},
        {"f -1 -1 -1\nv 0 0 0\n", 1, "no vertex -1"},
        {"v 0 0 0\nf 1 1 99999999999999999999999\n", 2, "99999999999999999999999"},
        {"v 0 0 0\nf 1 1 999999999999\n", 2, "no vertex 999999999999"},
        {"v 0 0 0\nf 1 1 2147483648\n", 2, "no vertex"},
        {"v 0 0 0\nf 1 1 1/1/1/1\n", 2, "1/1/1/1"},
        {"v 0 0 0\nf 1 1 1/a\n", 2, "1/a"},
        {"v 0 0 0\nf 1 1 1.5\n", 2, "1.5"},
        {"v 0 0 0\nf 1 1 -\n", 2, "'-'"},
        {"v 0 0 0\nf 1 \\\n1 \\\nx\n", 4, "'x'"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        srTestReadFails(readAndCheck, faults[i].string, faults[i].line, faults[i].part);
    }
}

static void a_zero_byte_is_refused_with_its_line(void** state) {
    (void)state;
    srCliError error;
    static const char bytes[] = "v 0 0 0\nv 1 \0 0\n";
    assert_false(srTestReadBytes(readAndCheck, bytes, sizeof(bytes) - 1, &error));
    assert_string_equal(error.text, MANGLE_PATH ":2: A zero byte: this is not a text file.");
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
        cmocka_unit_test(vertices_and_faces_are_read_and_the_rest_passed_over),
        cmocka_unit_test(line_ends_of_all_systems_give_the_same_mesh),
        cmocka_unit_test(a_polygon_of_n_corners_gives_n_minus_two_triangles),
        cmocka_unit_test(numbers_that_are_not_finite_are_left_to_the_library),
        cmocka_unit_test(each_fault_is_named_with_its_line),
        cmocka_unit_test(a_zero_byte_is_refused_with_its_line),
        cmocka_unit_test(no_cut_and_no_change_breaks_the_reader),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
