// SPDX-License-Identifier: GPL-3.0-or-later
//
// From files to a character: what belongs together, and memory that runs out on either side of the door.

#include "cli/character.h"
#include "cli/folder.h"

#include "core/alloc.h"

static const char cube[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static const char rigHead[] = "softrig-rig 1\nfps 24\nspaces 1\nbones 1\n"
                              "bone A 0 -1 1 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"
                              "space 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n";

static srTestFolder makeCubeFolder(int32_t weightCount) {
    srTestFolder folder = srTestMakeFolder();
    char rig[1024];
    int used = snprintf(rig, sizeof(rig), "%sweights %d\n", rigHead, weightCount);
    for (int32_t v = 0; v < weightCount; ++v) {
        used += snprintf(rig + used, sizeof(rig) - (size_t)used, "v 1 0 1\n");
    }
    snprintf(rig + used, sizeof(rig) - (size_t)used, "frames 1 0\n");
    srTestFolder_Write(&folder, "cube.obj", cube);
    srTestFolder_Write(&folder, "cube.rig", rig);
    return folder;
}

static srCliInputs nameInputs(const srTestFolder* folder) {
    srCliInputs inputs = srCliDefaultInputs();
    inputs.skinPath = srTestFolder_Path(folder, "cube.obj");
    inputs.rigPath = srTestFolder_Path(folder, "cube.rig");
    inputs.nodeCount = 60;
    return inputs;
}

static void a_rig_must_weight_every_vertex(void** state) {
    (void)state;
    for (int32_t weightCount = 0; weightCount < 12; ++weightCount) {
        srTestFolder folder = makeCubeFolder(weightCount);
        srCliInputs inputs = nameInputs(&folder);
        srCliError error = {{0}};
        assert_int_equal(srCliInputs_Read(&inputs, &error), weightCount == 8);
        assert_int_equal(strstr(error.text, "has 8.") != NULL, weightCount != 8);
        srCliInputs_Free(&inputs);
        srTestFolder_Remove(&folder);
    }
}

static void who_names_no_mesher_gets_what_the_library_has_as_its_own_choice(void** state) {
    (void)state;
    static const struct {
        const char* name;
        int32_t mesher;
    } expected[] = {{NULL, sr_mesherAutomatic},
                    {"auto", sr_mesherAutomatic},
                    {"lattice", sr_mesherLattice},
                    {"tetgen", sr_mesherTetgen}};
    assert_int_equal(srDefaultCharacterDef().mesher, sr_mesherAutomatic);
    for (int k = 0; k < SR_ARRAY_COUNT(expected); ++k) {
        srCliInputs inputs = {.mesherName = expected[k].name, .mesher = -1};
        srCliError error;
        assert_true(srCliInputs_ReadMesher(&inputs, &error));
        assert_int_equal(inputs.mesher, expected[k].mesher);
        assert_true(inputs.tetgenProgram[0] != '\0'); // where it would be
    }
    srCliInputs inputs = {.mesherName = "cubes"};
    srCliError error;
    assert_false(srCliInputs_ReadMesher(&inputs, &error));
    assert_non_null(strstr(error.text, "cubes"));
}

static void a_character_is_prepared_from_files(void** state) {
    (void)state;
    srTestFolder folder = makeCubeFolder(8);
    srCliInputs inputs = nameInputs(&folder);
    srCliError error;
    srCharacterId character;
    srCharacterReport report = {0};
    assert_true(srCliInputs_Read(&inputs, &error));
    bool isPrepared = srCliPrepareCharacter(&inputs, &character, &report, &error);
    srDestroyCharacter(character);
    srCliInputs_Free(&inputs);
    srTestFolder_Remove(&folder);
    if (!isPrepared) {
        fail_msg("%s", error.text);
    }
    assert_true(report.nodeCount >= 4 && report.cellCount >= 1);
}

static void the_programs_memory_may_run_out_while_reading(void** state) {
    (void)state;
    srTestFolder folder = makeCubeFolder(8);
    int32_t failureCount = -1;
    bool isRead = false;
    while (!isRead) {
        srCliInputs inputs = nameInputs(&folder);
        srCliError error = {{0}};
        failureCount += 1;
        srCliSetAllocationLimit(failureCount);
        isRead = srCliInputs_Read(&inputs, &error);
        srCliSetAllocationLimit(-1);
        srCliInputs_Free(&inputs);
        assert_true(isRead || strcmp(error.text, "Out of memory.") == 0);
    }
    assert_true(failureCount > 10);
    srTestFolder_Remove(&folder);
}

static void the_librarys_memory_may_run_out_while_preparing(void** state) {
    (void)state;
    srTestFolder folder = makeCubeFolder(8);
    srCliInputs inputs = nameInputs(&folder);
    srCliError error;
    assert_true(srCliInputs_Read(&inputs, &error));
    for (int64_t n = 1; n < 400; n += 7) {
        srCharacterId character;
        srCharacterReport report;
        error.text[0] = 0;
        srAlloc_FailAt(n, true);
        bool isPrepared = srCliPrepareCharacter(&inputs, &character, &report, &error);
        srAlloc_FailAt(0, false);
        srDestroyCharacter(character);
        assert_true(isPrepared || strncmp(error.text, "Preparing failed: ", 18) == 0);
        assert_true(isPrepared || strlen(error.text) > 25);
        srShutdown();
        assert_int_equal(srGetByteCount(), 0);
    }
    srCliInputs_Free(&inputs);
    srTestFolder_Remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_rig_must_weight_every_vertex, srTestNothingLeaked),
        cmocka_unit_test_teardown(who_names_no_mesher_gets_what_the_library_has_as_its_own_choice,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_character_is_prepared_from_files, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_programs_memory_may_run_out_while_reading, srTestNothingLeaked),
        cmocka_unit_test_teardown(the_librarys_memory_may_run_out_while_preparing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
