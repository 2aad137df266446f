// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells give a body no spin, but steps do: forces that are taken late, after places have moved on, brake it
// (docs/decisions/0017), and so does what a sweep leaves unsolved. What a substep gave or took is given back
// as one turn of all velocities, omega x (x - centre), which stretches nothing; and what rounding gave or
// took of straight motion as one move.
//
// With X the pose and p its velocity, the spin is sum m (X + u) x (p + w), less that of the mean. The part
// that is not of the pose alone,
//   sum m (X x w + u x (p + w)),
// does what the whole does, because the pose goes straight on; and it is exactly zero where nothing moves.

#include "solver/flesh_spin.h"

#include <math.h>

#define LARGEST 1e15 // of what a motion may say; steps leave larger numbers out, and then nothing is foreseen
#define LEAST_SPREAD                                                                                         \
    1e-12 // of the cube of the mean moment of inertia: what is a line has no turn about itself

// Sums over nodes, by mass
typedef struct Sums {
    double mass;
    srVec3 X;
    srVec3 p;
    srVec3 u;
    srVec3 w;
    srVec3 spin;
    double moments[6]; // of X + u: xx, yy, zz, xy, yz, zx
} Sums;

typedef struct Node {
    double mass;
    srVec3 X;
    srVec3 p;
    srVec3 u;
    srVec3 w;
} Node;

static srVec3 toVector(const float* row) {
    return (srVec3){(double)row[0], (double)row[1], (double)row[2]};
}

static bool readNode(const srSpinStep* step, int32_t i, Node* out) {
    double weight = (double)step->tuning->weights[i];
    if (!(weight > 0.0)) {
        return false;
    }
    srVec3 from = srToDouble(step->motion->from[i]);
    srVec3 way = srSub(srToDouble(step->motion->to[i]), from);
    size_t at = SR_ROW_FLOATS * (size_t)i;
    *out = (Node){
        .mass = (double)step->tuning->carries[i] / weight,
        .X = srScale((double)step->toRest, srMulAdd(from, (double)step->fraction, way)),
        .p = srScale((double)step->toRest / step->tuning->dials.frameSeconds, way),
        .u = toVector(step->starts + at),
        .w = toVector(step->velocities + at),
    };
    return true;
}

static void addNode(const Node* node, Sums* sums) {
    double m = node->mass;
    srVec3 x = srAdd(node->X, node->u);
    sums->mass += m;
    sums->X = srMulAdd(sums->X, m, node->X);
    sums->p = srMulAdd(sums->p, m, node->p);
    sums->u = srMulAdd(sums->u, m, node->u);
    sums->w = srMulAdd(sums->w, m, node->w);
    sums->spin = srMulAdd(sums->spin, m, srCross(node->X, node->w));
    sums->spin = srMulAdd(sums->spin, m, srCross(node->u, srAdd(node->p, node->w)));
    const double products[6] = {x.x * x.x, x.y * x.y, x.z * x.z, x.x * x.y, x.y * x.z, x.z * x.x};
    for (int k = 0; k < 6; ++k) {
        sums->moments[k] += m * products[k];
    }
}

// about the centre of mass
static srVec3 findSpin(const Sums* sums) {
    srVec3 mean = srCross(sums->X, sums->w);
    mean = srAdd(mean, srCross(sums->u, srAdd(sums->p, sums->w)));
    return srMulAdd(sums->spin, sums->mass > 0.0 ? -1.0 / sums->mass : 0.0, mean);
}

// what a substep leaves of a node's velocity by damping alone
static double findKept(const srSpinStep* step, double carry) {
    if (step->earlier == NULL) {
        return 1.0 + (carry - 1.0) / step->tuning->theta;
    }
    // z^2 = carry (4 z - 1) / 3
    return (2.0 * carry + sqrt(fmax(4.0 * carry * carry - 3.0 * carry, 0.0))) / 3.0;
}

// What a node's velocity would be at the end of the substep if no other touched it
static srVec3 foreseeVelocity(const srSpinStep* step, int32_t i, double carry, srVec3 w) {
    if (step->earlier == NULL) {
        return srScale(findKept(step, carry), w);
    }
    srVec3 earlier = toVector(step->earlier + SR_ROW_FLOATS * (size_t)i);
    return srScale(carry / 3.0, srSub(srScale(4.0, w), earlier));
}

srMomenta srFlesh_ForeseeMomenta(const srSpinStep* step) {
    Sums sums = {0};
    srVec3 straight = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < step->rest->nodeCount; ++i) {
        Node node;
        if (!readNode(step, i, &node)) {
            continue;
        }
        double carry = (double)step->tuning->carries[i];
        srVec3 load = {0.0, 0.0, 0.0};
        if (step->loads != NULL) {
            load = srScale(carry * step->tuning->h * (double)step->toRest, srToDouble(step->loads[i]));
        }
        double told = srDot(node.X, node.X) + srDot(node.p, node.p) + srDot(load, load);
        node.mass = told < LARGEST * LARGEST ? node.mass : (double)NAN;
        // a step of second order takes two thirds of it now, and what is left of the last
        double share = step->earlier == NULL ? 1.0 : 2.0 / 3.0;
        srVec3 alone = srMulAdd(foreseeVelocity(step, i, carry, node.w), share, load);
        straight = srMulAdd(straight, node.mass, alone);
        node.w = srMulAdd(load, findKept(step, carry), node.w);
        addNode(&node, &sums);
    }
    return (srMomenta){straight, findSpin(&sums)};
}

// What turns a body of these moments, about its centre, so that it has that spin more; zero if that is not
// to be told
static srVec3 findTurn(const Sums* sums, srVec3 centre, srVec3 spin) {
    const double* Q = sums->moments;
    double M = sums->mass;
    double xx = Q[0] - M * centre.x * centre.x, yy = Q[1] - M * centre.y * centre.y;
    double zz = Q[2] - M * centre.z * centre.z, xy = Q[3] - M * centre.x * centre.y;
    double yz = Q[4] - M * centre.y * centre.z, zx = Q[5] - M * centre.z * centre.x;
    srVec3 a = {yy + zz, -xy, -zx}, b = {-xy, zz + xx, -yz}, c = {-zx, -yz, xx + yy};
    srVec3 bc = srCross(b, c);
    double det = srDot(a, bc);
    double mean = (xx + yy + zz) / 3.0;
    srVec3 turn =
        srScale(1.0 / det, (srVec3){srDot(bc, spin), srDot(srCross(c, a), spin), srDot(srCross(a, b), spin)});
    bool isKnown = det > LEAST_SPREAD * mean * mean * mean && isfinite(srDot(turn, turn));
    return isKnown ? turn : (srVec3){0.0, 0.0, 0.0};
}

void srFlesh_KeepMomenta(const srSpinStep* step, const srMomenta* foreseen) {
    Sums sums = {0};
    for (int32_t i = 0; i < step->rest->nodeCount; ++i) {
        Node node;
        if (readNode(step, i, &node)) {
            addNode(&node, &sums);
        }
    }
    srVec3 missing = srSub(foreseen->spin, findSpin(&sums));
    srVec3 move = srScale(1.0 / sums.mass, srSub(foreseen->straight, sums.w));
    double size = srDot(missing, missing) + srDot(move, move);
    if (!(size > 0.0) || !isfinite(size)) {
        return;
    }
    srVec3 centre = srScale(1.0 / sums.mass, srAdd(sums.X, sums.u));
    srVec3 turn = findTurn(&sums, centre, missing);
    for (int32_t i = 0; i < step->rest->nodeCount; ++i) {
        Node node;
        if (readNode(step, i, &node)) {
            srVec3 away = srSub(srAdd(node.X, node.u), centre);
            srVec3 w = srAdd(node.w, srAdd(move, srCross(turn, away)));
            float* row = step->velocities + SR_ROW_FLOATS * (size_t)i;
            row[0] = (float)w.x;
            row[1] = (float)w.y;
            row[2] = (float)w.z;
        }
    }
}
