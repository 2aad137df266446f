// SPDX-License-Identifier: GPL-3.0-or-later
//
// From frame to frame: what the worker does to a row, and all that only it uses. What a frame is made of
// (tape, controls, settings) is the shot's; a row depends on that and on the row before it alone, so that
// going on from any row gives what going through would.

#pragma once

#include "sim/body.h"
#include "sim/cache.h"
#include "sim/controls.h"
#include "sim/forces.h"
#include "sim/motion_space.h"
#include "sim/primary.h"
#include "sim/tape.h"

/// What a shot is simulated from. Nothing of it changes while a row is worked on.
typedef struct srShotSource {
    const srCharacter* character;
    srShotDef def;
    srTape tape;
    srControlTrack controls;
} srShotSource;

/// What the solver leaves to the animation, decided: never automatic.
int32_t srShotSource_FindComplement(const srShotSource* source);

/// Whether the first row depends on all others: a loop begins with what its end leaves, and a space of the
/// recorded motion is made of all of it.
bool srShotSource_NeedsAllRows(const srShotSource* source);

/// Owns its parts. Rows that are ready have their results in `cache`.
typedef struct srStepper {
    const srShotSource* source;
    srBody body;
    srPrimary primary;
    srForces forces;
    srMotionSpace space; ///< Zeroed until the recorded motion is what is left to the animation.
    srFrameCache cache;
    void* state; ///< Of `stateRow`.
    size_t stateSize;
    int32_t stateRow; ///< `SR_NULL_INDEX`: of no row.
    srVec3f* loopStart;
    float loopSeam; ///< As a share of the character's size.
    int32_t loopRounds;
    srResult failure;   ///< Of tuning ahead; doing the row tells.
    int32_t shapeCount; ///< Of the motion space that the first row was done with, and
    float shapesLeft;   ///< what it leaves of the deformation; zero for none.
} srStepper;

/// Asked in long work: false when it is to be given up.
typedef bool srIsWantedFcn(void* context);

/// `source` must outlive the stepper.
SR_MUST_USE srResult srCreateStepper(const srShotSource* source, srStepper* outStepper);

/// Accepts a zeroed stepper.
void srDestroyStepper(srStepper* stepper);

/// What is simulated from changed: no state is right any more from `firstVoidRow` on.
void srStepper_Forget(srStepper* stepper, int32_t firstVoidRow);

/// The tape changed within what was recorded, or is whole now.
void srStepper_ForgetMotion(srStepper* stepper);

/// Makes ready for the solver that the settings ask for, if it is not that one already; what was kept of
/// another's states is lost.
SR_MUST_USE srResult srStepper_Prepare(srStepper* stepper);

/// What doing `row` begins with where the settings changed, and takes longest then. What goes wrong, doing
/// the row tells.
void srStepper_TuneFor(srStepper* stepper, int32_t row);

/// What `row`, which is not done and not the first, may come to: goes on to it from a state that was kept a
/// few rows before, whatever it was simulated from. False when it was given up or cannot be.
bool srStepper_Foresee(srStepper* stepper, int32_t row, srIsWantedFcn* isWanted, void* context,
                       srVec3f* outOffsets);

/// One row; those before it are done. False when it was given up.
bool srStepper_DoRow(srStepper* stepper, int32_t row, srIsWantedFcn* isWanted, void* context);
