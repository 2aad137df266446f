// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small-step compliant position-based dynamics (XPBD) of the secondary motion u on top of a prescribed
// primary motion p: edges, volumes and bonds to the pose. Index arrays, not meshes.
//
// x = p + u. The rig's motion enters twice: its change of velocity pushes u the other way (inertia), and
// stretch is measured against the *posed* shape, so that u = 0 is at rest in every held pose, to the bit.
//
// symbols: p primary, u offset, w its velocity, h substep, m mass, alpha compliance, C constraint value

#pragma once

#include "core/error.h"
#include "elastic/material.h"
#include "math/vec3.h"
#include "solver/chunks.h"

#include <stdint.h>

/// What never changes, in rest units (skin space). Owns its arrays. Constraints are stored in the order in
/// which they are solved.
typedef struct srXpbdRest {
    int32_t nodeCount;
    float* nodeVolumes; ///< A quarter of each cell's volume to each corner.
    float* holds;       ///< 0 to 1; 1 follows the rig exactly.
    float* boneDistances;
    int32_t (*edges)[2];
    float* edgeLengths;
    float* edgeVolumes; ///< A sixth of each cell's volume to each of its edges.
    srChunks edgeChunks;
    int32_t (*cells)[4];
    float* cellVolumes;
    srChunks cellChunks;
} srXpbdRest;

/// Everything is copied. Cells must have positive volume, edges must be all edges of the cells, ascending.
typedef struct srXpbdShape {
    const srVec3* nodes;
    int32_t nodeCount;
    const int32_t (*edges)[2];
    int32_t edgeCount;
    const int32_t (*cells)[4];
    int32_t cellCount;
    const float* holds;
    const float* boneDistances;
    const srChunks* edgeChunks; ///< Null: they are made. Else of these edges and cells.
    const srChunks* cellChunks;
} srXpbdShape;

SR_MUST_USE srResult srCreateXpbdRest(const srXpbdShape* shape, srXpbdRest* outRest);

/// Accepts a zeroed rest.
void srDestroyXpbdRest(srXpbdRest* rest);

/// What the artist painted, one number a node; a null map changes nothing.
typedef struct srXpbdMaps {
    const float* stiffness; ///< Factors, above 0, on Young's modulus and on the pull to the pose. Likewise:
    const float* mass;
    const float* damping;
    const float* hold; ///< 0 to 1: at least so much a node obeys its bone.
    const float* pin;  ///< Likewise.
} srXpbdMaps;

/// From here on a node follows its bone exactly.
#define SR_HARD_HOLD 0.999f

/// How far a node is painted to obey, by either map.
float srFindPaintedHold(const srXpbdMaps* maps, int32_t node);

/// What paint short of a hard hold is: how many times as hard the pull to the pose is. Flesh that resists by
/// itself as much as the pull does then swings 1 - paint of its way.
double srFindPaintedPull(const srXpbdMaps* maps, int32_t node);

/// How far a node obeys its bone: what the hold map says, or 1 where it is painted to obey exactly.
float srFindHold(const srXpbdRest* rest, const srXpbdMaps* maps, int32_t node);

/// Material and dials, as a step needs them.
typedef struct srXpbdDials {
    srMaterial material;
    srXpbdMaps maps;       ///< Only looked at while tuning.
    double scale;          ///< World units a rest unit.
    bool isMirrored;       ///< The world sees the rest shape in a mirror: volumes are negative there.
    double frequency;      ///< Hz of the pull to the pose.
    double dampingRate;    ///< 1/s: a swing shrinks as exp(-dampingRate t / 2), and w alone twice as fast.
    double poseCorrection; ///< 0 to 1.
    double frameSeconds;
    double largestOffset; ///< Offsets are held within this, in world units.
    int32_t substeps;
} srXpbdDials;

/// The dials spread over nodes and constraints. Owns its arrays.
typedef struct srXpbdTuning {
    srXpbdDials dials;
    float* velocitiesLeft;  ///< What one substep of damping leaves of w.
    float* inverseMasses;   ///< 0 for what follows the rig exactly.
    float* bondFactors;     ///< What one substep of the bond leaves of u.
    float* edgeCompliances; ///< alpha / h^2
    float* cellCompliances; ///< alpha / h^2
} srXpbdTuning;

/// Room for the tuning of a rest.
SR_MUST_USE srResult srCreateXpbdTuning(const srXpbdRest* rest, srXpbdTuning* outTuning);
void srDestroyXpbdTuning(const srXpbdRest* rest, srXpbdTuning* tuning);
void srXpbdTuning_Set(srXpbdTuning* tuning, const srXpbdRest* rest, const srXpbdDials* dials);

/// What moves. The arrays are the caller's: `offsets` and `velocities` hold the last frame on entry and the
/// new one on return; the others are scratch.
typedef struct srXpbdState {
    srVec3f* offsets;    ///< u
    srVec3f* velocities; ///< w
    srVec3f* previous;   ///< u before the substep
    srVec3f* primary;    ///< p of the substep, relative to an origin near the character
} srXpbdState;

/// The rig's motion over one frame. All arrays one entry a node.
typedef struct srPrimaryMotion {
    const srVec3f* from;         ///< p at the last frame, relative to the same origin as `to`.
    const srVec3f* to;           ///< p at this frame.
    const srVec3f* velocityJump; ///< How much the rig's velocity differs from that of the frame before.
    const srVec3f* acceleration; ///< By what pushes from outside, all through the frame. Null: nothing does.
} srPrimaryMotion;

/// One frame. Returns how many nodes had to be held within `largestOffset`. Allocates nothing; no input gives
/// a NaN.
int32_t srXpbd_StepFrame(const srXpbdRest* rest, const srXpbdTuning* tuning, const srPrimaryMotion* motion,
                         srXpbdState* state);
