// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the rig turns the flesh around each node: what gravity and a cut need to know. Translation and stretch
// are not known here.

#pragma once

#include "math/mat3.h"
#include "math/vec3.h"
#include "rig/skinning.h"

/// The orthogonal matrix nearest to the linear part of sum_k w_ik T_k: a rotation, or a reflection where that
/// mirrors. Exactly the identity where that is the identity; a rotation of some kind where it squashes flat.
/// `outTurns` has an entry a node.
void srTurnNodes(const srNodeWeights* weights, const srMat34* maps, srMat3* outTurns);

/// Which map carries the character: of the bones without a parent the one whose descendants (and itself)
/// carry most of the mass, or the skin object's own map (`boneCount`) when that carries more or there are no
/// bones. `parents` stand before their children.
int32_t srFindRootMap(const srNodeWeights* weights, const double* masses, const int32_t* parents,
                      int32_t boneCount);

/// R v
static inline srVec3 srTurnVector(const srMat3* R, srVec3 v) {
    return (srVec3){
        R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
        R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
        R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z,
    };
}

/// R' v
static inline srVec3 srTurnBack(const srMat3* R, srVec3 v) {
    return (srVec3){
        R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
        R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
        R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z,
    };
}
