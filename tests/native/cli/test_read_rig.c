// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reading rigs. The example is that of docs/rig-format.md.

#include "cli/mangle.h"

#include <math.h>

#define UNIT "1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1\n"
#define HEAD "softrig-rig 1\nfps 24\n"
#define BONES                                                                                                \
    HEAD "spaces 1\n"                                                                                        \
         "bones 2\n"                                                                                         \
         "bone Spine 0 -1 1 0  " UNIT "bone Ear%20tip 0 0 1 0.5  1 0 0 0  0 1 0 0  0 0 1 0  0 1 0 1\n"       \
         "space " UNIT
#define WEIGHTS                                                                                              \
    BONES "weights 4\n"                                                                                      \
          "v 1 0 1\n"                                                                                        \
          "v 2 0 0.75 1 0.25\n"                                                                              \
          "v 2 0 0.25 1 0.75\n"                                                                              \
          "v 0\n"

static const char example[] = WEIGHTS "frames 1 2\n"
                                      "# frame 1\n"
                                      "m " UNIT "m " UNIT "m " UNIT "m 1 0 0 0  0 1 0 0  0 0 1 0  0 1 0 1\n"
                                      "\n"
                                      "m " UNIT "m " UNIT "m " UNIT "m 1 0 0 0  0 1 0 0  0 0 1 0  1 1 0 1\n";

static void checkRig(const srCliRig* rig) {
    size_t boneCount = (size_t)rig->boneCount;
    assert_int_equal(rig->boneParents.count, boneCount);
    assert_int_equal(rig->boneRests.count, 16 * boneCount);
    assert_int_equal(rig->spaceToSkin.count, 16 * (size_t)rig->spaceCount);
    assert_int_equal(rig->weightStarts.count, (size_t)rig->vertexCount + 1);
    assert_int_equal(rig->motion.count, 16 * (size_t)rig->frameCount * (size_t)srCliRig_GetRowLength(rig));
    for (int32_t bone = 0; bone < rig->boneCount; ++bone) {
        assert_true(rig->boneParents.items[bone] >= -1 && rig->boneParents.items[bone] < bone);
        assert_in_range(rig->boneSpaces.items[bone], 0, rig->spaceCount - 1);
        assert_true(strlen(srCliRig_GetBoneName(rig, bone)) > 0);
    }
    for (size_t i = 0; i < rig->weightBones.count; ++i) {
        assert_in_range(rig->weightBones.items[i], 0, rig->boneCount - 1);
        assert_true(rig->weightValues.items[i] >= 0.0f && isfinite(rig->weightValues.items[i]));
    }
    for (size_t i = 0; i < rig->motion.count; ++i) {
        assert_true(isfinite(rig->motion.items[i]));
    }
}

static bool readAndCheck(srCliText* text, srCliError* error) {
    srCliRig rig;
    bool isRead = srCliReadRig(text, &rig, error);
    if (isRead) {
        checkRig(&rig);
    }
    srCliRig_Free(&rig);
    return isRead;
}

static srCliRig readRig(const char* string) {
    srCliText text;
    srCliRig rig;
    srCliError error;
    assert_true(srCliOpenTextBytes(MANGLE_PATH, string, strlen(string), &text, &error));
    assert_int_equal(srCliDetectKind(&text), sr_cliFileRig);
    bool isRead = srCliReadRig(&text, &rig, &error);
    srCliText_Close(&text);
    if (!isRead) {
        fail_msg("%s", error.text);
    }
    checkRig(&rig);
    return rig;
}

static void the_example_is_read_whole(void** state) {
    (void)state;
    static const int32_t weightStarts[] = {0, 1, 3, 5, 5};
    static const int32_t weightBones[] = {0, 0, 1, 0, 1};
    static const float weightValues[] = {1.0f, 0.75f, 0.25f, 0.25f, 0.75f};
    srCliRig rig = readRig(example);
    assert_true(rig.frameRate >= 24.0 && rig.frameRate <= 24.0);
    assert_int_equal(rig.spaceCount, 1);
    assert_int_equal(rig.boneCount, 2);
    assert_int_equal(rig.vertexCount, 4);
    assert_int_equal(rig.firstFrame, 1);
    assert_int_equal(rig.frameCount, 2);
    assert_string_equal(srCliRig_GetBoneName(&rig, 0), "Spine");
    assert_string_equal(srCliRig_GetBoneName(&rig, 1), "Ear tip");
    assert_int_equal(rig.boneParents.items[0], -1);
    assert_int_equal(rig.boneParents.items[1], 0);
    assert_memory_equal(&rig.boneLooseTips.items[1], &(float){0.5f}, sizeof(float));
    assert_memory_equal(rig.weightStarts.items, weightStarts, sizeof(weightStarts));
    assert_memory_equal(rig.weightBones.items, weightBones, sizeof(weightBones));
    assert_memory_equal(rig.weightValues.items, weightValues, sizeof(weightValues));

    // the last matrix of the last frame carries the only translation along x
    for (size_t i = 0; i < rig.motion.count; i += 16) {
        float wanted = i + 16 == rig.motion.count ? 1.0f : 0.0f;
        assert_memory_equal(&rig.motion.items[i + 12], &wanted, sizeof(float));
    }
    srCliRig_Free(&rig);
}

static void a_rig_without_bones_moves_by_its_object(void** state) {
    (void)state;
    srCliRig rig =
        readRig("softrig-rig 1\nfps 23.976023976023978\nspaces 0\nbones 0\nweights 0\nframes -3 1\nm " UNIT);
    assert_true(rig.frameRate >= 23.976023976023978 && rig.frameRate <= 23.976023976023978);
    assert_int_equal(rig.firstFrame, -3);
    srCliRig_Free(&rig);
}

static void floats_of_nine_digits_come_back_to_the_bit(void** state) {
    (void)state;
    uint64_t random = 7;
    for (int32_t round = 0; round < 200; ++round) {
        float matrix[16];
        char string[1024] = "softrig-rig 1\r\nfps 24\r\nspaces 0\r\nbones 0\r\nweights 0\r\nframes 0 1\r\nm";
        for (int32_t i = 0; i < 16; ++i) {
            matrix[i] = (float)ldexp(srTestRandom(&random) - 0.5, (int)(80.0 * srTestRandom(&random)) - 40);
            size_t used = strlen(string);
            snprintf(string + used, sizeof(string) - used, " %.9g", (double)matrix[i]);
        }
        srCliRig rig = readRig(string);
        assert_memory_equal(rig.motion.items, matrix, sizeof(matrix));
        srCliRig_Free(&rig);
    }
}

static void each_fault_is_named_with_its_line(void** state) {
    (void)state;
    static const struct {
        const char* string;
        int32_t line;
        const char* part;
    } faults[] = {
        {"", 1, "'softrig-rig'"},
        {"softrig-rig 2\n", 1, "from 1 to 1"},
        {"softrig-rig 1 1\n", 1, "end of the line"},
        {"softrig-rig 1\nspaces 1\n", 2, "'fps'"},
        {"softrig-rig 1\nfps 0.5\n", 2, "from 1 to 1000"},
        {"softrig-rig 1\nfps nan\n", 2, "not finite"},
        {"softrig-rig 1\nfps fast\n", 2, "'fast'"},
        {HEAD "spaces -1\n", 3, "a count"},
        {HEAD "spaces 20000\n", 3, "a count"},
        {HEAD "spaces 1\nbones 2000000000\n", 4, "a count"},
        {HEAD "spaces 0\nbones 1\n", 4, "at least one space"},
        {HEAD "spaces 1\nbones 1\nspace " UNIT, 5, "'bone'"},
        {HEAD "spaces 1\nbones 1\nbone A 1 -1 1 0 " UNIT, 5, "space"},
        {HEAD "spaces 1\nbones 1\nbone A 0 0 1 0 " UNIT, 5, "parent"},
        {HEAD "spaces 1\nbones 1\nbone A 0 -2 1 0 " UNIT, 5, "parent"},
        {HEAD "spaces 1\nbones 1\nbone A 0 -1 -1 0 " UNIT, 5, "length"},
        {HEAD "spaces 1\nbones 1\nbone A 0 -1 1 1.5 " UNIT, 5, "loose"},
        {HEAD "spaces 1\nbones 1\nbone A 0 -1 1 0 1 0 0\n", 5, "the line ends"},
        {HEAD "spaces 1\nbones 1\nbone A 0 -1 1 0 0 " UNIT, 5, "end of the line"},
        {HEAD "spaces 1\nbones 1\nbone A%2 0 -1 1 0 " UNIT, 5, "whole %XX"},
        {HEAD "spaces 1\nbones 1\nbone %00 0 -1 1 0 " UNIT, 5, "whole %XX"},
        {HEAD "spaces 1\nbones 1\nbone %zz 0 -1 1 0 " UNIT, 5, "whole %XX"},
        {HEAD "spaces 1\nbones 1\nbone #A 0 -1 1 0 " UNIT, 5, "name of a bone"},
        {BONES "weights 1\nv 1 2 1\n", 9, "a bone"},
        {BONES "weights 1\nv 1 -1 1\n", 9, "a bone"},
        {BONES "weights 1\nv 1 0 -0.5\n", 9, "a weight"},
        {BONES "weights 1\nv 1 0 inf\n", 9, "not finite"},
        {BONES "weights 1\nv 3 0 1 0 1 0 1\n", 9, "a count"},
        {BONES "weights 1\nv 2 0 1\n", 9, "the line ends"},
        {BONES "weights 1\nv 1 0 1 1\n", 9, "end of the line"},
        {BONES "weights 100000000\nv 0\n", 10, "the file ends"},
        {WEIGHTS "v 0\n", 13, "'frames'"},
        {WEIGHTS "frames 1 -1\n", 13, "number of frames"},
        {WEIGHTS "frames 99999999999 1\n", 13, "first frame"},
        {WEIGHTS "frames 1 1000000\n", 14, "the file ends"},
        {WEIGHTS "frames 1 1\nm " UNIT "m 1 0 0 nan\n", 15, "not finite"},
        {WEIGHTS "frames 1 0\nm " UNIT, 14, "more in the file"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        srTestReadFails(readAndCheck, faults[i].string, faults[i].line, faults[i].part);
    }
}

static void no_cut_and_no_change_breaks_the_reader(void** state) {
    (void)state;
    srTestCutEverywhere(readAndCheck, example);
    srTestMangleOften(readAndCheck, example, 20000);
}

static void every_cut_but_the_last_line_end_is_refused(void** state) {
    (void)state;
    srCliError error;
    for (size_t size = 0; size + 2 < strlen(example); ++size) {
        assert_false(srTestReadBytes(readAndCheck, example, size, &error));
    }
    assert_true(srTestReadBytes(readAndCheck, example, strlen(example) - 1, &error));
}

static void memory_that_runs_out_is_said(void** state) {
    (void)state;
    srTestReadWithoutMemory(readAndCheck, example);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_read_whole),
        cmocka_unit_test(a_rig_without_bones_moves_by_its_object),
        cmocka_unit_test(floats_of_nine_digits_come_back_to_the_bit),
        cmocka_unit_test(each_fault_is_named_with_its_line),
        cmocka_unit_test(no_cut_and_no_change_breaks_the_reader),
        cmocka_unit_test(every_cut_but_the_last_line_end_is_refused),
        cmocka_unit_test(memory_that_runs_out_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
