// SPDX-License-Identifier: GPL-3.0-or-later
//
// The nearest place of a segment and of a triangle to a point.

#pragma once

#include "math/vec3.h"

static inline srVec3 srNearestOnSegment(srVec3 p, srVec3 a, srVec3 b) {
    srVec3 ab = srSub(b, a);
    double length2 = srDot(ab, ab);
    double t = length2 > 0.0 ? srDot(srSub(p, a), ab) / length2 : 0.0;
    return srMulAdd(a, t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t, ab);
}

/// Keeps `candidate` when it is nearer than the best so far.
static inline void srKeepNearer(srVec3 p, srVec3 candidate, double* best2, srVec3* best) {
    srVec3 d = srSub(candidate, p);
    double distance2 = srDot(d, d);
    if (distance2 < *best2) {
        *best2 = distance2;
        *best = candidate;
    }
}

/// Squared distance. A triangle without area answers with its nearest side.
static inline double srNearestOnTriangle(srVec3 p, srVec3 a, srVec3 b, srVec3 c, srVec3* outNearest) {
    srVec3 ab = srSub(b, a), ac = srSub(c, a), ap = srSub(p, a);
    srVec3 n = srCross(ab, ac);
    double nn = srDot(n, n);
    double v = srDot(srCross(ap, ac), n), w = srDot(srCross(ab, ap), n);
    double best2 = HUGE_VAL;
    if (nn > 0.0 && v >= 0.0 && w >= 0.0 && v + w <= nn) {
        srVec3 foot = srMulAdd(srMulAdd(a, v / nn, ab), w / nn, ac);
        srKeepNearer(p, foot, &best2, outNearest);
        return best2;
    }
    srKeepNearer(p, srNearestOnSegment(p, a, b), &best2, outNearest);
    srKeepNearer(p, srNearestOnSegment(p, b, c), &best2, outNearest);
    srKeepNearer(p, srNearestOnSegment(p, c, a), &best2, outNearest);
    return best2;
}
