// SPDX-License-Identifier: GPL-3.0-or-later
//
// A slow second opinion on complementary dynamics: full Newton on the whole saddle-point system of the true
// energy, dense, in double, with the line search of a textbook. It knows places and velocities in the world,
// where the library's solver knows offsets along the rig's way; the two share nothing but the structs of
// their input.

#pragma once

#include "reference_cell.h"

#include "solver/complementary.h"

typedef struct srReference {
    const srComplementaryShape* shape; ///< The caller's.
    srComplementaryDials dials;
    srReferenceMaterial material;
    int32_t nodeCount;
    int32_t rowCount;
    double* volumes; ///< Of cells.
    double (*inverses)[3][3];
    double* masses;
    double* rows;             ///< Of C, orthonormal, dense.
    const int32_t* patches;   ///< Of which patch a cell's volume is part; the caller's, null for none.
    double pressure;          ///< By how much of itself flesh wants to be larger.
    double* patchStiffnesses; ///< A patch; likewise:
    double* targets;          ///< Of its volume.
    double* way;              ///< Of one patch's volume: its gradient.
    double* primary;          ///< p at the end of the substep; three numbers a node, as likewise:
    double* offsets;          ///< u
    double* before;           ///< u one substep ago
    double* places[2];        ///< x now and one substep ago,
    double* speeds[2];        ///< its velocity likewise.
    double* inertia[2];       ///< What inertia wants x to be; what damping wants u to be.
    double* pulls;
    double (*stretches)[3][3]; ///< S of a cell.
    double* gradient;
    double* hessian;
    double* system;    ///< [H C'; C 0 | -g], row by row.
    double residual;   ///< |P g| at the end of the last substep, over that at its start.
    int32_t stepCount; ///< Newton steps since the start.
} srReference;

/// A cage in world units, at rest in its modelled shape.
void srCreateReference(const srComplementaryShape* shape, srReference* outReference);
void srDestroyReference(srReference* reference);

/// Tolerances and limits of the dials are not looked at; neither are scale and mirror.
void srReference_Tune(srReference* reference, const srComplementaryDials* dials, srReferenceModel model);

/// At rest at these places.
void srReference_Begin(srReference* reference, const srVec3* places);

/// One frame, in a straight line. `forces` may be null.
void srReference_Step(srReference* reference, const srVec3* from, const srVec3* to, const srVec3* forces);

/// The offsets at which nothing moves any more, found from those of now.
void srReference_Settle(srReference* reference, const srVec3* places, const srVec3* forces);
