// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/field.h"

#include "mesh/solids.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(field_of_a_sphere_is_its_signed_distance, srTestNothingLeaked),
        cmocka_unit_test_teardown(samples_agree_with_the_field, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/field", tests, NULL, NULL);
}
