// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/frame.h"

#include "core/alloc.h"
#include "mesh/cellgrid.h"
#include "mesh/solids.h"

static void frames_weigh_as_volumes_do(void** state) {
    (void)state;
    srCage cage;
    srFrame* frames;
    uint64_t seed = 7;
    makeBlock(3, 2, 2, 0.7, &cage);
    assert_success(srCreateFrames(&cage, &frames));
    for (int i = 0; i < 300; i++) {
        double w[4], expected[4];
        srVec3 point = randomPoint(&seed, 3.0);
        srWeigh(&frames[i % cage.cellCount], point, w);
        srFindBarycentric(&cage, i % cage.cellCount, point, expected);
        for (int c = 0; c < 4; c++) {
            // weights of up to 10, each some ten roundings
            assert_near(w[c], expected[c], 1e-13);
        }
        double least = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
        assert_true(srSmallestWeight(w) == least);
    }
    SR_FREE(frames, cage.cellCount);
    srDestroyCage(&cage);
}

static srResult createAndDestroy(void* context) {
    const srCage* cage = context;
    srFrame* frames;
    SR_TRY(srCreateFrames(cage, &frames));
    SR_FREE(frames, cage->cellCount);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srCage cage;
    makeBlock(1, 1, 1, 1.0, &cage);
    srTestEveryAllocationFails(createAndDestroy, &cage);
    srDestroyCage(&cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_weigh_as_volumes_do, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/frame", tests, NULL, NULL);
}
