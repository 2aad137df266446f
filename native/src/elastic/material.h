// SPDX-License-Identifier: GPL-3.0-or-later
//
// What flesh is made of: from what artists and engineers say (how fast it swings, Young's modulus, Poisson's
// ratio) to the moduli that one element needs. One element at a time; no loops over meshes.

#pragma once

typedef struct srMaterial {
    double youngModulus; ///< Pa: resistance to stretch.
    double shearModulus; ///< Pa.
    double bulkModulus;  ///< Pa: resistance to a change of volume; infinite at Poisson's ratio 0.5.
    double density;      ///< kg/m^3
} srMaterial;

/// How a cell stores energy (energies.inl).
typedef enum srElasticModel {
    sr_elasticArap, ///< mu |F - R|^2, as rigid as possible: it keeps no volume by itself.
    sr_elasticCorotated,
    sr_elasticNeoHookean,
    sr_elasticStVenantKirchhoff,
} srElasticModel;

/// Lame's lambda, at most `SR_LARGEST_LAMBDA` times the shear modulus (Poisson's ratio 0.49): beyond that
/// solvers only become slower, as volume changes by a hundredth of the strain.
double srLameLambda(const srMaterial* material);

/// What one linear cell may keep of lambda: all of it up to Poisson's ratio 0.45, from there on less and
/// less, down to mu at 0.49 and above, because it would lock. The rest is for patches of cells. Nothing in
/// ARAP.
double srFindCellLambda(const srMaterial* material, srElasticModel model);

/// What the term of lambda measures of flesh that is larger by `pressure` of itself, above -1, in all
/// directions alike: J - 1, tr(R' F) - 3 or tr(E), as the model has it. Exactly 0 for 0; nothing in ARAP.
double srFindSwell(srElasticModel model, double pressure);

#define SR_LARGEST_LAMBDA 49.0

/// Young's modulus that makes flesh of a body of `size` swing in step with its pull to the pose at
/// `frequency` Hz. A wave of speed sqrt(E / density) crosses the body in a time that goes with its size, so E
/// goes with (frequency * size)^2.
double srYoungModulusForSize(double frequency, double density, double size);

/// Poisson's ratio from 0 to 0.5.
srMaterial srMakeMaterial(double youngModulus, double poissonRatio, double density);

/// Stiffness (N/m) of an edge of length L that stands for the volume `edgeVolume`.
///
/// Springs k_e in all directions store, under a stretch eps along one axis, sum k_e L^2 eps^2 cos^4 / 2, and
/// the mean of cos^4 over directions is 1/5. Setting that to the bar's E eps^2 V / 2 gives k_e L^2 = 5 E V_e.
double srEdgeStiffness(const srMaterial* material, double edgeLength, double edgeVolume);

/// Compliance of C = 6 (V - V0) for a cell of rest volume V0: its energy bulk (V - V0)^2 / (2 V0) is C^2 / (2
/// alpha).
double srVolumeCompliance(const srMaterial* material, double cellVolume);

/// Stiffness (N/m) of a soft bond of a node to its pose, from the flesh between it and its bone: a column of
/// shear modulus mu, volume V and height d has mu V / d^2. `hold` is 0 (free) to below 1; 1 is a hard bond
/// and not asked here.
double srBondStiffness(const srMaterial* material, double hold, double nodeVolume, double boneDistance);
