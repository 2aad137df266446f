// SPDX-License-Identifier: GPL-3.0-or-later
//
// Preparing as a whole: its report, what it makes of odd characters, and memory that runs out anywhere in it.

#include "support/support.h"

#include "sim/character.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static srResult prepare(const srTestScene* scene, srCharacter* character) {
    srSource source;
    SR_TRY(srCopySource(&scene->def, &source));
    srResult result = srPrepareCharacter(&source, NULL, character);
    srDestroySource(&source);
    return result;
}

static void the_bar_is_prepared_as_it_was_given(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateBarScene(&scene));
    assert_success(prepare(&scene, &character));
    const srCharacterReport* report = &character.report;
    assert_int_equal(report->nodeCount, scene.def.cageNodeCount);
    assert_int_equal(report->cellCount, scene.def.cageCellCount);
    assert_int_equal(report->unweightedVertexCount, 0);
    assert_int_equal(report->outsideVertexCount, 0);
    assert_int_equal(report->borderEdgeCount, 0);
    // 0.25 x 1 x 0.25
    assert_near((double)report->volume, 0.0625, 1e-7);
    assert_near((double)report->size, sqrt(1.125), 1e-6);
    assert_in_range(report->heldNodeCount, 5, report->nodeCount * 2 / 3); // the upper bone is an extremity
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
}

static void the_tail_scene_is_a_body_with_a_free_tip(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateTailScene(&scene));
    assert_success(prepare(&scene, &character));
    const srCharacterReport* report = &character.report;
    assert_in_range(report->nodeCount, 200, 400);
    assert_int_equal(report->borderEdgeCount + report->nonManifoldEdgeCount, 0);
    assert_true(report->heldNodeCount > 0);
    // ball and tail have 0.57 between them; the cage lies around them
    assert_true(report->volume > 0.5f && report->volume < 1.2f);
    for (int32_t i = 0; i < character.cage.nodeCount; ++i) {
        float hold = character.body.holds[i];
        assert_true(hold >= 0.0f && hold <= 1.0f);
        // the loose chain is 1.2 long from 0.3 on, and grips as far as 0.78
        assert_true(character.cage.nodes[i].x < 1.2 || hold == 0.0f);
    }
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
}

static void a_character_without_bones_is_moved_by_its_object(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateTailScene(&scene));
    srTestScene bare = scene;
    bare.def.boneCount = 0;
    bare.def.spaceCount = 0;
    bare.def.weightStarts = NULL;
    assert_success(prepare(&bare, &character));
    assert_int_equal(character.report.unweightedVertexCount, scene.def.skinVertexCount);
    assert_int_equal(character.report.heldNodeCount, 0);
    assert_int_equal(srRig_GetRowMatrixCount(&character.rig), 1);
    for (int32_t i = 0; i < character.cage.nodeCount; ++i) {
        assert_int_equal(character.weights.starts[i + 1] - character.weights.starts[i], 1);
        assert_int_equal(character.weights.bones[i], 0);
    }
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
}

// the weight of a node on the last map, the object's own
static double objectWeight(const srCharacter* character, int32_t node) {
    double weight = 0.0;
    for (int32_t entry = character->weights.starts[node]; entry < character->weights.starts[node + 1];
         ++entry) {
        weight += character->weights.bones[entry] == character->rig.boneCount
                      ? character->weights.weights[entry]
                      : 0.0;
    }
    return weight;
}

static void vertices_without_weights_stay_with_the_object(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateBarScene(&scene));
    float* values = (float*)scene.def.weightValues;
    int32_t unweightedCount = 0;
    for (int32_t v = 0; v < scene.def.skinVertexCount; ++v) {
        if (scene.def.skinPositions[3 * v + 1] > 0.6f) {
            values[2 * v] = 0.0f;
            values[2 * v + 1] = 0.0f;
            ++unweightedCount;
        }
    }
    assert_success(prepare(&scene, &character));
    assert_int_equal(character.report.unweightedVertexCount, unweightedCount);
    for (int32_t i = 0; i < character.cage.nodeCount; ++i) {
        double y = character.cage.nodes[i].y;
        double weight = objectWeight(&character, i);
        assert_true(y < 0.8 || weight > 0.9);
        assert_true(y > 0.3 || weight < 0.1);
    }
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
}

static void a_vertex_that_is_no_place_has_no_weights_in_the_cage(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateBarScene(&scene));
    const int32_t bad[] = {3, 17};
    ((float*)scene.def.skinPositions)[3 * bad[0]] = NAN;
    ((float*)scene.def.skinPositions)[3 * bad[1] + 2] = -INFINITY;
    assert_success(prepare(&scene, &character));
    assert_int_equal(character.report.nonFiniteVertexCount, 2);
    for (int b = 0; b < 2; ++b) {
        for (int c = 0; c < 4; ++c) {
            assert_true(character.embedding.weights[bad[b]][c] == 0.0f);
        }
    }
    srDestroyCharacterRest(&character);
    srTestDestroyScene(&scene);
}

// how many vertices of a card over a face of the bar are told to be too far out of the cage
static int32_t countFar(float height, bool isOwnCage, float sheetThickness) {
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateBarScene(&scene));
    srTestScene bare = scene;
    int32_t first = scene.def.skinVertexCount, faces = scene.def.skinTriangleCount;
    float* points = calloc(3 * (size_t)first + 12, sizeof(float));
    int32_t* triangles = calloc(3 * (size_t)faces + 6, sizeof(int32_t));
    assert_true(points != NULL && triangles != NULL);
    // the face lies at z = 0.25, from 0 to 0.25 in x and to 1 in y
    const float card[12] = {0.05f, 0.4f, height, 0.2f, 0.4f, height, 0.2f, 0.6f, height, 0.05f, 0.6f, height};
    const int32_t quad[6] = {first, first + 1, first + 2, first, first + 2, first + 3};
    memcpy(points, scene.def.skinPositions, 12 * (size_t)first);
    memcpy(points + 3 * (size_t)first, card, sizeof(card));
    memcpy(triangles, scene.def.skinTriangles, 12 * (size_t)faces);
    memcpy(triangles + 3 * (size_t)faces, quad, sizeof(quad));
    for (int vertex = 0; vertex < 4; ++vertex) {
        points[3 * (first + vertex) + 2] += 0.25f;
    }
    bare.def.skinPositions = points;
    bare.def.skinVertexCount = first + 4;
    bare.def.skinTriangles = triangles;
    bare.def.skinTriangleCount = faces + 2;
    bare.def.boneCount = bare.def.spaceCount = 0;
    bare.def.weightStarts = NULL;
    bare.def.cageCells = isOwnCage ? NULL : scene.def.cageCells;
    bare.def.cageNodes = isOwnCage ? NULL : scene.def.cageNodes;
    bare.def.targetNodeCount = 400;
    bare.def.sheetThickness = sheetThickness;
    assert_success(prepare(&bare, &character));
    int32_t farCount = character.report.farVertexCount;
    assert_true(character.report.outsideVertexCount >= farCount);
    srDestroyCharacterRest(&character);
    free(points);
    free(triangles);
    srTestDestroyScene(&scene);
    return farCount;
}

static void a_card_that_the_cage_does_not_reach_is_told(void** state) {
    (void)state;
    // the longest edge of the bar's cells is the diagonal of a cube of 0.125: 0.2165
    assert_int_equal(countFar(0.21f, false, 0.01f), 0);
    assert_int_equal(countFar(0.22f, false, 0.01f), 4);
    // a cage of our own reaches a sheet as soon as that may have a thickness
    assert_int_equal(countFar(0.4f, true, 0.0f), 4);
    assert_int_equal(countFar(0.4f, true, 0.01f), 0);
}

static void what_has_no_area_is_refused(void** state) {
    (void)state;
    srTestScene scene;
    srCharacter character;
    assert_true(srTestCreateTailScene(&scene));
    float* points = (float*)scene.def.skinPositions;
    memset(points, 0, 12 * (size_t)scene.def.skinVertexCount);
    assert_result(prepare(&scene, &character), sr_errorBadMesh);
    srTestDestroyScene(&scene);
}

static srResult prepareAndFree(void* context) {
    srCharacter character;
    SR_TRY(prepare(context, &character));
    srDestroyCharacterRest(&character);
    return sr_success;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateBarScene(&scene));
    srTestEveryAllocationFails(prepareAndFree, &scene);
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bar_is_prepared_as_it_was_given),
        cmocka_unit_test(the_tail_scene_is_a_body_with_a_free_tip),
        cmocka_unit_test(a_character_without_bones_is_moved_by_its_object),
        cmocka_unit_test(vertices_without_weights_stay_with_the_object),
        cmocka_unit_test(a_vertex_that_is_no_place_has_no_weights_in_the_cage),
        cmocka_unit_test(a_card_that_the_cage_does_not_reach_is_told),
        cmocka_unit_test(what_has_no_area_is_refused),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/character", tests, NULL, srTestNothingLeaked);
}
