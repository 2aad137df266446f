// SPDX-License-Identifier: GPL-3.0-or-later
//
// The position-based methods behind one face, ours and the published ones: what each is, one shape, one set
// of dials, one step. How each works is in flesh.h (cells of a material, on top of a pose) and pbd.h
// (distances, volumes and bonds to bones, as published).

#pragma once

#include "solver/flesh.h"
#include "solver/pbd.h"

typedef enum srFamilyMethod {
    sr_familyFlesh, ///< Our own, which artists get.
    sr_familyCompliant,
    sr_familyCompliantJacobi,
    sr_familyOriginal,
    sr_familySubsteps,
    sr_familyBdf2,
    sr_familyMidpoint,
    sr_familyComplementary, ///< Behind skinning: compliant, with bonds to bones.
    sr_familySingleStep,    ///< The same as its algorithm is printed: each frame begins at the skinned pose.
    sr_familySkinned,       ///< Skinning, and the original from there in each frame: the baseline.
    SR_FAMILY_METHODS,
} srFamilyMethod;

/// What a method is, for tables and choices.
typedef struct srFamilyTraits {
    const char* name;
    bool isMatter;         ///< Cells of a material, measured against the pose; else constraints.
    bool isSoft;           ///< Stiffness comes from the material; else from the factor k and the iterations.
    bool wantsBones;       ///< Knows of the rig by bonds to bones.
    bool beginsAtPose;     ///< In each frame.
    srPbdMethod published; ///< Which one it is made of, unless it is ours.
} srFamilyTraits;

srFamilyTraits srDescribeFamily(srFamilyMethod method);

/// Arrays are copied, and may be null where it is said. Nodes and cells are for all methods.
typedef struct srFamilyShape {
    const srVec3* nodes;
    int32_t nodeCount;
    const int32_t (*cells)[4];
    int32_t cellCount;
    const int32_t (*edges)[2]; ///< Distances; of flesh ties, which act where dials set limits.
    int32_t edgeCount;
    const float* holds;         ///< 1 follows the pose exactly; less is of flesh alone. Null is none.
    const float* boneDistances; ///< Of flesh; null is far away.
    const srVec3* fibres;       ///< Of flesh, or null; see srFleshShape.
    int32_t handleCount;        ///< Of flesh; SR_USUAL_HANDLES is what artists get.
    const float* masses;        ///< Of constraints: kg, whatever holds say; null is the density's.
    const float* edgeFactors;   ///< Of constraints: of compliances, or null.
    const float* cellFactors;   ///< Likewise.
    const srVec3* boneEnds;     ///< Of constraints: two a bone, or null.
    int32_t boneCount;
} srFamilyShape;

/// Young's modulus, Poisson's ratio, density, damping, frames, substeps, sweeps (iterations), floor and
/// friction mean the same to all methods; what else `matter` has is flesh's own.
typedef struct srFamilyDials {
    srFleshDials matter;
    srVec3f gravity;             ///< Pulls all nodes (world units / s^2).
    const srPbdDials* published; ///< Of constraints: compliances, the factor k and the side of edges; null
                                 ///< takes compliances from the material, 1 and both sides.
} srFamilyDials;

typedef struct srFamily srFamily;

/// `sr_errorBadMesh` for an index out of range or a place that is not finite.
SR_MUST_USE srResult srCreateFamily(srFamilyMethod method, const srFamilyShape* shape, srFamily** outFamily);

/// Accepts null.
void srDestroyFamily(srFamily* family);

/// Before the first step, and whenever dials changed.
SR_MUST_USE srResult srFamily_Tune(srFamily* family, const srFamilyDials* dials);

/// Hz of the slowest swing, of flesh with handles; else zero. See srFleshTuning_FindFrequency.
double srFamily_FindFrequency(const srFamily* family);

/// See srFleshRest_FindContrast; 1 of constraints.
double srFamily_FindContrast(const srFamily* family, const float* stiffnessMap, const float* densityMap);

/// See srFleshTuning_ChooseSubsteps; 1 of constraints.
int32_t srFamily_ChooseSubsteps(const srFamily* family);

/// Where the frame leads: p, and the ends of bones. A method without pose may do without `primary`, one
/// without bones without `boneEnds`.
typedef struct srFamilyMotion {
    const srPrimaryMotion* primary;
    const srVec3f* boneEnds;
} srFamilyMotion;

/// One frame. A `state` of the caller's counts instead of the family's own, for flesh alone: it is all that a
/// frame depends on. Returns how many nodes had to be held or put back. Allocates nothing; no NaN comes out.
int32_t srFamily_StepFrame(srFamily* family, const srFamilyMotion* motion, srFleshState* state);

/// Puts nodes there, at rest; of flesh, relative to `pose`.
void srFamily_Place(srFamily* family, const srVec3f* positions, const srVec3f* pose);

/// Where nodes are; of flesh, on top of `pose`.
void srFamily_Read(const srFamily* family, const srVec3f* pose, srVec3f* outPositions);
