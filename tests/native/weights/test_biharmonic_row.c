// SPDX-License-Identifier: GPL-3.0-or-later

#include "weights/biharmonic_row.h"

#include "support/support.h"
#include "weights/second_opinion.h"

enum {
    most = 24
};

static void assertAllowed(const double* w, const double* ceilings, int32_t count) {
    double sum = 0.0;
    for (int32_t j = 0; j < count; j++) {
        assert_true(w[j] >= 0.0 && w[j] <= ceilings[j]);
        sum += w[j];
    }
    assert_near(sum, 1.0, 1e-12);
}

// Another way to the same place: halving a shift, two hundred times.
static void nearest_row_is_that_of_halving(void** state) {
    (void)state;
    uint64_t seed = 11;
    for (int trial = 0; trial < 20000; trial++) {
        double s[most], ceilings[most], here[most], there[most], sum = 0.0;
        int32_t count = 1 + (int32_t)(srTestRandom(&seed) * (most - 1));
        double wide = exp(8.0 * srTestRandom(&seed) - 4.0);
        for (int32_t j = 0; j < count; j++) {
            s[j] = wide * (srTestRandom(&seed) - 0.3);
            ceilings[j] = srTestRandom(&seed) < 0.5 ? 1.0 : 0.05 * srTestRandom(&seed);
            sum += ceilings[j];
        }
        ceilings[0] = sum < 1.0 ? 1.0 : ceilings[0];
        srProjectBelow(s, ceilings, count, here);
        projectByHalving(s, ceilings, count, there);
        assertAllowed(here, ceilings, count);
        for (int32_t j = 0; j < count; j++) {
            assert_near(here[j], there[j], 1e-11);
        }
    }
}

static void numbers_of_any_size_give_an_allowed_row(void** state) {
    (void)state;
    const double ceilings[4] = {0.02, 1.0, 0.5, 0.01};
    const double rows[][4] = {{1e25, -1e25, 3.0, 0.0},
                              {1e300, 1e300, 1e300, 1e300},
                              {0.0, 0.0, 0.0, 0.0},
                              {-1e18, -1e18, -2e18, 5.0},
                              {1e17, 1e17 + 64.0, 1e17, 1e17}};
    for (int i = 0; i < SR_ARRAY_COUNT(rows); i++) {
        double w[4];
        srProjectBelow(rows[i], ceilings, 4, w);
        assertAllowed(w, ceilings, 4);
    }
}

static void ceilings_that_just_do_are_met(void** state) {
    (void)state;
    const double s[3] = {5.0, -2.0, 0.1}, ceilings[3] = {0.25, 0.5, 0.25};
    double w[3];
    srProjectBelow(s, ceilings, 3, w);
    for (int j = 0; j < 3; j++) {
        assert_near(w[j], ceilings[j], 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nearest_row_is_that_of_halving, srTestNothingLeaked),
        cmocka_unit_test_teardown(numbers_of_any_size_give_an_allowed_row, srTestNothingLeaked),
        cmocka_unit_test_teardown(ceilings_that_just_do_are_met, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("weights/biharmonic_row", tests, NULL, NULL);
}
