// SPDX-License-Identifier: GPL-3.0-or-later
//
// Position-based dynamics as it was published, for comparison: the compliant method with Gauss-Seidel or
// Jacobi commitment, the original with its stiffness factor, its substepped and its second-order variant; and
// with bones, the two ways to put it behind linear blend skinning. What artists get is flesh.h.
//
// Positions x, not offsets: here nothing knows of a pose but through bonds to bones.

#pragma once

#include "core/error.h"
#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum srPbdMethod {
    sr_pbdCompliant,       ///< One constraint after another, each with its multiplier.
    sr_pbdCompliantJacobi, ///< All from the same positions, committed together.
    sr_pbdOriginal,        ///< Müller et al. 2007: hard constraints, a share k of each correction.
    sr_pbdSubsteps,        ///< The same, one iteration in each of many substeps (Macklin et al. 2019).
    sr_pbdBdf2,            ///< The same, on a second-order prediction (Bender et al. 2015).
    sr_pbdMidpoint, ///< Compliant, solved at the middle of each step, from where a straight line goes on to
                    ///< its end: with enough iterations it keeps energy. The floor is only felt in the
                    ///< middle.
} srPbdMethod;

/// Which way a distance pushes.
typedef enum srPbdSide {
    sr_pbdBothSides,
    sr_pbdPullsOnly, ///< A rope: only when too long.
    sr_pbdPushesOnly,
} srPbdSide;

/// Arrays are copied. Edges and cells must name existing nodes.
typedef struct srPbdShape {
    const srVec3* nodes;
    int32_t nodeCount;
    const int32_t (*edges)[2];
    int32_t edgeCount;
    const int32_t (*cells)[4];
    int32_t cellCount;
    const float* masses;          ///< kg; null is 1 for all; what is not positive stays where it is put.
    const float* edgeCompliances; ///< Factors of the dial, for anisotropic matter; null is 1 for all.
    const float* cellCompliances;
    const srVec3* boneEnds; ///< Two a bone, at rest; null without bones.
    int32_t boneCount;
} srPbdShape;

typedef struct srPbdDials {
    srPbdMethod method;
    double edgeCompliance;   ///< m/N
    double volumeCompliance; ///< m^5/N, of the volume itself
    double boneCompliance;   ///< m/N; negative: no bonds to bones.
    double dampingRate;      ///< 1/s: free motion shrinks as exp(-dampingRate t) and so a swing as
                             ///< exp(-dampingRate t / 2), whatever the step. What steps take of a swing by
                             ///< themselves comes on top: of one of omega 1/s compliant ones shrink it by
                             ///< h omega^2 / 2 a second more, as published; those of the midpoint by nothing.
    double stiffness;        ///< k of the methods that have it, 0 to 1.
    int32_t iterations;      ///< In each step.
    int32_t substeps;        ///< Steps in a frame: 1 but for sr_pbdSubsteps.
    double frameSeconds;
    srVec3f gravity;
    srPbdSide edgeSide;
    bool hasFloor; ///< Nothing sinks below y = floorHeight.
    double floorHeight;
    double friction;       ///< Coulomb's coefficient on the floor.
    bool forgetsEachFrame; ///< x <- the skinned pose at the start of each frame, as the published single step
                           ///< has it.
} srPbdDials;

typedef struct srPbd srPbd;

/// `sr_errorBadMesh` for an index out of range or a place that is not finite.
SR_MUST_USE srResult srCreatePbd(const srPbdShape* shape, srPbd** outPbd);

/// Accepts null.
void srDestroyPbd(srPbd* pbd);

/// What is not positive stays where it is put.
void srPbd_SetMass(srPbd* pbd, int32_t node, float mass);

/// Puts nodes there, at rest.
void srPbd_Place(srPbd* pbd, const srVec3f* positions);

/// One frame. `boneEnds` is where bones are at its end (null without bones), `skinned` where skinning puts
/// the nodes: those that have no mass go there, the others if `forgetsEachFrame`; null leaves them. Allocates
/// nothing. Returns how many nodes were not finite and were put back to where they began.
int32_t srPbd_StepFrame(srPbd* pbd, const srPbdDials* dials, const srVec3f* boneEnds, const srVec3f* skinned);

void srPbd_Read(const srPbd* pbd, srVec3f* outPositions);
