// SPDX-License-Identifier: GPL-3.0-or-later
//
// A cell as those need it who weigh many points in it: one corner and the gradients of the weights of the
// others.

#pragma once

#include "core/error.h"
#include "mesh/cage.h"

typedef struct srFrame {
    srVec3 corner;
    srVec3 gradients[3];
} srFrame;

/// One a cell; cellCount of them, to be freed with SR_FREE.
SR_MUST_USE srResult srCreateFrames(const srCage* cage, srFrame** outFrames);

/// Barycentric weights of any point; they sum to one to rounding.
static inline void srWeigh(const srFrame* frame, srVec3 point, double outWeights[4]) {
    srVec3 d = srSub(point, frame->corner);
    outWeights[1] = srDot(frame->gradients[0], d);
    outWeights[2] = srDot(frame->gradients[1], d);
    outWeights[3] = srDot(frame->gradients[2], d);
    outWeights[0] = 1.0 - outWeights[1] - outWeights[2] - outWeights[3];
}

static inline double srSmallestWeight(const double w[4]) {
    double a = w[0] < w[1] ? w[0] : w[1], b = w[2] < w[3] ? w[2] : w[3];
    return a < b ? a : b;
}
