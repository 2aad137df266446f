// SPDX-License-Identifier: GPL-3.0-or-later
//
// Clean shapes get about as many nodes as are wanted, also where copies change the count, and what a shape
// needs is told.

#include "corpus/damage.h"
#include "corpus/shapes.h"
#include "mesh/mesher.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#define LARGEST_MISS 0.15
#define LARGEST_GROWTH 1.3
#define MOST_TRIALS 18

// Of stretched lattices too, in degrees.
#define LEAST_ANGLE 9.0

typedef struct Made {
    int32_t nodeCount;
    srMesherReport report;
} Made;

static Made meshSoup(const srSoup* soup, int32_t wanted) {
    Made made;
    srSurface surface;
    srSurfaceReport found;
    srMesh mesh;
    const srMesherSettings settings = {.targetNodeCount = wanted};
    assert_success(srCreateSurface(soup->points, soup->pointCount, soup->triangles, soup->triangleCount,
                                   &surface, &found));
    assert_success(srMeshSurface(&surface, &settings, &mesh, &made.report));
    made.nodeCount = mesh.cage.nodeCount;
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    return made;
}

static Made mesh(const srShape* shape, int32_t wanted) {
    srSoup soup = {0};
    shape->make(&soup);
    Made made = meshSoup(&soup, wanted);
    srFreeSoup(&soup);
    return made;
}

static const srShape* findShape(const char* name) {
    int32_t count = 0;
    const srShape* shapes = srGetShapes(&count);
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return &shapes[i];
        }
    }
    fail_msg("There is no %s.", name);
    return NULL;
}

static void assertNear(const srShape* shape, int32_t wanted, int32_t got) {
    if (fabs(got / (double)wanted - 1.0) > LARGEST_MISS) {
        fail_msg("%s: %d nodes for %d", shape->name, got, wanted);
    }
}

// At counts as small as these what is flat has a handful of layers, and each is a tenth of the nodes or more.
static void clean_shapes_have_about_as_many_nodes_as_are_wanted(void** state) {
    (void)state;
    const int32_t wanted[] = {60, 91, 100, 231};
    int32_t count = 0;
    const srShape* shapes = srGetShapes(&count);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t n = 0; n < SR_ARRAY_COUNT(wanted); n++) {
            assertNear(&shapes[i], wanted[n], mesh(&shapes[i], wanted[n]).nodeCount);
        }
    }
}

static void fingers_of_a_few_cells_have_too(void** state) {
    (void)state;
    const srShape* hand = findShape("hand");
    for (int32_t wanted = 60; wanted < 300; wanted += wanted / 5) {
        Made made = mesh(hand, wanted);
        assertNear(hand, wanted, made.nodeCount);
        if (made.report.leastNodeCount == 0) {
            assert_true(made.report.volume <= LARGEST_GROWTH * made.report.insideVolume);
        }
    }
}

// With a handful of cells across, counts jump from one number of layers to the next. A cage that is much
// larger than such a shape, a chain of cubes around it, says how many nodes it takes to be nearer.
static void what_is_long_and_thin_has_about_as_many_nodes_as_are_wanted(void** state) {
    (void)state;
    const int32_t wanted[] = {100, 500, 700, 1000, 2000, 3000, 4000};
    int32_t count = 0;
    const srLongShape* shapes = srGetLongShapes(&count);
    for (int32_t i = 0; i < count * SR_ARRAY_COUNT(wanted); i++) {
        const srLongShape* shape = &shapes[i / SR_ARRAY_COUNT(wanted)];
        int32_t nodes = wanted[i % SR_ARRAY_COUNT(wanted)];
        srSoup soup = {0};
        srMakeLongShape(shape, &soup);
        Made made = meshSoup(&soup, nodes);
        srFreeSoup(&soup);
        if (fabs(made.nodeCount / (double)nodes - 1.0) > LARGEST_MISS) {
            fail_msg("%s: %d nodes for %d", shape->name, made.nodeCount, nodes);
        }
        bool isLarge = made.report.volume > LARGEST_GROWTH * made.report.insideVolume;
        assert_int_equal(made.report.leastNodeCount > nodes, isLarge);
        assert_true(made.report.minDihedralDegrees > LEAST_ANGLE);
    }
}

// Thin as it is against its own length, a needle is no sheet: a chain of cells is made around it.
static void a_needle_is_no_sheet(void** state) {
    (void)state;
    const int32_t wanted[] = {100, 300, 1000, 4000};
    for (int32_t n = 0; n < SR_ARRAY_COUNT(wanted); n++) {
        srSoup soup = {0};
        srMakeCube(&soup, 1);
        srSoup_Place(&soup, (double[]){500.0, 0.5, 0.5}, (double[]){0.0, 0.0, 0.0});
        Made made = meshSoup(&soup, wanted[n]);
        srFreeSoup(&soup);
        assert_near(made.nodeCount / (double)wanted[n], 1.0, LARGEST_MISS);
        assert_int_equal(made.report.solid.sheetCount + made.report.solid.thinCount, 0);
        assert_near(made.report.insideVolume, 1000.0, 1e-3);
        assert_true(made.report.leastNodeCount > wanted[n]);
    }
}

static void addCopy(srSoup* soup, void (*make)(srSoup* soup), double along) {
    srSoup copy = {0};
    make(&copy);
    srSoup_Place(&copy, (double[]){1.0, 1.0, 1.0}, (double[]){along, 0.0, 0.0});
    srSoup_Append(soup, &copy);
    srFreeSoup(&copy);
}

static Made meshTwo(const srShape* shape, double distance, int32_t wanted) {
    srSoup soup = {0};
    addCopy(&soup, shape->make, 0.0);
    addCopy(&soup, shape->make, distance);
    Made made = meshSoup(&soup, wanted);
    srFreeSoup(&soup);
    return made;
}

static void assertTwoFit(const srShape* shape, double distance, int32_t wanted) {
    Made made = meshTwo(shape, distance, wanted);
    assertNear(shape, wanted, made.nodeCount);
    assert_int_equal(made.report.pieceCount, 2);
    assert_true(made.report.volume <= LARGEST_GROWTH * made.report.insideVolume);
    assert_int_equal(made.report.leastNodeCount, 0);
}

static void two_of_a_kind_fit_however_far_apart(void** state) {
    (void)state;
    const double distances[] = {30.0, 100.0, 10000.0};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(distances); i++) {
        assertTwoFit(findShape("cube"), distances[i], 1000);
        assertTwoFit(findShape("uv sphere"), distances[i], 50);
        assertTwoFit(findShape("uv sphere"), distances[i], 1000);
    }
    assertTwoFit(findShape("cube"), 2.0, 50); // they touch
}

// A pair of cubes or balls has at least as many nodes as twice the smallest cages have.
static void what_is_missed_is_told_with_a_number_to_ask_for(void** state) {
    (void)state;
    const char* const names[] = {"cube", "uv sphere"};
    const double distances[] = {4.0, 30.0, 10000.0};
    int32_t above = 0;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(names) * SR_ARRAY_COUNT(distances); i++) {
        for (int32_t wanted = 24; wanted < 80; wanted += wanted / 4) {
            Made made = meshTwo(findShape(names[i % 2]), distances[i / 2], wanted);
            bool isBelow = made.nodeCount < (1.0 - LARGEST_MISS) * wanted;
            bool isAbove = made.nodeCount > (1.0 + LARGEST_MISS) * wanted;
            bool isLarge = made.report.volume > LARGEST_GROWTH * made.report.insideVolume;
            assert_int_equal(made.report.leastNodeCount > 0, isBelow || isAbove || isLarge);
            if (isBelow || isAbove || isLarge) {
                assert_true(made.report.leastNodeCount >= (1.0 - LARGEST_MISS) * wanted);
                assert_true(made.report.leastNodeCount >= made.nodeCount);
            }
            above += isAbove;
        }
    }
    assert_true(above > 0);
}

// Asked for that number, a cage fits and nothing more is told.
static void what_two_far_apart_need_is_enough(void** state) {
    (void)state;
    const double distances[] = {30.0, 100.0, 10000.0};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(distances); i++) {
        Made cubes = meshTwo(findShape("cube"), distances[i], 20);
        assert_true(cubes.nodeCount > (1.0 + LARGEST_MISS) * 20 && cubes.report.leastNodeCount > 20);
        assertTwoFit(findShape("cube"), distances[i], cubes.report.leastNodeCount);
        assertTwoFit(findShape("cube"), distances[i], 50);
    }
}

// Asked for what the report says, the cage keeps to the shape, and nothing more is told.
static void what_a_shape_needs_is_told_and_true(void** state) {
    (void)state;
    const srShape* hand = findShape("hand");
    Made few = mesh(hand, 100);
    assert_true(few.report.leastNodeCount > 115);
    assert_true(few.report.volume > LARGEST_GROWTH * few.report.insideVolume);
    Made enough = mesh(hand, few.report.leastNodeCount);
    assert_int_equal(enough.report.leastNodeCount, 0);
    assert_true(enough.report.volume <= LARGEST_GROWTH * enough.report.insideVolume);
    assert_int_equal(mesh(findShape("round sphere"), 100).report.leastNodeCount, 0);
}

// A skin that crosses itself everywhere is the dearest: copies change its counts by whims, and every trial
// splits all of it. Whatever else is tried for its count, the search stays a matter of seconds.
static void a_crossing_skin_is_searched_in_few_trials(void** state) {
    (void)state;
    int32_t count = 0;
    const srDamage* damages = srGetDamages(&count);
    srSoup soup = {0};
    int32_t shaken = 0;
    while (strcmp(damages[shaken].name, "shaken") != 0) {
        assert_true(++shaken < count);
    }
    findShape("hand")->make(&soup);
    srPatient patient = srCreatePatient(&soup, (uint64_t)(1000 * shaken + 16)); // the corpus's seed 15
    damages[shaken].inflict(&patient);
    Made cage = meshSoup(&patient.skin, 700);
    assert_near(cage.nodeCount / 700.0, 1.0, LARGEST_MISS);
    assert_true(cage.report.volume <= LARGEST_GROWTH * cage.report.insideVolume);
    assert_true(cage.report.trialCount <= MOST_TRIALS);
    srDestroyPatient(&patient);
    srFreeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(clean_shapes_have_about_as_many_nodes_as_are_wanted, srTestNothingLeaked),
        cmocka_unit_test_teardown(fingers_of_a_few_cells_have_too, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_long_and_thin_has_about_as_many_nodes_as_are_wanted,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(a_needle_is_no_sheet, srTestNothingLeaked),
        cmocka_unit_test_teardown(two_of_a_kind_fit_however_far_apart, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_is_missed_is_told_with_a_number_to_ask_for, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_two_far_apart_need_is_enough, srTestNothingLeaked),
        cmocka_unit_test_teardown(what_a_shape_needs_is_told_and_true, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_crossing_skin_is_searched_in_few_trials, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("corpus/counts", tests, NULL, NULL);
}
