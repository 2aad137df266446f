// SPDX-License-Identifier: GPL-3.0-or-later
//
// Telling files apart, and what is written read back to the bit.

#include "cli/files.h"
#include "cli/folder.h"

#include <math.h>

static void a_file_is_told_by_its_first_word(void** state) {
    (void)state;
    static const struct {
        const char* path;
        const char* string;
        srCliFileKind kind;
    } cases[] = {
        {"a", "OFF\n", sr_cliFileOff},
        {"a.obj", "# x\n\nCOFF\n", sr_cliFileOff},
        {"a", "OFF12 3 4\n", sr_cliFileOff},
        {"a.off", "12 3 4\n", sr_cliFileOff},
        {"a.OFF", "", sr_cliFileOff},
        {"a", "12 3 4\n", sr_cliFileObj},
        {"off", "", sr_cliFileObj},
        {"a", "o OFF\n", sr_cliFileObj},
        {"a.mesh", "v 0 0 0\n", sr_cliFileObj},
        {"a.obj", "\xEF\xBB\xBFMeshVersionFormatted 2\n", sr_cliFileMedit},
        {"a.obj", "# c\r\nsoftrig-rig 1\n", sr_cliFileRig},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(cases); ++i) {
        srCliText text;
        srCliError error;
        const char* string = cases[i].string;
        assert_true(srCliOpenTextBytes(cases[i].path, string, strlen(string), &text, &error));
        assert_int_equal(srCliDetectKind(&text), cases[i].kind);
        assert_int_equal(text.line, 1);
        srCliText_Close(&text);
    }
}

static void a_skin_is_not_a_cage_and_not_a_rig(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    srCliMesh mesh;
    srCliRig rig;
    srCliError error;
    srTestFolder_Write(&folder, "cage", "MeshVersionFormatted 1\n");
    srTestFolder_Write(&folder, "rig", "softrig-rig 1\n");
    assert_false(srCliReadSkinFile(srTestFolder_Path(&folder, "cage"), &mesh, &error));
    assert_non_null(strstr(error.text, "This is a cage"));
    assert_false(srCliReadSkinFile(srTestFolder_Path(&folder, "rig"), &mesh, &error));
    assert_non_null(strstr(error.text, "This is a rig"));
    assert_false(srCliReadCageFile(srTestFolder_Path(&folder, "rig"), &mesh, &error));
    assert_false(srCliReadRigFile(srTestFolder_Path(&folder, "cage"), &rig, &error));
    assert_false(srCliReadRigFile(srTestFolder_Path(&folder, "none"), &rig, &error));
    srTestFolder_Remove(&folder);
}

// numbers of all sizes
static void fillRandom(float* values, int32_t count, uint64_t* random) {
    for (int32_t i = 0; i < count; ++i) {
        values[i] = (float)ldexp(srTestRandom(random) - 0.5, (int)(200.0 * srTestRandom(random)) - 100);
    }
}

static void a_written_cage_is_read_back_to_the_bit(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    uint64_t random = 11;
    float nodes[3 * 50];
    int32_t cells[4 * 70];
    fillRandom(nodes, 150, &random);
    for (int32_t i = 0; i < 280; ++i) {
        cells[i] = (int32_t)(50.0 * srTestRandom(&random));
    }
    srCliError error;
    srCliMesh mesh;
    const char* path = srTestFolder_Path(&folder, "cage.mesh");
    assert_true(srCliWriteMedit(path, nodes, 50, cells, 70, &error));
    assert_true(srCliReadCageFile(path, &mesh, &error));
    assert_int_equal(mesh.points.count, 150);
    assert_memory_equal(mesh.points.items, nodes, sizeof(nodes));
    assert_int_equal(mesh.cells.count, 280);
    assert_memory_equal(mesh.cells.items, cells, sizeof(cells));
    srCliMesh_Free(&mesh);
    srTestFolder_Remove(&folder);
}

static void a_written_surface_is_read_back_to_the_bit(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    uint64_t random = 12;
    float points[3 * 50];
    int32_t triangles[3 * 70];
    fillRandom(points, 150, &random);
    for (int32_t i = 0; i < 210; ++i) {
        triangles[i] = (int32_t)(50.0 * srTestRandom(&random));
    }
    srCliError error;
    srCliMesh mesh;
    const char* path = srTestFolder_Path(&folder, "skin.obj");
    assert_true(srCliWriteObj(path, points, 50, triangles, 70, &error));
    assert_true(srCliReadSkinFile(path, &mesh, &error));
    assert_int_equal(mesh.points.count, 150);
    assert_memory_equal(mesh.points.items, points, sizeof(points));
    assert_int_equal(mesh.triangles.count, 210);
    assert_memory_equal(mesh.triangles.items, triangles, sizeof(triangles));
    srCliMesh_Free(&mesh);
    srTestFolder_Remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_told_by_its_first_word),
        cmocka_unit_test(a_skin_is_not_a_cage_and_not_a_rig),
        cmocka_unit_test(a_written_cage_is_read_back_to_the_bit),
        cmocka_unit_test(a_written_surface_is_read_back_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
