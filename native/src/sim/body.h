// SPDX-License-Identifier: GPL-3.0-or-later
//
// The flesh of a shot behind one face, whichever solver moves it: dials in the artist's units, a state that
// is nothing but bytes, one step a frame. Each solver's half stands in a file of its own, body_*.c.

#pragma once

#include "core/error.h"
#include "math/mat3.h"
#include "math/span.h"
#include "sim/character.h"
#include "sim/primary.h"
#include "softrig/shot.h"

/// What dials mean at a row: the object may grow, shrink and turn inside out from frame to frame.
typedef struct srBodySettings {
    srShotParams params;
    double frameRate;
    double scale;        ///< World units a unit of skin space.
    double size;         ///< Of the character, in the world.
    bool isMirrored;     ///< The world sees the rest shape in a mirror.
    const srSpan* space; ///< What the recorded motion is made of; the owner's.
    uint64_t spaceHash;  ///< Of its vectors.
} srBodySettings;

/// One solver. `self` is what its `create` made; a state has `getStateSize` bytes at a multiple of 64, and
/// all zeros is rest.
typedef struct srBodyKind {
    srResult (*create)(const srCharacter* character, const srShotParams* params, void** outSelf);
    void (*destroy)(void* self); ///< Accepts null.
    size_t (*getStateSize)(const void* self);
    srResult (*tune)(void* self, const srBodySettings* settings);
    void (*step)(void* self, const srNodeMotion* motion, void* state, srFrameStats* stats);
    void (*readOffsets)(const void* self, const void* state, srVec3f* outOffsets);
    void (*turn)(const void* self, const srMat3* turns, void* state);
    bool knowsTurns; ///< Wants `turns` of a motion.
} srBodyKind;

extern const srBodyKind srXpbdBody;
extern const srBodyKind srFleshBody;
extern const srBodyKind srComplementaryBody;

typedef struct srBody {
    const srBodyKind* kind;
    void* self;
    int32_t solver;
    int32_t swings;
    bool isTuned;
    srBodySettings settings; ///< Of the last tuning.
} srBody;

/// `character` must outlive the body. Of the dials only those count that decide what a state holds.
SR_MUST_USE srResult srCreateBody(const srCharacter* character, const srShotParams* params, srBody* outBody);

/// Whether states of this body go with these dials.
bool srBody_IsFor(const srBody* body, const srShotParams* params);

/// Accepts a zeroed body.
void srDestroyBody(srBody* body);

size_t srBody_GetStateSize(const srBody* body);

/// Does nothing when the settings are those of the last tuning.
SR_MUST_USE srResult srBody_Tune(srBody* body, const srBodySettings* settings);

/// Moves the state on by a frame. Allocates nothing; no input gives a NaN.
void srBody_Step(srBody* body, const srNodeMotion* motion, void* state, srFrameStats* outStats);

void srBody_ReadOffsets(const srBody* body, const void* state, srVec3f* outOffsets);

/// Turns all that the state knows of a node: `turns` has an entry a node.
void srBody_Turn(const srBody* body, const srMat3* turns, void* state);

/// Factors of nodes as means of cells, for kinds whose materials are of cells; null, for 1, stays null.
const float* srSpreadOverCells(const srCharacter* character, const float* nodeFactors, float* outCellFactors);
