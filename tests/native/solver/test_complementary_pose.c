// SPDX-License-Identifier: GPL-3.0-or-later
//
// Slow motion in the complementary solver: the slower a pose is reached, the nearer the flesh is to where it
// ends up, and by which order.

#include "bone_bar.h"

#include "core/alloc.h"

static const int32_t BAR[3] = {2, 6, 2};
static const double SPACING = 0.2;

static srMat34 poseAt(bool isTwist, double share) {
    const srVec3 middle = {0.2, 0.6, 0.2};
    return isTwist ? twistAbout(middle, 2.0 * share) : bendAbout(middle, 0.5 * PI * share);
}

// how far, at the end of a way of some frames, the flesh is from where it comes to stand there
static double measureDelay(Flesh* f, bool isTwist, int frames) {
    size_t n = (size_t)f->cage.nodeCount;
    srVec3* moving = calloc(n, sizeof(srVec3));
    resetFlesh(f);
    for (int frame = 1; frame <= frames; ++frame) {
        f->maps[1] = poseAt(isTwist, (double)frame / frames);
        stepFlesh(f);
    }
    memcpy(moving, f->state.offsets, n * sizeof(srVec3));
    for (int frame = 0; frame < 400; ++frame) {
        stepFlesh(f);
    }
    double longest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        longest = fmax(longest, srDistance(moving[i], f->state.offsets[i]));
    }
    free(moving);
    return longest;
}

// Without pose correction flesh stands off its pose by inertia alone, which goes with the square of speed.
// With it the flesh moves against the rig all the way, and damping delays that in proportion to the speed.
static void slow_motion_converges_to_the_static_pose_by_its_order(void** state) {
    (void)state;
    Flesh f;
    makeFlesh(&f, BAR, SPACING, 2, hold_axis);
    for (int kind = 0; kind < 4; ++kind) {
        srComplementaryDials dials = fleshDials();
        dials.poseCorrection = kind < 2 ? 0.0 : 1.0;
        dials.tolerance = 1e-8;
        tuneFlesh(&f, &dials);
        double last = 0.0, order = 0.0;
        for (int frames = 96; frames <= 768; frames *= 2) {
            double delay = measureDelay(&f, kind % 2 == 1, frames);
            order = last > 0.0 ? log2(last / delay) : 0.0;
            assert_true(last == 0.0 || delay < last);
            last = delay;
        }
        print_message("%s, pose correction %.0f: order %.2f, %.1e apart in the end\n",
                      kind % 2 == 1 ? "twist" : "bend", dials.poseCorrection, order, last);
        assert_near(order, kind < 2 ? 2.0 : 1.0, 0.15);
        assert_true(kind < 2 ? longestOffset(&f) < 1e-9 : longestOffset(&f) > 1e-2);
    }
    freeFlesh(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_motion_converges_to_the_static_pose_by_its_order),
    };
    return cmocka_run_group_tests_name("solver/complementary_pose", tests, NULL, srTestNothingLeaked);
}
