// SPDX-License-Identifier: GPL-3.0-or-later
//
// Scenes that tests and benches share: a bar of regular cells for the solver alone, and two characters with
// bones and motions for a whole shot. Needs no test framework. Memory is the C library's own, so that the
// library's byte count tells of the library alone; only cages and what the solver keeps come from it.

#pragma once

#include "mesh/cage.h"
#include "sim/character.h"
#include "softrig/character.h"
#include "solver/xpbd.h"

#define SR_TEST_FRAME_RATE 24.0

/// counts[0] x counts[1] x counts[2] cubes of edge `spacing`, six cells each, one corner in the origin.
SR_MUST_USE srResult srTestCreateBarCage(const int32_t counts[3], double spacing, srCage* outCage);

/// Flesh for the solver: a bar that stands on the plane y = 0, where it is held hard; nothing else is held.
typedef struct srTestBody {
    srCage cage;
    srXpbdRest rest;
    srXpbdTuning tuning;
    srXpbdState state;
    srVec3f* from; ///< The motion of the next frame; at first the rest pose, at rest.
    srVec3f* to;
    srVec3f* velocityJump;
} srTestBody;

SR_MUST_USE srResult srTestCreateBody(const int32_t counts[3], double spacing, srTestBody* outBody);

/// Accepts a zeroed body.
void srTestDestroyBody(srTestBody* body);

/// 2 Hz, settles in 24 frames, Poisson 0.45, E by the size, 10 substeps; for a bar of that spacing.
srXpbdDials srTestDials(const srTestBody* body);

void srTestBody_Tune(srTestBody* body, const srXpbdDials* dials);
int32_t srTestBody_Step(srTestBody* body);

/// The rig moves sideways in a sine of `amplitude` and `hertz`: frame `frame`, from 1 on.
void srTestBody_Shake(srTestBody* body, int32_t frame, double amplitude, double hertz);

/// A character with bones, all in one armature, and where it stands.
typedef struct srTestScene {
    srCharacterDef def;  ///< Its arrays are the scene's.
    float placement[16]; ///< World matrix of the skin object and of the armature, at first the identity.
} srTestScene;

/// A bar of 2 x 8 x 2 cubes of 0.125 along y, on two bones one above the other; with its own cage. False when
/// there is no memory.
bool srTestCreateBarScene(srTestScene* outScene);

/// A round body of radius 0.5 in the origin on a root bone, and a tail of three loose bones along x to 1.5.
/// The library makes the cage: about 300 nodes.
bool srTestCreateTailScene(srTestScene* outScene);

/// The character of a scene, to be destroyed by the caller. False where it cannot be made.
bool srTestPrepareScene(const srTestScene* scene, srCharacter* outCharacter);

/// Accepts a zeroed scene.
void srTestDestroyScene(srTestScene* scene);

typedef enum srTestMotion {
    srTestRest,
    srTestShake, ///< Sideways, 0.1 at 2 Hz, growing over the first half second.
    srTestStop,  ///< A jump along x: 1.0 in half a second, at constant speed, then still.
    srTestBend,  ///< The last bone turns by a right angle in half a second, and stays.
} srTestMotion;

int32_t srTestScene_GetRowFloatCount(const srTestScene* scene);

/// Rows of the tape at the frame rate above; row 0 is the first frame.
void srTestScene_WriteRows(const srTestScene* scene, srTestMotion motion, int32_t firstRow, int32_t rowCount,
                           float* outRows);
