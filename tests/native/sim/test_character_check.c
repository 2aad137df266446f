// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a stored character must be, one cell small: sound as it is, refused as soon as anything is not. The
// bytes of whole files are damaged in test_character_file.c.

#include "support/support.h"

#include "sim/character_check.h"

#include <math.h>

typedef struct Smallest {
    srStoredFacts facts;
    uint32_t report[3];
    srVec3 nodes[4];
    int32_t cells[1][4];
    int32_t edges[6][2];
    int32_t pointNodes[1][4];
    float pointWeights[1][4];
    int32_t pointCells[1];
    int32_t mapNodes[1]; // the blend: one map without slopes, one share
    float mapPlaces[1][4];
    int32_t slopeStarts[2];
    srBlendRun runs[1];
    int32_t targets[1];
    float places[1][3];
    float shares[1];
    uint16_t shortMaps[1];
    int32_t weightStarts[5];
    int32_t weightBones[4];
    double weightValues[4];
    float holds[4];
    float distances[4];
    int32_t order[6];
    int32_t starts[2];
} Smallest;

static Smallest make(void) {
    return (Smallest){
        .facts = {.largestWeightSum = 1.0},
        .nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        .cells = {{0, 1, 2, 3}},
        .edges = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
        .pointNodes = {{0, 1, 2, 3}},
        .pointWeights = {{1, 0, 0, 0}},
        .runs = {{0, 1, 1, 0, 0}},
        .shares = {1},
        .weightStarts = {0, 1, 2, 3, 4},
        .weightValues = {1, 1, 1, 1},
        .order = {0, 1, 2, 3, 4, 5},
        .starts = {0, 6},
    };
}

static srStoredCharacter view(const Smallest* s) {
    return (srStoredCharacter){
        .facts = &s->facts,
        .factsCount = 1,
        .report = s->report,
        .reportCount = 3,
        .nodes = s->nodes,
        .nodesCount = 4,
        .cells = s->cells,
        .cellsCount = 1,
        .edges = s->edges,
        .edgesCount = 6,
        .pointNodes = s->pointNodes,
        .pointNodesCount = 1,
        .pointWeights = s->pointWeights,
        .pointWeightsCount = 1,
        .pointCells = s->pointCells,
        .pointCellsCount = 1,
        .mapNodes = s->mapNodes,
        .mapNodesCount = 1,
        .mapPlaces = s->mapPlaces,
        .mapPlacesCount = 1,
        .slopeStarts = s->slopeStarts,
        .slopeStartsCount = 2,
        .runs = s->runs,
        .runsCount = 1,
        .targets = s->targets,
        .targetsCount = 1,
        .places = s->places,
        .placesCount = 1,
        .shares = s->shares,
        .sharesCount = 1,
        .shortMaps = s->shortMaps,
        .shortMapsCount = 1,
        .weightStarts = s->weightStarts,
        .weightStartsCount = 5,
        .weightBones = s->weightBones,
        .weightBonesCount = 4,
        .weightValues = s->weightValues,
        .weightValuesCount = 4,
        .holds = s->holds,
        .holdsCount = 4,
        .boneDistances = s->distances,
        .boneDistancesCount = 4,
        .edgeOrder = s->order,
        .edgeOrderCount = 6,
        .edgeStarts = s->starts,
        .edgeStartsCount = 2,
        .cellOrder = s->order,
        .cellOrderCount = 1,
        .cellStarts = s->starts,
        .cellStartsCount = 2,
    };
}

static srResult check(const Smallest* s) {
    srStoredCharacter stored = view(s);
    return srCheckStoredCharacter(&stored);
}

static void the_smallest_character_is_sound(void** state) {
    (void)state;
    Smallest s = make();
    assert_success(check(&s));
}

static void a_blend_names_only_what_is_there(void** state) {
    (void)state;
    Smallest fine = make();
    struct {
        int32_t* number;
        int32_t wrong;
    } faults[] = {
        {&fine.mapNodes[0], 4},        {&fine.mapNodes[0], -1},        {&fine.slopeStarts[1], 1},
        {&fine.slopeStarts[0], -1},    {&fine.runs[0].firstPoint, 1},  {&fine.runs[0].pointCount, 2},
        {&fine.runs[0].pointCount, 0}, {&fine.runs[0].shareCount, 25}, {&fine.runs[0].shareCount, -1},
        {&fine.targets[0], 1},         {&fine.targets[0], -1},         {&fine.pointCells[0], 1},
        {&fine.pointCells[0], -2},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(faults); ++i) {
        int32_t before = *faults[i].number;
        *faults[i].number = faults[i].wrong;
        assert_result(check(&fine), sr_errorBadFile);
        *faults[i].number = before;
        assert_success(check(&fine));
    }
    fine.runs[0].firstShare = 1;
    assert_result(check(&fine), sr_errorBadFile);
    fine = make();
    fine.shortMaps[0] = 1;
    assert_result(check(&fine), sr_errorBadFile);
    fine = make();
    fine.shares[0] = NAN;
    assert_result(check(&fine), sr_errorBadFile);
    fine = make();
    fine.places[0][2] = INFINITY;
    assert_result(check(&fine), sr_errorBadFile);
    fine = make();
    fine.mapPlaces[0][1] = -INFINITY;
    assert_result(check(&fine), sr_errorBadFile);
}

static void a_cell_needs_a_volume_the_right_way_round(void** state) {
    (void)state;
    Smallest flat = make(), turned = make(), twice = make();
    flat.nodes[3].z = 0.0;
    assert_result(check(&flat), sr_errorBadFile);
    turned.cells[0][0] = 1;
    turned.cells[0][1] = 0;
    assert_result(check(&turned), sr_errorBadFile);
    twice.cells[0][3] = 2;
    assert_result(check(&twice), sr_errorBadFile);
}

static void edges_are_those_of_the_cells_in_order(void** state) {
    (void)state;
    Smallest swapped = make(), reversed = make(), doubled = make();
    swapped.edges[1][1] = 3;
    swapped.edges[2][1] = 2;
    assert_result(check(&swapped), sr_errorBadFile);
    reversed.edges[5][0] = 3;
    reversed.edges[5][1] = 2;
    assert_result(check(&reversed), sr_errorBadFile);
    doubled.edges[5][0] = 1;
    assert_result(check(&doubled), sr_errorBadFile);

    // one too many, between nodes of other cells
    Smallest s = make();
    const srVec3 nodes[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 2, 2}};
    const int32_t edges[7][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}};
    const int32_t order[7] = {0, 1, 2, 3, 4, 5, 6}, starts[2] = {0, 7}, weightStarts[6] = {0, 1, 2, 3, 4, 5};
    const int32_t bones[5] = {0};
    const double weights[5] = {1, 1, 1, 1, 1};
    const float zeros[5] = {0};
    srStoredCharacter stored = view(&s);
    stored.nodes = nodes;
    stored.weightStarts = weightStarts;
    stored.weightBones = bones;
    stored.weightValues = weights;
    stored.holds = stored.boneDistances = zeros;
    stored.edges = edges;
    stored.edgeOrder = order;
    stored.edgeStarts = starts;
    stored.nodesCount = stored.holdsCount = stored.boneDistancesCount = 5;
    stored.weightStartsCount = 6;
    stored.weightBonesCount = stored.weightValuesCount = 5;
    stored.edgesCount = stored.edgeOrderCount = 7;
    assert_result(srCheckStoredCharacter(&stored), sr_errorBadFile);
    assert_string_equal(srGetErrorText(),
                        "The stored character is damaged: its edges are not those of its cells.");
}

static void weights_of_a_node_sum_to_one_and_none_is_empty(void** state) {
    (void)state;
    Smallest less = make(), empty = make(), broken = make();
    less.weightValues[2] = 0.99;
    assert_result(check(&less), sr_errorBadFile);
    empty.weightStarts[2] = 1;
    assert_result(check(&empty), sr_errorBadFile);
    Smallest early = make(), late = make(), missing = make();
    early.weightStarts[0] = -1;
    assert_result(check(&early), sr_errorBadFile);
    late.weightStarts[4] = 5;
    assert_result(check(&late), sr_errorBadFile);
    missing.weightStarts[4] = 3;
    missing.weightStarts[3] = 2;
    assert_result(check(&missing), sr_errorBadFile);
    broken.weightValues[0] = NAN;
    assert_result(check(&broken), sr_errorBadFile);
}

static void a_bone_belongs_to_an_armature_that_is_there(void** state) {
    (void)state;
    Smallest s = make();
    const srMat34 rest = srIdentity34();
    const int32_t spaces[] = {0, 1};
    srStoredCharacter stored = view(&s);
    stored.inverseRests = &rest;
    stored.boneSpaces = &spaces[0];
    stored.inverseRestsCount = stored.boneSpacesCount = 1;
    assert_result(srCheckStoredCharacter(&stored), sr_errorBadFile);
    s.facts.spaceCount = 1;
    assert_success(srCheckStoredCharacter(&stored));
    stored.boneSpaces = &spaces[1];
    assert_result(srCheckStoredCharacter(&stored), sr_errorBadFile);
}

static void a_count_that_does_not_fit_is_refused(void** state) {
    (void)state;
    Smallest s = make();
    srStoredCharacter stored = view(&s);
    int32_t* const counts[] = {
        &stored.factsCount,        &stored.reportCount,      &stored.nodesCount,
        &stored.cellsCount,        &stored.edgesCount,       &stored.pointNodesCount,
        &stored.pointWeightsCount, &stored.boneSpacesCount,  &stored.weightStartsCount,
        &stored.weightBonesCount,  &stored.holdsCount,       &stored.boneDistancesCount,
        &stored.edgeOrderCount,    &stored.edgeStartsCount,  &stored.cellOrderCount,
        &stored.cellStartsCount,   &stored.weightValuesCount};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(counts); ++i) {
        const int32_t kept = *counts[i], wrong[] = {0, -1, INT32_MAX};
        for (int w = 0; w < 3; ++w) {
            // a report and starts of any length will do, and nothing behind an array must be read to see it
            bool isFree = counts[i] == &stored.reportCount || counts[i] == &stored.edgeStartsCount ||
                          counts[i] == &stored.cellStartsCount;
            bool isBones = counts[i] == &stored.boneSpacesCount;
            if ((wrong[w] == INT32_MAX && isFree) || (wrong[w] == 0 && isBones)) {
                continue;
            }
            *counts[i] = wrong[w];
            assert_result(srCheckStoredCharacter(&stored), sr_errorBadFile);
        }
        *counts[i] = kept;
    }
}

static srResult checkSmallest(void* context) {
    return check(context);
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    Smallest s = make();
    srTestEveryAllocationFails(checkSmallest, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_character_is_sound),
        cmocka_unit_test(a_blend_names_only_what_is_there),
        cmocka_unit_test(a_cell_needs_a_volume_the_right_way_round),
        cmocka_unit_test(edges_are_those_of_the_cells_in_order),
        cmocka_unit_test(weights_of_a_node_sum_to_one_and_none_is_empty),
        cmocka_unit_test(a_bone_belongs_to_an_armature_that_is_there),
        cmocka_unit_test(a_count_that_does_not_fit_is_refused),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/character_check", tests, NULL, srTestNothingLeaked);
}
