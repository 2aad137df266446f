// SPDX-License-Identifier: GPL-3.0-or-later
//
// What pushes the flesh from outside: gravity, relative to the shape as it was modelled, and wind on the
// cage's skin. From the controls of a frame and the pose to one acceleration a node.

#pragma once

#include "core/error.h"
#include "math/mat3.h"
#include "mesh/boundary.h"
#include "sim/character.h"
#include "softrig/shot.h"

/// Owns its arrays.
typedef struct srForces {
    srBoundary skin;        ///< Of the cage.
    srVec3f* accelerations; ///< One a node, in world units / s^2.
    srMat3* turns;          ///< Scratch.
    int32_t nodeCount;
} srForces;

SR_MUST_USE srResult srCreateForces(const srCharacter* character, srForces* outForces);

/// Accepts zeroed forces.
void srDestroyForces(srForces* forces);

/// A frame, as the forces see it.
typedef struct srForcesFrame {
    const srFrameControls* controls;
    const float* restGravity; ///< In skin space: what the modelled shape already yields to.
    const srMat34* maps;      ///< The rig's, at this frame.
    const srVec3* places;     ///< Of the nodes in the pose, relative to any origin.
    double seconds;           ///< Of the frame since the shot's first.
    double size;              ///< Of the character in the world: gusts are as large.
    double volumeScale;       ///< World volumes a rest volume.
    double density;           ///< kg / m^3
} srForcesFrame;

/// Null when nothing pushes: then the solver has less to do.
const srVec3f* srForces_Find(srForces* forces, const srCharacter* character, const srForcesFrame* frame);
