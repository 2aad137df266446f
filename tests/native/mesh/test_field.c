// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/field.h"

#include "mesh/soups.h"

#include "core/parallel.h"

static void field_of_a_sphere_is_its_signed_distance(void** state) {
    (void)state;
    srSurface surface = makeSphere(4, 1.0);
    srBvh* bvh;
    assert_success(srCreateBvh(&surface, &bvh));
    srField field = {.bvh = bvh, .offset = 0.1};
    uint64_t seed = 21;
    for (int i = 0; i < 200; i++) {
        srVec3 p = randomPoint(&seed, 1.5);
        // the polyhedron lies up to 0.2 % within its sphere
        assert_near(srField_Value(&field, p), srLength(p) - 1.1, 0.003);
    }
    srDestroyBvh(bvh);
    srDestroySurface(&surface);
}

// Samples, and compares each with the field itself: equal sign everywhere, equal value near the level set.
static void checkSamples(const srSurface* surface, double spacing) {
    srBvh* bvh;
    srLattice lattice;
    srProgress nobody = {0};
    assert_success(srCreateBvh(surface, &bvh));
    assert_true(srMakeLattice(surface->lower, surface->upper, spacing, spacing, 1 << 20, &lattice));
    double* phi = malloc(sizeof(double) * (size_t)lattice.pointCount);
    srField field = {.bvh = bvh, .offset = 0.36 * spacing};
    assert_success(srField_Sample(&field, &lattice, phi, &nobody));
    int32_t copied = 0;
    for (int32_t point = 0; point < lattice.pointCount; point++) {
        double exact = srField_Value(&field, srLattice_Point(&lattice, point));
        assert_true((phi[point] < 0.0) == (exact < 0.0));
        assert_true(phi[point] == exact || fabs(phi[point]) >= 1.99 * spacing);
        copied += phi[point] != exact;
    }
    // a third at least, or the shortcut is not worth its code
    assert_true(3 * copied > lattice.pointCount);
    free(phi);
    srDestroyBvh(bvh);
}

static void samples_agree_with_the_field(void** state) {
    (void)state;
    srSurface closed = makeSphere(3, 1.0);
    checkSamples(&closed, 0.08);

    // without the quarter that faces up: half the winding number lies in the hole
    srSurface open = closed;
    open.triangleCount = 0;
    for (int32_t t = 0; t < closed.triangleCount; t++) {
        if (closed.points[closed.triangles[t][0]].z < 0.5) {
            memcpy(open.triangles[open.triangleCount++], closed.triangles[t], sizeof(closed.triangles[t]));
        }
    }
    checkSamples(&open, 0.08);
    srDestroySurface(&closed);
}

// A body with a large opening, a piece that overlaps it, a fin: open, union, sheet. Or the closed ones only.
static srSolid makeBody(bool isOpen) {
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    soup.triangleCount -= isOpen ? soup.triangleCount / 3 : 0;
    addSphere(&soup, 3, 0.5, 0.9, 0.0, 0.0);
    if (isOpen) {
        int32_t first = addPoint(&soup, 0.0, 0.2, 0.9);
        addPoint(&soup, 0.0, -0.2, 0.9);
        addPoint(&soup, 0.0, 0.0, 1.8);
        addTriangle(&soup, first, first + 1, first + 2);
    }
    srSolid solid = makeSolid(&soup, NULL, NULL);
    assert_true(solid.isWatertight == !isOpen && (solid.sheetTree != NULL) == isOpen);
    freeSoup(&soup);
    return solid;
}

static void a_box_is_exact_in_its_band_and_right_elsewhere(void** state) {
    (void)state;
    for (int isOpen = 0; isOpen < 2; isOpen++) {
        srSolid solid = makeBody(isOpen);
        for (int o = 0; o < 2; o++) {
            srField field = srMakeField(&solid, 0.05 * o);
            const srSampleBox box = {{-1.6, -1.4, -1.5}, 0.07, 47, 41, 45, 0.1};
            int32_t count = box.nx * box.ny * box.nz, exactCount = 0;
            double* phi = malloc(sizeof(double) * (size_t)count);
            srField_SampleBox(&field, &box, phi);
            for (int32_t i = 0; i < count; i++) {
                srVec3 at = {i % box.nx, i / box.nx % box.ny, i / (box.nx * box.ny)};
                double exact = srField_Value(&field, srMulAdd(box.origin, box.spacing, at));
                assert_true((phi[i] < 0.0) == (exact < 0.0));
                assert_true(phi[i] == exact || fabs(phi[i]) >= box.band);
                assert_true(phi[i] == exact || fabs(exact) >= box.band);
                exactCount += phi[i] == exact;
            }
            // a fifth of the box is within the band
            assert_true(isOpen || exactCount < count / 2);
            free(phi);
        }
        srDestroySolid(&solid);
    }
}

static void a_box_of_one_point_is_its_value(void** state) {
    (void)state;
    srSolid solid = makeBody(true);
    srField field = srMakeField(&solid, 0.0);
    uint64_t seed = 71;
    for (int i = 0; i < 100; i++) {
        const srSampleBox box = {randomPoint(&seed, 1.5), 1.0, 1, 1, 1, 10.0};
        double phi;
        srField_SampleBox(&field, &box, &phi);
        assert_true(phi == srField_Value(&field, box.origin));
    }
    srDestroySolid(&solid);
}

static void a_memory_changes_nothing_but_time(void** state) {
    (void)state;
    for (int isOpen = 0; isOpen < 2; isOpen++) {
        srSolid solid = makeBody(isOpen);
        srField field = srMakeField(&solid, 0.02);
        srFieldMemory memory = {0};
        uint64_t seed = 17;
        for (int i = 0; i < 3000; i++) {
            // short ways and leaps
            srVec3 start = randomPoint(&seed, 1.6), step = randomPoint(&seed, i % 2 == 0 ? 0.02 : 0.4);
            for (int k = 0; k < 8; k++) {
                srVec3 p = srMulAdd(start, k, step);
                assert_true(srField_ValueNear(&field, p, &memory) == srField_Value(&field, p));
            }
        }
        srDestroySolid(&solid);
    }
}

static void lookAround(const srSolid* solid, double spread, int32_t counts[3]) {
    srField field = srMakeField(solid, 0.0);
    srFieldMemory memory = {0};
    uint64_t seed = 18;
    for (int i = 0; i < 1000; i++) {
        srVec3 start = randomPoint(&seed, spread), step = randomPoint(&seed, i % 2 == 0 ? 0.02 : 0.4);
        for (int k = 0; k < 8; k++) {
            srVec3 p = srMulAdd(start, k, step), nearest;
            srFieldLook look = srField_Look(&field, p, &memory);
            int32_t triangle = SR_NULL_INDEX;
            assert_true(look.isInside == (srField_Value(&field, p) < 0.0));
            assert_true(look.distance == srBvh_DistanceGuessed(field.bvh, p, &triangle, &nearest));
            assert_true(srDistance(look.nearest, nearest) == 0.0 && look.triangle == triangle);
            if (field.sheets == NULL) {
                assert_true(isinf(look.sheetDistance));
            } else {
                assert_true(look.sheetDistance == srBvh_Distance(field.sheets, p, &nearest));
                assert_true(srDistance(look.sheetNearest, nearest) == 0.0);
            }
            double winding = srBvh_WindingNumber(field.bvh, p);
            assert_true((look.winding > 0.5) == (winding > 0.5) && (look.winding < 1.5) == (winding < 1.5));
            counts[winding < 0.5 ? 0 : winding < 1.5 ? 1 : 2]++;
        }
    }
}

// Balls that overlap, so that some places are in two of them, with a fin; and a body with openings.
static void a_look_tells_what_the_value_is_made_of(void** state) {
    (void)state;
    int32_t counts[3] = {0, 0, 0};
    for (int hasFin = 0; hasFin < 2; hasFin++) {
        Soup soup = {0};
        addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
        addSphere(&soup, 2, 1.0, 0.9, 0.1, 0.0);
        if (hasFin) {
            int32_t first = soup.pointCount;
            addPoint(&soup, 0.0, 0.5, 0.0);
            addPoint(&soup, 0.0, 2.0, -1.0);
            addPoint(&soup, 0.0, 2.0, 1.0);
            addTriangle(&soup, first, first + 1, first + 2);
        }
        srSolid solid = makeSolid(&soup, NULL, NULL);
        assert_true((solid.sheetTree != NULL) == hasFin);
        lookAround(&solid, 1.6, counts);
        srDestroySolid(&solid);
        freeSoup(&soup);
    }
    assert_true(counts[0] > 100 && counts[1] > 100 && counts[2] > 100);
    srSolid open = makeBody(true);
    lookAround(&open, 1.6, counts);
    srDestroySolid(&open);
}

static void a_lattice_has_the_same_bits_on_any_number_of_workers(void** state) {
    (void)state;
    const srProgress nobody = {0};
    int32_t before = srParallel_GetWorkerCount();
    srSolid solid = makeBody(true);
    srField field = srMakeField(&solid, 0.03);
    srLattice lattice;
    assert_true(srMakeLattice(solid.shells.lower, solid.shells.upper, 0.1, 0.15, 1 << 20, &lattice));
    size_t size = sizeof(double) * (size_t)lattice.pointCount;
    double *first = malloc(size), *phi = malloc(size);
    const int32_t workers[] = {1, 2, 4};
    for (int w = 0; w < 3; w++) {
        srParallel_SetWorkerCount(workers[w]);
        assert_success(srField_Sample(&field, &lattice, w == 0 ? first : phi, &nobody));
        assert_true(w == 0 || memcmp(first, phi, size) == 0);
    }
    for (int32_t i = 0; i < lattice.pointCount; i++) {
        double exact = srField_Value(&field, srLattice_Point(&lattice, i));
        assert_true((first[i] < 0.0) == (exact < 0.0));
        assert_true(first[i] == exact || fabs(first[i]) >= 2.0 * lattice.spacing);
    }
    srParallel_SetWorkerCount(before);
    free(first);
    free(phi);
    srDestroySolid(&solid);
}

static void sheets_alone_are_a_field_too(void** state) {
    (void)state;
    Soup soup = {0};
    addPoint(&soup, 0.0, 0.0, 0.0);
    addPoint(&soup, 1.0, 0.0, 0.0);
    addPoint(&soup, 0.0, 1.0, 0.0);
    addTriangle(&soup, 0, 1, 2);
    srSolid solid = makeSolid(&soup, NULL, NULL);
    srField field = srMakeField(&solid, 0.01);
    const srSampleBox box = {{-0.5, -0.5, -0.5}, 0.1, 16, 16, 11, 0.2};
    double phi[16 * 16 * 11];
    srField_SampleBox(&field, &box, phi);
    for (int32_t i = 0; i < SR_ARRAY_COUNT(phi); i++) {
        srVec3 p = srMulAdd(box.origin, box.spacing, (srVec3){i % 16, i / 16 % 16, i / 256});
        double exact = srBvh_Distance(solid.sheetTree, p, NULL) - solid.halfThickness - 0.01;
        assert_true((phi[i] < 0.0) == (exact < 0.0));
        assert_true(fabs(phi[i] - exact) < 1e-14 || (phi[i] >= 0.2 && exact >= 0.2));
    }
    srDestroySolid(&solid);
    freeSoup(&soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(field_of_a_sphere_is_its_signed_distance, srTestNothingLeaked),
        cmocka_unit_test_teardown(samples_agree_with_the_field, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_box_is_exact_in_its_band_and_right_elsewhere, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_box_of_one_point_is_its_value, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_memory_changes_nothing_but_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_look_tells_what_the_value_is_made_of, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_lattice_has_the_same_bits_on_any_number_of_workers, srTestNothingLeaked),
        cmocka_unit_test_teardown(sheets_alone_are_a_field_too, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/field", tests, NULL, NULL);
}
