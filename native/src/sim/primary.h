// SPDX-License-Identifier: GPL-3.0-or-later
//
// The primary motion of the cage along the tape: where the rig puts the nodes at three frames in a row, and
// what the solver wants to know of it.

#pragma once

#include "core/error.h"
#include "math/mat3.h"
#include "sim/character.h"
#include "sim/tape.h"
#include "solver/xpbd.h"

/// Owns its arrays.
typedef struct srPrimary {
    srVec3* places[3]; ///< Nodes in the world at the frame before the last, the last, and this one.
    srMat34 roots[3];  ///< Likewise the map of the character's root.
    srMat34* maps;     ///< The rig's maps of this frame.
    srMat3* turns[2];  ///< Scratch: of nodes, at two frames.
    srVec3f* from;     ///< See `srPrimaryMotion`.
    srVec3f* to;
    srVec3f* velocityJump;
    int32_t nodeCount;
    int32_t mapCount;
    int32_t rows[3]; ///< Whose places those are; `SR_NULL_INDEX` for nobody's.
} srPrimary;

SR_MUST_USE srResult srCreatePrimary(const srCharacter* character, srPrimary* outPrimary);

/// Accepts a zeroed primary.
void srDestroyPrimary(srPrimary* primary);

/// Which frames come before the last one: one row may follow another that is not the one before it.
typedef struct srPrimaryStep {
    int32_t before; ///< `SR_NULL_INDEX`: the rig is taken to have moved as it does now, so that a shot (or
                    ///< what follows a cut) that begins in full motion begins without a kick.
    int32_t last;
    int32_t now;
    int32_t seam; ///< `before` is the row before this one, which shows the pose of `last` elsewhere (the last
                  ///< row of a loop). `SR_NULL_INDEX`: it is the one before `last`.
    double frameSeconds;
    double travelFelt; ///< 0 to 1: see srFrameControls.
} srPrimaryStep;

/// The motion from one row to another. Cheapest when rows are asked for in order. `acceleration` stays null.
srPrimaryMotion srPrimary_Move(srPrimary* primary, const srCharacter* character, const srTape* tape,
                               const srPrimaryStep* step);

/// Turns vectors of nodes (offsets, velocities) with the root, by what is not felt of its turning in the last
/// step.
void srPrimary_TurnWithRoot(const srPrimary* primary, double travelFelt, srVec3f* vectors,
                            srVec3f* otherVectors);

/// Takes vectors of nodes (offsets, velocities) along when the rig jumps from one row to another: each is
/// turned as the flesh around its node.
void srPrimary_Carry(srPrimary* primary, const srCharacter* character, const srTape* tape, int32_t fromRow,
                     int32_t toRow, srVec3f* vectors, srVec3f* otherVectors);
