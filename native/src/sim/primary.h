// SPDX-License-Identifier: GPL-3.0-or-later
//
// The primary motion of the cage along the tape: where the rig puts the nodes at three frames in a row, and
// what the solver wants to know of it.

#pragma once

#include "core/error.h"
#include "math/mat3.h"
#include "sim/character.h"
#include "sim/tape.h"

/// The rig's motion over one frame, and what pushes meanwhile. One entry a node.
typedef struct srNodeMotion {
    const srVec3* from;          ///< At the last frame, relative to the same origin as `to`, near the nodes.
    const srVec3* to;            ///< At this frame.
    const srVec3* velocityJump;  ///< How much the rig's velocity differs from that of the frame before.
    const srVec3f* acceleration; ///< By outside forces, all through the frame. Null: none.
    double pressure;             ///< By how much of itself flesh wants to be larger.
    const srMat3* turns; ///< How the rig turned the flesh around each node in this frame. Null: not asked.
    bool isProvisional;  ///< About where the flesh goes will do: nothing follows from this step.
} srNodeMotion;

/// Owns its arrays.
typedef struct srPrimary {
    srVec3* places[3]; ///< Nodes in the world at the frame before the last, the last, and this one.
    srMat34 roots[3];  ///< Likewise the map of the character's root.
    srMat34* maps;     ///< The rig's maps of this frame.
    srMat3* turns[2];  ///< Scratch: of nodes, at two frames.
    srVec3* from;      ///< See `srNodeMotion`.
    srVec3* to;
    srVec3* velocityJump;
    int32_t nodeCount;
    int32_t mapCount;
    int32_t rows[3];   ///< Whose places those are; `SR_NULL_INDEX` for nobody's.
    int32_t turnedRow; ///< Whose turns `turns[1]` are, likewise.
} srPrimary;

SR_MUST_USE srResult srCreatePrimary(const srCharacter* character, srPrimary* outPrimary);

/// Accepts a zeroed primary.
void srDestroyPrimary(srPrimary* primary);

/// Where the rig, or whatever the skin follows, puts the nodes at a row, in the world. Fills `maps` too:
/// those of the rig.
void srPlacePrimary(const srCharacter* character, const srTape* tape, int32_t row, srMat34* maps,
                    srVec3* outPlaces);

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

/// The motion from one row to another. Cheapest when rows are asked for in order. `acceleration` and
/// `turns` stay null.
srNodeMotion srPrimary_Move(srPrimary* primary, const srCharacter* character, const srTape* tape,
                            const srPrimaryStep* step);

/// Rows changed: nothing that is remembered of them is right any more.
void srPrimary_Forget(srPrimary* primary);

/// By how much each node is to be turned with the root, for what is not felt of the root's turning in the
/// last step. Fills `turns[0]`.
const srMat3* srPrimary_TurnWithRoot(srPrimary* primary, double travelFelt);

/// How the flesh around each node turned in the step that srPrimary_Move was asked for last, beyond what
/// srPrimary_TurnWithRoot says of it. Fills `turns`.
const srMat3* srPrimary_TurnStep(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                 const srPrimaryStep* step);

/// How the flesh around each node turns when the rig jumps from one row to another. Fills `turns`.
const srMat3* srPrimary_TurnAcross(srPrimary* primary, const srCharacter* character, const srTape* tape,
                                   int32_t fromRow, int32_t toRow);
