// SPDX-License-Identifier: GPL-3.0-or-later
//
// A published scene, what full Newton makes of it, and room for what is tried on it.

#pragma once

#include "support/support.h"

#include "support/thesis.h"

#include <stdlib.h>

#define JUDGE_STEPS 60 // a frame

typedef struct Trial {
    srThesisScene scene;
    srVec3* exact;
    srVec3* path;
} Trial;

// The judge must have solved all its steps, and half as many must lead to nearly the same
static inline void judgeScene(Trial* trial, int32_t frameCount, double tolerance) {
    trial->scene.frameCount = frameCount;
    trial->exact = srThesisAllocatePath(&trial->scene);
    trial->path = srThesisAllocatePath(&trial->scene);
    assert_true(trial->exact != NULL && trial->path != NULL);
    assert_int_equal(srThesisSolveExactly(&trial->scene, JUDGE_STEPS, trial->exact), 0);
    assert_int_equal(srThesisSolveExactly(&trial->scene, JUDGE_STEPS / 2, trial->path), 0);
    double change = srThesisFindDistance(&trial->scene, trial->exact, trial->path) / trial->scene.extent;
    print_message("%s, %d nodes: half as many steps of the judge change %.5f of the extent\n",
                  trial->scene.name, trial->scene.shape.nodeCount, change);
    assert_near(change, 0.0, tolerance);
}

// mean distance of what was tried from the judge over nodes and frames, in parts of the extent
static inline double distanceFromJudge(const Trial* trial) {
    return srThesisFindDistance(&trial->scene, trial->path, trial->exact) / trial->scene.extent;
}

static inline void destroyTrial(Trial* trial) {
    free(trial->exact);
    free(trial->path);
    srThesisDestroyScene(&trial->scene);
}
