// SPDX-License-Identifier: GPL-3.0-or-later
//
// Closed surfaces as hulls, and plain looks at them that share nothing with the library.

#pragma once

#include "mesh/hull.h"
#include "mesh/solids.h"

static inline srHull hullOfSurface(const srSurface* surface) {
    return (srHull){surface->points, surface->pointCount, surface->triangles, surface->triangleCount};
}

static inline double hullVolume(const srHull* hull) {
    double sum = 0.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* n = hull->triangles[t];
        sum += srDot(hull->points[n[0]], srCross(hull->points[n[1]], hull->points[n[2]])) / 6.0;
    }
    return sum;
}

/// Every edge has one triangle along it and one against it.
static inline void assertHullClosed(const srHull* hull) {
    uint64_t along = 0,
             against = 0; // sums over edges of a number for each, either way: equal where all pair up
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        for (int e = 0; e < 3; e++) {
            uint64_t a = (uint64_t)hull->triangles[t][e], b = (uint64_t)hull->triangles[t][(e + 1) % 3];
            assert_true(a != b && a < (uint64_t)hull->pointCount);
            along += ((a << 32 | b) * 0x9e3779b97f4a7c15u >> 13) * ((a << 32 | b) | 1);
            against += ((b << 32 | a) * 0x9e3779b97f4a7c15u >> 13) * ((b << 32 | a) | 1);
        }
    }
    assert_int_equal(along, against);
    assert_int_equal(hull->triangleCount % 2, 0);
}

/// 2 for each ball, 0 for a ring.
static inline int32_t eulerOf(const srHull* hull) {
    return hull->pointCount - hull->triangleCount / 2;
}

static inline double worstQuality(const srHull* hull) {
    double worst = 1.0;
    for (int32_t t = 0; t < hull->triangleCount; t++) {
        const int32_t* n = hull->triangles[t];
        srVec3 a = hull->points[n[0]], b = hull->points[n[1]], c = hull->points[n[2]];
        srVec3 ab = srSub(b, a), ac = srSub(c, a), bc = srSub(c, b);
        double q = 3.4641016 * srLength(srCross(ab, ac)) / (srDot(ab, ab) + srDot(ac, ac) + srDot(bc, bc));
        worst = fmin(worst, q);
    }
    return worst;
}
