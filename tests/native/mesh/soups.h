// SPDX-License-Identifier: GPL-3.0-or-later
//
// What happens to meshes on their way from other programs: corruptions of a soup, and a check of a solid
// against the shape that is known.

#pragma once

#include "mesh/field.h"
#include "mesh/solids.h"

typedef bool InsideFcn(srVec3 p);

static inline void flipTriangle(Soup* soup, int32_t t) {
    int32_t swap = soup->triangles[3 * t + 1];
    soup->triangles[3 * t + 1] = soup->triangles[3 * t + 2];
    soup->triangles[3 * t + 2] = swap;
}

/// Every `step`-th triangle from `first` on, up to before `end`.
static inline void flipSome(Soup* soup, int32_t first, int32_t end, int32_t step) {
    for (int32_t t = first; t < end; t += step) {
        flipTriangle(soup, t);
    }
}

static inline void flipAll(Soup* soup) {
    flipSome(soup, 0, soup->triangleCount, 1);
}

/// Gives each triangle corners of its own, moved towards its middle by `share`.
static inline void explode(Soup* soup, double share) {
    Soup out = {0};
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        double middle[3] = {0.0, 0.0, 0.0};
        int32_t corners[3];
        for (int c = 0; c < 9; c++) {
            middle[c % 3] += (double)soup->points[3 * soup->triangles[3 * t + c / 3] + c % 3] / 3.0;
        }
        for (int c = 0; c < 3; c++) {
            const float* p = soup->points + 3 * soup->triangles[3 * t + c];
            corners[c] = addPoint(&out, (double)p[0] + share * (middle[0] - (double)p[0]),
                                  (double)p[1] + share * (middle[1] - (double)p[1]),
                                  (double)p[2] + share * (middle[2] - (double)p[2]));
        }
        addTriangle(&out, corners[0], corners[1], corners[2]);
    }
    freeSoup(soup);
    *soup = out;
}

/// Leaves out the triangles whose first corner is `isGone`.
static inline void removeWhere(Soup* soup, InsideFcn* isGone) {
    int32_t kept = 0;
    for (int32_t t = 0; t < soup->triangleCount; t++) {
        const float* p = soup->points + 3 * soup->triangles[3 * t];
        if (!isGone((srVec3){(double)p[0], (double)p[1], (double)p[2]})) {
            memmove(soup->triangles + 3 * kept++, soup->triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    soup->triangleCount = kept;
}

static inline void shuffleTriangles(Soup* soup, uint64_t seed) {
    for (int32_t t = soup->triangleCount - 1; t > 0; t--) {
        int32_t other = (int32_t)(srTestRandom(&seed) * (t + 1)), swap[3];
        memcpy(swap, soup->triangles + 3 * t, sizeof(swap));
        memcpy(soup->triangles + 3 * t, soup->triangles + 3 * other, sizeof(swap));
        memcpy(soup->triangles + 3 * other, swap, sizeof(swap));
    }
}

/// x -> scale x + shift
static inline void moveSoup(Soup* soup, double scale, srVec3 shift) {
    for (int32_t v = 0; v < soup->pointCount; v++) {
        float* p = soup->points + 3 * v;
        p[0] = (float)(scale * (double)p[0] + shift.x);
        p[1] = (float)(scale * (double)p[1] + shift.y);
        p[2] = (float)(scale * (double)p[2] + shift.z);
    }
}

static inline srSolid makeSolid(const Soup* soup, const srSolidSettings* settings, srSolidReport* outReport) {
    const srProgress nobody = {0};
    srSolidSettings usual = srDefaultSolidSettings();
    srSurface surface = makeSurface(soup);
    srSolid solid = {0};
    assert_success(srCreateSolid(&surface, settings != NULL ? settings : &usual, &nobody, &solid, outReport));
    srDestroySurface(&surface);
    return solid;
}

/// Asks 4000 places in scale * [-extent, extent]^3 + shift whether they are inside; those whose answer
/// changes within `margin` (before scaling) are left out, but most must be left.
static inline void checkInside(const srSolid* solid, InsideFcn* isInside, double extent, double margin,
                               double scale, srVec3 shift) {
    srField field = srMakeField(solid, 0.0);
    uint64_t seed = 77;
    int32_t askedCount = 0, insideCount = 0;
    for (int i = 0; i < 4000; i++) {
        srVec3 p = randomPoint(&seed, extent);
        bool expected = isInside(p), isNear = false;
        for (int corner = 0; corner < 14; corner++) {
            srVec3 d = {corner & 1 ? margin : -margin, corner & 2 ? margin : -margin,
                        corner & 4 ? margin : -margin};
            if (corner >= 8) {
                int axis = (corner - 8) / 2;
                double side = (corner & 1) != 0 ? 1.8 * margin : -1.8 * margin;
                d = (srVec3){axis == 0 ? side : 0.0, axis == 1 ? side : 0.0, axis == 2 ? side : 0.0};
            }
            isNear = isNear || isInside(srAdd(p, d)) != expected;
        }
        if (isNear) {
            continue;
        }
        askedCount++;
        insideCount += expected;
        double phi = srField_Value(&field, srMulAdd(shift, scale, p));
        if ((phi < 0.0) != expected) {
            fail_msg("(%g %g %g) is %s, and phi is %g", p.x, p.y, p.z, expected ? "inside" : "outside", phi);
        }
    }
    assert_true(askedCount > 1000 && insideCount > 10 && insideCount < askedCount - 10);
}
