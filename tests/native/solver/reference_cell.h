// SPDX-License-Identifier: GPL-3.0-or-later
//
// The energy of one cell, written a second time and plainly: what the reference solver sums up. Shares
// nothing with the library.

#pragma once

typedef enum srReferenceModel {
    sr_referenceArap,
    sr_referenceCorotated,
    sr_referenceNeoHookean,
    sr_referenceStVenantKirchhoff,
} srReferenceModel;

/// One cubic metre of a material.
typedef struct srReferenceMaterial {
    srReferenceModel model;
    double lameMu;
    double lameLambda;
    double pressure; ///< By how much of itself it wants to be larger, as far as lambda tells; not in ARAP.
} srReferenceMaterial;

/// Q, the rotation that brings tr(Q' G) to its largest, by Horn's quaternion (1987).
void srReferenceRotation(double G[3][3], double outQ[3][3]);

/// psi(F), P = dpsi/dF and H[3i + j][3k + l] = dP_ij/dF_kl. S is the stretch that ARAP is measured against;
/// other models do not look at it. P and H may be null.
double srReferenceEnergy(const srReferenceMaterial* material, double F[3][3], double S[3][3],
                         double outP[3][3], double outH[9][9]);
