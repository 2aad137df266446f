// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights/laplacian.h"

#include "mesh/solids.h"

// Both triangles of the Laplacian.
static srCsc makeWhole(const srCage* cage) {
    int32_t count = SR_LAPLACIAN_ENTRIES * cage->cellCount;
    srTriplet* triplets = malloc(2 * sizeof(srTriplet) * (size_t)count);
    srFillLaplacian(cage, triplets);
    int32_t all = count;
    for (int32_t t = 0; t < count; t++) {
        assert_true(triplets[t].row >= triplets[t].column);
        if (triplets[t].row != triplets[t].column) {
            triplets[all++] = (srTriplet){triplets[t].column, triplets[t].row, triplets[t].value};
        }
    }
    srCsc L;
    assert_success(srCreateCsc(cage->nodeCount, cage->nodeCount, triplets, all, &L));
    free(triplets);
    return L;
}

static double product(const srCsc* L, const double* u, const double* v) {
    double* Lv = calloc((size_t)L->rowCount, sizeof(double));
    srCsc_MulAdd(Lv, L, v);
    double sum = 0.0;
    for (int32_t i = 0; i < L->rowCount; i++) {
        sum += u[i] * Lv[i];
    }
    free(Lv);
    return sum;
}

static void constants_have_no_energy(void** state) {
    (void)state;
    srCage cage;
    makeBlock(3, 2, 2, 0.7, &cage);
    srCsc L = makeWhole(&cage);
    double* rows = calloc((size_t)L.rowCount, sizeof(double));
    double* ones = malloc(sizeof(double) * (size_t)L.rowCount);
    for (int32_t i = 0; i < L.rowCount; i++) {
        ones[i] = 1.0;
    }
    srCsc_MulAdd(rows, &L, ones);
    for (int32_t i = 0; i < L.rowCount; i++) {
        assert_near(rows[i], 0.0, 1e-13);
    }
    free(rows);
    free(ones);
    srDestroyCsc(&L);
    srDestroyCage(&cage);
}

static void linear_fields_have_the_energy_of_their_gradients(void** state) {
    (void)state;
    // u' L v = volume (grad u . grad v), whatever the cells
    const srVec3 a = {0.3, -1.2, 0.5}, b = {1.0, 0.25, -2.0};
    uint64_t seed = 71;
    srCage cage;
    makeBlock(3, 3, 3, 1.0, &cage);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        srVec3 p = cage.nodes[node];
        bool isInner = fmin(p.x, fmin(p.y, p.z)) > 0.5 && fmax(p.x, fmax(p.y, p.z)) < 2.5;
        cage.nodes[node] = isInner ? srAdd(p, randomPoint(&seed, 0.15)) : p;
    }
    srCsc L = makeWhole(&cage);
    double* u = malloc(sizeof(double) * (size_t)cage.nodeCount);
    double* v = malloc(sizeof(double) * (size_t)cage.nodeCount);
    for (int32_t node = 0; node < cage.nodeCount; node++) {
        u[node] = srDot(a, cage.nodes[node]);
        v[node] = srDot(b, cage.nodes[node]);
    }
    assert_near(product(&L, u, v), 27.0 * srDot(a, b), 1e-11);
    assert_near(product(&L, u, u), 27.0 * srDot(a, a), 1e-11);
    free(u);
    free(v);
    srDestroyCsc(&L);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(constants_have_no_energy, srTestNothingLeaked),
        cmocka_unit_test_teardown(linear_fields_have_the_energy_of_their_gradients, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/laplacian", tests, NULL, NULL);
}
