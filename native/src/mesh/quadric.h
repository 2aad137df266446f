// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sums of squared distances as one polynomial of a point (Garland and Heckbert 1997):
//
//   E(x) = x' A x - 2 b' x + c
//
// of planes n' x = d: A += w n n', b += w d n, c += w d^2; of points p: A += w I, b += w p, c += w p' p.
// Inner to decimate.c.

#pragma once

#include "math/vec3.h"

typedef struct srQuadric {
    double xx, yy, zz, xy, xz, yz; // A
    srVec3 b;
    double c;
} srQuadric;

static inline void srQuadric_AddPlane(srQuadric* q, srVec3 n, double d, double w) {
    q->xx += w * n.x * n.x, q->yy += w * n.y * n.y, q->zz += w * n.z * n.z;
    q->xy += w * n.x * n.y, q->xz += w * n.x * n.z, q->yz += w * n.y * n.z;
    q->b = srMulAdd(q->b, w * d, n);
    q->c += w * d * d;
}

static inline void srQuadric_AddPoint(srQuadric* q, srVec3 p, double w) {
    q->xx += w, q->yy += w, q->zz += w;
    q->b = srMulAdd(q->b, w, p);
    q->c += w * srDot(p, p);
}

static inline void srQuadric_Scale(srQuadric* q, double w) {
    q->xx *= w, q->yy *= w, q->zz *= w, q->xy *= w, q->xz *= w, q->yz *= w;
    q->b = srScale(w, q->b);
    q->c *= w;
}

static inline srQuadric srSumQuadrics(const srQuadric* p, const srQuadric* q) {
    return (srQuadric){p->xx + q->xx, p->yy + q->yy, p->zz + q->zz,     p->xy + q->xy,
                       p->xz + q->xz, p->yz + q->yz, srAdd(p->b, q->b), p->c + q->c};
}

/// E(x), not below zero.
static inline double srQuadric_At(const srQuadric* q, srVec3 x) {
    double square = q->xx * x.x * x.x + q->yy * x.y * x.y + q->zz * x.z * x.z +
                    2.0 * (q->xy * x.x * x.y + q->xz * x.x * x.z + q->yz * x.y * x.z);
    double value = square - 2.0 * srDot(q->b, x) + q->c;
    return value > 0.0 ? value : 0.0;
}

/// Where E is least, by Cholesky's A = L D L'; A is positive definite as soon as it has seen a point.
static inline srVec3 srQuadric_FindLeast(const srQuadric* q) {
    double lyx = q->xy / q->xx, lzx = q->xz / q->xx;
    double dy = q->yy - lyx * q->xy;
    double mzy = q->yz - lzx * q->xy, lzy = mzy / dy;
    double dz = q->zz - lzx * q->xz - lzy * mzy;
    double uy = q->b.y - lyx * q->b.x, uz = q->b.z - lzx * q->b.x - lzy * uy;
    double z = uz / dz;
    double y = uy / dy - lzy * z;
    return (srVec3){(q->b.x - q->xy * y - q->xz * z) / q->xx, y, z};
}
