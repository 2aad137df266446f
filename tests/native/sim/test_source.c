// SPDX-License-Identifier: GPL-3.0-or-later
//
// The copy of a character definition does not need the original, and gives back every byte.

#include "support/support.h"

#include "sim/source.h"
#include "support/scenes.h"

#include <stdlib.h>
#include <string.h>

static void the_copy_outlives_the_original(void** state) {
    (void)state;
    srTestScene scene;
    srTestScene same;
    assert_true(srTestCreateBarScene(&scene) && srTestCreateBarScene(&same));
    srSource source;
    assert_success(srCopySource(&scene.def, &source));
    srTestDestroyScene(&scene);
    const srCharacterDef* copy = &source.def;
    const srCharacterDef* def = &same.def;
    size_t entryCount = (size_t)def->weightStarts[def->skinVertexCount];
    assert_int_equal(copy->skinVertexCount, def->skinVertexCount);
    assert_memory_equal(copy->skinPositions, def->skinPositions, 12 * (size_t)def->skinVertexCount);
    assert_memory_equal(copy->skinTriangles, def->skinTriangles, 12 * (size_t)def->skinTriangleCount);
    assert_memory_equal(copy->weightBones, def->weightBones, 4 * entryCount);
    assert_memory_equal(copy->weightValues, def->weightValues, 4 * entryCount);
    assert_memory_equal(copy->boneRests, def->boneRests, 64 * (size_t)def->boneCount);
    assert_memory_equal(copy->spaceToSkin, def->spaceToSkin, 64);
    assert_memory_equal(copy->cageCells, def->cageCells, 16 * (size_t)def->cageCellCount);
    assert_null(copy->boneSpaces);
    srDestroySource(&source);
    srTestDestroyScene(&same);
}

static void what_is_null_or_empty_stays_null(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    srCharacterDef def = scene.def;
    int32_t* none = calloc((size_t)def.skinVertexCount + 1, sizeof(int32_t));
    assert_non_null(none);
    def.weightStarts = none;
    def.boneCount = 0;
    def.spaceCount = 0;
    srSource source;
    assert_success(srCopySource(&def, &source));
    assert_non_null(source.def.weightStarts);
    assert_null(source.def.weightBones);
    assert_null(source.def.boneRests);
    assert_null(source.def.spaceToSkin);
    assert_null(source.def.cageNodes);
    srDestroySource(&source);
    free(none);
    srTestDestroyScene(&scene);
}

static srResult copy(void* context) {
    srSource source;
    srResult result = srCopySource(context, &source);
    srDestroySource(&source);
    return result;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateBarScene(&scene));
    srTestEveryAllocationFails(copy, &scene.def);
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_copy_outlives_the_original),
        cmocka_unit_test(what_is_null_or_empty_stays_null),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/source", tests, NULL, srTestNothingLeaked);
}
