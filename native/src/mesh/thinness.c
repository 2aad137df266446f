// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ways from places on a patch through its inside, and across them.

#include "mesh/thinness.h"

#include <math.h>

// Places that are looked at, and directions across the shortest way there
#define PLACE_COUNT 12
#define DIRECTION_COUNT 4

// A leaf is so many times as wide as thick, in every direction.
#define LEAF_WIDTH 4.0

// What is as near to where a way begins, in lengths of the patch, is where it begins.
#define START 1e-9

typedef struct Way {
    srVec3 from;
    srVec3 direction; // a unit
    double start;
} Way;

// How far the way goes until it meets the triangle (Moeller and Trumbore 1997); infinite when it does not.
static double meet(const Way* way, const srPatches* patches, const int32_t corners[3]) {
    srVec3 a = patches->points[corners[0]];
    srVec3 e = srSub(patches->points[corners[1]], a), f = srSub(patches->points[corners[2]], a);
    srVec3 across = srCross(way->direction, f), from = srSub(way->from, a);
    double determinant = srDot(e, across);
    if (determinant == 0.0) {
        return HUGE_VAL;
    }
    srVec3 turned = srCross(from, e);
    double u = srDot(from, across) / determinant, v = srDot(way->direction, turned) / determinant;
    double t = srDot(f, turned) / determinant;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > way->start ? t : HUGE_VAL;
}

static double lengthOf(const Way* way, const srPatches* patches, const srPatch* patch) {
    double length = HUGE_VAL;
    for (int32_t t = 0; t < patch->triangleCount; t++) {
        length = fmin(length, meet(way, patches, patches->triangles[patch->firstTriangle + t]));
    }
    for (int32_t c = 0; c < patch->capCount; c++) {
        length = fmin(length, meet(way, patches, patches->caps[patch->firstCap + c]));
    }
    return length;
}

// The width across a normal, at the narrowest.
static double widthAcross(const srPatches* patches, const srPatch* patch, srVec3 middle, srVec3 normal) {
    srVec3 axis = fabs(normal.x) < 0.6 ? (srVec3){1.0, 0.0, 0.0} : (srVec3){0.0, 1.0, 0.0};
    srVec3 u = srCross(normal, axis);
    u = srScale(1.0 / srLength(u), u);
    srVec3 v = srCross(normal, u);
    double narrowest = HUGE_VAL;
    for (int d = 0; d < DIRECTION_COUNT; d++) {
        static const double parts[DIRECTION_COUNT][2] = {{1.0, 0.0},
                                                         {0.0, 1.0},
                                                         {0.70710678118654752, 0.70710678118654752},
                                                         {0.70710678118654752, -0.70710678118654752}};
        srVec3 direction = srMulAdd(srScale(parts[d][0], u), parts[d][1], v);
        Way there = {middle, direction, 0.0}, back = {middle, srScale(-1.0, direction), 0.0};
        narrowest = fmin(narrowest, lengthOf(&there, patches, patch) + lengthOf(&back, patches, patch));
    }
    return narrowest;
}

bool srIsLeaf(const srPatches* patches, const srPatch* patch) {
    int32_t count = patch->triangleCount < PLACE_COUNT ? patch->triangleCount : PLACE_COUNT;
    double leaf = 0.0, rope = 0.0, start = START * sqrt(patch->area);
    for (int32_t i = 0; i < count; i++) {
        int64_t triangle = ((int64_t)2 * i + 1) * patch->triangleCount / (2 * count);
        const int32_t* c = patches->triangles[patch->firstTriangle + triangle];
        srVec3 a = patches->points[c[0]], b = patches->points[c[1]], d = patches->points[c[2]];
        srVec3 normal = srCross(srSub(b, a), srSub(d, a)), middle = srScale(1.0 / 3.0, srAdd(a, srAdd(b, d)));
        double area = 0.5 * srLength(normal);
        Way inwards = {middle, srScale(-0.5 / area, normal), start};
        double thickness = lengthOf(&inwards, patches, patch);
        if (!(area > 0.0) || !isfinite(thickness)) {
            continue;
        }
        middle = srMulAdd(middle, 0.5 * thickness, inwards.direction);
        bool isLeaf = widthAcross(patches, patch, middle, inwards.direction) >= LEAF_WIDTH * thickness;
        leaf += isLeaf ? area : 0.0;
        rope += isLeaf ? 0.0 : area;
    }
    return leaf >= rope;
}
