// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/flesh.h"

#include "mesh/touching.h"

static void samples_are_found_by_their_steps(void** state) {
    (void)state;
    for (int sample = 0; sample < SR_SAMPLE_COUNT; sample++) {
        int steps[4];
        srGetSampleSteps(sample, steps);
        assert_int_equal(steps[0] + steps[1] + steps[2] + steps[3], SR_SAMPLE_STEPS);
        assert_true(steps[3] >= 0);
        assert_int_equal(srFindSample(steps), sample);
    }
}

static void distance_to_a_disk_is_that_of_its_plane_over_it_and_of_its_rim_beside(void** state) {
    (void)state;
    const srFleshSample sample = {.foot = {1.0, 0.0, 0.0}, .out = {1.0, 0.0, 0.0}};
    assert_near(srFleshSample_Distance(&sample, (srVec3){1.5, 0.1, 0.1}, 0.2), 0.5, 1e-15);
    assert_near(srFleshSample_Distance(&sample, (srVec3){1.3, 0.6, 0.0}, 0.2), 0.5, 1e-15);
}

typedef struct Input {
    srSurface surface;
    int32_t several; // tetrahedra with more than one part
    int32_t sampled;
    bool isTorn; // everywhere
} Input;

static srResult growIn(srArena* arena, Input* input) {
    const srSurface* surface = &input->surface;
    srProgress nobody = {0};
    srLattice lattice;
    srScaffold scaffold;
    srFlesh flesh = {0};
    srSolid solid = {0};
    srContacts contacts = {0};
    const srSolidSettings settings = srDefaultSolidSettings();
    assert_true(srMakeLattice(surface->lower, surface->upper, 0.3, 0.5, 1 << 20, &lattice));
    double* phi = srArena_Push(arena, (size_t)lattice.pointCount, sizeof(double), "phi");
    if (phi == NULL) {
        return srFailOutOfMemory("a test");
    }
    SR_TRY(srCreateSolid(surface, &settings, &nobody, &solid, NULL));
    srField field;
    srFleshSource source = {.field = &field, .contacts = &contacts};
    srResult result = srCreateContacts(surface, &solid, &nobody, &contacts);
    if (result == sr_success) {
        field = srMakeContactField(&contacts, &solid);
        result = srField_Sample(&field, &lattice, phi, &nobody);
    }
    if (result == sr_success) {
        result = srCreateScaffold(&lattice, phi, 0.2, arena, &nobody, &scaffold);
    }
    if (result == sr_success) {
        uint8_t* torn = SR_PUSH(arena, uint8_t, scaffold.pointCount, "torn points");
        result = torn != NULL ? sr_success : srFailOutOfMemory("a test");
        if (torn != NULL) {
            memset(torn, 1, (size_t)scaffold.pointCount);
        }
        source.torn = input->isTorn ? torn : NULL;
    }
    if (result == sr_success) {
        result = srCreateFlesh(&scaffold, &source, arena, &nobody, &flesh);
    }
    input->several = 0;
    input->sampled = flesh.tetCount;
    for (int32_t place = 0; place < flesh.tetCount && result == sr_success; place++) {
        input->several += flesh.labelCounts[place] > 1;
    }
    srDestroyContacts(&contacts);
    srDestroySolid(&solid);
    return result;
}

static srResult grow(void* context) {
    srArena* arena = srCreateArena(1 << 16);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srResult result = growIn(arena, context);
    srDestroyArena(arena);
    return result;
}

static void fingers_are_parts_at_any_gap_and_a_ball_is_one(void** state) {
    (void)state;
    const double gaps[] = {0.0, 0.01, 0.05, 0.2};
    for (int i = 0; i < 4; i++) {
        Soup soup = {0};
        addHand(&soup, 2, gaps[i]);
        Input input = {.surface = makeSurface(&soup)};
        assert_success(grow(&input));
        // the contact is 4 high and 1.2 deep: nineteen squares of half a unit, two tetrahedra or more for
        // each
        assert_true(input.several >= 38);
        srDestroySurface(&input.surface);
        freeSoup(&soup);
    }
    Input ball = {.surface = makeSphere(3, 1.0)};
    assert_success(grow(&ball));
    assert_int_equal(ball.several, 0);
    srDestroySurface(&ball.surface);
}

// a block from x = `from` to `to`, 2 wide and high, shifted so that no other side is that of another one
static void addBlock(Soup* soup, double from, double to, double shift) {
    const Blocks block = {.planes = {{from, to}, {shift, shift + 2.0}, {shift, shift + 2.0}},
                          .counts = {1, 1, 1},
                          .isFull = {{{true}}}};
    addBlocks(soup, &block);
}

// tetrahedra of several parts where one block ends at `side` and the other begins there, or sooner
static int32_t countParted(double side, double overlap) {
    Soup soup = {0};
    addBlock(&soup, 0.0, side, 0.0);
    addBlock(&soup, side - overlap, 4.0, 0.15);
    Input input = {.surface = makeSurface(&soup)};
    assert_success(grow(&input));
    srDestroySurface(&input.surface);
    freeSoup(&soup);
    return input.several;
}

static void blocks_that_overlap_by_little_are_parts_as_at_a_gap(void** state) {
    (void)state;
    // wherever the planes of samples are; a tenth of a cube is 0.05
    for (int k = 0; k < 12; k++) {
        double side = 2.0 + 0.03125 * k;
        int32_t apart = countParted(side, -0.01);
        assert_true(apart > 150);
        for (double overlap = 0.025; overlap < 0.11; overlap *= 2.0) {
            // of two layers of tetrahedra that the gap passes the overlap may pass one
            assert_true(countParted(side, overlap) > 0.55 * apart);
        }
    }
}

// Of the sampled tetrahedra the share that is of several parts.
static double shareOfSeveral(Soup* soup) {
    Input input = {.surface = makeSurface(soup)};
    assert_success(grow(&input));
    assert_true(input.sampled > 0);
    srDestroySurface(&input.surface);
    return input.several / (double)input.sampled;
}

// A whole side is too large to be closed: inside is where the skin winds more than half, and much of what is
// outside is nearest to the rim. Before the middle of the opening opposite rims are equally near and know of
// no flesh between them.
static void a_block_is_one_part_and_so_it_is_without_a_side(void** state) {
    (void)state;
    // wherever the planes of samples are
    for (int k = 0; k < 8; k++) {
        Soup soup = {0};
        addBlock(&soup, 0.0, 2.0 + 0.0625 * k, 0.03125 * k);
        assert_true(shareOfSeveral(&soup) == 0.0);
        soup.triangleCount -= 2;
        for (int side = 0; side < 6; side++) {
            assert_true(shareOfSeveral(&soup) < 0.05);
            int32_t lost[6];
            memcpy(lost, soup.triangles + 6 * side, sizeof(lost));
            memcpy(soup.triangles + 6 * side, soup.triangles + 30, sizeof(lost));
            memcpy(soup.triangles + 30, lost, sizeof(lost));
        }
        freeSoup(&soup);
    }
}

// Its two skins cross along the edges: from one side of an edge to its other side a way leaves either block,
// but far below both it leaves none.
static void a_block_whose_skin_is_there_twice_is_one_part(void** state) {
    (void)state;
    for (double step = 1e-5; step < 2e-3; step *= 3.0) {
        for (int k = 0; k < 8; k++) {
            Soup soup = {0};
            addBlock(&soup, 0.0, 2.0 + 0.0625 * k, 0.03125 * k);
            int32_t single = soup.pointCount;
            addBlock(&soup, 0.0, 2.0 + 0.0625 * k, 0.03125 * k);
            for (int32_t v = single; v < soup.pointCount; v++) {
                soup.points[3 * v] += (float)step;
                soup.points[3 * v + 1] -= (float)step;
                soup.points[3 * v + 2] += (float)(0.5 * step);
            }
            assert_true(shareOfSeveral(&soup) == 0.0);
            freeSoup(&soup);
        }
    }
}

static double shareWhereTorn(const Soup* soup) {
    Input input = {.surface = makeSurface(soup), .isTorn = true};
    assert_success(grow(&input));
    srDestroySurface(&input.surface);
    return input.several / (double)input.sampled;
}

// Ears are bent and thinner than samples are apart: a straight way from one side to the other leaves them.
static void a_torn_fold_is_one_part_and_two_plates_that_meet_in_it_are_two(void** state) {
    (void)state;
    double parted = 0.0;
    for (double slope = 0.2; slope < 0.95; slope += 0.15) {
        for (double thickness = 0.02; thickness < 0.1; thickness *= 2.0) {
            Soup whole = {0}, halves = {0};
            addFold(&whole, slope, thickness, false);
            addFold(&halves, slope, thickness, true);
            parted = fmax(parted, shareOfSeveral(&whole));
            double left = shareWhereTorn(&whole);
            assert_true(left < 0.015);
            // where a quarter of what samples are apart is thinner still, nobody sees their contact
            assert_true(thickness < 0.03 || shareWhereTorn(&halves) > left);
            freeSoup(&whole);
            freeSoup(&halves);
        }
    }
    assert_true(parted > 0.05); // what ways alone say
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    Soup soup = {0};
    addHand(&soup, 2, 0.0);
    Input input = {.surface = makeSurface(&soup), .isTorn = true};
    srTestEveryAllocationFails(grow, &input);
    srDestroySurface(&input.surface);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(samples_are_found_by_their_steps, srTestNothingLeaked),
        cmocka_unit_test_teardown(distance_to_a_disk_is_that_of_its_plane_over_it_and_of_its_rim_beside,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(fingers_are_parts_at_any_gap_and_a_ball_is_one, srTestNothingLeaked),
        cmocka_unit_test_teardown(blocks_that_overlap_by_little_are_parts_as_at_a_gap, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_block_is_one_part_and_so_it_is_without_a_side, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_block_whose_skin_is_there_twice_is_one_part, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_torn_fold_is_one_part_and_two_plates_that_meet_in_it_are_two,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/flesh", tests, NULL, NULL);
}
