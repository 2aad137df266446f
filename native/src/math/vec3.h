// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points and directions of space, in double (preparing) and float (a frame), as values.

#pragma once

#include <math.h>

typedef struct srVec3 {
    double x, y, z;
} srVec3;

typedef struct srVec3f {
    float x, y, z;
} srVec3f;

static inline srVec3 srAdd(srVec3 a, srVec3 b) {
    return (srVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline srVec3 srSub(srVec3 a, srVec3 b) {
    return (srVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline srVec3 srScale(double s, srVec3 a) {
    return (srVec3){s * a.x, s * a.y, s * a.z};
}

/// a + s b
static inline srVec3 srMulAdd(srVec3 a, double s, srVec3 b) {
    return (srVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double srDot(srVec3 a, srVec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline srVec3 srCross(srVec3 a, srVec3 b) {
    return (srVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double srLength(srVec3 a) {
    return sqrt(srDot(a, a));
}

static inline double srDistance(srVec3 a, srVec3 b) {
    return srLength(srSub(a, b));
}

static inline srVec3 srMin(srVec3 a, srVec3 b) {
    return (srVec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}

static inline srVec3 srMax(srVec3 a, srVec3 b) {
    return (srVec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}

static inline srVec3f srAddF(srVec3f a, srVec3f b) {
    return (srVec3f){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline srVec3f srSubF(srVec3f a, srVec3f b) {
    return (srVec3f){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline srVec3f srScaleF(float s, srVec3f a) {
    return (srVec3f){s * a.x, s * a.y, s * a.z};
}

/// a + s b
static inline srVec3f srMulAddF(srVec3f a, float s, srVec3f b) {
    return (srVec3f){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline float srDotF(srVec3f a, srVec3f b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline srVec3f srCrossF(srVec3f a, srVec3f b) {
    return (srVec3f){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float srLengthF(srVec3f a) {
    return sqrtf(srDotF(a, a));
}

static inline srVec3f srToFloat(srVec3 a) {
    return (srVec3f){(float)a.x, (float)a.y, (float)a.z};
}

static inline srVec3 srToDouble(srVec3f a) {
    return (srVec3){(double)a.x, (double)a.y, (double)a.z};
}
