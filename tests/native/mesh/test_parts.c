// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/parts.h"

#include "mesh/soups.h"

static srParts partsOf(const srSurface* surface) {
    srParts parts;
    assert_success(srCreateParts(surface, &parts));
    return parts;
}

static void what_shares_an_index_is_of_one_part(void** state) {
    (void)state;
    Soup soup = {0};
    const double size[3] = {1.0, 1.0, 1.0};
    addBox(&soup, (const double[3]){0.0, 0.0, 0.0}, size);
    addBox(&soup, (const double[3]){1.0, 0.0, 0.0}, size); // lies on the first
    addPoint(&soup, 9.0, 9.0, 9.0);
    addTriangle(&soup, 0, 1, 11); // hangs both together
    addBox(&soup, (const double[3]){0.0, 1.0, 0.0}, size);
    shuffleTriangles(&soup, 3);
    srSurface surface = makeSurface(&soup);
    srParts parts = partsOf(&surface);
    for (int32_t v = 0; v < soup.pointCount; v++) {
        assert_int_equal(parts.numbers[v], v < 16 ? 0 : v - 16 < 1 ? 1 : 2);
    }
    assert_int_equal(parts.partCount, 3);
    srDestroyParts(&parts);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static srResult createAndDestroy(void* context) {
    srParts parts;
    SR_TRY(srCreateParts(context, &parts));
    srDestroyParts(&parts);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, 1.0);
    srTestEveryAllocationFails(createAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_shares_an_index_is_of_one_part, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/parts", tests, NULL, NULL);
}
