// SPDX-License-Identifier: GPL-3.0-or-later
//
// The moduli's formulas against textbook identities, and the springs' energy against a bar's.

#include "support/support.h"

#include "elastic/material.h"
#include "math/vec3.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>

// The energy of all springs of a bar stretched by eps along a direction without getting thinner, divided by
// what the bar of Young's modulus E stores
static double energyRatio(const srCage* cage, const double* edgeVolumes, double volume, srVec3 direction) {
    srMaterial material = srMakeMaterial(3e4, 0.45, 1000.0);
    const double eps = 1e-4;
    double energy = 0.0;
    for (int32_t e = 0; e < cage->edgeCount; ++e) {
        srVec3 edge = srSub(cage->nodes[cage->edges[e][1]], cage->nodes[cage->edges[e][0]]);
        double length = srLength(edge);
        double stretch = eps * srDot(edge, direction) * srDot(edge, direction) / length;
        energy += 0.5 * srEdgeStiffness(&material, length, edgeVolumes[e]) * stretch * stretch;
    }
    return energy / (0.5 * 3e4 * eps * eps * volume);
}

static int32_t findEdge(const srCage* cage, int32_t a, int32_t b) {
    for (int32_t e = 0; e < cage->edgeCount; ++e) {
        if ((cage->edges[e][0] == a && cage->edges[e][1] == b) ||
            (cage->edges[e][0] == b && cage->edges[e][1] == a)) {
            return e;
        }
    }
    return SR_NULL_INDEX;
}

static void springs_on_a_regular_lattice_store_what_the_bar_stores(void** state) {
    (void)state;
    const int32_t counts[3] = {3, 3, 3};
    srCage cage;
    assert_success(srTestCreateBarCage(counts, 0.1, &cage));
    double* edgeVolumes = calloc((size_t)cage.edgeCount, sizeof(double));
    assert_non_null(edgeVolumes);
    double volume = 0.0;
    for (int32_t cell = 0; cell < cage.cellCount; ++cell) {
        volume += srCellVolume(&cage, cell);
        for (int a = 0; a < 4; ++a) {
            for (int b = a + 1; b < 4; ++b) {
                int32_t edge = findEdge(&cage, cage.cells[cell][a], cage.cells[cell][b]);
                assert_true(edge != SR_NULL_INDEX);
                edgeVolumes[edge] += srCellVolume(&cage, cell) / 6.0;
            }
        }
    }

    // the mean over directions is exact; six cells around one diagonal favour that one
    uint64_t seed = 21;
    double mean = 0.0;
    double least = 1.0;
    double most = 1.0;
    const int directionCount = 4000;
    for (int trial = 0; trial < directionCount; ++trial) {
        double z = 2.0 * srTestRandom(&seed) - 1.0;
        double angle = 6.283185307179586 * srTestRandom(&seed);
        double r = sqrt(1.0 - z * z);
        srVec3 direction = {r * cos(angle), r * sin(angle), z};
        double ratio = energyRatio(&cage, edgeVolumes, volume, direction);
        mean += ratio / directionCount;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    assert_true(least > 0.4 && most < 2.0);
    // the spread over directions is about 0.3, of which 4000 leave 0.005
    assert_near(mean, 1.0, 0.02);
    free(edgeVolumes);
    srDestroyCage(&cage);
}

static void moduli_are_those_of_textbooks(void** state) {
    (void)state;
    for (double nu = 0.0; nu < 0.495; nu += 0.05) {
        srMaterial m = srMakeMaterial(2e5, nu, 900.0);
        // 1/E = 1/(3 mu) + 1/(9 K)
        assert_near(1.0 / (3.0 * m.shearModulus) + 1.0 / (9.0 * m.bulkModulus), 1.0 / 2e5, 1e-18);
        assert_near(m.density, 900.0, 0.0);
    }
}

static void incompressible_flesh_has_no_volume_compliance(void** state) {
    (void)state;
    srMaterial m = srMakeMaterial(1e4, 0.5, 1000.0);
    assert_true(srVolumeCompliance(&m, 1e-3) == 0.0);
    double last = 1.0;
    for (double nu = 0.0; nu <= 0.5; nu += 0.05) {
        srMaterial softer = srMakeMaterial(1e4, nu, 1000.0);
        double compliance = srVolumeCompliance(&softer, 1e-3);
        assert_true(compliance >= 0.0 && compliance < last);
        last = compliance;
    }
}

static void the_volume_energy_is_that_of_the_bulk_modulus(void** state) {
    (void)state;
    srMaterial m = srMakeMaterial(1e4, 0.3, 1000.0);
    double V0 = 2e-3;
    double V = 1.01 * V0;
    double C = 6.0 * (V - V0);
    double energy = C * C / (2.0 * srVolumeCompliance(&m, V0));
    double expected = m.bulkModulus * (V - V0) * (V - V0) / (2.0 * V0);
    assert_near(energy / expected, 1.0, 1e-12);
}

// all of it, then less and less, without a jump, down to mu
static void a_cell_keeps_less_of_lambda_where_it_would_lock(void** state) {
    (void)state;
    double last = 0.0;
    for (int k = 0; k <= 500; ++k) {
        srMaterial m = srMakeMaterial(1e4, 1e-3 * k, 1000.0);
        double kept = srFindCellLambda(&m, sr_elasticNeoHookean), lambda = srLameLambda(&m);
        assert_true(srFindCellLambda(&m, sr_elasticArap) == 0.0);
        assert_true(kept <= lambda * (1.0 + 1e-12) && (k >= 450 || kept == lambda));
        assert_true(k <= 451 || kept < last);
        assert_near((kept - last) / m.shearModulus, 0.0, 0.45);
        assert_true(k < 490 || fabs(kept / m.shearModulus - 1.0) < 1e-9);
        last = kept;
    }
}

// frequencies are sqrt(stiffness / mass): what is s times as large, of E s^2, swings as fast
static void flesh_of_any_size_swings_alike(void** state) {
    (void)state;
    for (double s = 1e-3; s < 2e3; s *= 10.0) {
        double E1 = srYoungModulusForSize(2.0, 1000.0, 1.0);
        double Es = srYoungModulusForSize(2.0, 1000.0, s);
        assert_near(Es / (E1 * s * s), 1.0, 1e-12);
        srMaterial one = srMakeMaterial(E1, 0.45, 1000.0);
        srMaterial scaled = srMakeMaterial(Es, 0.45, 1000.0);
        double massRatio = s * s * s;
        assert_near(srEdgeStiffness(&scaled, 0.1 * s, 1e-3 * massRatio) / srEdgeStiffness(&one, 0.1, 1e-3),
                    massRatio, 1e-12 * massRatio);
        assert_near(srBondStiffness(&scaled, 0.5, 1e-3 * massRatio, 0.1 * s) /
                        srBondStiffness(&one, 0.5, 1e-3, 0.1),
                    massRatio, 1e-12 * massRatio);
    }
}

static void more_hold_and_faster_dials_are_stiffer(void** state) {
    (void)state;
    srMaterial m = srMakeMaterial(1e4, 0.45, 1000.0);
    assert_true(srBondStiffness(&m, 0.0, 1e-3, 0.1) == 0.0);
    double last = 0.0;
    for (double hold = 0.05; hold < 0.999; hold += 0.05) {
        double stiffness = srBondStiffness(&m, hold, 1e-3, 0.1);
        assert_true(stiffness > last);
        last = stiffness;
    }
    assert_true(srBondStiffness(&m, 0.5, 1e-3, 0.2) < srBondStiffness(&m, 0.5, 1e-3, 0.1));
    double E = srYoungModulusForSize(2.0, 1000.0, 1.0);
    assert_near(srYoungModulusForSize(4.0, 1000.0, 1.0) / E, 4.0, 1e-12);
    assert_near(srYoungModulusForSize(2.0, 2000.0, 1.0) / E, 2.0, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_on_a_regular_lattice_store_what_the_bar_stores),
        cmocka_unit_test(moduli_are_those_of_textbooks),
        cmocka_unit_test(incompressible_flesh_has_no_volume_compliance),
        cmocka_unit_test(the_volume_energy_is_that_of_the_bulk_modulus),
        cmocka_unit_test(a_cell_keeps_less_of_lambda_where_it_would_lock),
        cmocka_unit_test(flesh_of_any_size_swings_alike),
        cmocka_unit_test(more_hold_and_faster_dials_are_stiffer),
    };
    return cmocka_run_group_tests_name("elastic/material", tests, NULL, srTestNothingLeaked);
}
