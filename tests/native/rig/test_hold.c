// SPDX-License-Identifier: GPL-3.0-or-later
//
// The hold map by its laws: which share of a bone's mass is held, on any cage, at any size.

#include "support/support.h"

#include "rig/hold.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BONES 4

// a bar with bones along y, equal in length, each in charge of its part with soft borders
typedef struct HeldBar {
    srCage cage;
    srNodeWeights weights;
    srVec3 heads[MAX_BONES];
    srVec3 tails[MAX_BONES];
    int32_t parents[MAX_BONES];
    float looseTips[MAX_BONES];
    int32_t boneCount;
    double* masses;
    float* holds;
    float* distances;
} HeldBar;

static void makeWeights(HeldBar* bar, double length) {
    int32_t nodeCount = bar->cage.nodeCount;
    float* dense = calloc((size_t)nodeCount * MAX_BONES, sizeof(float));
    assert_non_null(dense);
    for (int32_t i = 0; i < nodeCount; ++i) {
        double place = bar->cage.nodes[i].y / length * bar->boneCount - 0.5;
        place = place < 0.0 ? 0.0 : place > bar->boneCount - 1 ? bar->boneCount - 1 : place;
        int32_t bone = (int32_t)place;
        dense[i * bar->boneCount + bone] = (float)(1.0 - (place - bone));
        if (bone + 1 < bar->boneCount) {
            dense[i * bar->boneCount + bone + 1] = (float)(place - bone);
        }
    }
    assert_success(srCreateNodeWeights(dense, nodeCount, bar->boneCount, &bar->weights));
    free(dense);
}

static void makeBar(int32_t boneCount, int32_t fineness, double scale, HeldBar* bar) {
    *bar = (HeldBar){.boneCount = boneCount};
    int32_t counts[3] = {2 * fineness, 2 * boneCount * fineness, 2 * fineness};
    double spacing = scale / fineness;
    assert_success(srTestCreateBarCage(counts, spacing, &bar->cage));
    int32_t nodeCount = bar->cage.nodeCount;
    double length = 2.0 * boneCount * scale;
    makeWeights(bar, length);
    for (int32_t k = 0; k < boneCount; ++k) {
        // a little off the axis, so that no two nodes of the lattice are at one distance
        bar->heads[k] = (srVec3){1.013 * scale, length * k / boneCount, 0.979 * scale};
        bar->tails[k] = (srVec3){1.013 * scale, length * (k + 1) / boneCount, 0.979 * scale};
        bar->parents[k] = k - 1;
    }
    bar->masses = calloc((size_t)nodeCount, sizeof(double));
    bar->holds = calloc((size_t)nodeCount, sizeof(float));
    bar->distances = calloc((size_t)nodeCount, sizeof(float));
    assert_true(bar->masses != NULL && bar->holds != NULL && bar->distances != NULL);
    for (int32_t cell = 0; cell < bar->cage.cellCount; ++cell) {
        for (int c = 0; c < 4; ++c) {
            bar->masses[bar->cage.cells[cell][c]] += 0.25 * srCellVolume(&bar->cage, cell);
        }
    }
}

static srResult hold(HeldBar* bar) {
    srBoneSegments bones = {bar->heads, bar->tails, bar->parents, bar->looseTips, bar->boneCount};
    return srComputeHold(bar->cage.nodes, bar->masses, &bar->weights, &bones, bar->holds, bar->distances);
}

static void freeBar(HeldBar* bar) {
    srDestroyCage(&bar->cage);
    srDestroyNodeWeights(&bar->weights);
    free(bar->masses);
    free(bar->holds);
    free(bar->distances);
}

// the share of all mass that is held at least so much
static double heldShare(const HeldBar* bar, float atLeast) {
    double held = 0.0;
    double all = 0.0;
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        held += bar->holds[i] >= atLeast ? bar->masses[i] : 0.0;
        all += bar->masses[i];
    }
    return held / all;
}

static void holds_are_from_zero_to_one_and_distances_are_true(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(2, 2, 1.0, &bar);
    assert_success(hold(&bar));
    float largest = 0.0f;
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        assert_true(bar.holds[i] >= 0.0f && bar.holds[i] <= 1.0f);
        largest = bar.holds[i] > largest ? bar.holds[i] : largest;
        srVec3 x = bar.cage.nodes[i];
        double across = hypot(x.x - 1.013, x.z - 0.979);
        if (bar.holds[i] > 0.0f) {
            // the two bones make one straight line; a node under the other bone is farther away
            assert_true((double)bar.distances[i] >= across - 1e-6 && bar.distances[i] < 3.0f);
        } else {
            assert_true(bar.distances[i] == 0.0f);
        }
    }
    assert_true(largest == 1.0f);
    freeBar(&bar);
}

static void of_a_lone_bone_a_tenth_is_held_fully_and_four_tenths_at_all(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(1, 5, 1.0, &bar);
    assert_success(hold(&bar));
    // nodes are counted whole
    assert_near(heldShare(&bar, 1.0f), 0.10, 0.03);
    assert_near(heldShare(&bar, 1e-6f), 0.40, 0.05);
    assert_near(heldShare(&bar, 0.5f), 0.25, 0.04);
    freeBar(&bar);
}

// of the mass around the middle of one bone of three, the share that is held at least so much
static double heldShareNear(const HeldBar* bar, int32_t bone, float atLeast) {
    double held = 0.0;
    double all = 0.0;
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        double along = bar->cage.nodes[i].y - 2.0 * bone;
        if (along > 0.75 && along < 1.25) {
            held += bar->holds[i] >= atLeast ? bar->masses[i] : 0.0;
            all += bar->masses[i];
        }
    }
    return held / all;
}

static void the_end_of_a_limb_is_held_whole_and_the_trunk_by_a_tenth(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(3, 5, 1.0, &bar);
    assert_success(hold(&bar));
    assert_near(heldShareNear(&bar, 0, 1.0f), 0.10, 0.06);
    assert_near(heldShareNear(&bar, 1, 1.0f), 0.10, 0.06);
    assert_near(heldShareNear(&bar, 2, 1.0f), 1.00, 0.02);

    // what carries a loose tail alone is an end too; the tail is not
    bar.looseTips[2] = 0.5f;
    assert_success(hold(&bar));
    assert_near(heldShareNear(&bar, 0, 1.0f), 0.10, 0.06);
    assert_near(heldShareNear(&bar, 1, 1.0f), 1.00, 0.02);
    assert_true(heldShareNear(&bar, 2, 1.0f) < 0.2);
    freeBar(&bar);
}

static void handles_that_nobody_carries_are_no_ends(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(3, 5, 1.0, &bar);
    for (int32_t k = 0; k < 3; ++k) {
        bar.parents[k] = -1;
    }
    assert_success(hold(&bar));
    for (int32_t k = 0; k < 3; ++k) {
        assert_near(heldShareNear(&bar, k, 1.0f), 0.10, 0.06);
    }
    freeBar(&bar);
}

// the mass of the last bone's part times `factor`
static void weighEnd(HeldBar* bar, double factor) {
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        bool isOfEnd = bar->cage.nodes[i].y > bar->heads[bar->boneCount - 1].y;
        bar->masses[i] *= isOfEnd ? factor : 1.0;
    }
}

// a root or an IK control that bends nothing is not among the bones, so a foot that hangs on it has no parent
static void a_foot_that_follows_a_control_is_an_end(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(3, 5, 1.0, &bar);
    bar.parents[2] = -1;
    weighEnd(&bar, 0.5);
    assert_success(hold(&bar));
    assert_near(heldShareNear(&bar, 0, 1.0f), 0.10, 0.06);
    assert_near(heldShareNear(&bar, 2, 1.0f), 1.00, 0.02);

    // a body beside the legs is none
    weighEnd(&bar, 4.0);
    assert_success(hold(&bar));
    assert_near(heldShareNear(&bar, 2, 1.0f), 0.10, 0.06);
    freeBar(&bar);
}

static void what_is_held_does_not_depend_on_the_cage(void** state) {
    (void)state;
    double shares[3];
    double reaches[3];
    for (int32_t fineness = 3; fineness <= 5; ++fineness) {
        HeldBar bar;
        makeBar(2, fineness, 1.0, &bar);
        assert_success(hold(&bar));
        shares[fineness - 3] = heldShare(&bar, 0.5f);
        reaches[fineness - 3] = 0.0;
        for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
            double distance = (double)bar.distances[i];
            bool isMoreThanHalf = bar.holds[i] >= 0.5f;
            reaches[fineness - 3] =
                isMoreThanHalf && distance > reaches[fineness - 3] ? distance : reaches[fineness - 3];
        }
        freeBar(&bar);
    }
    for (int fine = 1; fine < 3; ++fine) {
        assert_near(shares[fine], shares[0], 0.05);
        // within one edge of the coarsest lattice
        assert_near(reaches[fine], reaches[0], 1.0 / 3.0);
    }
}

static void a_mouse_and_a_dinosaur_are_held_alike(void** state) {
    (void)state;
    HeldBar one;
    makeBar(2, 3, 1.0, &one);
    assert_success(hold(&one));
    for (int exponent = -20; exponent <= 20; exponent += 40) {
        HeldBar other;
        double scale = ldexp(1.0, exponent);
        makeBar(2, 3, scale, &other);
        // the bone's place is rounded differently at another scale
        for (int k = 0; k < 2; ++k) {
            other.heads[k] = srScale(scale, one.heads[k]);
            other.tails[k] = srScale(scale, one.tails[k]);
        }
        assert_success(hold(&other));
        assert_memory_equal(one.holds, other.holds, sizeof(float) * (size_t)one.cage.nodeCount);
        freeBar(&other);
    }
    freeBar(&one);
}

// the largest hold of nodes between two heights
static float largestHold(const HeldBar* bar, double from, double to) {
    float largest = 0.0f;
    for (int32_t i = 0; i < bar->cage.nodeCount; ++i) {
        double y = bar->cage.nodes[i].y;
        largest = y >= from && y <= to && bar->holds[i] > largest ? bar->holds[i] : largest;
    }
    return largest;
}

static void a_loose_chain_has_a_free_tip_and_a_gripped_root(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(4, 2, 1.0, &bar);
    assert_success(hold(&bar));
    assert_true(largestHold(&bar, 7.0, 8.0) == 1.0f);

    // bones 1 to 3 are a tail of length 6: its last 3.6 are free, so bone 3 has no grip and bone 2 one fifth
    for (int k = 1; k < 4; ++k) {
        bar.looseTips[k] = 0.6f;
    }
    assert_success(hold(&bar));
    assert_true(largestHold(&bar, 7.0, 8.0) == 0.0f);
    assert_true(largestHold(&bar, 4.0, 4.5) > 0.9f);
    assert_true(largestHold(&bar, 2.0, 4.0) == 1.0f);
    assert_true(largestHold(&bar, 0.0, 2.0) == 1.0f);

    // the share is read from the last bone, and the others' only says that they belong to the chain
    float* holds = malloc(sizeof(float) * (size_t)bar.cage.nodeCount);
    assert_non_null(holds);
    memcpy(holds, bar.holds, sizeof(float) * (size_t)bar.cage.nodeCount);
    bar.looseTips[1] = 1.0f;
    bar.looseTips[2] = 0.1f;
    assert_success(hold(&bar));
    assert_memory_equal(holds, bar.holds, sizeof(float) * (size_t)bar.cage.nodeCount);
    free(holds);
    freeBar(&bar);
}

static void a_wholly_loose_chain_holds_nothing_and_its_parent_everything_as_before(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(4, 2, 1.0, &bar);
    for (int k = 2; k < 4; ++k) {
        bar.looseTips[k] = 1.0f;
    }
    // a bone of no length above the chain keeps its grip, whatever rounding leaves of the loose length
    bar.tails[1] = bar.heads[1];
    assert_success(hold(&bar));
    assert_true(largestHold(&bar, 5.0, 8.0) == 0.0f);
    assert_true(largestHold(&bar, 2.0, 2.0) == 1.0f);
    freeBar(&bar);
}

static void a_branch_or_a_bone_with_children_is_no_loose_end(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(3, 2, 1.0, &bar);
    HeldBar plain;
    makeBar(3, 2, 1.0, &plain);
    // bone 0 has two children now; the value of a bone with children says nothing
    bar.parents[2] = 0;
    plain.parents[2] = 0;
    bar.looseTips[0] = 1.0f;
    assert_success(hold(&bar));
    assert_success(hold(&plain));
    assert_memory_equal(bar.holds, plain.holds, sizeof(float) * (size_t)bar.cage.nodeCount);
    freeBar(&bar);
    freeBar(&plain);
}

static void a_loose_chain_ends_where_it_branches(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(4, 2, 1.0, &bar);
    // bones 2 and 3 are ends of their own on bone 1: of each the last 1.2 of 2 are free
    bar.parents[3] = 1;
    for (int k = 1; k < 4; ++k) {
        bar.looseTips[k] = 0.6f;
    }
    assert_success(hold(&bar));
    assert_true(largestHold(&bar, 6.0, 6.5) > 0.9f);
    assert_true(largestHold(&bar, 2.0, 4.0) == 1.0f);
    freeBar(&bar);
}

static void without_bones_nothing_is_held(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(1, 2, 1.0, &bar);
    bar.boneCount = 0;
    assert_success(hold(&bar));
    assert_true(largestHold(&bar, -1.0, 9.0) == 0.0f);
    freeBar(&bar);
}

static void mirrored_halves_are_held_alike(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(1, 3, 1.0, &bar);
    // a bone on the axis: each node has three others at its distance, or seven
    bar.heads[0] = (srVec3){1.0, 0.0, 1.0};
    bar.tails[0] = (srVec3){1.0, 2.0, 1.0};
    assert_success(hold(&bar));
    for (int32_t i = 0; i < bar.cage.nodeCount; ++i) {
        srVec3 x = bar.cage.nodes[i];
        srVec3 mirrored = {2.0 - x.x, x.y, x.z};
        for (int32_t j = 0; j < bar.cage.nodeCount; ++j) {
            if (srDistance(bar.cage.nodes[j], mirrored) < 1e-9) {
                assert_true(bar.holds[i] == bar.holds[j]);
            }
        }
    }
    freeBar(&bar);
}

static srResult holdAgain(void* context) {
    return hold(context);
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    HeldBar bar;
    makeBar(2, 2, 1.0, &bar);
    srTestEveryAllocationFails(holdAgain, &bar);
    freeBar(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_are_from_zero_to_one_and_distances_are_true),
        cmocka_unit_test(of_a_lone_bone_a_tenth_is_held_fully_and_four_tenths_at_all),
        cmocka_unit_test(the_end_of_a_limb_is_held_whole_and_the_trunk_by_a_tenth),
        cmocka_unit_test(handles_that_nobody_carries_are_no_ends),
        cmocka_unit_test(a_foot_that_follows_a_control_is_an_end),
        cmocka_unit_test(what_is_held_does_not_depend_on_the_cage),
        cmocka_unit_test(a_mouse_and_a_dinosaur_are_held_alike),
        cmocka_unit_test(a_loose_chain_has_a_free_tip_and_a_gripped_root),
        cmocka_unit_test(a_wholly_loose_chain_holds_nothing_and_its_parent_everything_as_before),
        cmocka_unit_test(a_branch_or_a_bone_with_children_is_no_loose_end),
        cmocka_unit_test(a_loose_chain_ends_where_it_branches),
        cmocka_unit_test(without_bones_nothing_is_held),
        cmocka_unit_test(mirrored_halves_are_held_alike),
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("rig/hold", tests, NULL, srTestNothingLeaked);
}
